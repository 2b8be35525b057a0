"""View of a data set for the page on queries: its budget, past queries, what may be queried."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import ColumnFacts
from celosia.gateway.site.view import Limit, PastQuery, ideas, limits, loss_name, past_queries


@dataclass(frozen=True)
class DeskView:
    """Where the data set stands."""

    dataset: str
    loss: str
    approximate: bool
    neighbours: str
    limits: tuple[Limit, ...]
    past: tuple[PastQuery, ...]
    columns: tuple[tuple[str, str, ColumnFacts], ...]
    """Table, name and facts of each column that may be queried."""
    ideas: tuple[str, ...]

    @property
    def several(self) -> bool:
        """Whether columns of several tables may be queried."""
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
        past_queries(gateway, analyst),
        tuple((table, name, column) for table, own in facts.tables.items() for name, column in own.columns.items()),
        ideas(facts),
    )
