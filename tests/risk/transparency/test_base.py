"""What attacks of a reader of the certificate know: the public part of a step, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable, ParameterError
from celosia.parts import attacks_reading, build, methods_read, parts
from celosia.risk.bases.transparency import PublicStep, Success, _InformedAttack, public_steps
from celosia.table.derive import with_provenance


class _Half(_InformedAttack):
    """Succeeds with every second record."""

    reads: ClassVar[tuple[str, ...]] = ("noise", "record-swap")

    def run(self, original, protected):
        self.steps(protected)
        return Success(np.arange(len(original)) % 2 * 1.0, 0.25, np.zeros(len(original)), {}, {"extra": 1})


def table(person=None):
    data = pl.DataFrame({"x": np.arange(8.0), "area": list("NNSSNNSS"), "who": [0, 0, 1, 1, 2, 2, 3, 3]})
    return celosia.read(data, celosia.Schema.of(quasi=["x"], person=person))


def test_a_step_is_read_with_its_defaults_and_without_what_is_private():
    protected = celosia.protect(
        table(), "noise(columns=[x])", "record-swap(geography=[area], risk=[x], rate=0.4)", seed=1
    )
    noise, swap = public_steps(protected, ("noise", "record-swap"))
    assert noise.parameters["p"] == 0.1
    assert noise.columns == ("x",)
    assert set(noise.evidence["noise_variance"]) == {"x"}
    assert "rate" not in swap.parameters
    assert "swapped" not in swap.evidence
    assert swap.columns == ("area",)


def test_private_parameters_are_left_out_even_when_an_entry_holds_them():
    step = PublicStep.of({"step": "record-swap", "parameters": {"use": "record-swap", "geography": ["a"], "rate": 0.4}})
    assert "rate" not in step.parameters


def test_without_such_a_step_the_attack_does_not_apply():
    with pytest.raises(NotApplicable, match=r"no step of the protected table is one of noise, record-swap; give the"):
        _Half().value(table(), table())


def test_the_method_can_be_given_for_a_file_that_was_read_back():
    attack = _Half(method="noise(columns=[x], p=0.3)")
    (step,) = attack.steps(table())
    assert (step.method, step.parameters["p"], step.evidence) == ("noise", 0.3, {})
    assert attack.value(table(), table()) == 0.5
    with pytest.raises(ParameterError, match="must be one of noise, record-swap, got rank-swap"):
        _Half(method="rank-swap(columns=[x])")


def test_persons_are_counted_and_the_evidence_compares_with_guessing_and_with_not_having_read():
    protected = celosia.protect(table("who"), "noise(columns=[x])", seed=1)
    found = _Half().evidence(table("who"), protected)
    assert (found["value"], found["records"], found["baseline"], found["control"]) == (0.5, 4, 0.25, 0.0)
    assert found["read"] == ["noise"]
    assert found["extra"] == 1
    assert found["interval"][0] < 0.5 < found["interval"][1]


STEPS = {
    "rank-intersection": "rank-swap(columns=[x, y], window=0.2)",
    "group-intersection": "individual-ranking(columns=[x, y], k=3)",
    "noise-linkage": "noise(columns=[x, y])",
    "noise-reconstruction": "correlated-noise(columns=[x, y])",
    "category-posterior": "pram(columns=[area], within=[home])",
    "coding-bounds": "top-code(columns=[x, y], quantile=0.8)",
    "shuffle-regression": "shuffle(columns=[x], given=[y])",
    "moved-areas": "record-swap(geography=[area], risk=[home], rate=0.3)",
}


@pytest.mark.parametrize(("attack", "step"), STEPS.items())
def test_what_is_secret_changes_nothing(attack, step):
    rng = np.random.default_rng(8)
    data = {"x": rng.normal(size=60), "y": rng.normal(size=60), "area": rng.choice(list("NESW"), 60)}
    original = celosia.read(pl.DataFrame(data | {"home": rng.integers(0, 4, 60).astype(str)}))
    protected = celosia.protect(original, step, seed=1)
    part = build("attack", attack)
    bare = with_provenance(replace(protected, _cache={}), private_history=(), input=None)
    assert part.value(original, bare) == part.value(original, protected)
    assert part.records(original, bare).equals(part.records(original, protected))


def test_every_method_that_an_attack_reads_exists():
    for name, cls in parts("attack").items():
        assert set(methods_read(cls)) <= set(parts("method")), name
    assert all(isinstance(attacks_reading(method), tuple) for method in parts("method"))
