"""Models: requirements on a table, and the one verdict that each gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from celosia.errors import ParameterError
from celosia.parts.part import Part, PersonUnit

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes.counts import ClassCounts
    from celosia.table import Table

ROUNDING = 1e-12
"""Values are rounded to twelve digits, and two thirds must be at most two thirds."""


class Verdict(NamedTuple):
    """What a model says about a table: the measured value, and whether the requirement holds."""

    value: float
    holds: bool


class Condition(NamedTuple):
    """One bound of a requirement: what is measured, and the number that it is compared with."""

    symbol: str
    """The letter of the field, or English words; ``{beyond}`` in them stands for a further number."""
    direction: Literal["at least", "at most", "less than"]
    bound: float
    beyond: float | None = None


class Model(Part, home="celosia.models"):
    """A requirement on a table that holds or not, with the measured value.

    Most models judge class by class: they implement :meth:`scores`, one number per class, and the rest follows. A model
    of scope ``"file"`` implements :meth:`score` instead. Both see the classes as arrays of counts, so the same code
    serves a measurement and a search. A model with a further condition adds it to :meth:`holding` (class by class) or
    :meth:`measured` (the file), and names it in :meth:`conditions`. Everybody who wants to know asks :meth:`verdict`;
    value and holds come from that call.
    """

    kind: ClassVar[str] = "model"
    persons: ClassVar[PersonUnit] = "counted"
    symbol: ClassVar[str] = ""
    """The letter of the field for the measured value: k, l, t …"""
    direction: ClassVar[Literal["at least", "at most"]] = "at least"
    scope: ClassVar[Literal["class", "file"]] = "class"
    """Whether classes are judged one by one or all together."""
    protects: ClassVar[bool] = True
    """Whether it bounds every class; a requirement of a policy must."""
    monotone_generalisation: ClassVar[bool] = False
    """When every class holds, every class of a coarser table holds too."""
    compares: ClassVar[bool] = False
    """It compares with the distribution of the input table, so a release alone does not tell its value."""
    monotone_suppression: ClassVar[bool] = False
    """A class that holds keeps holding when any other records join it; implies the first."""

    # What a model states.

    def bound(self) -> float:
        """The number that the measured value is compared with."""
        raise NotImplementedError

    def met(self, value: float) -> bool:
        """Whether a measured value meets the bound; the last digits of a float do not decide."""
        return bool(self._meets(np.array([value]))[0])

    def conditions(self) -> tuple[Condition, ...]:
        """All that is asked, as data; the first is about the measured value."""
        return (Condition(self.symbol or self.name, self.direction, self.bound()),)

    def wish(
        self, words: Mapping[str, str] = MappingProxyType({}), number: Callable[[float], str] = "{:g}".format
    ) -> str:
        """The requirement in words, ``k at least 5``; ``words`` are those of another language, by the English ones."""
        texts: list[str] = []
        former = None
        for symbol, direction, bound, beyond in self.conditions():
            about = words.get(symbol, symbol).format(beyond="" if beyond is None else number(beyond))
            start = [] if (symbol, beyond) == former else [about]  # delta at least 0.1 and at most 0.5
            texts.append(" ".join([*start, words.get(direction, direction), number(bound)]))
            former = (symbol, beyond)
        return f" {words.get('and', 'and')} ".join(texts)

    def sensitive(self) -> tuple[str | None, ...]:
        """The sensitive columns that must be counted; ``None`` stands for those that the schema declares."""
        return ()

    def people(self) -> Any:
        """The population table that must be counted; None when there is none."""
        return None

    def views(self, table: Table) -> list[tuple[Table, tuple[str | None, ...]]]:
        """The table as the model sees it, with the columns that it counts; several where it looks several times."""
        return [(table, self.sensitive())]

    def check_search(self, table: Table) -> None:
        """Refuse where a search over the classes of the table would not see what the model looks at."""
        if any(view is not table for view, _ in self.views(table)):
            raise ParameterError(
                f"{self.name}: it looks at the table with other quasi-identifiers, which a search over its classes "
                "does not see. Search with others = 'ignore', and check this requirement afterwards."
            )

    # What it says about classes.

    def scores(self, classes: ClassCounts) -> NDArray[np.float64]:
        """The measured value of each class."""
        raise NotImplementedError

    def judge(self, classes: ClassCounts) -> NDArray[np.bool_]:
        """Whether each class holds."""
        return self.holding(classes, self.scores(classes))

    def holding(self, classes: ClassCounts, scores: NDArray[np.float64]) -> NDArray[np.bool_]:  # noqa: ARG002
        """Whether each class holds, given its measured value."""
        return self._meets(scores)

    def score(self, classes: ClassCounts) -> float:
        """The measured value of the file: the worst class. Without any class the requirement holds vacuously."""
        return self._worst(self.scores(classes)) if len(classes) else self._vacuous()

    def measured(self, classes: ClassCounts) -> Verdict:
        """The measured value of the file that consists of these classes, and whether it holds; scored once."""
        if self.scope == "file":
            value = self.score(classes)
            return Verdict(value, self.met(value))
        scores = self.scores(classes)
        value = self._worst(scores) if len(classes) else self._vacuous()
        return Verdict(value, bool(self.holding(classes, scores).all()))

    def accepts(self, classes: ClassCounts) -> bool:
        """Whether the file that consists of these classes holds."""
        return self.measured(classes).holds

    def fewest(self) -> int:
        """The size that it asks of every class, whatever the data are; 1 when it asks for none."""
        return 1

    def least_size(self, classes: ClassCounts) -> int:  # noqa: ARG002
        """A size that every class that holds must have; more than :meth:`fewest` where the data tell."""
        return self.fewest()

    def least_removed(self, classes: ClassCounts) -> NDArray[np.int64] | None:  # noqa: ARG002
        """Records that must leave each class at least, here and at every finer level; None when nothing is known.

        Only for a convex model: the union of classes that hold holds.
        """
        return None

    def size_only(self) -> bool:
        """Whether :meth:`judge` is exactly ``size >= least_size``."""
        return False

    # What it says about a table.

    def verdict(self, table: Table) -> Verdict:
        """The measured value and whether the requirement holds: the one answer for everybody who asks."""
        verdicts = [self._measured_on(reading) for reading in table.readings()]
        return Verdict(self._worst(np.array([v.value for v in verdicts])), all(v.holds for v in verdicts))

    def worst_reading(self, table: Table) -> Table:
        """The reading of a table that gives the worst value; of equal ones the last."""
        readings = table.readings()
        if len(readings) == 1:
            return readings[0]
        sign = -1 if self.direction == "at least" else 1
        values = [sign * self._measured_on(reading).value for reading in readings]
        return readings[max(range(len(values)), key=lambda i: (values[i], i))]

    def _measured_on(self, table: Table) -> Verdict:
        """The verdict under one reading of the table."""
        counted = [view.class_counts(columns, self.people()) for view, columns in self.views(table)]
        verdicts = [self.measured(classes) for classes in counted]
        return Verdict(self._worst(np.array([v.value for v in verdicts])), all(v.holds for v in verdicts))

    def value(self, table: Table) -> float:
        """The measured value."""
        return self.verdict(table).value

    def holds(self, table: Table) -> bool:
        """Whether the requirement holds for the table."""
        return self.verdict(table).holds

    def failing(self, table: Table) -> NDArray[np.bool_]:
        """Which records lie in a class that does not hold; all of them where the file as a whole does not."""
        failing = np.zeros(len(table), dtype=np.bool_)
        for view, columns in (each for reading in table.readings() for each in self.views(reading)):
            _, classes = view.keyed_counts(columns, self.people())
            bad = ~self.judge(classes) if self.scope == "class" else np.full(len(classes), not self.accepts(classes))
            failing |= view.on_records(bad, suppressed=False)
        return failing

    def classes(self, table: Table) -> pl.DataFrame:
        """One row per equivalence class: the quasi-identifiers, the size and the value of each."""
        import polars as pl

        keys, counts = self.worst_reading(table).keyed_counts(self.sensitive(), self.people())
        scores = self.scores(counts) if self.scope == "class" else np.full(len(counts), self.score(counts))
        columns: dict[str, Any] = {"size": counts.size}
        if counts.population is not None:
            columns["population"] = counts.population
        columns[self.symbol or "value"] = scores
        return keys.with_columns(pl.Series(name, values) for name, values in columns.items())

    def _meets(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        slack = ROUNDING * max(1.0, abs(self.bound()))
        return values >= self.bound() - slack if self.direction == "at least" else values <= self.bound() + slack

    def _vacuous(self) -> float:
        """The value of a file without any class."""
        return math.inf if self.direction == "at least" else 0.0

    def _worst(self, values: NDArray[np.float64]) -> float:
        return float(np.min(values) if self.direction == "at least" else np.max(values))
