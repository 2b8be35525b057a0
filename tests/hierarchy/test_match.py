"""Which values cells can stand for, through a hierarchy that is written out as sets."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.hierarchy import hierarchy, parse
from celosia.hierarchy.cells import Exact, Interval, Mask, OneOf, Period
from celosia.hierarchy.match import compatible, matches, matching_pairs
from celosia.hierarchy.order import Order

JOBS = (
    ("Writer", "Artist", "Arts", "*"),
    ("Dancer", "Artist", "Arts", "*"),
    ("Critic, film", "Critic", "Arts", "*"),
    ("Lawyer", "Legal", "Office", "*"),
    ("Judge", "Legal", "Office", "*"),
    ("Clerk", "Clerk", "Office", "*"),
)
RAWS = [row[0] for row in JOBS]


def under(label):
    """The values of the table under a label of any level."""
    return {row[0] for row in JOBS if label in row}


CELLS = {
    **{label: under(label) for row in JOBS for label in row},
    "{Artist, Legal}": under("Artist") | under("Legal"),
    "{Writer, Legal}": {"Writer"} | under("Legal"),
    "{Arts, Clerk}": under("Arts") | {"Clerk"},
    '{"Critic, film", Judge}': {"Critic, film", "Judge"},
    "{Judge, nobody}": {"Judge"},
    "nobody": set(),
    "*****": set(RAWS),
    "[C .. E]": {"Clerk", "Critic, film", "Dancer"},
}


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_stands_for_what_is_under_it(cell):
    rng = np.random.default_rng(3)
    for _ in range(5):  # whatever values are asked for, in whatever order, also twice
        raws = [RAWS[i] for i in rng.integers(0, len(RAWS), 7)]
        (row,) = matches([cell], raws, hierarchy(JOBS))
        assert row.tolist() == [raw in CELLS[cell] for raw in raws]


@pytest.mark.parametrize("fact", CELLS)
@pytest.mark.parametrize("fallback", [None, "Legal", "*", "other"])
def test_facts_and_cells_are_compatible_when_a_value_is_in_both(fact, fallback):
    part = hierarchy(JOBS).model_copy(update={"fallback": fallback})
    for cell, values in CELLS.items():
        if any("nobody" in each or (each == "[C .. E]" and fallback) for each in (fact, cell)):
            continue  # may be a value that the hierarchy lacks: below
        assert compatible(fact, cell, part) == bool(CELLS[fact] & values), cell
    assert not compatible(fact, None, part)


@pytest.mark.parametrize(
    ("fallback", "cells"), [(None, ["*"]), ("other", ["other", "*"]), ("Legal", ["Legal", "Office", "*"])]
)
def test_a_value_that_the_hierarchy_lacks_stands_where_it_falls_back_to(fallback, cells):
    part = hierarchy(JOBS).model_copy(update={"fallback": fallback})
    asked = ["Artist", "Arts", "Legal", "Office", "other", "*"]
    assert [cell for cell in asked if compatible("Spy", cell, part)] == [cell for cell in asked if cell in cells]
    assert matches(asked, ["Spy"], part)[:, 0].tolist() == [cell in cells for cell in asked]
    assert compatible("Spy", "Spy", part)
    assert compatible("{Judge, Spy}", "other", part) == (fallback == "other")


@pytest.mark.parametrize("part", [None, hierarchy(JOBS)])
def test_missing_cells_and_missing_values(part):
    raws = ["Writer", None]
    assert matches([None, "Writer", "*"], raws, part).tolist() == [[False, True], [True, False], [True, True]]
    assert matches([None], raws, part, open_missing=True).tolist() == [[True, True]]
    assert matches([], raws, part).shape == (0, 2)
    assert matches(["Writer", None], [], part).shape == (2, 0)


def test_without_a_hierarchy_the_notation_tells():
    raws = ["3", "5", "5.0", "abc", "a, b", "{3, x}", None]
    cells = ["[3-5)", ">3", "5", "a**", '{"a, b", 5}', "{3, x}"]
    expected = [[raw is not None and (raw == cell or parse(cell).covers(raw)) for raw in raws] for cell in cells]
    expected[-1][0] = True  # 3 is a member, although the text is also a value itself
    assert matches(cells, raws).tolist() == expected


def test_merged_categories_with_commas_are_told_apart():
    part = Order(order=("None, or primary", "secondary", "degree, any", "doctorate"))
    label = part.levels(["secondary"]).labels(1)[0]
    assert label == '{"None, or primary", secondary}'
    assert [parse(label).covers(name) for name in part.order] == [True, True, False, False]


DAYS = ["2020-01-31", "2020-02-01", "2020-02-29T10:30:00", "2020-02-29 23:59", "2020-12-31", "2021-01-01", "0000-00-00"]
KNOWN = [
    *DAYS,
    "30",
    "30.0",
    "3e1",
    "-5",
    "-0",
    "0",
    "inf",
    "-inf",
    "nan",
    "12_3",
    "13053",
    "13068",
    "99053",
    "130",
    "",
]
KNOWN += [
    " a",
    "a",
    "ab",
    "b",
    "Ünal",
    "{a, b}",
    "*",
    "x, y",
    "2020",
    "2020-02",
    "2020s",
    "true",
    None,
    "30",
    "a",
    None,
]
SAID = [
    *["[2020-01-31 .. 2020-02-29]", "(2020-01-31 .. 2020-02-29)", "[2020-02-01 .. 2020-02-29T10:30:00]", "[a .. b)"],
    *["(a .. b]", "[ .. b]", "[Z .. Ünal]", "2020-02", "2020-Q1", "2020s", "2020", "[-5-30)", "(-5, 30]", "[30, inf]"],
    *["(-inf, 0)", "<0", "≤0", ">30", "≥30", "30-40", "130**", "**053", "1****", "*****", "a*", "*b", "2020-02-**"],
    *["{a, b}", "{30, 12_3, nobody}", '{"x, y", "", " a"}', '{"2020-02", "{a, b}", "<0", "130**"}', "nobody", None],
]


def test_values_are_found_as_if_each_was_compared_with_each_cell():
    cells = [*SAID, *KNOWN]
    expected = np.zeros((len(cells), len(KNOWN)), dtype=bool)
    for row, cell in enumerate(cells):
        said = None if cell is None else parse(cell)
        parts = [said, *map(parse, getattr(said, "members", ()))]
        for column, raw in enumerate(KNOWN):
            if cell is None or raw is None:
                expected[row, column] = (cell is None and raw is None) or (cell in ("*", "*****") and raw is None)
            else:
                expected[row, column] = raw == cell or any(part.covers(raw) for part in parts)
    assert expected.any(axis=1).sum() > 50
    assert np.argwhere(matches(cells, KNOWN) != expected).tolist() == []
    assert [places.tolist() for places in matching_pairs(cells, KNOWN)] == [p.tolist() for p in np.nonzero(expected)]
    assert [len(places) for places in matching_pairs([], KNOWN)] == [0, 0]
    assert [len(places) for places in matching_pairs(cells, [])] == [0, 0]


@pytest.mark.parametrize("kind", [Exact, Interval, Mask, OneOf, Period])
def test_no_cell_looks_at_every_value(kind, monkeypatch):
    """Ten thousand dates against ten thousand: comparing each with each took minutes."""
    compared = []
    monkeypatch.setattr(kind, "covers", lambda *both: compared.append(both))
    known = [
        f"{year}-{month:02}-{day:02}" for year in range(1990, 2020) for month in range(1, 13) for day in range(1, 29)
    ]
    cells = {
        Exact: known,
        Interval: [f"[{day} .. {day}]" for day in known],
        Mask: [f"{day[:-1]}*" for day in known],
        OneOf: [f"{{{day}, {day}}}" for day in known],
        Period: [day[:7] for day in known],
    }[kind]
    rows, columns = matching_pairs(cells, known)
    assert not compared
    assert set(zip(rows.tolist(), columns.tolist(), strict=True)) >= {(at, at) for at in range(len(known))}
