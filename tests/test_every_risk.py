"""Every risk of the catalogue against loops over plain rows: persons, weights, missing values, suppressed records.

A new risk needs a function of its name under ``@reference`` (``tests.reference.risks``) in its own test file, and declares
``examples`` of its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
import pytest
from tests.reference.own import load
from tests.reference.risks import REFERENCE
from tests.reference.tables import Move, Situation, random_table, schema_of

import celosia
from celosia.checker.rows import STAR, Plain
from celosia.errors import NotApplicable
from celosia.parts import build, parts
from celosia.table.suppression import suppress_records

if TYPE_CHECKING:
    from celosia.table import Table

PEOPLE = 40  # more than any of the tables has, so that it can be the size of their population
load("risk")
EXAMPLES = {name: list(cls.examples) for name, cls in parts("risk").items()}
"""Risk → parameters to try; ``weights``: on tables with weights and households; ``population``: that many more people."""
CLASSES_ONLY = {"homogeneity", "population-uniques", "log-linear-risk"}
"""Risks that need classes: they refuse missing values that stand for others."""
MOVED: list[tuple[str, Literal["none", "marked"], tuple[Move, ...]]] = [
    ("recoded", "none", (("recode", "r", 1),)),
    ("subset", "none", (("subset", 9),)),
    ("recoded-subset", "none", (("recode", "q", 1), ("subset", 11))),
    ("recoded-suppressed", "marked", (("recode", "r", 1), ("recode", "s", 1))),
]
"""What an earlier step left or recoded."""


@dataclass(frozen=True)
class Case:
    """A table of plain rows, some of which may be suppressed, marked or told by their stars only."""

    name: str
    table: Plain
    suppressed: Literal["none", "marked", "stars"] = "none"
    moves: tuple[Move, ...] = ()
    """What was done to the table before."""

    @property
    def situation(self) -> Situation:
        return Situation(self.name, self.table, self.moves)

    def hidden(self, rows: int) -> list[bool]:
        return [self.suppressed != "none" and i % 4 == 1 for i in range(rows)]

    def read(self, engine: str = "polars") -> Table:
        table = self.situation.read(engine)
        if self.suppressed == "none":
            return table
        table = suppress_records(table, np.array(self.hidden(len(table))))
        if self.suppressed == "marked":
            return table
        return celosia.read(table.polars(), schema_of(self.table), engine=engine)

    def plain(self) -> Plain:
        table = self.situation.plain()
        if self.suppressed == "none":
            return table
        stars = dict.fromkeys(table.quasi, STAR)
        rows = [
            {**row, **{name: None if row[name] is None else str(row[name]) for name in stars}} for row in table.rows
        ]
        hidden = self.hidden(len(rows))
        rows = [{**row, **stars} if gone else row for row, gone in zip(rows, hidden, strict=True)]
        return replace(table, rows=tuple(rows), suppressed=frozenset(i for i, gone in enumerate(hidden) if gone))


def drawn(seed: int, weights: bool) -> list[Case]:
    """Tables with and without persons, for every reading of missing values, plain and with suppressed records."""
    found = []
    for persons in (False, True):
        for reading in (None, "category", "wildcard", "conservative"):
            table = random_table(
                seed,
                14,
                persons=persons,
                weights=weights,
                missing=reading,
                sensitive=("s", "o"),
                gaps=True,
                letters="ab",
            )
            name = f"{'persons' if persons else 'rows'}-{reading or 'complete'}"
            found += [Case(f"{name}-{how}", table, how) for how in ("none", "marked", "stars")]
            moved = MOVED[::2] if reading is None else MOVED[1::2] if reading == "category" else []
            found += [Case(f"{name}-{what}", table, how, moves) for what, how, moves in moved]
        found.append(Case("one", random_table(seed, 1, persons=persons, weights=weights)))
    return found


def population(table: Plain, more: int) -> list[dict[str, Any]]:
    """The people of a table and some more, raw; persons may have several rows."""
    others = random_table(9, more, persons=True, letters="ab").rows
    names = [*table.quasi, *([table.person] if table.person else [])]
    own = [{name: row[name] for name in names} for row in table.rows]
    return own + [{name: (row[name] + 1000 if name == table.person else row[name]) for name in names} for row in others]


def cases(name: str):
    for seed, given in enumerate(EXAMPLES[name]):
        parameters = dict(given)
        weights = parameters.pop("weights", False)
        for case in drawn(20 * seed, weights):
            own = dict(parameters)
            if "population" in own:
                own["population"] = population(case.table, own["population"])
            yield case, own


def recoded(case: Case, parameters: dict[str, Any]) -> dict[str, Any]:
    """What is known of people outside the table, as the table shows it: recoded like its columns."""
    levels = {move[1]: move[2] for move in case.moves if move[0] == "recode"}

    def shown(row: dict[str, Any]) -> dict[str, Any]:
        return {name: case.table.path(name, v)[levels[name]] if name in levels else v for name, v in row.items()}

    told = dict(parameters)
    if "population" in told:
        told["population"] = [shown(row) for row in told["population"]]
    if "known" in told:
        told["known"] = shown(told["known"])
    return told


def same(found: list[Any], expected: list[Any]) -> bool:
    """Equal element by element, numbers nearly."""
    return len(found) == len(expected) and all(
        (a is None and b is None)
        or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12))
        for a, b in zip(found, expected, strict=True)
    )


def part_of(name: str, parameters: dict[str, Any]):
    given = dict(parameters)
    if "population" in given:
        rows = given["population"]
        types = {"q": pl.String, "r": pl.Int64, "i": pl.Int64}
        given["population"] = pl.DataFrame(
            {key: [row[key] for row in rows] for key in rows[0]}, schema={key: types[key] for key in rows[0]}
        )
    return build("risk", {"use": name, **given})


@pytest.mark.parametrize("third", [0, *(pytest.param(i, marks=pytest.mark.long) for i in (1, 2))])
@pytest.mark.parametrize("name", parts("risk"))
def test_a_risk_is_what_loops_over_the_rows_say(name, third):
    if name not in REFERENCE or name not in EXAMPLES:
        pytest.fail(
            f"the risk {name!r} has no slow second way: write a function {name.replace('-', '_')}(table, **parameters) "
            "in tests/reference/risks.py and an example of its parameters in tests/test_every_risk.py."
        )
    tried = 0
    for number, (case, parameters) in enumerate(list(cases(name))[third::3]):
        table = case.read()
        before = table.polars().clone()
        if name in CLASSES_ONLY and case.table.missing_semantics != "category" and _open(case.plain()):
            with pytest.raises(NotApplicable, match="missing"):
                part_of(name, parameters).value(table)
            continue
        if name in ("population-uniques", "log-linear-risk") and not case.plain().in_classes:
            with pytest.raises(NotApplicable, match="no records"):
                part_of(name, parameters).value(table)
            continue
        expected = REFERENCE[name](case.plain(), **recoded(case, parameters))
        for engine in ("polars", *(["duckdb"] if number % 5 == 0 else [])):
            table = case.read(engine)
            part = part_of(name, parameters)
            told = f"{name} {parameters if 'population' not in parameters else 'population'} {case.name} {engine}"
            assert part.value(table) == pytest.approx(expected.value, rel=1e-9, abs=1e-12), told
            assert not part.bounded or 0 <= part.value(table) <= 1, told
            assert part.evidence(table)["value"] == part.value(table), told
            records = part.records(table)
            assert len(records) == len(table), told
            for column, values in expected.records.items():
                assert same(records[column].to_list(), values), f"{told}: {column}"
            again = part_of(name, parameters)
            assert again.value(case.read(engine)) == part.value(table), told
            tried += 1
        assert table.polars().equals(before), f"{name} changed its input"
    assert tried > 10


def _open(table: Plain) -> bool:
    """Whether some kept record has a missing value that stands for others."""
    return any(table.blanks(i) for i in table.in_classes)
