"""Threats: a risk looks at one table, an attack at the original and the protected one."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from celosia.parts.part import Memory, Part, PersonUnit
from celosia.parts.registry import parts

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

T = TypeVar("T")


class Threat(Part, covers=("risk", "attack")):
    """A risk or an attack: what somebody could find out about people in a protected table.

    Where a person column is declared, whatever is counted, drawn or averaged is persons, not rows.
    """

    kind: ClassVar[str] = "risk or attack"
    persons: ClassVar[PersonUnit] = "counted"
    memory: ClassVar[Memory] = "columns"
    bounded: ClassVar[bool] = True
    """Whether it is a share or a chance in [0, 1]; otherwise it keeps its own unit."""
    in_every_report: ClassVar[bool] = False
    """Whether the first numbers of every report tell it, so that it is not listed again."""

    def against(self, original: Table, protected: Table) -> float:
        """The number for a protected table whose original is at hand; a risk does not look at the original."""
        raise NotImplementedError

    def found_against(self, original: Table, protected: Table) -> dict[str, Any]:
        """The same number with what belongs to it."""
        raise NotImplementedError

    def decided(self, original: Table, protected: Table) -> list[str]:  # noqa: ARG002
        """The attacks that decided the number, where it is the strongest of several."""
        return []


class Risk(Threat, home="celosia.risk"):
    """A number per record and per file: what a table alone tells about people."""

    kind: ClassVar[str] = "risk"
    rows_bound: ClassVar[Literal["at least", "at most"] | None] = None
    """Where classes count persons, the value is at least, or at most, what counting rows would give; None: neither."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the number of a risk be the highest over the readings of a table."""
        super().__init_subclass__(**options)
        for name, key in (("value", float), ("evidence", operator.itemgetter("value"))):
            if name in vars(cls):
                setattr(cls, name, _highest(vars(cls)[name], key))

    def value(self, table: Table) -> float:
        """One number for the file."""
        raise NotImplementedError

    def records(self, table: Table) -> pl.DataFrame:
        """One row per record in table order."""
        raise NotImplementedError

    def evidence(self, table: Table) -> dict[str, Any]:
        """The value with what belongs to it: interval, parts."""
        return {"value": self.value(table)}

    def intervals(self, table: Table) -> dict[str, tuple[float, float]]:  # noqa: ARG002
        """Between which values a number of the person must lie, by column; no evidence, since it shows values.

        Only what the owner alone sees may tell it: the internal edition, an answer to who holds the data.
        """
        return {}

    def against(self, original: Table, protected: Table) -> float:  # noqa: ARG002
        """The value of the protected table."""
        return self.value(protected)

    def found_against(self, original: Table, protected: Table) -> dict[str, Any]:  # noqa: ARG002
        """The evidence of the protected table."""
        return self.evidence(protected)


def _highest(measure: Callable[[Any, Table], T], key: Callable[[T], Any]) -> Callable[[Any, Table], T]:
    """A measurement under every reading of a table (:meth:`celosia.table.Table.readings`): the highest."""

    @functools.wraps(measure)
    def highest(self: Any, table: Table) -> T:
        readings = table.readings()
        values = [measure(self, each) for each in readings]
        return values[0] if len(values) == 1 else max(values, key=key)

    return highest


class Attack(Threat, home="celosia.risk.attacks"):
    """What an intruder reaches: a number per record and per file from the original and the protected table.

    The original plays what the intruder knows and the truth that their guesses are compared with.
    """

    kind: ClassVar[str] = "attack"
    reads: ClassVar[tuple[str, ...]] = ()
    """Methods whose published parameters it uses; empty for a general attack, which knows nothing about the method."""
    discloses: ClassVar[Literal["identity", "value"]] = "identity"
    """What it finds out: whose record is whose, or a value of somebody whose record is known."""
    together: ClassVar[bool] = False
    """Whether it puts a release together with ``earlier`` ones about the same people; then it is run before a release
    is written, and :meth:`gives_away` decides."""

    def value(self, original: Table, protected: Table) -> float:
        """One number for the file."""
        raise NotImplementedError

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """One row per record in the order of the original."""
        raise NotImplementedError

    def evidence(self, original: Table, protected: Table) -> dict[str, Any]:
        """The value with what belongs to it: interval, baseline, control, parts."""
        return {"value": self.value(original, protected)}

    def gives_away(self, facts: Mapping[str, Any]) -> list[str]:  # noqa: ARG002
        """How its evidence shows that a release must not be, in words; empty when it does not. Counts only."""
        return []

    def against(self, original: Table, protected: Table) -> float:
        """The value."""
        return self.value(original, protected)

    def found_against(self, original: Table, protected: Table) -> dict[str, Any]:
        """The evidence."""
        return self.evidence(original, protected)


def attacks_reading(method: str) -> tuple[str, ...]:
    """The attacks that use what a certificate publishes about a method; empty when only general attacks measure it.

    >>> attacks_reading("drop")
    ()
    """
    return tuple(name for name, cls in parts("attack").items() if issubclass(cls, Attack) and method in cls.reads)


def measured_by(method: str) -> str:
    """The attacks that read what is published about a method, in words.

    >>> measured_by("rank-swap"), measured_by("drop")
    ('rank-intersection', 'general attacks only')
    """
    return ", ".join(attacks_reading(method)) or "general attacks only"
