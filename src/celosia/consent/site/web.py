"""HTTP application of the consent pages: no scripts, one-time links, expiring sessions, forms with tokens.

TLS is left to a proxy in front; see the how-to page on consent.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI, Form, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.middleware.base import RequestResponseEndpoint

from celosia.consent.owners.store import Preferences
from celosia.consent.rules.rules import Catalogue
from celosia.consent.site.console_pages import console
from celosia.consent.site.desk import Desk
from celosia.consent.site.overview import Overview
from celosia.consent.site.pages import NO_CONTACT, About, Pages, styles, words
from celosia.consent.site.signin import ADMIN, redeem
from celosia.consent.site.visits import Refusal, SubmittedForm, Visits, foreign
from celosia.data.io.durable import Unavailable
from celosia.errors import DataError
from celosia.web.guard import HEADERS, is_oversized
from celosia.web.language import language, remember
from celosia.web.limits import RateLimit
from celosia.web.sessions import Sessions

if TYPE_CHECKING:
    from pathlib import Path

SESSION_SECONDS = 30 * 60
"""Seconds without a request after which a session ends."""
MAX_WAITING = 16
"""Requests that may wait for the store at once, of the 40 threads of the server."""
MAX_ANONYMOUS_PER_ADDRESS, MAX_ANONYMOUS = 30, 120
"""Anonymous answers to the questionnaire per minute, from one address and in all."""
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
    about: About = NO_CONTACT,
) -> FastAPI:
    """Create the application. ``secure`` marks the cookie for HTTPS only: set it behind a TLS proxy.

    The publisher can edit the catalogue if its ``path`` is given, and answer requests if the URL of the ``database``
    is; releases are written below ``out``. ``about`` is the organisation and contact shown on every page.
    """
    visit = Visits(sessions or Sessions(SESSION_SECONDS), secure)
    turn = Depends(_WaitingLimit(visit.cookie).turn)
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
    """Return the pages with the current catalogue."""
    return Pages(desk.catalogue, desk.store, desk.about)


def _guard(app: FastAPI) -> None:

    @app.middleware("http")
    async def headers(request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = await call_next(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        remember(request, response)
        return response

    @app.get("/style.css")
    def style() -> PlainTextResponse:
        return PlainTextResponse(styles(), media_type="text/css")


class _WaitingLimit:
    """Limits of the writing and of the signed-in reading requests that may wait for the store at once.

    Requests that wait for a lock of the store occupy threads; some must remain for pages that need no store.
    """

    def __init__(self, cookie: str) -> None:
        self._cookie = cookie
        self._writing, self._reading = threading.BoundedSemaphore(MAX_WAITING), threading.BoundedSemaphore(MAX_WAITING)

    async def turn(self, request: Request) -> AsyncIterator[None]:
        """Hold a place for a request until it ends. The form is read before, so that slow senders hold none."""
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
    """Add the pages for refusals and errors, in the language of the reader."""

    def page(request: Request, why: str, status: int, back: str = "/") -> HTMLResponse:
        return HTMLResponse(_pages(desk).refusal(language(request), why, back), status)

    @app.middleware("http")
    async def sizes(request: Request, call_next: RequestResponseEndpoint) -> Response:
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
    async def refuse(request: Request, problem: Refusal) -> HTMLResponse:
        return page(request, problem.why, problem.status, problem.back)

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def not_found(request: Request, problem: HTTPException) -> HTMLResponse:
        return page(request, "refused_page", problem.status_code)

    @app.exception_handler(400)
    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, _problem: Exception) -> HTMLResponse:
        return page(request, "refused_choice", 422)

    @app.get("/refused")
    def show_refusal(request: Request, why: str = "", back: str = "/") -> HTMLResponse:
        """Show a refusal again, in another language."""
        is_refusal = why.startswith("refused_") and why in words("en")
        return page(request, why if is_refusal else "refused_page", 403, QUESTIONS if back == QUESTIONS else "/")

    # addresses of forms, which stay in the address bar after a refusal
    for place in ("/in", "/out", "/choices", "/forget"):
        app.get(place)(lambda: RedirectResponse("/", 303))


def _signing_in(app: FastAPI, desk: Desk, visit: Visits) -> None:

    @app.get("/")
    def home(request: Request) -> Response:
        session, code = visit.of(request), language(request)
        if session is None:
            done = "forgotten" if "forgotten" in request.query_params else "ended" if visit.has_ended(request) else ""
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
        if foreign(request):  # else another site could sign a visitor in as another owner
            raise Refusal("refused_form")
        owner = redeem(desk.store, token.strip())
        if owner is None:
            raise Refusal("refused_link")
        response = RedirectResponse("/admin" if owner == ADMIN else "/", 303)
        visit.begin(request, response, owner)
        return response

    @app.post("/out")
    def leave(request: Request, form: str = Form(default="")) -> RedirectResponse:
        visit.check_form(request, form)
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
    def choose(request: Request, sent: SubmittedForm) -> RedirectResponse:
        session = visit.check_form(request, sent.get("form", ""))
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
        session = visit.check_form(request, form)
        if sure != "yes" or session.who == ADMIN:
            raise Refusal("refused_sure")
        store.forget(session.who)
        visit.sessions.end_all(session.who)
        response = RedirectResponse("/?forgotten=1", 303)
        visit.end(request, response)
        return response


def _questions(app: FastAPI, desk: Desk, visit: Visits) -> None:
    """Add the questionnaire: answers are anonymous; signed-in owners answer once, others at a limited rate."""
    from celosia.consent.owners.questionnaire import Answered, answer

    each, together = RateLimit(MAX_ANONYMOUS_PER_ADDRESS), RateLimit(MAX_ANONYMOUS)

    def signed_in(request: Request) -> str | None:
        session = visit.of(request)
        return None if session is None or session.who == ADMIN else session.who

    @app.get(QUESTIONS)
    def ask(request: Request, group: str = "") -> HTMLResponse:
        done, signed = "done" in request.query_params, signed_in(request) is not None
        return HTMLResponse(_pages(desk).questions(language(request), group[:100], done=done, signed=signed))

    @app.post(QUESTIONS)
    def submit(request: Request, sent: SubmittedForm) -> RedirectResponse:
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
