"""Anatomy, permutation and perturbation: ten people whose illness is set apart from who they are."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

import celosia
from celosia.methods import Anatomise, Permute, RandomPerturbation, Recode
from celosia.models import KAnonymity
from celosia.views.estimates import estimated_count
from celosia_reproduce.statements import Statement, consistent, derived, printed

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

QUESTION = ({"Age": 38}, {"Disease": "Heart"})
SHUFFLES = 200


def statements(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Return the three sections."""
    return [*anatomy(tables), *permutation(tables), *perturbation(tables)]


def _ill(tables: Mapping[str, pl.DataFrame]) -> Table:
    import polars as pl

    frame = tables["illness"].with_columns(pl.col("Age").cast(pl.Int64))
    schema = celosia.Schema.of(quasi=["Age", "Sex"], sensitive=["Disease"], hierarchies={"Age": "intervals(width=5)"})
    return celosia.read(frame, schema)


def anatomy(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Return the two published tables, and the count that each release estimates."""
    import polars as pl

    where, table = "Anatomy", _ill(tables)
    coarse = celosia.protect(table, Recode(column="Age", level=1))
    group = coarse.polars().select(pl.struct("Age", "Sex").rank("dense").cast(pl.Int64)).to_series()
    counts = (
        table.polars()
        .with_columns(Grupoid=group)
        .group_by("Grupoid", "Disease", maintain_order=True)
        .agg(Count=pl.len())
    )
    said = tables["illness_counts"].with_columns(pl.col("Grupoid", "Count").cast(pl.Int64))
    names = {"Grupoid": "group", "Count": "count"}
    quasi = tables["illness_quasi"].with_columns(pl.col("Age", "Grupoid").cast(pl.Int64)).rename({"Grupoid": "group"})
    published = celosia.read(quasi, celosia.Schema.of(quasi=["Age", "Sex"]))
    separated = celosia.protect(table, Anatomise(l=2))
    second = separated.private_history[-1]["tables"]["sensitive"].polars()
    share = second.select((pl.col("count") / pl.col("count").sum().over("group")).max()).item()
    truth = table.polars().filter((pl.col("Age") == 38) & (pl.col("Disease") == "Heart")).height
    return [
        printed(where, "the generalised table", tables["illness_generalised"].rows(), coarse.polars().rows()),
        printed(
            where, "the group of each record", [int(g) for g in tables["illness_quasi"]["Grupoid"]], group.to_list()
        ),
        printed(where, "counts by group and disease", sorted(said.rows()), sorted(counts.rows())),
        printed(where, "38-year-olds with a heart disease", 2, truth),
        printed(where, "estimated from the generalised table", 0.4, estimated_count(coarse, *QUESTION), within=1e-9),
        printed(
            where,
            "estimated from the two tables",
            1.5,
            estimated_count(published, *QUESTION, counts=said.rename(names)),
            within=1e-9,
        ),
        derived(where, "k of the generalised table", 4, int(KAnonymity(k=2).value(coarse))),
        derived(
            where,
            "largest share of a disease in a group of `anatomise(l=2)`",
            0.5,
            share,
            why="the lecture writes 'at least 1/l' where 'at most' is meant",
        ),
    ]


def permutation(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Each group keeps its diseases; what a count expects over all shuffles."""
    import polars as pl

    where, table = "Permutation", _ill(tables)
    groups = tables["illness_quasi"]["Grupoid"]
    raw, shuffled = tables["illness"], tables["illness_permuted"]

    def by_group(disease: pl.Series) -> list[dict[str, int]]:
        return [dict(sorted(Counter(disease.filter(groups == g)).items())) for g in groups.unique().sort()]

    coarse = celosia.protect(table, Recode(column="Age", level=1))
    own = celosia.protect(coarse, Permute(), seed=1).polars()["Disease"]
    second = raw.filter(groups == "2")
    aged = [age == "38" for age in second["Age"]]
    orders = list(itertools.permutations(second["Disease"]))
    mean = sum(sum(a and d == "Heart" for a, d in zip(aged, o, strict=True)) for o in orders) / len(orders)
    here = _asked(shuffled.with_columns(pl.col("Age").cast(pl.Int64))).height
    return [
        consistent(where, "ages and sexes stay", raw.select("Age", "Sex").rows(), shuffled.select("Age", "Sex").rows()),
        consistent(where, "diseases by group, printed table", by_group(raw["Disease"]), by_group(shuffled["Disease"])),
        derived(where, "diseases by group, `permute`", by_group(raw["Disease"]), by_group(own)),
        consistent(where, "records with another disease", 8, int((raw["Disease"] != shuffled["Disease"]).sum())),
        consistent(where, "38-year-olds with a heart disease in the printed draw", 1, here),
        derived(where, "the same, mean over all shuffles", 1.5, mean, within=1e-12),
    ]


def perturbation(tables: Mapping[str, pl.DataFrame]) -> list[Statement]:
    """Run the idea with ``random-perturbation``, and compare the printed draw, whose distribution is not stated."""
    import polars as pl

    where, table = "Random perturbation", _ill(tables)
    raw, after = tables["illness"], tables["illness_perturbed"]
    ages = [frame["Age"].cast(pl.Int64) for frame in (raw, after)]
    moved = (ages[1] - ages[0]).to_list()
    left = [a for a, b in zip(ages[1], ages[0], strict=True) if a // 5 != b // 5]
    spread = max(map(abs, moved))
    method = RandomPerturbation(jitter=("Age",), spread=spread, shuffle=("Disease",), within=("Sex",))
    own = [celosia.protect(table, method, seed=seed).polars() for seed in range(SHUFFLES)]
    steps = [(frame["Age"] - ages[0]).to_list() for frame in own]
    mean = float(sum(map(sum, steps)) / (len(steps) * len(ages[0])))
    share = sum(frame.height for frame in map(_asked, own)) / len(own)

    def by_sex(disease: pl.Series) -> list[dict[str, int]]:
        return [dict(sorted(Counter(disease.filter(raw["Sex"] == sex)).items())) for sex in ("Male", "Female")]

    return [
        printed(where, "sexes stay", after["Sex"].to_list(), own[0]["Sex"].to_list()),
        printed(where, "diseases by sex", by_sex(after["Disease"]), by_sex(own[0]["Disease"])),
        derived(
            where, "steps of age that occur", list(range(-spread, spread + 1)), sorted({s for d in steps for s in d})
        ),
        derived(where, "mean step of age", 0.0, mean, within=0.2),
        derived(
            where,
            "38-year-olds with a heart disease, mean over the draws",
            4 / (2 * spread + 1) / 2,  # four women are within reach of 38, half of them have the disease
            share,
            within=0.12,
            why="of two: neither age nor disease is the true one",
        ),
        consistent(where, "changes of age", [1, -1, 1, 1, 3, -1, 0, -1, 2, 0], moved),
        consistent(where, "mean age before and after", [33.6, 34.1], [ages[0].mean(), ages[1].mean()], within=1e-9),
        consistent(where, "ages that leave their interval", [29, 35, 40], sorted(left)),
        consistent(
            where,
            "diseases are those of the permutation",
            tables["illness_permuted"]["Disease"].to_list(),
            after["Disease"].to_list(),
        ),
    ]


def _asked(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return frame.filter((pl.col("Age") == 38) & (pl.col("Disease") == "Heart"))
