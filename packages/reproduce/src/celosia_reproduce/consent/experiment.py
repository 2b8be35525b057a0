"""The experiment: blocks of students × k × what the intruder knows × rule, in random order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.consent.protection.measures import losses, re_identification, singletons
from celosia.consent.protection.protection import Design, Protected, Rule, honour
from celosia.release.protect import protect
from celosia.streams import Stream
from celosia_reproduce.consent.case import PLACE, table

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

RULES: tuple[Rule, ...] = ("standard", "class", "coarser", "exchange", "control")
WITHOUT_PROMISE = ("standard", "exchange")
"""Rules under which the class of a blocking person may be smaller than k + X."""
GROUPS = ("all", "blocking", "others")


@dataclass(frozen=True)
class Plan:
    """Settings of the runs: ``rows`` students per block, X, the levels of k and of the intruder's share."""

    blocks: int
    rows: int
    k: tuple[int, ...]
    external: tuple[float, ...]
    extra: int


@dataclass(frozen=True)
class Results:
    """Arrays with the axes block, k, external share, rule, group."""

    plan: Plan
    p_reid: NDArray[np.float64]
    baseline: NDArray[np.float64]
    gcp: NDArray[np.float64]
    """Axes block, k, rule, group."""
    altered: NDArray[np.float64]
    equal: NDArray[np.float64]
    """Share of labels that the class rule and the control have in common: block, k."""
    exposed: NDArray[np.float64]
    """Under coarser: share of blocking owners among those who show a coarse place among finer ones; block, k."""
    strict: NDArray[np.float64]
    """Under coarser: the smallest class; block, k."""
    untrue: NDArray[np.float64]
    """Under exchange: share of rows whose values are not true; block, k."""
    alpha: NDArray[np.float64]
    """Share of records that are alone with their place: block, k, rule."""
    classes: NDArray[np.float64]
    """Places that standard(k) shows: block, k."""
    before: float
    """Share of records of a block that are alone with their place before anything is done."""
    blocking: float
    """Owners of a block who block."""
    sets: NDArray[np.float64]
    """GCP of everybody when classes are named by the set of their districts: block, then k and k + X for each k."""
    order: NDArray[np.int64]
    holds: bool


def run(
    people: pl.DataFrame,
    blocked: NDArray[np.bool_],
    plan: Plan,
    rng: np.random.Generator,
    tell: Callable[[str, float], None],
) -> Results:
    """Run all combinations on every block; blocks are drawn once, the runs are in random order."""
    chosen = [np.sort(rng.choice(len(people), plan.rows, replace=False)) for _ in range(plan.blocks)]
    shape = (plan.blocks, len(plan.k), len(plan.external), len(RULES))
    order = rng.permutation(int(np.prod(shape)))
    p, base = np.zeros((*shape, 3)), np.zeros((*shape, 3))
    gcp, altered = (
        np.zeros((plan.blocks, len(plan.k), len(RULES), 3)),
        np.zeros((plan.blocks, len(plan.k), len(RULES), 3)),
    )
    equal, exposed = np.zeros((plan.blocks, len(plan.k))), np.zeros((plan.blocks, len(plan.k)))
    strict, untrue = np.zeros((plan.blocks, len(plan.k))), np.zeros((plan.blocks, len(plan.k)))
    alpha, classes = np.zeros((plan.blocks, len(plan.k), len(RULES))), np.zeros((plan.blocks, len(plan.k)))
    tables = {b: table(people[rows]) for b, rows in enumerate(chosen)}
    protected: dict[tuple[int, int, int], Protected] = {}
    left = {
        (b, i, j): len(plan.external) for b in range(plan.blocks) for i in range(len(plan.k)) for j in range(len(RULES))
    }
    holds = True
    for step, number in enumerate(order):
        b, i, e, j = (int(x) for x in np.unravel_index(number, shape))
        mine = blocked[chosen[b]]
        if (b, i, j) not in protected:
            extra = np.where(mine, plan.extra, 0)
            design = Design(k=plan.k[i], rule=RULES[j], tree=PLACE)
            protected[b, i, j] = honour(tables[b], extra, design, Stream(1000 * b + i))
            fresh = protected[b, i, j]
            holds &= fresh.holds or RULES[j] in WITHOUT_PROMISE
            lost = losses(tables[b], fresh, mine, PLACE)
            gcp[b, i, j] = [lost[g]["gcp"] for g in GROUPS]
            altered[b, i, j] = [lost[g]["altered"] for g in GROUPS]
            alpha[b, i, j] = singletons(fresh.table)
            if RULES[j] == "standard":
                classes[b, i] = fresh.evidence["classes"]
            if RULES[j] == "coarser":
                exposed[b, i], strict[b, i] = fresh.evidence["of them blocked"], fresh.evidence["smallest class"]
            if RULES[j] == "exchange":
                untrue[b, i] = fresh.evidence["untrue rows"] / plan.rows
        predicted = re_identification(
            tables[b], protected[b, i, j].table, PLACE, mine, external=plan.external[e], seed=int(b * 10 + e)
        )
        p[b, i, e, j] = [predicted[g]["value"] for g in GROUPS]
        base[b, i, e, j] = [predicted[g]["baseline"] for g in GROUPS]
        left[b, i, j] -= 1
        if not left[b, i, j] and RULES[j] not in ("class", "control"):
            protected[b, i, j] = Protected(tables[b], protected[b, i, j].design)  # done with it: free the memory
        if step % 20 == 0:
            tell("runs", step / len(order))
    for b in range(plan.blocks):
        for i in range(len(plan.k)):
            shown = [protected[b, i, RULES.index(rule)].table.polars().select(PLACE) for rule in ("class", "control")]
            same = [(shown[0][c] == shown[1][c]).to_numpy() for c in PLACE]
            equal[b, i] = float(np.all(same, axis=0).mean())
    sets = np.array([[[by_sets(t, n) for n in (k, k + plan.extra)] for k in plan.k] for t in tables.values()])
    before = float(np.mean([singletons(t) for t in tables.values()]))
    some = float(np.mean([blocked[rows].sum() for rows in chosen]))
    runs = order.reshape(shape)
    return Results(
        plan, p, base, gcp, altered, equal, exposed, strict, untrue, alpha, classes, before, some, sets, runs, holds
    )


def sensitivity(first: Results, others: Sequence[Results]) -> list[dict[str, Any]]:
    """Measure the effect of X: P_reid of blocking owners and altered rows of everybody, for each X, k and rule."""
    out = []
    for results in (first, *others):
        for i, k in enumerate(results.plan.k):
            row: dict[str, Any] = {"X": results.plan.extra, "k": k}
            for j, rule in enumerate(RULES):
                row[f"P_reid, {rule}"] = float(results.p_reid[:, i, -1, j, 1].mean())
                row[f"altered, {rule}"] = float(results.altered[:, i, j, 0].mean())
            out.append(row)
    return out


def altered_rows(people: pl.DataFrame, blocked: NDArray[np.bool_], plan: Plan, seed: int) -> list[dict[str, Any]]:
    """Count the altered rows of one block without an attack, as a function of the sizes of districts."""
    rows = np.sort(np.random.default_rng(seed).choice(len(people), plan.rows, replace=False))
    students, mine = table(people[rows]), blocked[rows]
    out = []
    for k in plan.k:
        row: dict[str, Any] = {"k": k}
        for rule in RULES:
            protected = honour(
                students, np.where(mine, plan.extra, 0), Design(k=k, rule=rule, tree=PLACE), Stream(seed)
            )
            row[rule] = losses(students, protected, mine, PLACE)["all"]["altered"]
        out.append(row)
    return out


def by_sets(students: Table, k: int) -> float:
    """GCP of standard(k) when small districts join each other first and show the set of their names."""
    import polars as pl

    method = {"use": "tree-generalise", "columns": list(PLACE), "k": k, "labels": "set", "short_first": True}
    shown = protect(students, method, seed=0).polars()
    both = shown.select(label=pl.struct(PLACE), district=students.column(PLACE[-1]))
    leaves = both.group_by("label").agg(n=pl.len(), m=pl.col("district").n_unique())
    covered = leaves.select(pl.col("n") * pl.when(pl.col("m") > 1).then("m").otherwise(0)).sum().item()
    return float(covered / len(shown) / both["district"].n_unique())


def paired(first: NDArray[np.float64], second: NDArray[np.float64], level: float = 0.99) -> dict[str, float]:
    """Mean difference of paired numbers with its interval and the probability of it by chance (t test).

    >>> found = paired(np.array([3.0, 4.0, 5.0]), np.array([1.0, 2.5, 3.0]))
    >>> round(found["mean"], 3), found["p"] < 0.05
    (1.833, True)
    """
    from scipy import stats

    d = first - second
    mean = float(d.mean())
    error = float(d.std(ddof=1) / np.sqrt(len(d))) if len(d) > 1 else 0.0
    if error == 0:
        return {"mean": mean, "low": mean, "high": mean, "p": 1.0 if mean == 0 else 0.0}
    half = float(stats.t.ppf((1 + level) / 2, len(d) - 1)) * error
    p = float(2 * stats.t.sf(abs(mean / error), len(d) - 1))
    return {"mean": mean, "low": mean - half, "high": mean + half, "p": p}


def magnitudes(
    results: Results, rules: Sequence[str] = ("class", "coarser", "exchange", "control")
) -> list[dict[str, Any]]:
    """Paired differences of P_reid: standard(k) minus a rule, per k, share and group."""
    out = []
    base = RULES.index("standard")
    for rule in rules:
        at = [str(r) for r in RULES].index(rule)
        for i, k in enumerate(results.plan.k):
            for e, share in enumerate(results.plan.external):
                for g, group in enumerate(GROUPS):
                    difference = paired(results.p_reid[:, i, e, base, g], results.p_reid[:, i, e, at, g])
                    out.append({"rule": rule, "group": group, "k": k, "external": share, **difference})
    return out


def others_cost(results: Results) -> list[dict[str, float]]:
    """Measure the cost of each rule for owners who block nothing: rise of their GCP over standard(k), and its share of
    the control's.
    """
    out = []
    base, control = RULES.index("standard"), RULES.index("control")
    for i, k in enumerate(results.plan.k):
        start = results.gcp[:, i, base, 2].mean()
        whole = results.gcp[:, i, control, 2].mean() - start
        row = {"k": k, "standard": float(start), "control rise": float(whole)}
        for rule in ("class", "coarser", "exchange"):
            rise = results.gcp[:, i, [str(r) for r in RULES].index(rule), 2].mean() - start
            row[f"{rule} rise"] = float(rise)
            row[f"{rule} share"] = float(rise / whole) if whole > 0 else 0.0
        out.append(row)
    return out
