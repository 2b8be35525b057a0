"""What attacks share: the public part of a step, the noise that it tells of, and chances counted by persons."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import celosia
from celosia.errors import NotApplicable, ParameterError
from celosia.risk import Averaging, Composition, Differencing, NoiseLinkage, NoiseReconstruction
from celosia.risk.bases.linking_attack import strata
from celosia.risk.bases.noise_model import NoisyColumns, noisy_columns
from celosia.risk.bases.success import Success, _SuccessAttack
from celosia.risk.bases.transparency import PublicStep, public_steps, wanted_column

numbers = arrays(np.float64, (6, 3), elements=st.sampled_from([-8.0, -1.0, 0.0, 0.5, 3.0]))


@given(numbers, st.lists(st.booleans(), min_size=3, max_size=3))
@settings(max_examples=50, deadline=None)
def test_the_scale_of_the_noise_and_back(values, factors):
    noise = NoisyColumns(["a", "b", "c"], values, np.eye(3), np.array(factors), np.zeros(3, np.bool_))
    scaled = noise.to_noise_scale(values)
    for c, factor in enumerate(factors):
        expected = np.log(np.abs(np.where(values[:, c] == 0, 1, values[:, c]))) if factor else values[:, c]
        gone = factor & (values[:, c] == 0)
        assert (np.isnan(scaled[:, c]) == gone).all(), "a zero that was multiplied tells nothing"
        assert scaled[~gone, c] == pytest.approx(expected[~gone])
    assert noise.from_noise_scale(np.nan_to_num(scaled), values) == pytest.approx(values)


def test_zeros_and_signs_that_stay_keep_records_apart():
    values = np.array([[0.0, -2.0], [5.0, 3.0]])
    marks = NoisyColumns(
        ["a", "b"], values, np.eye(2), np.array([False, True]), np.array([True, False])
    ).unchanged_marks(values)
    assert (np.sign(marks) == [[1, -1], [0, 1]]).all()
    assert np.abs(marks[0] - marks[1]).min() > 100 * np.abs(values).max()
    none = NoisyColumns(["a"], values[:, :1], np.eye(1), np.array([False]), np.array([False])).unchanged_marks(
        values[:, :1]
    )
    assert none.shape == (2, 0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    x = rng.normal(0, 2, 4000)
    data = pl.DataFrame({"x": x, "y": 3 * x + rng.normal(0, 1, 4000), "c": np.where(x > 0, "u", "v")})
    return celosia.read(data, celosia.Schema.of(quasi=["x", "y"], sensitive=["c"]))


@pytest.mark.parametrize("method", ["noise(columns=[x, y], p=0.5)", "correlated-noise(columns=[x, y], p=0.5)"])
def test_the_noise_that_a_certificate_tells_of_is_that_of_the_data(table, method):
    protected = celosia.protect(table, method, seed=1)
    told = noisy_columns(NoiseLinkage(), table, protected)
    added = protected.numeric(["x", "y"]) - table.numeric(["x", "y"])
    assert told.names == ["x", "y"]
    assert told.noise == pytest.approx(np.cov(added.T), rel=0.1, abs=0.1 * np.cov(added.T).max())


def test_without_the_evidence_the_noise_follows_from_the_release(table):
    """p of the variance was added, so p / (1 + p) of that of the release is noise."""
    protected = celosia.protect(table, "noise(columns=[x, y], p=0.5)", seed=1)
    alone = celosia.read(protected.polars(), table.schema)
    told = noisy_columns(NoiseLinkage(method="noise(columns=[x, y], p=0.5)"), table, alone)
    assert np.diag(told.noise) == pytest.approx(protected.numeric(["x", "y"]).var(axis=0) / 3)


def test_a_column_that_holds_no_numbers_is_refused(table):
    protected = celosia.protect(table, "noise(columns=[x, y], p=0.5)", seed=1)
    text = protected.replace({"x": protected.column("x").cast(pl.String)})
    for attack in (NoiseLinkage(), NoiseReconstruction()):
        with pytest.raises(NotApplicable, match="'x' does not hold numbers in both tables"):
            attack.value(table, text)


def test_a_public_step_has_no_private_parameter_and_all_defaults(table):
    protected = celosia.protect(table, "pseudonymise(columns=[c], key='correct horse battery')", seed=1)
    (step,) = public_steps(protected, ("pseudonymise",))
    assert "key" not in step.parameters
    assert "correct horse" not in repr(step)
    assert step.columns == ("c",)
    assert step.parameters["length"] == celosia.methods.Pseudonymise(columns=["c"], key="correct horse battery").length
    stolen = PublicStep.of({"step": "pseudonymise", "parameters": {"columns": ["c"], "key": "correct horse battery"}})
    assert "key" not in stolen.parameters, "also where an entry holds it"


def test_an_attack_reads_its_own_methods_only(table):
    with pytest.raises(ParameterError, match="the method must be one of"):
        NoiseLinkage(method="rank-swap(columns=[x], window=0.1)")
    with pytest.raises(NotApplicable, match="no step of the protected table is one of"):
        NoiseLinkage().steps(table)


def test_the_wanted_column(table):
    assert wanted_column("x", table, None) == "c"
    assert wanted_column("x", table, "y") == "y"
    with pytest.raises(NotApplicable, match="no sensitive column"):
        wanted_column("x", celosia.read(pl.DataFrame({"a": [1]})), None)


@given(
    st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=6),
    st.lists(st.sampled_from(["a", "b", None]), min_size=1, max_size=6),
)
@settings(max_examples=40, deadline=None)
def test_strata_have_the_same_numbers_in_both_tables(left, right):
    tables = [celosia.read(pl.DataFrame({"s": pl.Series(side, dtype=pl.String)})) for side in (left, right)]
    first, second = strata(*tables, ["s"])
    pairs = [*zip(left, first.tolist(), strict=True), *zip(right, second.tolist(), strict=True)]
    assert all((v == w) == (a == b) for v, a in pairs for w, b in pairs)
    assert strata(*tables, [])[0].tolist() == [0] * len(left)


class _Chances(_SuccessAttack):
    """An attack whose chances are given."""

    def run(self, original, protected):
        return Success(np.array([1.0, 0.0, 0.5, np.nan]), 0.25, np.array([0.0, 0.0, 0.5, np.nan]), parts={"more": 7})


def test_chances_are_means_over_persons_who_were_attacked():
    """Person 1 has chances 1 and 0, person 2 has 0.5; person 3 was not attacked: (0.5 + 0.5) / 2."""
    data = pl.DataFrame({"who": [1, 1, 2, 3], "x": [1, 2, 3, 4]})
    people = celosia.read(data, celosia.Schema.of(quasi=["x"], person="who"))
    attack = _Chances.model_construct()
    evidence = attack.evidence(people, people)
    assert attack.value(people, people) == evidence["value"] == 0.5
    assert evidence["control"] == pytest.approx((0.0 + 0.5) / 2)
    assert (evidence["records"], evidence["more"]) == (2, 7)
    assert evidence["better_than_control"] is False, "two persons prove nothing"
    assert attack.records(people, people)["risk"].to_list() == [1.0, 0.0, 0.5, None]


def test_what_earlier_releases_give_away_is_told_from_the_first_person_on():
    release = pl.DataFrame({"age": [30]})
    for attack in (Composition(earlier=[release]), Averaging(earlier=[release]), Differencing(earlier=[release])):
        alike = {"value": 0.2, "control": 0.2, "learnt": 2, "learnt_alone": 2, "removed": 0}
        assert attack.blocking_reasons(alike) == []
        assert len(attack.blocking_reasons({**alike, "learnt": 3})) == 1
        assert "for 1 more" in attack.blocking_reasons({**alike, "learnt": 3})[0]
        assert attack.blocking_reasons({**alike, "removed": 1}) == [
            "1 stand out by having left since the earlier release"
        ]
