"""Rules of protection: worked example, independent second way, properties, and the honest degeneration."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.consent.protection.measures import losses, re_identification, singletons
from celosia.consent.protection.protection import Design, _partners, honour
from celosia.consent.protection.tree import Tree, count
from celosia.errors import ParameterError, RequirementError
from celosia.parts import build
from celosia.streams import Stream
from celosia.table.columns import declared_persons
from celosia.table.derive import with_record_ids
from celosia_reproduce.consent.worked import LEAVES as PLACES

TREE = ("province", "canton", "district")


def table_of(rows, extra_columns=None, **roles):
    frame = pl.DataFrame(rows, schema=list(TREE), orient="row").with_columns(**(extra_columns or {}))
    return with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=list(TREE), **roles)))


def figure_5_1():
    """Leaves with 5, 2, 3, 2, 1, 3 (one private), 2 (one private) rows; k = 2, X = 1."""
    rows = [(p, c, d) for p, c, d, n, _ in PLACES for _ in range(n)]
    extra = np.array([1 if i < b else 0 for *_, n, b in PLACES for i in range(n)])
    return table_of(rows), extra


def test_figure_5_1():
    table, extra = figure_5_1()
    made = honour(table, extra, Design(k=2, rule="class", tree=TREE), Stream(1))
    shown = made.table.polars().group_by(list(TREE)).len().sort(TREE)
    assert shown.rows() == [
        ("Guanacaste", "Liberia", "Mayorga", 3),
        ("Guanacaste", "Liberia", "Nacascolo", 2),
        ("Guanacaste", "Nicoya", "Nicoya", 5),
        ("Heredia", "Barva", "*", 5),
        ("Heredia", "Flores", "*", 3),
    ]
    assert made.holds
    assert made.evidence["classes"] == 5
    # 8 of 18 rows were changed: Flores 3, Barva 5
    assert losses(table, made, extra > 0, TREE)["all"]["altered"] == pytest.approx(8 / 18)


def test_figure_5_1_coarser():
    """Both blocking rows of Barva need three; the others of both districts would be the whole of Barva anyway."""
    table, extra = figure_5_1()
    made = honour(table, extra, Design(k=2, rule="coarser", tree=TREE), Stream(1))
    shown = made.table.polars().filter(pl.col("province") == "Heredia").group_by("canton", "district").len().rows()
    # standard(2) keeps San Pablo (3) and San Roque (2); without the blocking rows San Roque has one
    assert sorted(shown) == [("Barva", "*", 5), ("Flores", "*", 3)]
    assert made.holds


def test_those_who_stay_behind_join_their_neighbours():
    """k = 3, X = 4. a: 5 rows, 3 of them blocked, b: 4, c: 9, elsewhere d: 12. a's blocking rows need 7 and climb to
    the canton; two rows are too few for a, so they join b, the cheaper neighbour. At the canton are 3 rows, and 7 are
    asked for: they climb to the province, where nobody else is, and are suppressed."""
    rows = [("p", "c", name) for name, n in (("a", 5), ("b", 4), ("c", 9)) for _ in range(n)] + [("q", "e", "d")] * 12
    extra = np.array([4, 4, 4] + [0] * 27)
    made = honour(table_of(rows), extra, Design(k=3, rule="coarser", tree=TREE), Stream(1))
    shown = made.table.polars()["district"].to_list()
    assert shown == ["*"] * 3 + ["{a, b}"] * 6 + ["c"] * 9 + ["d"] * 12
    assert made.table.polars()["canton"].to_list() == ["*"] * 3 + ["c"] * 15 + ["e"] * 12
    assert made.evidence["suppressed"] == 3
    assert made.evidence["joined"] == 6
    assert made.holds
    # {a, b} covers two of four leaves
    assert losses(table_of(rows), made, extra > 0, TREE)["others"]["gcp"] == pytest.approx(6 / 27 * 0.5)


def _covers(cell, value):
    return cell in ("*", value) or (cell.startswith("{") and value in cell[1:-1].split(", "))


@st.composite
def tables(draw):
    n = draw(st.integers(8, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p, c, d = rng.integers(0, 2, n), rng.integers(0, 3, n), rng.integers(0, 3, n)
    rows = [(f"p{a}", f"c{a}{b}", f"d{a}{b}{e}") for a, b, e in zip(p, c, d, strict=True)]
    extra = np.where(rng.random(n) < draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])), draw(st.integers(1, 3)), 0)
    return table_of(rows), extra


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(2, 4))
def test_finer_places_by_a_second_implementation(made, k):
    table, extra = made
    got = honour(table, extra, Design(k=k, rule="coarser", tree=TREE), Stream(1))
    tree, level = got.tree, got.level
    node = tree.nodes[:, tree.leaf]
    for i, found in enumerate(tree.has_finer(level)):
        assert found == any(level[j] < level[i] and node[level[i], j] == node[level[i], i] for j in range(len(level)))


@settings(max_examples=40, deadline=None)
@given(
    tables(), st.integers(2, 4), st.sampled_from(["class", "coarser", "standard", "exchange"]), st.sampled_from(TREE)
)
def test_blank_places_leave_classes_of_k_and_x(made, k, rule, column):
    """Counted in the published cells: blank places are classes of their own, and leave smaller ones behind."""
    table, extra = made
    design = Design(k=k, rule=rule, tree=TREE, camouflage=0.7, strengthen=("suppress",))
    try:
        got = honour(table, extra, design, Stream(1), {column: extra > 0})
    except RequirementError:  # more than half of the blank cells would be those of blocking owners
        return
    shown = got.table.polars().with_columns(need=pl.Series(k + extra), gone=pl.Series(got.table.counts.suppressed_mask))
    classes = shown.filter(~pl.col("gone")).group_by(TREE).agg(n=pl.len(), need=pl.col("need").max())
    assert got.holds == (classes["n"] >= classes["need"]).all()
    assert got.holds or not (extra > 0).any()
    assert (shown.filter(pl.Series(extra > 0))[column] == "*").all()


def test_classes_are_counted_over_all_quasi_identifiers():
    """Sex is outside the tree: 20 rows show each place, 10 of them each sex; k + X = 15."""
    rows = [("p", "c", f"d{i % 2}") for i in range(40)]
    frame = pl.DataFrame(rows, schema=list(TREE), orient="row").with_columns(sex=pl.Series(["f", "f", "m", "m"] * 10))
    extra = np.array([5] + [0] * 39)
    for quasi, smallest in ((TREE, 20), ((*TREE, "sex"), 10)):
        table = with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=list(quasi))))
        made = honour(table, extra, Design(k=10, rule="class", tree=TREE), Stream(1))
        assert made.evidence["smallest class"] == smallest
        assert made.holds == (smallest >= 15)


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(2, 4))
def test_properties_of_the_rules(made, k):
    table, extra = made
    design = Design(k=k, rule="class", tree=TREE)
    standard = honour(table, extra, Design(k=k, rule="standard", tree=TREE), Stream(1))
    nobody = honour(table, np.zeros_like(extra), design, Stream(1))
    assert nobody.table.polars().equals(standard.table.polars()), "no block: standard(k)"
    everybody = honour(table, np.full_like(extra, 2), design, Stream(1))
    control = honour(table, np.full_like(extra, 2), Design(k=k, rule="control", tree=TREE), Stream(1))
    assert everybody.table.polars().equals(control.table.polars()), "all block: standard(k + X)"
    for rule in ("class", "coarser", "exchange"):
        got = honour(table, extra, Design(k=k, rule=rule, tree=TREE), Stream(1))
        assert got.holds == (got.evidence["short"] == 0), rule
        assert got.holds or rule in ("standard", "exchange"), rule
        if rule == "coarser":
            assert (got.level >= standard.level).all(), "nobody shows more than under standard(k)"
        if rule != "exchange":
            before = table.polars()
            for name in TREE:
                assert all(map(_covers, got.table.polars()[name], before[name])), "every cell is true"


@settings(max_examples=60, deadline=None)
@given(tables(), st.integers(2, 4), st.sampled_from([0.0, 0.3]), st.booleans())
def test_equal_places_are_as_many_as_each_asks_for(made, k, camouflage, persons):
    """Counted in the published cells alone: k for everybody, k + X for who blocks."""
    table, extra = made
    if persons:
        owner = pl.Series("owner", [f"o{i // 2}" for i in range(len(table))])
        table = table_of(table.polars().select(TREE).rows(), {"owner": owner}, person="owner")
        extra = np.maximum(extra, np.roll(extra, 1))
    got = honour(table, extra, Design(k=k, rule="coarser", tree=TREE, camouflage=camouflage), Stream(1))
    counted = pl.col("owner").n_unique() if persons else pl.len()
    shown = got.table.polars().with_columns(need=pl.Series(k + extra), gone=pl.Series(got.table.counts.suppressed_mask))
    classes = shown.filter(~pl.col("gone")).group_by(TREE).agg(n=counted, need=pl.col("need").max())
    assert (classes["n"] >= classes["need"]).all()
    assert got.holds


def test_an_exchange_keeps_the_counts_and_hides_who_asked():
    table, extra = _big()
    made = honour(table, extra, Design(k=20, rule="exchange", tree=TREE), Stream(3))
    standard = honour(table, extra, Design(k=20, rule="standard", tree=TREE), Stream(3))

    def count(t):
        return t.table.polars().group_by(list(TREE)).len().sort(TREE)

    assert count(made).equals(count(standard))
    assert made.evidence["untrue rows"] > 0
    again = honour(table, extra, Design(k=20, rule="exchange", tree=TREE), Stream(3))
    assert again.table.polars().equals(made.table.polars())
    other = honour(table, extra, Design(k=20, rule="exchange", tree=TREE), Stream(4))
    assert not other.table.polars().equals(made.table.polars())


def test_a_single_blocking_owner_exchanges_with_others():
    table, _ = _big()
    extra = np.zeros(len(table), np.int64)
    extra[0] = 10
    made = honour(table, extra, Design(k=20, rule="exchange", tree=TREE), Stream(3))
    assert made.evidence["exchanged"] == 5


def _big(n=4000, share=0.26, seed=1):
    rng = np.random.default_rng(seed)
    p, c = rng.integers(0, 3, n), rng.integers(0, 4, n)
    d = np.minimum(rng.geometric(0.35, n), 8)
    rows = [(f"p{a}", f"c{a}{b}", f"d{a}{b}{e}") for a, b, e in zip(p, c, d, strict=True)]
    extra = np.where(rng.random(n) < share, 10, 0)
    school = pl.Series([f"s{a}{b}{rng.integers(0, 3)}" for a, b in zip(p, c, strict=True)])
    return table_of(rows, {"school": school, "score": pl.Series(rng.integers(0, 5, n))}, sensitive=["score"]), extra


def test_the_degeneration_of_the_class_rule():
    """With a quarter of blocking rows every class has one: the rule is standard(k + X) for everybody."""
    table, extra = _big()
    made = honour(table, extra, Design(k=40, rule="class", tree=TREE), Stream(1))
    control = honour(table, extra, Design(k=40, rule="control", tree=TREE), Stream(1))
    assert made.evidence["classes with a block"] == made.evidence["classes"]
    assert made.table.polars().equals(control.table.polars())


def test_coarser_spares_the_others():
    table, extra = _big()
    blocked = extra > 0
    cost = {}
    for rule in ("standard", "coarser", "control"):
        made = honour(table, extra, Design(k=20, rule=rule, tree=TREE), Stream(1))
        cost[rule] = losses(table, made, blocked, TREE)
    rise = {rule: cost[rule]["others"]["gcp"] - cost["standard"]["others"]["gcp"] for rule in cost}
    assert 0 < rise["coarser"] < rise["control"] / 2
    assert cost["coarser"]["blocking"]["gcp"] >= cost["control"]["blocking"]["gcp"]


def test_camouflage_makes_a_coarse_place_less_telling():
    table, extra = _big(share=0.1)
    open_ = honour(table, extra, Design(k=20, tree=TREE), Stream(1)).evidence
    hidden = honour(table, extra, Design(k=20, tree=TREE, camouflage=0.5), Stream(1)).evidence
    assert hidden["of them blocked"] < open_["of them blocked"]
    assert hidden["raised"] > open_["raised"]


def test_strengthenings():
    table, extra = _big()
    blocked = extra > 0
    l_diverse = honour(
        table, extra, Design(k=5, rule="class", tree=TREE, strengthen=("l-diversity(l=5, column=score)",)), Stream(1)
    )
    found = celosia.models.LDiversity(l=5, column="score").classes(l_diverse.table)
    keys = l_diverse.table.polars().with_columns(blocked=blocked).filter("blocked").select(TREE).unique()
    assert found.join(keys, on=list(TREE))["l"].min() >= 5
    gone = honour(table, extra, Design(k=5, tree=TREE, strengthen=("exclude",)), Stream(1))
    assert len(gone.table) == int((~blocked).sum())
    assert gone.evidence["left out"] == int(blocked.sum())
    blank = honour(
        table,
        extra,
        Design(k=5, tree=TREE, camouflage=0.5, strengthen=("suppress",)),
        Stream(1),
        {"canton": blocked, "school": blocked},
    )
    shown = blank.table.polars().filter(pl.Series(blocked))
    for column in ("canton", "district", "school"):
        assert set(shown[column]) == {"*"}
    assert set(blank.table.polars().filter(pl.Series(~blocked))["school"]) != {"*"}
    assert blank.holds
    with pytest.raises(RequirementError):
        honour(
            table,
            extra,
            Design(k=5, rule="class", tree=TREE, strengthen=("l-diversity(l=6, column=score)",)),
            Stream(1),
        )


@pytest.mark.parametrize("rule", ["class", "coarser"])
@pytest.mark.parametrize("model", ["l-diversity(l=5, column=score)", "t-closeness(t=0.15, column=score)"])
def test_a_model_holds_for_every_class_with_a_block(rule, model):
    table, extra = _big()
    design = Design(k=5, rule=rule, tree=TREE, strengthen=(model,))
    made = honour(table, extra, design, Stream(1))
    weak = honour(table, extra, Design(k=5, rule=rule, tree=TREE), Stream(1))
    part = build("model", model)
    worst = {}
    for name, one in (("made", made), ("weak", weak)):
        shown = one.table.polars().with_columns(
            extra=pl.Series(extra), gone=pl.Series(one.table.counts.suppressed_mask)
        )
        keys = shown.filter((pl.col("extra") > 0) & ~pl.col("gone")).select(TREE).unique()
        score = part.classes(one.table).join(keys, on=list(TREE))[part.symbol]
        worst[name] = score.min() if part.direction == "at least" else -score.max()
    bound = part.bound() if part.direction == "at least" else -part.bound()
    assert worst["weak"] < bound <= worst["made"]
    assert made.holds
    assert (made.table.counts.suppressed_mask & (extra == 0)).sum() <= 0.01 * len(table)


def test_without_a_tree_mondrian_takes_the_targets():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame({"age": rng.integers(18, 80, 600), "height": rng.integers(150, 200, 600)})
    table = with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=["age", "height"])))
    extra = np.where(rng.random(600) < 0.2, 7, 0)
    for rule in ("class", "exchange", "control", "standard"):
        made = honour(table, extra, Design(k=5, rule=rule), Stream(1))
        size = made.table.frequencies()
        assert made.holds == bool((size >= 5 + extra).all())
        assert made.holds == (rule in ("class", "control"))
        assert size.min() >= 5
        if rule == "class":
            assert size[extra > 0].min() >= 12
    assert losses(table, made, extra > 0, ["age", "height"])["all"]["gcp"] > 0


def test_persons_are_counted_not_rows():
    rows = [("p", "c", "d1")] * 6 + [("p", "c", "d2")] * 6
    table = table_of(rows, {"owner": pl.Series(["x"] * 6 + list("abcdef"))}, person="owner")
    made = honour(table, np.zeros(12, np.int64), Design(k=3, rule="standard", tree=TREE), Stream(1))
    assert set(made.table.polars()["district"]) == {"*"}, "six rows of one person are no crowd"


def test_five_persons_exchange_not_five_rows_of_one():
    """The five rows of the blocking owner exchanged with each other only: nothing moved to anybody else."""
    rows = [("p", "c", "d")] * 20
    owner = ["x"] * 5 + [name for name in "abcde" for _ in range(3)]
    table = table_of(rows, {"owner": pl.Series(owner)}, person="owner")
    extra = np.array([2] * 5 + [0] * 15)
    protected = honour(table, extra, Design(k=2, rule="exchange", tree=TREE), Stream(1))
    assert protected.evidence["exchanged"] == 5 + 4, "a row of each of four others"
    group, chance = np.zeros(20, np.int64), np.random.default_rng(0).random(20)
    partners = _partners(extra > 0, group, chance, declared_persons(table).astype(np.int64))
    assert len({owner[row] for row in partners}) == 5
    assert [owner[row] for row in partners].count("x") == 5


def test_records_without_an_id_are_one_person_in_their_own_place():
    """d1 has one person, d2 records without an id: neither place has two, and none counts for the other."""
    rows = [("p", "c", "d1")] * 2 + [("p", "c", "d2")] * 2 + [("p", "e", "f")] * 3
    table = table_of(rows, {"owner": pl.Series(["a", "a", None, None, "b", "c", "d"])}, person="owner")
    protected = honour(table, np.zeros(7, np.int64), Design(k=2, rule="standard", tree=TREE), Stream(1))
    assert protected.table.polars()["district"].to_list() == ["*"] * 4 + ["f"] * 3
    assert protected.holds
    assert protected.evidence["smallest class"] == 2
    # b, the last of the persons, is not taken for the one without an id in the place before
    label = Tree.of(table, TREE).classes(np.zeros(7, np.int64))
    assert count(label, declared_persons(table).astype(np.int64))[label].tolist() == [1, 1, 1, 1, 3, 3, 3]
    same = honour(table, np.zeros(7, np.int64), Design(k=1, rule="standard", tree=TREE), Stream(1))
    assert same.evidence["smallest class"] == 1


def test_the_attack_reports_three_groups_with_a_baseline():
    table, extra = _big()
    blocked = extra > 0
    made = honour(table, extra, Design(k=20, tree=TREE), Stream(1))
    found = re_identification(table, made.table, TREE, blocked, external=0.1)
    assert set(found) == {"all", "blocking", "others"}
    for one in found.values():
        assert one["low"] <= one["value"] <= one["high"]
        assert 0 < one["baseline"] < one["value"]
    mean = (found["blocking"]["value"] * blocked.sum() + found["others"]["value"] * (~blocked).sum()) / len(blocked)
    assert found["all"]["value"] == pytest.approx(mean)
    assert singletons(made.table) == 0


def test_bad_designs_are_refused():
    for bad in (
        {"k": 0},
        {"k": 2, "rule": "both"},
        {"k": 2, "rule": "coarser"},
        {"k": 2, "rule": "class", "camouflage": 2},
        {"k": 2, "rule": "exchange", "strengthen": ("l-diversity(l=2, column=score)",)},
    ):
        with pytest.raises(ParameterError):
            Design(**bad)


def test_a_single_column_with_a_hierarchy():
    hierarchy = {"north": ["a", "b"], "south": ["c", "d"]}
    frame = pl.DataFrame({"place": ["a"] * 5 + ["b"] * 5 + ["c"] * 5 + ["d"] * 2})
    table = with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=["place"], hierarchies={"place": hierarchy})))
    extra = np.zeros(17, np.int64)
    extra[0] = 2
    alone = honour(table, extra, Design(k=4, rule="coarser", tree=("place",)), Stream(1))
    assert alone.table.polars()["place"].to_list() == ["*"] + ["a"] * 4 + ["b"] * 5 + ["south"] * 7
    assert alone.evidence["of them blocked"] == 1.0, "the only star tells who asked"
    extra[12:17] = 2  # of south: seven are there, six are asked for
    made = honour(table, extra, Design(k=4, rule="coarser", tree=("place",)), Stream(1))
    assert made.table.polars()["place"].to_list()[10:] == ["south"] * 7
    assert made.holds
    assert Tree.of(table, ("place",)).penalties(made.level)[10] == 0.5


def test_joined_groups_of_a_hierarchy():
    """k = 4, X = 2: regions north (2 + 2), south (2 + 3), west (9), elsewhere far (6). The three of north who block find
    no six at the country and show nothing; the one left behind joins south, which costs less than west."""
    hierarchy = {"x": {"north": ["a1", "a2"], "south": ["b1", "b2"], "west": ["c"]}, "y": {"far": ["d"]}}
    places = ["a1"] * 2 + ["a2"] * 2 + ["b1"] * 2 + ["b2"] * 3 + ["c"] * 9 + ["d"] * 6
    schema = celosia.Schema.of(quasi=["place"], hierarchies={"place": hierarchy})
    table = with_record_ids(celosia.read(pl.DataFrame({"place": places}), schema))
    extra = np.array([2, 2, 2] + [0] * 21)
    made = honour(table, extra, Design(k=4, rule="coarser", tree=("place",)), Stream(1))
    joined = "{north, south}"
    assert made.table.polars()["place"].to_list() == ["*"] * 3 + [joined] * 6 + ["c"] * 9 + ["d"] * 6
    assert made.holds
    assert made.tree.penalties(made.level)[3] == pytest.approx(4 / 6)
    gcp = build("loss", "certainty-penalty").value(table, made.table)
    assert float(gcp) == pytest.approx((3 * 1 + 6 * 4 / 6) / 24)


@pytest.mark.parametrize("rule", ["class", "coarser", "exchange", "standard"])
def test_missing_places_are_a_place_of_their_own(rule):
    hierarchy = {"north": ["a", "b"], "south": ["c", "d"]}
    frame = pl.DataFrame({"place": ["a"] * 5 + ["b"] * 5 + ["c"] * 5 + [None] * 6})
    table = with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=["place"], hierarchies={"place": hierarchy})))
    extra = np.zeros(21, np.int64)
    extra[[0, 20]] = 1
    made = honour(table, extra, Design(k=4, rule=rule, tree=("place",)), Stream(1))
    assert made.holds
    assert made.evidence["suppressed"] == 0
    rows = [("p", "c", "d")] * 5 + [("p", "c", None)] * 5 + [("p", None, None)] * 5
    several = honour(table_of(rows), np.zeros(15, np.int64), Design(k=4, rule=rule, tree=TREE), Stream(1))
    assert several.holds
    assert several.evidence["classes"] == 3


def test_nobody_and_one_record():
    for n in (1, 3):
        made = honour(
            table_of([("p", "c", "d")] * n), np.zeros(n, np.int64), Design(k=2, rule="class", tree=TREE), Stream(1)
        )
        assert made.holds
        assert made.evidence["suppressed"] == (1 if n == 1 else 0)
