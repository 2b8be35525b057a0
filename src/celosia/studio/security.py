"""Access control of the studio: only a browser that was opened by its link may use it.

It listens on the loopback addresses only. The link holds a token that works once; the browser that opens the link gets
a session, whose random id is the cookie. Browsers send a cookie to every port of a host, so the studio's host is a
random name below ``localhost``, new at every start: another account of the machine, which may serve another port, does
not know it. A page elsewhere could still make the browser send requests: such requests name another host, come from
another origin, or lack the cookie.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable, Mapping
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from celosia.web.guard import quiet
from celosia.web.sessions import Sessions
from celosia.web.sockets import secret_host

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "celosia-studio"
MAX_BYTES = 1 << 20
"""Largest body of a form."""
MAX_UPLOAD = 2 << 30
"""Largest body at addresses that end in ``/upload``."""
SESSION_SECONDS = 12 * 3600
"""A session ends after this time without a request."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
UNKNOWN = (
    "This is a Celosia studio. Open it by the link that 'celosia studio' printed. A link works once, in one browser: "
    "press Enter where the studio was started, and it prints another."
)
OTHER_ORIGIN = "The request came from another page than the studio's own: refused."
TOO_LONG = "What was sent is too long, or does not say how long it is."


class Gate:
    """ASGI middleware that rejects requests that do not come from the studio's own pages."""

    def __init__(self, app: ASGIApp, *, port: int, look: Callable[[], Mapping[str, str]]) -> None:
        """Wrap an application; ``look`` returns the cookies for language and theme of a new session."""
        self._app, self._look, self._sessions = app, look, Sessions(SESSION_SECONDS)
        self._host = f"{secret_host()}:{port}"
        self._token, self._lock = "", threading.Lock()

    @property
    def address(self) -> str:
        """Address of the studio in this run; a session is needed as well."""
        return f"http://{self._host}"

    def link(self) -> str:
        """Return a link that opens one session and invalidates earlier unused links."""
        with self._lock:
            self._token = secrets.token_urlsafe(32)
            return f"{self.address}/?token={self._token}"

    def _use_token(self, token: str) -> bool:
        """Invalidate the token of the last link; return whether the given one was valid."""
        with self._lock:
            valid = bool(self._token) and hmac.compare_digest(token.encode(), self._token.encode())
            if valid:
                self._token = ""
            return valid

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on; add the security headers to every response."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in present)]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answer = self._refusal(scope, headers) or self._open_session(scope, headers)
        await quiet(answer or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> ASGIApp | None:
        from starlette.responses import PlainTextResponse

        if headers.get("host", "") != self._host:
            return PlainTextResponse(UNKNOWN, 421)
        if self._has_session(headers):
            if scope["method"] in ("GET", "HEAD"):
                foreign = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
                # a link from elsewhere may lead here, but nothing may be embedded or fetched
                if foreign and headers.get("sec-fetch-mode") != "navigate":
                    return PlainTextResponse(OTHER_ORIGIN, 403)
                return None
            if headers.get("origin", "") != self.address:
                return PlainTextResponse(OTHER_ORIGIN, 403)
            return None if _fits(scope, headers) else PlainTextResponse(TOO_LONG, 413)
        return None if _token(scope) else PlainTextResponse(UNKNOWN, 403)

    def _open_session(self, scope: Scope, headers: dict[str, str]) -> ASGIApp | None:
        """Answer the one-time link: start a session and return a page that opens the address without the token.

        The answer is a page that leads on, not a redirect: after a redirect that began on another site (the file that
        the browser was opened with), a browser would not send a cookie that is ``SameSite=Strict``.
        """
        from starlette.responses import HTMLResponse, PlainTextResponse

        token = _token(scope)
        if not token:
            return None
        answer = HTMLResponse(redirect_page("/"))
        spent = scope["method"] == "GET" and self._use_token(token)
        if self._has_session(headers):  # the link was opened again, for example by the Back button
            return answer
        if not spent:
            return PlainTextResponse(UNKNOWN, 403)
        for name, value in {**self._look(), COOKIE: self._sessions.start("owner")}.items():
            answer.set_cookie(name, value, httponly=True, samesite="strict")
        return answer

    def _has_session(self, headers: dict[str, str]) -> bool:
        from starlette.requests import cookie_parser  # cookies of other programs need not be well formed

        return self._sessions.find(cookie_parser(headers.get("cookie", "")).get(COOKIE)) is not None


def redirect_page(address: str) -> str:
    """Return an HTML page that redirects to an address."""
    link = escape(address)
    head = f'<meta charset="utf-8"><meta http-equiv="refresh" content="0; url={link}"><title>Celosia</title>'
    return f'<!doctype html>{head}<a href="{link}">Celosia</a>'


def _token(scope: Scope) -> str:
    """Return the token in the address of a one-time link."""
    return parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0] if scope["path"] == "/" else ""


def _fits(scope: Scope, headers: dict[str, str]) -> bool:
    length = headers.get("content-length", "0")
    most = MAX_UPLOAD if scope["path"].endswith("/upload") else MAX_BYTES
    return length.isascii() and length.isdigit() and int(length) <= most and "transfer-encoding" not in headers
