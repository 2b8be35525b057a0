"""Ends of published ranges: round, around all their values, and no value of the data, whatever method wrote them."""

from __future__ import annotations

import datetime as dt
import re

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.hierarchy import parse
from celosia.methods import Generalise, LocalGeneralise, Mondrian, Recode, TreeGeneralise

N = 500
_RNG = np.random.default_rng(3)
PEOPLE = pl.DataFrame(
    {
        "sex": _RNG.choice(["F", "M"], N),
        "income": _RNG.lognormal(10, 0.8, N).round(2),
        "born": [dt.date(1940, 1, 1) + dt.timedelta(days=int(d)) for d in _RNG.integers(0, 25_000, N)],
        "seen": [dt.datetime(2024, 1, 1) + dt.timedelta(minutes=int(m)) for m in _RNG.integers(0, 40_000, N)],
        "town": ["".join(_RNG.choice(list("abcdefghij"), 8)) for _ in range(N)],
    }
)
K = ["k-anonymity(k=5)"]
TREES = {"income": "intervals(quantiles=8, count=3)"}
HALVES = {"income": "balanced()"}
WRITERS = {
    "mondrian": (Mondrian(require=K), ["income", "born", "seen"], {}),
    "mondrian, not strict": (Mondrian(require=K, strict=False), ["income", "born"], {}),
    "recode, equal": (Recode(column="income", bins=4), ["income"], {}),
    "recode, many": (Recode(column="income", bins=60), ["income"], {}),
    "recode, log": (Recode(column="income", bins=4, spacing="log"), ["income"], {}),
    "recode, frequency": (Recode(column="income", bins=10, spacing="frequency"), ["income"], {}),
    "aggregate": (
        Generalise(require=K, aggregate=dict.fromkeys(["income", "born", "seen", "town"], "interval")),
        ["sex", "income", "born", "seen", "town"],
        {},
    ),
    "generalise": (Generalise(require=K), ["sex", "income"], TREES),
    "generalise, halves": (Generalise(require=K), ["sex", "income"], HALVES),
    "local-generalise": (LocalGeneralise(require=K), ["sex", "income"], HALVES),
    "tree-generalise": (TreeGeneralise(columns=["income"], k=5), ["income"], HALVES),
}


def protected(writer):
    method, quasi, hierarchies = WRITERS[writer]
    table = celosia.read(PEOPLE, celosia.Schema.of(quasi=quasi, hierarchies=hierarchies))
    return quasi, celosia.protect(table, method, seed=1).polars()


def ends(cell):
    """The ends that a cell names, as text."""
    cell = parse(cell)
    named = (cell.low, cell.high) if hasattr(cell, "low") else ()
    return {end if isinstance(end, str) else f"{end:.12g}" for end in named}


@pytest.mark.parametrize("writer", WRITERS)
def test_no_end_is_a_value_of_the_data(writer):
    quasi, file = protected(writer)
    ranges = 0
    for name in quasi:
        raw = PEOPLE[name].cast(pl.String)
        numeric = PEOPLE[name].dtype.is_numeric()
        known = {f"{float(v):.12g}" if numeric else v.replace(" ", "T").removesuffix(".000000") for v in raw}
        pairs = pl.DataFrame({"raw": raw, "cell": file[name].cast(pl.String)}).unique().rows()
        shown = {end for _, cell in pairs for end in ends(cell)}
        ranges += len(shown)
        # 500 dates leave gaps of 50 days: the roundest day of a gap is at times the next date. Exact ends are all values
        assert len(shown & known) <= (0 if numeric else max(1, len(shown) / 5))
        for value, cell in pairs:
            assert parse(cell).covers(value.replace(" ", "T")), (value, cell)
    assert ranges > 1


def test_boxes_that_were_disjoint_stay_disjoint():
    _, file = protected("mondrian")
    boxes = [[parse(cell) for cell in row] for row in file.select("income", "born", "seen").unique().rows()]
    for i, one in enumerate(boxes):
        assert not [other for other in boxes[:i] if all(a.overlaps(b) for a, b in zip(one, other, strict=True))]


def test_the_number_of_bins_does_not_sharpen_the_extremes():
    """Ends of many bins would otherwise be a fine grid through both extremes."""
    outer = []
    for bins in (2, 4, 60):
        table = celosia.read(PEOPLE, celosia.Schema.of(quasi=["income"]))
        breaks = celosia.protect(table, Recode(column="income", bins=bins)).private_history[-1]["breaks"]
        assert breaks == pytest.approx(np.linspace(breaks[0], breaks[-1], bins + 1).tolist())
        outer.append((breaks[0], breaks[-1]))
    assert len(set(outer)) == 1
    assert all(re.fullmatch(r"\d{1,2}0*", f"{end:.0f}") for end in outer[0])


def test_dense_whole_numbers_keep_whole_ends():
    table = celosia.read(pl.DataFrame({"age": list(range(20, 60)) * 3}), celosia.Schema.of(quasi=["age"]))
    cells = celosia.protect(table, Mondrian(require=["k-anonymity(k=12)"])).polars()["age"]
    assert all(float(end).is_integer() for cell in cells for end in ends(cell))
    assert cells.n_unique() == 8  # 40 ages, each three times: boxes of 5 ages


@pytest.mark.parametrize(
    "method",
    [Mondrian(require=K), Generalise(require=K, aggregate={"arrived": "interval"})],
    ids=["mondrian", "aggregate"],
)
def test_times_of_day_have_round_ends(method):
    seconds = np.random.default_rng(7).choice(86_400, 200, replace=False)
    times = [(dt.datetime(2024, 1, 1) + dt.timedelta(seconds=int(s))).time() for s in seconds]
    data = pl.DataFrame({"sex": ["f", "m"] * 100, "arrived": times})
    table = celosia.read(data, celosia.Schema.of(quasi=["sex", "arrived"]))
    cells = celosia.protect(table, method, seed=1).polars()["arrived"].to_list()
    shown = {end for cell in cells for end in ends(cell)}
    known = {time.isoformat() for time in times}
    assert len(shown) > 1
    assert len(shown & known) <= len(shown) / 5
    assert all(parse(cell).covers(time.isoformat()) for time, cell in zip(times, cells, strict=True))
