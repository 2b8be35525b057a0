"""Hierarchies of ordered categories: neighbours merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field, model_validator

from celosia.hierarchy.cells import OneOf
from celosia.hierarchy.levels import Levels
from celosia.hierarchy.part import Hierarchy

if TYPE_CHECKING:
    import polars as pl


class Order(Hierarchy):
    """Ordered categories whose neighbours merge, ``factor`` at a time, until one is left: ``*``.

    ``groups`` names the first merges by hand: a list of lists in order, which may differ in size.

    >>> levels = Order(order=["none", "primary", "secondary", "degree", "doctorate"]).levels(["primary", "doctorate"])
    >>> levels.labels(1), levels.labels(2), levels.height
    (['{none, primary}', 'doctorate'], ['{none, primary, secondary, degree}', 'doctorate'], 3)
    >>> Order(groups=[["Single"], ["Married"], ["Divorced", "Widow/er"]]).levels(["Widow/er", "Single"]).labels(1)
    ['{Divorced, Widow/er}', 'Single']
    """

    order: tuple[str, ...] = Field(default=(), description="the categories from first to last")
    groups: tuple[tuple[str, ...], ...] = Field(default=(), description="categories that merge first, in order")
    factor: int = Field(default=2, ge=2, description="how many neighbours merge on each further level")
    count: int | None = Field(
        default=None, ge=1, le=1_000, description="number of levels below the top; all when not given"
    )

    @model_validator(mode="after")
    def _check(self) -> Order:
        if bool(self.order) == bool(self.groups):
            raise ValueError("order: give either order or groups.")
        if not all(self.groups):
            raise ValueError("order: a group needs at least one category.")
        flat = self._flat()
        if len(set(flat)) < len(flat):
            raise ValueError(f"order: {len(flat) - len(set(flat))} category name(s) occur twice.")
        return self

    def _flat(self) -> tuple[str, ...]:
        return self.order or tuple(name for group in self.groups for name in group)

    def _domain_levels(self, values: pl.Series, counts: pl.Series) -> Levels:  # noqa: ARG002
        columns: list[list[str]] = []
        merged = self.groups or _merge([(name,) for name in self.order], self.factor)
        while len(merged) > 1 and (self.count is None or len(columns) < self.count):
            columns.append([_label(group) for group in merged for _ in group])
            merged = _merge(list(merged), self.factor)
        flat = self._flat()
        return Levels.of(flat, [*columns, ["*"] * len(flat)])


def _merge(groups: list[tuple[str, ...]], factor: int) -> tuple[tuple[str, ...], ...]:
    return tuple(sum(groups[i : i + factor], ()) for i in range(0, len(groups), factor))


def _label(group: tuple[str, ...]) -> str:
    return group[0] if len(group) == 1 else str(OneOf(group))
