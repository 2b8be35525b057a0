"""What every answer carries and every request must keep: headers, and the size of what is sent."""

from __future__ import annotations

from collections.abc import Mapping

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
