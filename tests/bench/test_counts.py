"""Small jobs ask for no more than was recorded: collects, rows in memory, nodes checked, calls of compiled kernels.

Time would depend on the machine; these do not. After a change that must ask for more, or to keep a gain:
``python bench/counts.py --record``.
"""

from __future__ import annotations

import json

import pytest
from bench.counts import JOBS, RECORDED, Kernel, counting, counts_of, people

HELD = json.loads(RECORDED.read_text("utf-8"))


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("counts") / "people.parquet"
    people().write_parquet(place)
    return place


def test_every_job_is_recorded():
    assert list(HELD) == list(JOBS)


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.sampled(8)
@pytest.mark.filterwarnings("ignore:3 columns have no role")
def test_a_job_asks_for_no_more_than_recorded(name, path):
    counts, held = counts_of(name, path), HELD[name]
    asked = {key: (held.get(key, 0), counts.get(key, 0)) for key in ("collects", "rows", "nodes")}
    asked |= {kernel: (held["kernels"].get(kernel, 0), calls) for kernel, calls in counts["kernels"].items()}
    assert not {key: pair for key, pair in asked.items() if pair[1] > pair[0]}, "more than recorded (before, now)"


def test_what_is_counted_is_what_happens(path):
    import polars as pl

    from celosia.data.engines import engine_named

    with counting() as counts:
        engine_named("polars").collect(pl.scan_parquet(path).head(7))
        engine_named("polars").collect(pl.scan_parquet(path).head(5))
        from celosia.kernels.neighbours.mdav import mdav

        mdav(people().select("x", "y", "z").to_numpy().copy(order="C"), 3)
    assert (counts["collects"], counts["rows"]) == (2, 12)
    assert sum(counts["kernels"].values()) >= 1
    from celosia.kernels.neighbours import mdav as module

    assert not any(isinstance(held, Kernel) for held in vars(module).values())  # nothing stays replaced
