"""Value labels of a column that was recoded: no label for a code that is gone, a new one for each new text."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from celosia.data.io.facts import MissingCode
from celosia.data.io.labels import relabel

STATUS = {1: "single", 2: "married", 3: "widowed", 9: "no answer"}


@pytest.mark.parametrize(
    ("cells", "codes", "labels"),
    [
        ([1, 1, 2], [1, 1, 2], {1: "single", 2: "married"}),  # codes as they were
        ([1.0, None, 2.0], [1.0, None, 2.0], {1: "single", 2: "married"}),
        ([1.5, 2.0, 3.0], [1.5, 2.0, 3.0], {}),  # means of codes: no label fits
        (["1", "*", None], [1, 10, None], {1: "single", 10: "*"}),
        (["{1, 2}", "3", "[4-7)"], [11, 3, 10], {3: "widowed", 10: "[4-7)", 11: "{single, married}"}),
        (["{1, 7}", "1"], [10, 1], {1: "single", 10: "{1, 7}"}),  # 7 has no label: the set stays as it is
        (["20", "*", "1"], [20, 21, 1], {1: "single", 21: "*"}),  # new codes lie above all that occur
        (["1.5", "*"], [1.5, 10.0], {10: "*"}),
        (["inf", "1"], [10, 1], {1: "single", 10: "inf"}),
        ([], [], {}),
        ([None, None], [None, None], {}),
    ],
)
def test_by_hand(cells, codes, labels):
    kind = pl.String if any(isinstance(cell, str) for cell in cells) or not any(cells) else None
    column = pl.Series("m", cells, dtype=kind)
    made, told = relabel(column, STATUS)
    assert made.to_list() == codes
    assert told == labels
    assert made.name == "m"
    assert column.to_list() == cells, "the column that came in stays as it was"


def test_a_label_with_a_comma_is_one_member():
    _, told = relabel(pl.Series(["{1, 2}"]), {1: "single, never married", 2: "other"})
    assert told == {3: '{"single, never married", other}'}


def test_codes_that_mean_missing_keep_their_labels():
    column = pl.Series([1, 1])
    assert relabel(column, STATUS, [MissingCode(8, 9)])[1] == {1: "single", 9: "no answer"}
    assert relabel(pl.Series(["*"]), STATUS, [MissingCode(9, 9)])[1] == {9: "no answer", 10: "*"}


def test_labels_of_texts_stay_with_the_texts_that_occur():
    column = pl.Series(["a", "*"])
    made, told = relabel(column, {"a": "Andorra", "b": "Brunei"})
    assert made.to_list() == ["a", "*"]
    assert told == {"a": "Andorra"}


@pytest.mark.parametrize("seed", range(8))
def test_every_cell_is_told_by_the_label_of_its_code(seed):
    rng = np.random.default_rng(seed)
    cells = rng.choice(["1", "2", "3", "9", "*", "{1, 3}", "[1-3)", "x"], 12).tolist()
    codes, told = relabel(pl.Series("m", cells), STATUS)
    shown = {"*": "*", "{1, 3}": "{single, widowed}", "[1-3)": "[1-3)", "x": "x"}
    expected = [STATUS[int(cell)] if cell.isdigit() else shown[cell] for cell in cells]
    assert [told[code] for code in codes.to_list()] == expected
    assert set(told) == set(codes.to_list()), "no label of a code that nobody has"
