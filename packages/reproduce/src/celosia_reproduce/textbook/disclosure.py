"""Tables 2 to 10 and 20: who can be found, what can be learnt, how far an answer moves."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import celosia
from celosia.kernels.budget.neighbours import distance, of_count
from celosia.kernels.budget.noise import LaplaceNoise
from celosia.mechanisms import RandomisedResponse
from celosia.models import KAnonymity, LDiversity, TCloseness
from celosia.risk import AttackerKnows, DistanceLinkage, Uniqueness
from celosia_reproduce.statements import Statement, consistent, derived, printed

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

KEYS = ["Occupation", "ZIP", "Sex"]


def statements(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """All of them."""
    return [
        *knowledge(tables),
        *anonymity(tables),
        *diversity(tables),
        *means(tables),
        *coins(tables),
        *linkage(tables),
        *emperors(tables),
    ]


def read(frame: pl.DataFrame, quasi: list[str], *numbers: str) -> Table:
    """Return a printed table with the columns that hold numbers."""
    import polars as pl

    frame = frame.with_columns(pl.col(name).cast(pl.Float64) for name in numbers)
    return celosia.read(frame, celosia.Schema.of(quasi=quasi, sensitive=[n for n in numbers if n not in quasi]))


def smallest(table: Table) -> int:
    """K."""
    return int(KAnonymity(k=2).value(table))


def knowledge(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 3: the chance to pick the right record, by what is known."""
    where, frame = "Table 3", tables["table03"]
    table = read(frame, ["Occupation", "ZIP", "Sex"], "Income")
    facts: list[tuple[str, dict[str, Any], float]] = [
        ("military", {"Occupation": "Military lt."}, 1),
        ("ZIP 40831 and a woman", {"ZIP": "40831", "Sex": "F"}, 0.5),
        ("ZIP 40831", {"ZIP": "40831"}, 0.33),
        ("a woman", {"Sex": "F"}, 0.2),
    ]
    why = {"a woman": "there are four women: 0.25; 0.2 would be the five men"}
    chances = [
        printed(
            where,
            f"chance: {who}",
            stated,
            AttackerKnows(known=attributes).value(table),
            within=0.0034,
            why=why.get(who, ""),
        )
        for who, attributes, stated in facts
    ]
    unique = [float(Uniqueness().value(read(frame, [name]))) * len(frame) for name in ("Occupation", "ZIP", "Age")]
    incomes = AttackerKnows(known=facts[1][1]).remaining_values(table)["Income"]
    return [
        consistent("Table 2", "cell x_42", "Professor", tables["table02"].row(3)[1]),
        *chances,
        printed(where, "incomes of the two women of 40831", ["18098", "790"], list(incomes)),
        derived(where, "unique records by occupation, ZIP, age", [9, 4, 9], unique, within=1e-9),
        derived(where, "k by sex", 4, smallest(read(frame, ["Sex"]))),
    ]


def anonymity(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Tables 4 and 5: three-anonymous, and yet incomes are learnt."""
    four, five = (read(tables[name], KEYS, "Income") for name in ("table04", "table05"))
    ordered = TCloseness(t=1, column="Income", distance="ordered")
    equal = TCloseness(t=1, column="Income", distance="equal")
    bounds = {zip_: AttackerKnows(known={"ZIP": zip_}).intervals(five)["Income"] for zip_ in ("97222", "80100")}
    return [
        printed("Table 4", "k", 3, smallest(four)),
        derived("Table 4", "different incomes in a class", 3, int(LDiversity(l=2, column="Income").value(four))),
        derived("Table 4", "distance of incomes, ordered and equal", [1 / 6, 0.5],
                [ordered.value(four), equal.value(four)], within=1e-12),
        printed("Table 5", "k", 3, smallest(five)),
        printed("Table 5", "income of ZIP 97222", [23000, 28000], list(bounds["97222"])),
        printed("Table 5", "income of ZIP 80100", [10000, 10000], list(bounds["80100"])),
        derived("Table 5", "different incomes in a class", 1, int(LDiversity(l=2, column="Income").value(five))),
    ]  # fmt: skip


def diversity(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 6 in three readings."""
    where, table = "Table 6", read(tables["table06"], KEYS, "Income")
    entropy = LDiversity(l=1.5, column="Income", variant="entropy")
    levels = entropy.classes(table).sort("Occupation")["l"].to_list()
    bits = [math.log2(level) for level in levels]

    def recursive(c: float, l: int) -> bool:
        return LDiversity(l=l, column="Income", variant="recursive", c=c).holds(table)

    return [
        printed(where, "k", 3, smallest(table)),
        printed(where, "distinct", 2, int(LDiversity(l=2, column="Income").value(table))),
        printed(where, "entropy of the teachers", 0.9183, bits[0], within=5e-5),
        printed(where, "entropy of the writers", 1.585, bits[1], within=5e-4),
        printed(where, "entropy of the writers, first place", 1.59, round(bits[1], 2), why="a sum of rounded terms"),
        printed(where, "two to the entropy of the teachers", 1.88988, levels[0], within=1e-5),
        printed(where, "entropy level, one decimal cut", 1.8, math.floor(10 * entropy.value(table)) / 10),
        printed(where, "recursive (3, 2)", True, recursive(3, 2)),
        derived(where, "recursive (2, 2) and (9, 3)", [False, False], [recursive(2, 2), recursive(9, 3)]),
    ]


def means(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 7: a mean with and without a person."""
    where, ages = "Table 7", [int(age) for age in tables["table07"]["age"]]
    n, whole = len(ages), sum(ages) / len(ages)
    without = [(sum(ages) - age) / (n - 1) for age in ages[:2]]
    return [
        printed(where, "mean of all", 41.7, whole, within=1e-9),
        printed(where, "mean without the first", 41.67, without[0], within=0.005),
        printed(where, "mean without the second", 45.0, without[1], within=1e-9),
        derived(where, "the ages that the differences give", ages[:2],
                [n * whole - (n - 1) * m for m in without], within=1e-9),
    ]  # fmt: skip


def coins(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 8: two coins, a truth and an answer."""
    where, table, coin = "Table 8", tables["table08"], RandomisedResponse()
    chance = {
        (truth, answer): sum(float(row[4]) for row in table.rows() if (row[0], row[3]) == (truth, answer))
        for truth in ("yes", "no")
        for answer in ("yes", "no")
    }
    ratio = chance["yes", "yes"] / chance["no", "yes"]
    return [
        consistent(where, "truthful and untruthful", [0.75, 0.25], [chance["yes", "yes"], chance["no", "yes"]]),
        printed(where, "a yes is so many times as likely from a yes", 3, math.exp(coin.epsilon()), within=1e-12),
        printed(where, "epsilon", 1.1, coin.epsilon(), within=0.002, why="ln 3; one place prints 'ln e'"),
        derived(where, "epsilon of the mechanism", math.log(ratio), coin.epsilon(), within=1e-12),
        derived(where, "share behind 40 % of yes", 0.3, coin.estimate(0.4), within=1e-9),
    ]


def linkage(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Tables 9 and 10: two protected files, linked by distance."""
    where, frame = "Table 10", tables["table10"]
    files = numbers_of(frame, "xyz")
    names = list(files["x"].names)

    def links(to: str, *columns: str) -> tuple[list[int], float]:
        attack = DistanceLinkage(columns=columns or tuple(names), scale="none", ties="first")
        records = attack.records(files["x"], files[to])
        return [int(v) + 1 for v in records["linked"]], attack.value(files["x"], files[to])

    first = float(np.linalg.norm(files["x"].numeric(names)[0] - files["y"].numeric(names)[0]))
    some = DistanceLinkage(columns=(names[0], names[2]), scale="none", ties="first").value(files["x"], files["y"])
    return [
        printed("Table 9", "distance of the first records", 10.5, first, within=0.001),
        printed(where, "links to X'", [2, 1, 3, 4, 5], links("y")[0]),
        printed(where, "right links to X'", 0.6, links("y")[1], within=1e-12),
        printed(where, "links to X''", [1, 1, 1, 4, 4], links("z")[0]),
        printed(where, "right links to X''", 0.4, links("z")[1], within=1e-12),
        derived(
            where, "right links to X' by V1 and V3 alone", 0.8, some, within=1e-12, why="less knowledge, more links"
        ),
    ]


def numbers_of(frame: pl.DataFrame, letters: str) -> dict[str, Table]:
    """Return the files of a printed table: columns x1, x2 are one file, y1, y2 another; all get columns V1, V2."""
    import polars as pl

    def file_of(letter: str) -> Table:
        own = [name for name in frame.columns if name[0] == letter]
        return celosia.read(frame.select(pl.col(name).cast(pl.Float64).alias(f"V{name[1:]}") for name in own))

    return {letter: file_of(letter) for letter in letters}


def emperors(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Table 20: neighbouring data sets and the sensitivity of a count."""
    where, frame = "Table 20", tables["table20"]
    sets = {name[0]: group for name, group in frame.group_by("data set", maintain_order=True)}
    names = {key: group["name"].to_list() for key, group in sets.items()}
    ill = [int((group["ill"] == "1").sum()) for group in sets.values()]
    pairs = [("D1", "D2"), ("D1", "D3"), ("D1", "D4"), ("D3", "D4"), ("D2", "D4")]
    far = [distance(names[a], names[b]) for a, b in pairs]
    moved = max(abs(ill[list(sets).index(a)] - ill[list(sets).index(b)]) for a, b in pairs[:3])
    variances = [LaplaceNoise(1 / e, discrete=False).variance for e in (0.1, 0.5, 1, 3)]
    return [
        printed(where, "distances of five pairs", [1, 1, 1, 2, 2], far),
        printed(where, "ill emperors", [2, 3, 1, 2], ill),
        printed(where, "sensitivity of a count", 1, of_count().l1),
        derived(where, "largest move between the neighbours", 1, moved),
        derived("Figure 13", "variances at epsilon 0.1, 0.5, 1, 3", [200, 8, 2, 2 / 9], variances, within=1e-9),
    ]
