"""How often the suggestions are right on the registers."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.proposals.registers.making import Register, register

from celosia.proposals import first_look

#: Roles of columns that name somebody: they stay behind.
NAMING = frozenset(["identifier", "person", "household"])


@dataclass(frozen=True)
class Score:
    """Counts over the columns of some registers."""

    registers: int = 0
    columns: int = 0
    right: int = 0
    naming: int = 0
    found: int = 0
    called: int = 0
    rightly: int = 0

    @property
    def accuracy(self) -> float:
        """Share of columns whose role is one that a steward would give."""
        return self.right / self.columns

    @property
    def recall(self) -> float:
        """Share of the columns that name somebody, free text among them, that are left out."""
        return self.found / self.naming

    @property
    def precision(self) -> float:
        """Share of the columns that are said to name somebody that do."""
        return self.rightly / self.called

    def __add__(self, other: Score) -> Score:
        return Score(*(a + b for a, b in zip(vars(self).values(), vars(other).values(), strict=True)))


def score(half: Mapping[str, str]) -> dict[str, Score]:
    """Score the suggestions for the registers of one half, by language."""
    scores: dict[str, Score] = {}
    with tempfile.TemporaryDirectory() as place:
        for name, description in half.items():
            known = register(name, description)
            scores[known.language] = scores.get(known.language, Score()) + _scored(known, Path(place))
    return scores


def _scored(known: Register, place: Path) -> Score:
    total = Score(registers=1)
    for s in first_look(str(known.write(place))).suggestions:
        wanted, role = known.roles[s.name], str(s.role)
        # A column that names a person is an identifier or, where persons repeat, the person column: both are right.
        right = role in wanted or (role in NAMING and bool(wanted & {"identifier", "person"}))
        total += Score(
            columns=1,
            right=right,
            naming=wanted <= NAMING,
            found=wanted <= NAMING and role in NAMING,
            called=role in NAMING,
            rightly=role in NAMING and bool(wanted & NAMING),
        )
    return total


def table(halves: Mapping[str, Mapping[str, str]]) -> str:
    """The scores of both halves as a table in Markdown."""
    lines = [
        "| half | language | registers | columns | roles right | identifiers found | rightly called identifiers |",
        "|---|---|---|---|---|---|---|",
    ]
    for half, descriptions in halves.items():
        scores = score(descriptions)
        for language, one in [*sorted(scores.items()), ("all", sum(scores.values(), Score()))]:
            shares = f"{one.accuracy:.1%} | {one.recall:.1%} | {one.precision:.1%}".replace("%", " %")
            lines.append(f"| {half} | {language} | {one.registers} | {one.columns} | {shares} |")
    return "\n".join(lines)
