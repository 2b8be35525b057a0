"""A policy that was written once means the same later: no default, no limit and no fact of a part moves unnoticed."""

from __future__ import annotations

import json

import pytest
from tests.parts.kept import KEPT, said

from celosia.parts import find

PARTS = json.loads(KEPT.read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", PARTS)
def test_a_part_says_of_its_parameters_what_was_published(part):
    """What is new is free; what somebody may rely on is not."""
    now = said(find(*part.split(" ")))
    kept = PARTS[part]
    assert {name: now.get(name) for name in kept} == kept, "if it is meant: python -m tests.parts.kept"
