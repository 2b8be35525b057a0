"""What the cells of a column tell: how many values, how well they tell records apart, which kind they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.data.schema import Kind
from celosia.errors import DataError

if TYPE_CHECKING:
    import polars as pl

#: Records looked at for patterns and notations; counts are taken over all records.
SAMPLE = 20_000
#: Distinct values that a pattern is tried on.
TRIED = 1_000
DATE_FORMATS = (
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%Y/%m/%d",
    "%d-%m-%Y",
    "%d.%m.%Y",
    "%Y%m%d",
    "%d/%m/%y",
    "%d %b %Y",
    "%b %d, %Y",
)
SCALES = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "medium", "high"),
    ("low", "moderate", "high"),
    ("mild", "moderate", "severe"),
    ("small", "medium", "large"),
    ("poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "fair", "good", "very good"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("none", "primary", "secondary", "tertiary"),
    ("muy bajo", "bajo", "medio", "alto", "muy alto"),
    ("baja", "media", "alta"),
    ("leve", "moderado", "grave"),
    ("leve", "moderada", "grave"),
    ("muy malo", "malo", "regular", "bueno", "muy bueno"),
    ("nunca", "raramente", "a veces", "a menudo", "siempre"),
    ("sin estudios", "primaria", "secundaria", "universitaria"),
    ("molt baix", "baix", "mitjà", "alt", "molt alt"),
    ("baixa", "mitjana", "alta"),
    ("lleu", "moderat", "greu"),
    ("mai", "poques vegades", "a vegades", "sovint", "sempre"),
    ("sense estudis", "primària", "secundària", "universitària"),
)  # fmt: skip


@dataclass(frozen=True)
class Content:
    """What is known about the cells of one column."""

    name: str
    rows: int
    missing: int
    distinct: int
    #: Share of distinct values among the records.
    distinction: float
    #: Share of pairs of records that the column tells apart.
    separation: float
    kind: Kind
    #: Distinct values of the sample, as text.
    values: tuple[str, ...]
    whole: bool = False
    text: bool = False
    date_format: str | None = None
    scale: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    skewed: bool = False

    @property
    def repeats(self) -> float:
        """Records per distinct value, missing ones left out."""
        return (self.rows - self.missing) / max(self.distinct, 1)


def contents_of(frame: pl.DataFrame | pl.LazyFrame) -> dict[str, Content]:
    """Profile every column in one pass for the counts and one over a sample for the rest.

    >>> import polars as pl
    >>> found = contents_of(pl.DataFrame({"a": [1, 1, 2, 3], "b": ["x", "x", "x", "x"]}))
    >>> found["a"].distinct, round(found["a"].separation, 3), found["b"].separation
    (3, 0.833, 0.0)
    """
    import polars as pl

    names = frame.lazy().collect_schema().names()
    # Names such as "*" or "^x$" are patterns to Polars: inside, the columns are numbered.
    lazy = numbered(frame, names)
    rows = int(lazy.select(pl.len()).collect(engine="streaming").item())
    if rows == 0:
        raise DataError("the table has no records, so nothing can be suggested from its content.")
    inner = lazy.collect_schema().names()
    counted = [lazy.group_by(name).len(name="__n__").select(*_tallies(name)) for name in inner]
    tallies = [part.row(0, named=True) for part in pl.collect_all(counted, engine="streaming")]
    sample = lazy.gather_every(max(1, rows // SAMPLE)).collect(engine="streaming")
    columns = zip(names, sample.get_columns(), tallies, strict=True)
    return {name: _content(name, column, rows, tally) for name, column, tally in columns}


def numbered(frame: pl.DataFrame | pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Return these columns of a frame, in this order, under the names ``c0``, ``c1``, …."""
    lazy = frame.lazy()
    every = lazy.collect_schema().names()
    place = {name: f"c{names.index(name)}" if name in names else f"rest{i}" for i, name in enumerate(every)}
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

    counted = numbered(frame, columns).group_by(pl.all()).len(name="__n__")
    n = pl.col("__n__").cast(pl.Float64)
    row = counted.select(pl.len().alias("classes"), n.sum().alias("n"), (n * (n - 1)).sum().alias("pairs"))
    classes, rows, pairs = row.collect(engine="streaming").row(0)
    return _shares(classes, int(rows), pairs)


def _shares(classes: int, rows: int, pairs: float) -> tuple[float, float]:
    """Turn counts into distinction and separation."""
    if rows < 2:
        return 1.0, 1.0
    return classes / rows, 1.0 - pairs / (rows * (rows - 1))


def _tallies(name: str) -> list[pl.Expr]:
    """Return the sums over the counts of one column's values."""
    import polars as pl

    n = pl.col("__n__").cast(pl.Float64)
    return [
        pl.len().alias("classes"),
        (n * (n - 1)).sum().alias("pairs"),
        pl.col("__n__").filter(pl.col(name).is_null()).sum().alias("missing"),
    ]


def _content(name: str, column: pl.Series, rows: int, tally: dict[str, Any]) -> Content:
    """Describe one column by its sample and its counts."""
    import polars as pl

    missing = int(tally["missing"] or 0)
    distinct = int(tally["classes"]) - (missing > 0)
    distinction, separated = _shares(int(tally["classes"]), rows, float(tally["pairs"]))
    cells = column.drop_nulls()
    values = cells.unique(maintain_order=True).head(TRIED)
    facts: dict[str, Any] = {"kind": Kind.NOMINAL}
    if column.dtype.is_numeric():
        facts = _numeric(cells, distinct)
    elif column.dtype.is_temporal():
        facts = {"kind": Kind.DATE}
    elif column.dtype in (pl.String, pl.Categorical) or isinstance(column.dtype, pl.Enum):
        facts = _textual(values.cast(pl.String))
    return Content(
        name=name,
        rows=rows,
        missing=missing,
        distinct=distinct,
        distinction=distinction,
        separation=separated,
        values=tuple(values.cast(pl.String).to_list()),
        **facts,
    )


def _numeric(cells: pl.Series, distinct: int) -> dict[str, Any]:
    """Tell amounts from codes, and describe the spread."""
    import polars as pl

    numbers = cells.cast(pl.Float64).drop_nans()
    if numbers.is_empty():
        return {"kind": Kind.NUMERIC}
    whole = bool((numbers == numbers.round()).all())
    low, middle, high = (float(numbers.quantile(q, "linear") or 0.0) for q in (0.01, 0.5, 0.99))
    # A dozen small whole numbers are codes of categories more often than amounts.
    few = whole and distinct <= 12 and high - low <= 20
    skewed = low >= 0 and high > 0 and middle - low < 0.1 * (high - low)
    return {"kind": Kind.NOMINAL if few else Kind.NUMERIC, "whole": whole, "low": low, "high": high, "skewed": skewed}


def _textual(values: pl.Series) -> dict[str, Any]:
    """Tell dates, ordered scales and free text from plain categories."""
    notation = _notation(values)
    if notation:
        return {"kind": Kind.DATE, "date_format": notation}
    lowered = {value.strip().lower() for value in values.to_list()}
    for scale in SCALES:
        if len(lowered) > 1 and lowered <= set(scale):
            return {"kind": Kind.ORDINAL, "scale": tuple(word for word in scale if word in lowered)}
    long = values.str.count_matches(r"\S+").mean() if len(values) else 0
    return {"kind": Kind.NOMINAL, "text": isinstance(long, float) and long >= 5}


def _notation(values: pl.Series) -> str | None:
    """Return the notation that reads (nearly) all values as dates of the last two centuries."""
    import datetime as dt

    if len(values) < 2 or not bool((values.str.len_chars() >= 6).all()):
        return None
    for notation in ("%Y-%m-%d", "%Y-%m", *DATE_FORMATS):
        text = values + "-01" if notation == "%Y-%m" else values
        days = text.str.to_date("%Y-%m-%d" if notation == "%Y-%m" else notation, strict=False)
        plausible = days.is_between(dt.date(1850, 1, 1), dt.date(2150, 1, 1)).sum()
        if plausible >= 0.98 * len(values):
            return notation
    return None
