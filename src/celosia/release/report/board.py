"""First page of a report, for decision makers: the chance to be found, the losses, and what to watch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.release.report.facts import SMALLEST, Classes, changes_of, role_of, share
from celosia.show.blocks import keep_outcomes, requirement_to_add
from celosia.show.charts import stacked_bars
from celosia.show.formats import LOCALES, number
from celosia.table.changes import remaining

if TYPE_CHECKING:
    from celosia.release.evidence.public import Disclosure
    from celosia.release.evidence.release import Release

BANDS = ((1, 1), (2, 4), (5, 10), (11, 19), (20, None))
"""Class sizes by the chance to be found: certain, above 1/5, above 1/11, above 1/20, below."""


@dataclass(frozen=True)
class Board:
    """Texts of the first page: numbers and sentences for each of its three questions."""

    chance: str
    chance_text: tuple[str, ...]
    lost: tuple[tuple[str, str], ...]
    """Numbers over the original, each with its label, in the order of their weight for a reader."""
    lost_text: tuple[str, ...]
    watch: tuple[str, ...]
    picture: str


def board(
    release: Release,
    before: Classes | None,
    after: Classes,
    w: Mapping[str, Any],
    public: Disclosure,
    *,
    internal: bool,
    language: str,
) -> Board:
    """Return the texts of the first page; ``before`` is None in the external edition."""
    chance, chance_text = _chance(release, before, after, w, internal=internal, language=language)
    lost, lost_text = _losses(release, w, None if internal else public, language=language)
    return Board(
        chance,
        chance_text,
        lost,
        lost_text,
        _watch(release, after, w, internal=internal, language=language),
        _picture(before, after, w, internal=internal, language=language),
    )


def day(text: str, language: str) -> str:
    """Format an ISO date in a language.

    >>> day("2026-11-16", "en"), day("2026-11-16", "es")
    ('16 November 2026', '16 de noviembre de 2026')
    """
    from babel.dates import format_date

    return str(format_date(dt.date.fromisoformat(text), "long", locale=LOCALES[language]))


def verdict_notes(release: Release, w: Mapping[str, Any], *, internal: bool) -> tuple[str, ...]:
    """Return the notes next to the verdict: sensitive columns without a requirement, columns that must be kept."""
    notes = []
    if release.assessment.models and release.unprotected:
        add = requirement_to_add(release.unprotected[0])
        notes.append(w["watch_sensitive"].format(columns=", ".join(release.unprotected), add=add))
    for outcome, names in keep_outcomes(release).items():
        # a column header may be a person's name
        shown = [name for name in names if internal or name in release.table.names]
        hidden = len(names) - len(shown)
        named = ", ".join([*shown, *([w["keep_unnamed"].format(n=hidden)] if hidden else [])])
        if named:
            notes.append(w[f"keep_{outcome}"].format(columns=named))
    return tuple(notes)


def _chance(
    release: Release, before: Classes | None, after: Classes, w: Mapping[str, Any], *, internal: bool, language: str
) -> tuple[str, tuple[str, ...]]:
    def one_in(classes: Classes) -> str:
        smallest = round(1 / classes.highest) if classes.highest else 0
        return w["one_in"].format(n=number(smallest, language=language)) if smallest else str(w["nobody"])

    def unique(classes: Classes) -> str:
        few = not internal and 0 < classes.unique < SMALLEST
        return f"< {SMALLEST}" if few else number(classes.unique, language=language)

    columns = ", ".join(release.table.schema.quasi)
    after_share = number(after.highest, percent=True, language=language)
    sentences = [w["found_after"].format(columns=columns, after=after_share)]
    if before is None:
        sentences.append(w["found_unique_now"].format(after=unique(after)))
    else:
        sentences.append(w["found_before"].format(before=number(before.highest, percent=True, language=language)))
        sentences.append(w["found_unique"].format(before=unique(before), after=unique(after)))
    return one_in(after), tuple(sentences)


def _losses(
    release: Release, w: Mapping[str, Any], public: Disclosure | None, *, language: str
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    formal = public is not None and bool(release.public.formal)
    changes = changes_of(release, formal=formal)
    left = remaining(changes)
    same = [change.name for change in changes if change.after == change.before]
    coarser = [change.name for change in changes if change.name not in {*left.dropped, *left.empty, *same}]
    numbers = [
        (
            number(len(left.dropped), language=language),
            w["lost_dropped"].format(n=number(left.columns, language=language)),
        ),
        (number(len(left.empty), language=language), w["lost_empty"]),
    ]
    for key, cells in (("lost_changed", left.changed), ("lost_unchanged", left.unchanged)):
        shown = None if formal else cells if public is None else public.share(cells)
        if shown is not None:
            numbers.append((number(shown, percent=True, language=language), w[key]))
    rows, suppressed = release.public.release.rows, release.public.release.suppressed
    sentences = [
        w[key].format(columns=", ".join(names))
        for key, names in (
            ("lost_nothing", left.empty),
            ("lost_columns", coarser),
            ("lost_same", same),
            ("lost_out", left.dropped if public is None else ()),  # a column header may be a person's name
        )
        if names
    ]
    if suppressed:
        part = number(suppressed / max(1, rows), percent=True, language=language)
        sentences.append(w["lost_suppressed"].format(n=number(suppressed, language=language), share=part))
    return tuple(numbers), tuple(sentences)


def _watch(release: Release, after: Classes, w: Mapping[str, Any], *, internal: bool, language: str) -> tuple[str, ...]:
    """Sentences on what to consider before the release is approved, the most serious first."""
    names = w["names"]["model"]
    schema = release.table.schema
    models = release.assessment.models
    sentences = [w["watch_unmet"].format(name=names.get(f.part.name, f.part.name)) for f in models if not f.holds]
    if not models:
        sentences.append(w["watch_none"])
    unacknowledged = [entry.column for entry in release.public.guard if not entry.acknowledged]
    small = share(after.above[11], after.records, internal=internal)
    uncounted = [name for name in release.table.names if role_of(schema, name) == "insensitive"]
    if unacknowledged:
        sentences.append(w["watch_guard"].format(columns=", ".join(dict.fromkeys(unacknowledged))))
    if small:
        sentences.append(w["watch_small"].format(share=number(small, percent=True, language=language)))
    if uncounted:
        sentences.append(w["watch_known"].format(columns=", ".join(uncounted)))
    if any(entry.get("search") and not entry["search"]["complete"] for entry in release.table.history):
        sentences.append(w["watch_search"])
    return (*sentences, _review(release, w, language))


def _review(release: Release, w: Mapping[str, Any], language: str) -> str:
    due = release.public.about.review
    if not due:
        return str(w["watch_no_review"])
    key = "watch_overdue" if due < release.public.created[:10] else "watch_review"
    return str(w[key].format(date=day(due, language)))


def _picture(before: Classes | None, after: Classes, w: Mapping[str, Any], *, internal: bool, language: str) -> str:
    """Draw the records by their chance to be found, before and after."""

    def chance(size: int) -> str:
        return number(1 / size, percent=True, language=language)

    def label(low: int, high: int | None) -> str:
        if high == 1:
            return str(w["band_sure"])
        if high is None:
            return str(w["band_below"].format(high=chance(low)))
        return str(w["band_between"].format(low=chance(high), high=chance(low)))

    def shares(classes: Classes) -> list[float | None]:
        counts = [classes.between(low, high) for low, high in BANDS]
        return [share(count, classes.records, internal=internal) for count in counts]

    rows = [(name, shares(c)) for name, c in ((w["before"], before), (w["after"], after)) if c is not None]
    return stacked_bars(w["bands"], [label(low, high) for low, high in BANDS], rows, language=language)
