from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.errors import ParameterError, RequirementError, SchemaError
from celosia.methods.generalisation.tree_generalise import TreeGeneralise
from celosia.search.partition.tree_merge import merge
from celosia_reproduce.consent.worked import LEAVES as PLACES

PLACE = ["province", "canton", "district"]


def figure(engine="polars", **more):
    rows = [(p, c, d, i < private) for p, c, d, n, private in PLACES for i in range(n)]
    data = pl.DataFrame(rows, schema=[*PLACE, "private"], orient="row")
    return celosia.read(data, celosia.Schema.of(quasi=PLACE, **more), engine=engine)


def classes(protected):
    return {row[:-1]: row[-1] for row in protected.polars().group_by(PLACE).len().rows()}


def test_figure(engine):
    method = TreeGeneralise(columns=PLACE, k=2, private="private", extra=1)
    protected = celosia.protect(figure(engine), method)
    assert classes(protected) == {
        ("Guanacaste", "Nicoya", "Nicoya"): 5,
        ("Guanacaste", "Liberia", "Nacascolo"): 2,
        ("Guanacaste", "Liberia", "Mayorga"): 3,
        ("Heredia", "Flores", "*"): 3,
        ("Heredia", "Barva", "*"): 5,
    }
    evidence = protected.history[-1]
    assert (evidence["classes"], evidence["raised"], evidence["suppressed"]) == (5, 1, 0)
    assert evidence["changed"] / 18 == pytest.approx(8 / 18)


def test_figure_with_sets_and_with_targets():
    method = TreeGeneralise(columns=PLACE, k=2, private="private", extra=1, labels="set")
    assert ("Heredia", "Flores", "{Barrantes, Llorente}") in classes(celosia.protect(figure(), method))
    wish = [3 if flag else 0 for flag in figure().polars()["private"]]
    by_target = celosia.protect(figure(), TreeGeneralise(columns=PLACE, k=2, target=wish))
    by_flag = celosia.protect(figure(), TreeGeneralise(columns=PLACE, k=2, private="private", extra=1))
    assert by_target.polars().equals(by_flag.polars())


def test_sets_of_one_column_name_its_values():
    # 111 joins 112 and 121 joins 122 below their parents; 131, alone below 13*, joins the class before it below 1**
    zips = ["111", "112", "121", "122", "122", "131", "211", "211"]
    schema = celosia.Schema.of(quasi=["zip"], hierarchies={"zip": "prefixes"})
    protected = celosia.protect(
        celosia.read(pl.DataFrame({"zip": zips}), schema), TreeGeneralise(columns=["zip"], k=2, labels="set")
    )
    assert protected.polars()["zip"].to_list() == ["{111, 112}"] * 2 + ["{121, 122, 131}"] * 4 + ["211"] * 2


def test_one_column_with_a_hierarchy():
    tree = [[d, c, p, "*"] for p, c, d, *_ in PLACES]
    data = figure().polars().select("district", "private")
    original = celosia.read(data, celosia.Schema.of(quasi=["district"], hierarchies={"district": tree}))
    protected = celosia.protect(original, TreeGeneralise(columns=["district"], k=2, private="private", extra=1))
    found = dict(protected.polars()["district"].value_counts().rows())
    assert found == {"Nicoya": 5, "Nacascolo": 2, "Mayorga": 3, "Flores": 3, "Barva": 5}


def test_rest_at_the_root():
    suppressed = celosia.protect(figure(), TreeGeneralise(columns=PLACE, k=19))
    assert suppressed.suppressed() == 18
    with pytest.raises(RequirementError, match="18 records remain at the root, but a class of 19"):
        celosia.protect(figure(), TreeGeneralise(columns=PLACE, k=19, rest="refuse"))
    whole = celosia.protect(figure(), TreeGeneralise(columns=PLACE, k=18))
    assert classes(whole) == {("*", "*", "*"): 18}
    assert whole.suppressed() == 0  # a class of stars is not a suppressed record
    assert celosia.models.KAnonymity(k=18).value(whole) == 18


def test_missing_and_persons():
    data = pl.DataFrame({"canton": ["A", "A", "A", "B", "B", None], "district": ["a", "a", "b", "c", "c", None]})
    original = celosia.read(data, celosia.Schema.of(quasi=["canton", "district"]))
    protected = celosia.protect(original, TreeGeneralise(columns=["canton", "district"], k=2))
    assert celosia.models.KAnonymity(k=2).holds(protected)
    people = celosia.read(
        data.drop_nulls().with_columns(who=pl.Series(["x", "x", "y", "z", "w"])),
        celosia.Schema.of(quasi=["canton", "district"], person="who"),
    )
    protected = celosia.protect(people, TreeGeneralise(columns=["canton", "district"], k=2))
    assert protected.polars()["district"].to_list() == ["*", "*", "*", "c", "c"]  # two rows of x are one person


TREE = {"use": "levels", "rows": [["a", "g", "*"], ["b", "g", "*"], ["c", "h", "*"]]}


@pytest.mark.parametrize("lone", [None, "c"])
def test_a_value_without_company_does_not_take_others_along_to_the_root(lone):
    data = pl.DataFrame({"q": ["a"] * 3 + ["b"] * 3 + [lone]})
    original = celosia.read(data, celosia.Schema.of(quasi=["q"], hierarchies={"q": TREE}))
    protected = celosia.protect(original, TreeGeneralise(columns=["q"], k=3))
    assert protected.polars()["q"].to_list() == ["a"] * 3 + ["b"] * 3 + ["*"]
    assert protected.suppressed() == protected.history[-1]["suppressed"] == 1
    with pytest.raises(RequirementError, match="1 records remain at the root"):
        celosia.protect(original, TreeGeneralise(columns=["q"], k=3, rest="refuse"))
    # beside another quasi-identifier a star tells something still: a class at the root is a class
    wider = celosia.read(data.with_columns(r=pl.lit("r")), celosia.Schema.of(quasi=["q", "r"], hierarchies={"q": TREE}))
    protected = celosia.protect(wider, TreeGeneralise(columns=["q"], k=3, rest="refuse"))
    assert protected.polars()["q"].to_list() == ["a"] * 3 + ["*"] * 4
    assert protected.suppressed() == 0


@pytest.mark.parametrize(
    ("values", "k", "shown"),
    [
        (["a", "a", "b"], 2, ["a", "a", "*"]),
        (["b", "a", "a", "c"], 2, ["*", "a", "a", "*"]),
        (["a", "b"], 2, ["*", "*"]),  # no class below the root: the whole table is one of stars
    ],
)
def test_a_class_below_the_root_is_kept_where_the_others_are_too_small(values, k, shown):
    schema = celosia.Schema.of(quasi=["q"], hierarchies={"q": {"*": ["a", "b", "c"]}})
    original = celosia.read(pl.DataFrame({"q": values}), schema)
    protected = celosia.protect(original, TreeGeneralise(columns=["q"], k=k))
    assert protected.polars()["q"].to_list() == shown
    assert protected.suppressed() == (0 if set(shown) == {"*"} else shown.count("*"))
    refusing = celosia.protect(original, TreeGeneralise(columns=["q"], k=k, rest="refuse"))
    assert refusing.polars()["q"].to_list() == ["*"] * len(values)  # nothing is suppressed: one class at the root
    assert refusing.suppressed() == 0


def test_missing_values_that_have_company_stay_missing():
    for values in (["a"] * 3 + [None] * 3, [None] * 3):
        data = pl.DataFrame({"q": values}, schema={"q": pl.String})
        original = celosia.read(data, celosia.Schema.of(quasi=["q"], hierarchies={"q": TREE}))
        assert celosia.protect(original, TreeGeneralise(columns=["q"], k=3)).polars()["q"].to_list() == values


def test_a_missing_value_is_not_the_only_value_there_is():
    """In a hierarchy without levels the one value of a column is no root that missing values lie below."""
    flat = {"q": {"use": "levels", "rows": [["a"]]}}
    original = celosia.read(pl.DataFrame({"q": ["a", "a", None]}), celosia.Schema.of(quasi=["q"], hierarchies=flat))
    protected = celosia.protect(original, TreeGeneralise(columns=["q"], k=1))
    assert protected.polars()["q"].to_list() == ["a", "a", None]


def test_refusals():
    with pytest.raises(ParameterError, match="extra must be at least 1"):
        celosia.protect(figure(), TreeGeneralise(columns=PLACE, private="private"))
    with pytest.raises(SchemaError, match="must hold true and false"):
        celosia.protect(figure(), TreeGeneralise(columns=PLACE, private="canton", extra=1))
    with pytest.raises(SchemaError, match="has no hierarchy"):
        celosia.protect(figure(), TreeGeneralise(columns=["district"]))


# The merging itself, on random trees.


def random_tree(rng):
    leaves = int(rng.integers(1, 12))
    canton = np.sort(rng.integers(0, 5, leaves))
    province = np.sort(rng.integers(0, 3, 5))[canton]
    return np.stack([np.arange(leaves), canton, province, np.zeros(leaves, int)])


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 4), st.booleans())
def test_every_class_is_large_enough(seed, k, extra, short_first):
    rng = np.random.default_rng(seed)
    nodes = random_tree(rng)
    count = rng.integers(1, 6, nodes.shape[1])
    private = rng.random(nodes.shape[1]) < 0.3

    def size(leaves):
        return int(count[list(leaves)].sum())

    done, left = merge(nodes, size, np.where(private, k + extra, k), short_first=short_first)
    assert sorted(i for c in [*done, *left] for i in c.leaves) == list(range(nodes.shape[1]))
    for c in done:
        leaves = list(c.leaves)
        assert size(leaves) >= (k + extra if private[leaves].any() else k)
        assert len(set(nodes[c.level, leaves])) == 1  # one label covers all of it
    assert len(left) <= 1
    # nobody private: the raise changes nothing; everybody private: it is a larger k
    assert merge(nodes, size, np.full(len(count), k)) == merge(nodes, size, np.where(private & False, k + extra, k))
    everyone = merge(nodes, size, np.full(len(count), k + extra), short_first=short_first)
    assert merge(nodes, size, np.where(private | True, k + extra, k), short_first=short_first) == everyone


def test_short_classes_join_each_other_first():
    nodes = np.array([[0, 1, 2, 3], [0, 0, 0, 0]])
    count = [5, 1, 5, 1]

    def run(**more):
        done, _ = merge(nodes, lambda leaves: sum(count[i] for i in leaves), [2] * 4, **more)
        return [c.leaves for c in done]

    assert run() == [(0, 1), (2, 3)]
    assert run(short_first=True) == [(0,), (1, 3), (2,)]


def test_first_child_joins_the_next():
    nodes = np.array([[0, 1, 2], [0, 0, 0]])
    count = [1, 4, 4]
    done, left = merge(nodes, lambda leaves: sum(count[i] for i in leaves), [2] * 3)
    assert [c.leaves for c in done] == [(0, 1), (2,)]
    assert not left


@pytest.mark.parametrize(
    ("districts", "shown"),
    [("aab", [("X", "a"), ("X", "a"), ("*", "*")]), ("aabc", [("X", "a"), ("X", "a"), ("X", "*"), ("X", "*")])],
)
def test_small_classes_below_a_shared_root_do_not_blank_the_others(districts, shown):
    data = pl.DataFrame({"canton": ["X"] * len(districts), "district": list(districts)})
    table = celosia.read(data, celosia.Schema.of(quasi=data.columns))
    method = TreeGeneralise(columns=data.columns, k=2)
    assert celosia.protect(table, method).polars().rows() == shown
    asking = TreeGeneralise(columns=data.columns, k=1, target=np.array([2] * len(districts)))
    assert set(celosia.protect(table, asking).polars().rows()) == {("X", "*")}, "stars would show who asks for more"
