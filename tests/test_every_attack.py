"""Every attack of the catalogue against loops over plain rows: persons, missing values, ties, a control group.

A new attack needs a function of its name under ``@reference`` (``tests.reference.risks``) in its own test file, and declares
``examples`` of its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.reference import attacks, families, informed  # noqa: F401 - they register the second ways
from tests.reference.own import load
from tests.reference.risks import REFERENCE

import celosia
from celosia.checker.rows import Plain, Row
from celosia.parts import build, parts
from celosia.parts.threat import methods_read
from celosia.risk.attacks.linking.scoreboard import Scoreboard
from celosia.risk.attacks.linking.several_rows import SeveralRows
from celosia.risk.attacks.membership.density_membership import DensityMembership
from celosia.risk.attacks.singling_out import People, SinglingOut
from celosia.risk.attacks.transparency.degree_inversion import DegreeInversion
from celosia.risk.attacks.transparency.minimality import Minimality
from celosia.table.columns import encoded_column
from celosia.views.comparing.encoding import encode
from celosia.views.persons import person_codes

TYPES = {
    "x": pl.Float64,
    "y": pl.Float64,
    "c": pl.String,
    "p": pl.String,
    "t": pl.String,
    "i": pl.Int64,
    "name": pl.String,
}
BOTH = {"columns": ["x", "y"]}
MIXED = {"columns": ["x", "y", "c"]}
load("attack")
EXAMPLES = {name: list(cls.examples) for name, cls in parts("attack").items()}
"""Attack → parameters to try; ``control``, ``external`` and ``earlier`` stand for tables."""
COMPLETE = {"linkability", "attribute-disclosure", "degree-inversion", "density-membership"}
"""Attacks that break ties at random: they get continuous numbers without missing values."""


@dataclass(frozen=True)
class Case:
    """An original, what became of it, and other people."""

    name: str
    original: Plain
    protected: Plain
    control: Plain


def drawn(seed: int, persons: bool, coarse: bool) -> Case:
    """Three tables of twelve records, coarse ones with ties and missing values; the last has other persons."""
    rng = np.random.default_rng(seed)
    who = rng.integers(1, 7, 12).tolist() if persons else list(range(1, 13))

    def number(value: float) -> float | None:
        return None if coarse and rng.random() < 0.15 else round(value) / 2 if coarse else value

    def rows(shift: int) -> list[Row]:
        made = []
        for i in who:
            p = str(rng.choice(["u", "v"]))
            made.append(
                {
                    "x": number(rng.normal(0, 3)), "y": number(rng.normal(0, 3)), "c": str(rng.choice(["a", "b"])),
                    "p": p, "t": {"u": "low", "v": "high"}[p], "i": i + shift, "name": f"n{i + shift}",
                }
            )  # fmt: skip
        return made

    def changed(row: Row) -> Row:
        x, y = (None if row[c] is None or rng.random() < 0.1 * coarse else number(row[c] + rng.normal()) for c in "xy")
        return {**row, "x": x, "y": y, "c": row["c"] if rng.random() < 0.8 else str(rng.choice(["a", "b"]))}

    first = rows(0)
    plain = Plain(tuple(first), (), person="i" if persons else None)
    name = f"{'persons' if persons else 'rows'}-{'coarse' if coarse else 'fine'}-{seed}"
    return Case(name, plain, replace(plain, rows=tuple(map(changed, first))), replace(plain, rows=tuple(rows(1000))))


TREES = {"c": {"use": "tree", "tree": {"*": ["a", "b"]}}, "p": {"use": "tree", "tree": {"*": ["u", "v"]}}}
ROLES: dict[str, dict[str, Any]] = {
    "bayesian-disclosure": {"quasi": ["c", "p"], "sensitive": ["t"]},
    "several-rows": {"quasi": ["c", "p"]},
    "blanked-cells": {"quasi": ["c", "p", "name"]},
    "minimality": {"quasi": ["c", "p"], "sensitive": ["t"], "hierarchies": TREES},
}
"""Attack → the schema that it needs, besides the person column."""
BELIEVED = [("a", "u", "low"), ("a", "u", "high"), ("b", "u", "low"), ("b", "u", "high"), ("a", "v", "high")]
"""Quasi-identifiers and values of a prior, which says nothing of b and v."""


def read(table: Plain, engine: str = "polars", name: str = ""):
    columns = {name: [row[name] for row in table.rows] for name in TYPES}
    schema = celosia.Schema.of(person=table.person, **ROLES.get(name, {}))
    return celosia.read(pl.DataFrame(columns, schema=TYPES), schema, engine=engine)


def release_of(case: Case, name: str) -> Plain:
    """The protected table of a case; for a join, with a star in some cells; for minimality, with one column of stars."""
    if name == "minimality":
        return replace(case.original, rows=tuple({**row, "p": "*"} for row in case.original.rows))
    if name == "blanked-cells":
        rows = [{**row, "c": None if i % 3 == 0 else row["c"]} for i, row in enumerate(case.original.rows)]
        return replace(
            case.original, rows=tuple({**r, "name": None, "p": None if i == 4 else r["p"]} for i, r in enumerate(rows))
        )
    if name == "cell-intersection":  # a fuzzy table: cells of c with the values of t, and one more
        listed = [
            {**row, "c": cell} for row in case.original.rows for cell in {"a": ["one"], "b": ["one", "two"]}[row["c"]]
        ]
        further = {**listed[0], "c": "one", "p": "u", "t": "high"}
        return replace(case.original, rows=(*listed[1:], further))
    if name != "join-attack":
        return case.protected
    starred = [{**row, "p": "*" if i % 3 == 0 else row["p"]} for i, row in enumerate(case.protected.rows)]
    return replace(case.protected, rows=tuple(starred))


def known(case: Case, parameters: dict[str, Any], *, plain: bool) -> dict[str, Any]:
    """The parameters with the tables that they stand for, for the package or for the loops."""
    given = dict(parameters)
    if given.get("control"):
        frame = {c: [row[c] for row in case.control.rows] for c in TYPES}
        given["control"] = case.control if plain else pl.DataFrame(frame, schema=TYPES)
    if given.get("external") is True:
        people = list({row["name"]: {c: row[c] for c in ("name", "c", "p")} for row in case.original.rows[:9]}.values())
        people += [{"name": "nobody", "c": "a", "p": "u"}]
        given["external"] = people if plain else pl.DataFrame(people)
    if given.get("prior") is True:
        rows = [{"c": c, "p": p, "t": t, "probability": 0.2 + 0.1 * i} for i, (c, p, t) in enumerate(BELIEVED)]
        given["prior"] = rows if plain else pl.DataFrame(rows)
    if given.get("earlier") is True:
        rows = earlier_rows(case.original)
        given["earlier"] = [replace(case.original, rows=rows) if plain else pl.DataFrame(list(rows), schema=TYPES)]
    return given


def earlier_rows(original: Plain) -> tuple[Row, ...]:
    """An earlier release: without two people, with noise, with a star in some cells."""
    shown = enumerate(original.rows[2:])
    noise = lambda value, i: None if value is None else value + (i % 3 - 1) / 4  # noqa: E731
    return tuple({**row, "y": noise(row["y"], i), "c": "*" if i % 2 else row["c"]} for i, row in shown)


def expected_of(name: str, case: Case, parameters: dict[str, Any]):
    given = known(case, parameters, plain=True)
    if name == "singling-out":
        part = SinglingOut(**{k: v for k, v in parameters.items() if k != "control"})
        table = read(case.protected)

        def predicates():
            people = People(encode([table], ["x", "y"]).tables[0], person_codes(table))
            return [[("xy"[c.column], c.above, c.bound) for c in asked] for asked in part._predicates(people)]

        given = {k: v for k, v in given.items() if k not in ("size", "attacks")} | {"predicates": predicates}
    if name == "minimality":
        tables = read(case.original, name=name), read(release_of(case, name), name=name)
        group, codes = tables[1].classes.place, encoded_column(tables[0], "t").codes.astype(np.int64)
        values = tables[0].column("t")
        given["worlds"] = [
            [values[int(np.flatnonzero(codes == c)[0])] for c in world]
            for world in Minimality(**parameters).worlds(group, codes)
        ]
    if name == "degree-inversion":
        given["chosen"] = DegreeInversion(**parameters).known_records(read(case.original)).tolist()
    if name == "density-membership":
        table = known(case, parameters, plain=False)["control"]
        given["chosen"] = DensityMembership(**{**parameters, "control": table}).draw_people(read(case.original))
    if name == "several-rows":
        tables = read(case.original, name=name), read(case.protected, name=name)
        given["drawn"] = [rows.tolist() for rows in SeveralRows(**parameters).draw_rows(*tables)]
    if name == "scoreboard":
        given["drawn"] = Scoreboard(**parameters).draw_known_items(read(case.original), read(case.protected))
    return REFERENCE[name](case.original, release_of(case, name), **given)


def near(found: list[Any], expected: list[Any]) -> bool:
    return len(found) == len(expected) and all(
        (a is None and b is None)
        or (a is not None and b is not None and math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9))
        for a, b in zip(found, expected, strict=True)
    )


@pytest.mark.parametrize("seeds", [range(1), pytest.param(range(1, 4), marks=pytest.mark.long)], ids=["some", "more"])
@pytest.mark.parametrize("name", parts("attack"))
def test_an_attack_finds_what_loops_over_the_rows_find(name, seeds):
    if name not in REFERENCE or name not in EXAMPLES:
        pytest.fail(
            f"the attack {name!r} has no slow second way: write a function {name.replace('-', '_')}(original, protected, "
            "**parameters) under @reference of tests.reference.risks in its test file."
        )
    cases = [
        drawn(s, persons, coarse and name not in COMPLETE)
        for s in seeds
        for persons in (False, True)
        for coarse in (False, True)
    ]
    for number, case in enumerate(cases):
        for parameters in EXAMPLES[name]:
            expected = expected_of(name, case, parameters)
            for engine in ("polars", *(["duckdb"] if number % 5 == 0 else [])):
                tables = read(case.original, engine, name), read(release_of(case, name), engine, name)
                before = [table.polars().clone() for table in tables]
                part = build("attack", {"use": name, **known(case, parameters, plain=False)})
                told = f"{name} {parameters} {case.name} {engine}"
                value = part.value(*tables)
                assert value == pytest.approx(expected.value, rel=1e-9, abs=1e-9), told
                assert not part.bounded or 0 <= value <= 1, told
                assert part.evidence(*tables)["value"] == value, told
                records = part.records(*tables)
                assert len(records) == len(tables[0]), told
                for column, values in expected.records.items():
                    assert near(records[column].to_list(), values), f"{told}: {column}"
                again = build("attack", {"use": name, **known(case, parameters, plain=False)})
                fresh = read(case.original, engine, name), read(release_of(case, name), engine, name)
                assert again.value(*fresh) == value, told
                assert all(t.polars().equals(b) for t, b in zip(tables, before, strict=True)), (
                    f"{told} changed its input"
                )


def test_an_attack_that_reads_parameters_is_run_against_the_methods_that_publish_them():
    for name, cls in parts("attack").items():
        assert methods_read(cls) == getattr(cls, "reads", ()), name
