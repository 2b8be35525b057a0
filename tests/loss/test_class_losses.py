"""Class-based losses: by hand, against another tool, and against what the search computes."""

from __future__ import annotations

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.reference.sources import ADULT

import celosia
from celosia.classes.counts import ClassCounts, ValueCounts
from celosia.errors import NotApplicable, ParameterError, SchemaError
from celosia.loss.cells.certainty_penalty import CertaintyPenalty, penalties
from celosia.loss.cells.domain_loss import DomainLoss
from celosia.loss.cells.height import Height
from celosia.loss.cells.non_uniform_entropy import NonUniformEntropy
from celosia.loss.cells.precision import Precision
from celosia.loss.cells.suppression import Suppression
from celosia.loss.classes.ambiguity import Ambiguity
from celosia.loss.classes.average_class_size import AverageClassSize
from celosia.loss.classes.discernibility import Discernibility
from celosia.loss.classes.kullback_leibler import KullbackLeibler
from celosia.loss.classes.majority_loss import MajorityLoss
from celosia.parts import build
from celosia.search.lattice.objective import ClassObjective, LevelMaps
from celosia.table.suppression import suppress_records
from celosia.views.comparing.coverage import coverages

ALL = (
    *(Ambiguity(), AverageClassSize(), CertaintyPenalty(), Discernibility(), DomainLoss(), Height(), KullbackLeibler()),
    *(NonUniformEntropy(), NonUniformEntropy(normalised=False), Precision(), Suppression(), Suppression(of="cells")),
    *(DomainLoss(aggregate=a) for a in ("arithmetic", "max", "sum", "rank")),
)


def table(data, quasi, sensitive=(), **facts):
    return celosia.read(pl.DataFrame(data), celosia.Schema.of(quasi=quasi, sensitive=list(sensitive), **facts))


def at_levels(original, levels, k=1):
    recode = [celosia.methods.Recode(column=name, level=level) for name, level in levels.items()]
    suppress = celosia.methods.SuppressRecords(require=[f"k-anonymity(k={k})"])
    return celosia.protect(original, *recode, suppress, seed=1)


# -- by hand -------------------------------------------------------------------------------------------------------------

AGES = {"age": [0, 1, 2, 3]}
PAIRS = {"age": "intervals(width=2)"}


def test_pairs_of_ages():
    original = table(AGES, ["age"], hierarchies=PAIRS)
    safe = at_levels(original, {"age": 1})
    assert safe.polars()["age"].to_list() == ["[0-2)", "[0-2)", "[2-4)", "[2-4)"]
    expected = [
        (AverageClassSize(), 2),
        (AverageClassSize(k=2), 1),
        (Discernibility(), 8),
        (DomainLoss(), pytest.approx((2 / 4 - 1 / 4) / (3 / 4))),
        (Precision(), 0.5),
        (Height(), 1),
        # [2-4) reaches to the largest value, 3
        (CertaintyPenalty(), pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1 / 3) / 4)),
        (NonUniformEntropy(), 0.5),
        (NonUniformEntropy(normalised=False), 4),
        (KullbackLeibler(), 0),  # uniform within the cells, as the original is
        (Ambiguity(), 8),
        (Suppression(), 0),
    ]
    for loss, value in expected:
        assert loss.value(original, safe) == value, loss


def test_suppressed_records_are_full_loss():
    original = table({"age": [0, 0, 1, 3]}, ["age"], hierarchies=PAIRS)
    safe = at_levels(original, {"age": 0}, k=2)
    assert safe.polars()["age"].to_list() == ["0", "0", "*", "*"]
    assert Suppression().value(original, safe) == 0.5
    assert Suppression(of="cells").value(original, safe) == 0.5
    assert Precision().value(original, safe) == 0.5
    assert Height().value(original, safe) == 1  # half of the records at height 2
    assert Height(suppressed=False).value(original, safe) == 0
    assert CertaintyPenalty().value(original, safe) == 0.5
    assert Discernibility().value(original, safe) == 4 + 4 * 2
    assert AverageClassSize().value(original, safe) == 2
    assert Ambiguity().value(original, safe) == 2 + 2 * 3  # three values in the domain
    # the mean covered share is (1/3 + 1/3 + 1 + 1) / 4 = 2/3, scaled from [1/3, 1]
    assert DomainLoss(aggregate="arithmetic").value(original, safe) == pytest.approx(0.5)
    bits = 2 * math.log2(4 / 1)  # the two suppressed values were unique among four records
    assert NonUniformEntropy(normalised=False).value(original, safe) == pytest.approx(bits)


def test_dropped_records_count_as_suppressed():
    original = table({"age": [0, 0, 1, 3]}, ["age"], hierarchies=PAIRS)
    fewer = original.take(np.array([0, 1]))
    assert Suppression().value(original, fewer) == 0.5
    assert Precision().value(original, fewer) == 0.5


def test_suppressed_cells():
    original = table({"a": ["x", "y", None], "b": ["u", "u", "u"]}, ["a", "b"])
    safe = original.replace({"a": ["*", None, None]})
    assert Suppression(of="cells").parts(original, safe)["columns"] == {"a": 2, "b": 0}
    assert Suppression(of="cells").value(original, safe) == pytest.approx(2 / 6)


def test_divergence_by_definition():
    # p = (3/4, 1/4), q = (1/2, 1/2): 3/4 log2(3/2) + 1/4 log2(1/2)
    original = table({"age": [0, 0, 0, 1]}, ["age"], hierarchies=PAIRS)
    expected = 0.75 * math.log2(1.5) + 0.25 * math.log2(0.5)
    assert KullbackLeibler().value(original, at_levels(original, {"age": 1})) == pytest.approx(expected)


def test_majority():
    data = {"age": [0, 0, 0, 1, 3], "income": ["low", "low", "high", "high", "low"]}
    original = table(data, ["age"], ["income"], hierarchies=PAIRS)
    assert MajorityLoss().value(original, original) == 1 / 5 == MajorityLoss().identity_value(original)
    assert MajorityLoss(target="income").value(original, at_levels(original, {"age": 1})) == 2 / 5
    assert MajorityLoss().value(original, at_levels(original, {"age": 0}, k=2)) == (1 + 2) / 5
    two = table({**data, "other": data["age"]}, ["age"], ["income", "other"])
    with pytest.raises(SchemaError, match="2 columns are sensitive; name the target"):
        MajorityLoss().value(two, two)


# -- the trees of the certainty penalty ------------------------------------------------------------------------------------

AGE_TREE = {"[0-99]": {"[0-70]": {"[0-45]": [], "[46-70]": []}, "[71-99]": {"[71-81]": [], "[82-99]": []}}}
CUTS = {"[0-45]": range(46), "[46-70]": range(46, 71), "[71-81]": range(71, 82), "[82-99]": range(82, 100)}


def test_penalties_of_the_age_tree():
    rows = []
    for low, values in CUTS.items():
        middle = "[0-70]" if max(values) <= 70 else "[71-99]"
        rows += [[str(v), low, middle, "*"] for v in values]
    original = table({"age": list(range(100))}, ["age"], hierarchies={"age": rows})
    found = {}
    for level in (1, 2, 3):
        (cover,) = coverages(original, at_levels(original, {"age": level}))
        found |= dict(zip(cover.cells, penalties(original, cover).round(4).tolist(), strict=True))
    assert found == {
        "[0-45]": 0.4545,
        "[46-70]": 0.2424,
        "[71-81]": 0.1010,
        "[82-99]": 0.1717,
        "[0-70]": 0.7071,
        "[71-99]": 0.2828,
        "*": 1.0,
    }


def test_penalties_of_the_marital_tree():
    marital = {"not married": ["separated", "single", "divorced"], "married": []}
    data = {"marital": ["separated", "single", "divorced", "married"]}
    original = table(data, ["marital"], hierarchies={"marital": marital})
    (cover,) = coverages(original, at_levels(original, {"marital": 1}))
    assert dict(zip(cover.cells, penalties(original, cover).tolist(), strict=True)) == {
        "not married": 0.75,
        "married": 0,
    }
    everything = at_levels(original, {"marital": 2})
    assert CertaintyPenalty().value(original, everything) == 1


def test_both_normalisations():
    original = table({"a": ["x", "y"], "b": ["u", "v"]}, ["a", "b"])
    safe = original.replace({"a": ["*", "*"]})
    assert CertaintyPenalty().value(original, safe) == 0.5
    assert CertaintyPenalty(normalisation="twice").value(original, safe) == 0.25
    assert CertaintyPenalty(weights={"a": 3}).value(original, safe) == 0.75
    both = original.replace({"a": ["*", "*"], "b": ["*", "x"]})
    assert CertaintyPenalty().value(original, both) <= 1


def test_penalty_of_named_ranges_bounds_and_orders():
    ages = [["1", "young"], ["5", "young"], ["9", "old"]]
    original = table({"age": [1, 5, 9]}, ["age"], hierarchies={"age": ages}, bounds={"age": (0, 10)})
    assert CertaintyPenalty().value(original, at_levels(original, {"age": 1})) == pytest.approx((0.4 + 0.4 + 0) / 3)
    sizes = table({"size": ["S", "M", "L"]}, ["size"], kinds={"size": "ordinal"}, orders={"size": ["S", "M", "L"]})
    assert CertaintyPenalty().value(sizes, sizes.replace({"size": ["{S, M}", "{S, M}", "L"]})) == pytest.approx(1 / 3)


# -- the outputs and scores of ARX -----------------------------------------------------------------------------------------


def read_adult(shared, name="data/adult/adult.csv"):
    files = {column: shared(f"data/adult/adult_hierarchy_{column}.csv") for column in ADULT}
    data = pl.read_csv(shared(name), separator=";", infer_schema=False)
    return celosia.read(data, celosia.Schema.of(quasi=list(ADULT), hierarchies=files))


@pytest.mark.parametrize(
    ("file", "granularity"), [("adult9_k5_s0.05_loss", 0.73037), ("adult9_k5_local_fast001", 0.94092)]
)
def test_granularity_of_arx_outputs(shared, file, granularity):
    original, safe = read_adult(shared), read_adult(shared, f"golden/arx/{file}.out.csv.gz")
    assert DomainLoss(aggregate="arithmetic").value(original, safe) == pytest.approx(1 - granularity, abs=5e-6)


SCORES = {
    "adult9_k5_s0.05_loss": DomainLoss(),
    "adult9_k5_s0.05_loss_arith": DomainLoss(aggregate="arithmetic"),
    "adult9_k5_s0.05_loss_sum": DomainLoss(aggregate="sum"),
    "adult9_k5_s1.0_loss_max": DomainLoss(aggregate="max"),
    "adult9_k5_s1.0_loss_gs0.25": DomainLoss(gs=0.25),
    "adult9_k5_s0.05_precision": Precision(),
    "adult9_k5_s0.05_aecs": AverageClassSize(),
    "adult9_k5_s0.05_ambiguity": Ambiguity(),
    "adult9_k5_s1.0_dm": Discernibility(),
    "adult9_k5_s0.05_height": Height(suppressed=False),
    "adult9_k5_s0.0_nue": NonUniformEntropy(normalised=False),
}


@pytest.mark.parametrize("name", SCORES)
def test_scores_of_arx(shared, name):
    scenarios = {s["name"]: s for s in json.loads(shared("golden/arx/scenarios.json").read_text(encoding="utf-8"))}
    scenario = scenarios[name]
    original = read_adult(shared)
    safe = at_levels(original, scenario["levels"], k=5)
    assert safe.suppressed() == scenario["suppressed"]
    # ARX rounds each column to ten digits on the way
    assert SCORES[name].value(original, safe) == pytest.approx(float(scenario["score"]), rel=1e-8)


def test_sum_of_normalised_entropies_of_arx(shared):
    scenarios = {s["name"]: s for s in json.loads(shared("golden/arx/scenarios.json").read_text(encoding="utf-8"))}
    scenario = scenarios["adult9_k5_s0.0_norm_entropy"]
    original = read_adult(shared)
    parts = NonUniformEntropy().parts(original, at_levels(original, scenario["levels"], k=5))
    assert sum(parts.values()) == pytest.approx(float(scenario["score"]), rel=1e-10)


def test_ranked_columns_of_arx(shared):
    scenarios = {s["name"]: s for s in json.loads(shared("golden/arx/scenarios.json").read_text(encoding="utf-8"))}
    scenario = scenarios["adult9_k5_s0.05_loss_rank"]
    original = read_adult(shared)
    parts = DomainLoss(aggregate="rank").parts(original, at_levels(original, scenario["levels"], k=5))
    assert sorted(parts.values(), reverse=True) == pytest.approx(json.loads(scenario["score"]), abs=1e-9)


# -- extremes --------------------------------------------------------------------------------------------------------------


def test_discernibility_of_ten_million_records_in_one_class():
    data = pl.DataFrame({"q": pl.zeros(10_000_000, pl.Int8, eager=True)})
    big = celosia.read(data, celosia.Schema.of(quasi=["q"]))
    assert Discernibility().value(big, big) == 1e14  # ARX's 32-bit product breaks above 46 340 records


@pytest.mark.parametrize("loss", ALL, ids=str)
def test_unchanged_and_empty_tables(loss):
    original = table({"a": [1.5, 2.0, None, 2.0], "b": ["x", "y", "y", None]}, ["a", "b"])
    assert loss.value(original, original) == pytest.approx(loss.identity_value(original), abs=1e-12)
    empty = table({"a": [], "b": []}, ["a", "b"])
    assert np.isfinite(loss.value(empty, empty))
    nothing = at_levels(original, {}, k=3)
    assert nothing.suppressed() == 4
    if loss.bounded:
        assert 0 <= loss.value(original, nothing) <= 1
    assert build("loss", str(loss)) == loss


@pytest.mark.parametrize(
    "loss", [DomainLoss(), Precision(), NonUniformEntropy(), CertaintyPenalty(), Suppression()], ids=str
)
def test_everything_suppressed_is_one(loss):
    original = table({"a": ["1", "2", "3"], "b": ["x", "y", "z"]}, ["a", "b"])
    safe = suppress_records(original, np.ones(3, dtype=bool))
    assert loss.value(original, safe) == pytest.approx(1)


def test_a_dropped_column_has_no_cells():
    original = table({"a": [1], "b": [2]}, ["a", "b"])
    with pytest.raises(NotApplicable, match="no column 'b'"):
        Precision().value(original, original.drop(["b"]))


def test_gs_moves_the_weight():
    original = table({"age": [0, 0, 1, 3]}, ["age"], hierarchies=PAIRS)
    suppressed, coarse = at_levels(original, {"age": 0}, k=2), at_levels(original, {"age": 1})
    assert DomainLoss(gs=0).value(original, suppressed) == 0
    assert DomainLoss(gs=1).value(original, coarse) == 0
    assert DomainLoss(gs=0.25).value(original, suppressed) < DomainLoss().value(original, suppressed)
    with pytest.raises(ParameterError):
        DomainLoss(gs=2)


# -- what the search computes is what the table shows ------------------------------------------------------------------------


def search_score(loss, original, levels, kept_classes, target=None):
    """The score of a node from the objective's data, computed step by step."""
    names = original.schema.quasi
    maps, counts = [], []
    for name in names:
        whole = original.schema.hierarchy(name).levels(original.schema.hierarchy(name).levels([]).domain)
        frame = original.column(name).cast(pl.String).value_counts()
        by_value = dict(zip(frame[name], frame["count"], strict=True))
        counts.append(np.array([by_value.get(v, 0) for v in whole.domain]))
        maps.append(
            tuple(
                np.unique(whole.codes(level), return_inverse=True)[1].astype(np.int32)
                for level in range(whole.height + 1)
            )
        )
    domain = LevelMaps(tuple(names), tuple(maps), tuple(counts))
    codes = []
    for j, name in enumerate(names):
        place = {v: i for i, v in enumerate(original.schema.hierarchy(name).levels([]).domain)}
        codes.append(maps[j][levels[j]][[place[v] for v in original.column(name).cast(pl.String)]])
    matrix = np.column_stack(codes)
    unique, owner = np.unique(matrix, axis=0, return_inverse=True)
    owner = owner.ravel()
    size = np.bincount(owner)
    kept = size >= kept_classes
    objective = loss.objective(domain)
    if isinstance(objective, ClassObjective):
        values = {}
        if target is not None:
            _, value = np.unique(original.column(target), return_inverse=True)
            full = np.zeros((len(size), value.max() + 1), np.int64)
            np.add.at(full, (owner, value), 1)
            values = {target: ValueCounts.of(full)}
        classes = ClassCounts(size=size, values=values, codes=unique.astype(np.int32), levels=tuple(levels))
        score = objective.score(classes, kept)
        if objective.floor is not None:
            assert objective.floor(classes) <= score + 1e-9
        return score
    lost = matrix[~kept[owner]]
    sums = []
    for j, level in enumerate(levels):
        c = np.bincount(lost[:, j], minlength=domain.width(j, level))
        x = objective.base[j][level]
        if objective.extra is not None:
            x += c @ objective.extra[j][level]
        sums.append(x)
    return float(objective.value(np.array(sums))[0])


TREE = {"A": ["p", "q"], "B": ["r", "s", "t"]}
NUMBERS = [[str(i), f"{i // 3 * 3}-{i // 3 * 3 + 2}", "*"] for i in range(9)]
OBJECTIVES = (
    *(DomainLoss(gs=0.2), DomainLoss(gs=0.8)),
    *(DomainLoss(), DomainLoss(aggregate="max"), DomainLoss(aggregate="sum", weights={"n": 2}), Precision(), Height()),
    *(
        Height(suppressed=False),
        Suppression(),
        AverageClassSize(),
        Ambiguity(),
        KullbackLeibler(),
        MajorityLoss(target="y"),
    ),
    *(Discernibility(), NonUniformEntropy(), NonUniformEntropy(normalised=False)),
)


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("pqrst"), st.integers(0, 8), st.sampled_from("uvw")), min_size=1, max_size=25),
    st.tuples(st.integers(0, 2), st.integers(0, 2)),
    st.integers(1, 4),
)
def test_the_search_scores_what_the_table_loses(rows, levels, k):
    data = pl.DataFrame(rows, schema=["c", "n", "y"], orient="row").with_columns(pl.col("n").cast(pl.String))
    original = table(data, ["c", "n"], ["y"], hierarchies={"c": TREE, "n": NUMBERS})
    assume(len(rows) >= k)
    safe = at_levels(original, {"c": levels[0], "n": levels[1]}, k=k)
    if safe.suppressed() == len(data) or levels == (2, 2):
        return  # every cell is a star: the table no longer tells suppressed records from generalised ones
    for loss in OBJECTIVES:
        score = search_score(loss, original, levels, k, target="y")
        if isinstance(loss, KullbackLeibler):  # the search leaves out the entropy of the original, the same everywhere
            score -= loss.parts(original, original)["entropy"]
        assert loss.value(original, safe) == pytest.approx(score, abs=1e-8), loss


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("pqrst"), st.integers(0, 8)), min_size=1, max_size=20))
def test_coarser_is_never_better(rows):
    data = pl.DataFrame(rows, schema=["c", "n"], orient="row").with_columns(pl.col("n").cast(pl.String))
    original = table(data, ["c", "n"], hierarchies={"c": TREE, "n": NUMBERS})
    coarse = [at_levels(original, {"c": level, "n": level}) for level in (0, 1)]
    for loss in (
        DomainLoss(),
        Precision(),
        Height(),
        CertaintyPenalty(),
        NonUniformEntropy(),
        Ambiguity(),
        KullbackLeibler(),
    ):
        values = [loss.value(original, safe) for safe in coarse]
        assert values[0] <= values[1] + 1e-9, loss
