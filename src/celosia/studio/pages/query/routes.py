"""The routes of the page on questions: they are sent by POST, an answer is found again by its line of the ledger."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from celosia.errors import CelosiaError, InputError
from celosia.gateway.answer import Answer, answer_csv
from celosia.gateway.commands import verify
from celosia.gateway.site.view import answer_view, price
from celosia.studio.pages.query.declaring import FILE, TYPES, declaration, declare, drafts
from celosia.studio.pages.query.desk import ANALYST, Desk
from celosia.studio.pages.query.view import desk_view
from celosia.studio.studio import Page, Sent, Studio

HERE = "/query"
LONGEST = 10_000
COST = "0.1"


def routes(studio: Studio, router: APIRouter) -> None:
    """The addresses of the page."""
    desk = Desk(studio.project)
    _shown(studio, router, desk)
    _asking(studio, router, desk)


def _shown(studio: Studio, router: APIRouter, desk: Desk) -> None:
    project = studio.project

    @router.get("")
    def show(request: Request, answer: int = 0) -> Response:
        if desk.declared:
            return _desk(studio, request, desk, charge=answer)
        if not project.ready:
            return studio.show(request, "query", desk=None, drafts=None)
        policy = project.policy()
        offered = drafts(policy, studio.samples.sample(policy).table)
        given: dict[str, Any] = {"types": TYPES, "file": FILE, "suggested": project.name}
        return studio.show(request, "query", desk=None, drafts=offered, **given)

    @router.post("/declare")
    def make(sent: Sent) -> Response:
        declare(project, declaration(sent, project.policy(), project.folder))
        return studio.back(HERE, "declared")


def _desk(studio: Studio, request: Request, desk: Desk, *, charge: int = 0, **more: Any) -> Response:
    try:
        gateway = desk.gateway()
    except CelosiaError as problem:
        return studio.show(request, "query", desk=None, drafts=None, problem=str(problem), broken_file=FILE)
    shown = desk_view(gateway, ANALYST)
    values: dict[str, Any] = {"sql": "", "cost": COST, "delta": "", "explanation": None, "answer": None}
    if charge:
        values["answer"] = answer_view(gateway.ledger.stored_answer(gateway.facts.name, charge), charge)
        paid = [past for past in shown.past if past.charge == charge]
        values |= {"sql": paid[-1].sql, "cost": f"{paid[-1].loss or float(COST):g}"} if paid else {}
    return studio.show(request, "query", desk=shown, file=FILE, **{**values, **more})


def _asking(studio: Studio, router: APIRouter, desk: Desk) -> None:
    @router.post("/explain")
    def explain(request: Request, sent: Sent) -> Response:
        """What a question would cost and how good its answer would be; nothing is read or spent."""
        gateway, sql = desk.gateway(), _question(sent)
        asked: Any = price(gateway, str(sent.get("cost", "")), str(sent.get("delta", "")))
        kept = {"sql": sql, "cost": sent.get("cost", ""), "delta": sent.get("delta", "")}
        return _desk(studio, request, desk, explanation=gateway.explain(sql, **asked), **kept)

    @router.post("/ask")
    def ask(sent: Sent) -> Response:
        gateway, sql = desk.gateway(), _question(sent)
        paid: Any = price(gateway, str(sent.get("cost", "")), str(sent.get("delta", "")))
        answer = gateway.ask(sql, analyst=ANALYST, fresh="fresh" in sent, **paid)
        said = "free" if answer.stored else "paid"
        return RedirectResponse(f"{HERE}?answer={answer.charge}&said={said}", 303)

    @router.get("/answer/{charge}.csv")
    def download(charge: int) -> Response:
        gateway = desk.gateway()
        body = gateway.ledger.stored_answer(gateway.facts.name, charge)
        text = answer_csv(Answer.of_stored(body, gateway.balance().remaining, charge))
        headers = {"Content-Disposition": f'attachment; filename="answer-{charge}.csv"'}
        return PlainTextResponse(text, media_type="text/csv", headers=headers)

    @router.post("/verify")
    def check() -> Response:
        verdict = verify(desk.path)
        if not verdict.holds:
            raise InputError(f"the ledger does not hold: {verdict.problem}")
        return studio.back(HERE, "verified")


def _question(sent: dict[str, Any]) -> str:
    sql = str(sent.get("sql", "")).strip()
    if not sql or len(sql) > LONGEST:
        raise InputError(f"write one question, a SELECT of at most {LONGEST} signs.")
    return sql


PAGE = Page("query", 130, "workbench", routes)
