"""Routes of the query page: queries are sent by POST, answers are addressed by their ledger entry."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from celosia.errors import CelosiaError, InputError
from celosia.gateway.answer import Answer, answer_csv
from celosia.gateway.commands import ledger_of, verify
from celosia.gateway.explain import Explanation
from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.view import AnswerView, answer_view, price
from celosia.studio.pages.query.declaration import FILE, TYPES, declaration_text, declare, drafts
from celosia.studio.pages.query.view import desk_view
from celosia.studio.studio import Page, Studio, SubmittedForm

if TYPE_CHECKING:
    from celosia.studio.project import Project

HERE = "/query"
LONGEST = 10_000
COST = "0.1"


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    desk = Desk(studio.project)
    _page_routes(studio, router, desk)
    _query_routes(studio, router, desk)


def _page_routes(studio: Studio, router: APIRouter, desk: Desk) -> None:
    project = studio.project

    @router.get("")
    def show(request: Request, answer: int = 0) -> Response:
        if desk.declared:
            return _desk(studio, request, desk, charge=answer)
        if not project.has_policy:
            return studio.show(request, "query", desk=None, drafts=None)
        policy = project.policy()
        offered = drafts(policy, studio.samples.sample(policy).table)
        return studio.show(request, "query", desk=None, drafts=offered, types=TYPES, file=FILE, suggested=project.name)

    @router.post("/declare")
    def make(sent: SubmittedForm) -> Response:
        declare(project, declaration_text(sent, project.policy(), project.folder))
        return studio.redirect(HERE, "declared")


class DeskValues(TypedDict, total=False):
    """Values of the template for the query form and its answer."""

    sql: str
    cost: str
    delta: str
    explanation: Explanation | None
    answer: AnswerView | None


def _desk(
    studio: Studio, request: Request, desk: Desk, *, charge: int = 0, explained: DeskValues | None = None
) -> Response:
    try:
        gateway = desk.gateway()
    except CelosiaError as problem:
        return studio.show(request, "query", desk=None, drafts=None, problem=str(problem), broken_file=FILE)
    shown = desk_view(gateway, ANALYST)
    values: DeskValues = {"sql": "", "cost": COST, "delta": "", "explanation": None, "answer": None}
    if charge:
        values["answer"] = answer_view(gateway.ledger.stored_answer(gateway.facts.name, charge), charge)
        paid = [past for past in shown.past if past.charge == charge]
        if paid:
            values |= {"sql": paid[-1].sql, "cost": f"{paid[-1].loss or float(COST):g}"}
    if explained:
        values |= explained
    return studio.show(request, "query", desk=shown, file=FILE, **values)


def _query_routes(studio: Studio, router: APIRouter, desk: Desk) -> None:
    @router.post("/explain")
    def explain(request: Request, sent: SubmittedForm) -> Response:
        """Show the cost and accuracy of a query; nothing is read or spent."""
        gateway, sql = desk.gateway(), _sql(sent)
        asked: Any = price(gateway, sent.text("cost", ""), sent.text("delta", ""))
        explained: DeskValues = {"sql": sql, "cost": sent.text("cost", ""), "delta": sent.text("delta", "")}
        explained["explanation"] = gateway.explain(sql, **asked)
        return _desk(studio, request, desk, explained=explained)

    @router.post("/ask")
    def ask(sent: SubmittedForm) -> Response:
        gateway, sql = desk.gateway(), _sql(sent)
        paid: Any = price(gateway, sent.text("cost", ""), sent.text("delta", ""))
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
        return studio.redirect(HERE, "verified")


def _sql(sent: SubmittedForm) -> str:
    sql = sent.text("sql", "").strip()
    if not sql or len(sql) > LONGEST:
        raise InputError(f"write one query, a SELECT of at most {LONGEST} characters.")
    return sql


PAGE = Page("query", 130, "workbench", routes)


# The gateway of a project, reopened when its declaration or data change.


ANALYST = "owner"
DUCKDB = "duckdb"
"""Database of a declaration whose tables are files."""


class Desk:
    """The gateway of a project; its ledger is shared with the commands."""

    def __init__(self, project: Project) -> None:
        self._project, self.path = project, project.folder / FILE
        self._lock = threading.Lock()
        self._open: tuple[tuple[float, ...], Gateway] | None = None

    @property
    def declared(self) -> bool:
        """Whether a declaration exists."""
        return self.path.is_file()

    def gateway(self) -> Gateway:
        """Return the gateway of the current declaration."""
        with self._lock:
            facts = DatasetFacts.load(self.path)
            if facts.database.rstrip(":/") != DUCKDB:
                self._project.check_reference(facts.database, Path.cwd())
            for name, table in facts.tables.items():
                self._project.resolve(table.source or f"{name}.csv")
            files = [self.path, *(Path(each.source) for each in facts.tables.values() if each.source)]
            state = tuple(file.stat().st_mtime for file in files if file.is_file())
            if self._open is not None and self._open[0] == state:
                return self._open[1]
            if self._open is not None:
                self._open[1].close()
                self._open = None
            opened = Gateway.load(self.path, ledger_of(self.path, None))
            self._open = (state, opened)
            return opened
