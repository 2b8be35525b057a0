"""The one page of the gateway: a question box, what it would cost, the answer, the budget and the history."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from celosia.errors import CelosiaError, InputError
from celosia.gateway.answer import Answer, cell_text
from celosia.gateway.gateway import Gateway
from celosia.show.typed import typed_number

SHOWN_ENTRIES = 20
POSITIVE = "number above 0, such as 0.1"
_WHAT = {"charge": "answered", "repeat": "answered before, free", "refusal": "refused", "failure": "failed"}


@dataclass(frozen=True)
class Limit:
    """One limit of the budget, in the unit that the data set counts in."""

    name: str
    total: float
    left: float
    spent: float


@dataclass(frozen=True)
class Asked:
    """A question of the past; ``charge`` is the line of the ledger that paid for its answer, 0 where there is none."""

    at: str
    kind: str
    what: str
    sql: str
    loss: float
    charge: int


def limits(gateway: Gateway, analyst: str) -> tuple[Limit, ...]:
    """The data set's total and the shares that bind an analyst."""
    balance = gateway.balance(analyst)
    return tuple(Limit(x.name, x.total.loss, x.left.loss, x.spent.loss) for x in (balance.lifetime, *balance.shares))


def asked(gateway: Gateway, analyst: str, most: int = SHOWN_ENTRIES) -> tuple[Asked, ...]:
    """An analyst's last questions, the newest first."""
    entries = gateway.ledger.history(gateway.facts.name, analyst, 3 * most)
    paid = {"charge": lambda entry: entry.seq, "repeat": lambda entry: entry.charge}
    questions = [
        Asked(
            at=entry.at[:19].replace("T", " "),
            kind=entry.kind,
            what=_WHAT[entry.kind],
            sql=json.loads(entry.request)["sql"] if entry.request else "",
            loss=entry.loss / 1e12 if entry.kind == "charge" else 0.0,
            charge=paid[entry.kind](entry) if entry.kind in paid else 0,
        )
        for entry in entries
        if entry.kind in _WHAT
    ]
    return tuple(questions[:most])


def loss_name(gateway: Gateway) -> str:
    """Epsilon or rho, as the data set counts."""
    return "rho" if gateway.facts.measure == "zcdp" else "epsilon"


def price(gateway: Gateway, cost: str, delta: str) -> dict[str, float]:
    """What a question may cost, as it was typed."""
    name = loss_name(gateway)
    return {name: _positive(cost, name), "delta": _positive(delta, "delta") if delta.strip() else 0.0}


class Page:
    """Renders the page for one gateway."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    def sign_in(self, problem: str = "") -> str:
        """The form that asks for a key."""
        return self._render(analyst="", problem=problem)

    def respond(self, analyst: str, token: str, sql: str, cost: str, delta: str, *, spend: bool, fresh: bool) -> str:
        """Explain or answer a question; a refusal is shown above the form, with the question kept."""
        try:
            paid: Any = price(self._gateway, cost, delta)
            if not spend:
                text = self._gateway.explain(sql, **paid).text()
                return self.show(analyst, token, sql, cost, delta, explanation=text)
            answer = self._gateway.ask(sql, analyst=analyst, fresh=fresh, **paid)
        except CelosiaError as problem:
            return self.show(analyst, token, sql, cost, delta, problem=str(problem))
        return self.show(analyst, token, sql, cost, delta, answer=answer)

    def show(
        self,
        analyst: str,
        token: str,
        sql: str = "",
        cost: str = "0.1",
        delta: str = "",
        *,
        problem: str = "",
        explanation: str = "",
        answer: Answer | None = None,
    ) -> str:
        """The page of a visitor who signed in."""
        table = [[cell_text(row[column]) for column in answer.columns] for row in answer.rows] if answer else []
        return self._render(
            analyst=analyst,
            token=token,
            sql=sql,
            cost=cost,
            delta=delta,
            problem=problem,
            explanation=explanation,
            answer=answer,
            table=table,
            limits=limits(self._gateway, analyst),
            history=asked(self._gateway, analyst),
            approximate=self._gateway.facts.measure != "pure",
        )

    def _render(self, **values: Any) -> str:
        facts = self._gateway.facts
        more = {
            "dataset": facts.name,
            "tables": facts.tables,
            "loss": loss_name(self._gateway),
            "neighbours": facts.neighbours,
        }
        return str(_template().render(**{**more, **values}))


@lru_cache(maxsize=1)
def _template() -> Any:
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    return jinja2.Environment(loader=loader, autoescape=True, undefined=jinja2.ChainableUndefined).get_template(
        "page.html.j2"
    )


def _positive(text: str, name: str) -> float:
    value = typed_number(text, name, POSITIVE)
    if not 0 < value < math.inf:
        raise InputError(f"{name} must be a {POSITIVE}, got {text.strip()!r}.")
    return value
