"""The fuzzy table: the tables of the thesis, what q, l and t promise, the attack on it, certificate and verification."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_fuzzy_models import AGE_SETS, EX_3_1, EX_3_10, EX_3_22, SETS_3_1, SETS_3_22, read

import celosia
from celosia.cli.main import run as command
from celosia.errors import ParameterError, RequirementError
from celosia.fuzzy import FuzzySet
from celosia.methods import FuzzyTable
from celosia.risk import CellIntersection


def lists(table, method, seed=1):
    """The values of each published cell."""
    frame = celosia.protect(table, method, seed=seed).polars()
    *cell, value = [name for name in frame.columns if name != "sigma"]
    return {key: rows[value].to_list() for key, rows in frame.group_by(cell, maintain_order=True)}


def test_table_3_8_of_the_thesis(engine):
    published = lists(read(EX_3_10, engine=engine), FuzzyTable(sets=AGE_SETS))
    assert published == {
        ("Young",): ["flu", "gastritis", "ulcer"],
        ("Adult",): ["flu", "gastritis", "pneumonia"],
        ("Old",): ["heart", "pneumonia"],
    }


def test_table_3_2_of_the_thesis_with_the_cell_of_record_8_that_it_leaves_out():
    published = lists(read(EX_3_1, quasi=("zip", "age", "salary")), FuzzyTable(sets=SETS_3_1))
    assert published == {
        ("476", "low", "low"): ["GA", "UG"],
        ("476", "low", "medium"): ["CE", "GA", "UG"],
        ("476", "low", "very high"): ["CE"],  # the thesis takes this cell for negligible
        ("479", "medium", "high"): ["BR", "GA", "NE"],
        ("479", "high", "high"): ["AC"],
        ("479", "very high", "very high"): ["NE"],
    }


def test_table_3_14_of_the_thesis():
    table = read(EX_3_22, sensitive=("pay", "ill"))
    assert lists(table, FuzzyTable(sets=SETS_3_22, column="pay")) == {
        ("low",): [4, 5],
        ("medium",): [3, 7, 9, 10],
        ("high",): [6, 8, 11],
    }
    with pytest.raises(ParameterError, match="2 sensitive columns are declared"):
        celosia.protect(table, FuzzyTable(sets=SETS_3_22))


PAY = {"low": "(-inf;3;6)", "high": "(3;6;inf)"}


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.2, 0.5, 0.8]),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from([None, 0.2, 0.4]),
    st.booleans(),
)
@settings(max_examples=30, deadline=None)
def test_published_cells_keep_the_promises_against_plain_loops(seed, degree, q, l, t, several):
    rng = np.random.default_rng(seed)
    n = 14
    data = pl.DataFrame(
        {
            "age": rng.integers(20, 70, n),
            "pay": rng.integers(0, 10, n),
            "ill": rng.choice(list("abc"), n),
            "who": rng.integers(0, 6, n) if several else np.arange(n),
        }
    )
    table = read(data, quasi=("age", "pay"), person="who")
    sets = {**AGE_SETS, "pay": PAY}
    parsed = {name: {label: FuzzySet.parse(text) for label, text in named.items()} for name, named in sets.items()}
    method = FuzzyTable(sets=sets, degree=degree, q=q, l=l, t=t, sigma=3)
    rows = data.to_dicts()

    def membership(cell, row):
        return math.prod(float(parsed[name][label](row[name])) for name, label in zip(sets, cell, strict=True))

    inside = {
        cell: [row for row in rows if membership(cell, row) >= degree - 1e-9]
        for cell in product(*(sets[s] for s in sets))
    }
    try:
        frame = celosia.protect(table, method, seed=1).polars()
    except RequirementError:
        frame = pl.DataFrame(schema={"age": pl.String, "pay": pl.String, "ill": pl.String, "sigma": pl.Float64})
    published = {cell: set(part["ill"]) for cell, part in frame.group_by(["age", "pay"])}
    for cell, values in published.items():
        members = inside[cell]
        people = {row["who"] for row in members}
        assert len(people) >= q
        assert values == {row["ill"] for row in members}
        assert len(values) >= l
        assert is_honest(members)
        sigma = {value: best(rows, lambda row, cell=cell: membership(cell, row), value) for value in "abc"}
        shown = frame.filter((pl.col("age") == cell[0]) & (pl.col("pay") == cell[1]))
        assert dict(shown.select("ill", "sigma").rows()) == pytest.approx({v: sigma[v] for v in values}, abs=6e-4)
        if t is not None:
            pairs = {(row["who"], row["ill"]) for row in rows}
            whole = [sum(value == s for _, value in pairs) / len(pairs) for s in "abc"]
            assert (
                sum(abs(sigma[s] / sum(sigma.values()) - p) for s, p in zip("abc", whole, strict=True)) / 2 <= t + 1e-9
            )
    for row in rows:
        own = [published[cell] for cell in published if row in inside[cell]]
        assert not own or len(set.intersection(*own)) >= l
    if q == l == 1 and t is None:
        assert set(published) == {cell for cell, members in inside.items() if members and is_honest(members)}


def is_honest(members):
    """Whether a cell lists no more values than persons, and none that all of them have beside others."""
    people, values = {row["who"] for row in members}, {row["ill"] for row in members}
    held = [{row["who"] for row in members if row["ill"] == value} for value in values]
    return len(values) <= len(people) and (len(values) == 1 or people not in held)


def best(rows, degree, value):
    """σ-count of a value: each person with the highest degree of the rows that have it."""
    own = {}
    for row in rows:
        if row["ill"] == value:
            own[row["who"]] = max(own.get(row["who"], 0.0), degree(row))
    return sum(own.values())


def test_what_cells_share_is_found_by_the_attack_and_kept_diverse():
    """At 33 a person is in both cells; her value is the only one that both list."""
    data = pl.DataFrame({"age": [20, 20, 33, 50, 50], "ill": ["flu", "cold", "virus", "heart", "ulcer"]})
    table = read(data)
    sets = {"age": {"Young": "(-inf;30;36)", "Older": "(30;36;inf)"}}
    open_table = celosia.protect(table, FuzzyTable(sets=sets))
    assert CellIntersection().records(table, open_table)["candidates"].to_list() == [3, 3, 1, 3, 3]
    assert CellIntersection().evidence(table, open_table)["disclosed"] == 1
    kept = celosia.protect(table, FuzzyTable(sets=sets, l=2))
    assert kept.polars()["age"].unique().to_list() == ["Older"]
    assert kept.history[-1]["cells_left_out"] == 1
    assert kept.history[-1]["records_in_no_cell"] == 2
    assert CellIntersection().evidence(table, kept)["disclosed"] == 0


def test_cells_that_cannot_be_published_are_an_error_that_says_so():
    with pytest.raises(RequirementError, match="no cell holds q = 10, l = 1"):
        celosia.protect(read(EX_3_10), FuzzyTable(sets=AGE_SETS, q=10))


def test_from_a_file_to_a_verified_fuzzy_table(tmp_path):
    rng = np.random.default_rng(3)
    n = 400
    people = {"age": rng.integers(18, 80, n), "ill": rng.choice(["flu", "cold", "heart", "ulcer", "virus"], n)}
    pl.DataFrame(people).write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(
        """
        [input]
        path = "people.csv"
        [schema]
        quasi = ["age"]
        sensitive = ["ill"]
        [[require]]
        use = "l-diversity"
        l = 3
        column = "ill"
        [[step]]
        use = "fuzzy-table"
        sets = { age = { Young = "(-inf;30;36)", Adult = "(30;36;54;60)", Old = "(54;60;inf)" } }
        l = 3
        q = 10
        sigma = 0
        [measure]
        risks = ["cell-intersection"]
        [output]
        path = "table.csv"
        """,
        encoding="utf-8",
    )
    assert command(["run", str(tmp_path / "policy.toml")]) == 0
    assert sorted(pl.read_csv(tmp_path / "table.csv")["age"].unique()) == ["Adult", "Old", "Young"]
    certificate = (tmp_path / "table.certificate.json").read_text(encoding="utf-8")
    assert '"cell-intersection"' in certificate
    record = ("--record", str(tmp_path / "table.private.json"), "--original", str(tmp_path / "people.csv"))
    assert command(["verify", str(tmp_path / "table.certificate.json"), *record]) == 0


@pytest.mark.parametrize("older", [[("x", i) for i in range(6)], [(w, i) for w in "xyz" for i in range(3)]])
def test_values_of_one_person_do_not_make_a_class(older):
    """Six illnesses of one person, or the same three of three persons, are no six records and no three values."""
    people = [*[(w, f"v{i}", 60) for w, i in older], *[(f"p{i}", f"v{i % 6}", 25) for i in range(60)]]
    data = pl.DataFrame(people, schema=["who", "ill", "age"], orient="row")
    schema = celosia.Schema.of(quasi=["age"], sensitive=["ill"], person="who")
    sets = {"age": {"Young": "(-inf;30;50)", "Older": "(30;50;inf)"}}
    published = lists(celosia.read(data, schema), FuzzyTable(sets=sets))
    assert published == {("Young",): [f"v{i}" for i in range(6)]}
