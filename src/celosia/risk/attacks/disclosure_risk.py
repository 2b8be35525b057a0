"""The disclosure risk: what the strongest applicable attack reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable, ParameterError
from celosia.parts import (
    Attack,
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
    """The attacks that apply, and those that decide."""

    attacks: dict[str, Attack]
    evidence: dict[str, dict[str, Any]]
    """The evidence of each."""
    silent: dict[str, str]
    """Why the others do not apply."""

    def best(self, *, values: bool) -> str | None:
        """The attack that reaches most, of those that disclose identities or values."""
        kind = [name for name, attack in self.attacks.items() if isinstance(attack, DisclosesValue) == values]
        return max(kind, key=self.reached, default=None)

    def reached(self, name: str, end: str = "value") -> float:
        """What an attack reaches; one that guesses values and has read the certificate, beyond guessing."""
        evidence = self.evidence[name]
        ends = evidence.get("interval", (evidence["value"], evidence["value"]))
        value = float(evidence["value"] if end == "value" else ends[end == "high"])
        if isinstance(self.attacks[name], ReadsCertificate) and isinstance(self.attacks[name], DisclosesValue):
            guess = self.guess(name)
            return max(0.0, (value - guess) / (1 - guess)) if guess < 1 else 0.0
        return value

    def guess(self, name: str) -> float:
        """What guessing reaches, where an attack tells."""
        return float(self.evidence[name].get("baseline", 0.0))

    def deciding(self) -> list[str]:
        """The best link alone, or with the best value where that makes more."""
        link, value = self.best(values=False), self.best(values=True)
        if link is None or value is None:
            return [name for name in (link, value) if name is not None]
        return [link] if self.reached(link) >= self.reached(value) else [link, value]

    def combined(self, end: str = "value") -> float:
        """The mean over those that decide."""
        return float(np.mean([self.reached(name, end) for name in self.deciding()]))


class DisclosureRisk(CombinesAttacks, DecidedByOneRecord, Attack):
    r"""What the strongest attack reaches that applies, that of a reader of the certificate included.

    .. math:: \mathrm{DR} = \max\Bigl(L,\ \frac{L + V}{2}\Bigr), \qquad L = \max_{\text{links}} , \quad
              V = \max_{\text{values}}

    The links are those of general intruders, by distance and by agreement (the mean over those who know the first
    ``known`` columns), and those of intruders who have read what was done: every attack that ``reads`` a step in the
    history of the protected table. Values are disclosed by intervals, and by the attacks that undo a step; the latter
    count by what they reach beyond guessing. So the risk is never below the
    :class:`~celosia.risk.ClassicalDisclosureRisk` of the literature, which is what it was before certificates told the
    method. The evidence names the attacks that ``decided``, what each attack reached, and the steps of which only
    ``general`` attacks are known. Text columns are linked by Gower's distance; leave out columns that are released
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
        """The risk as a share."""
        return self._strongest(original, protected).combined()

    def evidence(self, original: Table, protected: Table) -> dict[str, Any]:
        """The risk, the attacks that decided it, and what every attack reached."""
        strongest = self._strongest(original, protected)
        published = ("value", "interval", "baseline", "control", "read")
        summary: dict[str, Any] = {
            "value": strongest.combined(),
            "interval": [strongest.combined("low"), strongest.combined("high")],
            "baseline": float(np.mean([strongest.guess(name) for name in strongest.deciding()])),
            "decided": strongest.deciding(),
            "attacks": {
                name: {key: evidence[key] for key in published if key in evidence}
                for name, evidence in strongest.evidence.items()
            },
        }
        general = [entry["step"] for entry in protected.history if not attacks_reading(entry["step"])]
        if general:
            summary["general"] = list(dict.fromkeys(general))
        if strongest.silent:
            summary["not_applicable"] = strongest.silent
        return summary

    def deciding_attacks(self, original: Table, protected: Table) -> list[str]:
        """The attacks that decided."""
        return self._strongest(original, protected).deciding()

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """The risk of each record by the attacks that decided, and what each of them reached."""
        import polars as pl

        strongest = self._strongest(original, protected)
        chances = {name: self._chance(strongest.attacks[name], original, protected) for name in strongest.deciding()}
        return pl.DataFrame({"risk": np.mean(list(chances.values()), axis=0), **chances}, nan_to_null=True)

    def _chance(self, attack: Attack, original: Table, protected: Table) -> Floats:
        """What an attack reaches with each record of the original."""
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
        return protected.cached((str(self), Same(original)), lambda: self._measured(original, protected))

    def _measured(self, original: Table, protected: Table) -> Strongest:
        attacks, evidence, silent = {}, {}, {}
        for attack in (*self._general(original, protected), *self._informed(protected)):
            try:
                evidence[attack.name] = attack.evidence(original, protected)
            except NotApplicable as error:
                silent[attack.name] = str(error)
            else:
                attacks[attack.name] = attack
        if not attacks:
            raise NotApplicable("disclosure-risk: no attack applies. " + " ".join(silent.values()))
        return Strongest(attacks, evidence, silent)

    def _general(self, original: Table, protected: Table) -> list[Attack]:
        """Intruders who know nothing about what was done."""
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

    def _informed(self, protected: Table) -> list[Attack]:
        """The attacks that read a step of the protected table."""
        steps = {entry["step"] for entry in protected.history}
        informed = []
        for name in parts("attack"):
            cls = find("attack", name)
            if steps.isdisjoint(methods_read(cls)):
                continue
            given = {"columns": self.columns} if "columns" in cls.model_fields else {}
            try:
                informed.append(build("attack", {"use": name, **given}))
            except ParameterError:  # it needs to be told something that nothing follows from
                continue
        return informed
