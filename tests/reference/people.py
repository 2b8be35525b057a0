"""A table with a column of every sort, on which every method can be tried, and an example of each method."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from tests.reference.tables import TREES

import celosia
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
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "anatomise": [{"l": 2}, {"l": 2, "groups": "buckets"}],
    "bottom-code": [{"columns": ["x"], "quantile": 0.1}, {"columns": ["m"], "value": 5}],
    "correlated-noise": [{"columns": ["x", "y"], "p": 0.1}],
    "dp-generalise": [{"epsilon": 3.0, "delta": 0.1, "levels": {"q": 1, "r": 1}}],
    "dp-histogram": [{"columns": ["q", "s"], "epsilon": 1.0, "values": VALUES}],
    "dp-marginals": [{"marginals": [["q"], ["s"]], "epsilon": 1.0, "values": VALUES}],
    "dp-synthesis": [{"columns": ["q", "s"], "epsilon": 1.0, "values": VALUES}],
    "drop": [{}, {"columns": ["x"]}],
    "fcrm": [{"dependent": ["y"], "independent": ["x"], "c": 2}],
    "fuzzy-recode": [{"columns": ["x"], "sets": SETS}, {"columns": ["x"], "cells": 2, "degrees": 2}],
    "gaussian-copula": [{}],
    "generalise": [
        {"require": K2, "suppress": 0.2},
        {"require": K2, "objective": "discernibility", "suppress": 0.5},
        {"require": K2, "suppress": 0.5, "drop": True},
        {"require": K2, "suppress": 1.0, "aggregate": {"r": "mode"}},
    ],
    "in-blocks": [
        {"method": "rank-swap(columns=[x, y], window=0.5)", "by": ["area"], "size": 60},
        {"method": "microaggregate(columns=[x], k=2)", "size": 40},
    ],
    "individual-ranking": [{"columns": ["x", "y"], "k": 3}],
    "ipso": [{"dependent": ["y"], "independent": ["x"], "variant": v} for v in "ABC"],
    "local-generalise": [{"require": K2}, {"require": K2, "suppress": 0.5, "drop": True}],
    "local-suppress": [{"k": 2}, {"k": 2, "missing": "wildcard"}],
    "mask": [{"columns": ["name"], "keep": 1}],
    "microaggregate": [{"columns": ["x", "y"], "k": 3}, {"columns": ["m"], "k": 3, "aggregate": "median"}],
    "mixed-microaggregate": [{"columns": ["q", "x"], "k": 3}],
    "mondrian": [{"require": K2}, {"require": K2, "strict": False, "output": "mode"}],
    "multiplicative-noise": [{"columns": ["x"]}],
    "multivariate-top-code": [{"columns": ["x", "y"]}],
    "noise": [{"columns": ["x", "y"]}, {"columns": ["m"], "scope": "outliers"}],
    "optimal-univariate": [{"column": "x", "k": 3}],
    "orthogonal-mask": [{"columns": ["x", "y"]}],
    "permute": [{"l": 2}, {}],
    "pram": [{"columns": ["q", "s"]}],
    "projection-microaggregate": [{"columns": ["x", "y"], "k": 3}],
    "pseudonymise": [{"columns": ["name"]}, {"columns": ["name"], "key": "correct horse battery"}],
    "random-perturbation": [{"jitter": ["m"], "shuffle": ["s"]}],
    "randomised-response": [{"columns": ["s"], "epsilon": 2.0, "categories": {"s": VALUES["s"]}, "rows_per_person": 9}],
    "rank-swap": [{"columns": ["x", "y"], "window": 0.2}],
    "recode": [{"column": "q", "level": 1}, {"column": "x", "bins": 4}, {"column": "s", "mapping": {"flu": "cold"}}],
    "redact-text": [{"columns": ["town"]}],
    "record-swap": [
        {"geography": ["area", "town"], "k": 2, "rate": 0.1},
        {"geography": ["area"], "risk": ["q"], "k": 4},
    ],
    "round": [{"columns": ["x"], "base": 5}, {"columns": ["m"], "base": 10, "way": "random"}],
    "sample": [{"share": 0.5}, {"size": 9}, {"share": 0.5, "by": "h"}],
    "sequential-trees": [{"leaf": 5}, {"leaf": 5, "columns": ["s"]}, {"leaf": 5, "where": "m > 10"}],
    "shift-dates": [{"columns": ["day"], "days": 30}, {"columns": ["day"], "by": "h", "key": "correct horse battery"}],
    "shuffle": [{"columns": ["x"], "given": ["y"]}],
    "subset": [{"where": "m > 10"}, {"size": 9}],
    "suppress-cells": [{"columns": ["q"], "fewer_than": 9}, {"columns": ["x"], "where": "m > 20"}],
    "suppress-records": [{"require": K2}, {"require": K2, "drop": True}],
    "top-code": [{"columns": ["x"], "quantile": 0.9}, {"columns": ["day"], "value": "2020-10-01"}],
    "tree-generalise": [{"columns": ["q"], "k": 3}, {"columns": ["q"], "k": 8}],
    "variable-microaggregate": [{"columns": ["x", "y"], "k": 3}],
}
