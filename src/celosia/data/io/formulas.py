"""Texts that a spreadsheet would execute as a formula when the file is opened.

Numbers are not formulas, also if they are written as text; a column of numbers is never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from celosia.errors import OutputError, ParameterError

if TYPE_CHECKING:
    import polars as pl

Formulas = Literal["keep", "quote", "refuse"]
CHOICES = ("keep", "quote", "refuse")
_BEGINS = r"^'*[=+\-@\t\r\n]"  # apostrophes too: "=x" must not become the "'=x" that another cell has
_MARKS = r"^-{1,3}$"
_NUMBER = r"^[+\-]?(\d+([.,]\d+)?|[.,]\d+)([eE][+\-]?\d+)?$"


def without_formulas(frame: pl.LazyFrame, formulas: Formulas) -> pl.LazyFrame:
    """Put an apostrophe before texts that a spreadsheet would execute (``quote``), or raise (``refuse``).

    >>> import polars as pl
    >>> cells = pl.LazyFrame({"a": ["=1+1", "-5", "-5-1", "x"], "b": [-1, -2, -3, -4]})
    >>> without_formulas(cells, "quote").collect()["a"].to_list()
    ["'=1+1", '-5', "'-5-1", 'x']
    """
    import polars as pl

    if formulas not in CHOICES:
        raise ParameterError(f"formulas must be one of {', '.join(CHOICES)}, got {str(formulas)[:20]!r}.")
    if formulas == "keep":
        return frame
    schema = frame.collect_schema()
    titles = [name for name in schema if name[:1] in tuple("=+-@\t\r\n")]
    if titles:
        raise OutputError(
            f"the name of column {titles[0]!r} begins like a formula of a spreadsheet: rename the column."
        )
    texts = [name for name, dtype in schema.items() if dtype == pl.String]
    harmless = f"{_NUMBER}|{_MARKS}"  # numbers, and marks such as "-" or "--" for no answer
    executed = {name: pl.col(name).str.contains(_BEGINS) & ~pl.col(name).str.contains(harmless) for name in texts}
    if formulas == "quote":
        quoted = {name: pl.when(runs).then("'" + pl.col(name)).otherwise(name) for name, runs in executed.items()}
        return frame.with_columns(**quoted)
    if not texts:
        return frame
    counts = frame.select(**{name: runs.sum() for name, runs in executed.items()}).collect(engine="streaming")
    for name, count in counts.row(0, named=True).items():
        if count:
            raise OutputError(
                f"column {name!r} has {count} cells that a spreadsheet would execute (they begin with =, +, -, @, tab "
                'or a line break). Say formulas = "quote" to put an apostrophe before them, or "keep" to leave them.'
            )
    return frame


__all__ = ["CHOICES", "Formulas", "without_formulas"]
