"""The parts of the plug-in: to define the class is to register it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from celosia import Outcome
from celosia.parts import Columns, Method

if TYPE_CHECKING:
    from celosia import Table
    from celosia.streams import Stream


class Veil(Method):
    """Replace every value of some columns by one word.

    Nothing of the values is left, so nothing can be learnt from the columns but that they were there.

    >>> import celosia, polars as pl
    >>> table = celosia.read(pl.DataFrame({"town": ["Vic", "Olot"]}))
    >>> celosia.protect(table, "veil(columns=town)").polars()["town"].to_list()
    ['hidden', 'hidden']
    """

    columns: Columns = Field(min_length=1, description="columns that are hidden")
    word: str = Field(default="hidden", min_length=1, description="what stands in every cell")

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Give every record the same word."""
        covered = table.replace({name: [self.word] * len(table) for name in self.columns})
        return Outcome(covered, {"cells": len(table) * len(self.columns)})
