"""Score: loss and risk in one number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from celosia.parts import Loss, PersonUnit, Threat, build, deciding_attacks, value_against

if TYPE_CHECKING:
    from celosia.table import Table

INTERESTING = 30.0
"""A method "begins to be interesting" at or below this score."""


class Score(Loss):
    r"""Loss and risk in one number, in percent.

    .. math:: \mathrm{Score} = 100\,(w\,\mathrm{IL} + (1 - w)\,\mathrm{DR})

    with the probabilistic loss and the disclosure risk unless others are given, and w a half. The risk is that of the
    strongest attack, which is named; with ``risk = "classical-disclosure-risk"`` the score is that of the literature,
    whose methods with a score of 30 or less are called interesting. An unchanged table has no loss and full risk, so
    the score is not 0 there. The loss should be a share: one without bound drowns the risk. Fails where the loss or
    the risk does not apply. References: Domingo-Ferrer & Torra (2001).

    >>> import polars as pl, celosia
    >>> a = celosia.read(pl.DataFrame({"x": [10.0, 20.0, 30.0, 40.0], "y": [3.0, 1.0, 4.0, 2.0]}))
    >>> Score().value(a, a), round(Score(weight=0.8).value(a, a), 9)
    (50.0, 20.0)
    """

    loss: Loss | None = Field(default=None, description="the loss; probabilistic-loss when not given")
    risk: Threat | None = Field(default=None, description="what an intruder can do; disclosure-risk when not given")
    weight: float = Field(default=0.5, ge=0, le=1, description="weight of the loss; the rest is that of the risk")
    persons: ClassVar[PersonUnit] = "counted"
    bounded: ClassVar[bool] = False

    def value(self, original: Table, protected: Table) -> float:
        """Return the score in percent."""
        return float(self.parts(original, protected)["score"])

    def identity_value(self, original: Table) -> float:
        """Return the score of an unchanged copy: all risk, no loss."""
        return self.value(original, original)

    def parts(self, original: Table, protected: Table) -> dict[str, Any]:
        """Return loss and risk in percent, the score, and whether it is at most 30."""
        loss: Loss = self.loss or build("loss", "probabilistic-loss")
        risk: Threat = self.risk or build("attack", "disclosure-risk")
        lost = 100 * loss.value(original, protected)
        threat = 100 * value_against(risk, original, protected)
        score = self.weight * lost + (1 - self.weight) * threat
        parts = {loss.name: lost, risk.name: threat, "score": score, "interesting": score <= INTERESTING}
        decided = deciding_attacks(risk, original, protected)
        return {**parts, "decided": decided} if decided else parts
