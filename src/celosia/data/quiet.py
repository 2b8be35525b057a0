"""The parser of SQL logs the text of what it cannot read, literals included: not while it reads for this package."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_silent: ContextVar[bool] = ContextVar("celosia_silent_parser", default=False)


@contextmanager
def silence() -> Iterator[None]:
    """Hear nothing from the parser meanwhile; others that use it do."""
    logger = logging.getLogger("sqlglot")
    if _unheard not in logger.filters:
        logger.addFilter(_unheard)
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def _unheard(_: logging.LogRecord) -> bool:
    return not _silent.get()
