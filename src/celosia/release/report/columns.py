"""Pictures of the columns of a release: before and after for its owner, only the released values for others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.data.schema import Kind
from celosia.release.report.facts import SMALLEST, ColumnFacts, share
from celosia.release.report.grids import Grid, grid
from celosia.show.charts import bars, heatmap, overlay
from celosia.show.formats import number
from celosia.show.plots import plain_step
from celosia.table.columns import can_read_columns, column_types, count_values
from celosia.views.comparing.columns import ColumnPair, column_pairs, in_order
from celosia.views.comparing.dependences import Dependences, dependences

if TYPE_CHECKING:
    from celosia.release.evidence.release import Release
    from celosia.table import Table

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
DISTINCT = 50_000
"""Largest number of distinct values of a column of labels that is drawn."""
RANGES = 12


@dataclass(frozen=True)
class Picture:
    """A column with its chart, sentences and statistics."""

    name: str
    role: str
    chart: str
    sentences: tuple[str, ...] = ()
    statistics: Grid | None = None


def pictures(
    release: Release, columns: list[ColumnFacts], w: Mapping[str, Any], *, internal: bool, language: str
) -> list[Picture]:
    """Draw the columns that can be drawn; external pictures do not depend on the original."""
    draw = _internal_picture if internal else _external_picture
    return [picture for column in columns if (picture := draw(release, column, w, language)) is not None]


def dependence_maps(
    release: Release, w: Mapping[str, Any], *, language: str
) -> list[tuple[str, str, tuple[str, str, str]]]:
    """Draw the dependences of columns: measure, sentence, and heat maps before, after and of the difference."""
    original, protected = release.original, release.comparison.protected
    if not (can_read_columns(original) and can_read_columns(protected)):
        return []
    return [_maps(each, w, language) for each in dependences(original, protected)]


def _maps(each: Dependences, w: Mapping[str, Any], language: str) -> tuple[str, str, tuple[str, str, str]]:
    change = (np.array(each.after) - np.array(each.before)).tolist()
    sides = ((w["before"], each.before), (w["after"], each.after), (w["difference"], change))
    before, after, difference = (heatmap(title, each.names, values, language=language) for title, values in sides)
    sentences = w["dependences_text"].format(largest=number(each.largest, language=language))
    if each.sampled is not None:
        sentences += " " + w["dependences_sampled"].format(n=number(each.sampled, language=language))
    return w[each.measure], sentences, (before, after, difference)


def _internal_picture(release: Release, column: ColumnFacts, w: Mapping[str, Any], language: str) -> Picture | None:
    """Draw a column before and after, with the statistics of a numeric column."""
    original, protected = release.original, release.comparison.protected
    if column.name not in original.schema or column.role == "weight":
        return _external_picture(release, column, w, language)
    has_many_values = column.after > DISTINCT or len(count_values(original, column.name)) > DISTINCT
    if has_many_values and not _are_numeric(original, protected, column.name):
        return None
    return _draw_pair(release, column, w, language)


def _draw_pair(release: Release, column: ColumnFacts, w: Mapping[str, Any], language: str) -> Picture:
    original, protected = release.original, release.comparison.protected
    pair: ColumnPair = column_pairs(original, protected, [column.name])[0]
    names = (w["before"], w["after"])
    if pair.edges:
        chart = overlay(
            w["share_of"], pair.edges, list(zip(names, (pair.before, pair.after), strict=True)), language=language
        )
    else:
        labels = [w["rest"] if label == "…" else label for label in pair.labels]
        chart = bars(w["share_of"], labels, list(zip(names, (pair.before, pair.after), strict=True)), language=language)
    shares = (("moved", pair.distance - pair.hidden), ("hidden", pair.hidden))
    sentences = tuple(
        w[key].format(share=number(value, percent=True, language=language)) for key, value in shares if value > 1e-9
    )
    return Picture(
        column.name, column.role, chart, sentences, _statistics(original, protected, column.name, w, language)
    )


def _are_numeric(original: Table, protected: Table, name: str) -> bool:
    sides = (original, protected)
    return all(name in t.names and can_read_columns(t) and column_types(t)[name].is_numeric() for t in sides)


def _statistics(original: Table, protected: Table, name: str, w: Mapping[str, Any], language: str) -> Grid | None:
    """Table of the mean, standard deviation and quantiles before and after."""
    if original.schema[name].kind != Kind.NUMERIC or not _are_numeric(original, protected, name):
        return None
    sides = [x[np.isfinite(x)] for x in (table.numeric([name])[:, 0] for table in (original, protected))]
    if any(len(x) < 2 for x in sides):
        return None

    def row(label: str, values: list[float]) -> list[str]:
        return [label, *(number(value, language=language) for value in values)]

    def quantile(q: float) -> str:
        shown = number(100 * q, language=language) + " %"
        return str(w["median"] if q == 0.5 else w["quantile"].format(share=shown))

    rows = [
        row(w["mean"], [float(x.mean()) for x in sides]),
        row(w["deviation"], [float(x.std(ddof=1)) for x in sides]),
        *(row(quantile(q), [float(np.quantile(x, q)) for x in sides]) for q in QUANTILES),
    ]
    return grid([w["statistic"], w["before"], w["after"]], rows, numbers={1, 2})


def _external_picture(release: Release, column: ColumnFacts, w: Mapping[str, Any], language: str) -> Picture | None:
    """Draw the released values in counts rounded up to multiples of five, without the original."""
    protected = release.comparison.protected
    title = f"{w['share_of']} ({w['withheld'].format(n=SMALLEST)})"
    if _needs_histogram(protected, column):
        edges, shares = _histogram(protected, column.name)
        return Picture(column.name, column.role, overlay(title, edges, [(w["after"], shares)], language=language))
    if not column.values:
        return None
    info = protected.schema[column.name]
    values = dict(column.values)
    labels = list(values)
    if info.kind in (Kind.NUMERIC, Kind.ORDINAL, Kind.DATE):
        labels = in_order(labels, info.order)
    sentences = (w["others"].format(n=number(column.others, language=language)),) if column.others else ()
    series = [(w["after"], [values[label] for label in labels])]
    return Picture(column.name, column.role, bars(title, labels, series, language=language), sentences)


def _needs_histogram(table: Table, column: ColumnFacts) -> bool:
    inside = can_read_columns(table) and table.schema[column.name].kind == Kind.NUMERIC
    return (
        inside and column.role != "weight" and column.after > RANGES and column_types(table)[column.name].is_numeric()
    )


def _histogram(table: Table, name: str) -> tuple[list[float], list[float | None]]:
    """Histogram of released numbers over round ranges, outliers in the first and last; shares as may be published."""
    x = table.numeric([name])[:, 0]
    filled = x[np.isfinite(x)]
    low, high = (float(q) for q in np.quantile(filled, [0.01, 0.99]))
    step = plain_step((high - low) / RANGES or 1.0)
    first, last = math.floor(low / step), math.floor(high / step) + 1
    edges = [float(f"{k * step:.12g}") for k in range(first, last + 1)]
    counts = np.histogram(np.clip(filled, edges[0], edges[-1]), edges)[0]
    return edges, [share(int(count), len(x), internal=False) for count in counts]
