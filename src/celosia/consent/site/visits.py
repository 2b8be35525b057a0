"""Sessions and forms of visitors, and refusals."""

from __future__ import annotations

import hmac
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Request, Response

from celosia.consent.site.signin import ADMIN
from celosia.errors import CelosiaError
from celosia.web.sessions import Session, Sessions


class Refusal(CelosiaError):
    """Raised to show a refusal: the key of its message, the address of the link back, and the HTTP status."""

    def __init__(self, why: str, back: str = "/", status: int = 403) -> None:
        super().__init__(why)
        self.why, self.back, self.status = why, back, status


class Visits:
    """Sessions by cookie, and the check that a form belongs to its session."""

    def __init__(self, sessions: Sessions, secure: bool) -> None:
        self.sessions, self.secure = sessions, secure
        self.cookie = "__Host-celosia-consent" if secure else "celosia-consent"

    def of(self, request: Request) -> Session | None:
        """Return the session of the cookie, if there is one."""
        return self.sessions.find(request.cookies.get(self.cookie))

    def check_form(self, request: Request, form: str) -> Session:
        """Return the session of a form; raise if the token or the origin of the form is wrong."""
        if foreign(request):  # before the session, whose cookie browsers do not send with such a form
            raise Refusal("refused_form")
        session = self.of(request)
        if session is None:
            raise Refusal("refused_session")
        if not hmac.compare_digest(session.form.encode(), form.encode("utf-8", "surrogatepass")):
            raise Refusal("refused_form")
        return session

    def publisher(self, request: Request, form: str | None = None) -> Session:
        """Return the session of an administrator, and check the form if there is one; raise for anybody else."""
        session = self.of(request) if form is None else self.check_form(request, form)
        if session is None:
            raise Refusal("refused_session")
        if session.who != ADMIN:
            raise Refusal("refused_admin")
        return session

    def has_ended(self, request: Request) -> bool:
        """Return whether the session of the cookie has ended."""
        return self.cookie in request.cookies and self.of(request) is None

    def begin(self, request: Request, response: Response, owner: str) -> None:
        """Sign an owner in."""
        self.sessions.end(request.cookies.get(self.cookie))
        name = self.sessions.start(owner)
        response.set_cookie(self.cookie, name, httponly=True, secure=self.secure, samesite="strict", path="/")

    def end(self, request: Request, response: Response) -> None:
        """Sign out."""
        self.sessions.end(request.cookies.get(self.cookie))
        response.delete_cookie(self.cookie, path="/", secure=self.secure, httponly=True, samesite="strict")


def foreign(request: Request) -> bool:
    """Return whether a form was sent from another site."""
    origin = request.headers.get("origin")
    other = origin not in (None, "null") and urlsplit(str(origin)).netloc != request.headers.get("host")
    return other or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


class Form(dict[str, str]):
    """Fields of a submitted form; reading a missing field raises a refusal with status 400."""

    def __missing__(self, name: str) -> str:
        raise HTTPException(400, f"the form is not complete: {name!r} is missing.")


async def _read_form(request: Request) -> dict[str, str]:
    sent = Form((key, str(value)) for key, value in (await request.form()).items())
    if any("\0" in value for value in sent.values()):
        raise HTTPException(400, "the form holds a null character.")
    return sent


SubmittedForm = Annotated[dict[str, str], Depends(_read_form)]
"""Fields of a submitted form, read before the handler so that the handler runs in a thread and may wait."""
