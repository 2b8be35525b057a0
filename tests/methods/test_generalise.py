"""Generalise on a table: levels, suppression, limits, targets, persons, missing values, and what cannot be done."""

from __future__ import annotations

import gc
import itertools
import json
import sys
import weakref
import xml.etree.ElementTree as ET

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import DataError, ParameterError, RequirementError, UnknownName
from celosia.methods.generalisation.generalise import Generalise
from celosia.models.k_anonymity import KAnonymity
from celosia.search.lattice.diagram import lattice_svg
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.explanation import minimal_safe_nodes, suppression_curve
from celosia.table.edit import map_values
from celosia.table.suppression import suppress_records

HIERARCHIES = {
    "city": [["A", "north", "*"], ["B", "north", "*"], ["C", "south", "*"], ["D", "south", "*"]],
    "sex": [["f", "*"], ["m", "*"]],
}


def people(**columns):
    data = {
        "city": ["A", "A", "B", "B", "C", "C", "D", "D"],
        "sex": ["f", "m", "f", "m", "f", "m", "f", "m"],
        "ill": ["x", "y", "x", "y", "x", "x", "x", "x"],
    }
    return pl.DataFrame({**data, **columns})


def table(frame=None, **facts):
    frame = people() if frame is None else frame
    schema = celosia.Schema.of(quasi=["city", "sex"], sensitive=["ill"], hierarchies=HIERARCHIES, **facts)
    return celosia.read(frame, schema)


def generalised(source=None, **parameters):
    parameters.setdefault("require", ["k-anonymity(k=2)"])
    return celosia.protect(table() if source is None else source, Generalise(**parameters), seed=1)


def test_by_hand():
    # k = 2 asks for level 1 of city or of sex; city covers 2 of 4 values: (2/4 - 1/4) / (1 - 1/4) = 1/3, sex all of 2: 1;
    # geometric: sqrt(4/3 * 1) - 1 = 0.1547 against sqrt(2) - 1
    safe = generalised(objective="domain-loss")
    done = safe.history[-1]
    assert done["levels"] == {"city": 1, "sex": 0}
    assert done["score"] == pytest.approx((4 / 3) ** 0.5 - 1)
    assert done["costs"]["city"] == pytest.approx(1 / 3)
    assert (done["suppressed"], done["optimal"], done["classes"], done["lattice"]) == (0, True, 4, 6)
    assert safe.polars()["city"].to_list() == ["north"] * 4 + ["south"] * 4
    assert safe.polars()["sex"].to_list() == people()["sex"].to_list()
    assert KAnonymity(k=2).holds(safe)


def test_every_column_keeps_something_unless_told_otherwise():
    # Each value occurs twice, with partners in both halves of the other column. Classes of two need one column starred
    # (losses 0 and 1) or both halved: (4/8 - 1/8) / (1 - 1/8) = 3/7 each. geometric: sqrt(2) - 1 = 0.414 < 3/7 = 0.429;
    # balanced: 1.3 - sqrt(1.3 * 0.3) = 0.675 > 3/7
    rows = [[value, "a-d" if value in "abcd" else "e-h", "*"] for value in "abcdefgh"]
    source = celosia.read(
        pl.DataFrame({"a": [*"abcdefgh"] * 2, "b": [*"abcdefgh", *"efghabcd"]}),
        celosia.Schema.of(quasi=["a", "b"], hierarchies={"a": rows, "b": rows}),
    )
    done = generalised(source).history[-1]
    assert done["levels"] == {"a": 1, "b": 1}
    assert done["score"] == pytest.approx(3 / 7)
    geometric = generalised(source, objective="domain-loss").history[-1]
    assert sorted(geometric["levels"].values()) == [0, 2]
    assert geometric["score"] == pytest.approx(2**0.5 - 1)


def test_a_weight_of_the_default_objective_is_a_share_of_the_whole():
    # by weights 3 and 1: 1.3 - (1.3 - 1/3)^(3/4) * (1.3 - 0)^(1/4)
    done = generalised(weights={"city": 3.0}).history[-1]
    assert done["levels"] == {"city": 1, "sex": 0}
    assert done["score"] == pytest.approx(1.3 - (1.3 - 1 / 3) ** 0.75 * 1.3**0.25)


def test_suppression_up_to_the_limit():
    frame = people().vstack(pl.DataFrame({"city": ["A"], "sex": ["f"], "ill": ["x"]}))
    frame = frame.vstack(frame.head(8))  # every combination twice, one of them a third time
    lonely = frame.vstack(pl.DataFrame({"city": ["C"] * 1, "sex": ["f"] * 1, "ill": ["z"]})).with_columns(
        pl.when(pl.int_range(pl.len()) == 17).then(pl.lit("D")).otherwise(pl.col("city")).alias("city")
    )
    kept = generalised(table(lonely), require=["k-anonymity(k=3)"], suppress=1.0, objective="suppression")
    assert kept.history[-1]["suppressed"] == 0  # nothing need be suppressed at coarser levels
    some = generalised(table(frame), require=["k-anonymity(k=3)"], suppress=1.0, levels={"city": 0, "sex": 0})
    assert some.history[-1]["suppressed"] == 14
    assert some.suppressed() == 14
    assert some.polars()["city"].to_list().count("*") == 14
    dropped = generalised(
        table(frame), require=["k-anonymity(k=3)"], suppress=1.0, levels={"city": 0, "sex": 0}, drop=True
    )
    assert len(dropped) == 3
    blanked = generalised(
        table(frame), require=["k-anonymity(k=3)"], suppress=1.0, levels={"city": 0, "sex": 0}, blank=True
    )
    assert blanked.polars()["ill"].null_count() == 14
    with pytest.raises(RequirementError):
        generalised(table(frame), require=["k-anonymity(k=3)"], suppress=0.5, levels={"city": 0, "sex": 0})


def test_levels_can_be_fixed_and_limited():
    assert generalised(levels={"city": 2}).history[-1]["levels"]["city"] == 2
    assert generalised(levels={"city": [0, 0]}).history[-1]["levels"] == {"city": 0, "sex": 1}
    with pytest.raises(ParameterError, match="has the levels 0 to 2"):
        generalised(levels={"city": 7})
    with pytest.raises(UnknownName, match="cty"):
        generalised(levels={"cty": 1})


def test_weights_and_costs_steer_the_choice():
    assert generalised(weights={"city": 20.0}).history[-1]["levels"] == {"city": 0, "sex": 1}
    assert generalised(costs={"city": [0, 5, 6], "sex": [0, 1]}).history[-1]["levels"] == {"city": 0, "sex": 1}
    # costs that fall with the level are searched as well
    odd = generalised(costs={"city": [9, 5, 0], "sex": [0, 1]}).history[-1]
    assert (odd["levels"], odd["optimal"]) == ({"city": 2, "sex": 0}, True)
    with pytest.raises(ParameterError, match="levels 0 to 2"):
        generalised(costs={"city": [1, 2]})
    with pytest.raises(ParameterError, match="not both"):
        generalised(costs={"city": [0, 1, 2]}, objective="precision")
    with pytest.raises(ParameterError, match="adds up over columns"):
        generalised(weights={"city": 2.0}, objective="average-class-size")
    with pytest.raises(ParameterError, match="cannot be the objective"):
        generalised(objective="altered-records")


def test_targets_of_records():
    assert generalised(require=["k-anonymity(k=1)"], target=[1] * 8).history[-1]["levels"] == {"city": 0, "sex": 0}
    asked = generalised(require=["k-anonymity(k=1)"], target=[4, *[1] * 7])
    assert asked.history[-1]["levels"] != {"city": 0, "sex": 0}
    sizes = asked.polars().group_by("city", "sex").len()["len"]
    assert sizes.max() >= 4
    column = people(setting=[3, *[None] * 7])
    assert generalised(table(column), require=["k-anonymity(k=1)"], target="setting").history[-1]["classes"] < 8
    with pytest.raises(RequirementError, match="targets"):
        generalised(require=["k-anonymity(k=1)"], target=[9] * 8)


def test_persons_are_counted_not_rows():
    frame = people(who=[1, 1, 1, 1, 2, 3, 4, 5])  # the north is one person
    with pytest.raises(RequirementError):
        generalised(table(frame, person="who"), levels={"city": [0, 1]})
    safe = generalised(table(frame, person="who"))
    assert KAnonymity(k=2).holds(safe)
    assert safe.history[-1]["levels"]["city"] == 2


def test_missing_values_are_a_value_of_their_own_until_the_top():
    frame = people(city=["A", "A", None, None, "C", "C", "D", "D"])
    safe = generalised(table(frame), levels={"sex": 1})
    assert safe.history[-1]["levels"]["city"] == 0
    assert safe.polars()["city"].null_count() == 2
    top = generalised(table(frame), levels={"city": 2})
    assert set(top.polars()["city"].to_list()) == {"*"}


def test_a_column_without_hierarchy_is_kept_or_starred():
    schema = celosia.Schema.of(quasi=["city", "sex"])
    safe = generalised(celosia.read(people(), schema))
    assert safe.history[-1]["heights"] == {"city": 1, "sex": 1}
    assert "*" in safe.polars()["city"].to_list() or "*" in safe.polars()["sex"].to_list()
    assert KAnonymity(k=2).holds(safe)


def test_population_requirements():
    crowd = pl.concat([people().select("city", "sex")] * 3)
    safe = generalised(require=[celosia.models.KMap(k=3, population=crowd)])
    assert safe.history[-1]["levels"] == {"city": 0, "sex": 0}
    more = generalised(require=[celosia.models.KMap(k=6, population=crowd)])
    assert more.history[-1]["levels"] == {"city": 1, "sex": 0}
    near = generalised(require=[celosia.models.DeltaPresence(highest=0.4, population=crowd)])
    assert near.history[-1]["levels"] == {"city": 0, "sex": 0}
    other = pl.concat([crowd, crowd])
    with pytest.raises(ParameterError, match="one population"):
        generalised(require=[celosia.models.KMap(k=3, population=crowd), celosia.models.KMap(k=3, population=other)])


def test_a_file_requirement_and_a_class_requirement_together():
    safe = generalised(require=["average-risk(risk=0.3)", "l-diversity(l=2, column=ill)"], suppress=1.0)
    assert celosia.models.AverageRisk(risk=0.3).holds(safe)
    assert celosia.models.LDiversity(l=2, column="ill").holds(safe)


def test_majority_loss_counts_its_target():
    safe = generalised(objective="majority-loss(target=ill)")
    assert safe.history[-1]["optimal"]
    assert generalised(objective="majority-loss()").history[-1]["score"] == safe.history[-1]["score"]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("mean", [31.0, 31.0, 45.0, 45.0]),
        ("geometric-mean", None),
        ("median", [31.0, 31.0, 45.0, 45.0]),
        ("mode", [30, 30, 40, 40]),
        ("interval", ["[30-40)", "[30-40)", "[40-52)", "[40-52)"]),
        ("set", ["{30, 32}", "{30, 32}", "{40, 50}", "{40, 50}"]),
    ],
)
def test_a_column_can_be_aggregated_within_classes(how, expected):
    frame = pl.DataFrame({"city": ["A", "A", "C", "C"], "age": [30, 32, 40, 50]})
    source = celosia.read(frame, celosia.Schema.of(quasi=["city", "age"], hierarchies={"city": HIERARCHIES["city"]}))
    safe = generalised(source, aggregate={"age": how}, objective="domain-loss")
    assert safe.history[-1]["levels"]["city"] == 0
    if how == "geometric-mean":
        # sqrt(31 * 33) - 1 and sqrt(41 * 51) - 1
        assert safe.polars()["age"].to_list()[::2] == pytest.approx([(31 * 33) ** 0.5 - 1, (41 * 51) ** 0.5 - 1])
    else:
        assert safe.polars()["age"].to_list() == expected
    # two of four values in each class: the column loses one half; sqrt(1.5) - 1
    assert safe.history[-1]["score"] == pytest.approx(1.5**0.5 - 1)
    assert KAnonymity(k=2).holds(safe)


def test_aggregates_need_fitting_columns():
    with pytest.raises(DataError, match="not numeric"):
        generalised(aggregate={"sex": "mean"})
    with pytest.raises(UnknownName, match="agee"):
        generalised(aggregate={"agee": "mean"})
    assert set(generalised(aggregate={"sex": "set"}).polars()["sex"].to_list()) == {"{f, m}"}


def test_impossible_requirements_name_the_nearest_value():
    with pytest.raises(RequirementError, match=r"k at least 9 cannot be met, the nearest reachable value is 8"):
        generalised(require=["k-anonymity(k=9)"])
    with pytest.raises(RequirementError, match=r"k at least 9 cannot be met"):
        generalised(require=["k-anonymity(k=9)"], suppress=1.0)
    with pytest.raises(RequirementError, match=r"l at least 3 cannot be met, the nearest reachable value is 2"):
        generalised(require=["l-diversity(l=3)"])
    topless = {"city": [row[:2] for row in HIERARCHIES["city"]], "sex": [["f"], ["m"]]}
    source = celosia.read(people(), celosia.Schema.of(quasi=["city", "sex"], hierarchies=topless))
    with pytest.raises(RequirementError, match=r"k at least 3 cannot be met, the nearest reachable value is 2"):
        generalised(source, require=["k-anonymity(k=3)"])


def test_the_message_says_how_much_suppression_would_help():
    frame = people().head(7)
    with pytest.raises(RequirementError, match=r"suppress ≥ 0\.1429"):
        generalised(table(frame), levels={"city": [0, 1], "sex": 0})


def test_budget_in_nodes_is_honest_and_repeatable():
    first = generalised(budget_nodes=1, suppress=1.0).history[-1]
    assert not first["optimal"]
    assert first["checked"] == 1
    assert first["bound"] <= first["score"]
    assert generalised(budget_nodes=1, suppress=1.0).history[-1] == first


def test_suppressed_records_of_an_earlier_step_stay_suppressed():
    start = table(people(city=["A", "A", "B", "B", "C", "C", "D", "D"]))
    masked = suppress_records(start, np.array([True, *[False] * 7]))
    safe = generalised(masked)
    assert safe.polars()["city"].to_list()[0] == "*"
    assert safe.suppressed() >= 1
    assert KAnonymity(k=2).holds(safe)


def test_engines_agree(engine):
    one = celosia.read(people(), table().schema, engine=engine)
    assert generalised(one).polars()["city"].to_list() == ["north"] * 4 + ["south"] * 4


def test_the_input_is_not_changed_and_the_record_can_be_written():
    source = table()
    before = source.polars().clone()
    safe = generalised(source)
    assert source.polars().equals(before)
    secret = safe.private_history[-1]
    json.dumps({"labels": secret["transformation"], "lattice": secret["lattice"]})
    assert secret["transformation"]["labels"]["city"]["A"] == "north"
    assert secret["transformation"]["labels"]["sex"] == {"f": "f", "m": "m"}  # a new category has no place


def test_lattice_can_be_explained_and_drawn():
    lattice = generalised(suppress=0.5).private_history[-1]["lattice"]
    assert lattice["best"] in [node[0] for node in lattice["nodes"]]
    assert minimal_safe_nodes(lattice)
    curve = suppression_curve(lattice)
    assert curve == sorted(curve)
    assert all(later[1] < earlier[1] for earlier, later in itertools.pairwise(curve))
    picture = lattice_svg(lattice)
    assert picture.startswith("<svg")
    assert picture.endswith("</svg>")
    assert "north" not in picture  # columns and levels only
    assert ET.fromstring(picture) is not None


def test_a_large_lattice_is_drawn_in_part():
    nodes = [[[i % 40, i // 40], i, 1, float(i), i > 100] for i in range(1000)]
    lattice = {"columns": ["a", "b"], "lower": [0, 0], "upper": [39, 24], "size": 1000, "optimal": True, "nodes": nodes}
    picture = lattice_svg({**lattice, "best": [21, 2]})
    assert picture.count("<g>") == 400


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("fm")), min_size=3, max_size=30),
    st.integers(1, 3),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_what_comes_out_meets_the_requirement(rows, k, share):
    frame = pl.DataFrame({"city": [r[0] for r in rows], "sex": [r[1] for r in rows], "ill": ["x"] * len(rows)})
    safe = generalised(table(frame), require=[KAnonymity(k=k)], suppress=share)
    assert KAnonymity(k=k).holds(safe)
    done = safe.history[-1]
    assert done["suppressed"] <= share * len(rows)
    assert safe.suppressed() == done["suppressed"]
    if done["suppressed"] == 0:
        loss = celosia.loss.DomainLoss(aggregate="balanced").value(table(frame), safe)
        assert loss == pytest.approx(done["score"], abs=1e-9)


def test_a_search_that_stops_early_says_how_good_it_is_and_what_would_help():
    values = [str(i) for i in range(64)]
    rows = [[v, *(f"{int(v) >> s}/{s}" for s in range(1, 6)), "*"] for v in values]
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.choice(values, 60) for name in "abcdefghijkl"})
    schema = celosia.Schema.of(quasi=list(frame.columns), hierarchies=dict.fromkeys(frame.columns, rows))
    table = celosia.read(frame, schema)
    safe = celosia.protect(table, Generalise(require=["k-anonymity(k=2)"], budget_nodes=40), seed=1)
    known = safe.history[-1]["search"]
    assert (known["complete"], known["nodes"]) == (False, 7**12)
    assert known["judged"] == safe.history[-1]["checked"] <= 40
    assert known["gap"] == pytest.approx(known["score"] - known["bound"])
    assert known["advice"] == ["columns", "hierarchies", "suppression", "time"]
    told = next(block.title for block in safe.blocks() if "stopped" in block.title)
    assert f"{7**12:,}" in told
    assert "fewer quasi-identifiers" in told
    again = celosia.protect(table, Generalise(require=["k-anonymity(k=2)"], budget_nodes=40), seed=1)
    assert again.history == safe.history
    narrow = celosia.read(frame.select("a"), celosia.Schema.of(quasi=["a"], hierarchies={"a": rows}))
    done = celosia.protect(narrow, Generalise(require=["k-anonymity(k=2)"]))
    assert done.history[-1]["search"]["complete"]
    assert not any("stopped" in block.title for block in done.blocks())


def test_what_the_search_counted_is_gone_when_a_large_table_is_changed(tmp_path, monkeypatch):
    """It may be most of what is in memory, and the change needs memory of its own."""
    monkeypatch.setattr(sys.modules["celosia.data.engines.engine"], "RESIDENT", 1)
    pl.DataFrame({"age": [20, 21, 22, 35, 36, 60]}).write_parquet(tmp_path / "people.parquet")
    schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=10)"})
    started, living = NodeEvaluator.__init__, []

    def noted(self, *given):
        living.append(weakref.ref(self))
        started(self, *given)

    def changed(table, *given):
        gc.collect()
        assert living
        assert all(evaluator() is None for evaluator in living)
        return map_values(table, *given)

    monkeypatch.setattr(NodeEvaluator, "__init__", noted)
    monkeypatch.setattr(sys.modules["celosia.methods.generalisation.generalise"], "map_values", changed)
    table = celosia.read(tmp_path / "people.parquet", schema)
    done = celosia.protect(table, "generalise(require=k-anonymity(k=2), suppress=0.2)", seed=1)
    assert done.suppressed() == 1
