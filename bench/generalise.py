"""Generalise and LocalGeneralise against recorded times of ARX 3.9.2, as ratios normalised by one calibration job.

usage: python bench/generalise.py ADULT [--big TABLE.csv] [--objectives [--needed]]

ADULT is a folder with adult.csv and adult_hierarchy_<column>.csv (semicolons); --big a larger table like it.
ARX's times are main-thread CPU seconds of its search alone, warm, on a machine where the calibration job took 1.15 s;
ours are the CPU seconds of the whole method: coding, search, writing the columns. Below 1 is less CPU than ARX.
--objectives gives every objective as a multiple of the first one in the same run (least of nine, taken in turn);
--needed looks at every node and counts those that these bounds leave open until they are judged, in any order.
"""

import argparse
import itertools
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

import numpy as np
import polars as pl
from _calibration import calibration

import celosia
from celosia.methods.bases.quasi_codes import quasi_codes
from celosia.methods.generalisation.generalise import Generalise
from celosia.methods.generalisation.local_generalise import LocalGeneralise
from celosia.parts import build
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.lattice import search
from celosia.search.lattice.objective import ClassObjective

REFERENCE = 1.15
SHARES = (0.0, 0.05, 1.0)
QUASI = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)
OBJECTIVES = (
    *("domain-loss()", "domain-loss(aggregate=balanced)", "domain-loss(aggregate=arithmetic)"),
    *("domain-loss(aggregate=rank)", "precision()", "height()", "certainty-penalty()"),
    *("non-uniform-entropy()", "non-uniform-entropy(normalised=false)", "average-class-size()", "ambiguity()"),
    *("kullback-leibler()", "majority-loss(target=salary-class)", "discernibility()"),
)


def cpu(job, repeats=3):
    job()  # compiled kernels are loaded
    best, result = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        result = job()
        best = min(best, time.process_time() - start)
    return best, result


def show(what, seconds, theirs, unit, note=""):
    scaled = theirs / REFERENCE * unit
    ratio = seconds / scaled
    print(f"{what:<44} {seconds:7.3f} s   ARX {theirs:6.2f} s ({scaled:6.2f} here)   ratio {ratio:6.3f}  {note}")


def search_alone(table, share):
    """The CPU seconds of the search with the loss of ARX, without coding and writing."""
    coded = quasi_codes(table, ())
    require, objective = [build("model", "k-anonymity(k=5)")], build("loss", "domain-loss()").objective(coded.domain)
    top = tuple(column.height for column in coded.columns)
    limit = int(share * len(coded.records))
    return cpu(lambda: search(NodeEvaluator(coded.records, require, objective, limit), (0,) * len(top), top))[0]


def objectives(table, repeats=9) -> None:
    """Every objective in turn, so that the load of the machine meets all of them alike."""
    for share in SHARES:
        best, nodes = {}, {}
        for _ in range(repeats + 1):
            for text in OBJECTIVES:
                method = Generalise(require=["k-anonymity(k=5)"], suppress=share, objective=text)
                start = time.process_time()
                safe = celosia.protect(table, method, seed=1)
                seconds = time.process_time() - start
                if text in nodes:  # the first round loads compiled kernels
                    best[text] = min(best.get(text, seconds), seconds)
                nodes[text] = safe.history[-1]["checked"]
        for text, seconds in best.items():
            times = seconds / best[OBJECTIVES[0]]
            print(
                f"suppress {share:<5g} {text:<40} {seconds:6.3f} s   {times:5.2f} × domain-loss   {nodes[text]} nodes"
            )


def needed(table) -> None:
    """How many nodes stay open when every other node was judged: they must be judged, whatever the order."""
    coded = quasi_codes(table, (), counted=("salary-class",))
    spans = tuple(column.height + 1 for column in coded.columns)
    require = [build("model", "k-anonymity(k=5)")]
    for text in OBJECTIVES:
        objective = build("loss", text).objective(coded.domain)
        if not isinstance(objective, ClassObjective):
            continue
        evaluator = NodeEvaluator(coded.records, require, objective, len(coded.records), ("salary-class",))
        checks = [evaluator.evaluate(levels) for levels in itertools.product(*map(range, spans))]
        score, floor, gap, lost = (
            np.array([getattr(check, name) for check in checks], dtype=float).reshape(spans)
            for name in ("measure", "floor", "gap", "suppressed")
        )
        columns = np.full(spans, -np.inf)
        if objective.columns is not None:
            grid = np.indices(spans).reshape(len(spans), -1)
            sums = np.stack([base[grid[j]] for j, base in enumerate(objective.columns.base)], axis=1)
            columns = objective.columns.value(sums)[:, 0].reshape(spans)
        below, above, forced = others(floor, -np.inf, 1), others(gap, 0.0, -1), others(lost, 0.0, -1)
        bound = np.maximum(below + above if objective.gap_adds else below, columns + above)
        for share in SHARES:
            limit = int(share * len(coded.records))
            best = score[lost <= limit].min()
            left = int(((bound < best - 1e-9) & (forced <= limit)).sum())
            print(f"suppress {share:<5g} {text:<40} {left} of {score.size} nodes must be judged in any order")


def others(known, nothing, way):
    """The largest number known of all finer (way 1) or coarser (-1) nodes, the node itself left out."""
    largest = known[(slice(None, None, way),) * known.ndim]
    for axis in range(known.ndim):
        largest = np.maximum.accumulate(largest, axis=axis)
    out = np.full_like(largest, nothing)
    for axis in range(known.ndim):
        here, next_to = [slice(None)] * known.ndim, [slice(None)] * known.ndim
        here[axis], next_to[axis] = slice(1, None), slice(None, -1)
        out[tuple(here)] = np.maximum(out[tuple(here)], largest[tuple(next_to)])
    return out[(slice(None, None, way),) * known.ndim]


def command_line(folder: Path, unit: float) -> None:
    """The whole job from start to written file, certificate and report."""
    with tempfile.TemporaryDirectory() as place:
        hierarchies = "\n".join(f'"{name}" = "{folder / f"adult_hierarchy_{name}.csv"}"' for name in QUASI)
        names = ", ".join(f'"{name}"' for name in QUASI)
        policy = Path(place) / "policy.toml"
        policy.write_text(
            f'[input]\npath = "{folder / "adult.csv"}"\n[schema]\nquasi = [{names}]\n'
            f"[schema.hierarchies]\n{hierarchies}\n"
            '[[require]]\nuse = "k-anonymity"\nk = 5\n[[step]]\nuse = "generalise"\nsuppress = 0.05\n'
            '[output]\npath = "safe.csv"\n'
        )
        best = float("inf")
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                [sys.executable, "-m", "celosia.cli", "run", str(policy), "--overwrite"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime - before.ru_utime)
        show("command line: run, file, report (5 %)", best, 7.2, unit, "user CPU")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("adult", type=Path)
    parser.add_argument("--big", type=Path)
    parser.add_argument("--objectives", action="store_true")
    parser.add_argument("--needed", action="store_true")
    given = parser.parse_args()
    folder = given.adult.resolve()
    files = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in QUASI}
    frame = pl.read_csv(folder / "adult.csv", separator=";")
    table = celosia.read(frame, celosia.Schema.of(quasi=QUASI, hierarchies=files))
    eight = tuple(name for name in QUASI if name != "occupation")
    other = celosia.read(frame, celosia.Schema.of(quasi=eight, sensitive=["occupation"], hierarchies=files))
    unit = calibration()
    print(f"calibration job {unit:.2f} s")
    k5 = ["k-anonymity(k=5)"]
    for share, theirs in ((0.0, 0.06), (0.05, 1.23), (1.0, 4.13)):
        seconds, safe = cpu(
            lambda share=share: celosia.protect(
                table, Generalise(require=k5, objective="domain-loss", suppress=share), seed=1
            )
        )
        done = safe.history[-1]
        show(
            f"adult, 9 columns, k = 5, suppress {share:g}",
            seconds,
            theirs,
            unit,
            f"{done['checked']} nodes, {done['score']:.5f}",
        )
        show("    the search alone", search_alone(table, share), theirs, unit)
    seconds, safe = cpu(lambda: celosia.protect(table, LocalGeneralise(require=k5), seed=1), 1)
    show(
        "adult, local, k = 5",
        seconds,
        57.0,
        unit,
        f"granularity {safe.history[-1]['granularity']:.4f}, {safe.suppressed()} suppressed",
    )
    close = [*k5, "t-closeness(t=0.2, column=occupation)"]
    seconds, safe = cpu(lambda: celosia.protect(other, LocalGeneralise(require=close), seed=1), 1)
    show(
        "adult, local, 8 columns, t = 0.2",
        seconds,
        68.7,
        unit,
        f"granularity {safe.history[-1]['granularity']:.4f}, {safe.suppressed()} suppressed",
    )
    command_line(folder, unit)
    if given.big:
        large = celosia.read(pl.read_csv(given.big, separator=";"), table.schema)
        for share, theirs in ((0.0, 2.56), (0.05, 44.0)):
            seconds, safe = cpu(
                lambda share=share: celosia.protect(
                    large, Generalise(require=k5, objective="domain-loss", suppress=share), seed=1
                ),
                1,
            )
            show(f"{len(large)} rows, suppress {share:g}", seconds, theirs, unit, f"{safe.history[-1]['score']:.5f}")
        seconds, safe = cpu(lambda: celosia.protect(large, LocalGeneralise(require=k5), seed=1), 1)
        show(f"{len(large)} rows, local", seconds, 15.7, unit, f"granularity {safe.history[-1]['granularity']:.4f}")
    if given.objectives:
        objectives(table)
    if given.needed:
        needed(table)
    print(f"calibration job {calibration():.2f} s at the end")


if __name__ == "__main__":
    main()
