"""All class-based models and losses together against the bare group-bys they need, and pycanon's k + l + t.

usage: python bench/classes.py TABLE.csv HIERARCHIES --sensitive occupation [--pycanon PYTHON] [--rows 2000]

TABLE.csv has semicolons between its fields; all columns but the sensitive one are quasi-identifiers; HIERARCHIES holds
adult_hierarchy_<column>.csv. pycanon runs in its own environment (PYTHON), on the first --rows rows, since its cost
grows with rows × classes; ours runs on the same rows.
"""

import argparse
import subprocess
import time
from pathlib import Path

import polars as pl

import celosia
from celosia import loss, models

parser = argparse.ArgumentParser()
parser.add_argument("table")
parser.add_argument("hierarchies", type=Path)
parser.add_argument("--sensitive", default="occupation")
parser.add_argument("--pycanon")
parser.add_argument("--rows", type=int, default=2000)
given = parser.parse_args()

frame = pl.read_csv(given.table, separator=";")
quasi = [name for name in frame.columns if name != given.sensitive]
files = {name: given.hierarchies / f"adult_hierarchy_{name}.csv" for name in frame.columns}
schema = celosia.Schema.of(quasi=quasi, sensitive=[given.sensitive], hierarchies=files)


def cpu(job, repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    return best


def everything(data: pl.DataFrame) -> None:
    table = celosia.read(data, schema)
    for model in (
        models.KAnonymity(k=5),
        models.LDiversity(l=2),
        models.LDiversity(l=2, variant="entropy"),
        models.LDiversity(l=2, variant="recursive"),
        models.TCloseness(t=0.2),
        models.TCloseness(t=0.2, distance="hierarchical"),
        models.BetaLikeness(beta=1),
        models.DeltaDisclosure(delta=1),
    ):
        model.value(table)
    for measure in (
        loss.AverageClassSize(),
        loss.Discernibility(),
        loss.DomainLoss(),
        loss.Precision(),
        loss.Height(),
        loss.CertaintyPenalty(),
        loss.NonUniformEntropy(),
        loss.KullbackLeibler(),
        loss.Ambiguity(),
        loss.MajorityLoss(),
        loss.Suppression(),
    ):
        measure.value(table, table)


def k_l_t(data: pl.DataFrame) -> None:
    table = celosia.read(data, schema)
    for model in (models.KAnonymity(k=2), models.LDiversity(l=2), models.TCloseness(t=0.2)):
        model.value(table)


def bare() -> float:
    groups = [quasi, [*quasi, given.sensitive], [given.sensitive], *([name] for name in quasi)]
    jobs = [lambda keys=keys: frame.lazy().group_by(keys).len().collect(engine="streaming") for keys in groups]
    return sum(cpu(job) for job in jobs)


everything(frame.head(1000))
base, ours = bare(), cpu(lambda: everything(frame))
print(
    f"rows {len(frame)}: bare group-bys {base:.2f} s CPU, all models and losses {ours:.2f} s, ratio {ours / base:.2f}"
)

if given.pycanon:
    few = frame.head(given.rows)
    path = Path("/tmp") / f"pycanon-{given.rows}.csv"
    few.write_csv(path)
    script = (
        "import pandas, sys, time\nfrom pycanon import anonymity\n"
        "data = pandas.read_csv(sys.argv[1]); sa = [sys.argv[2]]; qi = [c for c in data.columns if c not in sa]\n"
        "start = time.process_time()\n"
        "found = [measure(data, qi, *more) for measure, more in ((anonymity.k_anonymity, ()), "
        "(anonymity.l_diversity, (sa,)), (anonymity.t_closeness, (sa,)))]\n"
        "print(time.process_time() - start, *found)\n"
    )
    said = subprocess.run(
        [given.pycanon, "-W", "ignore", "-c", script, str(path), given.sensitive],
        capture_output=True,
        text=True,
        check=True,
    )
    theirs, k, l, t = (float(x) for x in said.stdout.split()[-4:])
    table = celosia.read(few, schema)
    measured = [m.value(table) for m in (models.KAnonymity(k=1), models.LDiversity(l=1), models.TCloseness(t=1))]
    here = cpu(lambda: k_l_t(few))
    print(f"rows {given.rows}: pycanon k {k:g} l {l:g} t {t:.6f} {theirs:.2f} s CPU; ours {measured} {here:.4f} s")
    print(f"ratio {theirs / here:.0f}")
