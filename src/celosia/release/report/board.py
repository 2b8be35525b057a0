"""First page of a report, for decision makers: the chance to be found, the losses, and what to watch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from celosia.release.report.facts import SMALLEST, Classes, changes_of, role_of, share
from celosia.show.charts import stacked_bars
from celosia.show.formats import LOCALES, number

if TYPE_CHECKING:
    from celosia.release.evidence.public import Disclosure
    from celosia.release.evidence.release import Release

BANDS = ((1, 1), (2, 4), (5, 10), (11, 19), (20, None))
"""Class sizes by the chance to be found: certain, above 1/5, above 1/11, above 1/20, below."""


@dataclass(frozen=True)
class Board:
    """Texts of the first page: a headline and sentences for each of its three questions."""

    chance: str
    chance_text: tuple[str, ...]
    lost: str
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
) -> tuple[str, tuple[str, ...]]:
    formal = public is not None and bool(release.public.formal)
    changes = changes_of(release, formal=formal)
    gone = [change.name for change in changes if change.after.form == "gone"]
    same = [change.name for change in changes if change.after == change.before]
    empty = [change.name for change in changes if change.after.form == "nothing"]
    coarser = [change.name for change in changes if change.name not in {*gone, *same, *empty}]
    shares = [change.altered for change in changes if change.altered is not None]
    mean = sum(shares) / len(shares) if shares and not formal else None
    mean = mean if public is None else public.share(mean)
    headline = "" if mean is None else number(mean, percent=True, language=language)
    rows, suppressed = release.public.release.rows, release.public.release.suppressed
    sentences = [
        w[key].format(columns=", ".join(names))
        for key, names in (("lost_columns", coarser), ("lost_same", same), ("lost_out", gone if public is None else []))
        if names
    ]
    if empty:
        sentences.insert(0, f"{', '.join(empty)}: {w['detail']['nothing']}.")
    if gone and public is not None:  # a column header may be a person's name
        sentences.append(f"{w['left_out']}: {number(len(gone), language=language)}.")
    if suppressed:
        part = number(suppressed / max(1, rows), percent=True, language=language)
        sentences.append(w["lost_suppressed"].format(n=number(suppressed, language=language), share=part))
    return headline, tuple(sentences)


def _watch(release: Release, after: Classes, w: Mapping[str, Any], *, internal: bool, language: str) -> tuple[str, ...]:
    """Sentences on what to consider before the release is approved, the most serious first."""
    names = w["names"]["model"]
    schema = release.table.schema
    models = release.assessment.models
    sentences = [w["watch_unmet"].format(name=names.get(f.part.name, f.part.name)) for f in models if not f.holds]
    if not models:
        sentences.append(w["watch_none"])
    unacknowledged = [entry.column for entry in release.public.guard if not entry.acknowledged]
    guarded = {column for finding in models for column in finding.part.counted_columns()}  # None stands for all
    open_columns = [name for name in schema.sensitive if guarded.isdisjoint({name, None})]
    small = share(after.above[11], after.records, internal=internal)
    uncounted = [name for name in release.table.names if role_of(schema, name) == "insensitive"]
    if unacknowledged:
        sentences.append(w["watch_guard"].format(columns=", ".join(dict.fromkeys(unacknowledged))))
    if open_columns and models:
        sentences.append(w["watch_sensitive"].format(columns=", ".join(open_columns)))
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
