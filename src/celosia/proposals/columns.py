"""Suggestions for every column from its name and content, each with its reason and the consequence of an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from celosia.data.schema import Kind, Role, Schema
from celosia.errors import DamagedText
from celosia.proposals.cleanup import untidy
from celosia.proposals.code_book import CodeBook
from celosia.proposals.content import MOST_ROWS, RARE, Content, contents_of, with_short_names
from celosia.proposals.hierarchies import can_be_thinner, hierarchy_for, nice_width, nodes_of, thinner
from celosia.proposals.meanings import Meaning
from celosia.proposals.roles import REPEATED, WAVE, Judgement, judge_column, meaning_for, percent
from celosia.proposals.suggestion import ColumnSuggestion
from celosia.proposals.table_evidence import Evidence, decide_together
from celosia.show.blocks import Block, Shown
from celosia.table import Table, read
from celosia.table.frames import visible_frame

if TYPE_CHECKING:
    import polars as pl

#: Meanings of measures of bodies, and names that may be the weight of one.
BODIES = ("body", "vital sign or examination")
PLAIN_WEIGHT = ("weight", "weights", "peso", "pes", "poids", "gewicht")
#: What others know best of a person, in this order: kept where there are too many quasi-identifiers.
BEST_KNOWN = (
    "sex", "age", "birth date", "birth year", "time of birth or age", "origin", "region or country", "postcode",
    "place", "family situation", "education", "work", "language", "body", "insurance", "housing",
    "working time or experience",
)  # fmt: skip
#: Most waves of a panel, fewest persons, and rows of a person on average.
MOST_WAVES, FEWEST_PERSONS, PANEL = 60, 20, 1.5
#: Share of persons with several rows whose fixed traits must agree.
AGREEING = 0.95
#: Most quasi-identifiers by name or form, and the number below which unknown columns are added.
MOST, FEW = 12, 4
#: Most combinations of levels for the search.
NODES = 100_000
#: A category of more values than this is finer than a release can show.
FINE = 100
#: In a file with fewer records most values are rare.
SMALL_FILE = 50

IF_WRONG = {
    Role.IDENTIFIER: "If it names nobody, you lose a column that could have stayed: give it another role.",
    Role.QUASI: "If nobody outside can know it, it is made coarser for nothing: move it to sensitive or insensitive.",
    Role.SENSITIVE: "If others know it of a person, it singles that person out: move it to quasi.",
    Role.INSENSITIVE: "It leaves as it is: if others know it of a person, move it to quasi.",
    Role.PERSON: "If a value does not stand for one person, persons are counted wrongly: move it to identifiers.",
    Role.HOUSEHOLD: "If a value does not stand for one household, their risks are wrong: move it to identifiers.",
    Role.WEIGHT: "If it is no sampling weight, population risks are wrong: give it another role.",
    Role.STRATUM: "If it is no stratum of the sample, estimates by stratum are wrong: give it another role.",
}
LEFT_OUT = (
    "It is left out of the release. To keep it, give it a role; as a quasi-identifier it makes the others coarser."
)
FREE = "It is left out of the release: one name in one cell is enough. To keep it, redact it first."


class Suggestions(list[ColumnSuggestion], Shown):
    """Suggestions for the columns of a table, with their ``schema``."""

    @property
    def schema(self) -> Schema:
        """The suggested schema."""
        return schema_of(self)

    def blocks(self) -> list[Block]:
        """Return the blocks to show: role, kind and reason of each column."""
        rows = [(s.name, "left out" if s.left_out else str(s.role), str(s.kind), s.reason) for s in self]
        head = "A beginning, not a decision: look at each, then take .schema or write your own."
        return [Block(head), Block("Suggested roles", ("column", "role", "kind", "why"), rows)]

    __repr__ = Shown.__repr__


def suggest(table: object, code_book: CodeBook | None = None) -> Suggestions:
    """Propose a role, a kind and a hierarchy for every column of a table, or of what :func:`celosia.read` takes.

    Direct identifiers are found by the form of the values, with check digits where there are some, and by name (in
    nine languages); sensitive columns by name; quasi-identifiers by name and by how well they distinguish
    records; the person column by repetition. Quasi-identifiers are few, and so are their levels; a
    column without evidence is left out. Labels of codes and descriptions of columns count, those of the file and those
    of ``code_book``. A suggestion is a start, not a decision.

    >>> import polars as pl
    >>> table = pl.DataFrame({"nom": ["Ana", "Pau", "Ona", "Jan"], "edat": [34, 51, 34, 60],
    ...                       "diagnòstic": ["A", "B", "A", "A"]})
    >>> [(s.name, str(s.role)) for s in suggest(table)]
    [('nom', 'identifier'), ('edat', 'quasi'), ('diagnòstic', 'sensitive')]
    """
    frame, book = _frame(table)
    contents = contents_of(frame, book | (code_book or CodeBook()))
    meanings = {name: meaning_for(content) for name, content in contents.items()}
    judgements = {name: judge_column(content, meanings[name]) for name, content in contents.items()}
    proposed = [_proposal(content, meanings[name], judgements[name]) for name, content in contents.items()]
    proposed = _with_person(frame, _keep_first(_with_weights(proposed, contents)), contents, meanings)
    unknown = {name for name, judgement in judgements.items() if judgement.unknown}
    proposed, unknown = decide_together(frame, proposed, Evidence(contents, meanings, unknown))
    proposed = _few_quasi([_with_hierarchy(s, contents[s.name], meanings[s.name]) for s in proposed], unknown)
    return Suggestions(replace(s, if_wrong=_if_wrong(s)) for s in proposed)


def as_dates(s: ColumnSuggestion) -> ColumnSuggestion:
    """Return the suggestion for a column of dates that the reader no longer takes as text."""
    kept = {key: value for key, value in (s.hierarchy or {}).items() if key not in ("formats", "fallback")}
    return replace(s, date_format=None, untidy=(), hierarchy=kept or None)


def lattice_nodes(suggestions: list[ColumnSuggestion]) -> int:
    """Return the number of combinations of levels of the suggested quasi-identifiers."""
    return math.prod(
        nodes_of(s.hierarchy) for s in suggestions if s.role == Role.QUASI and s.hierarchy and not s.left_out
    )


def open_source(source: object, options: Mapping[str, Any]) -> tuple[Table, Mapping[str, Any]]:
    """Read a table, damaged text as Windows text, and return it with the options that read it."""
    try:
        return read(source, **options), options
    except DamagedText:
        repaired = {**options, "damaged": "cp1252"}
        return read(source, **repaired), repaired


def _frame(table: object) -> tuple[pl.DataFrame | pl.LazyFrame, CodeBook]:
    """Return the rows as a Polars frame, as lazy as they are, and the code book of the file."""
    import polars as pl

    if isinstance(table, pl.DataFrame | pl.LazyFrame):
        return table, CodeBook()
    opened, _ = open_source(table, {})
    frame = visible_frame(opened) if opened.engine.name == "polars" else opened.polars()
    return frame, CodeBook.of(opened.origin.facts)


def schema_of(suggestions: list[ColumnSuggestion]) -> Schema:
    """Return the schema that the suggestions describe; a column that is left out has no role in it.

    >>> import polars as pl
    >>> schema_of(suggest(pl.DataFrame({"age": [30, 41, 52], "city": ["a", "b", "b"]}))).quasi
    ('age', 'city')
    """
    named = [s for s in suggestions if not s.left_out]
    with_role = {role: [s.name for s in named if s.role == role] for role in Role}
    return Schema.of(
        identifiers=with_role[Role.IDENTIFIER],
        quasi=with_role[Role.QUASI],
        sensitive=with_role[Role.SENSITIVE],
        insensitive=with_role[Role.INSENSITIVE],
        weight=next(iter(with_role[Role.WEIGHT]), None),
        household=next(iter(with_role[Role.HOUSEHOLD]), None),
        stratum=next(iter(with_role[Role.STRATUM]), None),
        person=next(iter(with_role[Role.PERSON]), None),
        kinds={s.name: str(s.kind) for s in named},
        bounds={s.name: s.bounds for s in named if s.bounds},
        hierarchies={s.name: s.hierarchy for s in named if s.hierarchy},
    )


def _proposal(content: Content, meaning: Meaning | None, judgement: Judgement) -> ColumnSuggestion:
    """Build the suggestion for one column by itself."""
    kind = Kind.TEXT if judgement.free else _kind(content, meaning)
    return ColumnSuggestion(
        content.name,
        judgement.role,
        kind,
        judgement.reason,
        bounds=meaning.bounds if meaning and kind == Kind.NUMERIC else None,
        hipaa=judgement.hipaa,
        meaning=judgement.meaning,
        distinction=content.distinction,
        separation=content.separation,
        date_format=content.date_format,
        rare=content.distinct - content.frequent if content.rows >= SMALL_FILE else 0,
        frequent=content.frequent,
        code_length=content.code_length,
        code_digits=all(value.strip().replace("-", "").isdigit() for value in content.values),
        untidy=untidy(content, kind) if judgement.role != Role.IDENTIFIER else (),
    )


def _kind(content: Content, meaning: Meaning | None) -> Kind:
    """Return the kind by content, or by name where the content does not decide."""
    if meaning is None or meaning.kind is None or content.kind in (Kind.DATE, Kind.ORDINAL):
        return content.kind
    if meaning.kind == Kind.NUMERIC and content.low is None:
        return content.kind  # "age" that holds texts such as "30-39"
    return content.kind if meaning.kind == Kind.DATE else meaning.kind


def _with_hierarchy(s: ColumnSuggestion, content: Content, meaning: Meaning | None) -> ColumnSuggestion:
    """Add the hierarchy of a quasi-identifier, or the steps without which a column could not leave."""
    if s.role == Role.QUASI:
        hierarchy, why = hierarchy_for(content, s.kind, meaning)
        return replace(s, hierarchy=hierarchy, hierarchy_reason=why)
    if s.role not in (Role.SENSITIVE, Role.INSENSITIVE) or not s.rare:
        return s
    if s.kind == Kind.NUMERIC and content.low is not None and content.frequent < 0.5 * content.distinct:
        base = nice_width((content.high or 0.0) - content.low, cells=100 if content.skewed else 40)
        steps: tuple[dict[str, Any], ...] = (
            {"use": "top-code", "columns": [s.name], "quantile": 0.99},
            {"use": "round", "columns": [s.name], "base": max(base, 1) if content.whole else base},
        )
        return replace(
            s, steps=steps, steps_reason="most of its numbers stand on few records: who knows one finds the record"
        )
    if s.kind == Kind.NUMERIC:
        return s
    if sum(count for count in content.counts if count >= RARE) < 0.5 * sum(content.counts):
        return replace(
            s, left_out=True, reason=f"{s.reason}; but most of its values stand on fewer than {RARE} records"
        )
    return replace(
        s,
        hierarchy={"use": "priority", "keep": [content.frequent]},
        hierarchy_reason=f"values on fewer than {RARE} records are hidden",
        steps=({"use": "recode", "column": s.name, "level": 1},),
        steps_reason=f"{s.rare} values stand on fewer than {RARE} records",
    )


def _few_quasi(proposed: list[ColumnSuggestion], unknown: set[str]) -> list[ColumnSuggestion]:
    """Limit the quasi-identifiers and their levels; the ones beyond are left out until the user decides."""
    quasi = [s for s in proposed if s.role == Role.QUASI and not s.left_out]
    named = [s.name for s in sorted(quasi, key=_importance) if s.name not in unknown][:MOST]
    spare = sorted((s for s in quasi if s.name in unknown), key=lambda s: s.separation)
    kept = {*named, *(s.name for s in spare[: max(0, FEW - len(named))])}
    hierarchies = {s.name: s.hierarchy for s in quasi if s.name in kept and s.hierarchy}
    while math.prod(map(nodes_of, hierarchies.values())) > NODES:
        wide = [name for name, hierarchy in hierarchies.items() if can_be_thinner(hierarchy)]
        if not wide:
            break
        widest = max(wide, key=lambda name: nodes_of(hierarchies[name]))
        hierarchies[widest] = thinner(hierarchies[widest])
    settled = {s.name: replace(s, left_out=True) for s in quasi}
    settled |= {s.name: replace(s, hierarchy=hierarchies[s.name]) for s in quasi if s.name in kept}
    return [settled.get(s.name, s) for s in proposed]


def _importance(s: ColumnSuggestion) -> tuple[bool, int]:
    """Return the sort key of quasi-identifiers: what is known of most people first, categories that are fine last."""
    place = BEST_KNOWN.index(s.meaning) if s.meaning in BEST_KNOWN else len(BEST_KNOWN)
    return s.kind == Kind.NOMINAL and s.rare + s.frequent > FINE, place


def _if_wrong(s: ColumnSuggestion) -> str:
    """Return what happens if the proposal is wrong."""
    return FREE if s.kind == Kind.TEXT else LEFT_OUT if s.left_out else IF_WRONG[s.role]


def _with_weights(proposed: list[ColumnSuggestion], contents: dict[str, Content]) -> list[ColumnSuggestion]:
    """Return the suggestions with the evidence for sampling weights: what they sum to, and no height beside them."""
    body = any(s.meaning in BODIES and "weight" not in s.name.lower() for s in proposed)
    result = []
    for s in proposed:
        content = contents[s.name]
        if s.role == Role.WEIGHT:
            plain = s.name.lower() in PLAIN_WEIGHT
            if plain and body and content.whole:
                reason = "the name says: weight; beside other measures of bodies it is that of a body"
                s = replace(s, role=Role.QUASI, meaning="body", reason=reason)
            else:
                s = replace(s, reason=f"{s.reason}; {_sum_of_weights(content)}")
        result.append(s)
    return result


def _sum_of_weights(content: Content) -> str:
    """Describe what weights sum to, with a warning where it is too little for a population."""
    total = (content.mean or 0.0) * content.filled
    said = f"they sum to {total:,.0f} over {content.rows:,} records"
    if total > 1.05 * content.rows:
        return said
    return (
        f"{said}, so they are scaled to the sample: multiply them by the population over the sample, or population "
        "risks are those of the sample"
    )


def _keep_first(proposed: list[ColumnSuggestion]) -> list[ColumnSuggestion]:
    """Keep each role that only one column can have for the first; a further household number is an identifier."""
    seen: set[Role] = set()
    result = []
    for s in proposed:
        if s.role in seen:
            other = Role.IDENTIFIER if s.role == Role.HOUSEHOLD else Role.INSENSITIVE
            s = replace(s, role=other, reason=f"{s.reason}, but another column is taken as that")
        elif s.role in (Role.WEIGHT, Role.HOUSEHOLD, Role.STRATUM):
            seen.add(s.role)
        result.append(s)
    return result


def _with_person(
    frame: pl.DataFrame | pl.LazyFrame,
    proposed: list[ColumnSuggestion],
    contents: dict[str, Content],
    meanings: dict[str, Meaning | None],
) -> list[ColumnSuggestion]:
    """Propose a person column where the same identifier stands on several rows."""
    candidates = [
        s
        for s in proposed
        if s.role == Role.IDENTIFIER
        and s.kind != Kind.TEXT
        and (s.hipaa in (7, 8, 9, 18))
        and contents[s.name].repeats >= REPEATED
        and contents[s.name].distinct > 2
    ]
    fixed = [name for name, meaning in meanings.items() if meaning and meaning.fixed]
    best: tuple[int, float, ColumnSuggestion, str] | None = None
    for candidate in candidates:
        traits = [name for name in fixed if name != candidate.name]
        agree = _agreement(frame, contents[candidate.name].rows, candidate.name, traits) if traits else None
        meaning = meanings[candidate.name]
        named = meaning is not None and meaning.role == Role.PERSON
        if (agree is not None and agree < AGREEING) or (agree is None and not named):
            continue
        repeats = contents[candidate.name].repeats
        why = f"{candidate.reason}; {repeats:.1f} rows per value"
        if agree is not None:
            why += f", and {', '.join(traits[:3])} stay the same in {percent(agree)} of the repeated ones"
        rank = (int(named) + (agree is not None), -repeats)
        if best is None or rank > best[:2]:
            best = (*rank, candidate, why + ": a person may own several rows")
    if best is None:
        return _with_panel(frame, proposed, contents, meanings)
    chosen = replace(best[2], role=Role.PERSON, reason=best[3])
    return [chosen if s.name == chosen.name else s for s in proposed]


def _with_panel(
    frame: pl.DataFrame | pl.LazyFrame,
    proposed: list[ColumnSuggestion],
    contents: dict[str, Content],
    meanings: dict[str, Meaning | None],
) -> list[ColumnSuggestion]:
    """Propose as person column codes that occur at most once in every wave, and in several waves: a panel."""
    import polars as pl

    times = [s.name for s in proposed if s.meaning == WAVE and 2 <= contents[s.name].distinct <= MOST_WAVES]
    for s in proposed:
        meaning, content = meanings[s.name], contents[s.name]
        unknown = meaning is None or meaning.weak or meaning.role in (Role.PERSON, Role.IDENTIFIER)
        repeated = PANEL <= content.repeats <= MOST_WAVES and not content.missing and content.distinct >= FEWEST_PERSONS
        coded = content.kind in (Kind.NOMINAL, Kind.NUMERIC) and (content.low is None or content.whole)
        if s.role in (Role.WEIGHT, Role.HOUSEHOLD) or not (unknown and repeated and coded):
            continue
        for time in times:
            pairs = with_short_names(frame, [s.name, time])
            if pairs.select(pl.struct("c0", "c1").n_unique()).collect(engine="streaming").item() == content.rows:
                reason = f"each value occurs once for each value of {time}, {content.repeats:.1f} times on average"
                chosen = replace(s, role=Role.PERSON, kind=Kind.NOMINAL, hipaa=18, reason=f"{reason}: a panel")
                return [chosen if other.name == s.name else other for other in proposed]
    return proposed


def _agreement(frame: pl.DataFrame | pl.LazyFrame, rows: int, person: str, traits: list[str]) -> float | None:
    """Return the share of repeated persons for whom all fixed traits stay the same."""
    import polars as pl

    fixed = [f"c{i + 1}" for i in range(len(traits))]
    parts = max(1, rows // MOST_ROWS)  # of a large table, a part of the persons with all of their rows
    grouped = (
        with_short_names(frame, [person, *traits])
        .drop_nulls("c0")
        .filter(pl.col("c0").hash() % parts == 0)
        .group_by("c0")
        .agg(pl.len().alias("__n__"), *(pl.col(t).drop_nulls().n_unique().alias(t) for t in fixed))
        .filter(pl.col("__n__") > 1)
        .select(pl.all_horizontal(pl.col(t) <= 1 for t in fixed).mean())
    )
    share = grouped.collect(engine="streaming").item()
    return None if share is None else float(share)
