"""Every loss of the catalogue: its value by a slow second way, its least value, its parts, and what a search minimises.

A new loss needs a second way in its own test file, under ``@by_classes(name)`` of ``tests.reference.losses`` (classes and cells) or
``@by_columns(name)`` of ``tests.reference.column_losses``, or a reason in ``NO_CLOSED_FORM``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.reference.column_losses import COLUMN_LOSSES
from tests.reference.losses import CLASS_LOSSES
from tests.reference.own import load
from tests.reference.tables import Situation, drawn, plain_of, random_table, situations

import celosia
from celosia.errors import NotApplicable, RequirementError
from celosia.loss.bases.column_loss import _ColumnLoss
from celosia.parts import SearchObjective, build, parts
from celosia.table.suppression import suppress_records

load("loss")
NO_CLOSED_FORM = {
    "cluster-disagreement": "k-means",
    "coefficient-overlap": "a regression with quantiles of Student's distribution",
    "model-disagreement": "a learner",
    "probabilistic-loss": "kernel densities",
    "propensity": "a learner",
    "score": "put together from another loss and a risk, see below",
    "train-released-test-real": "a learner",
    "tree-difference": "a learner",
}
MOVES = {
    "unchanged": (),
    "generalised": (("recode", "q", 1),),
    "both": (("recode", "q", 1), ("recode", "r", 1)),
    "top": (("recode", "q", 2),),
    "suppressed": (("suppress", 2),),
    "generalised-suppressed": (("recode", "q", 1), ("suppress", 2)),
    "subset": (("subset", 9),),
    "subset-suppressed": (("subset", 9), ("suppress", 2)),
    "all-suppressed": (("suppress", 99),),
}


def tables(sort: str, seed: int):
    """Small tables: rows, persons with several rows, missing values, columns without a hierarchy."""
    found = random_table(
        seed,
        12,
        persons=sort == "persons",
        missing="category" if sort == "missing" else None,
        letters="abcd" if seed % 2 else "abc",
    )
    return replace(found, trees={"s": found.trees["s"]}) if sort == "flat" else found


def examples(losses):
    return [(name, given) for name in losses for given in parts("loss")[name].examples]


def shown(value):
    return ",".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else str(value)


def test_every_loss_has_a_slow_second_way_or_a_reason():
    for name in parts("loss"):
        assert name in CLASS_LOSSES or name in COLUMN_LOSSES or name in NO_CLOSED_FORM, (
            f"write {name} a second time in its test file (@by_classes or @by_columns), or say why there is none"
        )
    assert set(CLASS_LOSSES) | set(COLUMN_LOSSES) | set(NO_CLOSED_FORM) == set(parts("loss"))


@pytest.mark.parametrize(
    ("sort", "moves"),
    [
        (sort, moves)
        for sort, moves in itertools.product(("rows", "persons", "missing", "flat"), MOVES)
        if not (sort == "flat" and any(m[0] == "recode" for m in MOVES[moves]))
    ],
)
def test_losses_of_cells_and_classes_agree_with_the_slow_way(sort, moves):
    for seed in range(3):
        situation = Situation("", tables(sort, seed), MOVES[moves])
        before, after = situation.table, situation.plain()
        engine = "duckdb" if seed == 2 and moves == "generalised-suppressed" else "polars"
        original = situation.input(engine)
        everyone = moves == "all-suppressed"
        protected = (
            suppress_records(original, np.ones(len(original), dtype=bool)) if everyone else situation.read(engine)
        )
        for name, given in examples(CLASS_LOSSES):
            if name == "kullback-leibler" and "subset" in moves:
                continue  # without all records nothing tells which class a combination went to
            loss = build("loss", {"use": name, **given})
            value, expected = loss.value(original, protected), CLASS_LOSSES[name](before, after, **given)
            assert value == pytest.approx(expected, abs=1e-9), f"{loss}, seed {seed}"
            assert not loss.bounded or 0 <= value <= 1, str(loss)
            if moves == "unchanged":
                assert value == loss.identity_value(original), str(loss)


def test_losses_of_cells_and_classes_agree_after_any_steps():
    for situation, protected in drawn(range(400, 440)):
        moves = {move[0] if move[0] != "recode" else move[1] for move in situation.moves}
        if situation.table.missing_semantics != "category" or not situation.table.rows or moves & {"map", "s"}:
            continue
        after, original = situation.plain(), situation.input()
        for name, given in examples(CLASS_LOSSES):
            if name == "kullback-leibler" and "subset" in moves:
                continue
            try:
                value = build("loss", {"use": name, **given}).value(original, protected)
            except NotApplicable:
                continue
            expected = CLASS_LOSSES[name](situation.table, after, **given)
            assert value == pytest.approx(expected, abs=1e-9), f"{name} {given} on {situation}, {situation.moves}"


def frames(seed: int, rows: int = 25):
    """Two numeric and two categorical columns, before and after noise, swapping and recoding."""
    rng = np.random.default_rng(seed)
    before = {
        "x": rng.integers(1, 9, rows).astype(float).tolist(),
        "y": rng.integers(1, 6, rows).tolist(),
        "c": rng.choice(list("uvw"), rows).tolist(),
        "e": rng.choice(list("st"), rows).tolist(),
    }
    after = {
        "x": [v + float(d) for v, d in zip(before["x"], rng.integers(-1, 2, rows), strict=True)],
        "y": [int(v) for v in rng.permutation(before["y"])],
        "c": [v if rng.random() < 0.7 else "u" for v in before["c"]],
        "e": before["e"],
    }
    return before, after


@pytest.mark.parametrize(("name", "given"), examples(COLUMN_LOSSES), ids=shown)
def test_losses_of_columns_agree_with_the_slow_way(name, given, engine):
    loss = build("loss", {"use": name, **given})
    for seed in range(3):
        before, after = frames(seed)
        original, protected = (celosia.read(pl.DataFrame(f), engine=engine) for f in (before, after))
        value = loss.value(original, protected)
        assert value == pytest.approx(COLUMN_LOSSES[name](before, after, **given), abs=1e-9)
        assert not loss.bounded or 0 <= value <= 1
        assert loss.value(original, original) == loss.identity_value(original)


def test_the_score_is_put_together_from_loss_and_risk():
    before, after = frames(1)
    original, protected = (celosia.read(pl.DataFrame(f)) for f in (before, after))
    loss, risk = build("loss", "hellinger"), build("attack", "distance-linkage")
    expected = 100 * (0.3 * loss.value(original, protected) + 0.7 * risk.value(original, protected))
    score = build("loss", {"use": "score", "loss": loss, "risk": risk, "weight": 0.3})
    assert score.value(original, protected) == pytest.approx(expected)


MEANS = ["certainty-penalty", "non-uniform-entropy"]
MEANS += [name for name, cls in parts("loss").items() if issubclass(cls, _ColumnLoss)]
"""Losses that are the mean of their parts, one part per column; the first two scale their parts as well."""


@pytest.mark.parametrize("name", MEANS)
def test_a_loss_that_is_a_mean_over_columns_is_the_mean_of_its_parts(name):
    if name in CLASS_LOSSES:
        situation = Situation("", tables("missing", 1), MOVES["generalised-suppressed"])
        original, protected = situation.input(), situation.read()
    else:
        original, protected = (celosia.read(pl.DataFrame(f)) for f in frames(1))
    loss = build("loss", name)
    found = loss.parts(original, protected)
    assert len(found) >= 2
    assert loss.value(original, protected) == pytest.approx(np.mean(list(found.values())))


def test_the_parts_of_other_losses_make_up_their_value():
    situation = Situation("", tables("rows", 1), MOVES["generalised-suppressed"])
    original, protected = situation.input(), situation.read()
    domain = build("loss", "domain-loss(aggregate=sum)")
    assert domain.value(original, protected) == pytest.approx(sum(domain.parts(original, protected).values()))
    height = build("loss", "height")
    assert height.value(original, protected) == pytest.approx(sum(height.parts(original, protected).values()))
    bits = build("loss", "kullback-leibler").parts(original, protected)
    assert build("loss", "kullback-leibler").value(original, protected) == pytest.approx(
        bits["cross"] - bits["entropy"]
    )


@pytest.mark.parametrize(
    "situation",
    [
        s
        for s in situations(0)
        if s.plain().missing_semantics == "category" and not any(m[0] == "recode" for m in s.moves)
    ],
    ids=str,
)
def test_an_unchanged_table_has_the_least_loss_whatever_it_holds(situation):
    """Also a table in which records are suppressed, or all of them are, or that has one row."""
    table = situation.read()
    for name, given in examples(CLASS_LOSSES):
        loss = build("loss", {"use": name, **given})
        try:
            value = loss.value(table, table)
        except NotApplicable:
            continue
        assert value == loss.identity_value(table) or table.suppressed(), f"{loss}: {value}"
        assert math.isfinite(value), str(loss)


# What a search minimises is the loss.

SORTS = ("rows", "persons", "missing", "flat", "flat-missing", "suppressed", "missing-suppressed")
OBJECTIVES = [(n, g) for n, g in examples(CLASS_LOSSES) if issubclass(parts("loss")[n], SearchObjective)]


@pytest.mark.parametrize(
    ("name", "given", "sort"),
    [(name, given, sort) for (name, given), sort in itertools.product(OBJECTIVES, SORTS)],
    ids=shown,
)
@pytest.mark.sampled(30)
def test_the_score_of_a_search_is_the_loss_and_the_best_has_the_least(name, given, sort):
    loss = build("loss", {"use": name, **given})
    for seed in range(2):
        plain = tables("missing" if "missing" in sort else sort, seed)
        plain = replace(plain, trees={"s": plain.trees["s"]}) if "flat" in sort else plain
        situation = Situation("", plain, (("suppress", 2),) if "suppressed" in sort else ())
        plain, table = replace(situation.plain(), before=None), situation.read()
        step = {"use": "generalise", "require": ["k-anonymity(k=2)"], "objective": loss, "suppress": 0.5 * seed}
        heights = range(2) if "flat" in sort else range(3)
        reached = {}
        for levels in [None, *itertools.product(heights, repeat=2)]:
            fixed = {} if levels is None else {"levels": dict(zip("qr", levels, strict=True))}
            try:
                done = celosia.protect(table, {**step, **fixed})
            except RequirementError:
                continue
            score = done.history[-1]["score"]
            score = score[0] if isinstance(score, tuple | list) else score
            reached[levels] = loss.value(table, done)
            assert score == pytest.approx(reached[levels], abs=1e-9), f"{loss} at {levels}, seed {seed}"
            expected = CLASS_LOSSES[name](plain, plain_of(done, plain), **given)
            assert reached[levels] == pytest.approx(expected, abs=1e-9), f"{loss} at {levels}, seed {seed}"
        best = reached.pop(None)
        assert best <= min(reached.values()) + 1e-9, f"{loss}: {best} is called best, seed {seed}"
