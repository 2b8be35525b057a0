"""What a verification found: claim by claim, and in one word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from celosia.show.blocks import Block, Shown

Verdict = Literal["verified", "verified in part", "contradicted"]


@dataclass(frozen=True)
class Check:
    """One claim: what is stated, what was found; ``passed`` is None where it cannot be told.

    Where the claim cannot be computed but bounded, ``found`` is the bound that it keeps.
    """

    claim: str
    stated: Any
    found: Any
    passed: bool | None
    note: str = ""
    required: bool = False
    """Whether it is about a requirement: then an open check leaves open whether the release is as safe as stated."""

    @property
    def verdict(self) -> str:
        """The outcome in words."""
        if self.passed is None:
            return f"{'stated, not verified' if self.found is None else 'possible'}: {self.note}"
        return "holds" if self.passed else "DOES NOT HOLD"

    def spec(self) -> dict[str, Any]:
        """The check as plain data."""
        return {
            "claim": self.claim,
            "stated": self.stated,
            "found": self.found,
            "passed": self.passed,
            "note": self.note,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Shown, Sequence[Check]):
    """The checks of a certificate, one after the other, and what they come to.

    >>> Verification((Check("rows", 4, 4, True), Check("losses", 2, None, None, "needs the original")))
    verified in part: 1 of 2 checks hold. Not verified: losses (needs the original).
      rows: holds
      losses: stated, not verified: needs the original
    """

    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """*contradicted* when a claim does not hold, *verified in part* when one could not be told."""
        outcomes = {check.passed for check in self.checks}
        return "contradicted" if False in outcomes else "verified in part" if None in outcomes else "verified"

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts the certificate."""
        return self.verdict != "contradicted"

    @property
    def confirmed(self) -> bool:
        """Whether nothing contradicts the certificate and every requirement was computed again and holds as stated."""
        return self.holds and not self._unconfirmed

    @property
    def _unconfirmed(self) -> list[str]:
        return [check.claim for check in self.checks if check.required and check.passed is None]

    @property
    def sentence(self) -> str:
        """The verdict, and which claims it excepts, with the reason."""
        failed = [check.claim for check in self.checks if check.passed is False]
        if failed:
            return f"contradicted: {len(failed)} of {len(self.checks)} claims do not hold: {', '.join(failed)}."
        passed = sum(check.passed is True for check in self.checks)
        if passed == len(self.checks):
            return f"verified: all {passed} checks hold."
        open_ones = self._unconfirmed
        start = f"Requirements that could not be confirmed: {', '.join(open_ones)}. " if open_ones else ""
        return f"verified in part: {passed} of {len(self.checks)} checks hold. {start}Not verified: {self._open()}."

    def _open(self) -> str:
        """The claims that could not be told, those of one reason together."""
        reasons: dict[str, list[str]] = {}
        for check in self.checks:
            if check.passed is None:
                reasons.setdefault(check.note, []).append(check.claim)
        return "; ".join(f"{', '.join(claims)} ({note})" for note, claims in reasons.items())

    def blocks(self) -> list[Block]:
        """What there is to show."""
        rows = [(c.claim, _shown(c.stated), _shown(c.found), c.verdict) for c in self.checks]
        table = Block("What the certificate claims", ("claim", "stated", "found", "verdict"), rows)
        return [table, Block(self.sentence)]

    def spec(self) -> dict[str, Any]:
        """The verification as plain data."""
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "confirmed": self.confirmed,
            "checks": [check.spec() for check in self.checks],
        }

    def __repr__(self) -> str:
        return "\n".join([self.sentence, *(f"  {check.claim}: {check.verdict}" for check in self.checks)])

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @overload
    def __getitem__(self, index: int) -> Check: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Check]: ...
    def __getitem__(self, index: int | slice) -> Check | Sequence[Check]:
        return self.checks[index]


def confirmed(checks: Iterable[Check], claims: set[str], note: str) -> list[Check]:
    """The checks, with those claims that could not be told confirmed in another way."""
    return [
        Check(check.claim, check.stated, check.stated, True, note, check.required)
        if check.passed is None and check.claim in claims
        else check
        for check in checks
    ]


def _shown(value: Any) -> str:
    return "" if value is None else str(value)
