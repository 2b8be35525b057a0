"""Statistics of the cells of a column: number of values, how well they distinguish records, kind.

All counts are over filled cells: a column that is empty in most records is judged by the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from celosia.data.schema import Kind
from celosia.errors import DataError
from celosia.hierarchy.cells import number
from celosia.proposals.code_book import CodeBook, code_text
from celosia.proposals.recognition.categories import means_no_answer
from celosia.proposals.recognition.notation import (
    date_notation,
    is_ordered,
    means_missing,
    number_notation,
    scale_of,
)

if TYPE_CHECKING:
    import polars as pl

#: Most cells that are sampled: of a larger table every n-th record, so that time and memory stay bounded.
CELLS = 10_000_000
#: Fewest and most records that are sampled, however wide the table is.
FEWEST_ROWS, MOST_ROWS = 2_000, 200_000
#: Most distinct values that a pattern is tested on.
TRIED = 1_000
#: A value on fewer records than this is rare and is not released as it is.
RARE = 10


@dataclass(frozen=True)
class Content:
    """Statistics of the cells of one column."""

    name: str
    rows: int
    missing: int
    distinct: int
    #: Share of distinct values among the filled cells.
    distinction: float
    #: Share of pairs of filled records that the column distinguishes.
    separation: float
    kind: Kind
    #: Distinct values of the sample as text, the most frequent ones first.
    values: tuple[str, ...]
    #: Frequency of each of these values in the sample.
    counts: tuple[int, ...] = field(default=(), repr=False)
    #: Number of values on at least ``RARE`` records of the sample.
    frequent: int = 0
    whole: bool = False
    #: Words per value, on average.
    words: float = 0.0
    #: Cells of the sample with blanks before or after the value.
    blanks: int = 0
    #: Whether the cells are text.
    text: bool = False
    date_format: str | None = None
    #: Notation of numbers that are written as text: sign of thousands, decimal mark.
    number_format: tuple[str, str] | None = None
    scale: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    skewed: bool = False
    #: Sum of the numbers of the sample, over its size.
    mean: float | None = None
    #: What a code book says of the column, and of its codes.
    description: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def coded(self) -> bool:
        """Whether a code book explains most values: they are categories, whatever the digits."""
        explained = sum(value in self.labels for value in self.values)
        return explained >= 2 and explained >= 0.5 * len(self.values)

    @property
    def filled(self) -> int:
        """Cells that hold a value."""
        return self.rows - self.missing

    @property
    def code_length(self) -> int:
        """Length of the values, or 0 where they differ."""
        lengths = {len(value.strip()) for value in self.values}
        return lengths.pop() if len(lengths) == 1 else 0

    @property
    def repeats(self) -> float:
        """Mean number of filled records per distinct value."""
        return self.filled / max(self.distinct, 1)


def sample_size(rows: int, columns: int) -> int:
    """Return the number of records of a table that are sampled.

    >>> sample_size(1000, 20), sample_size(1_000_000, 20), sample_size(1_000_000, 5000)
    (1000, 200000, 2000)
    """
    return min(rows, MOST_ROWS, max(FEWEST_ROWS, CELLS // max(columns, 1)))


def contents_of(frame: pl.DataFrame | pl.LazyFrame, book: CodeBook | None = None) -> dict[str, Content]:
    """Profile every column, from all of up to 200 000 records, or from every n-th record of a larger table.

    ``book`` describes columns and codes: labelled codes are categories, those that mean no answer are missing.

    The number of distinct values and of missing cells is counted (of a larger table, estimated) over all records.

    >>> import polars as pl
    >>> contents = contents_of(pl.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "x", "x"]}))
    >>> contents["a"].distinct, round(contents["a"].separation, 3), contents["b"].separation
    (3, 0.833, 0.0)
    """
    import polars as pl

    names = frame.lazy().collect_schema().names()
    # Names such as "*" or "^x$" are patterns to Polars: inside, the columns have short names.
    lazy = with_short_names(frame, names)
    rows = int(lazy.select(pl.len()).collect(engine="streaming").item())
    if rows == 0:
        raise DataError("the table has no records, so nothing can be suggested from its content.")
    size = sample_size(rows, len(names))
    sample = lazy.gather_every(-(-rows // size)).collect(engine="streaming")
    over_all = _over_all(lazy, len(names)) if sample.height < rows else [None] * len(names)
    columns = zip(names, sample.get_columns(), over_all, strict=True)
    book = book or CodeBook()
    contents = {name: _content(name, column, rows, counted) for name, column, counted in columns}
    return {name: _described(content, book) for name, content in contents.items()}


def _described(content: Content, book: CodeBook) -> Content:
    """Return the content with its description and labels; labelled codes are categories, ordered where labels are."""
    labels = {code_text(code): text for code, text in book.labels.get(content.name, {}).items()}
    content = replace(content, description=book.descriptions.get(content.name, ""), labels=labels)
    if not content.coded or content.kind == Kind.DATE:
        return content
    codes = [value for value in content.values if not means_no_answer(labels.get(value, value))]
    gaps = [n for v, n in zip(content.values, content.counts, strict=False) if v not in codes]
    if codes and gaps:  # cleaned before anything is counted
        often = sum(n >= RARE for n in gaps)
        content = replace(content, distinct=content.distinct - len(gaps), frequent=content.frequent - often)
    ordered = sorted(codes, key=lambda code: (number(code) is None, number(code) or 0.0))
    texts = [labels.get(code, code) for code in ordered]
    scale = tuple(ordered) if len(codes) > 2 and is_ordered(texts) else ()
    return replace(content, kind=Kind.ORDINAL if scale else Kind.NOMINAL, scale=scale)


def with_short_names(frame: pl.DataFrame | pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Return these columns of a frame, in this order, under the names ``c0``, ``c1``, …."""
    lazy = frame.lazy()
    order = {name: i for i, name in enumerate(names)}
    every = lazy.collect_schema().names()
    place = {name: f"c{order[name]}" if name in order else f"rest{i}" for i, name in enumerate(every)}
    renamed = lazy.rename(place, strict=True)
    return renamed.select(f"c{i}" for i in range(len(names)))


def separation(frame: pl.DataFrame | pl.LazyFrame, columns: list[str]) -> tuple[float, float]:
    r"""Return the distinction and the separation of a set of columns.

    .. math:: \text{distinction} = \frac{\#\text{classes}}{n}, \qquad
              \text{separation} = 1 - \frac{\sum_c |c| (|c| - 1)}{n (n - 1)}

    References: Motwani & Xu (2007).

    >>> import polars as pl
    >>> separation(pl.DataFrame({"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}), ["a", "b"])
    (1.0, 1.0)
    """
    import polars as pl

    counted = with_short_names(frame, columns).group_by(pl.all()).len(name="__n__")
    n = pl.col("__n__").cast(pl.Float64)
    row = counted.select(pl.len().alias("classes"), n.sum().alias("n"), (n * (n - 1)).sum().alias("pairs"))
    classes, rows, pairs = row.collect(engine="streaming").row(0)
    return _shares(classes, int(rows), pairs)


def _shares(classes: int, rows: int, pairs: float) -> tuple[float, float]:
    """Turn counts into distinction and separation."""
    if rows < 2:
        return 1.0, 1.0
    return classes / rows, 1.0 - pairs / (rows * (rows - 1))


def _over_all(lazy: pl.LazyFrame, columns: int) -> list[tuple[int, int] | None]:
    """Return the number of distinct values (estimated) and of missing cells of every column, over all records."""
    import polars as pl

    counted = lazy.select(pl.all().approx_n_unique(), pl.all().null_count().name.suffix(" missing"))
    row = counted.collect(engine="streaming").row(0)
    return [(int(a) - (b > 0), int(b)) for a, b in zip(row[:columns], row[columns:], strict=True)]


def _content(name: str, column: pl.Series, rows: int, counted: tuple[int, int] | None) -> Content:
    """Describe one column by its sample, and by the counts over all records where the sample is a part of them."""
    import polars as pl

    cells = column.drop_nulls()
    if column.dtype.is_float():
        cells = cells.drop_nans()
    tally = cells.rename("value").value_counts(sort=True, name="n")
    n = tally["n"].cast(pl.Float64)
    distinction, separated = _shares(len(tally), len(cells), float((n * (n - 1)).sum()))
    distinct, missing = counted or (len(tally), rows - len(cells))
    if counted:
        distinct = max(distinct, len(tally)) if len(tally) > TRIED else len(tally)
        distinction = min(1.0, distinct / max(rows - missing, 1))
    first = tally.head(TRIED)
    texts = first["value"].cast(pl.String)
    facts: dict[str, Any] = {"kind": Kind.NOMINAL}
    if column.dtype.is_numeric():
        facts = _numeric(cells, distinct)
    elif column.dtype.is_temporal():
        facts = {"kind": Kind.DATE}
    elif column.dtype in (pl.String, pl.Categorical) or isinstance(column.dtype, pl.Enum):
        facts = _textual(texts, tally)
    return Content(
        name=name,
        rows=rows,
        missing=missing,
        distinct=distinct,
        distinction=distinction if len(cells) else 0.0,
        separation=separated if len(cells) else 0.0,
        values=tuple(texts.to_list()),
        counts=tuple(first["n"].to_list()),
        frequent=int((tally["n"] >= RARE).sum()),
        **facts,
    )


def _numeric(cells: pl.Series, distinct: int) -> dict[str, Any]:
    """Distinguish amounts from codes, and describe the spread."""
    import polars as pl

    numbers = cells.cast(pl.Float64).drop_nans()
    if numbers.is_empty():
        return {"kind": Kind.NUMERIC}
    whole = bool((numbers == numbers.round()).all())
    low, middle, high = (float(numbers.quantile(q, "linear") or 0.0) for q in (0.01, 0.5, 0.99))
    if whole and low > 18_500_000 and high < 21_500_000:
        notation = date_notation(cells.unique().head(TRIED).cast(pl.Int64).cast(pl.String))
        if notation == "%Y%m%d":
            return {"kind": Kind.DATE, "whole": True, "date_format": notation}
    # A dozen small whole numbers are codes of categories more often than amounts.
    few = whole and distinct <= 12 and high - low <= 20
    skewed = low >= 0 and high > 0 and middle - low < 0.1 * (high - low)
    return {
        "kind": Kind.NOMINAL if few else Kind.NUMERIC,
        "whole": whole,
        "low": low,
        "high": high,
        "skewed": skewed,
    } | {
        "mean": float(numbers.mean() or 0.0)  # type: ignore[arg-type]
    }


def _textual(values: pl.Series, tally: pl.DataFrame) -> dict[str, Any]:
    """Distinguish dates, numbers, ordered scales and free text from plain categories."""
    import polars as pl

    stripped = values.str.strip_chars()
    cells = tally["value"].cast(pl.String)
    blanks = int(tally["n"].filter(cells != cells.str.strip_chars()).sum())
    telling = pl.Series([text for text in stripped.to_list() if not means_missing(text)], dtype=pl.String)
    facts: dict[str, Any] = {"kind": Kind.NOMINAL, "blanks": blanks, "text": True}
    notation = date_notation(telling)
    if notation:
        return facts | {"kind": Kind.DATE, "date_format": notation}
    scale = scale_of({text.lower() for text in telling.to_list()})
    if scale:
        return facts | {"kind": Kind.ORDINAL, "scale": scale}
    words = telling.str.count_matches(r"\S+").mean() if len(telling) else 0
    return facts | {"words": words if isinstance(words, float) else 0.0, "number_format": number_notation(telling)}
