"""Statements of the source documents: what is printed there, what comes out here, and why where they differ.

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
"""Where a stated value comes from, and how pages call it."""


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
    """Why it does not come out; or what to know when it does."""
    within: float = 0.0
    """How far the two may lie apart and still agree."""

    def data(self) -> dict[str, Any]:
        """The statement as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def printed(
    where: str, what: str, stated: Any, computed: Any, *, within: float = 0.0, relative: float = 0.0, why: str = ""
) -> Statement:
    """A number or a table that the document prints; numbers agree ``within`` a distance, or a ``relative`` one."""
    return _compared("printed", where, what, stated, computed, within, relative, why)


def derived(where: str, what: str, stated: Any, computed: Any, *, within: float = 0.0, why: str = "") -> Statement:
    """A value that follows from the document's tables or formulas and is not printed there."""
    return _compared("derived", where, what, stated, computed, within, 0.0, why)


def consistent(where: str, what: str, stated: Any, computed: Any, *, within: float = 0.0, why: str = "") -> Statement:
    """A printed value beside what other printed values of the same document give: nothing of ours is run."""
    return _compared("consistency", where, what, stated, computed, within, 0.0, why)


def _compared(
    origin: Origin, where: str, what: str, stated: Any, computed: Any, within: float, relative: float, why: str
) -> Statement:
    agrees = _same(stated, computed, within, relative)
    width = max(within, relative * abs(stated)) if isinstance(stated, int | float) else within
    return Statement(where, what, stated, computed, agrees, origin, why, width)


def counted(statements: Sequence[Statement]) -> dict[str, dict[str, int]]:
    """How many statements of each origin were checked, come out and differ."""
    table = {}
    for origin in ORIGINS:
        own = [statement for statement in statements if statement.origin == origin]
        agreeing = sum(statement.agrees for statement in own)
        table[str(origin)] = {"checked": len(own), "come out": agreeing, "differ": len(own) - agreeing}
    return table


def widest(statements: Sequence[Statement]) -> float:
    """The largest distance at which a printed statement still counts as a match."""
    return max((statement.within for statement in statements if statement.origin == "printed"), default=0.0)


def summary(name: str, statements: Sequence[Statement], nearest: Sequence[Statement] = ()) -> dict[str, Any]:
    """The report of an experiment that checks statements: how many come out, and each of them.

    ``nearest`` are the same statements where a document left something open, a random start or a reading, at the choice
    that lies nearest to print. They are counted beside the default choice, never instead of it.
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


def _same(stated: Any, computed: Any, within: float, relative: float) -> bool:
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
    """The reasons for which statements differ, most frequent first: how many, and one of them in full.

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
    """One section per place in the document, in the order in which the places come."""
    places = dict.fromkeys(statement.where for statement in statements)
    return [Section(where, statements=tuple(s for s in statements if s.where == where)) for where in places]


def printed_tables(experiment: str) -> dict[str, pl.DataFrame]:
    """The tables that the document of an experiment prints, by name; cells are texts, as they are printed."""
    import polars as pl

    folder = resources.files(f"{__package__}.{experiment}") / "tables"
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".tsv")), key=lambda file: file.name)
    return {
        file.name.removesuffix(".tsv"): pl.read_csv(file.read_bytes(), separator="\t", infer_schema_length=0)
        for file in files
    }


def page(heading: str, intro: str, statements: Sequence[Statement], sections: Sequence[Section]) -> str:
    """The page of an experiment; it opens offline and has the look of the report."""
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


def cell(value: Any, digits: int) -> Any:
    """A value of a table as a page shows it: decimals cut, a small one in powers of ten, a dash for none.

    >>> cell(None, 2), cell(12.345, 2), cell(1e-9, 2), cell(3, 2)
    ('–', '12.35', '1.0e-09', 3)
    """
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 0.5 * 10**-digits else f"{value:.{digits}f}"
    return value


def brief(value: Any) -> str:
    """A value as a page shows it: numbers with few digits, tables by their size.

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
