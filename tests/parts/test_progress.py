"""Long steps tell how far they are, from inside."""

from __future__ import annotations

import threading

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.parts import progress
from celosia.parts.progress import advance, run_with_progress, stage


def data(rows):
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: rng.normal(size=rows).round(3) for name in "abc"})
    return celosia.read(frame, celosia.Schema.of(quasi=[*"abc"], kinds=dict.fromkeys("abc", "numeric")))


@pytest.fixture(autouse=True)
def talkative(monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 0.0)


@pytest.mark.parametrize(
    "method",
    [
        "mondrian(require=[k-anonymity(k=5)])",
        "local-generalise(require=[k-anonymity(k=5)])",
        "generalise(require=[k-anonymity(k=5)])",
    ],
)
def test_a_step_tells_rising_shares_of_its_own_stretch(method):
    heard = []
    celosia.protect(
        data(400), "round(columns=[a], base=0.1)", method, seed=1, progress=lambda *told: heard.append(told)
    )
    inside = [share for what, share in heard if what.startswith(method.split("(")[0])]
    assert len(inside) > 2
    assert all(0.5 <= share <= 1 for share in inside)
    assert heard[-1] == ("done", 1.0)


def test_microaggregation_is_watched(monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 0.01)
    heard = []
    celosia.protect(data(20_000), "microaggregate(columns=[a, b, c], k=5)", seed=1, progress=lambda *t: heard.append(t))
    shares = [share for what, share in heard if what == "microaggregate"]
    assert len(set(shares)) > 2
    assert shares == sorted(shares)


def test_work_that_fails_fails_where_it_is_watched():
    def broken():
        raise ValueError("no")

    with stage(lambda *_: None, "step"), pytest.raises(ValueError, match="no"):
        run_with_progress(broken, lambda: 0.0)


def test_nobody_listens_outside_a_stage():
    names = []
    run_with_progress(lambda: names.append(threading.current_thread().name), lambda: 0.0)
    advance(0.5)
    assert names == [threading.current_thread().name]


def test_messages_are_not_more_frequent_than_people_read(monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 3600.0)
    heard = []
    with stage(lambda *told: heard.append(told), "step"):
        for i in range(100):
            advance(i / 100)
    assert len(heard) == 2  # the beginning, and the first message
