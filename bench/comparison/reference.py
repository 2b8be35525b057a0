"""Celosia against recorded CPU times and results of ARX 3.9.2 and sdcMicro 5.8.1, on the same data.

    python -m bench.comparison.reference     prints the rows as JSON

Theirs were measured on an idle machine where the calibration job takes 1.15 s, warm, the search or the function alone;
ours is the whole method: coding, search, writing the columns. The ratio is corrected by the calibration job, run here
before and after. Reference data lie beside the project; without them there is nothing to compare.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench._calibration import calibration

SHARED = Path(__file__).resolve().parents[3] / "shared"
THEIRS = 1.15
"""CPU seconds of the calibration job where ARX and sdcMicro were measured."""
QUASI = (
    *("sex", "age", "race", "marital-status", "education"),
    *("native-country", "workclass", "occupation", "salary-class"),
)
ARX, SDCMICRO = "ARX 3.9.2", "sdcMicro 5.8.1"
Row = tuple[str, str, int, float, str, Callable[[], Any], Callable[[Any], str], int]
"""Tool, task, records, their CPU seconds, their result, our job, its result in words, how often it is repeated."""


def adult(grown: Path | None = None, *, sensitive: str | None = None) -> Any:
    import polars as pl

    import celosia

    folder = SHARED / "data" / "adult"
    quasi = [name for name in QUASI if name != sensitive]
    files = {name: str(folder / f"adult_hierarchy_{name}.csv") for name in QUASI}
    schema = celosia.Schema.of(quasi=quasi, sensitive=[sensitive] if sensitive else [], hierarchies=files)
    return celosia.read(pl.read_csv(grown or folder / "adult.csv", separator=";"), schema)


def protecting(table: Any, method: str) -> Callable[[], Any]:
    import celosia
    from celosia.parts import build

    def job() -> Any:
        result = celosia.protect(table, build("method", method), seed=1)
        result.polars()
        return result

    return job


def loss(result: Any) -> str:
    return f"loss {result.history[-1]['score']:.5f}, {result.suppressed():,} suppressed"


def granularity(result: Any) -> str:
    return f"granularity {result.history[-1]['granularity']:.4f}, {result.suppressed():,} suppressed"


def with_arx(place: Path) -> Iterator[Row]:
    table, close = adult(), adult(sensitive="occupation")
    for share, seconds, result in (
        (0.0, 0.06, "loss 0.57315, 0 suppressed"),
        (0.05, 1.23, "loss 0.24193, 1,346 suppressed"),
        (1.0, 4.13, "loss 0.22041, 2,553 suppressed"),
    ):
        method = f"generalise(require=k-anonymity(k=5), objective=domain-loss, suppress={share})"
        what = f"full-domain generalisation, 9 columns, k = 5, at most {100 * share:.0f} % suppressed"
        yield ARX, what, len(table), seconds, result, protecting(table, method), loss, 3
    method = "local-generalise(require=k-anonymity(k=5))"
    result = "granularity 0.9476, 3 suppressed"
    yield (
        ARX,
        "local generalisation, 9 columns, k = 5",
        len(table),
        57.0,
        result,
        protecting(table, method),
        granularity,
        1,
    )
    method = "local-generalise(require=[k-anonymity(k=5), t-closeness(t=0.2, column=occupation)])"
    result = "granularity 0.5441, 4,424 suppressed"
    yield (
        ARX,
        "local generalisation, 8 columns, t = 0.2",
        len(close),
        68.7,
        result,
        protecting(close, method),
        granularity,
        1,
    )
    grown = place / "grown.csv"
    grow = [
        sys.executable,
        SHARED / "tools" / "grow_adult.py",
        SHARED / "data" / "adult" / "adult.csv",
        grown,
        "1000000",
    ]
    subprocess.run([str(word) for word in grow], check=True)
    large = adult(grown)
    for share, seconds, result in (
        (0.0, 2.56, "loss 0.45651, 0 suppressed"),
        (0.05, 44.2, "loss 0.10738, 40,678 suppressed"),
    ):
        method = f"generalise(require=k-anonymity(k=5), objective=domain-loss, suppress={share})"
        what = f"full-domain generalisation, 9 columns, k = 5, at most {100 * share:.0f} % suppressed"
        yield ARX, what, len(large), seconds, result, protecting(large, method), loss, 1


def with_sdcmicro(_place: Path) -> Iterator[Row]:
    import numpy as np
    import polars as pl

    import celosia

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the subjects find each other
    from bench.risk import grown

    from celosia.risk.individual_risk import IndividualRisk
    from celosia.risk.suda import Suda

    source = SHARED / "golden" / "sdcmicro"
    data = grown(str(source / "input_bench_n100000.csv.gz"), 1_000_000)
    six, eight = data.columns[:6], data.columns[:8]
    rng = np.random.default_rng(2)
    gaps = [pl.when(pl.Series(rng.random(len(data)) < 0.01)).then(None).otherwise(pl.col(n)).alias(n) for n in six]
    holes, wild = data.with_columns(gaps), dict.fromkeys(six, "wildcard")
    plain = celosia.Schema.of(quasi=six, weight="weight")
    open_schema = celosia.Schema.of(quasi=six, weight="weight", missing=wild)
    keys = celosia.Schema.of(quasi=eight)
    no_words = lambda _: ""  # noqa: E731
    risk = IndividualRisk()
    yield (
        SDCMICRO, "individual risk, 6 keys", len(data), 2.4, "",
        lambda: risk.records(celosia.read(data, plain)), no_words, 2,
    )  # fmt: skip
    yield (
        SDCMICRO, "individual risk, 6 keys, 1 % missing", len(data), 7.9, "",
        lambda: risk.records(celosia.read(holes, open_schema)), no_words, 2,
    )  # fmt: skip
    yield (
        SDCMICRO, "SUDA, 8 keys", len(data), 6.2, "", lambda: Suda().records(celosia.read(data, keys)), no_words, 2
    )  # fmt: skip
    hard = pl.read_csv(source / "input_bench_n10000.csv.gz").select(data.columns[:8])
    table = celosia.read(hard, celosia.Schema.of(quasi=hard.columns))
    yield (
        SDCMICRO, "local suppression, 8 keys with single years of age, k = 3", len(hard), 39.0, "3,695 cells",
        protecting(table, "local-suppress(k=3, missing=wildcard)"), lambda t: f"{t.history[-1]['cells']:,} cells", 2,
    )  # fmt: skip
    numbers = celosia.read(pl.DataFrame({name: np.exp(rng.normal(size=1_000_000)) for name in "xyz"}))
    few = celosia.read(numbers.polars().head(100_000))
    labels = celosia.read(pl.DataFrame({name: rng.choice(list("abcdefgh"), 1_000_000) for name in "cd"}))
    swap, pram = "rank-swap(columns=[x, y, z], window=0.05)", "pram(columns=[c, d])"
    mdav = "microaggregate(columns=[x, y, z], k=3)"
    yield SDCMICRO, "microaggregation by MDAV, 3 columns, k = 3", len(few), 61.1, "", protecting(few, mdav), no_words, 1
    yield SDCMICRO, "rank swapping, 3 columns", len(numbers), 57.8, "", protecting(numbers, swap), no_words, 2
    yield SDCMICRO, "PRAM, 2 columns", len(labels), 24.7, "", protecting(labels, pram), no_words, 2


def rows() -> list[dict[str, Any]]:
    """All recorded comparisons."""
    before = calibration()
    measured = []
    with tempfile.TemporaryDirectory() as place:
        for family in (with_arx, with_sdcmicro):
            for tool, what, records, theirs, their_result, job, in_words, repeats in family(Path(place)):
                job()  # compiled code is loaded
                best, result = float("inf"), None
                for _ in range(repeats):
                    start = time.process_time()
                    result = job()
                    best = min(best, time.process_time() - start)
                measured.append(
                    {
                        "tool": tool, "what": what, "rows": records, "theirs": theirs, "ours": round(best, 3),
                        "their result": their_result, "our result": in_words(result),
                    }
                )  # fmt: skip
                print(json.dumps(measured[-1], ensure_ascii=False), file=sys.stderr, flush=True)
    unit = (before + calibration()) / 2
    for row in measured:
        row["ratio"] = round(row["theirs"] * unit / THEIRS / row["ours"], 1)
    return measured


if __name__ == "__main__":
    if not SHARED.exists():
        sys.exit("the reference data are not beside the project")
    print(json.dumps(rows(), ensure_ascii=False))
