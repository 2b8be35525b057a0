"""Who may use the studio: programs and pages on this machine that hold its token, and no other.

It listens on the loopback address only. A page elsewhere could still make the browser ask it for things: such requests
name another host (a name that was bound to this address later), come from another origin, or lack the cookie.
"""

from __future__ import annotations

import hmac
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from celosia.web.guard import quiet

HOST = "127.0.0.1"
MOST_BYTES = 1 << 20
"""What a form may send."""
MOST_UPLOAD = 2 << 30
"""What a file may have; addresses that end in ``/upload`` take files."""
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
UNKNOWN = "This is a Celosia studio. Open it by the link that 'celosia studio' printed: it holds the token."
OTHER_HOST = "This studio answers to its own address only."
OTHER_ORIGIN = "The request came from another page than the studio's own: refused."
TOO_LONG = "What was sent is too long, or does not say how long it is."


class Gate:
    """Stands before the application and turns away what does not come from the studio's own pages."""

    def __init__(self, app: Any, *, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{HOST}:{port}", f"localhost:{port}"}
        self.cookie = f"celosia-studio-{port}"  # browsers share cookies between the ports of a host

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or hand it on; every answer carries the headers."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def headed(message: Any) -> None:
            if message["type"] == "http.response.start":
                there = {name.lower() for name, _ in message["headers"]}
                more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *(pair for pair in more if pair[0] not in there)]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        answer = self._refusal(scope, headers) or self._entry(scope)
        await quiet(answer or self._app)(scope, receive, headed)

    def _refusal(self, scope: Any, headers: dict[str, str]) -> Any:
        from starlette.responses import PlainTextResponse

        host = headers.get("host", "")
        if host not in self._hosts:
            return PlainTextResponse(OTHER_HOST, 421)
        if self._holds(headers):
            if scope["method"] in ("GET", "HEAD"):
                foreign = headers.get("sec-fetch-site", "none") not in ("same-origin", "none")
                # a link from elsewhere may lead here, but nothing may be embedded or fetched
                if foreign and headers.get("sec-fetch-mode") != "navigate":
                    return PlainTextResponse(OTHER_ORIGIN, 403)
                return None
            if urlsplit(headers.get("origin", "")).netloc != host or not headers["origin"].startswith("http://"):
                return PlainTextResponse(OTHER_ORIGIN, 403)
            return None if _fits(scope, headers) else PlainTextResponse(TOO_LONG, 413)
        return None if _given(scope) else PlainTextResponse(UNKNOWN, 403)

    def _entry(self, scope: Any) -> Any:
        """The first link: its token becomes a cookie and leaves the address."""
        from starlette.responses import PlainTextResponse, RedirectResponse

        given = _given(scope)
        if not given:
            return None
        if scope["method"] != "GET" or not hmac.compare_digest(given.encode(), self._token.encode()):
            return PlainTextResponse(UNKNOWN, 403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(self.cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _holds(self, headers: dict[str, str]) -> bool:
        cookies: SimpleCookie = SimpleCookie()
        try:
            cookies.load(headers.get("cookie", ""))
        except CookieError:
            return False
        held = cookies.get(self.cookie)
        return held is not None and hmac.compare_digest(held.value.encode(), self._token.encode())


def _given(scope: Any) -> str:
    """The token in the address of the first link."""
    return parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0] if scope["path"] == "/" else ""


def _fits(scope: Any, headers: dict[str, str]) -> bool:
    length = headers.get("content-length", "0")
    most = MOST_UPLOAD if scope["path"].endswith("/upload") else MOST_BYTES
    return length.isascii() and length.isdigit() and int(length) <= most and "transfer-encoding" not in headers
