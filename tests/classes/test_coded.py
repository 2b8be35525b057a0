"""Groups of encoded columns, counted in place or by a group-by, against a dictionary."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from celosia import Schema
from celosia.classes import coded as module
from celosia.classes.coded import Coded


@pytest.mark.parametrize(("few", "soon"), [(0, 0), (1 << 16, 0), (1 << 16, 300)], ids=["group-by", "compiled", "small"])
@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("b", "a", "c")])
def test_groups_are_those_of_a_dictionary(monkeypatch, few, soon, names):
    monkeypatch.setattr(module, "_FEW", few)
    monkeypatch.setattr(module, "_SOON", soon)
    draw = np.random.default_rng(7)
    rows = {
        "a": draw.integers(0, 5, 300),
        "b": [("x", "y", None)[i] for i in draw.integers(0, 3, 300)],
        "c": draw.normal(size=300).round(1),
    }
    frame = pl.DataFrame(rows)
    kept = np.flatnonzero(draw.random(300) < 0.8)
    coded = Coded(frame, Schema.of(quasi=["a", "b", "c"]), kept)
    first, count = {}, {}
    for place, row in enumerate(frame[kept].select(names).rows()):
        first.setdefault(row, place)
        count[row] = count.get(row, 0) + 1
    groups = coded.groups(names)
    assert np.all(np.diff(groups.key) > 0)
    told = {frame[kept].select(names).row(f): (int(f), int(n)) for f, n in zip(groups.first, groups.count, strict=True)}
    assert told == {row: (first[row], count[row]) for row in first}
    assert [frame[kept].select(names).row(groups.first[g]) for g in coded.place(names)] == frame[kept].select(
        names
    ).rows()


def test_no_rows_give_no_groups():
    coded = Coded(pl.DataFrame({"a": [1, 2]}), Schema.of(quasi=["a"]), np.zeros(0, np.int64))
    assert len(coded.groups(("a",)).key) == 0


def test_a_small_table_is_counted_before_compiled_code_is_loaded():
    """To load it takes as long as everything else that a small run does."""
    job = (
        "import sys, celosia, polars as pl; schema = celosia.Schema.of(quasi=['a']);"
        "print(celosia.read(pl.DataFrame({'a': [1, 1, 2]}), schema).class_counts().size.tolist(), 'numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", job], capture_output=True, text=True, check=True)
    assert done.stdout == "[2, 1] False\n"
