"""Equivalence classes and frequencies: the reductions that models, risks and losses share.

All of them start from one group-by of the engine. Suppressed records belong to no class. Where the schema declares a
person column, sizes count persons.

With the readings ``wildcard`` and ``conservative`` of missing values records do not fall into classes: the arrays
then have one entry per distinct pattern of the quasi-identifiers, with the frequency that its records have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from celosia.coded import Coded
from celosia.engines.engine import PERSONS, RECORD, ROWS, SUPPRESSED, WEIGHT, Engine
from celosia.errors import DataError, SchemaError
from celosia.packing import encode, pack
from celosia.schema import Kind, Missing, Schema
from celosia.search.classes import ClassCounts, ValueCounts

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

STAR = "*"
"""What stands in the quasi-identifiers of a suppressed record."""


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table as the engine holds them, with the schema that tells what they mean."""

    engine: Engine
    frame: Any
    schema: Schema

    @classmethod
    def described(cls, engine: Engine, frame: Any, schema: Schema) -> Rows:
        """Rows with the schema bound to their columns.

        Hierarchies that are made from the data are fixed here: a protected table keeps the levels of its input.
        """
        bound = schema.bind(engine.kinds(frame))
        for name in bound.names:
            declared = bound.hierarchy(name)
            if declared is not None and declared.from_data():
                found = engine.collect(engine.histogram(frame, [name]))
                bound = bound.change(name, hierarchy=declared.settled(found[name], found[ROWS].to_list()))
        return cls(engine, frame, bound)

    @property
    def flagged(self) -> bool:
        """Whether suppressed records carry a mark; otherwise they are told by their stars."""
        return SUPPRESSED in self.engine.types(self.frame)

    def kept(self) -> Any:
        """The frame without marked records."""
        import narwhals as nw

        return self.engine.filter(self.frame, ~nw.col(SUPPRESSED)) if self.flagged else self.frame


def patterns(rows: Rows, keys: Sequence[str], *, weight: str | None = None) -> pl.DataFrame:
    """One row per combination of the keys with its counts, suppressed records left out.

    With a person column the weight of a person counts once in a combination: the mean over the person's rows there.
    """
    import polars as pl

    person = rows.schema.person
    if weight is not None and person is not None:
        each = _per_person(rows, keys, person, weight)
        once = (pl.col(WEIGHT).cast(pl.Float64) / pl.col(ROWS)).sum().alias(WEIGHT)
        found = each.group_by(keys).agg(pl.col(ROWS).sum(), pl.len().alias(PERSONS), once)
    else:
        found = rows.engine.bounded(rows.engine.histogram(rows.kept(), keys, person=person, weight=weight))
    found = found.with_columns(pl.col(PERSONS if rows.schema.person else ROWS).cast(pl.Int64).alias(ROWS))
    starred = None if rows.flagged else _starred(found, rows.schema.quasi)
    return found if starred is None else found.filter(~starred)


def _per_person(rows: Rows, keys: Sequence[str], person: str, weight: str | None) -> pl.DataFrame:
    """One row per combination of the keys and person, with its rows and the sum of their weights."""
    both = list(dict.fromkeys([*keys, person]))
    return rows.engine.bounded(rows.engine.histogram(rows.kept(), both, weight=weight))


def sizes(rows: Rows, codes: Coded | None = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """For each class (or pattern): the frequency of its records, and how many records it has."""
    keys = rows.schema.need_quasi()
    if rows.schema.reading() == Missing.CATEGORY:
        known = codes is not None and rows.schema.person is None
        own = codes.groups(keys).count if known and codes is not None else _class_sizes(rows, keys)
        return own.astype(np.float64), own
    found = patterns(rows, keys)
    return _pattern_frequencies(rows, found, found[ROWS].to_numpy()), found[ROWS].to_numpy()


def coded(rows: Rows) -> Coded | None:
    """Quasi-identifiers and sensitive columns of the kept records as codes; None when the data are not in memory."""
    import polars as pl

    quasi = rows.schema.quasi
    names = list(dict.fromkeys([*quasi, *rows.schema.sensitive]))
    if not names or not rows.engine.resident(rows.frame):
        return None
    frame = rows.engine.collect(rows.engine.select(rows.kept(), names))
    if not rows.flagged and quasi and all(frame[name].dtype == pl.String for name in quasi):
        starred = _starred(frame, quasi)
        frame = frame if starred is None else frame.filter(~starred)
    return Coded(frame)


def keyed_counts(
    rows: Rows, sensitive: Sequence[str], baseline: Rows | None = None, codes: Coded | None = None
) -> tuple[pl.DataFrame, ClassCounts]:
    """The quasi-identifiers of each class, and the classes as arrays of counts in the same order.

    ``baseline`` holds the rows whose distribution of the sensitive column is the one to compare with: those of the
    input table. Without it the table is compared with itself.
    """
    import polars as pl

    keys = list(rows.schema.need_quasi())
    if rows.schema.reading() != Missing.CATEGORY:
        if sensitive:
            raise SchemaError("sensitive values are counted within classes, which need missing = 'category'.")
        found = patterns(rows, keys)
        frequency = _pattern_frequencies(rows, found, found[ROWS].to_numpy())
        return found.select(keys), ClassCounts(size=frequency.astype(np.int64), total=total(rows))
    if codes is not None and rows.schema.person is None and codes.has([*keys, *sensitive]):
        return _from_codes(rows, codes, keys, sensitive, baseline or rows)
    frames = [patterns(rows, list(dict.fromkeys([*keys, column]))) for column in sensitive]
    if rows.schema.person is not None or not frames:
        frames.insert(0, patterns(rows, keys))  # persons do not add up over the values of a sensitive column
    base = frames[0]
    joint = [encode(pl.concat([frame[name] for frame in frames]))[0] for name in keys]
    _, first, number = np.unique(pack(joint), return_index=True, return_inverse=True)
    number_of = dict(zip(map(id, frames), np.split(number, np.cumsum([len(f) for f in frames])[:-1]), strict=True))
    size = np.bincount(number_of[id(base)], weights=base[ROWS].to_numpy(), minlength=len(first)).astype(np.int64)
    values = {}
    for column, frame in zip(sensitive, frames[len(frames) - len(sensitive) :], strict=True):
        own = encode(frame[column])
        counted = frame[ROWS].to_numpy()
        values[column] = _value_counts(rows, column, own, counted, number_of[id(frame)], len(first), baseline or rows)
    # every class is first seen in the first frame, which holds all of them
    return base.select(keys)[first.astype(np.uint32)], ClassCounts(size=size, values=values, total=total(rows))


def frequencies(rows: Rows, weight: bool = False) -> NDArray[np.float64]:
    """The frequency of each record in table order: how many records (persons) it could be; 0 when suppressed.

    With ``weight`` the sum of the sampling weights of those records: the estimated frequency in the population.
    """
    import polars as pl

    keys = list(rows.schema.need_quasi())
    weigh = rows.schema.weight if weight else None
    if weight and weigh is None:
        raise SchemaError("no weight column is declared: name one under `weight`.")
    found = patterns(rows, keys, weight=weigh)
    own = found[WEIGHT if weigh else ROWS].cast(pl.Float64).to_numpy()
    if rows.schema.reading() != Missing.CATEGORY:
        own = _pattern_frequencies(rows, found, own, weigh)
    small = found.select(keys).with_columns(pl.Series("__frequency__", own))
    frame = rows.frame if RECORD in rows.engine.types(rows.frame) else rows.engine.identify(rows.frame)
    joined = rows.engine.attach(frame, small, keys)
    marks = [SUPPRESSED] if rows.flagged else []
    back = rows.engine.collect(rows.engine.ordered(rows.engine.select(joined, [RECORD, "__frequency__", *marks])))
    if rows.flagged:
        back = back.with_columns(
            pl.when(pl.col(SUPPRESSED)).then(0.0).otherwise("__frequency__").alias("__frequency__")
        )
    return back["__frequency__"].fill_null(0.0).to_numpy()


def suppressed(rows: Rows) -> int:
    """How many records (rows) are suppressed."""
    import narwhals as nw

    if rows.flagged:
        return rows.engine.rows(rows.engine.filter(rows.frame, nw.col(SUPPRESSED)))
    quasi = rows.schema.quasi
    types = rows.engine.types(rows.frame)
    if not quasi or any(types[name] != nw.String for name in quasi):
        return 0
    stars = _all_stars(quasi)
    found = rows.engine.rows(rows.engine.filter(rows.frame, stars))
    return 0 if found == rows.engine.rows(rows.frame) else found


def codes(series: pl.Series, kind: Kind | None, order: Sequence[str] = ()) -> tuple[NDArray[np.int32], pl.Series]:
    """Integer codes of a column in the order of its kind, and the values that they stand for; -1 is missing.

    >>> import polars as pl
    >>> codes(pl.Series(["b", None, "a"]), Kind.NOMINAL)[0].tolist()
    [1, -1, 0]
    """
    import polars as pl

    values = series.drop_nulls().unique().sort()
    if kind == Kind.ORDINAL and order:
        ranked = pl.Series(values.name, order).cast(values.dtype, strict=False)
        unknown = values.filter(~values.is_in(ranked.implode()))
        if len(unknown):
            raise DataError(f"column {series.name!r}: {len(unknown)} values are not in the declared order.")
        values = ranked.filter(ranked.is_in(values.implode()))
    table = pl.DataFrame({"v": values, "c": np.arange(len(values), dtype=np.int32)})
    coded = series.to_frame("v").join(table, on="v", how="left", maintain_order="left")["c"]
    return coded.fill_null(-1).to_numpy(), values


def _class_sizes(rows: Rows, keys: Sequence[str]) -> NDArray[np.int64]:
    """Sizes only: the combinations themselves stay in the engine unless stars must be looked for."""
    import narwhals as nw

    counted = PERSONS if rows.schema.person else ROWS
    grouped = rows.engine.histogram(rows.kept(), keys, person=rows.schema.person)
    types = rows.engine.types(rows.frame)
    if not rows.flagged and all(types[name] == nw.String for name in keys):
        starred = _all_stars(keys)
        counts = nw.from_native(grouped).select(nw.col(counted), starred.alias("__starred__")).to_native()
        found = rows.engine.collect(counts)
        kept = found if len(found) == 1 else found.filter(~found["__starred__"])
        return kept[counted].to_numpy().astype(np.int64)
    return rows.engine.collect(rows.engine.select(grouped, [counted]))[counted].to_numpy().astype(np.int64)


def _all_stars(names: Sequence[str]) -> nw.Expr:
    """Whether a row has stars in all these columns; a missing value is no star."""
    import narwhals as nw

    return nw.all_horizontal(*((nw.col(name) == STAR).fill_null(value=False) for name in names), ignore_nulls=False)


def _starred(found: pl.DataFrame, keys: Sequence[str]) -> pl.Series | None:
    """Which patterns are suppressed records: all stars, unless there is nothing else."""
    import polars as pl

    if not keys or any(name not in found.columns or found[name].dtype != pl.String for name in keys):
        return None
    starred = found.select(pl.all_horizontal(pl.col(name).eq_missing(STAR) for name in keys)).to_series()
    return None if starred.all() else starred


def _pattern_frequencies(
    rows: Rows, found: pl.DataFrame, counts: NDArray[Any], weight: str | None = None
) -> NDArray[np.float64]:
    """Frequencies (or weights) of the patterns when a missing value may stand for others; a person counts once."""
    import polars as pl

    from celosia.kernels.missing_frequencies import frequencies as compatible
    from celosia.kernels.missing_frequencies import person_frequencies

    columns = []
    for name in rows.schema.quasi:
        coded, values = codes(found[name], None)
        if rows.schema[name].missing == Missing.CATEGORY:
            coded = np.where(coded < 0, np.int32(len(values)), coded)
        columns.append(coded)
    matrix = np.ascontiguousarray(np.column_stack(columns), dtype=np.int32)
    reading: Literal["wildcard", "conservative"] = (
        "wildcard" if rows.schema.reading() == Missing.WILDCARD else "conservative"
    )
    person = rows.schema.person
    if person is None:
        return compatible(matrix, np.asarray(counts, dtype=np.float64), reading)
    keys = list(rows.schema.quasi)
    each = _per_person(rows, keys, person, weight).join(
        found.select(keys).with_row_index("__pattern__"), on=keys, how="inner", nulls_equal=True
    )
    weights = None
    if weight is not None:
        weights = each[WEIGHT].cast(pl.Float64).to_numpy(), each[ROWS].cast(pl.Float64).to_numpy()
    who, _ = encode(each[person])
    pattern = each["__pattern__"].cast(pl.Int64).to_numpy()
    return person_frequencies(matrix, pattern, who.astype(np.int64), reading, weights=weights)


def total(rows: Rows) -> int:
    """Records of the table, suppressed ones included; persons where a person column is declared."""
    person = rows.schema.person
    return rows.engine.persons(rows.frame, person) if person else rows.engine.rows(rows.frame)


def _from_codes(
    rows: Rows, codes: Coded, keys: list[str], sensitive: Sequence[str], baseline: Rows
) -> tuple[pl.DataFrame, ClassCounts]:
    """The same from columns that are encoded already."""
    classes = codes.groups(keys)
    values = {}
    for column in sensitive:
        entries = codes.groups(list(dict.fromkeys([*keys, column])))
        owner = np.searchsorted(classes.key, codes.key(keys)[entries.first])
        coded_column, present = codes.column(column)
        own = coded_column[entries.first], present
        values[column] = _value_counts(rows, column, own, entries.count, owner, len(classes.key), baseline)
    return codes.cells(keys, classes.first), ClassCounts(size=classes.count, values=values, total=total(rows))


def _value_counts(
    rows: Rows,
    column: str,
    own: tuple[NDArray[np.int32], pl.Series],
    counted: NDArray[np.int64],
    owner: NDArray[np.int64],
    classes: int,
    baseline: Rows,
) -> ValueCounts:
    """Counts of one sensitive column per class in compressed rows; a missing value is a value of its own, the last.

    An entry is a class (``owner``), a value (``own``: codes and what they stand for) and how often they meet.
    """
    import polars as pl

    info = rows.schema[column]
    present = own[1]
    whole = patterns(baseline, [column])
    same = whole[column].dtype == present.dtype
    if not same or not present.is_in(whole[column].implode(), nulls_equal=True).all():
        whole = patterns(rows, [column])  # the column was recoded itself
    _, values = codes(whole[column], info.kind, info.order)
    domain = pl.DataFrame({column: values, "__code__": np.arange(len(values), dtype=np.int32)})
    if present.null_count() or whole[column].null_count():
        domain = pl.concat([domain, pl.DataFrame({column: [None], "__code__": [len(values)]}, schema=domain.schema)])
    place = present.to_frame(column).join(domain, on=column, how="left", nulls_equal=True, maintain_order="left")
    value = place["__code__"].to_numpy()[own[0]]
    order = np.argsort(owner * max(1, len(domain)) + value)
    start = np.zeros(classes + 1, dtype=np.int64)
    np.cumsum(np.bincount(owner, minlength=classes), out=start[1:])
    share = domain.join(whole, on=column, how="left", nulls_equal=True, maintain_order="left")[ROWS].fill_null(0)
    shares = share.to_numpy() / max(1, int(share.sum()))
    numbers = domain[column].cast(pl.Float64).fill_null(np.nan).to_numpy() if info.kind == Kind.NUMERIC else None
    return ValueCounts(
        start=start,
        value=value[order].astype(np.int32),
        count=counted[order].astype(np.int64),
        baseline=np.asarray(shares, dtype=np.float64),
        ancestors=_ancestors(rows.schema, column, domain[column]),
        numbers=numbers,
    )


def _ancestors(schema: Schema, column: str, values: pl.Series) -> NDArray[np.int32] | None:
    hierarchy = schema.hierarchy(column)
    if hierarchy is None:
        return None
    levels = hierarchy.levels(values)
    return np.vstack([levels.codes(level) for level in range(levels.height + 1)]).astype(np.int32)
