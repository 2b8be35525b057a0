"""Redact free text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from celosia.errors import DataError
from celosia.methods.bases.by_rows import EACH_CELL
from celosia.parts import Columns, CountsRows, Method, PersonUnit, RecordByRecord
from celosia.table import Outcome

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class RedactText(RecordByRecord, Method):
    """Replace identifying expressions in free text: names, identifiers, e-mail, telephones, places and dates.

    Each becomes a tag in brackets: ``[name]``, ``[id]``, ``[e-mail]``, ``[address]``, ``[telephone]``, ``[place]``,
    ``[date]``. Works by rules and short lists of Spanish, Catalan and English, and redacts too much rather than too
    little. It misses names that no list has where a sentence begins with them or they are not capitalised, and
    descriptions that identify a person without any name: the docs state how much. The guard checks the result.

    >>> import polars as pl, celosia
    >>> notes = pl.DataFrame({"note": ["Seen with her son, Jack Thompson, on 3 May 2021", "fever, 38.5"]})
    >>> table = celosia.read(notes, celosia.Schema.of(insensitive=["note"], kinds={"note": "text"}))
    >>> celosia.protect(table, RedactText(columns=["note"])).polars()["note"].to_list()
    ['Seen with her son, [name], on [date]', 'fever, 38.5']
    """

    columns: Columns = Field(min_length=1, description="columns of text")
    persons: ClassVar[PersonUnit] = CountsRows(EACH_CELL)
    redacts: ClassVar[bool] = True
    examples: ClassVar = ({"columns": ["town"]},)

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself: it redacts record by record."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Redact the columns, each distinct text once."""
        import polars as pl

        from celosia.proposals.redaction import redact

        changed: dict[str, pl.Series] = {}
        totals: dict[str, int] = {}
        for name in self.columns:
            column = table.column(name)
            if column.dtype != pl.String:
                raise DataError(f"redact-text: column {name!r} holds no text.")
            texts = column.drop_nulls().unique()
            redacted, counts = redact(texts)
            changed[name] = column.replace_strict(texts, redacted, default=None, return_dtype=pl.String)
            totals = {tag: totals.get(tag, 0) + counts.get(tag, 0) for tag in {**totals, **counts}}
        return Outcome(table.replace(changed), {"redacted texts": dict(sorted(totals.items()))})
