"""Language of a request: query parameter, then cookie, then browser preference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.show.look import LANGUAGES, choose_language

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

COOKIE = "lang"


def language(request: Request) -> str:
    """Return the language of a request."""
    header = request.headers.get("accept-language", "")
    return choose_language(request.query_params.get(COOKIE), request.cookies.get(COOKIE), header)


def remember(request: Request, response: Response) -> None:
    """Store the language of the query parameter, if any, in a cookie."""
    if request.query_params.get(COOKIE) in LANGUAGES:
        response.set_cookie(COOKIE, request.query_params[COOKIE], samesite="lax", httponly=True)
