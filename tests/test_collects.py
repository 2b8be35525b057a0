"""How often a run brings something from the engine into memory: columns are encoded once per table."""

from __future__ import annotations

import pytest

from celosia.data.engines.polars import Polars
from celosia.demo.prepare import prepare
from celosia.release import run as run_module
from celosia.release.run import run


@pytest.mark.parametrize(
    ("resident", "most"),
    [
        pytest.param(10**9, 50, id="in memory"),  # each step takes four; the guard asks twice per column
        pytest.param(0, 145, id="streamed"),  # each step is also replayed on the few entries of each histogram
    ],
)
def test_the_demo_collects_each_thing_once(resident, most, tmp_path, monkeypatch):
    counted = []
    collect = Polars.collect

    def counting(self, frame):
        counted.append(frame)
        return collect(self, frame)

    monkeypatch.setattr(Polars, "collect", counting)
    monkeypatch.setattr(run_module, "RESIDENT_INPUT", resident)
    run(prepare(tmp_path))
    assert 0 < len(counted) <= most
