"""What every answer carries and every request must keep: headers, the size of what is sent, silence about a failure."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any

_LOG = logging.getLogger(__name__)
MOST_BYTES = 64 * 1024
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def oversized(method: str, headers: Mapping[str, str]) -> bool:
    """Whether what is sent is too long, or does not say how long it is; told before any of it is read.

    >>> oversized("POST", {"content-length": "70000"}), oversized("POST", {"content-length": "10"})
    (True, False)
    """
    length = headers.get("content-length", "0")
    fits = length.isascii() and length.isdigit() and int(length) <= MOST_BYTES and "transfer-encoding" not in headers
    return method == "POST" and not fits


def quiet(app: Any) -> Any:
    """An application whose failures are logged by their kind alone: a traceback ends with what was in hand.

    Whoever asked has been told by a page. CELOSIA_TRACEBACK shows where it was, to the owner of the data.
    """

    async def answered(scope: Any, receive: Any, send: Any) -> None:
        try:
            await app(scope, receive, send)
        except Exception as problem:
            if scope["type"] != "http" or os.environ.get("CELOSIA_TRACEBACK"):
                raise
            _LOG.error("a request failed inside (%s).", type(problem).__name__)

    return answered
