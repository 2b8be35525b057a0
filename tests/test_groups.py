"""Tests of one group run on one worker, in order: those of a studio go on where the one before stopped."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.xdist_group("kept-together")


def test_the_runner_keeps_groups_together(request):
    if not getattr(request.config.option, "loadgroup", False):
        pytest.skip("only where tests are spread over workers by group")
    assert request.node.nodeid.endswith("@kept-together")
