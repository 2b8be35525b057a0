"""The default objective keeps columns informative, on the demonstration and on a wide file."""

from __future__ import annotations

import numpy as np
import polars as pl

import celosia
from celosia.demo import prepare
from celosia.methods import Generalise
from celosia.release.policy.policy import Policy


def informative(done):
    """The columns of which a cell covers less than the whole domain."""
    return [name for name, covered in done["covered"].items() if covered < 0.999]


def wide(rows=3_000):
    rng = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "zip": [f"{8000 + code:05d}" for code in (rng.zipf(1.3, rows) % 800).tolist()],
            "sex": rng.choice(["f", "m"], rows),
            "education": rng.integers(0, 16, rows),
            "marital": rng.choice(["single", "married", "divorced", "widowed"], rows, p=[0.3, 0.5, 0.13, 0.07]),
            "occupation": [f"{code:02d}" for code in (rng.zipf(1.5, rows) % 30).tolist()],
            "country": rng.choice(["ES", "FR", "MA", "RO"], rows, p=[0.85, 0.06, 0.05, 0.04]),
            "children": np.clip(rng.poisson(1.1, rows), 0, 7),
            "income": (np.exp(rng.normal(10, 0.5, rows)) // 500 * 500).astype(int),
            "height": np.round(rng.normal(170, 9, rows)).astype(int),
            "car": rng.choice(["yes", "no"], rows, p=[0.7, 0.3]),
            "tenure": rng.integers(0, 40, rows),
        }
    )
    numbers = {"age": 5, "education": 2, "children": 1, "income": 5000, "height": 5, "tenure": 5}
    ranges = {name: f"intervals(width={width}, count=4, fallback=*)" for name, width in numbers.items()}
    codes = {"zip": "prefixes", "occupation": "prefixes", "marital": "balanced", "country": "balanced"}
    kinds = {"zip": "nominal", "occupation": "nominal"}
    return celosia.read(frame, celosia.Schema.of(quasi=frame.columns, kinds=kinds, hierarchies=ranges | codes))


def test_a_wide_file_keeps_at_least_four_columns():
    method = Generalise(require=["k-anonymity(k=5)"], suppress=0.05, budget_nodes=300)
    done = celosia.protect(wide(), method, seed=1).history[-1]
    assert len(done["levels"]) == 12
    assert len(informative(done)) >= 4, done["covered"]


def test_the_demonstration_keeps_all_four_columns(tmp_path):
    policy = Policy.load(prepare(tmp_path))
    table = celosia.read(policy.source, policy.schema)
    done = celosia.protect(table, policy.steps[0].method, seed=1).history[-1]
    assert informative(done) == list(policy.schema.quasi)
