"""The default candidates of an exploration: every family where it can be measured, formal guarantees with epsilon."""

from __future__ import annotations

import numpy as np
import polars as pl

import celosia
from celosia.frontier.candidates import candidates_of, has_declared_domains


def numbers(n: int = 80, bounds: bool = True) -> celosia.Table:
    rng = np.random.default_rng(1)
    x = rng.multivariate_normal([0, 0, 0], [[1, 0.8, 0], [0.8, 1, 0], [0, 0, 1]], n).clip(-4, 4)
    limits = dict.fromkeys("abc", (-4, 4)) if bounds else {}
    return celosia.read(pl.DataFrame(x, schema=list("abc")), celosia.Schema.of(quasi=list("abc"), bounds=limits))


def test_synthetic_records_are_proposed_and_a_guarantee_where_the_domain_is_declared():
    families = {candidate.family for candidate in candidates_of(numbers(), None)}
    assert {"gaussian-copula", "sequential-trees", "dp-synthesis", "noise"} <= families
    without = numbers(bounds=False)
    assert not has_declared_domains(without)
    assert "dp-synthesis" not in {candidate.family for candidate in candidates_of(without, None)}


def test_records_that_are_nobodys_are_measured_by_an_attack_that_needs_no_pairs():
    tried = [
        "gaussian-copula",
        "dp-synthesis(epsilon=5)",
        "dp-synthesis(epsilon=1)",
        "noise(columns=[a, b, c], p=0.01)",
    ]
    found = celosia.explore(numbers(200), tried, seeds=1, seed=1, workers=1)
    assert not found.failed
    points = {point.label: point for point in found.points}
    assert {p.decided for label, p in points.items() if not label.startswith("noise")} == {"attribute-disclosure"}
    noisy = next(p for label, p in points.items() if label.startswith("noise"))
    assert points["gaussian-copula"].risk.mean < noisy.risk.mean
    spec = {point["label"]: point for point in found.spec()["points"]}
    assert spec["dp-synthesis(epsilon=5.0)"]["epsilon"] == 5.0
    assert "epsilon" not in spec["gaussian-copula"]
    frontier = next(block for block in found.blocks() if block.headings)
    assert frontier.headings[-1] == "epsilon"


def test_tables_with_hierarchies_get_fuzzy_codes_guarantees_and_pipelines():
    rng = np.random.default_rng(2)
    data = pl.DataFrame({"age": rng.integers(20, 60, 200), "city": rng.choice(["Ur", "Uruk", "Lagash"], 200)})
    trees = {"age": "intervals(width=5, count=3)", "city": {"use": "tree", "tree": {"*": ["Ur", "Uruk", "Lagash"]}}}
    table = celosia.read(data, celosia.Schema.of(quasi=["age", "city"], hierarchies=trees))
    candidates = candidates_of(table, None)
    families = {candidate.family for candidate in candidates}
    assert {"microaggregate + generalise", "fuzzy-recode", "dp-generalise", "generalise", "mondrian"} <= families
    some = [c.methods for c in candidates if c.family in ("microaggregate + generalise", "fuzzy-recode")]
    found = celosia.explore(table, [list(methods) for methods in some], seeds=1, seed=1, workers=1)
    assert not found.failed
    assert len(found.points) == len(some)
    assert {m.name for methods in some for m in methods if hasattr(m, "columns")} == {"microaggregate", "fuzzy-recode"}
