"""The result of a verification: one check per claim, and a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from celosia.show.blocks import Block, Shown

Verdict = Literal["verified", "verified in part", "contradicted"]


@dataclass(frozen=True)
class Check:
    """One claim: the stated and the computed value; ``passed`` is None where it cannot be computed.

    Where the claim can only be bounded, ``found`` is the bound that it meets.
    """

    claim: str
    stated: Any
    found: Any
    passed: bool | None
    note: str = ""
    required: bool = False
    """Whether the release is only as safe as stated if this check passes."""

    @property
    def verdict(self) -> str:
        """The outcome as a text."""
        if self.passed is None:
            return f"{'stated, not verified' if self.found is None else 'possible'}: {self.note}"
        return "holds" if self.passed else "DOES NOT HOLD"

    def spec(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {
            "claim": self.claim,
            "stated": self.stated,
            "found": self.found,
            "passed": self.passed,
            "note": self.note,
        }


@dataclass(frozen=True, eq=False, repr=False)
class Verification(Shown, Sequence[Check]):
    """The checks of a certificate, in order, with a verdict.

    >>> Verification((Check("rows", 4, 4, True), Check("losses", 2, None, None, "needs the original")))
    verified in part: every claim that could be checked holds (1 of 2). Not checked: losses (needs the original).
      rows: holds
      losses: stated, not verified: needs the original
    """

    checks: tuple[Check, ...]

    @property
    def verdict(self) -> Verdict:
        """*contradicted* if a claim does not hold, *verified in part* if one could not be computed."""
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
        unconfirmed = self._unconfirmed
        start = f"verified in part: every claim that could be checked holds ({passed} of {len(self.checks)})."
        if unconfirmed:
            start += f" Requirements that could not be confirmed: {', '.join(unconfirmed)}."
        return f"{start} Not checked: {self._list_open()}."

    def _list_open(self) -> str:
        """Return the claims that could not be computed, grouped by reason."""
        reasons: dict[str, list[str]] = {}
        for check in self.checks:
            if check.passed is None:
                reasons.setdefault(check.note, []).append(check.claim)
        return "; ".join(f"{', '.join(claims)} ({note})" for note, claims in reasons.items())

    def blocks(self) -> list[Block]:
        """Return the blocks that a terminal or a notebook shows."""
        # claims that nothing was computed for are in the sentence, by reason
        shown = [c for c in self.checks if c.passed is not None or c.found is not None]
        rows = [(c.claim, _as_text(c.stated), _as_text(c.found), c.verdict) for c in shown]
        table = Block("What the certificate claims", ("claim", "stated", "found", "verdict"), rows)
        return [table, Block(self.sentence)]

    def spec(self) -> dict[str, Any]:
        """Return the verification as plain data."""
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


def confirm(checks: Iterable[Check], claims: set[str], note: str) -> list[Check]:
    """Return the checks with these open claims confirmed in another way."""
    return [
        Check(check.claim, check.stated, check.stated, True, note, check.required)
        if check.passed is None and check.claim in claims
        else check
        for check in checks
    ]


def _as_text(value: object) -> str:
    return "" if value is None else str(value)
