"""How many records must leave a class at least: against every way to leave some out. A bound too high hides solutions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.models import BetaLikeness, TCloseness
from celosia.parts import search_hints


def gain(share, baseline):
    return max(max((s - q) / q for s, q in zip(share, baseline, strict=True)), 0.0)


def enhanced(share, baseline):
    over = [(s - q) / q > -math.log(q) + 1e-12 for s, q in zip(share, baseline, strict=True)]
    return math.inf if any(over) else gain(share, baseline)


def distance(share, baseline):
    return sum(abs(s - q) for s, q in zip(share, baseline, strict=True)) / 2


MODELS = [
    (BetaLikeness(beta=0.3), gain, 0.3),
    (BetaLikeness(beta=1.5), gain, 1.5),
    (BetaLikeness(beta=1.5, enhanced=True), enhanced, 1.5),
    (TCloseness(t=0.15, distance="equal"), distance, 0.15),
    (TCloseness(t=0.4, distance="equal"), distance, 0.4),
]


def fewest(counts, baseline, measure, bound):
    """The fewest records whose absence makes a class hold: all of them, if nothing else does."""
    ways = itertools.product(*(range(c + 1) for c in counts))
    kept = [sum(w) for w in ways if sum(w) and measure([c / sum(w) for c in w], baseline) <= bound + 1e-12]
    return sum(counts) - max(kept, default=0)


@pytest.mark.parametrize(("model", "measure", "bound"), MODELS, ids=[str(m[0]) for m in MODELS])
def test_no_fewer_records_would_do(model, measure, bound):
    rng = np.random.default_rng(1)
    some = exact = 0
    for _ in range(40):
        n = int(rng.integers(4, 14))
        rows = {"age": rng.integers(0, 2, n), "ill": rng.choice(list("abc"), n, p=[0.6, 0.3, 0.1])}
        table = celosia.read(pl.DataFrame(rows), celosia.Schema.of(quasi=["age"], sensitive=["ill"]))
        counts = table.class_counts(["ill"])
        values = sorted(set(rows["ill"]))
        baseline = [float(np.mean(rows["ill"] == v)) for v in values]
        found = search_hints(model).least_removed(counts)
        by_size = []
        for age in sorted(set(rows["age"])):
            inside = [int(((rows["age"] == age) & (rows["ill"] == v)).sum()) for v in values]
            by_size.append((sum(inside), fewest(inside, baseline, measure, bound)))
        assert [size for size, _ in by_size] == counts.size.tolist()
        for told, (_, wanted) in zip(found, by_size, strict=True):
            assert told <= wanted
            some, exact = some + (wanted > 0), exact + (told == wanted > 0)
    assert exact > some / 2, "a bound that is far too low saves nothing"
