"""Base classes of risks, which measure one table, and attacks, which compare the original and the protected one."""

from __future__ import annotations

import functools
import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypedDict, TypeVar

from celosia.parts.part import Memory, Part, PersonUnit
from celosia.parts.registry import parts

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

T = TypeVar("T")
R = TypeVar("R", bound="Risk")


class Evidence(TypedDict):
    """Value of a risk or an attack; each part adds the numbers behind it in a subclass."""

    value: float


class AttackEvidence(Evidence):
    """Value of an attack with its 95 % interval, and the success of guessing."""

    interval: list[float]
    baseline: float


class LinkEvidence(AttackEvidence):
    """Share of correct links, its interval and baseline, and the number of linked records (persons, if declared)."""

    records: int


class Threat(Part, covers=("risk", "attack")):
    """A risk or an attack: a measure of what an intruder could find out about people in a protected table.

    Where a person column is declared, counts, samples and means are of persons, not of rows.
    """

    kind: ClassVar[str] = "risk or attack"
    persons: ClassVar[PersonUnit] = "counted"
    memory: ClassVar[Memory] = "columns"
    bounded: ClassVar[bool] = True
    """Whether it is a share or a probability in [0, 1]; otherwise it keeps its own unit."""


class Risk(Threat, home="celosia.risk"):
    """Disclosure risk of a table by itself: a number per record and per file."""

    kind: ClassVar[str] = "risk"

    def __init_subclass__(cls) -> None:
        """Make the number of a risk the highest over the readings of a table."""
        super().__init_subclass__()
        for name, key in (("value", float), ("evidence", operator.itemgetter("value"))):
            if name in vars(cls) and cls is not Risk:
                setattr(cls, name, _highest(vars(cls)[name], key))

    @abstractmethod
    def value(self, table: Table) -> float:
        """Return the risk of the file."""

    @abstractmethod
    def records(self, table: Table) -> pl.DataFrame:
        """Return the risk of every record, in table order."""

    @abstractmethod
    def evidence(self, table: Table) -> Evidence:
        """Return the value with interval, baseline and components, as far as it has them."""


def _highest(measure: Callable[[R, Table], T], key: Callable[[T], float]) -> Callable[[R, Table], T]:
    """Decorate a measurement to return the highest over the readings of a table."""

    @functools.wraps(measure)
    def highest(self: R, table: Table) -> T:
        readings = table.readings()
        values = [measure(self, each) for each in readings]
        return values[0] if len(values) == 1 else max(values, key=key)

    return highest


class Attack(Threat, home="celosia.risk.attacks"):
    """Success of an intruder: a number per record and per file from the original and the protected table.

    The original stands for the intruder's knowledge, and for the truth that the guesses are compared with.
    """

    kind: ClassVar[str] = "attack"

    @abstractmethod
    def value(self, original: Table, protected: Table) -> float:
        """Return the success against the file."""

    @abstractmethod
    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the success against every record, in the order of the original."""

    @abstractmethod
    def evidence(self, original: Table, protected: Table) -> Evidence:
        """Return the value with interval, baseline, control and components, as far as it has them."""


class ReadsCertificate:
    """Mixin of an attack by an intruder who has read the certificate; any other knows nothing about the methods."""

    reads: ClassVar[tuple[str, ...]]
    """Methods whose published parameters it uses."""


class NarrowsValues:
    """Mixin of a risk that narrows the values of one person."""

    @abstractmethod
    def intervals(self, table: Table) -> dict[str, tuple[float, float]]:
        """Return the interval in which a number of the person must lie, by column.

        It contains values of the data: only for the data owner (the internal edition).
        """


class DisclosesValue:
    """Mixin of an attack that finds a value of a person whose record is known; any other links records to persons."""


class ComparesReleases:
    """Mixin of an attack that combines a release with ``earlier`` ones about the same people.

    It is run before a release is written, which its reasons can forbid.
    """

    @abstractmethod
    def blocking_reasons(self, facts: Mapping[str, Any]) -> list[str]:
        """Return the reasons why its evidence forbids the release; empty when it does not. Counts only."""


class CombinesAttacks:
    """Mixin of a threat whose number is that of the strongest of several attacks."""

    @abstractmethod
    def deciding_attacks(self, original: Table, protected: Table) -> list[str]:
        """Return the attacks that decided the number."""


def value_against(threat: Threat, original: Table, protected: Table) -> float:
    """Return the value of a risk of the protected table, or of an attack."""
    if isinstance(threat, Risk):
        return threat.value(protected)
    assert isinstance(threat, Attack)
    return threat.value(original, protected)


def evidence_against(threat: Threat, original: Table, protected: Table) -> Evidence:
    """Return the evidence of a risk of the protected table, or of an attack."""
    if isinstance(threat, Risk):
        return threat.evidence(protected)
    assert isinstance(threat, Attack)
    return threat.evidence(original, protected)


def deciding_attacks(threat: Threat, original: Table, protected: Table) -> list[str]:
    """Return the attacks that decided a number; empty for a threat that does not combine several."""
    return threat.deciding_attacks(original, protected) if isinstance(threat, CombinesAttacks) else []


def methods_read(attack: type[Part]) -> tuple[str, ...]:
    """Return the methods whose published parameters an attack uses; empty for a general attack."""
    return attack.reads if issubclass(attack, ReadsCertificate) else ()


def attacks_reading(method: str) -> tuple[str, ...]:
    """Return the attacks that use what a certificate publishes about a method; empty if only general ones measure it.

    >>> attacks_reading("drop")
    ()
    """
    return tuple(name for name, cls in parts("attack").items() if method in methods_read(cls))


def measured_by(method: str) -> str:
    """Return the attacks that use what is published about a method, as text.

    >>> measured_by("rank-swap"), measured_by("drop")
    ('rank-intersection', 'general attacks only')
    """
    return ", ".join(attacks_reading(method)) or "general attacks only"
