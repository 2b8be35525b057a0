"""Taxonomies written as a nested table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, field_validator

from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy
from celosia.hierarchy.text import plain

if TYPE_CHECKING:
    import polars as pl


class Tree(Hierarchy):
    """A taxonomy: names with their members, as deep as needed, the root ``*`` above all.

    A branch that is less deep than others repeats its leaf on the levels below, so that siblings stay on one
    level. The domain is every leaf.

    >>> jobs = Tree(tree={"Artist": ["Writer", "Dancer"], "Professional": {"Engineer": [], "Legal": ["Lawyer"]}})
    >>> levels = jobs.levels(["Dancer", "Engineer", "Lawyer"])
    >>> levels.labels(1), levels.labels(2), levels.labels(3)
    (['Dancer', 'Engineer', 'Legal'], ['Artist', 'Professional', 'Professional'], ['*', '*', '*'])
    """

    tree: dict[str, Any] = Field(description="names with the list or table of what lies under them", min_length=1)
    root: str = Field(default="*", min_length=1, description="label of the top level")

    @field_validator("tree")
    @classmethod
    def _well_formed(cls, tree: dict[str, Any]) -> dict[str, Any]:
        leaves = [path[0] for path in _paths(tree)]
        if len(set(leaves)) < len(leaves):
            raise ValueError(f"{len(leaves) - len(set(leaves))} leaf name(s) stand in two places of the tree.")
        return tree

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:  # noqa: ARG002
        paths = list(_paths(self.tree))
        height = max(len(path) for path in paths)
        full = [[path[0]] * (height - len(path)) + path for path in paths]
        columns = list(zip(*full, strict=True))
        return Levels.of(columns[0], [*columns[1:], [self.root] * len(full)])


def _paths(node: object, above: tuple[str, ...] = ()) -> Iterator[list[str]]:
    """Iterate over the leaves with the names above them, leaf first."""
    if isinstance(node, Mapping):
        for name, below in node.items():
            if isinstance(below, Mapping | list | tuple) and len(below):
                yield from _paths(below, (str(name), *above))
            elif below is None or below == [] or below == {} or below == ():
                yield [str(name), *above]
            else:
                raise ValueError(f"what lies under a name is a list or a table, got {type(below).__name__}.")
    elif isinstance(node, list | tuple):
        for leaf in node:
            if isinstance(leaf, Mapping):
                yield from _paths(leaf, above)
            else:
                yield [str(plain(leaf)), *above]
