"""Mask characters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from celosia.methods.bases.by_rows import EACH_CELL
from celosia.parts import Columns, CountsRows, Memory, Method, PersonUnit, PublishesEvidence, RowWise
from celosia.table import Outcome
from celosia.table.edit import replace_by_expressions

if TYPE_CHECKING:
    import narwhals as nw

    from celosia.streams import Stream
    from celosia.table import Table


class Mask(PublishesEvidence, RowWise, Method):
    """Replace characters of each value by a sign, keeping some at one end.

    A value that is not longer than what is kept is masked whole. The length stays visible unless ``width`` gives the
    number of signs. The characters that are kept still disclose something: measure the result.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"phone": ["612345678", "61"]}), celosia.Schema.of(identifiers=["phone"]))
    >>> celosia.protect(table, Mask(columns=["phone"], keep=3)).polars()["phone"].to_list()
    ['612******', '**']
    """

    columns: Columns = Field(min_length=1, description="columns to mask")
    keep: int = Field(default=0, ge=0, description="number of characters that stay")
    side: Literal["left", "right"] = Field(default="left", description="the end that stays")
    width: int | None = Field(default=None, ge=1, description="number of signs, whatever the length of the value")
    sign: str = Field(default="*", pattern=r"^[^$\\]$", description="the sign that replaces a character, not $ or \\")
    public_evidence: ClassVar[frozenset[str]] = frozenset({"masked"})
    persons: ClassVar[PersonUnit] = CountsRows(EACH_CELL)
    memory: ClassVar[Memory] = "none"
    examples: ClassVar = ({"columns": ["name"], "keep": 1},)

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself: it masks record by record."""
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Mask the columns."""
        from celosia.data.engines.lazy_frames import as_text

        types = table.rows.types
        changed = {name: self._mask(as_text(name, types[name])) for name in self.columns}
        return Outcome(replace_by_expressions(table, changed), {"masked": list(self.columns)})

    def _mask(self, text: nw.Expr) -> nw.Expr:
        import narwhals as nw

        hidden = text.str.replace_all(r"[\s\S]", self.sign)
        signs = hidden if self.width is None else nw.when(~text.is_null()).then(nw.lit(self.sign * self.width))
        if not self.keep:
            return signs
        rest = hidden.str.slice(self.keep) if self.width is None else signs
        kept = text.str.head(self.keep) if self.side == "left" else text.str.tail(self.keep)
        shown = nw.concat_str(kept, rest) if self.side == "left" else nw.concat_str(rest, kept)
        return nw.when(text.str.len_chars() > self.keep).then(shown).otherwise(signs)
