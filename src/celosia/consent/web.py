"""The consent pages over HTTP: no scripts, one-time links, sessions that expire, forms that cannot be forged.

TLS is left to a proxy in front; see the how-to page on consent.
"""

from __future__ import annotations

import hmac
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Form, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse

from celosia.consent.pages import Pages, preferred, styles
from celosia.consent.rules import LANGUAGES, Catalogue
from celosia.consent.signin import ADMIN, Session, Sessions, redeem
from celosia.consent.store import Preferences
from celosia.errors import CelosiaError

MOST_BYTES = 64 * 1024
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Refusal(CelosiaError):
    """A page that refuses: the key of the sentence that says why."""


def create(
    catalogue: Catalogue, store: Preferences, *, secure: bool = False, sessions: Sessions | None = None
) -> FastAPI:
    """Make the application. ``secure`` marks the cookie for HTTPS only: set it behind a TLS proxy."""
    app = FastAPI(title="Celosia consent", docs_url=None, redoc_url=None, openapi_url=None)
    visit = _Visits(sessions or Sessions(), secure)
    pages = Pages(catalogue, store)
    _guard(app, pages)
    _signing_in(app, store, pages, visit)
    _owner(app, catalogue, store, visit)
    _questions(app, store, pages)
    return app


class _Visits:
    """Who is asking: the session of the cookie, and whether a form belongs to it."""

    def __init__(self, sessions: Sessions, secure: bool) -> None:
        self.sessions, self.secure = sessions, secure
        self.cookie = "__Host-celosia-consent" if secure else "celosia-consent"

    def of(self, request: Request) -> Session | None:
        return self.sessions.find(request.cookies.get(self.cookie))

    def checked(self, request: Request, form: str) -> Session:
        """The session of a form; refuses when the form's token or its origin is not ours."""
        session = self.of(request)
        if session is None or foreign(request) or not hmac.compare_digest(session.form.encode(), form.encode()):
            raise Refusal("refused_form")
        return session

    def begin(self, response: Response, owner: str) -> None:
        name = self.sessions.start(owner)
        response.set_cookie(self.cookie, name, httponly=True, secure=self.secure, samesite="strict", path="/")

    def end(self, request: Request, response: Response) -> None:
        self.sessions.end(request.cookies.get(self.cookie))
        response.delete_cookie(self.cookie, path="/", secure=self.secure, httponly=True, samesite="strict")


def foreign(request: Request) -> bool:
    """Whether a form was sent from another site."""
    origin = request.headers.get("origin")
    other = origin not in (None, "null") and urlsplit(str(origin)).netloc != request.headers.get("host")
    return other or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def _language(request: Request) -> str:
    header = request.headers.get("accept-language", "")
    return preferred(request.query_params.get("lang"), request.cookies.get("lang"), header)


def _guard(app: FastAPI, pages: Pages) -> None:

    @app.middleware("http")
    async def headers(request: Request, call_next: Any) -> Any:
        length = request.headers.get("content-length", "0")
        if request.method == "POST" and (
            not length.isdigit() or int(length) > MOST_BYTES or "transfer-encoding" in request.headers
        ):
            response: Any = PlainTextResponse(f"send at most {MOST_BYTES} bytes, with their length.", 413)
        else:
            response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        if request.query_params.get("lang") in LANGUAGES:
            response.set_cookie("lang", request.query_params["lang"], samesite="lax", httponly=True)
        return response

    @app.exception_handler(Refusal)
    async def refused(request: Request, problem: Exception) -> HTMLResponse:
        return HTMLResponse(pages.sign_in(_language(request), problem=str(problem)), 403)

    @app.get("/style.css")
    def style() -> PlainTextResponse:
        return PlainTextResponse(styles(), media_type="text/css")


def _signing_in(app: FastAPI, store: Preferences, pages: Pages, visit: _Visits) -> None:

    @app.get("/")
    def home(request: Request) -> Any:
        session, language = visit.of(request), _language(request)
        if session is None:
            done = "forgotten" if "forgotten" in request.query_params else ""
            return HTMLResponse(pages.sign_in(language, done=done))
        if session.admin:
            return RedirectResponse("/admin", 303)
        saved = "saved" in request.query_params
        return HTMLResponse(pages.choices(session.owner, session.form, language, saved=saved))

    @app.get("/in/{token}")
    def link(request: Request, token: str) -> HTMLResponse:
        return HTMLResponse(pages.link(_language(request), token))

    @app.post("/in")
    def enter(token: str = Form(max_length=200)) -> RedirectResponse:
        owner = redeem(store, token.strip())
        if owner is None:
            raise Refusal("refused_link")
        response = RedirectResponse("/admin" if owner == ADMIN else "/", 303)
        visit.begin(response, owner)
        return response

    @app.post("/out")
    def leave(request: Request, form: str = Form(default="", max_length=200)) -> RedirectResponse:
        visit.checked(request, form)
        response = RedirectResponse("/", 303)
        visit.end(request, response)
        return response

    @app.get("/admin")
    def admin(request: Request) -> HTMLResponse:
        session = visit.of(request)
        if session is None or not session.admin:
            raise Refusal("refused_form")
        return HTMLResponse(pages.admin(session.form, _language(request)))


def _owner(app: FastAPI, catalogue: Catalogue, store: Preferences, visit: _Visits) -> None:

    @app.post("/choices")
    async def choose(request: Request) -> RedirectResponse:
        sent = await request.form()
        session = visit.checked(request, str(sent.get("form", "")))
        known = set(catalogue.ids())
        chosen: dict[str, bool] = {}
        for key, value in sent.items():
            kind, _, name = key.partition(":")
            if kind != "choice":
                continue
            if name not in known or value not in ("block", "allow") or session.admin:
                raise Refusal("refused_choice")
            chosen[name] = value == "block"
        store.choose(session.owner, chosen)
        return RedirectResponse("/?saved=1#saved", 303)

    @app.get("/mine.json")
    def mine(request: Request) -> JSONResponse:
        session = visit.of(request)
        if session is None or session.admin:
            raise Refusal("refused_form")
        name = {"Content-Disposition": 'attachment; filename="my-record.json"'}
        return JSONResponse(store.export(session.owner), headers=name)

    @app.post("/forget")
    def forget(
        request: Request, form: str = Form(default="", max_length=200), sure: str = Form(default="", max_length=10)
    ) -> RedirectResponse:
        session = visit.checked(request, form)
        if sure != "yes" or session.admin:
            raise Refusal("refused_choice")
        store.forget(session.owner)
        visit.sessions.end_all(session.owner)
        response = RedirectResponse("/?forgotten=1", 303)
        visit.end(request, response)
        return response


def _questions(app: FastAPI, store: Preferences, pages: Pages) -> None:
    """The questionnaire: anybody may answer, nobody is named."""
    from celosia.consent.questionnaire import answer

    @app.get("/questions")
    def ask(request: Request, group: str = "") -> HTMLResponse:
        done = "done" in request.query_params
        return HTMLResponse(pages.questions(_language(request), group[:100], done=done))

    @app.post("/questions")
    async def answered(request: Request) -> RedirectResponse:
        if foreign(request):
            raise Refusal("refused_form")
        sent = {key: str(value) for key, value in (await request.form()).items()}
        text, group = sent.pop("text", ""), sent.pop("group", "")
        if not all(value.isascii() and value.isdigit() and len(value) == 1 for value in sent.values()):
            raise Refusal("refused_choice")
        try:
            answer(store, {key: int(value) for key, value in sent.items()}, group, text)
        except CelosiaError:
            raise Refusal("refused_choice") from None
        return RedirectResponse("/questions?done=1", 303)
