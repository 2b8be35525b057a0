"""What a run wrote, read back with nothing but the reader of comma-separated text."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.reference.tables import Situation

from celosia.checker.rows import STAR, Plain, Row
from celosia.parts import build
from celosia.release.policy.policy import Output, Policy, Step
from celosia.release.run import run


def written(situation: Situation, steps: Sequence[dict[str, Any]], place: Path) -> list[Row]:
    """Run the moves of a situation and further steps as a policy, and read the file; the person column is kept."""
    situation.frame().write_csv(place / "input.csv")
    made = [build("method", step) for step in (*situation.steps(), *steps)]
    policy = Policy(
        input={"path": place / "input.csv"},
        schema=situation.schema(),
        step=tuple(Step(str(i), method) for i, method in enumerate(made)),
        output=Output(path=place / "safe.csv", report=False, columns=_persons(situation.table)),
        run={"seed": 1 << 70},
    )
    run(policy, overwrite=True)
    return rows_of(place / "safe.csv")


def rows_of(path: Path) -> list[Row]:
    """The cells of a file as texts; an empty one is missing."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{name: value or None for name, value in row.items()} for row in csv.DictReader(file)]


def _persons(table: Plain) -> tuple[str, ...]:
    return () if table.person is None else (table.person,)


def judged(rows: list[Row], like: Plain) -> Plain:
    """The rows of a file under the roles of another table; a row of stars is a suppressed record."""
    hidden = frozenset(i for i, row in enumerate(rows) if all(row[name] == STAR for name in like.quasi))
    before = like.rows if like.before is None else like.before
    texts = tuple({k: None if v is None else str(v) for k, v in row.items()} for row in before)
    return replace(like, rows=tuple(rows), suppressed=hidden, before=texts)
