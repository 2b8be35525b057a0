"""Disclosure risk: success of the strongest applicable attack."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NotRequired

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable, ParameterError
from celosia.parts import (
    Attack,
    AttackEvidence,
    Columns,
    CombinesAttacks,
    DecidedByOneRecord,
    DisclosesValue,
    ReadsCertificate,
    attacks_reading,
    build,
    find,
    methods_read,
    parts,
)
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Strongest:
    """Attacks that apply, their evidence, and the choice of those that decide."""

    attacks: dict[str, Attack]
    evidence: Mapping[str, Mapping[str, Any]]
    not_applicable: dict[str, str]
    """Reason why each of the others does not apply."""

    def best(self, *, values: bool) -> str | None:
        """Return the most successful attack, of those that disclose identities or values."""
        kind = [name for name, attack in self.attacks.items() if isinstance(attack, DisclosesValue) == values]
        return max(kind, key=self.success, default=None)

    def success(self, name: str, end: str = "value") -> float:
        """Return the success of an attack; of one that undoes a step to disclose values, beyond guessing."""
        evidence = self.evidence[name]
        ends = evidence.get("interval", (evidence["value"], evidence["value"]))
        value = float(evidence["value"] if end == "value" else ends[end == "high"])
        attack = self.attacks[name]
        if isinstance(attack, ReadsCertificate) and isinstance(attack, DisclosesValue):
            baseline = self.baseline(name)
            return max(0.0, (value - baseline) / (1 - baseline)) if baseline < 1 else 0.0
        return value

    def baseline(self, name: str) -> float:
        """Return the success of guessing; 0 where an attack has no baseline."""
        return float(self.evidence[name].get("baseline", 0.0))

    def deciding_attacks(self) -> list[str]:
        """Return the best linkage, or the best linkage and the best disclosure of values where their mean is higher."""
        link, value = self.best(values=False), self.best(values=True)
        if link is None or value is None:
            return [name for name in (link, value) if name is not None]
        return [link] if self.success(link) >= self.success(value) else [link, value]

    def mean_success(self, end: str = "value") -> float:
        """Return the mean success of the attacks that decide."""
        return float(np.mean([self.success(name, end) for name in self.deciding_attacks()]))


class DisclosureRiskEvidence(AttackEvidence):
    """Risk, the attacks that decided it, and the success of every attack."""

    decided: list[str]
    attacks: dict[str, dict[str, object]]
    general: NotRequired[list[str]]
    not_applicable: NotRequired[dict[str, str]]


class DisclosureRisk(CombinesAttacks, DecidedByOneRecord, Attack):
    r"""The success of the strongest attack that applies, attacks by readers of the certificate included.

    .. math:: \mathrm{DR} = \max\Bigl(L,\ \frac{L + V}{2}\Bigr), \qquad L = \max_{\text{links}} , \quad
              V = \max_{\text{values}}

    The links are those of general intruders, by distance and by agreement (the mean over those who know the first
    ``known`` columns), and those of intruders who have read the certificate: every attack that ``reads`` a step in the
    history of the protected table. Values are disclosed by intervals, and by the attacks that undo a step; the latter
    count by their success beyond guessing. So the risk is never below the
    :class:`~celosia.risk.ClassicalDisclosureRisk` of the literature, whose intruder does not know the method. The
    evidence names the attacks that ``decided``, the success of each attack, and the steps of which only ``general``
    attacks are known. Text columns are linked by Gower's distance; leave out columns that are released
    unchanged, or linkage will use nothing else.

    References: Domingo-Ferrer & Torra (2001); Nin, Herranz & Torra (2008); Torra (2017), transparency attacks.

    >>> import polars as pl, celosia
    >>> rng = np.random.default_rng(1)
    >>> table = celosia.read(pl.DataFrame(rng.normal(size=(200, 6)), schema=list("abcdef")))
    >>> protected = celosia.protect(table, "rank-swap(columns=[a, b, c, d, e, f], window=0.15)", seed=1)
    >>> evidence = DisclosureRisk().evidence(table, protected)
    >>> evidence["decided"], evidence["value"] > 3 * celosia.risk.ClassicalDisclosureRisk().value(table, protected)
    (['rank-intersection'], True)
    """

    columns: Columns | None = Field(
        default=None, description="columns that the intruder knows; all shared numeric ones when not given"
    )
    known: tuple[int, ...] = Field(
        default=(3, 5, 8), description="numbers of leading columns that a general intruder may know"
    )
    tolerance: float = Field(default=0.1, ge=0, description="standard deviations within which numbers agree (PRL)")
    window: Literal["rank", "relative", "sd"] = Field(default="rank", description="what an interval is (ID)")
    direction: Literal["original", "protected"] = Field(
        default="original", description="whose records general intruders link"
    )
    examples: ClassVar = ({"columns": ["x", "y"]},)

    def value(self, original: Table, protected: Table) -> float:
        """Return the risk as a share."""
        return self._strongest(original, protected).mean_success()

    def evidence(self, original: Table, protected: Table) -> DisclosureRiskEvidence:
        """Return the risk, the attacks that decided it, and the success of every attack."""
        strongest = self._strongest(original, protected)
        published = ("value", "interval", "baseline", "control", "read")
        summary: DisclosureRiskEvidence = {
            "value": strongest.mean_success(),
            "interval": [strongest.mean_success("low"), strongest.mean_success("high")],
            "baseline": float(np.mean([strongest.baseline(name) for name in strongest.deciding_attacks()])),
            "decided": strongest.deciding_attacks(),
            "attacks": {
                name: {key: evidence[key] for key in published if key in evidence}
                for name, evidence in strongest.evidence.items()
            },
        }
        general = [entry["step"] for entry in protected.history if not attacks_reading(entry["step"])]
        if general:
            summary["general"] = list(dict.fromkeys(general))
        if strongest.not_applicable:
            summary["not_applicable"] = strongest.not_applicable
        return summary

    def deciding_attacks(self, original: Table, protected: Table) -> list[str]:
        """Return the attacks that decided."""
        return self._strongest(original, protected).deciding_attacks()

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return the risk of each record by the attacks that decided, and the success of each of them."""
        import polars as pl

        strongest = self._strongest(original, protected)
        chances = {
            name: self._chance(strongest.attacks[name], original, protected) for name in strongest.deciding_attacks()
        }
        return pl.DataFrame({"risk": np.mean(list(chances.values()), axis=0), **chances}, nan_to_null=True)

    def _chance(self, attack: Attack, original: Table, protected: Table) -> Floats:
        """Return the success of an attack against each record of the original."""
        from celosia.table.pairing import positions

        chance = attack.records(original, protected)["risk"].cast(float).to_numpy()
        if isinstance(attack, ReadsCertificate) or (
            self.direction == "original" and not isinstance(attack, DisclosesValue)
        ):
            return chance
        by_original = np.zeros(len(original))  # by protected record: one that was not released is not disclosed
        by_original[positions(original, protected)] = chance
        return by_original

    def _strongest(self, original: Table, protected: Table) -> Strongest:
        return protected.compute_once((str(self), Same(original)), lambda: self._measure(original, protected))

    def _measure(self, original: Table, protected: Table) -> Strongest:
        attacks, evidence, not_applicable = {}, {}, {}
        for attack in (*self._general_attacks(original, protected), *self._informed_attacks(protected)):
            try:
                evidence[attack.name] = attack.evidence(original, protected)
            except NotApplicable as error:
                not_applicable[attack.name] = str(error)
            else:
                attacks[attack.name] = attack
        if not attacks:
            raise NotApplicable("disclosure-risk: no attack applies. " + " ".join(not_applicable.values()))
        return Strongest(attacks, evidence, not_applicable)

    def _general_attacks(self, original: Table, protected: Table) -> list[Attack]:
        """Build the attacks by intruders who do not know the method."""
        from celosia.table.pairing import shared_numbers
        from celosia.views.comparing.encoding import known_columns

        numeric = shared_numbers(original, protected)
        wanted = self.columns if self.columns is not None else (numeric or None)
        names = known_columns(original, protected, wanted, numbers=False)
        numbers = set(names) <= set(numeric)
        linkage = {"columns": names, "known": self.known, "direction": self.direction}
        scale = {} if numbers else {"scale": "gower"}
        specs = [
            {"use": "distance-linkage", **linkage, **scale},
            {"use": "probabilistic-linkage", "tolerance": self.tolerance, **linkage},
        ]
        if numbers:
            specs.append({"use": "interval-disclosure", "columns": names, "window": self.window})
        return [build("attack", spec) for spec in specs]

    def _informed_attacks(self, protected: Table) -> list[Attack]:
        """Build the attacks that read a step of the protected table."""
        steps = {entry["step"] for entry in protected.history}
        attacks = []
        for name in parts("attack"):
            cls = find("attack", name)
            if steps.isdisjoint(methods_read(cls)):
                continue
            columns = {"columns": self.columns} if "columns" in cls.model_fields else {}
            try:
                attacks.append(build("attack", {"use": name, **columns}))
            except ParameterError:  # it has a required parameter that does not follow from the table
                continue
        return attacks
