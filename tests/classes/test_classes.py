"""Classes on fewer columns, rows under each reading of missing values, and what sensitive values are compared with."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.classes.rows import star_rows
from celosia.errors import SchemaError
from celosia.table.edit import map_values

TYPES = {"a": pl.String, "b": pl.Int64, "c": pl.String, "who": pl.Int64}
TREE = [["flu", "lung", "any"], ["cold", "lung", "any"], ["HIV", "blood", "any"]]


def records(seed, size=14):
    rng = np.random.default_rng(seed)

    def one(values):
        return None if rng.random() < 0.2 else values[rng.integers(len(values))]

    return [(one(["x", "y"]), one([1, 2]), one(["p", "q", "r"]), one([1, 2, 3, 4])) for _ in range(size)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("person", [None, "who"], ids=["rows", "persons"])
def test_sizes_on_some_of_the_columns(tmp_path, seed, person):
    """Counted from the combinations of all of them: a person in two of those is one in what they have in common."""
    rows = records(seed)
    pl.DataFrame(rows, schema=TYPES, orient="row").write_parquet(tmp_path / "x.parquet")
    schema = celosia.Schema.of(quasi=["a", "b", "c"], person=person)
    table = celosia.read(tmp_path / "x.parquet", schema, engine="duckdb")
    for size in (1, 2, 3):
        for places in combinations(range(3), size):
            held = defaultdict(list)
            for row in rows:
                held[tuple(row[j] for j in places)].append(row[3])
            expected = sorted(len(set(who)) if person else len(who) for who in held.values())
            found = table.classes.over([["a", "b", "c"][j] for j in places])[1]
            assert sorted(found.tolist()) == expected


def alike(one, other, reading):
    """Whether a row with the cells of the other could be the row with these."""
    if reading == "category":
        return one == other
    fits = all(p is None or q is None or p == q for p, q in zip(one, other, strict=True))
    if reading == "wildcard":
        return fits
    # an incomplete row protects nobody but its likes, and one of which nothing is known could be anybody
    return set(one) == {None} or (fits and (None not in other or one == other))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("reading", ["category", "wildcard", "conservative"])
def test_rows_that_each_row_could_be(reading, seed):
    rows = [row[:2] for row in records(seed)]
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Int64}, orient="row")
    # a person owns all rows: here they are counted all the same
    schema = celosia.Schema.of(quasi=["a", "b"], person="who", missing=dict.fromkeys("ab", reading))
    table = celosia.read(frame.with_columns(who=pl.lit(1)), schema)
    own, could = table.classes.row_sizes
    expected = defaultdict(int)
    for row in set(rows):
        expected[rows.count(row), sum(alike(row, other, reading) for other in rows)] += 1
    found = defaultdict(int)
    for pair in zip(own.tolist(), could.tolist(), strict=True):
        found[pair] += 1
    assert found == expected


def test_a_hierarchy_of_sensitive_values_is_followed_upwards():
    frame = pl.DataFrame({"q": [1, 1, 2, 2], "s": ["HIV", "flu", "cold", "flu"]})
    schema = celosia.Schema.of(quasi=["q"], sensitive=["s"], hierarchies={"s": TREE})
    table = celosia.read(frame, schema)

    def groups(found):
        """Which values are one on each level."""
        return [
            {
                frozenset(v for v, c in zip(found.values, level, strict=True) if c == code)
                for code in set(level.tolist())
            }
            for level in found.ancestors
        ]

    raw = table.classes.baseline("s")
    assert dict(zip(raw.values, raw.share.tolist(), strict=True)) == {"HIV": 0.25, "cold": 0.25, "flu": 0.5}
    assert groups(raw) == [
        {frozenset({"HIV"}), frozenset({"cold"}), frozenset({"flu"})},
        {frozenset({"HIV"}), frozenset({"cold", "flu"})},
        {frozenset({"HIV", "cold", "flu"})},
    ]
    lifted = map_values(table, "s", ["HIV", "flu", "cold"], ["blood", "lung", "lung"]).classes.baseline("s")
    assert dict(zip(lifted.values, lifted.share.tolist(), strict=True)) == {"blood": 0.25, "lung": 0.75}
    assert groups(lifted) == [{frozenset({"blood"}), frozenset({"lung"})}, {frozenset({"blood", "lung"})}]
    other = map_values(table, "s", ["HIV", "flu", "cold"], ["1", "2", "2"]).classes.baseline("s")
    assert other.ancestors is None, "words that the hierarchy does not have"


@pytest.mark.parametrize(
    ("values", "person", "expected"),
    [
        ([3, 1, None, 3], None, {1.0: 0.25, 3.0: 0.5, None: 0.25}),
        ([3, 1, None, 3], [1, 2, 2, 1], {1.0: 1 / 3, 3.0: 1 / 3, None: 1 / 3}),  # each value has one person
        ([None, None], None, {None: 1.0}),
        ([], None, {}),
    ],
)
def test_numbers_and_their_distribution(values, person, expected):
    frame = pl.DataFrame({"q": [1] * len(values), "s": pl.Series(values, dtype=pl.Int64)})
    frame = frame.with_columns(pl.Series("who", person or list(range(len(values))), dtype=pl.Int64))
    schema = celosia.Schema.of(quasi=["q"], sensitive=["s"], kinds={"s": "numeric"}, person="who" if person else None)
    found = celosia.read(frame, schema).classes.baseline("s")
    assert found.values.to_list() == list(expected), "in order, a missing value last"
    assert found.share.tolist() == pytest.approx(list(expected.values()))
    numbers = [None if np.isnan(number) else number for number in found.numbers.tolist()]
    assert numbers == list(expected)


def test_sensitive_values_need_classes():
    frame = pl.DataFrame({"q": ["a", None], "s": ["x", "y"]})
    table = celosia.read(frame, celosia.Schema.of(quasi=["q"], sensitive=["s"], missing={"q": "wildcard"}))
    with pytest.raises(SchemaError, match="which need missing = 'category'"):
        table.class_counts(["s"])
    with pytest.raises(SchemaError, match="no weight column is declared"):
        table.frequencies(weight=True)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([("*", "*"), ("*", "a"), (None, "*"), (None, None), ("**", "*")], [True, False, False, False, False]),
        ([], []),
    ],
)
def test_stars_in_all_columns_tell_a_suppressed_record(rows, expected):
    frame = pl.DataFrame(rows, schema={"a": pl.String, "b": pl.Categorical}, orient="row")
    assert star_rows(frame, ["a", "b"]).to_list() == expected
    table = celosia.read(frame, celosia.Schema.of(quasi=["a", "b"]))
    assert table.counts.suppressed_mask.tolist() == expected


@pytest.mark.parametrize("step", ["noise", "microaggregate(k=5)", "individual-ranking(k=5)", "fuzzy-recode"])
def test_a_quasi_identifier_with_new_values_is_aggregated(step):
    """Values that a step computed are not in the input: the column is counted as it is."""
    ages = [20.0 + i * 7 % 89 / 2 for i in range(200)]
    frame = pl.DataFrame({"sex": ["F", "M"] * 100, "age": ages, "ill": ["flu", "cold", "none", "flu"] * 50})
    table = celosia.read(frame, celosia.Schema.of(quasi=["sex", "age"], sensitive=["ill"]))
    first = step.replace("(", "(columns=age, ") if "(" in step else f"{step}(columns=age)"
    changed = celosia.protect(table, first, seed=1)
    share = changed.classes.baseline("age")
    assert share.share.sum() == pytest.approx(1)
    assert len(share.values) == changed.polars()["age"].n_unique()
    safe = celosia.protect(changed, "generalise(require=k-anonymity(k=5), aggregate={age = set})", seed=1)
    assert safe.polars().group_by("sex", "age").len()["len"].min() >= 5
