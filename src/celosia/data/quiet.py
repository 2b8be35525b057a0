"""Suppression of the log of the SQL parser, which contains the text that it cannot parse, with its literals."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_silent: ContextVar[bool] = ContextVar("celosia_silent_parser", default=False)


@contextmanager
def silence() -> Iterator[None]:
    """Suppress the log of the parser in this context only."""
    logger = logging.getLogger("sqlglot")
    if _is_logged not in logger.filters:
        logger.addFilter(_is_logged)
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def _is_logged(_: logging.LogRecord) -> bool:
    return not _silent.get()
