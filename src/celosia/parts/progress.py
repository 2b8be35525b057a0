"""How far long work has come: told from inside a step to whoever shows it.

The work calls :func:`advance` with the share that is done; it need not know who listens, or whether anybody does. The
listener is set around a step with :func:`stage`, which places the step's own 0 to 1 inside the whole job.
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
"""Told what is being done and the share that is done."""

PAUSE = 0.1
"""Seconds between two messages: work may advance thousands of times a second, nobody reads so fast."""


@dataclass
class _Stage:
    """A stretch of a job, and who is told about it."""

    progress: Progress
    name: str
    first: float
    last: float
    spoke: float = -math.inf
    """When the listener was told last."""


_current: ContextVar[_Stage | None] = ContextVar("celosia_stage", default=None)


@contextlib.contextmanager
def stage(progress: Progress | None, name: str, first: float = 0.0, last: float = 1.0) -> Iterator[None]:
    """Say that a stretch of a job begins; what advances inside it counts from ``first`` to ``last`` of the job.

    >>> heard = []
    >>> with stage(lambda what, share: heard.append((what, share)), "generalise", 0.2, 0.6):
    ...     advance(0.5, "3 of 6 nodes")
    >>> heard
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


def within(progress: Progress, first: float, last: float) -> Progress:
    """Return a listener for a part of a job whose 0 to 1 is ``first`` to ``last`` of the whole job."""
    return lambda name, share: progress(name, first + (last - first) * share)


def advance(share: float, note: str = "") -> None:
    """Say that so much of the current stretch is done; silent when nobody listens or somebody was told just now."""
    here = _current.get()
    if here is None or time.monotonic() - here.spoke < PAUSE:
        return
    here.spoke = time.monotonic()
    inside = min(1.0, max(0.0, share))
    here.progress(f"{here.name}: {note}" if note else here.name, here.first + (here.last - here.first) * inside)


def watched(work: Callable[[], None], share: Callable[[], float]) -> None:
    """Do work that cannot report by itself, such as a compiled loop, and meanwhile say what ``share`` of it is done.

    The work runs in another thread only where somebody listens; it must let go of the interpreter for that to help.
    """
    if _current.get() is None:
        work()
        return
    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(work)
        while not wait([done], PAUSE).done:
            advance(share())
        done.result()
