"""Fuzzy recoding: labels, degrees that sum to one, languages, and nothing that gives the sets away."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import celosia
from celosia.data.schema import Kind
from celosia.errors import DataError, ParameterError
from celosia.kernels.fuzzy.coding import known_degrees
from celosia.kernels.fuzzy.partitions import controlled_round
from celosia.methods import FuzzyRecode
from celosia.models import KAnonymity, QAnonymity
from celosia.parts import public_spec
from celosia.release.evidence.plain_data import plain
from celosia.streams import Stream

SETS = {"age": {"Young": "(-inf;30;36)", "Adult": "(30;36;54;60)", "Old": "(54;60;inf)"}}
DATA = pl.DataFrame({"age": [21, 24, 32, 36, 45, 56, 58, 62, 65, None], "pay": [float(i**2) for i in range(10)]})


def read(data=DATA, engine="polars", quasi=("age", "pay")):
    return celosia.read(data, celosia.Schema.of(quasi=quasi), engine=engine)


def test_written_sets_give_their_names(engine):
    table = read(engine=engine)
    done = celosia.protect(table, FuzzyRecode(columns=["age"], sets=SETS))
    assert done.polars()["age"].to_list() == ["Young"] * 3 + ["Adult"] * 3 + ["Old"] * 3 + [None]
    assert done.polars()["pay"].to_list() == DATA["pay"].to_list()
    assert done.schema["age"].order == ("Young", "Adult", "Old")
    assert done.schema["age"].kind == Kind.ORDINAL
    assert table.polars()["age"].to_list() == DATA["age"].to_list()  # the input is as it was


def test_nothing_public_gives_the_sets_away():
    done = celosia.protect(read(), FuzzyRecode(columns=["age"], sets=SETS, degrees=2), seed=1)
    method = FuzzyRecode(columns=["age"], sets=SETS)
    assert "sets" not in public_spec(method)
    evidence = {k: v for k, v in done.history[-1].items() if k != "parameters"}
    assert "36" not in json.dumps(evidence)
    assert done.private_history[-1]["partitions"][0]["found"]["sets"] == SETS["age"]


def test_degrees_are_quasi_identifiers_and_sum_to_one():
    done = celosia.protect(read(), FuzzyRecode(columns=["age"], sets=SETS, degrees=1))
    names = ["age: Young", "age: Adult", "age: Old", "age: missing"]
    assert set(names) <= set(done.schema.quasi)
    assert all(done.schema[name].declared for name in names)
    degrees = done.polars().select(names)
    assert degrees.sum_horizontal().to_list() == pytest.approx([1] * 10)
    assert degrees.row(2) == (0.7, 0.3, 0.0, 0.0)  # 2/3 and 1/3
    assert degrees.row(9) == (0, 0, 0, 1)


@given(st.integers(1, 3), st.integers(0, 2**32), st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_controlled_rounding_keeps_the_sum_and_stays_near(digits, seed, cells):
    mu = np.random.default_rng(seed).dirichlet(np.ones(cells), 20)
    rounded = controlled_round(mu, digits)
    assert np.allclose(rounded.sum(axis=1), 1)
    assert (np.abs(rounded - mu) < 10.0**-digits + 1e-9).all()
    assert np.allclose(rounded * 10**digits, np.rint(rounded * 10**digits))


def test_found_sets_have_generated_or_given_labels():
    table = read()
    for language, words in {"en": ["low", "high"], "es": ["bajo", "alto"], "ca": ["baix", "alt"]}.items():
        done = celosia.protect(table, FuzzyRecode(columns=["age"], cells=2, language=language), seed=1)
        assert done.polars()["age"].to_list() == [words[0]] * 4 + [words[1]] * 5 + [None]
    own = FuzzyRecode(columns=["age"], cells=2, labels={"age": ["Young", "Old"]})
    assert celosia.protect(table, own, seed=1).polars()["age"][0] == "Young"


@pytest.mark.parametrize("coding", ["c-means", "gustafson-kessel", "k-means", "global-recode"])
def test_every_coding_orders_its_labels_and_can_be_applied_again(coding):
    x = np.random.default_rng(0).lognormal(size=300)
    table = read(pl.DataFrame({"age": x}), quasi=("age",))
    done = celosia.protect(table, FuzzyRecode(columns=["age"], cells=4, coding=coding), seed=2)
    labels = done.polars()["age"].to_list()
    order = {"low": 0, "medium": 1, "high": 2, "very high": 3}
    ranked = [order[label] for label in np.array(labels)[np.argsort(x)]]
    assert ranked == sorted(ranked)
    found = done.private_history[-1]["partitions"][0]
    again = known_degrees(found["found"], x[:, None]).argmax(axis=1)
    assert [found["labels"][c][0] for c in again] == labels


def test_joint_coding_labels_each_column_by_the_rank_of_the_centre():
    rng = np.random.default_rng(3)
    centres = np.array([[0, 9], [5, 0], [9, 5]])
    which = np.repeat([0, 1, 2], 30)
    xy = centres[which] + rng.normal(size=(90, 2)) * 0.3
    table = read(pl.DataFrame({"age": xy[:, 0], "pay": xy[:, 1]}))
    done = celosia.protect(table, FuzzyRecode(columns=["age", "pay"], joint=True), seed=1).polars()
    assert set(done.rows()) == {("low", "high"), ("medium", "low"), ("high", "medium")}
    assert done.row(0) == ("low", "high")
    shown = celosia.protect(table, FuzzyRecode(columns=["age", "pay"], joint=True, degrees=1), seed=1).polars()
    assert "age + pay: low / high" in shown.columns


def test_same_seed_same_labels_and_the_models_read_them():
    table = read(DATA.drop_nulls())
    method = FuzzyRecode(columns=["age", "pay"], sets=SETS)
    a, b = celosia.protect(table, method, seed=5), celosia.protect(table, method, seed=5)
    assert a.polars().equals(b.polars())
    # the same requirement before and after: fuzzy on the numbers, crisp on the labels
    model = QAnonymity(q=1, sets=SETS, aggregate="min")
    assert model.value(a) == KAnonymity(k=1).value(a)
    assert a.history[-1]["q"] == QAnonymity(q=1, sets=SETS).value(table)


def test_few_values_are_cells_of_their_own():
    table = read(pl.DataFrame({"age": [1, 2, 1, 2]}), quasi=("age",))
    assert celosia.protect(table, FuzzyRecode(columns=["age"])).polars()["age"].to_list() == ["low", "high"] * 2


def test_bad_input_is_refused():
    table = celosia.read(
        pl.DataFrame({"age": [1, 2, 3, 4, 5], "city": list("abcde")}), celosia.Schema.of(quasi=["age"])
    )

    def message(method, error=ParameterError):
        with pytest.raises(error) as raised:
            celosia.protect(table, method)
        return str(raised.value)

    assert message(FuzzyRecode(columns=["city"]), DataError) == (
        "fuzzy-recode: column 'city' holds text or dates, but numbers are needed."
    )
    assert message(FuzzyRecode(columns=["age"], labels={"age": ["a", "b"]})) == (
        "fuzzy-recode: labels of 'age' must be 3 different names, got 2."
    )
    assert "left alone" in message(FuzzyRecode(columns=["age"], labels={"city": ["a"]}))
    assert "written, with names" in message(FuzzyRecode(columns=["age"], sets=SETS, labels={"age": ["a"]}))
    assert "degrees must be at most 3" in _refused(degrees=9)
    assert "m must be more than 1" in _refused(m=0.5)


def _refused(**parameters):
    with pytest.raises(ParameterError) as raised:
        FuzzyRecode(columns=["age"], **parameters)
    return str(raised.value)


def test_a_release_keeps_the_sets_private(tmp_path):
    DATA.drop_nulls().write_csv(tmp_path / "people.csv")
    literal = '{ age = { Young = "(-inf;30;36)", Adult = "(30;36;54;60)", Old = "(54;60;inf)" } }'
    (tmp_path / "policy.toml").write_text(
        f"""
        [input]
        path = "people.csv"
        [schema]
        quasi = ["age"]
        sensitive = ["pay"]
        [[require]]
        use = "q-anonymity"
        q = 3
        sets = {literal}
        [[step]]
        use = "fuzzy-recode"
        columns = ["age"]
        sets = {literal}
        [output]
        path = "labels.csv"
        """,
        encoding="utf-8",
    )
    celosia.run(tmp_path / "policy.toml")
    public = [p for p in tmp_path.iterdir() if "private" not in p.name and p.name != "policy.toml"]
    assert {"labels.csv", "labels.certificate.json"} <= {p.name for p in public}
    assert not [p.name for p in public if "30;36" in p.read_text(encoding="utf-8")]
    assert "30;36" in (tmp_path / "labels.private.json").read_text(encoding="utf-8")
    assert '"holds": true' in (tmp_path / "labels.certificate.json").read_text(encoding="utf-8")


# -- new records ---------------------------------------------------------------------------------------------------------


def learned(table, method, seed=1):
    """The protected table, and its record as JSON gives it back."""
    done = celosia.protect(table, method, seed=seed)
    return done, json.loads(json.dumps(plain(done.private_history[-1]), allow_nan=False))


CODINGS = [(coding, joint) for coding in ("c-means", "gustafson-kessel", "k-means") for joint in (True, False)]


@pytest.mark.parametrize(("coding", "joint"), [*CODINGS, ("global-recode", False)])
@pytest.mark.parametrize("degrees", [None, 2])
def test_the_same_records_get_the_same_labels_and_degrees(coding, joint, degrees):
    rng = np.random.default_rng(5)
    data = pl.DataFrame({"age": rng.normal(size=200), "pay": rng.lognormal(size=200)})
    table = read(data.with_columns(pl.when(pl.int_range(200) % 9 > 0).then(pl.col("age"))))
    method = FuzzyRecode(columns=["age", "pay"], coding=coding, joint=joint, degrees=degrees, cells=4)
    done, record = learned(table, method)
    again, lost = method.replay(table, record, Stream(1))
    assert not lost.any()
    assert again.polars().equals(done.polars())
    assert again.schema["pay"].order == done.schema["pay"].order == ("low", "medium", "high", "very high")
    assert again.polars()["pay"].drop_nulls().n_unique() == 4


def test_new_numbers_take_the_nearest_set_and_the_outermost_when_they_are_out_of_range():
    table = read(pl.DataFrame({"age": [20.0, 21, 22, 50, 51, 52, 80, 81, 82]}), quasi=("age",))
    new = read(pl.DataFrame({"age": [-5.0, 30, 60, 500, None]}), quasi=("age",))
    for coding in ("c-means", "k-means", "global-recode"):
        method = FuzzyRecode(columns=["age"], coding=coding)
        shown, lost = method.replay(new, learned(table, method)[1], Stream(1))
        assert shown.polars()["age"].to_list() == ["low", "low", "medium", "high", None]
        assert not lost.any()


def test_values_without_a_set_have_no_place():
    sets = {"age": {"Young": "(0;0;30;40)", "Old": "(30;40;90;90)"}}
    method = FuzzyRecode(columns=["age"], sets=sets, degrees=1)
    _, record = learned(read(pl.DataFrame({"age": [20, 35, 60]}), quasi=("age",)), method)
    shown, lost = method.replay(read(pl.DataFrame({"age": [25, 120, None]}), quasi=("age",)), record, Stream(1))
    assert lost.tolist() == [False, True, True]  # no column shows the degree of a missing value
    assert shown.polars().rows() == [("Young", 1.0, 0.0), (None, 0.0, 0.0), (None, 0.0, 0.0)]
    # few values are cells of their own: another one belongs to none of them
    method = FuzzyRecode(columns=["age"])
    _, record = learned(read(pl.DataFrame({"age": [1, 2, 1, 2]}), quasi=("age",)), method)
    shown, lost = method.replay(read(pl.DataFrame({"age": [2, 3, None]}), quasi=("age",)), record, Stream(1))
    assert shown.polars()["age"].to_list() == ["high", None, None]
    assert lost.tolist() == [False, True, False]  # a missing value stays missing


def test_records_of_an_earlier_version_are_refused():
    method = FuzzyRecode(columns=["age"], sets=SETS)
    _, record = learned(read(), method)
    del record["partitions"][0]["orders"]
    with pytest.raises(DataError, match=r"earlier version.* Run the policy again"):
        method.replay(read(), record, Stream(1))
