"""An editable taxonomy: group, move, rename and dissolve branches. Trees are immutable.

A node is addressed by its place (``0.2`` is the third child of the first root branch), never by its name: names can be
values of the data, and places appear in forms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from celosia.errors import ParameterError
from celosia.hierarchy import Levels, plain

NestedTable = dict[str, Any]
"""A taxonomy as nested tables: groups as keys, values as lists or empty tables."""
SHOWN = 200
"""Children of one node that are shown."""


@dataclass(frozen=True)
class Branch:
    """A group with its children, or a value if it has none."""

    name: str
    children: tuple[Branch, ...] = ()
    place: str = ""
    records: int = 0
    """Records with one of its values."""

    @property
    def leaf(self) -> bool:
        """Whether the branch is a value."""
        return not self.children

    @property
    def values(self) -> int:
        """Number of values in the branch."""
        return 1 if self.leaf else sum(child.values for child in self.children)


@dataclass(frozen=True)
class Forest:
    """The branches below the root, and the values outside the tree."""

    children: tuple[Branch, ...] = ()
    uncovered: tuple[str, ...] = field(default=())
    """Values of the column that are not in the tree."""

    @classmethod
    def of(cls, tree: Mapping[str, Any], counts: Mapping[str, int] | None = None) -> Forest:
        """Return the forest of a nested table of a policy, with the records of each value.

        >>> forest = Forest.of({"arts": ["writer", "dancer"], "law": {}}, {"writer": 3, "law": 2, "smith": 1})
        >>> [(b.name, b.records, b.values) for b in forest.children], forest.uncovered
        ([('arts', 3, 2), ('law', 2, 1)], ('smith',))
        """
        records = dict(counts or {})
        forest = cls(_assign_places(tuple(_branches(tree)), "", records))
        inside = set(_leaves(forest.children))
        return replace(forest, uncovered=tuple(value for value in records if value not in inside))

    @classmethod
    def of_levels(cls, levels: Levels, counts: Mapping[str, int] | None = None) -> Forest:
        """Return the forest of the levels of a hierarchy; a top level with one label becomes the root.

        >>> levels = Levels.of(["a", "b", "c"], [["ab", "ab", "c"], ["*", "*", "*"]])
        >>> Forest.of_levels(levels).spec()
        {'ab': ['a', 'b'], 'c': []}
        """
        top = levels.height if len(levels.categories(levels.height)) > 1 else levels.height - 1
        tree: NestedTable = {}
        columns = [levels.labels(level) for level in range(top, -1, -1)]
        for path in zip(*columns, strict=True):
            names = [name for name in path if name is not None]
            here = tree
            for name in names:
                here = here.setdefault(name, {})
        return cls.of(_collapse(tree), counts)

    def spec(self) -> NestedTable:
        """Return the nested table for a policy; groups of values only are lists."""
        return {branch.name: _spec(branch) for branch in self.children}

    def at(self, place: str) -> Branch:
        """Return the branch at a place."""
        branches, branch = self.children, None
        for index in _indices(place):
            if not 0 <= index < len(branches):
                raise ParameterError(f"tree: there is no place {place!r} any more; reload the page.")
            branch = branches[index]
            branches = branch.children
        if branch is None:
            raise ParameterError("tree: name a place, such as 0.2.")
        return branch

    def move(self, places: Sequence[str], under: str) -> Forest:
        """Return the forest with branches moved into a group, or to the root (empty place); empty groups vanish."""
        wanted = _disjoint(places)
        branches = [replace(self.at(place), place="") for place in wanted]
        if any(under == place or under.startswith(f"{place}.") for place in wanted):
            raise ParameterError("tree: a group cannot be moved into itself.")
        rest = _remove(self.children, set(wanted))
        if not under:
            return self._rebuild((*rest, *branches))
        target = self.at(under)
        if target.leaf:
            raise ParameterError("tree: a value cannot hold others; make a group of the two instead.")
        return self._rebuild(_add_children(rest, target, branches))

    def group(self, places: Sequence[str], name: str) -> Forest:
        """Return the forest with branches in a new group, which takes the place of the first one."""
        wanted = _disjoint(places)
        if len(wanted) < 2:
            raise ParameterError("tree: tick at least two values or groups to group them.")
        name = _check_name(name)
        group = Branch(name, tuple(replace(self.at(place), place="") for place in wanted))
        self._refuse_duplicate(name)
        children = _replace(self.children, wanted[0], group)
        return self._rebuild(_remove(children, set(wanted[1:])))

    def rename(self, place: str, name: str) -> Forest:
        """Return the forest with another name for a group."""
        branch = self.at(place)
        if branch.leaf:
            raise ParameterError("tree: a value keeps its name; only groups can be renamed.")
        name = _check_name(name)
        if name != branch.name:
            self._refuse_duplicate(name)
        return self._rebuild(_replace(self.children, place, replace(branch, name=name)))

    def dissolve(self, place: str) -> Forest:
        """Return the forest without a group; its children move up."""
        branch = self.at(place)
        if branch.leaf:
            raise ParameterError("tree: a value cannot be dissolved.")
        return self._rebuild(_replace(self.children, place, branch, unwrap=True))

    def cover(self) -> Forest:
        """Return the forest with the uncovered values below the root."""
        return self._rebuild((*self.children, *(Branch(value) for value in self.uncovered)))

    def _refuse_duplicate(self, name: str) -> None:
        if name in {branch.name for branch in _all(self.children) if not branch.leaf}:
            raise ParameterError("tree: there is a group of that name already; choose another name.")

    def _rebuild(self, children: tuple[Branch, ...]) -> Forest:
        kept = tuple(child for branch in children if (child := _prune(branch)) is not None)
        for siblings in (kept, *(branch.children for branch in _all(kept))):
            if len({branch.name for branch in siblings}) < len(siblings):
                raise ParameterError(
                    "tree: two branches with the same name would have one parent; rename the group first."
                )
        return Forest(_assign_places(kept, "", {leaf.name: leaf.records for leaf in _all(self.children) if leaf.leaf}))


_EMPTY = "\0"


def _collapse(tree: Mapping[str, Any]) -> NestedTable:
    """Remove levels that only repeat the name of their parent."""
    kept = {}
    for name, below in tree.items():
        while list(below) == [name]:
            below = below[name]
        kept[name] = _collapse(below)
    return kept


def _branches(node: Mapping[str, Any] | Sequence[Any] | None) -> list[Branch]:
    if isinstance(node, Mapping):
        return [Branch(str(name), tuple(_branches(below))) for name, below in node.items()]
    listed = []
    for leaf in node or ():
        listed.extend(_branches(leaf) if isinstance(leaf, Mapping) else [Branch(str(plain(leaf)))])
    return listed


def _spec(branch: Branch) -> NestedTable | list[str]:
    if all(child.leaf for child in branch.children):
        return [child.name for child in branch.children]
    return {child.name: _spec(child) for child in branch.children}


def _assign_places(branches: tuple[Branch, ...], above: str, counts: Mapping[str, int]) -> tuple[Branch, ...]:
    numbered = []
    for i, branch in enumerate(branches):
        place = f"{above}.{i}" if above else str(i)
        children = _assign_places(branch.children, place, counts)
        records = sum(child.records for child in children) if children else counts.get(branch.name, branch.records)
        numbered.append(replace(branch, children=children, place=place, records=records))
    return tuple(numbered)


def _leaves(branches: Sequence[Branch]) -> list[str]:
    return [branch.name for branch in _all(branches) if branch.leaf]


def _all(branches: Sequence[Branch]) -> list[Branch]:
    return [each for branch in branches for each in (branch, *_all(branch.children))]


def _indices(place: str) -> list[int]:
    parts = place.split(".") if place else []
    if not all(part.isdigit() for part in parts):
        raise ParameterError(f"tree: a place is written as numbers with dots, such as 0.2, got {place!r}.")
    return [int(part) for part in parts]


def _disjoint(places: Sequence[str]) -> list[str]:
    """Return the places in order; raise if one is inside another."""
    wanted = sorted(dict.fromkeys(places), key=_indices)
    if any(place.startswith(f"{other}.") for place in wanted for other in wanted):
        raise ParameterError("tree: a group and one of its members are both ticked; tick one of them.")
    return wanted


def _check_name(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 200 or name == "*":
        raise ParameterError("tree: give the group a name of 1 to 200 characters, other than *.")
    return name


def _remove(branches: tuple[Branch, ...], places: set[str]) -> tuple[Branch, ...]:
    """Return the branches without those at some places; groups that lose all members are marked as empty."""
    kept = []
    for branch in branches:
        if branch.place in places and branch.place:
            continue
        children = _remove(branch.children, places)
        emptied = bool(branch.children) and not children
        kept.append(replace(branch, children=children, name=_EMPTY if emptied else branch.name))
    return tuple(kept)


def _add_children(branches: tuple[Branch, ...], target: Branch, new: Sequence[Branch]) -> tuple[Branch, ...]:
    return tuple(
        replace(branch, name=target.name, children=(*branch.children, *new))
        if branch.place == target.place
        else replace(branch, children=_add_children(branch.children, target, new))
        for branch in branches
    )


def _replace(branches: tuple[Branch, ...], place: str, new: Branch, *, unwrap: bool = False) -> tuple[Branch, ...]:
    """Return the branches with another one at a place; ``unwrap`` inserts its children instead."""
    listed: list[Branch] = []
    for branch in branches:
        if branch.place == place and branch.place:
            listed.extend(new.children if unwrap else (new,))
        else:
            listed.append(replace(branch, children=_replace(branch.children, place, new, unwrap=unwrap)))
    return tuple(listed)


def _prune(branch: Branch) -> Branch | None:
    """Return the branch without groups marked as empty, or None."""
    children = tuple(kept for child in branch.children if (kept := _prune(child)) is not None)
    if branch.name == _EMPTY and not children:
        return None
    if branch.children and not children:
        return None
    return replace(branch, children=children)
