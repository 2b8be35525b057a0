"""What small jobs ask for: collects of the engine, rows brought into memory, nodes checked, calls of compiled kernels.

    python bench/counts.py             prints the counts
    python bench/counts.py --record    keeps them in tests/bench/counts.json, to which test_counts.py holds us

Counts do not depend on how fast or busy a machine is. A job that asks more often than recorded has become slower.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import celosia

RECORDED = Path(__file__).resolve().parents[1] / "tests" / "bench" / "counts.json"
ROWS = 2000
KEYS = {"sex": 2, "age": 60, "region": 12, "job": 9}
NUMBERS = ("x", "y", "z")
COLUMNS = ", ".join(NUMBERS)


class Kernel:
    """A compiled kernel that counts its calls from Python; other kernels compile against what it stands for."""

    def __init__(self, dispatcher: Any, calls: Counter[str]) -> None:
        self.dispatcher, self.calls = dispatcher, calls

    def __call__(self, *given: Any, **named: Any) -> Any:
        self.calls[self.dispatcher.__name__] += 1
        return self.dispatcher(*given, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.dispatcher, name)


@contextmanager
def counting() -> Iterator[dict[str, Any]]:
    """Count what is asked for inside."""
    from celosia.data.engines.duckdb import DuckDB
    from celosia.data.engines.polars import Polars

    counts: dict[str, Any] = {"collects": 0, "rows": 0, "kernels": Counter()}
    undo: list[tuple[Any, str, Any]] = []

    def replace(owner: Any, name: str, new: Any) -> None:
        undo.append((owner, name, owner.__dict__[name]))
        setattr(owner, name, new)

    def counted(collect: Callable[..., pl.DataFrame]) -> Callable[..., pl.DataFrame]:
        def collected(self: Any, frame: Any) -> pl.DataFrame:
            rows = collect(self, frame)
            counts["collects"] += 1
            counts["rows"] += len(rows)
            return rows

        return collected

    for engine in (Polars, DuckDB):
        replace(engine, "collect", counted(engine.collect))
    for module, name, dispatcher in kernels():
        replace(module, name, Kernel(dispatcher, counts["kernels"]))
    try:
        yield counts
    finally:
        for owner, name, old in reversed(undo):
            setattr(owner, name, old)
        counts["kernels"] = dict(sorted(counts["kernels"].items()))


def kernels() -> list[tuple[Any, str, Any]]:
    """Every compiled kernel under every name that a module has for it."""
    from numba.core.dispatcher import Dispatcher

    import celosia.kernels as home

    for found in pkgutil.walk_packages(home.__path__, f"{home.__name__}."):
        importlib.import_module(found.name)
    modules = [module for name, module in sorted(sys.modules.items()) if name.startswith("celosia")]
    return [(m, name, held) for m in modules for name, held in vars(m).items() if isinstance(held, Dispatcher)]


def people() -> pl.DataFrame:
    """A table made by arithmetic alone: the same for every version of every library."""
    i = np.arange(ROWS, dtype=np.int64)
    drawn = {name: (i * i * (7 + at) + i * (31 + 2 * at)) // 97 % size for at, (name, size) in enumerate(KEYS.items())}
    codes = {name: np.minimum(values, values[::-1]) for name, values in drawn.items()}
    texts = {name: [f"{name} {code:02d}" for code in codes[name]] for name in KEYS if name != "age"}
    numbers = {name: (i * i * (3 + at) + i * 17) % 9973 / 10 for at, name in enumerate(NUMBERS)}
    return pl.DataFrame({**texts, "age": codes["age"] + 18, "pay": [f"pay {n % 7 % 3}" for n in i], **numbers})


def schema() -> celosia.Schema:
    levels = {"age": "intervals(width=5)", "region": "prefixes(step=1)", "job": "prefixes(step=1)"}
    return celosia.Schema.of(quasi=list(KEYS), sensitive=["pay"], hierarchies=levels)


def table(path: Path, engine: str = "polars") -> celosia.Table:
    return celosia.read(path, schema(), engine=engine)


def protecting(method: str) -> Callable[[Path], Any]:
    def job(path: Path) -> Any:
        from celosia.parts import build

        protected = celosia.protect(table(path), build("method", method), seed=1)
        protected.polars()
        return protected.history[-1].get("checked")

    return job


def measuring(risk: str) -> Callable[[Path], Any]:
    def job(path: Path) -> None:
        from celosia.parts import build

        build("risk", risk).value(table(path))

    return job


def assessing(engine: str) -> Callable[[Path], Any]:
    models = ["k-anonymity(k=5)", "l-diversity(l=2)", "t-closeness(t=0.3)"]
    return lambda path: celosia.assess(table(path, engine), models) and None


def running(engine: str) -> Callable[[Path], Any]:
    """A whole run, reports and certificate included."""

    def job(path: Path) -> Any:
        described = schema().spec()
        sections = {
            "input": {"path": str(path)},
            "schema": described,
            "require": ["k-anonymity(k=5)"],
            "step": [{"use": "generalise", "suppress": 0.05}],
            "output": {"path": str(path.parent / f"safe-{engine}.csv"), "overwrite": True},
            "run": {"seed": 1, "testing": True, "engine": engine},
        }
        release = celosia.run(celosia.Policy.of(sections, path.parent))
        return release.table.history[-1].get("checked")

    return job


def beyond_memory(job: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """The same job on a table of which no row is kept in memory."""

    def streamed(path: Path) -> Any:
        from celosia.data.engines import engine

        kept, engine.RESIDENT = engine.RESIDENT, 1
        try:
            return job(path)
        finally:
            engine.RESIDENT = kept

    return streamed


def linking(path: Path) -> None:
    from celosia.parts import build

    original = table(path)
    noisy = celosia.protect(original, build("method", f"noise(columns=[{COLUMNS}], p=0.3)"), seed=1)
    build("attack", f"distance-linkage(columns=[{COLUMNS}])").value(original, noisy)


JOBS: dict[str, Callable[[Path], Any]] = {
    "assess, Polars": assessing("polars"),
    "assess, DuckDB": assessing("duckdb"),
    "run, Polars": running("polars"),
    "run, DuckDB": running("duckdb"),
    "generalise": protecting("generalise(require=k-anonymity(k=5), suppress=0.05)"),
    "local-generalise": protecting("local-generalise(require=k-anonymity(k=5))"),
    "mondrian": protecting("mondrian(require=k-anonymity(k=5))"),
    "local-suppress": protecting("local-suppress(k=3)"),
    "microaggregate": protecting(f"microaggregate(columns=[{COLUMNS}], k=3)"),
    "rank-swap": protecting(f"rank-swap(columns=[{COLUMNS}], window=0.05)"),
    "suda": measuring("suda"),
    "individual-risk": measuring("individual-risk"),
    "distance-linkage": linking,
    "run beyond memory, Polars": beyond_memory(running("polars")),
    "run beyond memory, DuckDB": beyond_memory(running("duckdb")),
    "suppress-records": protecting("suppress-records(require=k-anonymity(k=5))"),
    "noise": protecting(f"noise(columns=[{COLUMNS}], p=0.3)"),
    "pram": protecting("pram(columns=[region], diagonal=0.7)"),
}


def counts_of(name: str, path: Path) -> dict[str, Any]:
    """What one job asks for."""
    with counting() as counts:
        nodes = JOBS[name](path)
    return {**counts, **({} if nodes is None else {"nodes": int(nodes)})}


def all_counts() -> dict[str, dict[str, Any]]:
    """What every job asks for."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "people.parquet"
        people().write_parquet(path)
        return {name: counts_of(name, path) for name in JOBS}


def main() -> None:
    counts = all_counts()
    for name, each in counts.items():
        print(f"{name:18} {json.dumps(each)}")
    if "--record" in sys.argv:
        RECORDED.write_text(json.dumps(counts, indent=1) + "\n", encoding="utf-8")
        print(f"recorded in {RECORDED}")


if __name__ == "__main__":
    main()
