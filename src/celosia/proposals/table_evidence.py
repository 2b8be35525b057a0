"""Evidence on a column from the other columns of its table: blocks of items, functional dependencies, the subject."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.data.schema import Kind, Role
from celosia.proposals.content import Content
from celosia.proposals.dependence import (
    EXCEPTIONS,
    blocks,
    computed_from,
    encode,
    functions_of,
    is_exclusive,
    sample_of,
)
from celosia.proposals.meanings import Meaning
from celosia.proposals.recognition.normal_form import fold_text
from celosia.proposals.suggestion import ColumnSuggestion
from celosia.proposals.vocabulary import words_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from celosia.proposals.dependence import Codes

#: A block of at least so many columns of one scale is a repeated measurement, whatever the name of one means.
MANY_ITEMS = 8
#: Columns that the study measures, at least and as a share of all, from which further ones count as measured.
MEASURED, MEASURED_SHARE = 3, 0.2
#: Words for the parts of a date.
DATE_PARTS = {
    "day": {"day", "dia", "jour", "tag", "giorno", "dom"},
    "month": {"month", "mes", "mois", "monat", "mese", "mon"},
}
#: Words for the rank of an amount among others.
RANKS = {
    "decile",
    "decil",
    "quintile",
    "quintil",
    "quartile",
    "quartil",
    "percentile",
    "percentil",
    "tercile",
    "rank",
    "quantile",
}
#: Meanings of places of all sizes.
PLACES = {"place", "postcode", "region or country"}
#: Records that two independent flags would share at least, where they share none.
SHARED = 10
#: Answers to choose from, at most; and words of one, on average, from which it is a sentence.
FEW_ANSWERS, WORDS = 12, 3.0
ANSWERS = (
    "yes",
    "no",
    "si",
    "oui",
    "non",
    "ja",
    "nein",
    "sim",
    "nao",
    "i",
    "it",
    "they",
    "we",
    "true",
    "false",
    "t",
    "f",
    "y",
    "n",
)
#: Whole numbers up to this one may be ages.
OLDEST = 110


@dataclass(frozen=True)
class Evidence:
    """Contents and meanings of all columns, and the columns whose meaning is unknown."""

    contents: Mapping[str, Content]
    meanings: Mapping[str, Meaning | None]
    unknown: set[str]


def decide_together(
    frame: pl.DataFrame | pl.LazyFrame, proposed: list[ColumnSuggestion], evidence: Evidence
) -> tuple[list[ColumnSuggestion], set[str]]:
    """Return the suggestions with the evidence of other columns, and the columns that are still unknown."""
    names = [s.name for s in proposed]
    person = next((s.name for s in proposed if s.role == Role.PERSON), None)
    sample = sample_of(frame, names, person)
    codes = encode(sample)
    suggestions = {s.name: s for s in proposed}
    unknown = set(evidence.unknown)
    _join_dates(suggestions, evidence)
    _decide_blocks(suggestions, unknown, codes, names, evidence)
    _decide_dummies(suggestions, unknown, codes, names, evidence)
    _mark_derived(suggestions, unknown, sample, codes, names, evidence)
    _decide_unknown(suggestions, unknown, evidence)
    _mark_copies(suggestions, unknown, codes, names, evidence)
    _mark_ranks(suggestions, unknown, names)
    _mark_interactions(suggestions, unknown, codes, names)
    return [suggestions[name] for name in names], unknown


def _decide_blocks(
    suggestions: dict[str, ColumnSuggestion],
    unknown: set[str],
    codes: Codes,
    names: list[str],
    evidence: Evidence,
) -> None:
    """Assign the columns of one block the same role: that of most of them, or sensitive if nothing is known of any."""
    free = {
        name: content
        for name, content in evidence.contents.items()
        if suggestions[name].role in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
        and content.distinct > 1
        and content.kind not in (Kind.DATE, Kind.TEXT)
    }
    for block in blocks(free):
        role_counts = Counter(suggestions[name].role for name in block if name not in unknown)
        dummies = all(evidence.contents[name].distinct == 2 for name in block) and is_exclusive(
            codes, [names.index(name) for name in block]
        )
        role = role_counts.most_common(1)[0][0] if role_counts else Role.SENSITIVE
        if role == Role.QUASI and (dummies or len(block) < MANY_ITEMS):
            if sum(role_counts.values()) < 0.5 * len(block):
                continue
            members = [name for name in block if name in unknown]
        else:
            role = Role.SENSITIVE if role == Role.QUASI else role
            items = len(block) >= MANY_ITEMS
            members = [name for name in block if name in unknown or (items and suggestions[name].role != role)]
        if dummies and not role_counts:
            continue
        for name in members:
            reason = (
                f"one of {len(block)} columns with similar names and the same scale: answers or repeated measurements"
            )
            if role == Role.QUASI:
                reason = (
                    f"one of {len(block)} columns with similar names and the same scale, most of which others may know"
                )
            suggestions[name] = replace(suggestions[name], role=role, reason=reason)
            unknown.discard(name)


def _join_dates(suggestions: dict[str, ColumnSuggestion], evidence: Evidence) -> None:
    """Make the parts of a date quasi-identifiers: the day and the month of one event, in columns of their own."""
    parts = {
        part: [n for n in suggestions if words_of(n) and words_of(n)[-1] in words] for part, words in DATE_PARTS.items()
    }
    if not all(parts.values()):
        return
    for name in (name for names in parts.values() for name in names):
        if suggestions[name].role == Role.INSENSITIVE and evidence.contents[name].distinct > 1:
            suggestions[name] = replace(
                suggestions[name], role=Role.QUASI, reason="a part of a date: the day and the month of an event"
            )


def _mark_interactions(
    suggestions: dict[str, ColumnSuggestion], unknown: set[str], codes: Codes, names: list[str]
) -> None:
    """Leave out flags that are another flag among the records with one value of a quasi-identifier.

    "Heart attack, women" beside "heart attack" shows who is a woman.
    """
    released = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
    kept = [i for i, n in enumerate(names) if suggestions[n].role in released and not suggestions[n].left_out]
    flags = [i for i in kept if codes[:, i].max() <= 2]
    sources = [i for i in kept if suggestions[names[i]].role == Role.QUASI]
    for target in [i for i in flags if suggestions[names[i]].role != Role.QUASI]:
        ones = codes[:, target] == 2
        if ones.sum() < SHARED:
            continue
        for source in sources:
            value = codes[ones, source][0]
            part = codes[:, source] == value
            if (codes[ones, source] != value).any() or -ones.sum() * np.log(max(part.mean(), 1e-9)) < SHARED:
                continue
            same = [i for i in flags if i != target and (codes[part, i] == codes[part, target]).all()]
            if same:
                used = (names[same[0]], names[source])
                reason = f"{used[0]} among the records with one value of {used[1]}: beside {used[0]} it shows {used[1]}"
                suggestions[names[target]] = replace(
                    suggestions[names[target]], left_out=True, reason=reason, derived_from=used
                )
                unknown.discard(names[target])
                break


def _decide_dummies(
    suggestions: dict[str, ColumnSuggestion], unknown: set[str], codes: Codes, names: list[str], evidence: Evidence
) -> None:
    """Assign an unknown flag the role of two known flags with which it never coincides: dummies of one fact."""
    flags = [name for name, content in evidence.contents.items() if content.distinct == 2 and not content.missing]
    flags_by_meaning: dict[str, list[str]] = {}
    for name in flags:
        meaning = suggestions[name].meaning
        if meaning is not None and name not in unknown:
            flags_by_meaning.setdefault(meaning, []).append(name)
    seconds = {name: codes[:, names.index(name)] == 2 for name in flags}
    for name in [name for name in flags if name in unknown]:
        for members in flags_by_meaning.values():
            apart = [other for other in members if _excludes(seconds[name], seconds[other])]
            if len(apart) >= 2 and suggestions[name].role == Role.QUASI:
                reason = f"never 1 where {' or '.join(apart[:2])} is: values of one fact"
                suggestions[name] = replace(
                    suggestions[name],
                    role=suggestions[apart[0]].role,
                    meaning=suggestions[apart[0]].meaning,
                    reason=reason,
                )
                unknown.discard(name)


def _excludes(a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_]) -> bool:
    """Return whether two flags never coincide, though they would in at least ``SHARED`` records by chance."""
    return not (a & b).any() and float(a.mean() * b.sum()) >= SHARED


def _mark_derived(
    suggestions: dict[str, ColumnSuggestion],
    unknown: set[str],
    sample: pl.DataFrame,
    codes: Codes,
    names: list[str],
    evidence: Evidence,
) -> None:
    """Leave out the columns that are functions of quasi-identifiers: beside a coarser source they would undo it."""
    released = (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE)
    quasi_columns = [s for s in suggestions.values() if s.role == Role.QUASI and s.name not in unknown]
    # The finest sources first: the town decides the province, and the birth date the age.
    sources = sorted(quasi_columns, key=lambda s: (-evidence.contents[s.name].distinct, s.kind == Kind.NOMINAL))
    for source in sources:
        hidden = suggestions[source.name].left_out
        place = names.index(source.name)
        for i in functions_of(codes, place).nonzero()[0].tolist():
            other = suggestions[names[i]]
            if i == place or other.role not in released or other.left_out:
                continue
            if evidence.contents[other.name].distinct < 2 or (hidden and other.role == Role.QUASI):
                continue
            if source.kind == Kind.DATE and other.role == Role.SENSITIVE and _is_filled(codes[:, place], codes[:, i]):
                reason = (
                    f"filled where {other.name} has one of its values: beside that column it would undo the protection"
                )
                suggestions[source.name] = replace(source, left_out=True, reason=reason, derived_from=(other.name,))
                break
            values = evidence.contents[other.name].distinct
            coarser = 2 < values < evidence.contents[source.name].distinct
            # Sex in a village may be a function of the postcode, and is no part of it.
            apart = other.meaning != source.meaning and {other.meaning, source.meaning} - PLACES
            if other.role == Role.QUASI and other.name not in unknown and (coarser or apart):
                # Transformed together with its source: what is hidden there may stay here.
                reason = f"{other.reason}; a function of {source.name}"
                suggestions[other.name] = replace(other, reason=reason, derived_from=(source.name,))
                continue
            reason = f"a function of {source.name}: beside a coarser {source.name} it would undo the protection"
            suggestions[other.name] = replace(other, left_out=True, reason=reason, derived_from=(source.name,))
            unknown.discard(other.name)
    numeric = [
        names.index(s.name)
        for s in quasi_columns
        if not suggestions[s.name].left_out and s.kind == Kind.NUMERIC and evidence.contents[s.name].low is not None
    ]
    others = [i for i, name in enumerate(names) if i not in numeric and _is_amount(suggestions[name], evidence)]
    for i, used in computed_from(sample, numeric, others).items():
        listed = " and ".join(names[j] for j in used)
        reason = f"computed from {listed}: beside coarser values of these it would undo the protection"
        derived = tuple(names[j] for j in used)
        suggestions[names[i]] = replace(suggestions[names[i]], left_out=True, reason=reason, derived_from=derived)
        unknown.discard(names[i])


def _mark_ranks(suggestions: dict[str, ColumnSuggestion], unknown: set[str], names: list[str]) -> None:
    """Leave out deciles and other ranks of an amount in the table: with it they show the group that was ranked."""
    for name in names:
        words = set(words_of(name))
        if not words & RANKS or suggestions[name].role not in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE):
            continue
        source = next((other for other in names if other != name and words - RANKS == set(words_of(other))), None)
        if source is not None and suggestions[source].role == Role.SENSITIVE and not suggestions[source].left_out:
            reason = f"a rank of {source}: beside it, it shows in which group the rank was computed"
            suggestions[name] = replace(suggestions[name], left_out=True, reason=reason, derived_from=(source,))
            unknown.discard(name)


def _is_filled(source: npt.NDArray[np.int32], target: npt.NDArray[np.int32]) -> bool:
    """Return whether the target only shows whether the source is filled."""
    filled = source > 0
    if filled.all() or not filled.any():
        return False
    usual = [int(np.bincount(target[part]).argmax()) for part in (filled, ~filled)]
    return usual[0] != usual[1] and bool((target == np.where(filled, *usual)).mean() > 1 - EXCEPTIONS)


def _mark_copies(
    suggestions: dict[str, ColumnSuggestion], unknown: set[str], codes: Codes, names: list[str], evidence: Evidence
) -> None:
    """Leave out amounts in the same order as another one in every record: its logarithm, its square, another unit."""
    amounts = [i for i, name in enumerate(names) if _is_amount(suggestions[name], evidence) and suggestions[name].rare]
    by_order: dict[bytes, int] = {}
    for i in sorted(amounts, key=lambda i: len(names[i])):  # "logwage" is that of "wage"
        column = codes[:, i]
        reverse = np.where(column > 0, column.max() + 1 - column, 0)
        first = next((by_order[key] for key in (column.tobytes(), reverse.tobytes()) if key in by_order), None)
        if first is None:
            by_order[column.tobytes()] = i
            continue
        source = names[first]
        reason = f"in the same order as {source} in every record: beside rounded values of it, it would undo that"
        suggestions[names[i]] = replace(suggestions[names[i]], left_out=True, reason=reason, derived_from=(source,))
        unknown.discard(names[i])


def _is_amount(s: ColumnSuggestion, evidence: Evidence) -> bool:
    """Return whether a column that would be released holds amounts."""
    released = s.role in (Role.QUASI, Role.SENSITIVE, Role.INSENSITIVE) and not s.left_out
    return released and s.kind == Kind.NUMERIC and evidence.contents[s.name].low is not None


def _decide_unknown(suggestions: dict[str, ColumnSuggestion], unknown: set[str], evidence: Evidence) -> None:
    """Decide columns of unknown meaning: what a study measures is sensitive, the rest stays undecided."""
    studied = [m for m in evidence.meanings.values() if m is not None and (m.measure or m.role == Role.SENSITIVE)]
    is_study = len(studied) >= max(MEASURED, MEASURED_SHARE * len(suggestions))
    aged = any(m is not None and m.what in ("age", "birth date", "birth year") for m in evidence.meanings.values())
    for name in sorted(unknown):
        content, s = evidence.contents[name], suggestions[name]
        meaning = evidence.meanings[name]
        if s.role != Role.QUASI or s.left_out:
            continue
        reason = _measured(content, meaning, is_study, aged)
        if reason:
            suggestions[name] = replace(s, role=Role.SENSITIVE, reason=reason)
            unknown.discard(name)


def _measured(content: Content, meaning: Meaning | None, is_study: bool, aged: bool) -> str:
    """Return why a column of unknown meaning counts as measured; empty if it does not."""
    if meaning is not None and meaning.vague and (is_study or content.distinct > 2):
        return f"the name says: {meaning.what}, which others do not know of a person"
    if content.low is None or content.high is None or content.kind == Kind.DATE:
        answers = is_study and content.distinct <= FEW_ANSWERS and _are_answers(content)
        return "answers to a question in a table of measurements: taken for one of them" if answers else ""
    if not content.whole:
        return "numbers with decimals: a measurement or an amount, which others do not know of a person"
    if content.distinct <= 20:
        return "few whole numbers in a table of measurements: taken for one of them" if is_study else ""
    years = content.low >= 1850 and content.high <= 2100
    ages = content.low >= 10 and content.high <= OLDEST and not aged
    if years or ages or content.distinction > 0.8 or (content.code_length >= 4 and not content.skewed):
        return ""
    return "counts or amounts of many values, which others do not know of a person"


def _are_answers(content: Content) -> bool:
    """Return whether the values are answers: yes or no, with more words or without, or sentences."""
    firsts = [fold_text(value).replace(",", " ").split() for value in content.values]
    answers = sum(bool(words) and words[0] in ANSWERS for words in firsts)
    return answers >= 0.6 * len(firsts) or content.words >= WORDS
