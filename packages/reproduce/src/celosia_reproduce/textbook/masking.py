"""Tables 15 to 19, 21 and 22: generalisation, noise, rank swapping, microaggregation."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

import celosia
from celosia.methods import CorrelatedNoise, Microaggregate, Noise, OptimalUnivariate, RankSwap, Recode
from celosia_reproduce.statements import Statement, consistent, derived, printed
from celosia_reproduce.textbook.disclosure import read, smallest

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SECTORS = {
    "*": {
        "Sports": ["Runner", "Boxer", "Horse rider"],
        "Education": ["School teacher", "Professor", "Student"],
        "Law enforcement": ["Police det.", "Police capt.", "Military lt."],
    }
}
DRAWS = 400_000


def statements(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """All of them."""
    return [*generalisation(tables), *noise(tables), *swapping(tables), *microaggregation(tables)]


def generalisation(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Tables 15 and 16."""
    import polars as pl

    where, raw, safe = "Table 16", tables["table15"], tables["table16"]
    married = {"*": {"Divorced or Widow/er": ["Divorced", "Widow/er"], "Married": ["Married"], "Single": ["Single"]}}
    hierarchies = {
        "Occupation": SECTORS,
        "ZIP": "prefixes(masked=[3])",
        "Age": "intervals(width=20, origin=10, style=closed)",
        "Marital status": married,
    }
    schema = celosia.Schema.of(quasi=raw.columns, hierarchies=hierarchies)
    table = celosia.read(raw.with_columns(pl.col("Age").cast(pl.Int64)), schema)
    recoded = celosia.protect(table, *(Recode(column=name, level=1) for name in raw.columns)).polars()

    def column(name: str) -> list[str]:
        return [cell.replace(" ", "") if name == "Age" else cell for cell in safe[name]]

    def own(name: str) -> list[str]:
        return [str(cell).replace("-", ",").replace(" ", "") if name == "Age" else cell for cell in recoded[name]]

    return [
        *(printed(where, f"{name}, generalised", column(name), own(name)) for name in raw.columns),
        printed(
            where,
            "k",
            3,
            smallest(read(safe, safe.columns)),
            why="k is 3 only without marital status",
        ),
        derived(where, "k on occupation, ZIP, age", 3, smallest(read(safe, safe.columns[:3]))),
    ]


def noise(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Tables 17, 18 and 19: what the printed draws have, and what noise does on the average."""
    frame = tables["table17"]
    values = {name: frame[name].cast(float).to_numpy() for name in frame.columns}
    pairs = {"original": ("age", "income"), "17b": ("age17", "income17"), "18b": ("age18", "income18")}
    mean = {key: [float(values[a].mean()), float(values[b].mean())] for key, (a, b) in pairs.items()}
    corr = {key: float(np.corrcoef(values[a], values[b])[0, 1]) for key, (a, b) in pairs.items()}
    variance = float(values["age"].var())
    plain, joint = (_repeated(values["age"], values["income"], correlated=c) for c in (False, True))
    return [
        printed("Table 17", "means of the original", [41.7, 28100], mean["original"], relative=2e-5),
        printed("Table 17", "means with uncorrelated noise", [39.5, 24094], mean["17b"], relative=2e-5),
        printed("Table 18", "means with correlated noise", [40.9, 28511], mean["18b"], relative=2e-5),
        printed("Table 17", "variance of age", 294.21, variance, within=1e-9),
        printed("Table 17", "noise variance for age, p = 0.5", 142.105, 0.5 * variance, within=1e-9,
                why="0.5 times 294.21 is 147.105; a digit slipped (284.21)"),
        printed("Table 19", "correlation of the original", 0.149701, corr["original"], within=5e-7),
        printed("Table 19", "correlation with uncorrelated noise", 0.3623301, corr["17b"], within=5e-8),
        printed("Table 19", "correlation with correlated noise", 0.1483453, corr["18b"], within=5e-8),
        derived("Table 17", "growth of the variance of age, p = 0.5", 1.5, plain[0], within=0.03),
        derived("Table 18", "growth of the variance of age, p = 0.5", 1.5, joint[0], within=0.03),
        derived("Table 19", "correlation kept by uncorrelated noise, p = 0.5", 1 / 1.5, plain[1], within=0.05),
        derived("Table 19", "correlation kept by correlated noise", 1.0, joint[1], within=0.05),
    ]  # fmt: skip


def _repeated(age: Floats, income: Floats, *, correlated: bool) -> tuple[float, float]:
    """Growth of a variance, and the share of the correlation that is left, over many copies of the table."""
    import polars as pl

    copies = DRAWS // len(age)
    frame = pl.DataFrame({"age": np.tile(age, copies), "income": np.tile(income, copies)})
    method = (CorrelatedNoise if correlated else Noise)(columns=("age", "income"), p=0.5)
    noisy = celosia.protect(celosia.read(frame), method, seed=1).polars()
    growth = float(noisy["age"].to_numpy().var() / frame["age"].to_numpy().var())
    kept = np.corrcoef(noisy["age"], noisy["income"])[0, 1] / np.corrcoef(frame["age"], frame["income"])[0, 1]
    return growth, float(kept)


def swapping(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 21: a printed swap replayed, and the rule that it follows."""
    import polars as pl

    where, frame = "Table 21", tables["table21"].with_columns(pl.all().cast(pl.Int64))
    original = frame["original"].to_list()
    order = [i for i, _ in sorted(enumerate(original), key=itemgetter(1))]
    value = [original[i] for i in order]
    ranks = {v: i for i, v in enumerate(value)}
    partner = [ranks[v] for v in frame["swapped"]]  # the draws of the source: the print alone tells them
    undone = {i: value[to] for i, to in zip(order, partner, strict=True)}
    window = int(0.3 * len(order))
    own = celosia.protect(
        celosia.read(pl.DataFrame({"v": original})), RankSwap(columns=("v",), window=0.3), seed=3
    ).polars()["v"].to_list()  # fmt: skip
    moves = [abs(ranks[a] - ranks[b]) for a, b in zip(original, own, strict=True)]
    return [
        printed(where, "records by rank", frame["index"].to_list(), [i + 1 for i in order]),
        printed(where, "values by rank", frame["value"].to_list(), value),
        printed(where, "the exchanges undone", frame["result"].to_list(), [undone[i] for i in range(len(order))]),
        consistent(where, "exchanges go both ways", list(range(len(order))), [partner[p] for p in partner]),
        consistent(where, "no value moves farther than", window, max(abs(i - p) for i, p in enumerate(partner))),
        derived(where, "`rank-swap`: the same values", sorted(original), sorted(own)),
        derived(where, "`rank-swap`: no value moves farther", True, max(moves) <= window),
    ]


def microaggregation(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 22: groups of three by MDAV, and the best ones."""
    import polars as pl

    where, frame = "Table 22", tables["table22"].with_columns(pl.all().cast(pl.Int64))
    table = celosia.read(frame.select(pl.col("value").cast(pl.Float64)))
    grouped = celosia.protect(table, Microaggregate(columns=("value",), k=3)).polars()["value"].to_numpy()
    best = celosia.protect(table, OptimalUnivariate(column="value", k=3)).polars()["value"].to_numpy()
    x = frame["value"].to_numpy()
    squares = [float(((x - means) ** 2).sum()) for means in (grouped, best)]
    return [
        printed(where, "the result", frame["result"].to_list(), [int(v) for v in np.floor(grouped + 0.5)]),
        derived(where, "squared error of MDAV", 442.6667, squares[0], within=1e-4),
        derived(
            where, "squared error of the best groups", 311.4167, squares[1], within=1e-4, why="the print is not best"
        ),
    ]
