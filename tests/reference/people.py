"""A table with a column of every sort, on which every method can be tried, and an example of each method."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from tests.reference.tables import TREES

import celosia
from celosia.parts import parts
from celosia.table import Table

ROLES: dict[str, Any] = {
    "identifiers": ["name"],
    "quasi": ["q", "r"],
    "sensitive": ["s"],
    "insensitive": ["x", "y", "m", "day", "area", "town"],
    "weight": "w",
    "household": "h",
    "bounds": {"m": (0, 40), "x": (0.0, 100.0)},
    "hierarchies": {name: {"use": "levels", "rows": TREES[name]} for name in ("q", "r", "s")},
}
SORTS = ("rows", "persons", "gaps")
"""One row a person; several rows a person; with missing cells in every column but the ids."""


def people(sort: str = "rows", seed: int = 0, rows: int = 36) -> pl.DataFrame:
    """The people: numbers x and y that go together, whole numbers m, a day, an area with towns."""
    rng = np.random.default_rng(seed)
    x = rng.gamma(3.0, 8.0, rows).clip(0, 100).round(2)
    household = rng.integers(0, rows // 2, rows)
    town = household % 4
    columns = {
        "name": [f"person {i}" for i in range(rows)],
        "q": rng.choice(list("abcd"), rows).tolist(),
        "r": rng.integers(1, 5, rows).tolist(),
        "s": rng.choice(["flu", "cold", "hiv", "tbc"], rows).tolist(),
        "x": x.tolist(),
        "y": (2 * x + rng.normal(0, 5, rows)).round(2).tolist(),
        "m": rng.integers(0, 40, rows).tolist(),
        "day": [date(2020, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 400, rows)],
        "area": ["north" if t < 2 else "south" for t in town],
        "town": [f"town {t}" for t in town],
        "w": rng.integers(1, 9, rows).astype(float).tolist(),
        "h": household.tolist(),
    }
    if sort == "persons":
        columns["i"] = rng.integers(0, rows // 2, rows).tolist()
    if sort == "gaps":
        for name in ("q", "r", "s", "x", "y", "m", "day"):
            columns[name] = [None if rng.random() < 0.1 else value for value in columns[name]]
    return pl.DataFrame(columns)


def people_table(sort: str = "rows", engine: str = "polars", **more: Any) -> Table:
    """The people as a table."""
    roles = {**ROLES, **({"person": "i"} if sort == "persons" else {})}
    return celosia.read(people(sort, **more), celosia.Schema.of(**roles), engine=engine)


VALUES = {"q": list("abcd"), "s": ["flu", "cold", "hiv", "tbc"]}
K2 = ["k-anonymity(k=2)"]
SETS = {"x": {"low": "(-inf;20;40)", "high": "(20;40;inf)"}}
EXAMPLES = {name: list(cls.examples) for name, cls in parts("method").items()}
