"""Outcome of an attack with a control group: rates with intervals, and the risk that is due to the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired

from celosia.parts import AttackEvidence


class OutcomeEvidence(AttackEvidence):
    """Risk due to the release, the rates behind it, and the control."""

    rate: float
    rate_interval: list[float]
    attacks: int
    better_than_guessing: bool
    control: NotRequired[float]
    control_interval: NotRequired[list[float]]
    due_to_the_release: NotRequired[bool]


@dataclass(frozen=True)
class AttackOutcome:
    """Successes of an attack on people whose data were used, of a guess, and of the attack on a control group."""

    successes: float
    attacks: int
    baseline: float
    """Success rate of guessing."""
    control_successes: float | None = None
    control_attacks: int = 0

    @property
    def rate(self) -> float:
        """Success rate of the attack."""
        return self.successes / self.attacks if self.attacks else 0.0

    @property
    def control_rate(self) -> float | None:
        """Success rate against people whose data were not used."""
        if self.control_successes is None or not self.control_attacks:
            return None
        return self.control_successes / self.control_attacks

    @property
    def risk(self) -> float:
        r"""Success due to the release, :math:`(r - r_c) / (1 - r_c)`; the rate itself without a control."""
        control = self.control_rate
        if control is None:
            return self.rate
        return max(0.0, (self.rate - control) / (1 - control)) if control < 1 else 0.0

    def evidence(self) -> OutcomeEvidence:
        """Return the risk with its interval, the rates behind it, the baseline and the control.

        >>> evidence = AttackOutcome(30, 100, 0.1, 10, 100).evidence()
        >>> round(evidence["value"], 3), evidence["baseline"], evidence["rate"]
        (0.222, 0.1, 0.3)
        """
        from celosia.kernels.statistics.intervals import newcombe, wilson

        interval = wilson(self.successes, self.attacks)
        out: OutcomeEvidence = {
            "value": self.risk,
            "interval": list(interval),
            "rate": self.rate,
            "rate_interval": list(interval),
            "baseline": self.baseline,
            "attacks": self.attacks,
            "better_than_guessing": interval[0] > self.baseline,
        }
        control = self.control_rate
        if control is not None and self.control_successes is not None:
            trials = (self.control_successes, float(self.control_attacks))
            low, high = newcombe((self.successes, float(self.attacks)), trials)
            rest = max(1 - control, 1e-12)
            out["interval"] = [min(max(low / rest, 0.0), 1.0), min(max(high / rest, 0.0), 1.0)]
            out["control"] = control
            out["control_interval"] = list(wilson(*trials))
            out["due_to_the_release"] = low > 0
        return out
