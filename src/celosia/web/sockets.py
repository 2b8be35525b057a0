"""Sockets of the web applications: an address that cannot be used raises before anything is served."""

from __future__ import annotations

import errno
import secrets
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from celosia.errors import InputError
from celosia.web.guard import quiet

if TYPE_CHECKING:
    from starlette.types import ASGIApp

LOOPBACK = "127.0.0.1"
PORTS = 65_535
ATTEMPTS = 100
"""Ports to try until one is free on both loopback addresses."""
NO_IPV6 = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
"""The machine has no ::1, so that no other program can listen there either."""
TAKEN = "port {port} is taken: choose another with --port, or 0 for any free one."
WAITING = 128
"""Connections that the operating system queues."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes any free port."""
    if not 0 <= port <= PORTS:
        raise InputError(f"a port is a number from 0 to {PORTS}, got {port}.")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, ValueError):  # unknown name, or not a name
        raise InputError(f"there is no address {host!r}: give one of this machine, such as 127.0.0.1.") from None
    try:
        return _listen(socket.socket(family, kind, protocol), address)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise InputError(TAKEN.format(port=port)) from None
        raise InputError(f"cannot listen on {host!r}, port {port}: {problem.strerror}.") from None


def loopback(port: int) -> list[socket.socket]:
    """Return sockets that listen on one port of 127.0.0.1 and of ::1; 0 takes a port that is free on both.

    Browsers connect to either address for a name below ``localhost``. With one of them left free, another account of
    the machine could listen there and receive what is meant for this server.
    """
    for _ in range(1 if port else ATTEMPTS):
        first = open_socket(LOOPBACK, port)
        address = ("::1", first.getsockname()[1])
        try:
            return [first, _listen(socket.socket(socket.AF_INET6, socket.SOCK_STREAM), address)]
        except OSError as problem:
            if problem.errno in NO_IPV6:
                return [first]
            first.close()
    raise InputError(TAKEN.format(port=port))


def secret_host() -> str:
    """Return a random name of this machine, for browsers: they resolve every name below ``localhost`` themselves.

    Cookies are shared between the ports of a host. A server of another account does not know the name, so that the
    browser sends it none of the cookies that are set under it.
    """
    return f"{secrets.token_hex(16)}.localhost"


def _listen(opened: socket.socket, address: tuple[object, ...]) -> socket.socket:
    """Bind a socket to an address and listen; close it on failure."""
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
        opened.listen(WAITING)
    except OSError:
        opened.close()
        raise
    return opened


def address_of(opened: socket.socket) -> str:
    """Return the address of a socket as a browser writes it.

    >>> with open_socket("127.0.0.1", 0) as opened:
    ...     address_of(opened).startswith("http://127.0.0.1:")
    True
    """
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(app: ASGIApp, host: str, port: int, announce: Callable[[str], None], *, server_header: bool = True) -> None:
    """Serve an application until it is stopped; ``announce`` is called with the address once the socket listens."""
    import uvicorn

    with open_socket(host, port) as opened:
        announce(address_of(opened))
        uvicorn.Server(uvicorn.Config(quiet(app), log_level="warning", server_header=server_header)).run(
            sockets=[opened]
        )
