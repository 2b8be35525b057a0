"""The consent pages over HTTP: no scripts, one-time links, sessions that expire, forms that cannot be forged.

TLS is left to a proxy in front; see the how-to page on consent.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI, Form, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse

from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import LANGUAGES, Catalogue
from celosia.consent.site.overview import Overview
from celosia.consent.site.pages import Pages, preferred, styles, words
from celosia.consent.site.signin import ADMIN, redeem
from celosia.data.io.durable import Unavailable
from celosia.errors import CelosiaError, DataError
from celosia.web.guard import HEADERS, oversized
from celosia.web.limits import RateLimit
from celosia.web.sessions import Session, Sessions

SESSION_SECONDS = 30 * 60
"""A visit ends after so long without a request."""
LANE = 16
"""So many requests wait for the store at once; the threads of the server are 40."""
ONE_STRANGER, ALL_STRANGERS = 30, 120
"""Answers to the questionnaire that are taken in a minute from one address, and from all who are not signed in."""
QUESTIONS = "/questions"


class Refusal(CelosiaError):
    """A page that refuses: the key of the sentence that says why, and where the reader goes on."""

    def __init__(self, why: str, back: str = "/", status: int = 403) -> None:
        super().__init__(why)
        self.why, self.back, self.status = why, back, status


def create(
    catalogue: Catalogue, store: Preferences, *, secure: bool = False, sessions: Sessions | None = None
) -> FastAPI:
    """Make the application. ``secure`` marks the cookie for HTTPS only: set it behind a TLS proxy."""
    visit = _Visits(sessions or Sessions(SESSION_SECONDS), secure)
    turn = Depends(_Lanes(visit.cookie).turn)
    app = FastAPI(title="Celosia consent", docs_url=None, redoc_url=None, openapi_url=None, dependencies=[turn])
    pages = Pages(catalogue, store)
    _guard(app)
    _refusals(app, pages)
    _signing_in(app, store, pages, visit)
    _owner(app, catalogue, store, visit)
    _admin(app, Overview(catalogue, store), visit)
    _questions(app, store, pages, visit)
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
        if foreign(request):  # before the session, whose cookie browsers do not send with such a form
            raise Refusal("refused_form")
        session = self.of(request)
        if session is None:
            raise Refusal("refused_session")
        if not hmac.compare_digest(session.form.encode(), form.encode("utf-8", "surrogatepass")):
            raise Refusal("refused_form")
        return session

    def ended(self, request: Request) -> bool:
        """Whether somebody was signed in who no longer is."""
        return self.cookie in request.cookies and self.of(request) is None

    def begin(self, request: Request, response: Response, owner: str) -> None:
        self.sessions.end(request.cookies.get(self.cookie))
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


async def _sent(request: Request) -> dict[str, str]:
    return {key: str(value) for key, value in (await request.form()).items()}


Sent = Annotated[dict[str, str], Depends(_sent)]
"""What a form sent. It is read here, so that what is done with it runs in a thread: it may wait for the store."""


def _language(request: Request) -> str:
    header = request.headers.get("accept-language", "")
    return preferred(request.query_params.get("lang"), request.cookies.get("lang"), header)


def _guard(app: FastAPI) -> None:

    @app.middleware("http")
    async def headers(request: Request, call_next: Any) -> Any:
        response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        if request.query_params.get("lang") in LANGUAGES:
            response.set_cookie("lang", request.query_params["lang"], samesite="lax", httponly=True)
        return response

    @app.get("/style.css")
    def style() -> PlainTextResponse:
        return PlainTextResponse(styles(), media_type="text/css")


class _Lanes:
    """How many requests may wait for the store at once, of those that write and of those that read what is signed in.

    A lock of the store holds the threads of those who wait for it. Some must be left for the pages that need no store.
    """

    def __init__(self, cookie: str) -> None:
        self._cookie = cookie
        self._writing, self._reading = threading.BoundedSemaphore(LANE), threading.BoundedSemaphore(LANE)

    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Keep a place for a request until it ends. What it sends is read before: who sends slowly keeps none."""
        if request.method == "POST":
            await request.form()
            lane = self._writing
        elif self._cookie in request.cookies:
            lane = self._reading
        else:
            yield
            return
        if not lane.acquire(blocking=False):
            raise Unavailable("too many wait for the store.")
        try:
            yield
        finally:
            lane.release()


def _refusals(app: FastAPI, pages: Pages) -> None:
    """Whatever is refused is said on a page in the reader's language."""

    def page(request: Request, why: str, status: int, back: str = "/") -> HTMLResponse:
        return HTMLResponse(pages.refused(_language(request), why, back), status)

    @app.middleware("http")
    async def sizes(request: Request, call_next: Any) -> Any:
        if oversized(request.method, request.headers):
            return page(request, "refused_size", 413)
        return await call_next(request)

    @app.exception_handler(Unavailable)
    async def busy(request: Request, _problem: Exception) -> HTMLResponse:
        back = QUESTIONS if request.url.path == QUESTIONS else "/"
        response = page(request, "refused_busy", 503, back)
        response.headers["Retry-After"] = "30"
        return response

    @app.exception_handler(Refusal)
    async def refused(request: Request, problem: Refusal) -> HTMLResponse:
        return page(request, problem.why, problem.status, problem.back)

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def nowhere(request: Request, problem: HTTPException) -> HTMLResponse:
        return page(request, "refused_page", problem.status_code)

    @app.exception_handler(400)
    @app.exception_handler(RequestValidationError)
    async def unreadable(request: Request, _problem: Exception) -> HTMLResponse:
        return page(request, "refused_choice", 422)

    @app.get("/refused")
    def again(request: Request, why: str = "", back: str = "/") -> HTMLResponse:
        """The same refusal in another language."""
        known = why.startswith("refused_") and why in words("en")
        return page(request, why if known else "refused_page", 403, QUESTIONS if back == QUESTIONS else "/")

    for place in ("/in", "/out", "/choices", "/forget"):  # where a refusal leaves the address bar
        app.get(place)(lambda: RedirectResponse("/", 303))


def _signing_in(app: FastAPI, store: Preferences, pages: Pages, visit: _Visits) -> None:

    @app.get("/")
    def home(request: Request) -> Any:
        session, language = visit.of(request), _language(request)
        if session is None:
            done = "forgotten" if "forgotten" in request.query_params else "ended" if visit.ended(request) else ""
            return HTMLResponse(pages.sign_in(language, done=done))
        if session.who == ADMIN:
            return RedirectResponse("/admin", 303)
        saved = "saved" in request.query_params
        return HTMLResponse(pages.choices(session.who, session.form, language, saved=saved))

    @app.get("/in/{token}")
    def link(request: Request, token: str) -> HTMLResponse:
        return HTMLResponse(pages.link(_language(request), token))

    @app.post("/in")
    def enter(request: Request, token: str = Form(default="")) -> RedirectResponse:
        if foreign(request):  # else another site could sign somebody in as somebody else
            raise Refusal("refused_form")
        owner = redeem(store, token.strip())
        if owner is None:
            raise Refusal("refused_link")
        response = RedirectResponse("/admin" if owner == ADMIN else "/", 303)
        visit.begin(request, response, owner)
        return response

    @app.post("/out")
    def leave(request: Request, form: str = Form(default="")) -> RedirectResponse:
        visit.checked(request, form)
        response = RedirectResponse("/", 303)
        visit.end(request, response)
        return response


def _admin(app: FastAPI, overview: Overview, visit: _Visits) -> None:

    def form(request: Request) -> str:
        session = visit.of(request)
        if session is None:
            raise Refusal("refused_session")
        if session.who != ADMIN:
            raise Refusal("refused_admin")
        return session.form

    @app.get("/admin")
    def admin(request: Request) -> HTMLResponse:
        return HTMLResponse(overview.inferences(form(request), _language(request)))

    @app.get("/admin/answers")
    def answers(request: Request) -> HTMLResponse:
        return HTMLResponse(overview.answers(form(request), _language(request)))


def _owner(app: FastAPI, catalogue: Catalogue, store: Preferences, visit: _Visits) -> None:

    @app.post("/choices")
    def choose(request: Request, sent: Sent) -> RedirectResponse:
        session = visit.checked(request, sent.get("form", ""))
        known = set(catalogue.ids())
        chosen: dict[str, bool] = {}
        for key, value in sent.items():
            kind, _, name = key.partition(":")
            if kind != "choice":
                continue
            if name not in known or value not in ("block", "allow") or session.who == ADMIN:
                raise Refusal("refused_choice")
            chosen[name] = value == "block"
        store.choose(session.who, chosen)
        return RedirectResponse("/?saved=1#saved", 303)

    @app.get("/mine.json")
    def mine(request: Request) -> JSONResponse:
        session = visit.of(request)
        if session is None or session.who == ADMIN:
            raise Refusal("refused_session")
        name = {"Content-Disposition": 'attachment; filename="my-record.json"'}
        return JSONResponse(store.export(session.who), headers=name)

    @app.post("/forget")
    def forget(request: Request, form: str = Form(default=""), sure: str = Form(default="")) -> RedirectResponse:
        session = visit.checked(request, form)
        if sure != "yes" or session.who == ADMIN:
            raise Refusal("refused_sure")
        store.forget(session.who)
        visit.sessions.end_all(session.who)
        response = RedirectResponse("/?forgotten=1", 303)
        visit.end(request, response)
        return response


def _questions(app: FastAPI, store: Preferences, pages: Pages, visit: _Visits) -> None:
    """The questionnaire: nobody is named; owners who are signed in answer once, strangers not too often."""
    from celosia.consent.owners.questionnaire import Answered, answer

    each, together = RateLimit(ONE_STRANGER), RateLimit(ALL_STRANGERS)

    def signed_in(request: Request) -> str | None:
        session = visit.of(request)
        return None if session is None or session.who == ADMIN else session.who

    @app.get(QUESTIONS)
    def ask(request: Request, group: str = "") -> HTMLResponse:
        done, signed = "done" in request.query_params, signed_in(request) is not None
        return HTMLResponse(pages.questions(_language(request), group[:100], done=done, signed=signed))

    @app.post(QUESTIONS)
    def answered(request: Request, sent: Sent) -> RedirectResponse:
        if foreign(request):
            raise Refusal("refused_form", QUESTIONS)
        text, group = sent.pop("text", "").replace("\r\n", "\n").strip(), sent.pop("group", "")
        if not sent and not text:
            raise Refusal("refused_empty", QUESTIONS)
        if not all(value.isascii() and value.isdigit() and len(value) == 1 for value in sent.values()):
            raise Refusal("refused_choice", QUESTIONS)
        owner = signed_in(request)
        if owner is None and (each.wait(request.client.host if request.client else "") or together.wait("")):
            raise Refusal("refused_often", QUESTIONS, 429)
        try:
            answer(store, {key: int(value) for key, value in sent.items()}, group, text, owner=owner)
        except Answered:
            raise Refusal("refused_answered", QUESTIONS) from None
        except DataError:
            raise Refusal("refused_choice", QUESTIONS) from None
        return RedirectResponse(f"{QUESTIONS}?done=1", 303)
