"""The fuzzy models on tables: worked examples, crisp tables give the crisp values, missing, suppressed, persons."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError, SchemaError
from celosia.models import FuzzyLDiversity, FuzzyTCloseness, KAnonymity, LDiversity, QAnonymity, TCloseness
from celosia.parts import describe
from celosia.table.suppression import suppress_records

AGE_SETS = {"age": {"Young": "(-inf;30;36)", "Adult": "(30;36;54;60)", "Old": "(54;60;inf)"}}
EX_3_10 = pl.DataFrame(
    {
        "age": [21, 24, 32, 36, 45, 56, 58, 62, 65],
        "ill": ["gastritis", "flu", "ulcer", "gastritis", "pneumonia", "flu", "heart", "heart", "pneumonia"],
    }
)
EX_3_22 = pl.DataFrame(
    {
        "age": [29, 22, 27, 43, 52, 47, 30, 36, 32],
        "pay": [3, 4, 5, 6, 11, 8, 7, 9, 10],
        "ill": ["UG", "GA", "CE", "GA", "GR", "BR", "BR", "PN", "CE"],
    }
)
SETS_3_22 = {"age": {"low": "(-inf;25;30)", "medium": "(25;30;35;40)", "high": "(35;40;inf)"}}
EX_3_1 = pl.DataFrame(
    {
        "zip": ["476", "476", "476", "479", "479", "479", "479", "476", "479", "479", "479", "479"],
        "age": [29, 22, 27, 43, 52, 47, 36, 32, 55, 56, 61, 67],
        "salary": [3.5, 3.5, 5, 7, 7, 8, 9, 10, 9, 9, 10, 15],
        "ill": ["UG", "GA", "CE", "GA", "AC", "BR", "NE", "CE", "AC", "AC", "AP", "NE"],
    }
)
SETS_3_1 = {
    "age": {"low": "(-inf;30;38)", "medium": "(30;38;42;54)", "high": "(42;54;66)", "very high": "(54;66;inf)"},
    "salary": {"low": "(-inf;2;5)", "medium": "(2;5;8)", "high": "(5;8;11)", "very high": "(8;11;inf)"},
}


def read(data, quasi=("age",), sensitive=("ill",), engine="polars", **more):
    return celosia.read(data, celosia.Schema.of(quasi=quasi, sensitive=sensitive, **more), engine=engine)


def test_example_3_10_on_every_engine(engine):
    table = read(EX_3_10, engine=engine)
    model = QAnonymity(q=3, sets=AGE_SETS)
    assert model.value(table) == 3
    assert model.holds(table)
    assert not QAnonymity(q=4, sets=AGE_SETS).holds(table)
    curve = model.curve(table)
    assert curve["q"].to_list() == [1, 2, 3, 4, 5]
    assert curve["possibility"].to_list() == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2 / 9, 1 / 9])
    cells = model.classes(table)
    assert cells["age"].to_list() == ["Young", "Adult", "Old"]
    assert cells["size"].to_list() == [3, 3, 3]
    assert cells["sigma"].to_list() == pytest.approx([8 / 3, 10 / 3, 3])
    assert cells["Q"].to_list() == [3, 3, 3]
    assert QAnonymity(q=1, sets=AGE_SETS, possibility=0.7).value(table) == 0


def test_example_3_11_homogeneity_warning():
    """Table 3.10: the Q-anonymity is that of Table 3.1, but one cell holds heart attack only."""
    table = read(EX_3_1, quasi=("zip", "age", "salary"))
    cells = FuzzyLDiversity(l=2, sets=SETS_3_1).classes(table)
    bad = cells.filter((pl.col("size") > 1) & pl.col("homogeneous"))
    assert bad.select("zip", "age", "salary", "size").rows() == [("479", "high", "high", 3)]
    assert FuzzyLDiversity(l=2, sets=SETS_3_1).value(table) == 1


def test_example_3_19_posterior():
    counted = {21: (10, 15, 25), 22: (5, 5, 15), 23: (15, 5, 5), 24: (10, 10, 30), 25: (10, 5, 10)}
    rows = [(a, s) for a, c in counted.items() for s, n in zip("guc", c, strict=True) for _ in range(n)]
    table = read(pl.DataFrame(rows, schema=["age", "ill"], orient="row"))
    sets = {"age": {"1": "(-inf;20;23)", "2": "(20;23;26)", "3": "(23;26;inf)"}}
    model = FuzzyLDiversity(l=3, sets=sets, counting="count")
    assert model.value(table) == 3
    beta = table.polars().with_columns(model.records(table)).unique().sort("age", "ill")
    want = {(21, "g"): 48 / 223, (21, "u"): 63 / 223, (22, "c"): 140 / 233, (23, "g"): 3 / 5, (25, "u"): 143 / 711}
    got = {(a, s): b for a, s, b in beta.rows()}
    for key, value in want.items():
        assert got[key] == pytest.approx(value, abs=1e-14)
    sums = beta.group_by("age").agg(pl.col("posterior ill").sum())
    assert sums["posterior ill"].to_list() == pytest.approx([1] * 5)


def test_example_3_22():
    table = read(EX_3_22, sensitive=("pay", "ill"))
    salary = FuzzyTCloseness(t=0.1, column="pay", distance="ordered", sets=SETS_3_22, counting="count")
    want = [47 / 720, 49 / 144, 8 / 45, 1 / 6, 1 / 6, 1 / 6, 29 / 288, 11 / 120, 29 / 288]
    assert salary.records(table)["t pay"].to_list() == pytest.approx(want, abs=1e-12)
    assert salary.value(table) == pytest.approx(49 / 144)
    assert salary.model_copy(update={"aggregate": "min"}).value(table) == pytest.approx(47 / 720)
    by_value = salary.model_copy(update={"distance": "value"})  # salaries 3 … 11 in equal steps
    assert by_value.value(table) == pytest.approx(49 / 144)
    illness = FuzzyTCloseness(t=0.1, column="ill", sets=SETS_3_22, counting="count")
    assert illness.value(table) == pytest.approx(5 / 9)
    both = FuzzyTCloseness(t=0.1, sets=SETS_3_22, counting="count")
    assert both.value(table) == max(illness.value(table), both.model_copy(update={"column": "pay"}).value(table))


def test_sigma_counts_by_hand():
    """Two records of degree (½, ½) and (0, 1): P_1 = (1, 0), P_2 = (⅓, ⅔), P_x = (⅔, ⅓) and (⅓, ⅔), Q = (½, ½)."""
    table = read(pl.DataFrame({"age": [5.0, 10.0], "ill": ["a", "b"]}))
    model = FuzzyTCloseness(t=1, sets={"age": {"low": "(-inf;0;10)", "high": "(0;10;inf)"}})
    assert model.records(table)["t ill"].to_list() == pytest.approx([1 / 6, 1 / 6])
    assert model.classes(table)["t"].to_list() == pytest.approx([1 / 2, 1 / 6])


tables = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None]), st.sampled_from([1, 2, 5, None])),
    min_size=1,
    max_size=25,
)


@given(tables)
@settings(max_examples=60, deadline=None)
def test_crisp_tables_give_the_crisp_values(rows):
    data = pl.DataFrame(rows, schema={"city": pl.String, "job": pl.String, "pay": pl.Int64}, orient="row")
    table = celosia.read(data, celosia.Schema.of(quasi=["city", "job"], sensitive=["pay"]))
    assert QAnonymity(q=1, aggregate="min").value(table) == KAnonymity(k=1).value(table)
    assert FuzzyLDiversity(l=1).value(table) == LDiversity(l=1).value(table)
    for distance in ("equal", "ordered", "value"):
        crisp = TCloseness(t=1, distance=distance).value(table)
        assert FuzzyTCloseness(t=1, distance=distance).value(table) == pytest.approx(crisp, abs=1e-9)


def test_crisp_intervals_of_numbers_are_classes_too():
    ages = pl.DataFrame({"age": list(range(30)), "ill": list("ab" * 15)})
    sets = {"age": {"low": "(-inf;9;9)", "high": "(10;10;inf)"}}
    table = read(ages)
    assert QAnonymity(q=1, sets=sets, aggregate="min").value(table) == 10
    assert QAnonymity(q=1, coding="global-recode", aggregate="min").value(table) == 10
    assert QAnonymity(q=1, coding="k-means", aggregate="min").value(table) == 10


def test_joint_and_independent_coding():
    rng = np.random.default_rng(0)
    data = pl.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60), "ill": ["x", "y"] * 30})
    table = read(data, quasi=("a", "b"))
    assert len(QAnonymity(q=1).classes(table)) == 9
    for coding in ("c-means", "gustafson-kessel", "k-means"):
        model = QAnonymity(q=1, joint=True, coding=coding)
        assert model.classes(table).columns[0] == "a + b"
        assert len(model.classes(table)) == 3
        assert model.value(table) >= 1
    with pytest.raises(ParameterError, match="global-recode codes one column at a time"):
        QAnonymity(q=1, joint=True, coding="global-recode").value(table)


def test_missing_values_are_a_cell_of_their_own():
    data = pl.DataFrame({"age": [21, 24, 62, 65, None, None, None], "ill": ["a", "b", "a", "b", "c", "c", None]})
    table = read(data)
    sets = {"age": {"Young": "(-inf;30;60)", "Old": "(30;60;inf)"}}
    cells = FuzzyLDiversity(l=1, sets=sets).classes(table)
    assert cells["age"].to_list() == ["Young", "Old", "missing"]
    assert cells["size"].to_list() == [2, 2, 3]
    assert cells["l"].to_list() == [2, 2, 1]  # a missing illness is no further value
    assert QAnonymity(q=1, cells=2, aggregate="min").value(table) == 2
    assert QAnonymity(q=1, cells=2, joint=True).value(table) == 2


def test_suppressed_records_belong_to_no_cell():
    table = read(EX_3_10)
    mask = np.array([True, *[False] * 8])
    protected = suppress_records(table, mask)
    assert QAnonymity(q=1, sets=AGE_SETS).classes(protected)["size"].to_list() == [2, 3, 3]
    assert FuzzyLDiversity(l=1, sets=AGE_SETS).records(protected)["posterior ill"].null_count() == 1
    everyone = suppress_records(table, np.ones(9, dtype=bool))  # nine records that nothing tells apart
    assert QAnonymity(q=5, sets=AGE_SETS).value(everyone) == 9
    assert FuzzyLDiversity(l=5, sets=AGE_SETS).value(everyone) == table.column("ill").n_unique()
    assert FuzzyTCloseness(t=0, sets=AGE_SETS).value(everyone) == 0


def test_without_a_record_nothing_is_at_risk():
    empty = read(EX_3_10.clear())
    assert QAnonymity(q=5, sets=AGE_SETS).value(empty) == math.inf
    assert QAnonymity(q=5, sets=AGE_SETS).holds(empty)
    assert FuzzyLDiversity(l=5, sets=AGE_SETS).value(empty) == math.inf
    assert FuzzyTCloseness(t=0, sets=AGE_SETS).value(empty) == 0


def test_persons_are_counted_not_rows():
    data = pl.DataFrame({"id": [1, 1, 1, 2, 3], "age": [20, 21, 22, 23, 70], "ill": list("aaaab")})
    sets = {"age": {"Young": "(-inf;30;60)", "Old": "(30;60;inf)"}}
    assert QAnonymity(q=1, sets=sets).value(read(data)) == 4
    assert QAnonymity(q=1, sets=sets).value(read(data, person="id")) == 2


def test_a_value_that_every_person_of_a_cell_has_is_disclosed():
    data = pl.DataFrame({"id": [1, 1, 2, 2, 3, 4], "age": [20, 20, 21, 21, 70, 71], "ill": list("abacde")})
    sets = {"age": {"Young": "(-inf;30;60)", "Old": "(30;60;inf)"}}
    assert FuzzyLDiversity(l=1, sets=sets).value(read(data)) == 2
    assert FuzzyLDiversity(l=1, sets=sets).value(read(data, person="id")) == 1  # both young persons have a
    assert FuzzyTCloseness(t=1, sets=sets, distance="ordered").value(read(data, person="id")) == 0.5  # 2 of 2, 2 of 4


def test_t_compares_with_the_input_table():
    table = read(EX_3_10)
    fewer = celosia.protect(table, "suppress-records(require=['k-anonymity(k=1)'])").take(np.arange(3))
    model = FuzzyTCloseness(t=1, sets=AGE_SETS)
    alone = read(EX_3_10.head(3))
    assert model.value(fewer) > model.value(alone)


def test_same_table_same_value_and_coarser_is_never_worse():
    rng = np.random.default_rng(1)
    data = pl.DataFrame({"age": rng.normal(size=200), "pay": rng.integers(0, 9, 200)})
    sets = {"age": {"low": "(-inf;-1;1)", "high": "(-1;1;inf)"}}
    one = {"age": {"all": "(-inf;-inf;inf;inf)"}}
    table = read(data, sensitive=("pay",))
    assert QAnonymity(q=1).value(table) == QAnonymity(q=1).value(read(data, sensitive=("pay",)))
    assert QAnonymity(q=1, sets=one).value(table) == 200
    assert FuzzyTCloseness(t=1, sets=one).value(table) == 0
    assert FuzzyTCloseness(t=1, sets=sets).value(table) > 0


def test_hierarchical_distance():
    tree = pl.DataFrame({"ill": ["a", "b", "c"], "1": ["x", "x", "y"], "2": ["*", "*", "*"]})
    data = pl.DataFrame({"age": [1, 2, 8, 9], "ill": ["a", "b", "c", "c"]})
    from celosia.hierarchy import hierarchy

    schema = celosia.Schema.of(quasi=["age"], sensitive=["ill"], hierarchies={"ill": hierarchy(tree)})
    table = celosia.read(data, schema)
    sets = {"age": {"low": "(-inf;5;5)", "high": "(6;6;inf)"}}
    fuzzy = FuzzyTCloseness(t=1, sets=sets, distance="hierarchical")
    grouped = celosia.read(data.with_columns(age=pl.col("age") > 5), schema)
    assert fuzzy.value(table) == pytest.approx(TCloseness(t=1, distance="hierarchical").value(grouped))


def test_messages():
    table = read(EX_3_10)

    def message(call, error=ParameterError):
        with pytest.raises(error) as raised:
            call()
        return str(raised.value)

    assert message(lambda: QAnonymity(q=-1)) == "q-anonymity: q must be at least 0, got -1."
    assert message(lambda: QAnonymity(q=2, m=1)) == "q-anonymity: m must be more than 1.0, got 1."
    assert "the points must not decrease, got 30 after 36" in message(
        lambda: QAnonymity(q=2, sets={"age": {"a": "(0;36;30)"}})
    )
    overlap = {"age": {"Young": "(-inf;30;36)", "Adult": "(20;36;54;60)", "Old": "(54;60;inf)"}}
    assert message(lambda: QAnonymity(q=2, sets=overlap).value(table)) == (
        "age: the sets are no partition: the degrees of 3 of 9 records sum to 1 … 1.417 instead of 1. "
        "Let each set fall where its neighbour rises, as '(-inf;30;42)' and '(30;42;54)' do."
    )
    assert message(lambda: QAnonymity(q=2, sets={"aeg": {"a": "(0;1;2)"}}).value(table)) == (
        "sets are given for 'aeg', which is not among age."
    )
    assert "norm must be 'product', got 'min'" in message(lambda: FuzzyTCloseness(t=0.1, norm="min"))
    assert "holds text, but its sets are for numbers" in message(
        lambda: QAnonymity(q=1, sets={"ill": {"a": "(0;1;2)"}}).value(read(EX_3_10, quasi=("ill",))), DataError
    )
    assert "needs a hierarchy" in message(
        lambda: FuzzyTCloseness(t=1, sets=AGE_SETS, distance="hierarchical").value(table), SchemaError
    )
    assert "needs a numeric column" in message(
        lambda: FuzzyTCloseness(t=1, sets=AGE_SETS, distance="value").value(table), SchemaError
    )
    wide = pl.DataFrame({f"c{i}": np.arange(20.0) ** (i % 3 + 1) for i in range(8)})
    assert message(lambda: QAnonymity(q=1).value(read(wide, quasi=wide.columns, sensitive=()))) == (
        "the fuzzy columns make 6561 cells, more than 4096. Use fewer columns or cells, or joint = true."
    )
    assert "a search over classes cannot use it" in message(lambda: QAnonymity(q=1).measure(table.class_counts()).holds)


def test_text_grammar_round_trip():
    model = celosia.parts.build("model", str(QAnonymity(q=3, sets=AGE_SETS, aggregate="min")))
    assert model == QAnonymity(q=3, sets=AGE_SETS, aggregate="min")


def test_crisp_sets_of_values_and_dates():
    from datetime import date

    data = pl.DataFrame(
        {
            "zip": ["47677", "47602", "47905", "47909", None],
            "born": [date(1990, 1, 1), date(1991, 1, 1), date(1950, 1, 1), date(1951, 1, 1), date(1951, 2, 1)],
            "ill": ["a", "b", "a", "b", "c"],
        }
    )
    sets = {"zip": {"476**": "{47677, 47602}", "479**": "{47905, 47909}"}}
    cells = QAnonymity(q=1, sets=sets).classes(read(data, quasi=("zip",)))
    assert cells.select("zip", "size").rows() == [("476**", 2), ("479**", 2), ("missing", 1)]
    with pytest.raises(ParameterError, match="zip: the sets are no partition: the degrees of 1 of 4 records"):
        QAnonymity(q=1, sets={"zip": {"476**": "{47677, 47602, 47905}"}}).value(read(data, quasi=("zip",)))
    dates = QAnonymity(q=1, cells=2).classes(read(data, quasi=("born",)))
    assert dates["size"].to_list() == [3, 2]


def test_infinite_numbers_and_empty_sets_are_refused():
    table = read(pl.DataFrame({"age": [1.0, math.inf, 2.0], "ill": ["a", "b", "c"]}))
    with pytest.raises(DataError, match="column 'age' holds infinite values"):
        QAnonymity(q=1).value(table)
    with pytest.raises(ParameterError, match="name at least one set"):
        QAnonymity(q=1, sets={"age": {}})


def test_wishes_and_bounds():
    assert describe(FuzzyLDiversity(l=3)) == "l at least 3"
    assert describe(FuzzyTCloseness(t=0.2)) == "t at most 0.2"
    assert describe(QAnonymity(q=5)) == "Q at least 5"
    assert (
        FuzzyLDiversity(l=3, column="ill").counted_columns()
        == FuzzyTCloseness(t=1, column="ill").counted_columns()
        == ("ill",)
    )


def test_the_default_distance_follows_the_kind_of_the_column(tmp_path):
    table = read(EX_3_22, sensitive=("pay", "ill"))
    model = FuzzyTCloseness(t=1, sets=SETS_3_22)
    records = model.records(table)
    for column, distance in {"pay": "ordered", "ill": "equal"}.items():
        stated = model.model_copy(update={"column": column, "distance": distance})
        assert records[f"t {column}"].equals(stated.records(table)[f"t {column}"])
    assert model.evidence(table) == {"distance": {"pay": "ordered", "ill": "equal"}}
    assert model.model_copy(update={"distance": "equal"}).evidence(table) == {}


@pytest.mark.parametrize(("kind", "distance"), [("numeric", "ordered"), ("nominal", "equal")])
def test_a_certificate_states_the_distance_used(tmp_path, kind, distance):
    rng = np.random.default_rng(1)
    pl.DataFrame({"age": rng.integers(20, 60, 200), "pay": rng.integers(1, 9, 200)}).write_csv(tmp_path / "in.csv")
    policy = {
        "input": {"path": str(tmp_path / "in.csv")},
        "schema": {"quasi": ["age"], "sensitive": ["pay"], "kinds": {"pay": kind}},
        "step": [{"use": "fuzzy-recode", "columns": ["age"], "sets": {"age": SETS_3_22["age"]}}],
        "require": [{"use": "fuzzy-t-closeness", "t": 0.9, "sets": {"age": SETS_3_22["age"]}}],
        "output": {"path": str(tmp_path / "out.csv")},
    }
    release = celosia.run(celosia.Policy.of(policy))
    assert release.certificate["requirements"][0]["evidence"] == {"distance": {"pay": distance}}


def test_negligible_cells_leave_the_five_cells_of_example_3_9():
    table = read(EX_3_1, quasi=("zip", "age", "salary"))
    everything = QAnonymity(q=1, sets=SETS_3_1)
    model = everything.model_copy(update={"least_degree": 0.5, "least_count": 0.6})
    assert len(everything.classes(table)) == 16
    assert model.classes(table).select("zip", "age", "salary").rows() == [
        ("476", "low", "low"),
        ("476", "low", "medium"),
        ("479", "medium", "high"),
        ("479", "high", "high"),
        ("479", "very high", "very high"),
    ]
    # record 8 is in no other cell, as in the source
    assert model.evidence(table) == {"cells": 5, "negligible_cells": 11, "records_in_no_cell": 1}
    assert everything.evidence(table) == {}


def slow_cells(data, sets, least_degree, least_count):
    """Cells as lists of (record, degree), by plain loops over the combinations of labels."""
    from itertools import product

    from celosia.fuzzy import FuzzySet

    found = {}
    for labels in product(*(sets[name] for name in sets)):
        degrees = [
            math.prod(
                float(FuzzySet.parse(sets[name][label])(row[name])) for name, label in zip(sets, labels, strict=True)
            )
            for row in data.iter_rows(named=True)
        ]
        if max(degrees) > 0 and max(degrees) >= least_degree and sum(degrees) >= least_count:
            found[labels] = degrees
    return found


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3, 0.6]), st.sampled_from([0.0, 1.5, 3.0]))
@settings(max_examples=25, deadline=None)
def test_models_with_negligible_cells_against_plain_loops(seed, least_degree, least_count):
    rng = np.random.default_rng(seed)
    n = 12
    data = pl.DataFrame(
        {"age": rng.integers(20, 70, n), "pay": rng.integers(0, 12, n), "ill": rng.choice(list("abc"), n)}
    )
    sets = {**AGE_SETS, "pay": {"low": "(-inf;3;6)", "high": "(3;6;inf)"}}
    own = {"sets": sets, "least_degree": least_degree, "least_count": least_count}
    table = read(data, quasi=("age", "pay"))
    cells = slow_cells(data, sets, least_degree, least_count)
    ill = data["ill"].to_list()

    diversities = {"distinct": [], "entropy": [], "recursive": []}
    for degrees in cells.values():
        half = [value for value, degree in zip(ill, degrees, strict=True) if degree >= 0.5 - 1e-9]
        if not half:
            continue
        sizes = sorted(
            (sum(d for v, d in zip(ill, degrees, strict=True) if v == value) for value in "abc"), reverse=True
        )
        total = sum(sizes)
        alone = len(set(half)) == 1
        entropy = math.exp(-sum(s / total * math.log(s / total) for s in sizes if s > 0))
        largest = max(
            k for k in (1, 2, 3) if k == 1 or (sizes[k - 1] > 0 and sizes[0] < 2 * sum(sizes[k - 1 :]) - 1e-9)
        )
        diversities["distinct"].append(len(set(half)))
        diversities["entropy"].append(1 if alone else entropy)
        diversities["recursive"].append(1 if alone else largest)
    for variant, values in diversities.items():
        model = FuzzyLDiversity(l=1, variant=variant, c=2.0, **own)
        assert model.value(table) == pytest.approx(min(values, default=math.inf))

    model = FuzzyTCloseness(t=1, **own)
    whole = [ill.count(value) / n for value in "abc"]
    distances = []
    for i in range(n):
        mixed, weight = np.zeros(3), 0.0
        for degrees in cells.values():
            inside = np.array([sum(d for v, d in zip(ill, degrees, strict=True) if v == value) for value in "abc"])
            mixed += degrees[i] * inside / inside.sum()
            weight += degrees[i]
        distances.append(np.abs(mixed / weight - whole).sum() / 2 if weight else math.nan)
    found = [math.nan if t is None else t for t in model.records(table)["t ill"]]
    assert found == pytest.approx(distances, nan_ok=True)
    assert model.value(table) == pytest.approx(np.nanmax(distances) if cells else 0.0)


def test_automatic_distance_is_ordered_for_numbers_and_equal_for_categories():
    table = read(EX_3_22, sensitive=("pay", "ill"))
    for column, distance in (("pay", "ordered"), ("ill", "equal")):
        chosen = TCloseness(t=1, column=column, distance="auto")
        assert chosen.value(table) == TCloseness(t=1, column=column, distance=distance).value(table)
        assert chosen.evidence(table) == {"distance": {column: distance}}
        fuzzy = {"t": 1, "column": column, "sets": SETS_3_22}
        assert FuzzyTCloseness(**fuzzy).value(table) == FuzzyTCloseness(**fuzzy, distance=distance).value(table)
    assert TCloseness(t=1, column="pay").evidence(table) == {}


def test_sets_that_list_values_with_degrees_code_a_column():
    data = pl.DataFrame({"stage": ["I", "II", "III", "IV"], "ill": ["a", "b", "a", "b"]})
    sets = {"stage": {"early": "{I, II:0.6, III:0.2}", "late": "{II:0.4, III:0.8, IV}"}}
    cells = QAnonymity(q=1, sets=sets).classes(read(data, quasi=("stage",)))
    assert cells["sigma"].to_list() == pytest.approx([1.8, 2.2])


def test_a_clustering_stops_as_its_parameters_say():
    data = pl.DataFrame({"age": np.random.default_rng(5).normal(40, 10, 80), "ill": ["a", "b"] * 40})
    table = read(data)
    near = QAnonymity(q=1).classes(table)["sigma"].to_numpy()
    for more in ({"tolerance": 1e-4}, {"stop": "memberships", "tolerance": 1e-6}, {"max_iterations": 400}):
        assert QAnonymity(q=1, **more).classes(table)["sigma"].to_numpy() == pytest.approx(near, abs=0.05)
    assert QAnonymity(q=1, max_iterations=1).classes(table)["sigma"].to_numpy() != pytest.approx(near, abs=1e-3)
    one = {"coding": "gustafson-kessel", "cells": 2, "starts": 1}
    shaped = QAnonymity(q=1, rho=(1.0, 4.0), **one).classes(table)["sigma"].to_numpy()
    assert shaped != pytest.approx(QAnonymity(q=1, **one).classes(table)["sigma"].to_numpy(), abs=1e-3)
