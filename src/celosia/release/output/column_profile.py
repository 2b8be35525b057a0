"""What the different values of a column tell the guard, looked at here or where the rows are.

Values are judged one by one, so that an engine that has too many of them judges them in parts: only how many hold what
comes here.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.data.engines.engine import as_text
from celosia.data.engines.row_codes import PERSONS, ROWS
from celosia.proposals.recognition.names import only_names
from celosia.proposals.recognition.traces import NAMES, TRACES, traces_in

if TYPE_CHECKING:
    import polars as pl

    from celosia.table import Table

TRIED = 1000
"""Values whose form is tried."""
ALL, ONLY_NAMES = "", "only names"
_WHAT, _VALUES, _LEAST = "what", "values", "least"


@dataclass(frozen=True)
class Amount:
    """How many different values hold something, in how many rows, and the rows of the least frequent one."""

    values: int = 0
    rows: int = 0
    least: int = 0


@dataclass(frozen=True)
class Seen:
    """The values of a column that are neither missing nor stars."""

    amounts: Mapping[str, Amount]
    first: pl.Series
    """A sample of them over their whole range, whose form is tried."""
    width: Any
    """How far the largest is from the smallest, of numbers."""
    values: pl.DataFrame | None
    """All of them with their rows; None where they are not here."""

    @property
    def all(self) -> Amount:
        """The whole column."""
        return self.amounts.get(ALL, Amount())

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, categories included."""
        import polars as pl

        return self.first.dtype == pl.String

    def numbers(self, name: str) -> pl.Series:
        """All different values, or a sample where they are not here."""
        return self.first if self.values is None else self.values[name]

    def traces(self) -> Iterator[tuple[str, Amount]]:
        """What names somebody, and how much of it there is."""
        for what in (*(trace.what for trace in TRACES), NAMES):
            if what in self.amounts:
                yield what, self.amounts[what]


def seen(table: Table, name: str, *, untouched: bool) -> Seen:
    """Look at a column; pseudonyms are told by their form only in one that no step overwrote."""
    import polars as pl

    dtype = table.engine.types(table.rows.frame)[name]
    texts = not (dtype.is_numeric() or dtype.is_temporal() or dtype.is_boolean())
    judge = functools.partial(_judged, name=name, texts=texts, codes=untouched)
    if (untouched or not texts) and table.afar(name):  # labels that steps made of texts are read one by one
        return _seen_afar(table, name, judge, texts=texts, numeric=dtype.is_numeric())
    values = table.tally(name).drop_nulls(name)
    if texts:
        values = values.with_columns(pl.col(name).cast(pl.String)).filter(pl.col(name) != "*")
    width = values[name].max() - values[name].min() if dtype.is_numeric() and len(values) else None  # type: ignore[operator]
    return Seen(_added(judge(values)), _sample(values[name]), width, values)


def _sample(values: pl.Series) -> pl.Series:
    return values.sort().gather_every(max(1, -(-len(values) // TRIED)))


def rare_afar(original: Table, released: Table, name: str, few: int, *, untouched: bool) -> int:
    """Count released cells with a value that fewer persons hold in the original and in the release, in the engine."""
    import narwhals as nw

    engine, person = original.engine, original.schema.person
    counted = nw.from_native(engine.histogram(original.rows.frame, [name], person=person))
    rare = counted.filter(~nw.col(name).is_null() & (nw.col(PERSONS if person else ROWS) < few))
    if not untouched or len(released) != len(original):
        left = nw.from_native(engine.histogram(released.rows.frame, [name])).filter(~nw.col(name).is_null())
        left = left.filter(nw.col(ROWS) < rows_of(original, few))
        rare = _texts(left, name).join(_texts(rare, name).select(name), on=[name], how="semi")
    return int(engine.collect(rare.select(nw.col(ROWS).sum()).to_native()).item() or 0)


def rows_of(original: Table, few: int) -> int:
    """Smallest number of rows that belong to at least ``few`` persons, whoever they are."""
    import narwhals as nw

    person = original.schema.person
    if person is None:
        return few

    def most() -> int:
        rows = nw.from_native(original.engine.histogram(original.rows.frame, [person]))
        return int(original.engine.collect(rows.select(nw.col(ROWS).max()).to_native()).item() or 1)

    return (few - 1) * original.cached("most rows of a person", most) + 1


def _texts(counted: Any, name: str) -> Any:
    """Values as texts: a step may have given a column another type."""
    import narwhals as nw

    return counted.select(as_text(name, counted.collect_schema()[name]).alias(name), nw.col(ROWS))


def _seen_afar(table: Table, name: str, judge: Any, *, texts: bool, numeric: bool) -> Seen:
    import narwhals as nw
    import polars as pl

    engine = table.engine
    values = nw.from_native(engine.histogram(table.rows.frame, [name])).filter(~nw.col(name).is_null())
    if texts:
        values = values.with_columns(nw.col(name).cast(nw.String)).filter(nw.col(name) != "*")
    types = {_WHAT: pl.String(), _VALUES: pl.Int64(), ROWS: pl.Int64(), _LEAST: pl.Int64()}
    lines = engine.collect(engine.in_parts(values.to_native(), [], types, judge))
    least, most = (values.select(name).sort(name, descending=d).head(TRIED) for d in (False, True))
    first = pl.concat([engine.collect(part.to_native())[name] for part in (least, most)]).unique(maintain_order=True)
    ends = values.select(low=nw.col(name).min(), high=nw.col(name).max())
    low, high = engine.collect(ends.to_native()).row(0) if numeric else (0, 0)
    return Seen(_added(lines), first, high - low, None)


def _judged(values: pl.DataFrame, *, name: str, texts: bool, codes: bool) -> pl.DataFrame:
    """What some values with their rows hold: a line for each thing."""
    import polars as pl

    rows = values[ROWS].cast(pl.Int64)
    lines = [(ALL, len(rows), rows.sum(), rows.min())]
    if texts:
        cells = values[name].cast(pl.String)
        named = only_names(cells)
        for what, held in ((ONLY_NAMES, named), *traces_in(cells, codes=codes)):
            own = rows.filter(held)
            lines.append((what, len(own), own.sum(), own.min()))
    return pl.DataFrame([line for line in lines if line[1]], schema=[_WHAT, _VALUES, ROWS, _LEAST], orient="row")


def _added(lines: pl.DataFrame) -> dict[str, Amount]:
    """The lines of all parts together."""
    added: dict[str, Amount] = {}
    for what, values, rows, least in lines.rows():
        own = added.get(what, Amount(least=least))
        added[what] = Amount(own.values + values, own.rows + rows, min(own.least, least))
    return added


__all__ = ["ONLY_NAMES", "TRIED", "Seen", "rare_afar", "seen"]
