"""A bar that a notebook shows while long work goes on, without anybody asking for it."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from celosia.parts.progress import Progress

PATIENCE = 0.5
"""Seconds of work before a bar appears: what is done sooner needs none."""


def in_notebook() -> bool:
    """Return whether a Jupyter kernel runs this code."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and getattr(running, "kernel", None) is not None


@contextlib.contextmanager
def progress_bar(progress: Progress | None) -> Iterator[Progress | None]:
    """Yield the listener for progress: the given one, a bar in a notebook, or None."""
    if progress is not None or not in_notebook():
        yield progress
        return
    bar = Bar()
    try:
        yield bar
    finally:
        bar.close()


class Bar:
    """A line of text and a bar; gone when the work is done."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._display: Any = None

    def __call__(self, what: str, share: float) -> None:
        """Show the progress."""
        if time.monotonic() - self._begin >= PATIENCE:
            self._show(f'<progress value="{share:.3f}" max="1"></progress> {escape(what)}')

    def close(self) -> None:
        """Remove the bar."""
        if self._display is not None:
            self._show("")

    def _show(self, text: str) -> None:
        from IPython import display

        shell: Any = display  # which has no types
        if self._display is None:
            self._display = shell.display(shell.HTML(text), display_id=True)
        else:
            self._display.update(shell.HTML(text))
