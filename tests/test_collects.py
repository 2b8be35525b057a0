"""How often a run brings something from the engine into memory: columns are encoded once per table."""

from __future__ import annotations

from celosia.data.engines.polars import Polars
from celosia.demo.prepare import prepare
from celosia.release.run import run


def test_the_demo_collects_each_thing_once(tmp_path, monkeypatch):
    counted = []
    collect = Polars.collect

    def counting(self, frame):
        counted.append(frame)
        return collect(self, frame)

    monkeypatch.setattr(Polars, "collect", counting)
    run(prepare(tmp_path))
    assert 0 < len(counted) <= 44  # each step of the demonstration takes four; the guard asks twice per column
