"""Pages over HTTP: a session begins with a key, forms carry a token, an answer has the address of its charge."""

from __future__ import annotations

import math
import secrets
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Form, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from celosia.errors import CelosiaError, InputError
from celosia.gateway.answer import Answer, answer_csv
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import ADMIN, Keys, digest
from celosia.gateway.site.page import Form as Fields
from celosia.gateway.site.page import Page, styles
from celosia.gateway.site.refusals import Text, status, translate_refusal
from celosia.gateway.site.translations import words
from celosia.gateway.site.turns import Turns
from celosia.gateway.site.view import answer_view, ideas, past_queries, price
from celosia.web.language import language
from celosia.web.limits import RateLimit
from celosia.web.sessions import Session, Sessions

if TYPE_CHECKING:
    from fastapi import FastAPI

SESSION_SECONDS = 8 * 3600
SAID = ("paid", "free")


class Visits:
    """Sessions by cookie, each valid as long as the key with which it began."""

    def __init__(self, keys: Keys, secure: bool) -> None:
        self.keys, self.secure = keys, secure
        self.cookie = "__Host-celosia" if secure else "celosia"
        self.sessions = Sessions(SESSION_SECONDS, prolonged=False)

    def analyst(self, request: Request, token: str | None = None) -> tuple[Session, str] | None:
        """Return the session of an analyst and their name; ``token`` must be that of the form, where one was sent."""
        session = self._session(request, token)
        name = self.keys.holder(session.who) if session is not None else None
        return None if session is None or name is None else (session, name)

    def administrator(self, request: Request, token: str | None = None) -> Session | None:
        """Return the session of the administrator."""
        session = self._session(request, token)
        return session if session is not None and self.keys.administers(session.who) else None

    def _session(self, request: Request, token: str | None) -> Session | None:
        session = self.sessions.find(request.cookies.get(self.cookie))
        if session is None or token is None:
            return session
        same = secrets.compare_digest(token.encode("utf-8", "surrogatepass"), session.form.encode())
        return session if same else None

    def begin(self, response: Response, key: str) -> None:
        """Start a session."""
        name = self.sessions.start(digest(key))
        response.set_cookie(
            self.cookie, name, max_age=SESSION_SECONDS, path="/", secure=self.secure, httponly=True, samesite="strict"
        )

    def end(self, request: Request, response: Response) -> None:
        """End a session."""
        self.sessions.end(request.cookies.get(self.cookie))
        response.delete_cookie(self.cookie, path="/")


def pages(app: FastAPI, gateway: Gateway, keys: Keys, limit: RateLimit, turns: Turns, secure: bool) -> None:
    """Add the pages to the application; the interface for programs does not list them."""
    visits = Visits(keys, secure)
    _add_sign_in(app, gateway, visits, limit)
    _add_desk(app, gateway, visits, limit, turns)
    _add_administration(app, gateway, visits)


def _add_sign_in(app: FastAPI, gateway: Gateway, visits: Visits, limit: RateLimit) -> None:
    @app.get("/style.css", include_in_schema=False)
    def style() -> Response:
        return PlainTextResponse(styles(), media_type="text/css")

    @app.post("/login", include_in_schema=False)
    def login(request: Request, key: Annotated[str, Form()] = "") -> Response:
        key = key.strip()
        analyst, administers = visits.keys.analyst(key), visits.keys.administers(digest(key))
        wait = limit.wait(analyst or (ADMIN if administers else ""))
        # all requests without a valid key share one bucket: guessing keys is slow for them together
        if wait or not (analyst or administers):
            problem = Text(words(language(request))["key_refused"])
            return HTMLResponse(Page(gateway, language(request)).sign_in(problem), 401)
        response = RedirectResponse("/admin" if administers else "/", 303)
        visits.begin(response, key)
        return response

    @app.post("/logout", include_in_schema=False)
    def logout(request: Request) -> Response:
        response = RedirectResponse("/", 303)
        visits.end(request, response)
        return response

    for path in ("/login", "/logout", "/ask"):  # the address of a page with a refusal, when it is loaded again
        app.get(path, include_in_schema=False)(lambda: RedirectResponse("/", 303))
    app.get("/admin/revoke", include_in_schema=False)(lambda: RedirectResponse("/admin", 303))


def _session_ended(gateway: Gateway, request: Request) -> Response:
    page = Page(gateway, language(request))
    return HTMLResponse(page.sign_in(Text(words(language(request))["visit_ended"])), 401)


def _add_desk(app: FastAPI, gateway: Gateway, visits: Visits, limit: RateLimit, turns: Turns) -> None:
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
            view = answer_view(gateway.ledger.stored_answer(name, answer), answer)
            sql = next((past.sql for past in past_queries(gateway, analyst) if past.charge == answer), None)
            form: Fields | None = {"sql": sql} if sql is not None else None
            status_text = said if said in SAID else ""
            here = f"?answer={answer}&"
            return HTMLResponse(page.desk(analyst, session, here, form=form, answer=view, said=status_text))
        form = {"sql": examples[example - 1]} if 0 < example <= len(examples) else None
        return HTMLResponse(page.desk(analyst, session, f"?example={example}&" if form else "?", form=form))

    @app.get("/answer/{charge}.csv", include_in_schema=False)
    def download(request: Request, charge: int) -> Response:
        visit = visits.analyst(request)
        if visit is None:
            return _session_ended(gateway, request)
        if not (0 < charge < 2**63 and gateway.ledger.paid_for(name, visit[1], charge)):
            raise InputError("you were given no answer with the number {charge}.", charge=charge)
        body = gateway.ledger.stored_answer(name, charge)
        text = answer_csv(Answer.of_stored(body, gateway.balance().remaining, charge))
        headers = {"Content-Disposition": f'attachment; filename="answer-{charge}.csv"'}
        return PlainTextResponse(text, media_type="text/csv", headers=headers)

    @app.post("/ask", include_in_schema=False)
    async def ask(request: Request, fields: Annotated[dict[str, str], Depends(_form_fields)]) -> Response:
        visit = visits.analyst(request, fields.get("token", ""))
        if visit is None:
            return _session_ended(gateway, request)
        return await turns.run(visit[1], partial(_answer, gateway, request, fields, visit, limit))


def _answer(
    gateway: Gateway, request: Request, fields: dict[str, str], visit: tuple[Session, str], limit: RateLimit
) -> Response:
    (session, analyst), code = visit, language(request)
    page = Page(gateway, code)
    sql, cost, delta, fresh = (fields.get(name, "") for name in ("sql", "cost", "delta", "fresh"))
    form: Fields = {"sql": sql, "cost": cost, "delta": delta, "fresh": fresh}
    wait = limit.wait(analyst)
    if wait:
        problem = Text(words(code)["too_often"].format(n=math.ceil(wait)))
        return HTMLResponse(page.desk(analyst, session, form=form, problem=problem), 429)
    try:
        loss = price(gateway, cost, delta)
        if fields.get("do") != "ask":
            explanation = gateway.explain(sql, **loss)
            return HTMLResponse(page.desk(analyst, session, form=form, explanation=explanation))
        answer = gateway.ask(sql, analyst=analyst, fresh=bool(fresh), **loss)
    except CelosiaError as refusal:
        problem = translate_refusal(refusal, code)
        return HTMLResponse(page.desk(analyst, session, form=form, problem=problem), status(refusal))
    # the answer has an address of its own: to load it again asks and charges nothing
    return RedirectResponse(f"/?answer={answer.charge}&said={'free' if answer.stored else 'paid'}", 303)


async def _form_fields(request: Request) -> dict[str, str]:
    return {key: str(value) for key, value in (await request.form()).items()}


def _add_administration(app: FastAPI, gateway: Gateway, visits: Visits) -> None:
    @app.get("/admin", include_in_schema=False)
    def overview(request: Request) -> Response:
        session = visits.administrator(request)
        if session is None:
            return _session_ended(gateway, request)
        revoked = "revoked" in request.query_params
        return HTMLResponse(Page(gateway, language(request)).admin(session, visits.keys, revoked=revoked))

    @app.post("/admin/revoke", include_in_schema=False)
    def revoke(request: Request, fields: Annotated[dict[str, str], Depends(_form_fields)]) -> Response:
        session, code = visits.administrator(request, fields.get("token", "")), language(request)
        if session is None:
            return _session_ended(gateway, request)
        w, name = words(code), fields.get("analyst", "")
        problem = w["problem_sure"] if fields.get("sure") != "yes" else ""
        problem = problem or (w["problem_gone"] if name not in visits.keys.names() else "")
        if not problem:
            try:
                visits.keys.remove(name)
            except CelosiaError as refusal:
                problem = w["problem_store"].format(reason=translate_refusal(refusal, code).text)
        if problem:
            page = Page(gateway, code).admin(session, visits.keys, problem=Text(problem))
            return HTMLResponse(page, 422)
        return RedirectResponse("/admin?revoked=1", 303)
