"""The consent pages over HTTP: no scripts, one-time links, sessions that expire, forms that cannot be forged.

TLS is left to a proxy in front; see the how-to page on consent.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI, Form, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse

from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import Catalogue
from celosia.consent.site.console_pages import console
from celosia.consent.site.desk import Desk
from celosia.consent.site.overview import Overview
from celosia.consent.site.pages import NOBODY, About, Pages, styles, words
from celosia.consent.site.signin import ADMIN, redeem
from celosia.consent.site.visits import Refusal, Sent, Visits, foreign
from celosia.data.io.durable import Unavailable
from celosia.errors import DataError
from celosia.web.guard import HEADERS, is_oversized
from celosia.web.language import language, remember
from celosia.web.limits import RateLimit
from celosia.web.sessions import Sessions

if TYPE_CHECKING:
    from pathlib import Path

SESSION_SECONDS = 30 * 60
"""A visit ends after so long without a request."""
LANE = 16
"""So many requests wait for the store at once; the threads of the server are 40."""
ONE_STRANGER, ALL_STRANGERS = 30, 120
"""Answers to the questionnaire that are taken in a minute from one address, and from all who are not signed in."""
QUESTIONS = "/questions"


def create(
    catalogue: Catalogue,
    store: Preferences,
    *,
    secure: bool = False,
    sessions: Sessions | None = None,
    path: str | Path | None = None,
    database: str | None = None,
    out: str | Path = "publications",
    about: About = NOBODY,
) -> FastAPI:
    """Make the application. ``secure`` marks the cookie for HTTPS only: set it behind a TLS proxy.

    The publisher edits the catalogue when its ``path`` is given, and answers requests when the URL of the ``database``
    is; releases are written below ``out``. ``about`` says on every page who keeps the choices and how to reach them.
    """
    visit = Visits(sessions or Sessions(SESSION_SECONDS), secure)
    turn = Depends(_Lanes(visit.cookie).turn)
    app = FastAPI(title="Celosia consent", docs_url=None, redoc_url=None, openapi_url=None, dependencies=[turn])
    desk = Desk(catalogue, store, path=path, database=database, out=out, about=about)
    _guard(app)
    _refusals(app, desk)
    _signing_in(app, desk, visit)
    _owner(app, desk, visit)
    _admin(app, desk, visit)
    console(app, desk, visit)
    _questions(app, desk, visit)
    return app


def _pages(desk: Desk) -> Pages:
    """The pages with the catalogue as it is now."""
    return Pages(desk.catalogue, desk.store, desk.about)


def _guard(app: FastAPI) -> None:

    @app.middleware("http")
    async def headers(request: Request, call_next: Any) -> Any:
        response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        remember(request, response)
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


def _refusals(app: FastAPI, desk: Desk) -> None:
    """Whatever is refused is said on a page in the reader's language."""

    def page(request: Request, why: str, status: int, back: str = "/") -> HTMLResponse:
        return HTMLResponse(_pages(desk).refused(language(request), why, back), status)

    @app.middleware("http")
    async def sizes(request: Request, call_next: Any) -> Any:
        if is_oversized(request.method, request.headers):
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
        is_refusal = why.startswith("refused_") and why in words("en")
        return page(request, why if is_refusal else "refused_page", 403, QUESTIONS if back == QUESTIONS else "/")

    for place in ("/in", "/out", "/choices", "/forget"):  # where a refusal leaves the address bar
        app.get(place)(lambda: RedirectResponse("/", 303))


def _signing_in(app: FastAPI, desk: Desk, visit: Visits) -> None:

    @app.get("/")
    def home(request: Request) -> Any:
        session, code = visit.of(request), language(request)
        if session is None:
            done = "forgotten" if "forgotten" in request.query_params else "ended" if visit.ended(request) else ""
            return HTMLResponse(_pages(desk).sign_in(code, done=done))
        if session.who == ADMIN:
            return RedirectResponse("/admin", 303)
        saved = "saved" in request.query_params
        return HTMLResponse(_pages(desk).choices(session.who, session.form, code, saved=saved))

    @app.get("/in/{token}")
    def link(request: Request, token: str) -> HTMLResponse:
        return HTMLResponse(_pages(desk).link(language(request), token))

    @app.post("/in")
    def enter(request: Request, token: str = Form(default="")) -> RedirectResponse:
        if foreign(request):  # else another site could sign somebody in as somebody else
            raise Refusal("refused_form")
        owner = redeem(desk.store, token.strip())
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


def _admin(app: FastAPI, desk: Desk, visit: Visits) -> None:

    @app.get("/admin")
    def admin(request: Request) -> HTMLResponse:
        form = visit.publisher(request).form
        removed = "removed" in request.query_params
        return HTMLResponse(
            Overview(desk.catalogue, desk.store, desk.about).inferences(form, language(request), removed=removed)
        )

    @app.get("/admin/answers")
    def answers(request: Request) -> HTMLResponse:
        form = visit.publisher(request).form
        return HTMLResponse(Overview(desk.catalogue, desk.store, desk.about).answers(form, language(request)))


def _owner(app: FastAPI, desk: Desk, visit: Visits) -> None:
    store = desk.store

    @app.post("/choices")
    def choose(request: Request, sent: Sent) -> RedirectResponse:
        session = visit.checked(request, sent.get("form", ""))
        if session.who == ADMIN:
            raise Refusal("refused_choice")
        inferences = desk.catalogue.ids()
        chosen: dict[str, bool] = {}
        for key, value in sent.items():
            kind, _, name = key.partition(":")
            if kind != "choice":
                continue
            if name not in inferences or value not in ("block", "allow"):
                raise Refusal("refused_choice")
            chosen[name] = value == "block"
        store.choose(session.who, chosen, inferences)
        return RedirectResponse("/?saved=1#saved", 303)

    @app.get("/mine.json")
    def mine(request: Request) -> JSONResponse:
        session = visit.of(request)
        if session is None or session.who == ADMIN:
            raise Refusal("refused_session")
        name = {"Content-Disposition": 'attachment; filename="my-record.json"'}
        kept_by = {key: text for key, text in asdict(desk.about).items() if text}
        return JSONResponse(kept_by | store.export(session.who), headers=name)

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


def _questions(app: FastAPI, desk: Desk, visit: Visits) -> None:
    """The questionnaire: nobody is named; owners who are signed in answer once, strangers not too often."""
    from celosia.consent.owners.questionnaire import Answered, answer

    each, together = RateLimit(ONE_STRANGER), RateLimit(ALL_STRANGERS)

    def signed_in(request: Request) -> str | None:
        session = visit.of(request)
        return None if session is None or session.who == ADMIN else session.who

    @app.get(QUESTIONS)
    def ask(request: Request, group: str = "") -> HTMLResponse:
        done, signed = "done" in request.query_params, signed_in(request) is not None
        return HTMLResponse(_pages(desk).questions(language(request), group[:100], done=done, signed=signed))

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
            answer(desk.store, {key: int(value) for key, value in sent.items()}, group, text, owner=owner)
        except Answered:
            raise Refusal("refused_answered", QUESTIONS) from None
        except DataError:
            raise Refusal("refused_choice", QUESTIONS) from None
        return RedirectResponse(f"{QUESTIONS}?done=1", 303)
