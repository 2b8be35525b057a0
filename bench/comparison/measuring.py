"""A job in a process of its own: what it took, and how that grows with the rows."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

JOBS = Path(__file__).parent / "jobs"


class Failed(Exception):
    """A job that gave no numbers, with the last thing that it said."""


def measured(command: Sequence[str | Path], patience: float) -> dict[str, Any]:
    """CPU seconds, seconds on the clock, largest memory in MB and the answer of a job."""
    there = {**os.environ, "PYTHONWARNINGS": "ignore"}
    words = [str(word) for word in command]
    try:
        said = subprocess.run(words, capture_output=True, text=True, env=there, timeout=patience, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"stopped after {patience:.0f} s") from error
    lines = said.stdout.splitlines()
    if said.returncode or not lines:
        last = (said.stderr.strip().splitlines() or [f"ended with code {said.returncode}"])[-1]
        raise Failed("killed: out of memory" if said.returncode == -9 else last[:200])
    numbers: dict[str, Any] = json.loads(lines[-1])
    return numbers


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """The slope of log time over log rows, by least squares, from a hundredth of the largest size on.

    In smaller tables the start of the work weighs more than the rows.

    >>> exponent([(10, 1.0), (100, 10.0), (1000, 100.0)])
    1.0
    """
    largest = max((n for n, _ in points), default=0)
    kept = [(n, t) for n, t in points if 100 * n >= largest]
    if len(kept) < 2:
        return None
    x, y = [math.log(n) for n, _ in kept], [math.log(max(t, 1e-4)) for _, t in kept]
    middle = sum(x) / len(x)
    spread = sum((a - middle) ** 2 for a in x)
    return round(sum((a - middle) * b for a, b in zip(x, y, strict=True)) / spread, 2)
