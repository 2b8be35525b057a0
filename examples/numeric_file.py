"""Protect numbers: compare noise, rank swapping and microaggregation on the same file."""

import numpy as np
import polars as pl

import celosia

rng = np.random.default_rng(1)
base = rng.lognormal(8, 0.5, 2_000)
data = pl.DataFrame(
    {"income": base, "tax": 0.2 * base + rng.normal(0, 50, 2_000), "rent": rng.lognormal(6, 0.3, 2_000)}
)
table = celosia.read(data)
columns = "[income, tax, rent]"
for method in (
    f"noise(columns={columns}, p=0.1)",
    f"rank-swap(columns={columns}, window=0.05)",
    f"microaggregate(columns={columns}, k=5)",
):
    protected = celosia.protect(table, method, seed=1)
    risk = celosia.risk.DistanceLinkage(columns=["income", "tax", "rent"]).value(table, protected)
    change = float(
        np.corrcoef(table.numeric(["income", "tax"]).T)[0, 1]
        - np.corrcoef(protected.numeric(["income", "tax"]).T)[0, 1]
    )
    print(f"{method}: linked {risk:.1%}, correlation of income and tax moved by {change:+.3f}")
