"""A column before and after: shares by range and by label, added up by hand and cell by cell."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.views.comparing.columns import BINS, LABELS, column_pairs, in_order


def pair(before, after, **schema):
    original = celosia.read(pl.DataFrame({"x": before}, strict=False), celosia.Schema.of(**schema))
    (found,) = column_pairs(original, celosia.read(pl.DataFrame({"x": after}, strict=False)))
    return found


#: Of the numbers 0 to 30, which 30 ranges of length 1 hold: the first range of each cell, and how many ranges it covers.
SPANS = {
    "7": (7, 1),
    "30": (29, 1),
    "[3-6)": (3, 3),
    "[4, 4]": (4, 1),
    "5-5": (5, 1),
    "<3": (0, 3),
    "≥27": (27, 3),
    "≥30": (29, 1),
    "[40, 50]": (29, 1),
    "≤-5": (0, 1),
    "[28-90)": (28, 2),
}


@pytest.mark.parametrize("seed", range(6))
def test_a_cell_counts_evenly_in_the_ranges_that_it_covers(seed):
    assert BINS == 30
    rng = np.random.default_rng(seed)
    cells = [*rng.choice(list(SPANS), 20).tolist(), "{2, 9}", "{2, 9}", "*", None]
    heights = [Fraction(0)] * BINS
    for cell in cells[:20]:
        first, size = SPANS[cell]
        for place in range(first, first + size):
            heights[place] += Fraction(1, size * len(cells))
    for place in (2, 9):
        heights[place] += Fraction(2, 2 * len(cells))
    found = pair(list(range(31)), cells)
    assert found.edges == pytest.approx(list(range(31)))
    assert found.after == pytest.approx([float(height) for height in heights])
    assert found.hidden == pytest.approx(2 / len(cells))
    assert found.before == pytest.approx([1 / 31] * 29 + [2 / 31])  # 30 lies in the last range, as 29 does
    shown = sum(abs(a - b) for a, b in zip(found.before, found.after, strict=True))
    assert found.distance == pytest.approx((shown + found.hidden) / 2)


def test_numbers_in_memory_and_the_same_numbers_as_text_give_one_picture():
    numbers = [float(n % 17) for n in range(60)] + [None]
    after = [n * 2 if n is not None else None for n in numbers]
    written = [None if n is None else f"{n:g}" for n in after]
    assert pair(numbers, after).after == pytest.approx(pair(numbers, written).after)
    assert pair(numbers, after).distance == pytest.approx(pair(numbers, written).distance)
    assert pair(numbers, after).hidden == pytest.approx(1 / 61)


@pytest.mark.parametrize("seed", range(5))
def test_labels_are_the_most_frequent_and_the_rest_is_told(seed):
    rng = np.random.default_rng(seed)
    before, after = (rng.choice([f"v{n:02}" for n in range(14)] + ["*"], size).tolist() for size in (40, 25))
    found = pair(before, after)
    counts = [Counter(before), Counter(after)]
    weight = {label: counts[0][label] / 40 + counts[1][label] / 25 for label in {*before, *after} - {"*"}}
    listed = sorted(weight, key=lambda label: (-weight[label], label))[:LABELS]
    rest = [label for label in weight if label not in listed]
    assert found.labels == (*listed, *(["…"] if rest else []))
    assert found.before[:LABELS] == pytest.approx([counts[0][label] / 40 for label in listed])
    if rest:
        assert found.after[-1] == pytest.approx(sum(counts[1][label] for label in rest) / 25)
    assert found.hidden == pytest.approx(counts[1]["*"] / 25)
    every = {*before, *after}
    assert found.distance == pytest.approx(sum(abs(counts[0][v] / 40 - counts[1][v] / 25) for v in every) / 2)


def test_the_original_counts_under_the_labels_of_the_release():
    tree = [["a", "A", "*"], ["b", "A", "*"], ["c", "C", "*"]]
    found = pair(["a", "b", "c", None], ["A", "A", "A", "*"], quasi=["x"], hierarchies={"x": tree})
    assert dict(zip(found.labels, zip(found.before, found.after, strict=True), strict=True)) == {
        "A": (0.5, 0.75),
        "C": (0.25, 0.0),
    }
    # levels are mixed: no level has them all, and the values stay as they are
    mixed = pair(["a", "b", "c"], ["A", "A", "c"], quasi=["x"], hierarchies={"x": tree})
    assert set(mixed.labels) == {"a", "b", "c", "A"}


def test_who_is_named_and_who_weighs_is_left_out():
    table = celosia.read(
        pl.DataFrame({"name": ["a"], "w": [1.0], "x": ["u"], "gone": [1]}),
        celosia.Schema.of(identifiers=["name"], weight="w"),
    )
    assert [found.name for found in column_pairs(table, table.drop(["gone"]))] == ["x"]
    assert [found.name for found in column_pairs(table, table, ["gone"])] == ["gone"]


@pytest.mark.parametrize(
    ("labels", "order", "expected"),
    [
        (["10", "9", "[3-5)", "x"], (), ["[3-5)", "9", "10", "x"]),
        (["b", "a"], (), ["a", "b"]),
        (["≥60", "<20", "[20-60)"], (), ["<20", "[20-60)", "≥60"]),
        (["high", "?", "low"], ("low", "high"), ["low", "high", "?"]),
        (["inf", "5"], (), ["5", "inf"]),
        ([], ("low",), []),
    ],
)
def test_labels_in_their_own_order(labels, order, expected):
    assert in_order(labels, order) == expected
