"""Where a person owns several rows, what is drawn, bounded or counted is persons: small tables in which it matters."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from tests.reference.people import EXAMPLES, people_table

import celosia
from celosia import methods, models
from celosia.errors import DataError
from celosia.frontier.candidates import Candidate
from celosia.histogram import group
from celosia.methods.bases.trees import Feature, synthesise
from celosia.methods.bases.units import distinct_counts, units_of
from celosia.models.bases.fuzzy_model import alike
from celosia.parts import Formal, build, parts
from celosia.table.derive import with_record_ids


def owned(columns, **roles):
    return with_record_ids(celosia.read(pl.DataFrame(columns), celosia.Schema.of(person="i", **roles)))


# -- randomised response ---------------------------------------------------------------------------------------------------

YES_NO = {"smokes": ["no", "yes"]}


def test_a_person_with_many_rows_gives_one_answer():
    """200 rows that are all true with probability ¾ would tell everything: ε = 200 · ln 3 and not ln 3."""
    table = owned({"i": [0] * 200 + list(range(1, 41)), "smokes": ["yes"] * 200 + ["no"] * 40})
    method = methods.RandomisedResponse(columns=["smokes"], q=0.5, categories=YES_NO)
    shown = set()
    for _ in range(30):
        protected = celosia.protect(table, method)
        answers = protected.polars().filter(pl.col("i") == 0)["smokes"].unique().to_list()
        assert len(answers) == 1, "all rows of a person show the same answer"
        shown |= set(answers)
    assert shown == {"no", "yes"}, "(¾)³⁰ and (¼)³⁰ are the chances that this fails"
    assert protected.history[-1]["epsilon"] == pytest.approx(math.log(3))


def test_rows_that_differ_answer_each_at_a_price_that_is_stated():
    table = owned({"i": [1, 1, 1, 2], "smokes": ["yes", "no", "yes", "no"]})
    once = methods.RandomisedResponse(columns=["smokes"], epsilon=3.0, categories=YES_NO)
    assert celosia.protect(table, once).polars()["smokes"][:3].n_unique() == 1, "one answer, which all rows show"
    twice = celosia.protect(table, once.model_copy(update={"rows_per_person": 2})).polars()["smokes"]
    assert twice[2] == twice[0], "the third row repeats the first answer"
    thrice = once.model_copy(update={"rows_per_person": 3})
    facts = celosia.protect(table, thrice).history[-1]
    assert facts["epsilon"] == pytest.approx(3.0)
    assert facts["columns"]["smokes"]["q"] == pytest.approx((math.e - 1) / (math.e + 1)), "a row has one of the three"
    by_q = methods.RandomisedResponse(columns=["smokes"], q=0.5, categories=YES_NO, rows_per_person=3)
    assert celosia.protect(table, by_q).history[-1]["epsilon"] == pytest.approx(3 * math.log(3))


def test_records_without_an_id_are_one_person():
    table = owned({"i": [None, None, 1], "smokes": ["yes", "yes", "no"]})
    method = methods.RandomisedResponse(columns=["smokes"], q=0.5, categories=YES_NO)
    for _ in range(30):
        assert celosia.protect(table, method).polars()["smokes"][:2].n_unique() == 1


# -- what a formal guarantee costs -------------------------------------------------------------------------------------------

FORMAL = [name for name, cls in parts("method").items() if issubclass(cls, Formal)]


@pytest.mark.parametrize("name", FORMAL)
def test_the_declared_loss_is_the_stated_one(name):
    sort = "rows" if name == "dp-generalise" else "persons"
    for given in EXAMPLES[name]:
        method = build("method", {"use": name, **given})
        table = people_table(sort, rows=1200 if name == "dp-generalise" else 36)
        assert celosia.protect(table, method).history[-1]["epsilon"] == pytest.approx(method.privacy_loss())


def test_a_candidate_adds_up_what_its_steps_cost():
    two = methods.RandomisedResponse(columns=["a", "b"], epsilon=1.0, categories={"a": ["x", "y"], "b": ["x", "y"]})
    by_q = methods.RandomisedResponse(columns=["smokes"], q=0.5, categories=YES_NO)
    histogram = methods.DpHistogram(columns=["a"], epsilon=0.5)
    noise = methods.Noise(columns=["x"])
    assert Candidate((two,)).epsilon == 2.0
    assert Candidate((by_q, histogram)).epsilon == pytest.approx(math.log(3) + 0.5)
    assert Candidate((noise,)).epsilon is None


# -- draws ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [methods.Sample(size=3), methods.Subset(size=3)])
def test_persons_are_drawn_whole(method):
    table = owned({"i": [p for p in range(9) for _ in range(p + 1)], "x": list(range(45))})
    for seed in range(8):
        kept = celosia.protect(table, method, seed=seed).polars()["i"]
        assert kept.n_unique() == 3
        assert kept.value_counts().select(pl.col("count") == pl.col("i") + 1)["count"].all(), "with all their rows"


def test_a_share_is_of_persons_and_weights_follow_the_draw():
    """One person has 1000 rows of 1990: half of the persons have each the chance ½, whatever the rows are."""
    rows = [0] * 1000 + list(range(1, 991))
    table = owned({"i": rows, "w": [1.0] * len(rows)}, weight="w")
    half = celosia.protect(table, methods.Sample(share=0.5), seed=1).polars()
    assert 430 < half["i"].n_unique() < 560
    sized = celosia.protect(table, methods.Sample(size=99), seed=1)
    assert sized.history[-1]["weights divided by"] == pytest.approx(99 / 991)


def test_other_units_are_drawn_where_they_are_named():
    table = owned({"i": [1, 1, 2, 2], "visit": [1, 2, 3, 4]})
    sizes = {len(celosia.protect(table, methods.Sample(size=1, by="visit"), seed=s)) for s in range(4)}
    assert sizes == {1}


# -- swapping areas ------------------------------------------------------------------------------------------------------


def test_rows_of_one_person_are_no_company():
    """Three rows with job z in the north are one person: at risk for k = 2, as rows they would not be."""
    columns = {"i": [1, 1, 1, 2, 3, 4, 5, 6], "area": [*"NNNNN", *"SSS"], "job": [*"zzzxx", *"xxx"]}
    method = methods.RecordSwap(geography=["area"], risk=["job"], k=2)
    counted = celosia.protect(owned(columns), method, seed=1)
    assert counted.private_history[-1]["at_risk"] == {"area": 1}
    assert counted.polars().filter(pl.col("i") == 1)["area"].unique().to_list() == ["S"], "she moves with all her rows"
    rows = celosia.protect(celosia.read(pl.DataFrame(columns)), method, seed=1)
    assert rows.private_history[-1]["at_risk"] == {"area": 0}


def test_a_person_in_two_areas_cannot_be_moved():
    table = owned({"i": [1, 1, 2], "area": ["N", "S", "S"], "job": ["x", "x", "x"]})
    with pytest.raises(DataError, match="than the first of their person, which moves as a whole"):
        celosia.protect(table, methods.RecordSwap(geography=["area"], risk=["job"], k=2))


# -- leaves of trees -------------------------------------------------------------------------------------------------------


def test_a_leaf_holds_so_many_persons():
    """Forty rows of one person have a value of their own: a leaf of five persons cannot be theirs alone."""
    x = np.array([*np.repeat(9.0, 40), *np.repeat([0.0, 1.0], 40)])
    i = np.array([*np.zeros(40, int), *range(1, 81)])
    table = owned({"i": i, "x": x, "y": 10 * x}, quasi=["x"])
    method = methods.SequentialTrees(columns=["y"], leaf=5, smoothing="none")
    hers = celosia.protect(table, method, seed=3).polars().filter(pl.col("i") == 0)["y"].to_list()
    assert set(hers) == {10.0, 90.0}, "mixed with the nearest"
    plain = celosia.read(pl.DataFrame({"i": i, "x": x, "y": 10 * x}), celosia.Schema.of(identifiers=["i"]))
    alone = celosia.protect(plain, method, seed=3).polars()["y"].to_list()[:40]
    assert set(alone) == {90.0}, "as rows they fill leaves by themselves"


def test_weights_of_too_few_persons_leave_one_leaf():
    x, y = np.repeat([0.0, 1.0], 50), np.repeat([5.0, 7.0], 50)
    features, weights = [Feature(x, nominal=False), Feature(y, nominal=False)], np.full(100, 4 / 100)
    drawn = synthesise(features, [1], {0: x}, 100, np.random.default_rng(0), leaf=3, weights=weights)
    assert set(drawn[1][:50].tolist()) == {5.0, 7.0}


# -- fuzzy l-diversity -----------------------------------------------------------------------------------------------------


def test_the_posterior_counts_persons():
    """One cell, all look the same: flu is what one of three persons has, by three of five rows."""
    columns = {"i": [1, 1, 1, 2, 3], "age": ["30-39"] * 5, "ill": ["flu", "flu", "flu", "hiv", "tbc"]}
    model = models.FuzzyLDiversity(l=2)
    roles = {"quasi": ["age"], "sensitive": ["ill"]}
    for counting in ("sigma", "count"):
        counted = model.model_copy(update={"counting": counting})
        assert counted.records(owned(columns, **roles))["posterior ill"].to_list() == pytest.approx([1 / 3] * 5)
    rows = celosia.read(pl.DataFrame(columns), celosia.Schema.of(**roles))
    assert model.records(rows)["posterior ill"].to_list() == pytest.approx([3 / 5] * 3 + [1 / 5] * 2)


def test_missing_and_a_text_that_looks_like_it_are_two_values():
    table = celosia.read(pl.DataFrame({"job": ["None", None, "a"]}), celosia.Schema.of(quasi=["job"]))
    assert len(set(alike(table).tolist())) == 3


# -- units -----------------------------------------------------------------------------------------------------------------


def test_units_by_a_slow_second_way():
    rng = np.random.default_rng(0)
    for n in (0, 1, 5, 40):
        names = [None if rng.random() < 0.2 else int(rng.integers(0, 6)) for _ in range(n)]
        frame = pl.DataFrame({"h": pl.Series(names, dtype=pl.Int64), "x": list(range(n))})
        unit = units_of(celosia.read(frame), "h")
        same = {(a, b): (names[a] is not None and names[a] == names[b]) or a == b for a in range(n) for b in range(n)}
        assert {(a, b): bool(unit.member[a] == unit.member[b]) for a in range(n) for b in range(n)} == same
        assert unit.member[unit.first].tolist() == list(range(len(unit)))
        keys, of = rng.integers(0, 3, n), rng.integers(0, 4, n)
        keys = group([keys])[1] if n else keys
        counts = distinct_counts(of, keys)
        assert counts[: len(set(keys.tolist()))].tolist() == [
            len(set(of[keys == k])) for k in sorted(set(keys.tolist()))
        ]
