"""Bottom-up generalisation along one tree, with class sizes that records ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.classes import STAR
from celosia.errors import DataError, ParameterError, RequirementError, SchemaError
from celosia.hierarchy.values import OneOf
from celosia.parts import Column, Columns, Method, PersonUnit
from celosia.table import Outcome
from celosia.table.columns import hierarchy_levels
from celosia.table.suppression import suppress_records
from celosia.table.targets import Target, targets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.search.partition.tree_merge import Class
    from celosia.streams import Stream
    from celosia.table import Table


class TreeGeneralise(Method):
    r"""Generalise one attribute bottom-up along its tree, in larger classes where a record asks for them.

    The attribute is a column with a hierarchy, or several columns from coarse to fine (province, canton,
    district) that are read as one tree. Every leaf is a class; a class E that is too small,

    .. math:: |E| < \max\big(k,\ \max_{i \in E} t_i\big), \qquad t_i = k + X \text{ for private records,}

    joins the class before it under the same parent (the one after it, when there is none) and takes the
    parent's label; when the whole parent is too small it climbs. ``target`` gives each record's own class
    size, ``private`` and ``extra`` the usual case of one raise X for flagged records. ``labels="set"`` names
    the joined values instead of their parent. ``short_first`` lets small classes join each other before they
    join one that is already large enough. A missing value is a value of its own below the root. What is left at
    the root is suppressed or refused (``rest``); so are records that would show nothing but stars in all
    quasi-identifiers there, unless no class below the root is large enough. A root that is the label of all records (a
    table of one province) counts as a star if all ask for the same size, but small classes that are large enough
    together are one class with that label. With ``rest="refuse"`` the whole table may be one class at the root.

    Where nearly every class has a private record the raise applies to everybody: the evidence states how many
    classes have one. With a person column sizes count persons. Other quasi-identifiers are left as they are.
    References: Esquivel-Quirós & Barrantes (2016).

    >>> import polars as pl, celosia
    >>> districts = ["Barrantes", "Barrantes", "Llorente", "San Pablo", "San Pablo"]
    >>> data = pl.DataFrame({"canton": ["Flores"] * 3 + ["Barva"] * 2, "district": districts})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["canton", "district"]))
    >>> celosia.protect(table, TreeGeneralise(columns=["canton", "district"], k=2)).polars()["district"].to_list()
    ['*', '*', '*', 'San Pablo', 'San Pablo']
    """

    columns: Columns = Field(min_length=1, description="one column with a hierarchy, or columns from coarse to fine")
    k: int = Field(default=2, ge=1, description="smallest class size for everybody")
    target: Target = Field(default=None, description="class size that each record asks for: a column or an array")
    private: Column | None = Field(default=None, description="column that is true for records that ask for more")
    extra: int = Field(default=0, ge=0, description="how much larger the class of a private record must be (X)")
    labels: Literal["parent", "set"] = Field(default="parent", description="label of joined values")
    short_first: bool = Field(default=False, description="join small classes with each other first")
    rest: Literal["suppress", "refuse"] = Field(
        default="suppress", description="what happens to what is left at the root"
    )
    persons: ClassVar[PersonUnit] = "counted"
    not_replayable_because: ClassVar[str] = "classes are joined until every record of the file has company"
    examples: ClassVar = ({"columns": ["q"], "k": 3}, {"columns": ["q"], "k": 8})

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the columns and the quasi-identifiers: a suppressed record has stars in all of these."""
        return (*self.columns, *schema.quasi)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Merge the leaves and relabel the records."""
        import polars as pl

        from celosia.search.partition.tree_merge import Class, merge

        kept = ~table.counts.suppressed_mask
        if len(kept) and not kept.any():
            raise DataError(f"{self.name}: every record is suppressed already: nothing is left to generalise.")
        leaf, nodes, names = self._tree(table, kept)
        need = self._need(table)[kept]
        person = table.schema.person
        size = _sizes(leaf, nodes.shape[1], None if person is None else table.codes(person)[0][kept])
        setting = np.full(nodes.shape[1], self.k, np.int64)
        np.maximum.at(setting, leaf, need)
        done, left = merge(nodes, size, setting, short_first=self.short_first)
        top = next(v for v in range(len(names), 0, -1) if any(name != STAR for name in names[v - 1]) or v == 1)
        # a root with a label that all records share shows no more than a star; but where records ask for classes of
        # their own size, suppressed records would disclose which of them ask for more
        root = next(level for level, row in enumerate(nodes) if (row == row[:1]).all())
        shared = 0 < root < top and self.rest == "suppress" and self.target is None and self.private is None
        lowest = root if shared else top
        at_root = [c.level >= lowest for c in done]
        bare = self.labels == "parent" and set(table.schema.quasi) <= set(self.columns)
        if bare and any(at_root) and not (all(at_root) and self.rest == "refuse"):
            # a record that shows nothing but stars is suppressed, so that no class joins another there
            below = merge(nodes[:lowest], size, setting, short_first=self.short_first)
            done, left = below if below[0] else (done, left)
            short = tuple(sorted(i for c in left for i in c.leaves)) if shared and below[0] else ()
            if short and size(short) >= setting[list(short)].max():
                done, left = [*done, Class(short, root)], []
        if left and self.rest == "refuse":
            raise RequirementError(_refusal(size, setting, left, whole=not done))
        shown = self._labels(done, nodes, names)
        new: dict[str, pl.Series] = {}
        gone = np.zeros(len(table), np.bool_)
        gone[kept] = np.isin(leaf, [i for c in left for i in c.leaves])
        for name, cells in shown.items():
            old = table.column(name).cast(pl.String)
            fresh = pl.Series(name, cells, dtype=pl.String).gather(leaf)
            index = np.where(kept, np.cumsum(kept) - 1, 0)
            new[name] = pl.select(pl.when(pl.Series(kept)).then(fresh.gather(index)).otherwise(old).alias(name))[name]
        result = table.replace(new)
        if gone.any() or any(c.level >= top for c in done):
            result = suppress_records(
                result, gone
            )  # also marks the others as not suppressed: a class at the root has stars too
        members = np.zeros(nodes.shape[1], np.int64)
        published: dict[tuple[int, ...], list[int]] = {}
        for c in done:
            key = (c.level, int(nodes[c.level, c.leaves[0]])) if self.labels == "parent" else c.leaves
            published.setdefault(key, []).extend(c.leaves)
        for number, leaves in enumerate(published.values()):
            members[leaves] = number
        raised = np.zeros(max(len(published), 1), np.bool_)
        np.logical_or.at(raised, members[leaf], (need > self.k) & ~gone[kept])
        evidence = {
            "classes": len(published),
            "raised": int(raised.sum()),
            "changed": int(sum(size(c.leaves) for c in done if c.level > 0)),
            "suppressed": int(result.counts.suppressed_mask[kept].sum()),
        }
        return Outcome(result, evidence)

    def _need(self, table: Table) -> NDArray[np.int64]:
        """Class size that each record asks for."""
        need = targets(self.name, table, self.target, self.k)
        sizes = np.full(len(table), self.k, np.int64) if need is None else need
        if self.private is None:
            return sizes
        if self.extra == 0:
            raise ParameterError("tree-generalise: private names a column, so extra must be at least 1.")
        import polars as pl

        flags = table.column(self.private)
        if not (flags.dtype.is_numeric() or flags.dtype == pl.Boolean):
            raise SchemaError(f"tree-generalise: column {self.private!r} must hold true and false, or 1 and 0.")
        flagged = flags.cast(pl.Boolean).fill_null(value=False).to_numpy()
        return np.maximum(sizes, np.where(flagged, self.k + self.extra, self.k)).astype(np.int64)

    def _tree(
        self, table: Table, kept: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], list[list[str | None]]]:
        """Return the leaf of each record, and the node and the label of each leaf at each level.

        Leaves are in path order. With several columns the labels of a level are those of the column of that
        level.
        """
        from celosia.search.cells.blank_places import first_positions, row_ids

        if len(self.columns) == 1:
            name = self.columns[0]
            levels = hierarchy_levels(table, name)
            path = np.stack([levels.codes(v) for v in range(levels.height, -1, -1)], axis=1).astype(np.int64)
            path[:, -1] = np.arange(len(path))
            text = [levels.labels(v) for v in range(levels.height + 1)]
            codes = table.codes(name)[0][kept].astype(np.int64)
            if (codes < 0).any():  # a missing value is a leaf of its own below the root
                rooted = levels.height > 0 and len(np.unique(path[:, 0])) == 1
                path = np.vstack([path, path.max(axis=0, initial=-1) + 1])
                codes = np.where(codes < 0, len(path) - 1, codes)
                text = [[*row, None] for row in text]
                if rooted:
                    path[-1, 0], text[-1][-1] = path[0, 0], text[-1][0]
        else:
            from celosia.hierarchy import texts

            coded = [table.codes(name) for name in self.columns]
            rows = np.column_stack([codes[kept] for codes, _ in coded]).astype(np.int64)
            codes = row_ids(rows)
            path = rows[first_positions(codes)]
            shown = [[*texts(values), None] for _, values in coded]  # the code of a missing value is -1
            text = [[shown[j][c] for c in path[:, j]] for j in reversed(range(len(shown)))]
        if len(np.unique(path[:, 0])) > 1:
            path = np.column_stack([np.zeros(len(path), np.int64), path])
            text = [*text, [STAR] * len(path)]
        order = np.lexsort(path.T[::-1])
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        path = path[order]
        # a node is its whole path: equal names under different parents are different nodes
        nodes = np.stack([row_ids(path[:, : depth + 1]) for depth in range(path.shape[1] - 1, -1, -1)])
        return rank[codes], nodes, [[row[i] for i in order] for row in text]

    def _labels(
        self, done: Sequence[Class], nodes: NDArray[np.int64], names: list[list[str | None]]
    ) -> dict[str, list[str | None]]:
        """Return the new cell of each leaf, by column."""
        leaves = nodes.shape[1]
        level = np.full(leaves, len(nodes) - 1, np.int64)
        siblings: dict[int, tuple[int, ...]] = {}
        for c in done:
            level[list(c.leaves)] = c.level
            siblings |= dict.fromkeys(c.leaves, c.leaves)

        def cell(i: int, at: int) -> str | None:
            """Return the label of a leaf at a level not below that of its class; else a star or the set."""
            if level[i] <= at:
                return names[at][i]
            if self.labels == "set" and i in siblings:
                members = list(dict.fromkeys(names[at][m] for m in siblings[i]))
                if len(members) == 1:
                    return members[0]
                # no set has a missing value as a member
                return STAR if None in members else str(OneOf(tuple(map(str, members))))
            return STAR

        if len(self.columns) == 1:
            name = self.columns[0]
            if self.labels == "set":
                return {name: [cell(i, 0) for i in range(leaves)]}
            return {name: [names[level[i]][i] for i in range(leaves)]}
        return {
            name: [cell(i, len(self.columns) - 1 - j) for i in range(leaves)] for j, name in enumerate(self.columns)
        }


def _refusal(
    size: Callable[[tuple[int, ...]], int], setting: NDArray[np.int64], left: Sequence[Class], *, whole: bool
) -> str:
    leaves = tuple(i for c in left for i in c.leaves)
    short = size(leaves)
    asked = f"a class of {int(setting[list(leaves)].max())} is asked for"
    if whole:
        reason = f"{short} records remain at the root, but {asked}. At most {short} can be reached for them"
    else:
        reason = f"{short} records remain at the root, where they would show nothing but stars; below it {asked}"
    return f"tree-generalise: {reason}; use rest = 'suppress', or ask for less."


def _sizes(leaf: NDArray[np.int64], leaves: int, person: NDArray[np.int32] | None) -> Callable[[tuple[int, ...]], int]:
    """Return a function that counts the records, or persons, of a set of leaves."""
    count = np.bincount(leaf, minlength=leaves)
    if person is None:
        return lambda wanted: int(count[list(wanted)].sum())
    order = np.argsort(leaf, kind="stable")
    parts = np.split(person[order], np.cumsum(count)[:-1])
    return lambda wanted: len(np.unique(np.concatenate([parts[i] for i in wanted])))
