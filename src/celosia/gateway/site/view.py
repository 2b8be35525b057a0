"""What a page on questions shows: the budget, an answer with its error bars, the past, what may be asked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.data.io.statement import quoted
from celosia.errors import InputError, Message
from celosia.gateway.answer import Answer, Bar, decimals, error_bars
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import chain
from celosia.gateway.ledger.ledger import Allowance
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.wording import words
from celosia.show.parse import parse_number
from celosia.show.plots import intervals

SHOWN_ENTRIES = 20
MOST_BARS = 40
POSITIVE = "number above 0, such as 0.1"


@dataclass(frozen=True)
class Cell:
    """One value of an answer: exact (a key), noisy with an interval or a rank error, or without an answer."""

    value: Any
    low: float | None = None
    high: float | None = None
    ranks: int | None = None
    answerable: bool = True
    noisy: bool = True


@dataclass(frozen=True)
class AnswerView:
    """An answer as rows of cells, and pictures of the columns that have error bars."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    bars: Mapping[str, tuple[Bar, ...]]
    notes: tuple[str, ...]
    charge: int

    @property
    def noisy(self) -> tuple[bool, ...]:
        """Which columns hold noisy numbers."""
        return tuple(any(row[i].noisy for row in self.rows) for i in range(len(self.columns)))

    def pictures(self, language: str = "en") -> list[str]:
        """Error bars, one picture a column; the first rows where there are many."""
        return [
            intervals(name, [(bar.label, bar.value, bar.low, bar.high) for bar in bars[:MOST_BARS]], language)
            for name, bars in self.bars.items()
        ]


def answer_view(body: Mapping[str, Any], charge: int) -> AnswerView:
    """An answer as the ledger keeps it."""
    columns, rows = tuple(body["columns"]), tuple(body["rows"])
    stored = Answer(columns, rows, None, None)  # type: ignore[arg-type]  # what it cost is told by the past
    return AnswerView(
        columns,
        tuple(tuple(_cell(row[name]) for name in columns) for row in rows),
        error_bars(stored),
        tuple(body["notes"]),
        charge,
    )


def _cell(value: Any) -> Cell:
    if not isinstance(value, Mapping):
        return Cell(value, noisy=False)
    if value["value"] is None:
        return Cell(None, answerable=False)
    if "low" not in value:
        return Cell(value["value"], ranks=value.get("ranks"))
    places = decimals(value)
    return Cell(*(round(value[key], places) for key in ("value", "low", "high")))


@dataclass(frozen=True)
class Limit:
    """One limit of the budget, in the unit that the data set counts in: its total, or the share of an analyst."""

    dataset: str
    analyst: str
    total: float
    left: float
    spent: float
    period: str = ""
    label: str = ""

    def title(self, language: str = "en") -> str:
        """What it is called."""
        w = words(language)
        if not self.period:
            return str(w["total"]).format(dataset=self.dataset)
        return str(w["share"][self.period]).format(name=self.analyst, label=self.label)


def limits(gateway: Gateway, analyst: str) -> tuple[Limit, ...]:
    """The data set's total and the shares that bind an analyst."""
    balance = gateway.balance(analyst)

    def limit(allowed: Allowance) -> Limit:
        amounts = (allowed.total.loss, allowed.left.loss, allowed.spent.loss)
        return Limit(balance.dataset, analyst, *amounts, allowed.period, allowed.label)

    return tuple(limit(allowed) for allowed in (balance.lifetime, *balance.shares))


@dataclass(frozen=True)
class Asked:
    """A question of the past; ``charge`` is the line of the ledger that paid for its answer, 0 where there is none."""

    at: str
    kind: str
    analyst: str
    sql: str
    loss: float
    charge: int


def asked(gateway: Gateway, analyst: str = "", most: int = SHOWN_ENTRIES) -> tuple[Asked, ...]:
    """The last questions of an analyst, or of all of them, the newest first."""
    entries = gateway.ledger.history(gateway.facts.name, analyst, 3 * most)
    times = chain.shown_times(entries)
    questions = [
        Asked(
            at=times[entry.seq].strip("Z").replace("T", " "),
            kind=entry.kind,
            analyst=entry.analyst,
            sql=json.loads(entry.request)["sql"] if entry.request else "",
            loss=entry.loss / 1e12 if entry.kind == "charge" else 0.0,
            charge=entry.seq if entry.kind == "charge" else entry.charge if entry.kind == "repeat" else 0,
        )
        for entry in entries
        if entry.kind in words("en")["kinds"] and entry.seq in times
    ]
    return tuple(questions[:most])


def ideas(facts: DatasetFacts) -> tuple[str, ...]:
    """Questions to begin with, from what is declared."""
    name, table = next((name, table) for name, table in facts.tables.items() if not table.public)
    groups = [column for column, own in table.columns.items() if own.categories or own.type == "boolean"]
    bounded = [column for column, own in table.columns.items() if own.bounds]
    questions = ["SELECT COUNT(*) AS records FROM {table}"]
    if groups:
        questions.append("SELECT {group}, COUNT(*) AS records FROM {table} GROUP BY {group}")
    if bounded:
        questions.append("SELECT AVG({number}) AS mean, MEDIAN({number}) AS middle FROM {table}")
    names = {"group": groups[:1], "number": bounded[:1], "table": [name]}
    written = {key: quoted(value[0]) for key, value in names.items() if value}
    return tuple(question.format(**written) for question in questions)


def loss_name(gateway: Gateway) -> str:
    """Epsilon or rho, as the data set counts."""
    return "rho" if gateway.facts.measure == "zcdp" else "epsilon"


def price(gateway: Gateway, cost: str, delta: str) -> dict[str, float]:
    """What a question may cost, as it was typed."""
    name = loss_name(gateway)
    return {name: _positive(cost, name), "delta": _positive(delta, "delta") if delta.strip() else 0.0}


def _positive(text: str, name: str) -> float:
    value = parse_number(text, name, POSITIVE)
    if not 0 < value < math.inf:
        raise InputError(
            "{name} must be a {expected}, got {value!r}.",
            name=Message(name),
            expected=Message(POSITIVE),
            value=text.strip(),
        )
    return value
