"""Every class-based part gives the same numbers from Polars, pandas, DuckDB and a scanned file; models keep their promises."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import celosia
from celosia import loss, models, risk
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.histogram import encode, pack
from celosia.parts import search_hints

TREE = {"A": ["p", "q"], "B": ["r", "s"]}
NUMBERS = [[str(i), f"{i // 3 * 3}-{i // 3 * 3 + 2}", "*"] for i in range(6)]

MODELS = (
    models.KAnonymity(k=2),
    models.LDiversity(l=2),
    models.LDiversity(l=2, variant="entropy"),
    models.LDiversity(l=2, variant="entropy", estimator="grassberger"),
    models.LDiversity(l=2, variant="recursive", c=2),
    models.LDiversity(l=2, others="quasi"),
    models.TCloseness(t=0.3, column="y"),
    models.TCloseness(t=0.3, column="y", distance="hierarchical"),
    models.TCloseness(t=0.3, column="z", distance="ordered"),
    models.TCloseness(t=0.3, column="z", distance="value"),
    models.AlphaK(alpha=0.5, k=2),
    models.BetaLikeness(beta=1),
    models.BetaLikeness(beta=1, enhanced=True),
    models.DeltaDisclosure(delta=1),
    models.AverageRisk(risk=0.3, highest=0.5),
    models.SampleUniqueness(share=0.2),
    models.KMap(k=3, size=1000),
)
RISKS = (risk.Prosecutor(), risk.Journalist(size=1000), risk.Marketer(), risk.Uniqueness(), risk.Homogeneity())
LOSSES = (
    *(loss.AverageClassSize(), loss.CertaintyPenalty(), loss.Precision(), loss.Discernibility(), loss.DomainLoss()),
    *(loss.NonUniformEntropy(), loss.KullbackLeibler(), loss.Ambiguity(), loss.Height(), loss.MajorityLoss(target="y")),
    *(loss.Suppression(), loss.Suppression(of="cells")),
)

records = st.lists(
    st.tuples(
        st.sampled_from(["p", "q", "r", "s", None]),
        st.sampled_from([0, 1, 2, 3, 4, 5, None]),
        st.sampled_from(["u", "v", "w", None]),
        st.sampled_from([1.5, 2.0, 7.25]),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=30,
)


def schema(person):
    return celosia.Schema.of(
        quasi=["c", "n"],
        sensitive=["y", "z"],
        person="id" if person else None,
        kinds={"n": "numeric", "z": "numeric"},
        hierarchies={"c": TREE, "n": NUMBERS, "y": {"V": ["u", "v"], "W": ["w"]}},
    )


def measured(source, person, **options):
    table = celosia.read(source, schema(person), **options)
    recode = [celosia.methods.Recode(column="c", level=1), celosia.methods.Recode(column="n", level=1)]
    safe = celosia.protect(table, *recode, celosia.methods.SuppressRecords(require=["k-anonymity(k=2)"]), seed=1)
    out = {}
    for version, which in (("raw", table), ("safe", safe)):
        out |= {(version, str(model)): (model.value(which), model.holds(which)) for model in MODELS}
        out |= {(version, str(one)): one.value(which) for one in RISKS}
    for one in RISKS:
        found = one.records(safe)
        out["records", str(one)] = [x for name in found.columns for x in found[name].cast(pl.Float64).to_list()]
    return out | {("loss", str(one)): one.value(table, safe) for one in LOSSES}


def same(a, b):
    assert a.keys() == b.keys()
    for key in a:
        assert a[key] == pytest.approx(b[key], nan_ok=True), key


def check_all_ways_in(place, rows, person):
    types = {"c": pl.String, "n": pl.Int64, "y": pl.String, "z": pl.Float64, "id": pl.Int64}
    assume(len({row[4] for row in rows}) > 1)  # suppression needs two persons, or two records, at least
    data = pl.DataFrame(rows, schema=types, orient="row")
    data.write_parquet(place / "data.parquet")
    expected = measured(data, person)
    same(measured(data.to_pandas(), person), expected)
    same(measured(duckdb.from_arrow(data.to_arrow()), person), expected)
    same(measured(place / "data.parquet", person), expected)
    same(measured(place / "data.parquet", person, engine="duckdb"), expected)


UNHURRIED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@settings(max_examples=4, deadline=None, suppress_health_check=UNHURRIED)
@given(records, st.booleans())
def test_all_ways_in_agree(tmp_path, rows, person):
    check_all_ways_in(tmp_path, rows, person)


@pytest.mark.long
@settings(max_examples=60, deadline=None, suppress_health_check=UNHURRIED)
@given(records, st.booleans())
def test_all_ways_in_agree_on_many_tables(tmp_path, rows, person):
    check_all_ways_in(tmp_path, rows, person)


# -- what models promise to a search -----------------------------------------------------------------------------------------

matrices = st.integers(2, 4).flatmap(
    lambda width: st.lists(
        st.lists(st.integers(0, 4), min_size=width, max_size=width).filter(any), min_size=2, max_size=4
    )
)
JUDGES = (
    *(models.KAnonymity(k=2), models.LDiversity(l=2), models.LDiversity(l=2, variant="entropy")),
    *(models.LDiversity(l=1.5, variant="entropy", estimator="grassberger"), models.AlphaK(alpha=0.6, k=2)),
    *(models.LDiversity(l=2, variant="recursive", c=c) for c in (0.5, 1.0, 3.0)),
    *(models.TCloseness(t=t, distance=d) for t in (0.1, 0.3) for d in ("equal", "ordered", "hierarchical", "value")),
    *(models.BetaLikeness(beta=0.5), models.BetaLikeness(beta=0.5, enhanced=True), models.DeltaDisclosure(delta=0.8)),
    models.KMap(k=4, size=100),
)


def counted(matrix):
    full = np.array(matrix)
    width = full.shape[1]
    tree = np.array([np.arange(width), np.arange(width) // 2, np.zeros(width)], dtype=np.int32)
    values = {"s": ValueCounts.of(full, ancestors=tree, numbers=np.arange(width) * 1.5)}
    return ClassCounts(size=full.sum(axis=1), values=values)


@settings(max_examples=150, deadline=None)
@given(matrices)
def test_declared_monotonicity(matrix):
    fine = counted(matrix)
    full = np.array(matrix)
    merged = ClassCounts(
        size=np.array([full.sum()]),
        values={
            "s": ValueCounts.of(
                full.sum(axis=0, keepdims=True),
                baseline=fine.values["s"].baseline,
                ancestors=fine.values["s"].ancestors,
                numbers=fine.values["s"].numbers,
            )
        },
    )
    for model in JUDGES:
        verdict = model.judge(fine)
        if search_hints(model).monotone_generalisation and verdict.all():
            assert model.judge(merged).all(), model
        if search_hints(model).monotone_suppression and verdict.any():
            assert model.judge(merged).all(), model
        least = search_hints(model).smallest_size_in(fine)
        assert (fine.size[verdict] >= least).all(), model
        if search_hints(model).is_size_only():
            assert (verdict == (fine.size >= least)).all(), model


@given(records)
def test_models_imply_each_other(rows):
    data = pl.DataFrame(rows, schema=["c", "n", "y", "z", "id"], orient="row")
    table = celosia.read(data, celosia.Schema.of(quasi=["c", "n"], sensitive=["y"]))
    k = models.KAnonymity(k=1).value(table)
    assert k >= models.LDiversity(l=1).value(table) >= models.LDiversity(l=1, variant="entropy").value(table) - 1e-9
    assert risk.Prosecutor().value(table) <= 1 / k
    assert models.AverageRisk(risk=1).value(table) <= 1 / k + 1e-12
    assert models.AverageRisk(risk=1).value(table) == pytest.approx(risk.Marketer().value(table))
    assert models.SampleUniqueness(share=1).value(table) == risk.Uniqueness().value(table)


def slow(rows, column):
    """Classes as lists of sensitive values, record by record."""
    classes: dict[tuple, list] = {}
    for record in rows:
        classes.setdefault(record[:2], []).append(record[column])
    return classes


@given(records)
def test_models_by_counting_records(rows):
    data = pl.DataFrame(rows, schema=["c", "n", "y", "z", "id"], orient="row")
    table = celosia.read(data, celosia.Schema.of(quasi=["c", "n"], sensitive=["y"]))
    every = [record[2] for record in rows]
    q = {v: every.count(v) / len(every) for v in set(every)}
    equal, beta, delta, distinct = [], [], [], []
    for values in slow(rows, 2).values():
        p = {v: values.count(v) / len(values) for v in q}
        equal.append(sum(abs(p[v] - q[v]) for v in q) / 2)
        beta.append(max((p[v] - q[v]) / q[v] for v in q))
        delta.append(max(abs(np.log2(p[v] / q[v])) for v in q if p[v]))
        distinct.append(max(1, len(set(values) - {None})))  # a missing value is no further one
    assert models.LDiversity(l=1).value(table) == min(distinct)
    assert models.TCloseness(t=1).value(table) == pytest.approx(max(equal), abs=1e-9)
    assert models.BetaLikeness(beta=1).value(table) == pytest.approx(max(*beta, 0), abs=1e-9)
    assert models.DeltaDisclosure(delta=1).value(table) == pytest.approx(max(delta), abs=1e-9)


# -- codes -------------------------------------------------------------------------------------------------------------------


@given(
    st.one_of(
        st.lists(st.one_of(st.none(), st.text(max_size=3))),
        st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1))),
        st.lists(st.one_of(st.none(), st.integers(-3, 3))),
        st.lists(st.one_of(st.none(), st.floats(allow_nan=False))),
        st.lists(st.dates()),
    )
)
def test_codes_stand_for_values_in_order(values):
    assume(values)
    series = pl.Series("v", values, dtype=pl.String if all(v is None for v in values) else None)
    column = encode(series)
    codes, known = column.codes, column.values
    assert known[codes.astype(np.uint32)].to_list() == series.to_list()
    assert known.to_list() == series.unique().sort(nulls_last=True).to_list()


@given(st.lists(st.tuples(*[st.integers(0, 2**21)] * 4), min_size=1, unique=True))
def test_packed_rows_keep_their_order(rows):
    packed = pack([np.array(column) for column in zip(*rows, strict=True)])
    assert len(set(packed.tolist())) == len(rows)
    assert [rows[i] for i in np.argsort(packed)] == sorted(rows)
