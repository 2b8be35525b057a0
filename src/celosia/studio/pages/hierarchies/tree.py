"""A taxonomy that is edited by hand: groups are made, moved, renamed and dissolved, one change at a time.

A node is addressed by its place (``0.2`` is the third child of the first), never by its name: names can be values of
the data, and an address can stand in a form or a link.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from celosia.errors import ParameterError
from celosia.hierarchy import Levels, plain

SHOWN = 200
"""Children of one node that are listed."""


@dataclass(frozen=True)
class Branch:
    """A name with what lies under it; without anything under it a value."""

    name: str
    children: tuple[Branch, ...] = ()
    place: str = ""
    records: int = 0
    """Records with a value under it."""

    @property
    def leaf(self) -> bool:
        """Whether it is a value."""
        return not self.children

    @property
    def values(self) -> int:
        """How many values lie under it."""
        return 1 if self.leaf else sum(child.values for child in self.children)


@dataclass(frozen=True)
class Forest:
    """The branches under the root."""

    children: tuple[Branch, ...] = ()
    uncovered: tuple[str, ...] = field(default=())
    """Values of the column that stand nowhere in the tree."""

    @classmethod
    def of(cls, tree: Mapping[str, Any], counts: Mapping[str, int] | None = None) -> Forest:
        """A nested table as a policy has it, with the records of each value where they are records.

        >>> forest = Forest.of({"arts": ["writer", "dancer"], "law": {}}, {"writer": 3, "law": 2, "smith": 1})
        >>> [(b.name, b.records, b.values) for b in forest.children], forest.uncovered
        ([('arts', 3, 2), ('law', 2, 1)], ('smith',))
        """
        records = dict(counts or {})
        forest = cls(_placed(tuple(_branches(tree)), "", records))
        inside = set(_leaves(forest.children))
        return replace(forest, uncovered=tuple(value for value in records if value not in inside))

    @classmethod
    def of_levels(cls, levels: Levels, counts: Mapping[str, int] | None = None) -> Forest:
        """The tree of any hierarchy over the values of a column; a top with one label is the root.

        >>> levels = Levels.of(["a", "b", "c"], [["ab", "ab", "c"], ["*", "*", "*"]])
        >>> Forest.of_levels(levels).spec()
        {'ab': ['a', 'b'], 'c': []}
        """
        top = levels.height if len(levels.categories(levels.height)) > 1 else levels.height - 1
        tree: dict[str, Any] = {}
        columns = [levels.labels(level) for level in range(top, -1, -1)]
        for path in zip(*columns, strict=True):
            names = [name for name in path if name is not None]
            here = tree
            for name in names:
                here = here.setdefault(name, {})
        return cls.of(_collapsed(tree), counts)

    def spec(self) -> dict[str, Any]:
        """The nested table: a list where only values lie under a name."""
        return {branch.name: _spec(branch) for branch in self.children}

    def at(self, place: str) -> Branch:
        """The branch at a place."""
        branches, branch = self.children, None
        for index in _indices(place):
            if not 0 <= index < len(branches):
                raise ParameterError(f"tree: there is no place {place!r} any more; reload the page.")
            branch = branches[index]
            branches = branch.children
        if branch is None:
            raise ParameterError("tree: name a place, such as 0.2.")
        return branch

    def moved(self, places: Sequence[str], under: str) -> Forest:
        """With branches moved under a group, or to the root (an empty place). An empty group disappears."""
        wanted = _apart(places)
        branches = [replace(self.at(place), place="") for place in wanted]
        if any(under == place or under.startswith(f"{place}.") for place in wanted):
            raise ParameterError("tree: a group cannot be moved into itself.")
        rest = _without(self.children, set(wanted))
        if not under:
            return self._again((*rest, *branches))
        target = self.at(under)
        if target.leaf:
            raise ParameterError("tree: a value cannot hold others; make a group of the two instead.")
        return self._again(_added(rest, target, branches))

    def grouped(self, places: Sequence[str], name: str) -> Forest:
        """With several branches of one parent in a new group; branches of different parents meet at the first one."""
        wanted = _apart(places)
        if len(wanted) < 2:
            raise ParameterError("tree: tick at least two values or groups to put them together.")
        name = _named(name)
        group = Branch(name, tuple(replace(self.at(place), place="") for place in wanted))
        self._refuse_twin(name)
        children = _replaced(self.children, wanted[0], group)
        return self._again(_without(children, set(wanted[1:])))

    def renamed(self, place: str, name: str) -> Forest:
        """With another name for a group; values keep theirs."""
        branch = self.at(place)
        if branch.leaf:
            raise ParameterError("tree: a value keeps its name; only groups can be renamed.")
        name = _named(name)
        if name != branch.name:
            self._refuse_twin(name)
        return self._again(_replaced(self.children, place, replace(branch, name=name)))

    def dissolved(self, place: str) -> Forest:
        """Without a group; what was under it moves up."""
        branch = self.at(place)
        if branch.leaf:
            raise ParameterError("tree: a value cannot be dissolved.")
        return self._again(_replaced(self.children, place, branch, apart=True))

    def covering(self) -> Forest:
        """With the values that stand nowhere yet, under the root."""
        return self._again((*self.children, *(Branch(value) for value in self.uncovered)))

    def _refuse_twin(self, name: str) -> None:
        if name in {branch.name for branch in _all(self.children) if not branch.leaf}:
            raise ParameterError("tree: there is a group of that name already; choose another name.")

    def _again(self, children: tuple[Branch, ...]) -> Forest:
        kept = tuple(child for branch in children if (child := _pruned(branch)) is not None)
        for siblings in (kept, *(branch.children for branch in _all(kept))):
            if len({branch.name for branch in siblings}) < len(siblings):
                raise ParameterError(
                    "tree: two things of the same name would lie side by side; rename the group first."
                )
        return Forest(_placed(kept, "", {leaf.name: leaf.records for leaf in _all(self.children) if leaf.leaf}))


_EMPTY = "\0"


def _collapsed(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Without levels that only repeat a name."""
    kept = {}
    for name, below in tree.items():
        while list(below) == [name]:
            below = below[name]
        kept[name] = _collapsed(below)
    return kept


def _branches(node: Any) -> list[Branch]:
    if isinstance(node, Mapping):
        return [Branch(str(name), tuple(_branches(below))) for name, below in node.items()]
    listed = []
    for leaf in node or ():
        listed.extend(_branches(leaf) if isinstance(leaf, Mapping) else [Branch(str(plain(leaf)))])
    return listed


def _spec(branch: Branch) -> Any:
    if all(child.leaf for child in branch.children):
        return [child.name for child in branch.children]
    return {child.name: _spec(child) for child in branch.children}


def _placed(branches: tuple[Branch, ...], above: str, counts: Mapping[str, int]) -> tuple[Branch, ...]:
    placed = []
    for i, branch in enumerate(branches):
        place = f"{above}.{i}" if above else str(i)
        children = _placed(branch.children, place, counts)
        records = sum(child.records for child in children) if children else counts.get(branch.name, branch.records)
        placed.append(replace(branch, children=children, place=place, records=records))
    return tuple(placed)


def _leaves(branches: Sequence[Branch]) -> list[str]:
    return [branch.name for branch in _all(branches) if branch.leaf]


def _all(branches: Sequence[Branch]) -> list[Branch]:
    return [each for branch in branches for each in (branch, *_all(branch.children))]


def _indices(place: str) -> list[int]:
    parts = place.split(".") if place else []
    if not all(part.isdigit() for part in parts):
        raise ParameterError(f"tree: a place is written as numbers with dots, such as 0.2, got {place!r}.")
    return [int(part) for part in parts]


def _apart(places: Sequence[str]) -> list[str]:
    """The places in order; refused where one lies inside another."""
    wanted = sorted(dict.fromkeys(places), key=_indices)
    if any(place.startswith(f"{other}.") for place in wanted for other in wanted):
        raise ParameterError("tree: a group and something inside it are both ticked; tick one of them.")
    return wanted


def _named(name: str) -> str:
    name = name.strip()
    if not name or len(name) > 200 or name == "*":
        raise ParameterError("tree: give the group a name of 1 to 200 characters, other than *.")
    return name


def _without(branches: tuple[Branch, ...], places: set[str]) -> tuple[Branch, ...]:
    """The branches without some of them; a group that loses all its members is marked as empty."""
    kept = []
    for branch in branches:
        if branch.place in places and branch.place:
            continue
        children = _without(branch.children, places)
        emptied = bool(branch.children) and not children
        kept.append(replace(branch, children=children, name=_EMPTY if emptied else branch.name))
    return tuple(kept)


def _added(branches: tuple[Branch, ...], target: Branch, new: Sequence[Branch]) -> tuple[Branch, ...]:
    return tuple(
        replace(branch, name=target.name, children=(*branch.children, *new))
        if branch.place == target.place
        else replace(branch, children=_added(branch.children, target, new))
        for branch in branches
    )


def _replaced(branches: tuple[Branch, ...], place: str, new: Branch, *, apart: bool = False) -> tuple[Branch, ...]:
    """The branches with another one at a place; ``apart`` puts its children there instead."""
    listed: list[Branch] = []
    for branch in branches:
        if branch.place == place and branch.place:
            listed.extend(new.children if apart else (new,))
        else:
            listed.append(replace(branch, children=_replaced(branch.children, place, new, apart=apart)))
    return tuple(listed)


def _pruned(branch: Branch) -> Branch | None:
    """The branch without emptied groups."""
    children = tuple(kept for child in branch.children if (kept := _pruned(child)) is not None)
    if branch.name == _EMPTY and not children:
        return None
    if branch.children and not children:
        return None
    return replace(branch, children=children)
