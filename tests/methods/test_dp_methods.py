from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import celosia
from celosia.errors import ParameterError, RequirementError
from celosia.methods.bases.nonnegative import nearest_nonnegative, whole_with_total
from celosia.methods.private import sampling_bounds
from celosia.methods.private.dp_marginals import agree
from celosia.streams import Stream
from celosia.table.derive import with_record_ids

COUNTS = {  # lecture, education by sex: Female, Male
    "10th": (295, 638), "11th": (432, 743), "12th": (144, 289), "1st-4th": (46, 122), "5th-6th": (84, 249),
    "7th-8th": (160, 486), "9th": (144, 370), "Assoc-acdm": (421, 646), "Assoc-voc": (500, 882),
    "Bachelors": (1619, 3736), "Doctorate": (86, 327), "HS-grad": (3390, 7111), "Masters": (536, 1187),
    "Preschool": (16, 35), "Prof-school": (92, 484), "Some-college": (2806, 4485),
}  # fmt: skip


@pytest.fixture
def adult() -> celosia.Table:
    rows = [
        (e, s, i) for e, both in COUNTS.items() for s, n in zip(("Female", "Male"), both, strict=True) for i in range(n)
    ]
    frame = pl.DataFrame(
        {"education": [r[0] for r in rows], "sex": [r[1] for r in rows], "age": [17 + r[2] % 70 for r in rows]}
    )
    return celosia.read(frame, celosia.Schema.of(quasi=["education", "sex", "age"], bounds={"age": (17, 90)}))


VALUES = {"education": list(COUNTS), "sex": ["Female", "Male"]}


def histogram(**more):
    return celosia.methods.DpHistogram(columns=["education", "sex"], values=VALUES, **more)


def test_education_by_sex_costs_epsilon_once(adult):
    safe = celosia.protect(adult, histogram(epsilon=1.0, tidy=False))
    frame = safe.polars()
    assert len(frame) == 32
    exact = np.array([n for e in COUNTS for n in COUNTS[e]])
    noise = frame["count"].to_numpy() - exact
    assert 0.3 < np.abs(noise).mean() < 3  # the lecture's own draw has 0.975 at epsilon 1
    assert safe.history[-1]["scale"] == 1.0
    assert "count" in safe.schema.names
    assert safe.schema["count"].declared


def test_change_one_needs_twice_the_noise():
    assert histogram(epsilon=1.0, neighbours="change-one").noise(32).scale == 2.0
    assert histogram(epsilon=1.0).noise(32).scale == 1.0
    assert histogram(epsilon=1.0, rows_per_person=3).noise(32).scale == 3.0


@pytest.mark.parametrize("person", ["p", None])
def test_a_cell_of_one_person_is_shown_with_probability_delta_at_most(person):
    """Three rows of one person in a cell of their own: 600 draws accept delta = 0.01 and reject the 0.12 of counting 1."""
    frame = pl.DataFrame({"p": [1] * 3 + list(range(2, 12)), "c": ["rare"] * 3 + ["x"] * 10})
    table = celosia.read(frame, celosia.Schema.of(person=person))
    method = celosia.methods.DpHistogram(columns=["c"], epsilon=6, delta=0.01, rows_per_person=3)
    shown = ["rare" in method.apply(table, Stream(0)).table.polars()["c"].to_list() for _ in range(600)]
    assert sum(shown) <= binom.ppf(1 - 1e-6, 600, 0.01) < binom.ppf(1e-6, 600, 0.119)


def test_the_noise_has_the_stated_scale_and_no_other(adult):
    exact = np.array([n for e in COUNTS for n in COUNTS[e]])
    draws = np.concatenate(
        [
            celosia.protect(adult, histogram(epsilon=0.2, tidy=False)).polars()["count"].to_numpy() - exact
            for _ in range(60)
        ]
    )
    mean = histogram(epsilon=0.2).noise(32).mean_absolute
    error = 5 * mean / math.sqrt(len(draws))
    assert abs(np.abs(draws).mean() - mean) < error
    assert abs(np.abs(draws).mean() - 0.7 * mean) > error
    assert abs(np.abs(draws).mean() - 1.3 * mean) > error


def test_one_declared_cell_moves_by_one_record_whoever_it_is():
    """Who changes a record in the only cell takes none away and adds none elsewhere: one at most, not two."""
    table = celosia.read(pl.DataFrame({"c": ["x"] * 5}))
    for values, moved in ((["x"], 1), (["x", "y"], 2)):
        method = celosia.methods.DpHistogram(columns=["c"], values={"c": values}, epsilon=0.5, neighbours="change-one")
        assert celosia.protect(table, method).history[-1]["scale"] == pytest.approx(moved / 0.5)


def test_tidy_counts_are_whole_non_negative_and_keep_the_total(adult):
    totals = []
    for _ in range(20):
        frame = celosia.protect(adult, histogram(epsilon=0.05)).polars()
        assert frame["count"].min() >= 0
        assert frame["count"].dtype == pl.Int64
        totals.append(frame["count"].sum())
    # sum of 32 noises of scale 20: sd 20 sqrt(64) = 160; clipping alone would be biased upwards
    assert abs(np.mean(totals) - 32561) < 5 * 160 / math.sqrt(20)


def test_empty_cells_are_published_and_hidden_ones_need_delta(adult):
    odd = celosia.methods.DpHistogram(
        columns="sex", epsilon=1.0, values={"sex": ["Female", "Male", "Other"]}, tidy=False
    )
    assert celosia.protect(adult, odd).polars()["sex"].to_list() == ["Female", "Male", "Other"]
    with pytest.raises(ParameterError, match="delta above 0"):
        celosia.protect(adult, celosia.methods.DpHistogram(columns="education", epsilon=1.0))
    alone = pl.concat([adult.polars(), pl.DataFrame({"education": ["Secret"], "sex": ["Male"], "age": [40]})])
    table = celosia.read(alone, adult.schema)
    for _ in range(30):
        shown = celosia.protect(
            table, celosia.methods.DpHistogram(columns="education", epsilon=1.0, delta=1e-6)
        ).polars()
        assert set(shown["education"]) == set(COUNTS)


def test_bounds_make_cells_of_whole_numbers(adult):
    frame = celosia.protect(adult, celosia.methods.DpHistogram(columns="age", epsilon=1.0, tidy=False)).polars()
    assert frame["age"].to_list() == list(range(17, 91))


def test_persons_with_many_rows_are_bounded(engine):
    frame = pl.DataFrame({"who": [1] * 5000 + list(range(2, 102)), "ward": ["A"] * 5000 + ["B"] * 100})
    table = celosia.read(frame, celosia.Schema.of(quasi=["ward"], person="who"), engine=engine)
    method = celosia.methods.DpHistogram(
        columns="ward", epsilon=50, values={"ward": ["A", "B"]}, rows_per_person=2, tidy=False
    )
    counts = celosia.protect(table, method).polars()["count"].to_list()
    assert abs(counts[0] - 2) < 5
    assert abs(counts[1] - 100) < 5


def test_both_engines_count_the_same(engine):
    frame = pl.DataFrame({"sex": ["F"] * 70 + ["M"] * 30 + [None] * 5})
    table = celosia.read(frame, celosia.Schema.of(quasi=["sex"]), engine=engine)
    method = celosia.methods.DpHistogram(columns="sex", epsilon=1000, values={"sex": ["F", "M"]})
    assert celosia.protect(table, method).polars()["count"].to_list() == [70, 30]


def test_marginals_agree(adult):
    method = celosia.methods.DpMarginals(
        marginals=[["education", "sex"], ["sex", "age"], ["sex"]],
        epsilon=1.0,
        values={**VALUES, "age": list(range(17, 91))},
    )
    outcome = method.apply(with_record_ids(adult), celosia.streams.Stream(1))
    tables = [outcome.table, *outcome.others.values()]
    assert [len(t) for t in tables] == [32, 148, 2]
    totals = {t.polars()["count"].sum() for t in tables}
    assert len(totals) == 1
    assert list(outcome.others) == ["sex×age", "sex"]
    first = tables[0].polars().group_by("sex").agg(pl.col("count").sum()).sort("sex")["count"].to_numpy()
    third = tables[2].polars().sort("sex")["count"].to_numpy()
    assert np.abs(first - third).max() <= 60
    assert outcome.evidence["scales"] == pytest.approx([3.0, 3.0, 3.0])


def test_agreement_by_hand_and_it_helps():
    # totals 4 and 6 with equal variances per cell: weights 1/2 and 1/1 (2 cells against 1), so 4/3 + 12/3 = 16/3
    a, b = agree([np.array([1.0, 3.0]), np.array(6.0)], (("x",), ()), [1.0, 1.0])
    assert a.sum() == pytest.approx(16 / 3)
    assert float(b) == pytest.approx(16 / 3)
    rng = np.random.default_rng(1)
    truth = rng.integers(50, 100, (6, 4)).astype(float)
    gain = []
    for _ in range(200):
        noisy = [truth + rng.laplace(0, 5, truth.shape), truth.sum(axis=1) + rng.laplace(0, 5, 6)]
        made = agree(noisy, (("x", "y"), ("x",)), [50.0, 50.0])
        assert made[0].sum(axis=1) == pytest.approx(made[1])
        gain.append(np.abs(noisy[1] - truth.sum(axis=1)).sum() - np.abs(made[1] - truth.sum(axis=1)).sum())
    assert np.mean(gain) > 0


def test_nearest_and_whole():
    rng = np.random.default_rng(2)
    for _ in range(50):
        x, total = rng.normal(3, 5, 8), 20.0
        y = nearest_nonnegative(x, total)
        assert y.min() >= 0
        assert y.sum() == pytest.approx(total)
        for _ in range(20):  # no other non-negative vector with that total is nearer
            z = rng.dirichlet(np.ones(8)) * total
            assert ((y - x) ** 2).sum() <= ((z - x) ** 2).sum() + 1e-9
        whole = whole_with_total(y, 20)
        assert whole.sum() == 20
        assert np.abs(whole - y).max() <= 1
    assert nearest_nonnegative(np.array([-1.0, -2.0]), 0.0).tolist() == [0, 0]


def test_delta_of_sampling_by_brute_force():
    """The maximum over n, by trying all n up to where the tail is negligible."""
    for epsilon, k in [(1.0, 20), (0.5, 30), (2.0, 40)]:
        beta = sampling_bounds.share(epsilon)
        gamma = (math.exp(epsilon) - 1 + beta) / math.exp(epsilon)
        first = math.ceil(k / gamma - 1)
        worst = max(binom.sf(math.floor(gamma * n), n, beta) for n in range(max(first, 1), first + 2000))
        assert sampling_bounds.delta_of(k, beta, epsilon) == pytest.approx(worst)
    for epsilon in (0.5, 1.0, 2.0):
        k = sampling_bounds.smallest_k(epsilon, 1e-5)
        assert (
            sampling_bounds.delta_of(k, sampling_bounds.share(epsilon), epsilon)
            <= 1e-5
            < sampling_bounds.delta_of(k - 1, sampling_bounds.share(epsilon), epsilon)
        )
    # at epsilon = 20 nearly all records are drawn: a class of k tells all its members, up to the chance of k draws
    assert sampling_bounds.delta_of(50, sampling_bounds.share(20.0), 20.0) == pytest.approx(
        sampling_bounds.share(20.0) ** 49
    )
    with pytest.raises(ParameterError):
        sampling_bounds.delta_of(5, 0.9, 1.0)


@pytest.fixture
def people() -> celosia.Table:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"age": rng.integers(20, 60, 5000), "sex": rng.choice(["F", "M"], 5000), "name": ["x"] * 5000})
    schema = celosia.Schema.of(
        identifiers=["name"], quasi=["age", "sex"], hierarchies={"age": "intervals(width=10, origin=0)"}
    )
    return celosia.read(frame, schema)


def test_generalised_sample_is_true_and_has_no_small_class(people):
    method = celosia.methods.DpGeneralise(epsilon=1.0, delta=1e-6)
    safe = celosia.protect(people, method)
    entry = safe.history[-1]
    assert set(safe.names) == {"age", "sex"}  # the name is not published
    sizes = safe.polars().group_by("age", "sex").len()["len"]
    assert sizes.min() >= entry["k"]
    assert entry["sampling"] == pytest.approx(1 - math.exp(-0.9))
    assert entry["epsilon"] == 1.0
    assert entry["search_epsilon"] == pytest.approx(0.1)
    fixed = celosia.protect(people, celosia.methods.DpGeneralise(epsilon=1.0, delta=1e-6, levels={"age": 1, "sex": 0}))
    share = len(fixed) / 5000
    beta = 1 - math.exp(-1)
    assert abs(share - beta) < 5 * math.sqrt(beta * (1 - beta) / 5000)
    truth = set(people.polars().select("age", "sex").iter_rows())
    for age, sex in fixed.polars().unique().iter_rows():
        low = int(age.strip("[)").split("-")[0])
        assert any(low <= a < low + 10 and s == sex for a, s in truth)


def test_a_lone_person_never_shows(people):
    frame = pl.concat([people.polars(), pl.DataFrame({"age": [120], "sex": ["F"], "name": ["y"]})])
    table = celosia.read(frame, people.schema)
    for _ in range(20):
        safe = celosia.protect(
            table, celosia.methods.DpGeneralise(epsilon=2.0, delta=1e-6, levels={"age": 1, "sex": 0})
        )
        assert not any("120" in str(age) for age in safe.polars()["age"])


def test_sampling_with_the_seed_does_not_repeat(people):
    method = celosia.methods.DpGeneralise(epsilon=1.0, delta=1e-6, levels={"age": 1, "sex": 0})
    found = {len(celosia.protect(people, method, seed=1)) for _ in range(6)}
    assert len(found) > 1


def test_refusals(people):
    with pytest.raises(ParameterError, match="each column or for none"):
        celosia.protect(people, celosia.methods.DpGeneralise(epsilon=1.0, delta=1e-6, levels={"age": 1}))
    with pytest.raises(ParameterError, match="levels 0 to"):
        celosia.protect(people, celosia.methods.DpGeneralise(epsilon=1.0, delta=1e-6, levels={"age": 9, "sex": 0}))
    with pytest.raises(RequirementError, match="no class"):
        celosia.protect(people, celosia.methods.DpGeneralise(epsilon=0.01, delta=1e-9, levels={"age": 0, "sex": 0}))
    with pytest.raises(ParameterError):
        celosia.methods.DpHistogram(columns="sex", epsilon=0)
    with pytest.raises(ParameterError, match="not all declared"):
        celosia.protect(people, celosia.methods.DpMarginals(marginals=[["age"]], epsilon=1.0))


def test_parts_survive_the_text_grammar():
    from celosia.parts import build

    for kind, part in [
        ("method", histogram(epsilon=1.0, neighbours="change-one")),
        (
            "method",
            celosia.methods.DpMarginals(marginals=[["sex"], ["sex", "age"]], epsilon=1.0, values={"sex": ["F"]}),
        ),
        ("method", celosia.methods.DpGeneralise(epsilon=1.0, delta=1e-6, levels={"age": 1})),
        ("mechanism", celosia.mechanisms.Gaussian(epsilon=1.0, delta=1e-6)),
        ("mechanism", celosia.mechanisms.Quantile(epsilon=1.0, lower=0, upper=9)),
        ("mechanism", celosia.mechanisms.NoisyHistogram(epsilon=1.0, delta=1e-6)),
    ]:
        assert build(kind, str(part)) == part
        assert build(kind, part.spec()) == part
