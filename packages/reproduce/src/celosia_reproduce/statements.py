"""Statements of the source documents, with printed and recomputed values and the reasons of differences.

A number counts as printed only when the document prints it and it is computed here by running something. What merely
follows from what is printed is derived. Where printed numbers are compared with each other, a summary with its table, a
sentence with its figure, nothing of ours is run: that is the consistency of the print. The three are counted apart.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import polars as pl

Origin = Literal["printed", "derived", "consistency"]
ORIGINS: dict[Origin, str] = {
    "printed": "printed",
    "derived": "derived, not printed",
    "consistency": "consistency of the print",
}
"""Origins of stated values, with their names on pages."""


@dataclass(frozen=True)
class Statement:
    """One statement of a document, computed again."""

    where: str
    what: str
    stated: Any
    computed: Any
    agrees: bool
    origin: Origin
    why: str = ""
    """Reason of a difference, or a remark on a match."""
    within: float = 0.0
    """Tolerance of the comparison."""

    def data(self) -> dict[str, Any]:
        """Return the statement as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def printed(
    where: str,
    what: str,
    stated: object,
    computed: object,
    *,
    within: float = 0.0,
    relative: float = 0.0,
    why: str = "",
) -> Statement:
    """Check a number or a table that the document prints, within an absolute or ``relative`` tolerance."""
    return _compared("printed", where, what, stated, computed, within, relative, why)


def derived(
    where: str, what: str, stated: object, computed: object, *, within: float = 0.0, why: str = ""
) -> Statement:
    """Check a value that follows from the document's tables or formulas and is not printed there."""
    return _compared("derived", where, what, stated, computed, within, 0.0, why)


def consistent(
    where: str, what: str, stated: object, computed: object, *, within: float = 0.0, why: str = ""
) -> Statement:
    """Check a printed value against other printed values of the same document, without running Celosia."""
    return _compared("consistency", where, what, stated, computed, within, 0.0, why)


def _compared(
    origin: Origin, where: str, what: str, stated: object, computed: object, within: float, relative: float, why: str
) -> Statement:
    agrees = _same(stated, computed, within, relative)
    width = max(within, relative * abs(stated)) if isinstance(stated, int | float) else within
    return Statement(where, what, stated, computed, agrees, origin, why, width)


def counted(statements: Sequence[Statement]) -> dict[str, dict[str, int]]:
    """Count the statements of each origin that were checked, match and differ."""
    table = {}
    for origin in ORIGINS:
        own = [statement for statement in statements if statement.origin == origin]
        agreeing = sum(statement.agrees for statement in own)
        table[str(origin)] = {"checked": len(own), "come out": agreeing, "differ": len(own) - agreeing}
    return table


def widest(statements: Sequence[Statement]) -> float:
    """Return the largest tolerance of a printed statement."""
    return max((statement.within for statement in statements if statement.origin == "printed"), default=0.0)


def summary(name: str, statements: Sequence[Statement], nearest: Sequence[Statement] = ()) -> dict[str, Any]:
    """Return the report of an experiment that checks statements: the counts of matches, and each statement.

    ``nearest`` are the statements for the choice nearest to print, if a document leaves something open, such as a
    random start. They are counted in addition to the default choice.
    """
    counts = counted(statements)
    report: dict[str, Any] = {
        "experiment": name,
        "printed statements": counts["printed"]["checked"],
        "come out": counts["printed"]["come out"],
        **{
            called: f"{counts[origin]['come out']} of {counts[origin]['checked']}"
            for origin, called in ORIGINS.items()
            if origin != "printed" and counts[origin]["checked"]
        },
        "match within": widest(statements),
        "counts": counts,
        "statements": [statement.data() for statement in statements],
    }
    if nearest:
        report["nearest to print"] = counted(nearest)
        report["come out at the choice nearest to print"] = report["nearest to print"]["printed"]["come out"]
    return report


def _same(stated: object, computed: object, within: float, relative: float) -> bool:
    if isinstance(stated, bool) or isinstance(computed, bool):
        return stated is computed
    if isinstance(stated, int | float) and isinstance(computed, int | float):
        return math.isclose(stated, computed, rel_tol=relative, abs_tol=within)
    if isinstance(stated, list | tuple) and isinstance(computed, list | tuple):
        return len(stated) == len(computed) and all(
            _same(a, b, within, relative) for a, b in zip(stated, computed, strict=True)
        )
    return bool(stated == computed)


def reasons(statements: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the reasons of differences, the most frequent first, with their counts and an example.

    >>> said = {"where": "Table 1", "what": "k", "stated": 2, "computed": 3, "agrees": False, "why": "misprint"}
    >>> [(row["why"], row["statements"]) for row in reasons([said, {**said, "agrees": True}, said])]
    [('misprint', 2)]
    """
    table: dict[str, dict[str, Any]] = {}
    for statement in statements:
        if not statement["agrees"]:
            example = {key: statement[key] for key in ("where", "what", "stated", "computed")}
            row = table.setdefault(statement["why"], {"why": statement["why"], "statements": 0, "example": example})
            row["statements"] += 1
    return sorted(table.values(), key=lambda row: -row["statements"])


@dataclass(frozen=True)
class Grid:
    """A table of a page; ``plain`` columns on the left are text, the others numbers."""

    caption: str
    head: tuple[str, ...]
    rows: Sequence[Sequence[Any]]
    plain: int = 1
    digits: int = 2
    """Decimals of the numbers."""


@dataclass(frozen=True)
class Section:
    """A section of the page: figures, facts of a demonstration, tables, statements."""

    name: str
    story: str = ""
    figures: tuple[str, ...] = ()
    facts: Mapping[str, Any] | None = None
    why: str = ""
    statements: tuple[Statement, ...] = ()
    grids: tuple[Grid, ...] = ()
    small: bool = False
    """Many small figures side by side instead of a few large ones."""


def sections_of(statements: Sequence[Statement]) -> list[Section]:
    """Return one section per place in the document, in order of first mention."""
    places = dict.fromkeys(statement.where for statement in statements)
    return [Section(where, statements=tuple(s for s in statements if s.where == where)) for where in places]


def printed_tables(experiment: str) -> dict[str, pl.DataFrame]:
    """Return the printed tables of the document of an experiment by name, with cells as texts."""
    import polars as pl

    folder = resources.files(f"{__package__}.{experiment}") / "tables"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".tsv")), key=lambda file: file.name)
    return {
        file.name.removesuffix(".tsv"): pl.read_csv(file.read_bytes(), separator="\t", infer_schema_length=0)
        for file in files
    }


def page(heading: str, intro: str, statements: Sequence[Statement], sections: Sequence[Section]) -> str:
    """Render the self-contained page of an experiment, in the style of the report."""
    from celosia.release.report.environment import templates

    environment = templates().overlay()
    environment.filters |= {"brief": brief, "cell": cell}
    counts = counted(statements)
    template = environment.from_string((resources.files(__package__) / "statements.html.j2").read_text("utf-8"))
    return str(
        template.render(
            heading=heading,
            code="en",
            intro=intro,
            counts=counts,
            differ=sum(row["differ"] for row in counts.values()),
            origins=ORIGINS,
            widest=widest(statements),
            statements=statements,
            reasons=reasons([statement.data() for statement in statements]),
            sections=sections,
        )
    )


def cell(value: object, digits: int) -> object:
    """Format a value of a table: fixed decimals, small values in scientific notation, a dash for None.

    >>> cell(None, 2), cell(12.345, 2), cell(1e-9, 2), cell(3, 2)
    ('–', '12.35', '1.0e-09', 3)
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 0.5 * 10**-digits else f"{value:.{digits}f}"
    return value


def brief(value: object) -> str:
    """Format a value: numbers with six digits, long tables by their size.

    >>> brief([1.23456789, 2]), brief([("a", "b")] * 12)
    ('1.23457, 2', 'table of 12 rows')
    """
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        if len(value) > 8 and isinstance(value[0], list | tuple):
            return f"table of {len(value)} rows"
        return ", ".join(brief(part) for part in value)
    if isinstance(value, dict):
        return ", ".join(f"{key}: {brief(part)}" for key, part in value.items())
    return "–" if value is None else str(value)
