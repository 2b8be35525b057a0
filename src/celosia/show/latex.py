"""Frames as LaTeX tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

SPECIAL = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
WIDTH = "0.4\\linewidth"
"""Width of a column of long texts."""
LONG = 30


def latex_table(frame: pl.DataFrame) -> str:
    r"""Return a frame as a ``tabular``, which needs no package; numbers have four digits.

    >>> import polars as pl
    >>> print(latex_table(pl.DataFrame({"a_b": ["50 %"], "n": [0.12345]})))
    \begin{tabular}{lr}
    \hline
    a\_b & n \\
    \hline
    50 \% & 0.1235 \\
    \hline
    \end{tabular}
    <BLANKLINE>
    """
    places = "".join("r" if dtype.is_numeric() else _place(frame[name]) for name, dtype in frame.schema.items())
    rows = [" & ".join(map(_cell, row)) + r" \\" for row in frame.iter_rows()]
    head = " & ".join(map(escape_latex, frame.columns)) + r" \\"
    lines = [rf"\begin{{tabular}}{{{places}}}", r"\hline", head, r"\hline", *rows, r"\hline", r"\end{tabular}"]
    return "\n".join(lines) + "\n"


def escape_latex(text: str) -> str:
    r"""Escape the characters with a meaning in LaTeX.

    >>> escape_latex("a_b\\")
    'a\\_b\\textbackslash{}'
    """
    return re.sub(r"[&%$#_{}~^\\]", lambda sign: SPECIAL[sign[0]], text)


def _place(column: pl.Series) -> str:
    longest = max((len(str(value)) for value in column), default=0)
    return f"p{{{WIDTH}}}" if longest > LONG else "l"


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return f"{value:.4g}" if isinstance(value, float) else escape_latex(str(value))
