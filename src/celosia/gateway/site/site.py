"""The pages over HTTP: a visit begins with a key, forms carry a token, an answer is found again by its charge."""

from __future__ import annotations

import math
import secrets
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Form, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from celosia.errors import CelosiaError, InputError
from celosia.gateway.answer import Answer, answer_csv
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import ADMIN, Keys, digest
from celosia.gateway.site.page import Page, styles
from celosia.gateway.site.refusals import Said, status, translated
from celosia.gateway.site.turns import Turns
from celosia.gateway.site.view import answer_view, asked, ideas, price
from celosia.gateway.site.wording import words
from celosia.web.language import language
from celosia.web.limits import RateLimit
from celosia.web.sessions import Session, Sessions

if TYPE_CHECKING:
    from fastapi import FastAPI

SESSION_SECONDS = 8 * 3600
SAID = ("paid", "free")


class Visits:
    """Who is asking: the session of the cookie, as long as the key with which it began is valid."""

    def __init__(self, keys: Keys, secure: bool) -> None:
        self.keys, self.secure = keys, secure
        self.cookie = "__Host-celosia" if secure else "celosia"
        self.sessions = Sessions(SESSION_SECONDS, prolonged=False)

    def analyst(self, request: Request, token: str | None = None) -> tuple[Session, str] | None:
        """The session of an analyst and their name; ``token`` must be that of the form, where one was sent."""
        session = self._of(request, token)
        name = self.keys.holder(session.who) if session is not None else None
        return None if session is None or name is None else (session, name)

    def administrator(self, request: Request, token: str | None = None) -> Session | None:
        """The session of the administrator."""
        session = self._of(request, token)
        return session if session is not None and self.keys.administers(session.who) else None

    def _of(self, request: Request, token: str | None) -> Session | None:
        session = self.sessions.find(request.cookies.get(self.cookie))
        if session is None or token is None:
            return session
        same = secrets.compare_digest(token.encode("utf-8", "surrogatepass"), session.form.encode())
        return session if same else None

    def begin(self, response: Response, key: str) -> None:
        """Start a visit."""
        name = self.sessions.start(digest(key))
        lasting: dict[str, Any] = {"max_age": SESSION_SECONDS, "httponly": True, "samesite": "strict", "path": "/"}
        response.set_cookie(self.cookie, name, secure=self.secure, **lasting)

    def end(self, request: Request, response: Response) -> None:
        """End a visit."""
        self.sessions.end(request.cookies.get(self.cookie))
        response.delete_cookie(self.cookie, path="/")


def pages(app: FastAPI, gateway: Gateway, keys: Keys, limit: RateLimit, turns: Turns, secure: bool) -> None:
    """Add the pages to the application; the interface for programs does not list them."""
    visits = Visits(keys, secure)
    _signing_in(app, gateway, visits, limit)
    _asking(app, gateway, visits, limit, turns)
    _administering(app, gateway, visits)


def _signing_in(app: FastAPI, gateway: Gateway, visits: Visits, limit: RateLimit) -> None:
    @app.get("/style.css", include_in_schema=False)
    def style() -> Response:
        return PlainTextResponse(styles(), media_type="text/css")

    @app.post("/login", include_in_schema=False)
    def login(request: Request, key: Annotated[str, Form()] = "") -> Response:
        given = key.strip()
        analyst, administers = visits.keys.analyst(given), visits.keys.administers(digest(given))
        waiting = limit.wait(analyst or (ADMIN if administers else ""))
        # all strangers share one bucket: guessing keys is slow for them together
        if waiting or not (analyst or administers):
            problem = Said(words(language(request))["key_refused"])
            return HTMLResponse(Page(gateway, language(request)).sign_in(problem), 401)
        response = RedirectResponse("/admin" if administers else "/", 303)
        visits.begin(response, given)
        return response

    @app.post("/logout", include_in_schema=False)
    def logout(request: Request) -> Response:
        response = RedirectResponse("/", 303)
        visits.end(request, response)
        return response

    for place in ("/login", "/logout", "/ask"):  # what a refusal leaves in the address bar
        app.get(place, include_in_schema=False)(lambda: RedirectResponse("/", 303))
    app.get("/admin/revoke", include_in_schema=False)(lambda: RedirectResponse("/admin", 303))


def _stranger(gateway: Gateway, request: Request) -> Response:
    page = Page(gateway, language(request))
    return HTMLResponse(page.sign_in(Said(words(language(request))["visit_ended"])), 401)


def _asking(app: FastAPI, gateway: Gateway, visits: Visits, limit: RateLimit, turns: Turns) -> None:
    name = gateway.facts.name

    @app.get("/", include_in_schema=False)
    def show(request: Request, answer: int = 0, example: int = 0, said: str = "") -> Response:
        visit, page = visits.analyst(request), Page(gateway, language(request))
        if visit is None:
            if visits.administrator(request):
                return RedirectResponse("/admin", 303)
            return HTMLResponse(page.sign_in())
        (session, analyst), examples = visit, ideas(gateway.facts)
        if 0 < answer < 2**63 and gateway.ledger.paid_for(name, analyst, answer):
            shown = answer_view(gateway.ledger.answered(name, answer), answer)
            paid = [past.sql for past in asked(gateway, analyst) if past.charge == answer]
            values: dict[str, Any] = {"asking": {"sql": paid[0]} if paid else None, "answer": shown}
            values["said"] = said if said in SAID else ""
            return HTMLResponse(page.desk(analyst, session, f"?answer={answer}&", **values))
        asking = {"sql": examples[example - 1]} if 0 < example <= len(examples) else None
        return HTMLResponse(page.desk(analyst, session, f"?example={example}&" if asking else "?", asking=asking))

    @app.get("/answer/{charge}.csv", include_in_schema=False)
    def download(request: Request, charge: int) -> Response:
        visit = visits.analyst(request)
        if visit is None:
            return _stranger(gateway, request)
        if not (0 < charge < 2**63 and gateway.ledger.paid_for(name, visit[1], charge)):
            raise InputError("you were given no answer with the number {charge}.", charge=charge)
        body = gateway.ledger.answered(name, charge)
        text = answer_csv(Answer.again(body, gateway.balance().left, charge))
        headers = {"Content-Disposition": f'attachment; filename="answer-{charge}.csv"'}
        return PlainTextResponse(text, media_type="text/csv", headers=headers)

    @app.post("/ask", include_in_schema=False)
    async def ask(request: Request, sent: Annotated[dict[str, str], Depends(_sent)]) -> Response:
        visit = visits.analyst(request, sent.get("token", ""))
        if visit is None:
            return _stranger(gateway, request)
        return await turns.run(visit[1], partial(_answered, gateway, request, sent, visit, limit))


def _answered(
    gateway: Gateway, request: Request, sent: dict[str, str], visit: tuple[Session, str], limit: RateLimit
) -> Response:
    (session, analyst), code = visit, language(request)
    page = Page(gateway, code)
    asking = {field: sent.get(field, "") for field in ("sql", "cost", "delta", "fresh")}
    wait = limit.wait(analyst)
    if wait:
        problem = Said(words(code)["too_often"].format(n=math.ceil(wait)))
        return HTMLResponse(page.desk(analyst, session, asking=asking, problem=problem), 429)
    try:
        paid: Any = price(gateway, asking["cost"], asking["delta"])
        if sent.get("do") != "ask":
            explanation = gateway.explain(asking["sql"], **paid)
            return HTMLResponse(page.desk(analyst, session, asking=asking, explanation=explanation))
        answer = gateway.ask(asking["sql"], analyst=analyst, fresh=bool(asking["fresh"]), **paid)
    except CelosiaError as refusal:
        problem = translated(refusal, code)
        return HTMLResponse(page.desk(analyst, session, asking=asking, problem=problem), status(refusal))
    # the answer has an address of its own: to load it again asks and charges nothing
    return RedirectResponse(f"/?answer={answer.charge}&said={'free' if answer.stored else 'paid'}", 303)


async def _sent(request: Request) -> dict[str, str]:
    return {key: str(value) for key, value in (await request.form()).items()}


def _administering(app: FastAPI, gateway: Gateway, visits: Visits) -> None:
    @app.get("/admin", include_in_schema=False)
    def overview(request: Request) -> Response:
        session = visits.administrator(request)
        if session is None:
            return _stranger(gateway, request)
        revoked = "revoked" in request.query_params
        return HTMLResponse(Page(gateway, language(request)).admin(session, visits.keys, revoked=revoked))

    @app.post("/admin/revoke", include_in_schema=False)
    def revoke(request: Request, sent: Annotated[dict[str, str], Depends(_sent)]) -> Response:
        session, code = visits.administrator(request, sent.get("token", "")), language(request)
        if session is None:
            return _stranger(gateway, request)
        w, name = words(code), sent.get("analyst", "")
        problem = w["problem_sure"] if sent.get("sure") != "yes" else ""
        problem = problem or (w["problem_gone"] if name not in visits.keys.names() else "")
        if not problem:
            try:
                visits.keys.remove(name)
            except CelosiaError as refusal:
                problem = w["problem_store"].format(reason=translated(refusal, code).text)
        if problem:
            page = Page(gateway, code).admin(session, visits.keys, problem=Said(problem))
            return HTMLResponse(page, 422)
        return RedirectResponse("/admin?revoked=1", 303)
