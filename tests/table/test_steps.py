"""Steps that follow one another, on every way to hold rows, against the same steps on plain lists.

What a table answers must not depend on where its rows are, on how it came about, or on what was asked before.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from importlib import import_module

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import celosia
from celosia.table.columns import count_values
from celosia.table.edit import map_values, replace_by_expressions
from celosia.table.frames import table_fingerprint
from celosia.table.suppression import suppress_classes, suppress_records

QUASI = ["zip", "sex"]
AREA = {"13053": "130**", "13068": "130**", "14850": "148**", "148**": "1****", "130**": "1****"}
TYPES = {"zip": pl.String, "sex": pl.String, "disease": pl.String, "who": pl.Int64, "w": pl.Float64}


class Plain:
    """Rows as dictionaries, with the marks of those that are suppressed."""

    def __init__(self, rows, person):
        self.rows, self.person = rows, person
        self.input = [dict(row) for row in rows]  # every row that was read, with what was done to all diseases

    def hidden(self, row):
        return row.get("hidden", False) or all(row[name] == "*" for name in QUASI)

    def kept(self):
        return [row for row in self.rows if not self.hidden(row)]

    def count(self, rows):
        return len({row["who"] for row in rows}) if self.person else len(rows)

    def classes(self):
        classes = defaultdict(list)
        for row in self.kept():
            classes[tuple(row[name] for name in QUASI)].append(row)
        return classes


def mapped(table, plain, rng):
    """Some areas generalised; a value that the mapping does not name becomes missing."""
    values = sorted({row["zip"] for row in plain.rows if row["zip"] not in (None, "*")})
    dropped = values[0] if values and rng.random() < 0.3 else None
    named = [value for value in values if value != dropped]
    labels = {value: AREA.get(value, value) for value in named}
    for row in plain.rows:
        row["zip"] = "*" if plain.hidden(row) else labels.get(row["zip"])
    return map_values(
        table, "zip", pl.Series(named, dtype=pl.String), pl.Series(list(labels.values()), dtype=pl.String)
    )


def renamed(table, plain, rng):
    """Two diseases made one, row by row: the input's distribution follows."""
    for row in [*plain.rows, *plain.input]:
        row["disease"] = "ill" if row["disease"] in ("flu", "cold") else row["disease"]
    sick = nw.col("disease").is_in(["flu", "cold"])
    return replace_by_expressions(table, {"disease": nw.when(sick).then(nw.lit("ill")).otherwise(nw.col("disease"))})


def small_classes(table, plain, rng):
    """The classes of one record suppressed or dropped, their disease blanked or not."""
    drop, blank = bool(rng.random() < 0.4), ["disease"] if rng.random() < 0.5 else []
    small = [key for key, rows in plain.classes().items() if len(rows) == 1]
    for row in plain.rows:
        row["gone"] = not plain.hidden(row) and tuple(row[name] for name in QUASI) in small
    if drop:
        plain.rows = [row for row in plain.rows if not row["gone"]]
    for row in plain.rows:
        if row["gone"]:
            row.update({"hidden": True, **dict.fromkeys(QUASI, "*"), **dict.fromkeys(blank, None)})
    frame = pl.DataFrame(small, schema=dict.fromkeys(QUASI, pl.String), orient="row")
    return suppress_classes(table, frame, drop=drop, blank=blank)


def some_records(table, plain, rng):
    """Records suppressed one by one."""
    mask = rng.random(len(plain.rows)) < 0.2
    for row, hit in zip(plain.rows, mask, strict=True):
        if hit:
            row.update({"hidden": True, **dict.fromkeys(QUASI, "*")})
    return suppress_records(table, mask)


def fewer_records(table, plain, rng):
    """Some records taken."""
    keep = rng.random(len(plain.rows)) < 0.8
    plain.rows = [row for row, kept in zip(plain.rows, keep, strict=True) if kept]
    return table.take(table.ids()[keep])


def replaced(table, plain, rng):
    """Other cells, record by record: diseases are compared with what they are now."""
    for row in plain.rows:
        row["disease"] = str(rng.choice(["flu", "cold", "new"]))
        row["sex"] = row["sex"] if plain.hidden(row) else str(rng.choice(["m", "f", "x"]))
    plain.input = [dict(row) for row in plain.rows]
    return table.replace({name: [row[name] for row in plain.rows] for name in ("disease", "sex")})


STEPS = [mapped, renamed, small_classes, some_records, fewer_records, replaced]


def asked(table, person):
    """The questions, each with an answer that can be compared."""

    def values():
        cells, counts = table.classes.histogram.cells, table.class_counts(["disease"], in_order=True)
        domain = table.classes.baseline("disease").values.to_list()
        found = counts.of("disease")
        held = defaultdict(dict)
        for key, value, count in zip(found.owner, found.value, found.count, strict=True):
            held[cells.select(QUASI).row(int(key))][domain[value]] = int(count)
        return dict(held)

    def sizes():
        cells, counts = table.classes.histogram.cells, table.class_counts(in_order=True)
        return dict(zip(cells.select(QUASI).rows(), counts.size.tolist(), strict=True))

    def distribution():
        found = table.classes.baseline("disease")
        return {
            value: share for value, share in zip(found.values.to_list(), found.share.tolist(), strict=True) if share
        }

    questions = {
        "rows": lambda: len(table),
        "cells": lambda: table.polars().select(*QUASI, "disease").rows(),
        "suppressed": table.suppressed,
        "mask": lambda: table.counts.suppressed_mask.tolist(),
        "sizes": lambda: sorted(table.classes.sizes[1].tolist()),
        "classes": sizes,
        "values": values,
        "distribution": distribution,
        "frequencies": lambda: table.frequencies().tolist(),
        "areas": lambda: dict(count_values(table, "zip").rows()),
        "diseases": lambda: dict(count_values(table, "disease").rows()),
        "column": lambda: table.column("disease").to_list(),
    }
    if not person:
        questions["weights"] = lambda: table.frequencies(weight=True).tolist()
    return questions


def expected(plain):
    """The same by loops over the rows."""
    classes = plain.classes()
    of = [classes.get(tuple(row[name] for name in QUASI), []) if not plain.hidden(row) else [] for row in plain.rows]
    whole = defaultdict(list)
    for row in plain.input:
        whole[row["disease"]].append(row)
    total = sum(plain.count(rows) for rows in whole.values())
    return {
        "rows": len(plain.rows),
        "cells": [(*(row[name] for name in QUASI), row["disease"]) for row in plain.rows],
        "suppressed": len(plain.rows) - len(plain.kept()),
        "mask": [plain.hidden(row) for row in plain.rows],
        "sizes": sorted(plain.count(rows) for rows in classes.values()),
        "classes": {key: plain.count(rows) for key, rows in classes.items()},
        "values": {
            key: {
                value: plain.count([row for row in rows if row["disease"] == value])
                for value in {row["disease"] for row in rows}
            }
            for key, rows in classes.items()
        },
        "distribution": {value: pytest.approx(plain.count(rows) / total) for value, rows in whole.items()},
        "frequencies": [float(plain.count(rows)) for rows in of],
        "weights": [pytest.approx(sum(row["w"] for row in rows)) for rows in of],
        "areas": dict(Counter(row["zip"] for row in plain.rows)),
        "diseases": dict(Counter(row["disease"] for row in plain.rows)),
        "column": [row["disease"] for row in plain.rows],
    }


def people(rng):
    return [
        {
            "zip": str(rng.choice(["13053", "13068", "14850"])) if rng.random() < 0.9 else None,
            "sex": str(rng.choice(["m", "f"])),
            "disease": str(rng.choice(["flu", "cold", "HIV", "none"])),
            "who": int(rng.integers(9)) if rng.random() < 0.9 else None,
            "w": float(rng.integers(1, 5)),
        }
        for _ in range(16)
    ]


@pytest.fixture(params=["memory", "polars file", "duckdb file"])
def held(request, tmp_path, monkeypatch):
    """A way to hold rows: gives a table of a frame."""
    monkeypatch.setattr(import_module("celosia.data.engines.engine"), "RESIDENT", 1)

    def read(frame, schema):
        if request.param == "memory":
            return celosia.read(frame, schema)
        frame.write_parquet(tmp_path / "people.parquet")
        return celosia.read(tmp_path / "people.parquet", schema, engine=request.param.split()[0])

    return read


@pytest.mark.parametrize("person", [False, True], ids=["rows", "persons"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sampled(8)
def test_steps_and_questions_in_any_order(held, seed, person):
    rng = np.random.default_rng([seed, person])
    rows = people(rng)
    frame = pl.DataFrame(rows, schema=TYPES)
    roles = {"person": "who"} if person else {"weight": "w"}
    schema = celosia.Schema.of(quasi=QUASI, sensitive=["disease"], **roles)
    first = held(frame, schema)
    before = table_fingerprint(first)
    table, plain = first, Plain(rows, person)
    # what was asked before the first step, and after each, decides what is remembered
    for step in [None, *rng.choice(STEPS, 4)] if seed % 2 else rng.choice(STEPS, 4):
        table = table if step is None else step(table, plain, rng)
        if not plain.kept():  # nothing tells suppressed records apart
            break
        questions, answers = asked(table, person), expected(plain)
        order = [*rng.permutation(list(questions)), *rng.permutation(list(questions))[:3]]
        for name in order:
            assert questions[name]() == answers[name], (step, order)
    assert first.polars().equals(frame), "the input is as it was"
    assert table_fingerprint(first) == before
    assert first.suppressed() == 0


@pytest.mark.parametrize("question", ["rows", "sizes", "classes", "values", "distribution", "frequencies", "mask"])
@pytest.mark.parametrize("counted", [False, True], ids=["fresh", "counted"])
def test_a_question_that_is_asked_first_needs_no_other(held, question, counted):
    """Each asked of a table of which nothing was asked before, or whose input was counted."""
    rng = np.random.default_rng(8)
    rows = people(rng)
    table = held(pl.DataFrame(rows, schema=TYPES), celosia.Schema.of(quasi=QUASI, sensitive=["disease"], person="who"))
    plain = Plain(rows, person=True)
    if counted:
        table.class_counts(["disease"])
    for step in (mapped, renamed, small_classes):
        table = step(table, plain, rng)
    assert asked(table, person=True)[question]() == expected(plain)[question]


def test_values_that_were_drawn_are_compared_with_themselves(held):
    frame = pl.DataFrame({"zip": ["1", "1", "2", "2"], "disease": ["flu", "flu", "flu", "cold"]})
    first = held(frame, celosia.Schema.of(quasi=["zip"], sensitive=["disease"]))
    drawn = first.replace({"disease": ["a", "b", "b", "b"]})
    found = drawn.classes.baseline("disease")
    assert dict(zip(found.values.to_list(), found.share.tolist(), strict=True)) == {"a": 0.25, "b": 0.75}
    assert first.classes.baseline("disease").values.to_list() == ["cold", "flu"]
    # records that leave later are still among those compared with
    assert drawn.take(np.array([1])).classes.baseline("disease").share.tolist() == [0.25, 0.75]


def test_values_that_were_drawn_are_followed_by_further_steps(held):
    frame = pl.DataFrame({"zip": ["1", "1", "2", "2"], "disease": ["flu", "flu", "flu", "HIV"], "who": [1, 1, 1, 2]})
    first = held(frame, celosia.Schema.of(quasi=["zip"], sensitive=["disease"], person="who"))
    assert first.class_counts(["disease"]).size.tolist() == [1, 2]
    drawn = first.replace({"disease": ["flu", "cold", "HIV", "HIV"]})
    upper = replace_by_expressions(drawn, {"disease": nw.col("disease").str.to_uppercase()})
    found = upper.classes.baseline("disease")
    # person 1 has all three values, person 2 one of them
    assert dict(zip(found.values.to_list(), found.share.tolist(), strict=True)) == {
        "COLD": 0.25,
        "FLU": 0.25,
        "HIV": 0.5,
    }


def test_rows_that_left_are_missed_in_every_column(held):
    frame = pl.DataFrame({"zip": ["1", "1", "2"], "disease": ["flu", "flu", "HIV"]})
    first = held(frame, celosia.Schema.of(quasi=["zip"], sensitive=["disease"]))
    assert dict(count_values(first, "disease").rows()) == {"flu": 2, "HIV": 1}
    fewer = suppress_classes(first, pl.DataFrame({"zip": ["2"]}), drop=True)
    assert dict(count_values(fewer, "disease").rows()) == {"flu": 2}
    assert len(fewer) == 2
    assert dict(count_values(first, "disease").rows()) == {"flu": 2, "HIV": 1}


def test_a_person_with_two_values_that_become_one_is_counted_once(held):
    frame = pl.DataFrame({"zip": ["1", "1", "1", "2"], "disease": ["flu", "cold", "flu", "HIV"], "who": [1, 1, 2, 3]})
    first = held(frame, celosia.Schema.of(quasi=["zip"], sensitive=["disease"], person="who"))
    assert first.class_counts(["disease"]).of("disease").count.tolist() == [1, 2, 1]
    ill = map_values(first, "disease", ["flu", "cold", "HIV"], ["ill", "ill", "HIV"])
    cells, counts = ill.classes.histogram.cells, ill.class_counts(["disease"], in_order=True)
    found = counts.of("disease")
    # persons 1 and 2 are ill in the first area, person 3 has HIV in the second
    assert dict(zip(cells["zip"].gather(found.owner), found.count.tolist(), strict=True)) == {"1": 2, "2": 1}
