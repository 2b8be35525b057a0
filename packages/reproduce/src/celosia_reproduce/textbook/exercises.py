"""The exercises, Tables 12, 14, 23 and 24: a list of teachers, measures and methods, categories in groups, a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

import celosia
from celosia.methods import (
    BottomCode,
    GaussianCopula,
    Microaggregate,
    MixedMicroaggregate,
    MultiplicativeNoise,
    Noise,
    RankSwap,
    Recode,
    SuppressCells,
    TopCode,
)
from celosia.risk import AttackerKnows
from celosia_reproduce.statements import Statement, derived, printed
from celosia_reproduce.textbook.disclosure import numbers_of, read, smallest
from celosia_reproduce.textbook.figures import masked_copies
from celosia_reproduce.textbook.losses import MEASURES

if TYPE_CHECKING:
    import polars as pl

    from celosia.parts import Method

QUASI = ["Occupation", "ZIP", "Age", "Marital status"]
PLACES = {
    "Portland (Oregon)": ("970", "971", "972"),
    "Louisville (Kentucky)": ("400", "401"),
    "Long Beach (California)": ("908",),
    "East Los Angeles (California)": ("900",),
    "Springfield (Illinois)": ("627",),
    "Anchorage (Alaska)": ("995",),
}
"""Where the postal codes of a city begin: of the first two as the solution says, of the others as they are."""


def statements(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """All of them."""
    return [
        *teachers(tables), *covariances(tables), *methods(tables), *categories(tables), *trial()
    ]  # fmt: skip


def teachers(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Exercise 1: a generalised file and a list of teachers who won a prize."""
    where, frame = "Exercise 1 (Tables 23 and 24)", tables["table23"]
    table = read(frame, QUASI, "Income")

    def records(city: str) -> list[int]:
        facts = [{"Occupation": "Education", "ZIP": f"{prefix}01"} for prefix in PLACES[city]]
        masks = [AttackerKnows(known=fact).candidates(table) for fact in facts]
        return [int(i) for i in np.flatnonzero(np.any(masks, axis=0))]

    could = {name: records(city) for name, _, city in tables["table24"].rows()}
    keating, thackeray = could.pop("John Keating"), could.pop("Mark Thackeray")

    def learnt(rows: Sequence[int], column: str) -> list[str]:
        return sorted(set(frame[column].gather(list(rows))))

    return [
        printed(where, "k", 1, smallest(table)),
        printed(where, "records that John Keating can be", [5], [i + 1 for i in keating]),
        printed(where, "his income", ["790"], learnt(keating, "Income")),
        printed(where, "his age and marital status", ["[10, 29]", "Single"],
                [*learnt(keating, "Age"), *learnt(keating, "Marital status")]),
        printed(where, "what is disclosed of him", "identity", disclosed(frame, keating)),
        printed(where, "records that Mark Thackeray can be", [2, 4], [i + 1 for i in thackeray]),
        printed(where, "incomes that he can have", ["18098", "26062"], learnt(thackeray, "Income")),
        printed(where, "his age", ["[10, 29]"], learnt(thackeray, "Age")),
        printed(where, "his marital status", ["Divorced", "Married"], learnt(thackeray, "Marital status"),
                why="the category is 'divorced or widow/er': he can be a widower too"),
        printed(where, "what is disclosed of him", "attribute", disclosed(frame, thackeray)),
        derived(where, "records that each of the other teachers can be", [[], [], [], []], list(could.values())),
        derived(where, "k without marital status", 1, smallest(read(frame, QUASI[:3], "Income"))),
    ]  # fmt: skip


def disclosed(frame: pl.DataFrame, rows: Sequence[int]) -> str:
    """Identity where one record is left, attribute where fewer incomes are left than the file has, else nothing."""
    if len(rows) == 1:
        return "identity"
    left = frame["Income"].gather(list(rows)).n_unique()
    return "attribute" if 0 < left < frame["Income"].n_unique() else "nothing"


def covariances(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 12 defines nine measures; Table 26 prints six of them, these are the others."""
    files = numbers_of(tables["table25"], "xyz")
    stated = {
        "MSE": [36.60192812337969, 5650.3365067346695],
        "MAE": [5.087677, 45.874671],
        "MRE": [0.08099701718935759, 0.21227715296470526],
    }
    return [
        derived(
            "Table 12",
            f"IL_Cov_{name} of X' and X''",
            stated[name],
            [measure(on="covariance").value(files["x"], files[file]) for file in "yz"],
            within=1e-6,
        )
        for name, measure in MEASURES.items()
    ]


def methods(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 14 lists the methods of the module: each is run on the ages and incomes of Table 17."""
    import polars as pl

    numbers = ("age", "income")
    frame = tables["table17"].select(pl.col(name).cast(pl.Float64) for name in numbers)
    schema = celosia.Schema.of(quasi=["age"], sensitive=["income"], hierarchies={"age": "intervals(width=20)"})
    table = celosia.read(frame, schema)
    listed: dict[str, tuple[Method, ...]] = {
        "additive noise": (Noise(columns=numbers),),
        "multiplicative noise": (MultiplicativeNoise(columns=numbers),),
        "rank swapping": (RankSwap(columns=numbers, window=0.3),),
        "microaggregation": (Microaggregate(columns=numbers, k=3),),
        "generalisation": (Recode(column="age", level=1),),
        "suppression": (SuppressCells(columns=("age",), fewer_than=2),),
        "top and bottom coding": (TopCode(columns=("age",), quantile=0.9), BottomCode(columns=("age",), quantile=0.1)),
        "synthetic data": (GaussianCopula(),),
    }
    changed = [
        name for name, steps in listed.items() if not celosia.protect(table, *steps, seed=1).polars().equals(frame)
    ]
    return [printed("Table 14", "methods, each run on Table 17", list(listed), changed)]


def categories(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Exercise 3: MDAV over categories, with distances and representatives that suit them, on Table 15."""
    import polars as pl

    where, raw = "Exercise 3", tables["table15"].with_columns(pl.col("Age").cast(pl.Float64))
    table = celosia.read(raw, celosia.Schema.of(quasi=raw.columns))
    nominal = [name for name in raw.columns if name != "Age"]
    method = MixedMicroaggregate(columns=tuple(raw.columns), k=3, distance={"ZIP": "edit"})
    grouped = celosia.protect(table, method)
    shown = grouped.polars()
    return [
        printed(where, "MDAV can group categories: all groups have three records", True, smallest(grouped) >= 3),
        derived(where, "groups", 3, shown.n_unique()),
        derived(where, "nominal values are values of the file", True,
                all(set(shown[name]) <= set(raw[name]) for name in nominal)),
        derived(where, "mean age", raw["Age"].mean(), shown["Age"].mean(), within=1e-9),
    ]  # fmt: skip


def trial() -> list[Statement]:
    """Exercise 4: try methods and measures with a tool; here the copies of Iris in the map of risk and utility."""
    copies = masked_copies()
    safer = sum(risk < 1 and lost > 0 for _, risk, lost in copies)
    return [
        derived("Exercise 4", "masked copies of Iris with a lower risk and some loss", len(copies), safer,
                why="it has no solution; the map of risk and utility (figure 5) shows the trial"),
    ]  # fmt: skip
