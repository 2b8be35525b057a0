"""Two tables side by side: shared codes, categories, what cells cover, which cells fit, what a release has more."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import NotApplicable, UnknownName
from celosia.hierarchy import parse
from celosia.table.edit import map_values
from celosia.views.comparing.categories import categories
from celosia.views.comparing.comparable import cells, columns_of_numbers, samples
from celosia.views.comparing.coverage import coverages
from celosia.views.comparing.encoding import encode
from celosia.views.comparing.features import features
from celosia.views.comparing.join_candidates import JoinCandidates
from celosia.views.comparing.releases import linked_rows, surplus

words = st.lists(st.sampled_from(["u", "v", "w", "10", None]), min_size=1, max_size=8)
numbers = st.lists(st.sampled_from([0.0, 1.5, 7.0, None]), min_size=1, max_size=8)


def read(**columns):
    return celosia.read(pl.DataFrame(columns, strict=False))


@given(words, words)
@settings(max_examples=40, deadline=None)
def test_the_same_value_has_the_same_code_in_both_tables(left, right):
    tables = [read(c=pl.Series(side, dtype=pl.String)) for side in (left, right)]
    coded = encode(tables, ["c"])
    values = sorted({v for v in [*left, *right] if v is not None})
    for side, table in zip((left, right), coded.tables, strict=True):
        assert table.codes[:, 0].tolist() == [-1 if v is None else values.index(v) for v in side]
    assert coded.sizes == (len(values),)


def test_a_number_that_is_text_elsewhere_is_a_category():
    coded = encode([read(x=[1, 2]), read(x=["2", "[1-2]"])], ["x"])
    assert coded.numeric == ()
    assert coded.tables[0].codes[1, 0] == coded.tables[1].codes[0, 0]
    with pytest.raises(UnknownName, match="xx"):
        encode([read(x=[1])], ["xx"])


@given(numbers, numbers, st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_categories_of_numbers_keep_their_order(left, right, bins):
    tables = [read(x=pl.Series(side, dtype=pl.Float64)) for side in (left, right)]
    coded = categories(*tables, ["x"], bins)
    pairs = [
        (v, int(code))
        for side, codes in ((left, coded.original), (right, coded.protected))
        for v, code in zip(side, codes[:, 0], strict=True)
    ]
    assert {code for v, code in pairs if v is None} <= {0}
    for v, code in pairs:
        assert v is None or 0 < code < coded.sizes[0]
        assert all(code <= other for w, other in pairs if v is not None and w is not None and v < w)
        assert all(code == other for w, other in pairs if v == w)
    distinct = {v for v, _ in pairs if v is not None}
    if len(distinct) <= bins:
        assert len({code for v, code in pairs if v is not None}) == len(distinct), (
            "few values are categories themselves"
        )


def test_a_cell_that_is_missing_in_one_table_is_the_mean_of_the_original():
    original = celosia.read(pl.DataFrame({"x": [1.0, 3.0, None, 8.0], "y": [1.0, None, None, 5.0]}))
    protected = original.replace({"x": np.array([1.0, np.nan, np.nan, 2.0]), "y": np.array([1.0, 2.0, np.nan, 5.0])})
    x, y = cells(original, protected, ["x", "y"])
    assert x[:, 0].tolist() == [1.0, 3.0, 4.0, 8.0]  # (1 + 3 + 8) / 3
    assert y[:, 0].tolist() == [1.0, 4.0, 4.0, 2.0]
    assert x[:, 1].tolist() == [1.0, 3.0, 3.0, 5.0]
    assert y[:, 1].tolist() == [1.0, 2.0, 3.0, 5.0]
    whole, after = samples(original, protected, ["x", "y"])
    assert whole.tolist() == [[1.0, 1.0], [8.0, 5.0]]
    assert after.tolist() == [[1.0, 1.0], [2.0, 5.0]]
    assert [len(side) for side in columns_of_numbers(original, protected, ["x"])[0]] == [3, 2]
    with pytest.raises(NotApplicable, match="has no values"):
        cells(read(x=pl.Series([None], dtype=pl.Float64)), read(x=pl.Series([None], dtype=pl.Float64)), ["x"])


def test_features_are_scaled_by_the_original():
    original, protected = read(x=[0.0, 4.0], c=["u", "v"]), read(x=[2.0, None], c=["v", "z"])
    both = features(original, protected, ["x", "c"])
    assert both.original[:, 0].tolist() == [-1.0, 1.0]
    assert both.protected[:, 0].tolist() == [0.0, 0.0], "the mean, and a missing value stands for it"
    assert both.original[:, 1:].sum(axis=1).tolist() == [1.0, 1.0]
    assert (both.protected[0, 1:] == both.original[1, 1:]).all()


def test_what_cells_cover():
    levels = [[str(i), "low" if i < 2 else "high", "*"] for i in range(5)]
    schema = celosia.Schema.of(quasi=["x"], hierarchies={"x": levels})
    original = celosia.read(pl.DataFrame({"x": ["0", "1", "2", "4"]}), schema)
    protected = map_values(original, "x", original.classes.domain("x"), ["low", "low", "2", "high"])
    (cover,) = coverages(original, protected)
    share = dict(zip(cover.cells, cover.share.tolist(), strict=True))
    assert share == pytest.approx({"low": 2 / 5, "2": 1 / 5, "high": 3 / 5})
    assert dict(zip(cover.cells, cover.records.tolist(), strict=True)) == {"low": 2, "2": 1, "high": 1}
    assert cover.mean(cover.share) == pytest.approx((2 * 2 / 5 + 1 / 5 + 3 / 5) / 4)


CELLS = ("13053", "130**", "1****", "*", "{13053, 14850}", None)


@given(
    st.lists(
        st.tuples(st.sampled_from(["13053", "13068", "14850", None]), st.sampled_from(["m", "f"])),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.tuples(st.sampled_from(CELLS), st.sampled_from(["m", "f", "*"])), min_size=1, max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_cells_that_can_stand_for_values(people, release):
    def table(records):
        return celosia.read(pl.DataFrame(records, schema={"zip": pl.String, "sex": pl.String}, orient="row"))

    fitting = JoinCandidates.of(table(people), table(release), ["zip", "sex"])
    pairs = set(zip(*(side.tolist() for side in fitting.pairs), strict=True))
    for i, own in enumerate(people):
        for j, shown in enumerate(release):
            expected = all(
                (v is None if cell is None else v is not None and (v == cell or parse(cell).covers(v))) or cell == "*"
                for v, cell in zip(own, shown, strict=True)
            )
            assert ((fitting.raw[i], fitting.cell[j]) in pairs) == expected, (own, shown)


@given(
    st.lists(st.sampled_from("aabbc"), min_size=1, max_size=8),
    st.lists(st.sampled_from("aabbcd"), min_size=1, max_size=8),
)
@settings(max_examples=60, deadline=None)
def test_what_a_newer_release_has_more(newer, earlier):
    """Nothing is carried: in each cell that both show, the surplus is the difference of the counts."""
    new, old = read(cell=newer), read(cell=earlier)
    chance, added, gone = surplus(new, new, old, ["cell"], [])
    here, before = Counter(newer), Counter(earlier)
    for i, cell in enumerate(newer):
        more = max(0, here[cell] - before[cell]) if before[cell] else 0
        assert added[i] == more
        assert chance[i] == pytest.approx(more / here[cell])
    assert sorted(gone.tolist()) == sorted(max(0, before[cell] - here[cell]) for cell in here)


def test_records_are_linked_by_values_that_occur_once():
    first, second = read(a=[1, 1, 2, 3], b=["x", "x", "y", "z"]), read(a=[2, 3, 3, 1], b=["y", "z", "z", "x"])
    assert linked_rows([first, second], ["a", "b"]).ravel().tolist() == [-1, -1, 0, -1]
