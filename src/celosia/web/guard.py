"""Checks of every request and response: headers, size of the body, no details of a failure."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_LOG = logging.getLogger(__name__)
MOST_BYTES = 64 * 1024
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def is_oversized(method: str, headers: Mapping[str, str]) -> bool:
    """Return whether a body is too long or does not declare its length, before any of it is read.

    >>> is_oversized("POST", {"content-length": "70000"}), is_oversized("POST", {"content-length": "10"})
    (True, False)
    """
    length = headers.get("content-length", "0")
    fits = length.isascii() and length.isdigit() and int(length) <= MOST_BYTES and "transfer-encoding" not in headers
    return method == "POST" and not fits


def quiet(app: ASGIApp) -> ASGIApp:
    """Wrap an application so that its failures are logged by type alone: a traceback could contain data.

    The user gets an error page. With CELOSIA_TRACEBACK the exception is raised, for the owner of the data.
    """

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except Exception as problem:
            if scope["type"] != "http" or os.environ.get("CELOSIA_TRACEBACK"):
                raise
            _LOG.error("a request failed with an internal error (%s).", type(problem).__name__)

    return call
