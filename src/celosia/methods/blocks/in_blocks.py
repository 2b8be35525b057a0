"""A method applied to blocks of records: for tables that no memory holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from celosia.data.engines.lazy_frames import RECORD, ROWS, filter_rows, group_counts, with_columns
from celosia.errors import DataError, ParameterError
from celosia.parts import Columns, Memory, Method, PersonUnit
from celosia.table import Outcome
from celosia.table.derive import rewrite_columns, with_record_ids

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl

    from celosia.classes import EngineFrame
    from celosia.data.engines.engine import Engine
    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table

BLOCK = "__block__"


class InBlocks(Method):
    r"""Apply a method to blocks of records, each by itself, so that no memory has to hold the whole table.

    .. math:: M_B(T) = \bigcup_b M(T_b), \qquad |T_b| \le size

    Blocks are the strata of ``by``; one of more than ``size`` records is cut further, at the median of the column of
    ``near`` that it spreads most in, until no block is larger or nothing can be cut (a k-d tree). Every engine makes
    the same blocks and the same draws in them; Spark works on several at a time.

    What a method promises of every class it keeps, since a class of the result is a class of one block or joins several
    of them. What it compares with the whole table (a share of its variance, its distribution, a window of its ranks) is
    that of the block. Blocks cost: near records on two sides of a border are not grouped, and values move within their
    block only. Fails where a block is too small for the method, and for methods that make other rows or further tables.
    References: LeFevre, DeWitt & Ramakrishnan (2008).

    >>> import polars as pl, celosia
    >>> pay = pl.DataFrame({"area": ["N", "S", "N", "S", "N", "S"], "pay": [10, 30, 12, 34, 14, 38]})
    >>> table = celosia.read(pay, celosia.Schema.of(quasi=["area", "pay"]))
    >>> method = InBlocks(method="microaggregate(columns=[pay], k=3)", by=["area"])
    >>> celosia.protect(table, method).polars()["pay"].to_list()
    [12.0, 34.0, 12.0, 34.0, 12.0, 34.0]
    """

    method: Method = Field(description="the method that is applied to each block")
    by: Columns = Field(default=(), description="records that agree on these columns are in one block")
    size: int | None = Field(default=None, ge=2, description="largest block; larger ones are cut")
    near: Columns = Field(
        default=(), description="numeric columns by which blocks are cut; those that the method overwrites unless given"
    )
    persons: ClassVar[PersonUnit] = "counted"
    memory: ClassVar[Memory] = "none"
    not_replayable_because: ClassVar[str] = "each block was worked on with all its records"
    examples: ClassVar = (
        {"method": "rank-swap(columns=[x, y], window=0.5)", "by": ["area"], "size": 60},
        {"method": "microaggregate(columns=[x], k=2)", "size": 40},
    )

    @model_validator(mode="after")
    def _some_blocks(self) -> InBlocks:
        if not self.by and self.size is None:
            raise ParameterError("in-blocks: give by (columns) or size (a number), or there is one block.")
        if self.method.memory != "blocks":
            raise ParameterError(f"in-blocks: {self.method.name} cannot be applied to blocks: {_why(self.method)}.")
        return self

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the columns that the method overwrites."""
        return self.method.overwrites(schema)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Assign the records to blocks and apply the method to each block."""
        given = with_record_ids(table)
        engine = given.engine
        frame = self._cut(engine, _number_strata(engine, given.rows.frame, self.by), self._near(given))
        counts = engine.collect(group_counts(frame, [BLOCK]))[ROWS]
        if not len(counts):
            return Outcome(given, {"blocks": 0})
        done = engine.map_blocks(frame, BLOCK, _Work(self.method, given.schema, stream))
        evidence = {"blocks": len(counts), "smallest": counts.min(), "largest": counts.max()}
        return Outcome(rewrite_columns(given, done, self.overwrites(given.schema)), evidence)

    def _cut(self, engine: Engine[Any], frame: EngineFrame, near: list[str]) -> EngineFrame:
        """Cut the blocks that are too large, as far as they can be cut."""
        import narwhals as nw

        if self.size is None:
            return frame
        strata = engine.collect(group_counts(frame, [BLOCK])).sort(BLOCK)
        cutter = _Cutter(engine, near, self.size, next_number=len(strata))
        cutter.whole = {name: high - low for name, (low, high) in cutter.ends(frame).items()}
        label = nw.col(BLOCK)
        for number, count in strata.select(BLOCK, ROWS).iter_rows():
            if count > self.size:
                inside = nw.col(BLOCK) == number
                label = nw.when(inside).then(cutter.number(filter_rows(frame, inside), number, count)).otherwise(label)
        return with_columns(frame, {BLOCK: label})

    def _near(self, table: Table) -> list[str]:
        """List the numeric columns by which blocks are cut."""
        if self.size is None:
            return []
        types = table.rows.types
        named = self.near or tuple(name for name in self.overwrites(table.schema) if types[name].is_numeric())
        if not named or not all(types[name].is_numeric() for name in named):
            raise DataError("in-blocks: blocks are cut by numeric columns: name some under near, or give by alone.")
        return list(named)


def _why(method: Method) -> str:
    by_record = type(method).needs_memory is not Method.needs_memory
    return "it needs no block" if by_record else "it makes other rows or further tables"


def _number_strata(engine: Engine[Any], frame: EngineFrame, by: tuple[str, ...]) -> EngineFrame:
    """Add a column with the number of the stratum of each record."""
    import narwhals as nw
    import polars as pl

    numbered: EngineFrame = with_columns(frame, {BLOCK: nw.lit(0, nw.Int64)})
    if by:
        strata = engine.collect_bounded(group_counts(frame, by)).select(by).sort(by, nulls_last=True)
        strata = strata.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias(BLOCK))
        numbered = engine.attach(frame, strata, by)
    return numbered


@dataclass
class _Cutter:
    """Cutter of blocks at medians; the upper half gets the next free number."""

    engine: Engine[Any]
    near: list[str]
    largest: int
    next_number: int
    whole: dict[str, float] = field(default_factory=dict)
    """Range of the whole table in each column, by which the range of a block is divided."""

    def number(self, block: EngineFrame, number: int, count: int) -> nw.Expr:
        """Cut a block of ``count`` records until no part is too large; expression of the number of each part."""
        import narwhals as nw

        border = self._border(block) if count > self.largest else None
        if border is None:
            return nw.lit(number, nw.Int64)
        name, limit = border
        above = filter_rows(block, nw.col(name) > limit)
        below = filter_rows(block, (nw.col(name) <= limit) | nw.col(name).is_null())
        beyond = self.engine.rows(above)
        other, self.next_number = self.next_number, self.next_number + 1
        lower = self.number(below, number, count - beyond)
        return nw.when(nw.col(name) > limit).then(self.number(above, other, beyond)).otherwise(lower)

    def _border(self, block: EngineFrame) -> tuple[str, float] | None:
        """Find the column in which the block has the widest range, and its median; None when nothing can be cut."""
        ends = self.ends(block)
        spread = {name: (high - low) / (self.whole[name] or 1.0) for name, (low, high) in ends.items()}
        name = max(spread, key=lambda n: spread[n], default=None)
        if name is None or spread[name] == 0:
            return None
        median = float(self.engine.quantiles(block, name, [0.5])[0])
        low, high = ends[name]
        # where more than half have the largest value the border lies below it
        return name, median if median < high else (low + high) / 2

    def ends(self, block: EngineFrame) -> dict[str, tuple[float, float]]:
        """Smallest and largest value of each column that has any."""
        import narwhals as nw

        asked = [getattr(nw.col(name), end)().alias(f"{end} {name}") for name in self.near for end in ("min", "max")]
        values = self.engine.collect(nw.from_native(block).select(*asked).to_native()).row(0, named=True)
        filled = [name for name in self.near if values[f"min {name}"] is not None]
        return {name: (float(values[f"min {name}"]), float(values[f"max {name}"])) for name in filled}


@dataclass(frozen=True)
class _Work:
    """Picklable function that applies the method to one block, in any process."""

    method: Method
    schema: Schema
    stream: Stream

    def __call__(self, block: pl.DataFrame) -> pl.DataFrame:
        from celosia.classes import Rows
        from celosia.data.engines import engine_named
        from celosia.table import Table

        engine = engine_named("polars")
        rows = block.drop(BLOCK).sort(RECORD)
        table = Table(Rows(engine, rows.lazy(), self.schema))
        done = self.method.apply(table, self.stream.child("block", int(block[BLOCK][0]))).table
        return engine.collect(done.rows.frame)
