"""Small jobs that compile the kernels before the first use."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.demo.prepare import prepare
from celosia.errors import MissingExtra, explain_failures

if TYPE_CHECKING:
    from celosia.table import Table

PERSONS = 5000
_BY_CLASS = (
    "local-generalise(require=k-anonymity(k=3))",
    "mondrian(require=k-anonymity(k=3))",
    "local-suppress(k=2)",
)
_BY_NUMBER = (
    "microaggregate(columns=[income, weight], k=3)",
    "microaggregate(columns=[income, weight], k=3, scale=true)",
    "rank-swap(columns=[income])",
    "pram(columns=[sex])",
    "sequential-trees()",
)
_RISKS = ("individual-risk", "suda")


def compile_kernels() -> Iterator[str]:
    """Run each job and yield its name when its kernels are compiled and cached.

    >>> next(compile_kernels())
    'run with generalise'
    """
    from celosia.parts import build
    from celosia.release.protect import protect_table
    from celosia.release.run import run

    with tempfile.TemporaryDirectory() as place:
        policy = prepare(Path(place), PERSONS)
        run(policy, overwrite=True)
        yield "run with generalise"
        table = _patients(Path(place) / "original.csv")
    for text in (*_BY_CLASS, *_BY_NUMBER):
        method = build("method", text)
        with contextlib.suppress(MissingExtra):  # nobody waits for what is not installed
            protect_table(table, [method], seed=1).polars()
            yield method.name
    for text in _RISKS:
        with contextlib.suppress(MissingExtra), explain_failures():
            build("risk", text).value(table)
            yield text
    noisy = protect_table(table, ["noise(columns=[income, weight], p=0.3)"], seed=1)
    with contextlib.suppress(MissingExtra), explain_failures():
        build("attack", "distance-linkage(columns=[income, weight])").value(table, noisy)
        yield "distance-linkage"


def _patients(path: Path) -> Table:
    """Return the patients in memory, one record per person."""
    from celosia.data.schema import Schema
    from celosia.table import read

    frame = read(path).polars().unique("person", keep="first", maintain_order=True)
    kept = frame.select("sex", "occupation", "income", weight="sampling_weight")
    levels = {name: [[value, "*"] for value in kept[name].unique().sort()] for name in ("sex", "occupation")}
    return read(kept, Schema.of(quasi=["sex", "occupation"], hierarchies=levels))
