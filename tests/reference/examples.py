"""Parameters with which every model is tried, and the bounds that a table just meets or just misses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.reference.tables import frame_of

from celosia.checker.models import MODELS, Verdict
from celosia.checker.rows import Plain, Row
from celosia.parts import Part, parts

SETS = {"r": {"low": "(-inf;1;3)", "high": "(1;3;inf)"}}
COUNTED = ("alpha-k", "beta-likeness", "delta-disclosure", "l-diversity", "t-closeness")
"""Models that count sensitive values within classes."""


@dataclass(frozen=True)
class Example:
    """A model, the parameter that is its bound, and the others."""

    model: str
    bound: str
    parameters: dict[str, Any] = field(default_factory=dict)
    people: bool = False
    """Whether it counts in a population."""

    def __str__(self) -> str:
        shown = [f"{k}={v}" for k, v in self.parameters.items() if k != "sets"]
        return f"{self.model}({', '.join([*shown, *(['population'] if self.people else [])])})"

    @property
    def whole(self) -> bool:
        """Whether its bound is a whole number."""
        return parts("model")[self.model].model_fields[self.bound].annotation is int

    @property
    def least(self) -> bool:
        """Whether its bound is a least one."""
        return parts("model")[self.model].direction == "at least"

    def suits(self, table: Plain) -> bool:
        """Whether the model has a meaning for the table."""
        column, distance = self.parameters.get("column"), self.parameters.get("distance")
        if (self.model in COUNTED or self.model == "population-uniqueness") and table.missing_semantics != "category":
            return False
        if self.people and table.missing_semantics != "category":
            return False
        return distance not in ("hierarchical", "value") or column not in table.recoded

    def measured(self, table: Plain, population: list[Row], bound: float) -> Verdict:
        """The slow verdict."""
        given = dict(self.parameters, **{self.bound: bound})
        if self.people:
            given["population"] = population
        return MODELS[self.model](table, **given)

    def part(self, population: list[Row], bound: float) -> dict[str, Any]:
        """The model in Celosia's grammar."""
        given = {"use": self.model, **self.parameters, self.bound: bound}
        if self.people:
            given["population"] = frame_of(Plain(tuple(population), ("q", "r")))
        return given


def _bound(cls: type[Part], given: Mapping[str, Any]) -> str:
    """The parameter that an example leaves out: the bound."""
    (name,) = (name for name, info in cls.model_fields.items() if info.is_required() and name not in given)
    return name


EXAMPLES = [
    Example(
        name,
        _bound(cls, given),
        {field: value for field, value in given.items() if field != "population"},
        "population" in given,
    )
    for name, cls in parts("model").items()
    for given in cls.examples
]
LIMITS = {"alpha": 1.0, "risk": 1.0, "share": 1.0, "highest": 1.0}
SLACK = 1e-6


def bounds(example: Example, table: Plain, population: list[Row]) -> list[float]:
    """A bound that the table meets by little, one on its value, and one that it misses by little, where allowed."""
    value, _ = example.measured(table, population, 1.0)
    if math.isinf(value):
        return [3 if example.least else 2.5]
    if example.whole:
        return [int(value), int(value) + 1]
    if example.least:
        return [max(1.0, value - SLACK), value + SLACK]
    found = [value + SLACK, value - SLACK]
    low = max(0.0, float(example.parameters.get("lowest", 0.0)))
    return [b for b in found if low < b <= LIMITS.get(example.bound, math.inf)] or [1.0]


def population_of(table: Plain, seed: int = 0, extra: int = 12) -> list[Row]:
    """People that contain those of an input table: each person once per combination, and some more."""
    rng = np.random.default_rng(seed)
    inside = {(table.who(i), table.key(i)): table.rows[i] for i in range(len(table.rows))}
    more = [{"q": str(rng.choice(list("abcd"))), "r": int(rng.integers(1, 5))} for _ in range(extra)]
    return [*({"q": row["q"], "r": row["r"]} for row in inside.values()), *more]
