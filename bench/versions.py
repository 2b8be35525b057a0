"""The same jobs on two versions of the source, in turn: how much slower or faster this one has become.

usage: python bench/versions.py OTHER_SRC ADULT [--rounds 5] [--only WORD]

OTHER_SRC is the ``src`` folder of another version (``git worktree add ../before COMMIT``), ADULT the folder with
adult.csv and its hierarchies. Each version has one process, which loads its compiled code first; the jobs are then
done in turn, and the least CPU time of the rounds counts: what else the machine does lengthens some rounds of both.
A ratio above 1 means that this version takes more.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "src"
QUASI = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)


def jobs(adult):
    """Names and functions; only what both versions have by contract is used."""
    import numpy as np
    import polars as pl

    import celosia
    from celosia import loss, methods, models, risk

    frame = pl.read_csv(adult / "adult.csv", separator=";")
    files = {name: str(adult / f"adult_hierarchy_{name}.csv") for name in QUASI}
    rng = np.random.default_rng(1)
    grown = pl.concat([frame] * 10)
    numbers = pl.DataFrame({name: rng.lognormal(size=50_000) for name in "abc"})

    def people(rows=frame, sensitive=(), **more):
        quasi = [name for name in QUASI if name not in sensitive]
        schema = celosia.Schema.of(quasi=quasi, sensitive=sensitive, hierarchies={q: files[q] for q in quasi}, **more)
        return celosia.read(rows, schema)

    def protected(method, rows=frame, **roles):
        return lambda: celosia.protect(people(rows, **roles), method, seed=1).polars()

    def noised(method):
        return lambda: celosia.protect(celosia.read(numbers, celosia.Schema.of(quasi=["a"])), method, seed=1).polars()

    def measured(part, rows=grown, **roles):
        return lambda: part.value(people(rows, **roles))

    def lost(part):
        return lambda: part.value(before, after)

    ill = {"sensitive": ["occupation"]}
    arx = loss.DomainLoss(aggregate="geometric", gs=0.5)
    before = people()
    after = celosia.protect(before, methods.Generalise(require=["k-anonymity(k=5)"], objective=arx, suppress=0.05))
    generalise = {
        f"generalise, {share:.0%} suppressed": protected(
            methods.Generalise(require=["k-anonymity(k=5)"], objective=arx, suppress=share)
        )
        for share in (0.0, 0.05, 1.0)
    }
    spread = methods.Generalise(require=["k-anonymity(k=5)", "t-closeness(t=0.3)"], objective=arx, suppress=0.05)
    return {
        **generalise,
        "generalise, k and t": protected(spread, **ill),
        "generalise, 301 620 records": protected(
            methods.Generalise(require=["k-anonymity(k=5)"], objective=arx, suppress=0.05), grown
        ),
        "local-generalise": protected(methods.LocalGeneralise(require=["k-anonymity(k=5)"])),
        "mondrian": protected(methods.Mondrian(require=["k-anonymity(k=5)"])),
        "mondrian, l": protected(methods.Mondrian(require=["k-anonymity(k=5)", "l-diversity(l=3)"]), **ill),
        "local-suppress": protected(methods.LocalSuppress(k=3), frame.head(8000)),
        "anatomise": protected(methods.Anatomise(l=3), **ill),
        "suppress-records": protected(methods.SuppressRecords(require=["k-anonymity(k=3)"]), grown),
        "microaggregate": noised(methods.Microaggregate(columns=["a", "b", "c"], k=3)),
        "rank-swap": noised(methods.RankSwap(columns=["a", "b"], window=0.05)),
        "noise": noised(methods.Noise(columns=["a", "b", "c"], p=0.1)),
        "pram": protected(methods.Pram(columns=["sex", "race"]), grown),
        "k-anonymity": measured(models.KAnonymity(k=5)),
        "l-diversity": measured(models.LDiversity(l=2), **ill),
        "t-closeness": measured(models.TCloseness(t=0.2), **ill),
        "prosecutor": measured(risk.Prosecutor()),
        "individual-risk": lambda: risk.IndividualRisk().records(people(grown)),
        "suda": lambda: risk.Suda(max_size=3).records(people(frame)),
        "domain-loss": lost(loss.DomainLoss()),
        "discernibility": lost(loss.Discernibility()),
        "non-uniform-entropy": lost(loss.NonUniformEntropy()),
        "certainty-penalty": lost(loss.CertaintyPenalty()),
        "assess": lambda: celosia.assess(people(grown), ["k-anonymity(k=5)"]),
    }


def serve(adult):
    """Do the jobs that are asked for on standard input, one name a line; answer with CPU seconds."""
    named = jobs(adult)
    print(json.dumps(sorted(named)), flush=True)
    for line in sys.stdin:
        start = time.process_time()
        try:
            named[json.loads(line)]()
            print(json.dumps(time.process_time() - start), flush=True)
        except Exception as error:
            print(json.dumps(f"{type(error).__name__}: {error}"), flush=True)


class Version:
    """A process with one version of the source."""

    def __init__(self, source, adult):
        settings = {"OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1", "PYTHONPATH": str(source)}
        words = [sys.executable, "-W", "ignore", __file__, "--serve", str(source), str(adult)]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env={**os.environ, **settings})
        self.names = json.loads(self.process.stdout.readline())

    def spent(self, name):
        """CPU seconds of one job."""
        print(json.dumps(name), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("adult", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.adult)
        return
    versions = [Version(asked.other.resolve(), asked.adult), Version(HERE, asked.adult)]
    shared = [name for name in versions[0].names if name in versions[1].names and asked.only in name]
    print(f"{'job':32} {'before':>9} {'now':>9} {'ratio':>7}")
    for name in shared:
        for version in versions:
            version.spent(name)  # compiled code is loaded
        rounds = [[version.spent(name) for version in versions] for _ in range(asked.rounds)]
        if any(isinstance(spent, str) for pair in rounds for spent in pair):
            print(f"{name:32} {rounds[0]}")
            continue
        before, now = (min(pair[place] for pair in rounds) for place in (0, 1))
        print(f"{name:32} {before:9.4f} {now:9.4f} {now / before:7.2f}", flush=True)


if __name__ == "__main__":
    main()
