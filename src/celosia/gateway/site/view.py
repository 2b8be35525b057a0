"""Views for pages on queries: the budget, an answer with its error bars, past queries, examples."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NotRequired, TypedDict, cast

from celosia.data.io.statement import quote_name
from celosia.errors import InputError, Message
from celosia.gateway.answer import Bar, Body, Entry, decimals, error_bars
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import chain
from celosia.gateway.ledger.ledger import Allowance
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.translations import words
from celosia.gateway.sql.after import Scalar
from celosia.show.parse import parse_number
from celosia.show.plots import intervals

SHOWN_ENTRIES = 20
MOST_BARS = 40
POSITIVE = "number above 0, such as 0.1"


@dataclass(frozen=True)
class Cell:
    """One value of an answer: exact (a key), noisy with an interval or a rank error, or without an answer."""

    value: Scalar
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
        """Whether each column has noisy numbers."""
        return tuple(any(row[i].noisy for row in self.rows) for i in range(len(self.columns)))

    def pictures(self, language: str = "en") -> list[str]:
        """Draw error bars, one picture per column; of the first rows where there are many."""
        return [
            intervals(name, [(bar.label, bar.value, bar.low, bar.high) for bar in bars[:MOST_BARS]], language)
            for name, bars in self.bars.items()
        ]


def answer_view(body: Body, charge: int) -> AnswerView:
    """Return the view of an answer as the ledger stores it."""
    columns = tuple(body["columns"])
    rows = tuple(tuple(_cell(row[name]) for name in columns) for row in body["rows"])
    return AnswerView(columns, rows, error_bars(columns, body["rows"]), tuple(body["notes"]), charge)


def _cell(entry: Entry) -> Cell:
    if not isinstance(entry, dict):
        return Cell(entry, noisy=False)
    if entry["value"] is None:
        return Cell(None, answerable=False)
    if "low" not in entry:
        return Cell(entry["value"], ranks=entry.get("ranks"))
    places = decimals(entry)
    value, low, high = (
        round(cast("float", number), places) for number in (entry["value"], entry["low"], entry["high"])
    )
    return Cell(value, low, high)


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
        """Return the name of the limit."""
        w = words(language)
        if not self.period:
            return str(w["total"]).format(dataset=self.dataset)
        return str(w["share"][self.period]).format(name=self.analyst, label=self.label)


def limits(gateway: Gateway, analyst: str) -> tuple[Limit, ...]:
    """Return the data set's total and the shares that bind an analyst."""
    balance = gateway.balance(analyst)

    def limit(allowance: Allowance) -> Limit:
        amounts = (allowance.total.loss, allowance.remaining.loss, allowance.spent.loss)
        return Limit(balance.dataset, analyst, *amounts, allowance.period, allowance.label)

    return tuple(limit(allowance) for allowance in (balance.lifetime, *balance.shares))


@dataclass(frozen=True)
class PastQuery:
    """A query in the ledger; ``charge`` is the line that paid for its answer, 0 where there is none."""

    at: str
    kind: str
    analyst: str
    sql: str
    loss: float
    charge: int


def past_queries(gateway: Gateway, analyst: str = "", most: int = SHOWN_ENTRIES) -> tuple[PastQuery, ...]:
    """Return the last queries of an analyst, or of all of them, the newest first."""
    entries = gateway.ledger.history(gateway.facts.name, analyst, 3 * most)
    times = chain.shown_times(entries)
    queries = [
        PastQuery(
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
    return tuple(queries[:most])


def ideas(facts: DatasetFacts) -> tuple[str, ...]:
    """Return example queries that fit the declaration."""
    name, table = next((name, table) for name, table in facts.tables.items() if not table.public)
    groups = [column for column, own in table.columns.items() if own.categories or own.type == "boolean"]
    bounded = [column for column, own in table.columns.items() if own.bounds]
    templates = ["SELECT COUNT(*) AS records FROM {table}"]
    if groups:
        templates.append("SELECT {group}, COUNT(*) AS records FROM {table} GROUP BY {group}")
    if bounded:
        templates.append("SELECT AVG({number}) AS mean, MEDIAN({number}) AS middle FROM {table}")
    names = {"group": groups[:1], "number": bounded[:1], "table": [name]}
    quoted_names = {key: quote_name(value[0]) for key, value in names.items() if value}
    return tuple(template.format(**quoted_names) for template in templates)


def loss_name(gateway: Gateway) -> str:
    """Return the name of the measure that the data set counts in: epsilon or rho."""
    return "rho" if gateway.facts.measure == "zcdp" else "epsilon"


class Price(TypedDict):
    """Cost of a query, in epsilon or in rho."""

    epsilon: NotRequired[float]
    rho: NotRequired[float]
    delta: float


def price(gateway: Gateway, cost: str, delta: str) -> Price:
    """Return the cost of a query from the texts of a form."""
    name = loss_name(gateway)
    loss, delta_loss = _positive(cost, name), _positive(delta, "delta") if delta.strip() else 0.0
    return {"rho": loss, "delta": delta_loss} if name == "rho" else {"epsilon": loss, "delta": delta_loss}


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
