"""What the page on questions shows: the budget, an answer with its error bars, the past, what may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.data.io.statement import quoted
from celosia.gateway.answer import Answer, Bar, decimals, error_bars
from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import ColumnFacts, DatasetFacts
from celosia.gateway.page import Asked, Limit, asked, limits, loss_name
from celosia.show.plots import intervals

MOST_BARS = 40


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

    @property
    def pictures(self) -> list[str]:
        """Error bars, one picture a column; the first rows where there are many."""
        return [
            intervals(name, [(bar.label, bar.value, bar.low, bar.high) for bar in bars[:MOST_BARS]])
            for name, bars in self.bars.items()
        ]


@dataclass(frozen=True)
class DeskView:
    """Where the data set stands."""

    dataset: str
    loss: str
    approximate: bool
    neighbours: str
    limits: tuple[Limit, ...]
    past: tuple[Asked, ...]
    columns: tuple[tuple[str, str, ColumnFacts], ...]
    """Table, name and facts of each column that may be asked about."""
    ideas: tuple[str, ...]

    @property
    def several(self) -> bool:
        """Whether columns of several tables may be asked about."""
        return len({table for table, _, _ in self.columns}) > 1


def desk_view(gateway: Gateway, analyst: str) -> DeskView:
    """The page of a data set without an answer."""
    facts = gateway.facts
    return DeskView(
        facts.name,
        loss_name(gateway),
        facts.measure != "pure",
        facts.neighbours,
        limits(gateway, analyst),
        asked(gateway, analyst),
        tuple((table, name, column) for table, own in facts.tables.items() for name, column in own.columns.items()),
        ideas(facts),
    )


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
