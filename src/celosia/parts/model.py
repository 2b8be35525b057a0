"""Base class of models: requirements on a table, each with one verdict."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

import numpy as np

from celosia.errors import ParameterError
from celosia.parts.part import Part, PersonUnit

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray
    from pydantic import JsonValue

    from celosia.classes.counts import ClassCounts
    from celosia.table import Table

ROUNDING = 1e-12
"""Values are rounded to twelve digits, and two thirds must be at most two thirds."""


class Verdict(NamedTuple):
    """Measured value of a model on a table, and whether the requirement holds."""

    value: float
    holds: bool


class Condition(NamedTuple):
    """One bound of a requirement: what is measured, and the number that it is compared with."""

    symbol: str
    """The letter of the field, or English words; ``{beyond}`` in them stands for a further number."""
    direction: Literal["at least", "at most", "less than"]
    bound: float
    beyond: float | None = None

    def is_met(self, values: NDArray[np.float64] | float) -> NDArray[np.bool_]:
        """Return whether measured values meet the bound; unless it is strict, up to rounding."""
        measured = np.asarray(values)
        if self.direction == "less than":
            return np.asarray(measured < self.bound)
        slack = ROUNDING * max(1.0, abs(self.bound))
        return np.asarray(
            measured >= self.bound - slack if self.direction == "at least" else measured <= self.bound + slack
        )


class Model(Part, home="celosia.models"):
    """A requirement on a table that holds or not, with the measured value.

    Most models judge class by class: they implement :meth:`scores`, one number per class, and the rest follows. A model
    of scope ``"file"`` implements :meth:`score` instead. Both see the classes as arrays of counts, so the same code
    serves a measurement and a search. A model with a further condition adds it to :meth:`judge` (class by class) or
    :meth:`measure` (the file), and names it in :meth:`conditions`. :meth:`verdict` is the one answer for every caller.
    """

    kind: ClassVar[str] = "model"
    persons: ClassVar[PersonUnit] = "counted"
    symbol: ClassVar[str] = ""
    """The letter of the field for the measured value: k, l, t …"""
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    scope: ClassVar[Literal["class", "file"]] = "class"
    """Unit of judgement: every class, or the file as a whole."""

    # The requirement.

    @abstractmethod
    def bound(self) -> float:
        """Return the number that the measured value is compared with."""

    def conditions(self) -> tuple[Condition, ...]:
        """Return all bounds of the requirement; the first is about the measured value."""
        return (Condition(self.symbol or self.name, self.direction, self.bound()),)

    def counted_columns(self) -> tuple[str | None, ...]:
        """Return the sensitive columns to be counted in each class; ``None`` stands for those of the schema."""
        return ()

    # Judging classes.

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """Return the measured value of each class; of scope ``"class"`` only."""
        raise NotImplementedError

    def judge(self, classes: ClassCounts, scores: NDArray[np.float64] | None = None) -> NDArray[np.bool_]:
        """Return whether each class holds; ``scores``, if known, are those of the classes."""
        return self.conditions()[0].is_met(self.scores(classes) if scores is None else scores)

    def score(self, classes: ClassCounts) -> float:
        """Return the measured value of the file, that of the worst class; a file without classes holds vacuously."""
        return worst(self, self.scores(classes)) if len(classes) else self._vacuous()

    def measure(self, classes: ClassCounts) -> Verdict:
        """Return the measured value of a file that consists of these classes, and whether it holds."""
        if self.scope == "file":
            value = self.score(classes)
            return Verdict(value, meets(self, value))
        scores = self.scores(classes)
        value = worst(self, scores) if len(classes) else self._vacuous()
        return Verdict(value, bool(self.judge(classes, scores).all()))

    # Judging a table.

    def verdict(self, table: Table) -> Verdict:
        """Return the measured value and whether the requirement holds: the one answer for every caller."""
        views = [each for reading in table.readings() for each in _views(self, reading)]
        people = population_table(self)
        verdicts = [self.measure(view.class_counts(columns, people)) for view, columns in views]
        return Verdict(worst(self, np.array([v.value for v in verdicts])), all(v.holds for v in verdicts))

    def value(self, table: Table) -> float:
        """Return the measured value."""
        return self.verdict(table).value

    def holds(self, table: Table) -> bool:
        """Return whether the requirement holds for the table."""
        return self.verdict(table).holds

    def failing_records(self, table: Table) -> NDArray[np.bool_]:
        """Return a mask of the records in classes that do not hold; all records where the file as a whole does not."""
        failing = np.zeros(len(table), dtype=np.bool_)
        for view, columns in (each for reading in table.readings() for each in _views(self, reading)):
            classes = view.class_counts(columns, population_table(self), in_order=True)
            file_fails = self.scope == "file" and not self.measure(classes).holds
            bad = ~self.judge(classes) if self.scope == "class" else np.full(len(classes), file_fails)
            failing |= view.classes.on_records(bad, suppressed=False)
        return failing

    def classes(self, table: Table) -> pl.DataFrame:
        """Return one row per equivalence class: quasi-identifiers, size and value."""
        import polars as pl

        reading = worst_reading(self, table)
        counts = reading.class_counts(self.counted_columns(), population_table(self), in_order=True)
        scores = self.scores(counts) if self.scope == "class" else np.full(len(counts), self.score(counts))
        columns: dict[str, NDArray[np.generic]] = {"size": counts.size}
        if counts.population is not None:
            columns["population"] = counts.population
        columns[self.symbol or "value"] = scores
        return reading.classes.histogram.cells.with_columns(pl.Series(name, values) for name, values in columns.items())

    def _vacuous(self) -> float:
        """Return the value of a file without any class."""
        return math.inf if self.direction == "at least" else 0.0


class SearchHints:
    """Mixin of a model with facts by which a search excludes candidates."""

    monotone_generalisation: ClassVar[bool] = False
    """If every class holds, every class of a coarser table holds too."""
    monotone_suppression: ClassVar[bool] = False
    """A class that holds keeps holding when any other records join it; implies the first."""

    def smallest_size(self) -> int:
        """Return the class size that its parameters require, whatever the data are; 1 when they require none."""
        return 1

    def smallest_size_in(self, classes: ClassCounts) -> int:  # noqa: ARG002
        """Return the size that every class that holds must have: :meth:`smallest_size`, or more for these data."""
        return self.smallest_size()

    def least_removed(self, classes: ClassCounts) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Return how many records each class must lose at least, here and at every finer level; None if unknown.

        Only for a convex model: the union of two classes that hold also holds.
        """
        return None

    def is_size_only(self) -> bool:
        """Return whether a class holds exactly if it has :meth:`smallest_size_in`."""
        return False


class CountsPopulation:
    """Mixin of a model that can count people of a table in its field ``population``."""

    population: object


class ComparesWithInput:
    """Mixin of a model that compares with the distribution of the input, which is not part of a release."""


class SeparateViews:
    """Mixin of a model that can measure a table under other quasi-identifiers."""

    @abstractmethod
    def views(self, table: Table) -> list[tuple[Table, tuple[str | None, ...]]]:
        """Return the tables to measure, each with its counted columns; the table itself if it is one of them."""


class ChoosesParameters:
    """Mixin of a model that chooses parameters from the table where they are not given."""

    @abstractmethod
    def evidence(self, table: Table) -> Mapping[str, JsonValue]:
        """Return the chosen parameters, for the certificate."""


class SmallestCount:
    """Mixin of a model whose value is the smallest count over the classes, which SQL can compute."""

    @abstractmethod
    def smallest_count(self) -> Literal["members", "values"] | None:
        """Return the unit counted in each class: members, or values of the sensitive column; None if SQL cannot."""


class BoundsBestClass:
    """Mixin of a model that can bound the best class only; such a requirement of a policy is refused."""

    @abstractmethod
    def protects(self) -> bool:
        """Return whether its parameters bound every class."""


_NO_HINTS = SearchHints()


def search_hints(model: Model) -> SearchHints:
    """Return the facts by which a search excludes candidates; defaults for a model that declares none."""
    return model if isinstance(model, SearchHints) else _NO_HINTS


def protects(model: Model) -> bool:
    """Return whether a model bounds every class; a requirement of a policy must."""
    return not isinstance(model, BoundsBestClass) or model.protects()


def population_table(model: Model) -> object:
    """Return the population table to be counted; None when there is none."""
    return model.population if isinstance(model, CountsPopulation) else None


def meets(model: Model, value: float) -> bool:
    """Return whether a measured value meets the bound of a model."""
    return bool(model.conditions()[0].is_met(value))


def worst(model: Model, values: NDArray[np.float64]) -> float:
    """Return the worst of several measured values."""
    return float(np.min(values) if model.direction == "at least" else np.max(values))


def describe(
    model: Model, words: Mapping[str, str] = MappingProxyType({}), number: Callable[[float], str] = "{:g}".format
) -> str:
    """Return the requirement as text, ``k at least 5``; ``words`` translates the English words.

    >>> from celosia.parts import build
    >>> describe(build("model", "k-anonymity(k=5)"))
    'k at least 5'
    """
    texts: list[str] = []
    former = None
    for symbol, direction, bound, beyond in model.conditions():
        about = words.get(symbol, symbol).format(beyond="" if beyond is None else number(beyond))
        start = [] if (symbol, beyond) == former else [about]  # delta at least 0.1 and at most 0.5
        texts.append(" ".join([*start, words.get(direction, direction), number(bound)]))
        former = (symbol, beyond)
    return f" {words.get('and', 'and')} ".join(texts)


def worst_reading(model: Model, table: Table) -> Table:
    """Return the reading of a table that gives the worst value; of equal ones the last."""
    readings = table.readings()
    if len(readings) == 1:
        return readings[0]
    sign = -1 if model.direction == "at least" else 1
    values = [sign * model.verdict(reading).value for reading in readings]
    return readings[max(range(len(values)), key=lambda i: (values[i], i))]


def refuse_other_views(model: Model, table: Table) -> None:
    """Raise if the model counts classes under other quasi-identifiers than those of the table, which a search uses."""
    if any(view is not table for view, _ in _views(model, table)):
        raise ParameterError(
            f"{model.name}: it counts classes under other quasi-identifiers, which a search over the classes of the "
            "table does not use. Search with others = 'ignore', and check this requirement afterwards."
        )


def _views(model: Model, table: Table) -> list[tuple[Table, tuple[str | None, ...]]]:
    return model.views(table) if isinstance(model, SeparateViews) else [(table, model.counted_columns())]
