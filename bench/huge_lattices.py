"""Heuristics for lattices too large to list, with the same number of judged nodes: which one loses least?

usage: python bench/huge_lattices.py [--rows 20000] [--looks 500]

The records are generated: 24 quasi-identifiers that depend on a hidden group, hierarchies of two to four levels above
the values, about 8e13 nodes. Judging a node is what takes the time, so looks are counted, not seconds.
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from celosia.parts import build
from celosia.search.lattice.descents import lower_column
from celosia.search.lattice.evaluator import Evaluation, NodeEvaluator
from celosia.search.lattice.knowledge import Knowledge
from celosia.search.lattice.lattice import search
from celosia.search.lattice.objective import LevelMaps
from celosia.search.lattice.tables import Records

SPANS = (3, 4, 5, 4, 3, 4, 5, 3)
"""Levels of the columns, in turn."""
GROUPS = 12


def wide_records(rows: int = 20_000, columns: int = 24, seed: int = 1) -> Records:
    """Records over many columns; who belongs to one hidden group resembles the others of it."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, GROUPS, rows)
    maps, codes = [], []
    for j in range(columns):
        levels = SPANS[j % len(SPANS)]
        values = max(int(rng.choice([2, 6, 12, 30, 60, 100])), 2 ** (levels - 1))
        merged = max(2, round(values ** (1 / (levels - 1))))
        below = [np.arange(values, dtype=np.int32)]
        for _ in range(levels - 2):
            below.append(below[-1] // merged)
        maps.append((*below, np.zeros(values, dtype=np.int32)))
        cumulated = rng.dirichlet(np.full(values, 0.6), GROUPS).cumsum(axis=1)
        codes.append((cumulated[group] < rng.random(rows)[:, None]).sum(axis=1).clip(0, values - 1))
    matrix = np.column_stack(codes).astype(np.int32)
    counts = tuple(np.bincount(matrix[:, j], minlength=len(maps[j][0])) for j in range(columns))
    return Records(LevelMaps(tuple(f"q{j}" for j in range(columns)), tuple(maps), counts), matrix)


def from_the_top(knowledge: Knowledge, looks: int) -> Evaluation | None:
    """Go to the best of all nodes one level finer while one is better."""
    here = knowledge.evaluate(knowledge.upper)
    while here.holds:
        best = here
        for j, level in enumerate(here.levels):
            if level > knowledge.lower[j] and len(knowledge.evaluations) < looks:
                check = knowledge.evaluate(lower_column(here.levels, j))
                if check.holds and check.measure < best.measure:  # type: ignore[operator]
                    best = check
        if best is here:
            break
        here = best
    return knowledge.best


def from_the_bottom(knowledge: Knowledge, looks: int) -> Evaluation | None:
    """Raise the column that saves most suppressed records per loss until the requirements hold."""
    here = knowledge.evaluate(knowledge.lower)
    while not here.holds and len(knowledge.evaluations) < looks:
        steps = []
        for j, level in enumerate(here.levels):
            if level < knowledge.upper[j] and len(knowledge.evaluations) < looks:
                check = knowledge.evaluate((*here.levels[:j], level + 1, *here.levels[j + 1 :]))
                loss = check.measure - here.measure  # type: ignore[operator]
                steps.append(((here.suppressed - check.suppressed) / max(loss, 1e-9), check.levels, check))
        if not steps:
            break
        here = max(steps)[2]
    return knowledge.best


def restarts(knowledge: Knowledge, looks: int, seed: int = 1) -> Evaluation | None:
    """Descend from the top again and again, a column drawn at random each time."""
    rng = np.random.default_rng(seed)
    top = knowledge.evaluate(knowledge.upper)
    while len(knowledge.evaluations) < looks:
        here, stuck = top, set[int]()
        while len(knowledge.evaluations) < looks:
            columns = [j for j, v in enumerate(here.levels) if v > knowledge.lower[j] and j not in stuck]
            if not columns:
                break
            j = int(rng.choice(columns))
            check = knowledge.evaluate(lower_column(here.levels, j))
            if check.holds and check.measure < here.measure:  # type: ignore[operator]
                here = check
            else:
                stuck.add(j)
    return knowledge.best


HEURISTICS = {
    "greedy from the top": from_the_top,
    "greedy from the bottom": from_the_bottom,
    "random restarts": restarts,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--looks", type=int, default=500)
    given = parser.parse_args()
    records = wide_records(given.rows)
    top = tuple(records.domain.height(j) for j in range(len(records.domain)))
    lower = (0,) * len(top)
    print(f"{len(top)} columns, {math.prod(v + 1 for v in top):.2g} nodes, {given.looks} looks")
    for loss in ("domain-loss()", "domain-loss(aggregate=balanced)"):
        for share in (0.0, 0.05):
            objective = build("loss", loss).objective(records.domain)

            def evaluator(share=share, objective=objective):
                return NodeEvaluator(
                    records, [build("model", "k-anonymity(k=5)")], objective, int(share * len(records))
                )

            found = search(evaluator(), lower, top, most=given.looks)
            scores = {"descents": found.best and found.best.score, "bound": found.bound}
            for name, heuristic in HEURISTICS.items():
                best = heuristic(Knowledge(evaluator(), lower, top), given.looks)
                scores[name] = best and best.score
            shown = ", ".join(f"{name} {score:.4f}" if score else f"{name} none" for name, score in scores.items())
            print(f"{loss}, suppress {share:g}: {shown}", flush=True)


if __name__ == "__main__":
    main()
