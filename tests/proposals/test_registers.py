"""The suggestions on labelled registers: what they were tuned on, and what was set apart."""

from __future__ import annotations

import itertools

import pytest
from tests.proposals.registers import HELD, SEEN, register
from tests.proposals.registers.scoring import Score, score


@pytest.mark.parametrize(("half", "accuracy"), [(SEEN, 0.97), (HELD, 0.93)], ids=["seen", "held"])
def test_roles_are_right(half, accuracy):
    scores = score(half)
    every = sum(scores.values(), Score())
    assert every.registers >= 20
    assert every.recall >= 0.99
    assert every.precision >= 0.9
    assert every.accuracy >= accuracy
    assert {"es", "ca", "en"} <= set(scores)


def test_the_halves_share_no_register():
    assert not set(SEEN) & set(HELD)
    assert len(SEEN) + len(HELD) >= 40
    same = [a for a, b in itertools.product(SEEN.values(), HELD.values()) if a == b]
    assert not same


def test_a_register_is_the_same_every_time():
    assert register("cmbd", SEEN["cmbd"]) == register("cmbd", SEEN["cmbd"])
