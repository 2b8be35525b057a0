"""View model of the query page: budget, earlier queries and queryable columns of a data set."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.gateway.gateway import Gateway
from celosia.gateway.metadata import ColumnFacts
from celosia.gateway.site.view import Limit, PastQuery, ideas, limits, loss_name, past_queries


@dataclass(frozen=True)
class DeskView:
    """View model of a declared data set."""

    dataset: str
    loss: str
    approximate: bool
    neighbours: str
    limits: tuple[Limit, ...]
    past: tuple[PastQuery, ...]
    columns: tuple[tuple[str, str, ColumnFacts], ...]
    """Table, name and declaration of each queryable column."""
    ideas: tuple[str, ...]

    @property
    def has_several_tables(self) -> bool:
        """Whether columns of more than one table can be queried."""
        return len({table for table, _, _ in self.columns}) > 1


def desk_view(gateway: Gateway, analyst: str) -> DeskView:
    """Return the view of a data set for an analyst."""
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
