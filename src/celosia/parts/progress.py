"""Progress of long work, reported from inside a step to a listener.

The work calls :func:`advance` with the share that is done, whether or not there is a listener. The listener is set
around a step with :func:`stage`, which maps the step's own 0 to 1 to a part of the whole job.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import ContextVar
from dataclasses import dataclass

Progress = Callable[[str, float], None]
"""Listener: it gets the name of the current work and the share that is done."""

PAUSE = 0.1
"""Seconds between two messages: work may advance thousands of times a second, faster than anyone can read."""


@dataclass
class _Stage:
    """Part of a job, with its listener."""

    progress: Progress
    name: str
    first: float
    last: float
    reported: float = -math.inf
    """Time of the last message."""


_current: ContextVar[_Stage | None] = ContextVar("celosia_stage", default=None)


@contextlib.contextmanager
def stage(progress: Progress | None, name: str, first: float = 0.0, last: float = 1.0) -> Iterator[None]:
    """Report the start of a part of a job; inside it, 0 to 1 counts as ``first`` to ``last`` of the job.

    >>> messages = []
    >>> with stage(lambda name, share: messages.append((name, share)), "generalise", 0.2, 0.6):
    ...     advance(0.5, "3 of 6 nodes")
    >>> messages
    [('generalise', 0.2), ('generalise: 3 of 6 nodes', 0.4)]
    """
    if progress is None:
        yield
        return
    progress(name, first)
    token = _current.set(_Stage(progress, name, first, last))
    try:
        yield
    finally:
        _current.reset(token)


def subrange(progress: Progress, first: float, last: float) -> Progress:
    """Return a listener for a part of a job whose 0 to 1 is ``first`` to ``last`` of the whole job."""
    return lambda name, share: progress(name, first + (last - first) * share)


def advance(share: float, note: str = "") -> None:
    """Report the share of the current part of the job that is done; at most one message per :data:`PAUSE`."""
    current = _current.get()
    if current is None or time.monotonic() - current.reported < PAUSE:
        return
    current.reported = time.monotonic()
    inside = min(1.0, max(0.0, share))
    total = current.first + (current.last - current.first) * inside
    current.progress(f"{current.name}: {note}" if note else current.name, total)


def run_with_progress(work: Callable[[], None], share: Callable[[], float]) -> None:
    """Run work that cannot report by itself, such as a compiled loop, and poll ``share`` for its progress.

    With a listener the work runs in another thread; it must release the interpreter lock for that to help.
    """
    if _current.get() is None:
        work()
        return
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work)
        while not wait([done], PAUSE).done:
            advance(share())
        done.result()
