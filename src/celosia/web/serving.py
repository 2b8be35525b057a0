"""Where web parts listen: an address that cannot be had is told in one sentence, before anything is served."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from typing import Any

from celosia.errors import InputError
from celosia.web.guard import quiet

PORTS = 65_535
WAITING = 128
"""Visitors whom the operating system lets wait at the door."""


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; 0 takes any free port."""
    if not 0 <= port <= PORTS:
        raise InputError(f"a port is a number from 0 to {PORTS}, got {port}.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, ValueError):  # nobody of that name, or no name at all
        raise InputError(f"there is no address {host!r}: give one of this machine, such as 127.0.0.1.") from None
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(WAITING)
    except OSError as problem:
        opened.close()
        if problem.errno == errno.EADDRINUSE:
            raise InputError(f"port {port} is taken: choose another with --port, or 0 for any free one.") from None
        raise InputError(f"cannot listen on {host!r}, port {port}: {problem.strerror}.") from None
    return opened


def address_of(opened: socket.socket) -> str:
    """The address of a socket as a browser writes it.

    >>> with listening("127.0.0.1", 0) as opened:
    ...     address_of(opened).startswith("http://127.0.0.1:")
    True
    """
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: Any, host: str, port: int, announce: Callable[[str], None], **settings: Any) -> None:
    """Serve an application until it is stopped; ``announce`` is told where, once the address is had."""
    import uvicorn

    with listening(host, port) as opened:
        announce(address_of(opened))
        uvicorn.Server(uvicorn.Config(quiet(app), log_level="warning", **settings)).run(sockets=[opened])
