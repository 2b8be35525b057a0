"""Sections of the experiment's page: matches by choice, the summary tables, every pair."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from markupsafe import Markup

from celosia_reproduce.fuzzy_privacy.comparison import (
    CRITERIA,
    METHODS,
    NAMES,
    PRINTED_COUNTS,
    PRINTED_DUEL,
    PRINTED_MEANS,
    Number,
    came_out,
    largest,
)
from celosia_reproduce.fuzzy_privacy.study import Results, Row, Study
from celosia_reproduce.statements import Grid, Section, cell

INTRO = (
    "55 pairs of attributes of the census reference file, six codings each, judged by k-anonymity, records at risk, "
    "Q-anonymity, l-diversity and t-closeness of two sensitive columns (PEARNVAL and WSALVAL; the source prints the "
    "names PTOTVAL and TAXINC, which do not belong to these columns). Printed numbers are compared with what the "
    "source ran, repeated: recoding drops the records at the minimum and pairs the shortened list with the first "
    "entries of the full sensitive column; a class is reduced to its set of values; t is the smallest distance; late "
    "cells are skipped when earlier ones are empty."
)
CHOICE = (
    "The fuzzy clusterings start and stop as the programs of the MATLAB toolbox that the source names: "
    "rand('state', 0), centres within the range of the data, an end when no membership rises by more than 0.0001, "
    "m = 2. k-means starts at random, and the source used one start of unknown seed. The default choice is the best "
    "optimum found here. The choice nearest to print is the local optimum (and, for independent k-means, the numbering "
    "of the clusters) that lies nearest to the printed numbers: there a match says that the printed numbers can arise, "
    "not that they must."
)
CORRECTED = (
    "keeps records aligned, counts frequencies and σ-counts, takes the largest distance to the whole table, and the "
    "best optimum found by several starts, iterated to the end. The recoding still loses the records at the minimum."
)
ARTEFACT = (
    "t-closeness is defined by the worst block or individual. The source takes the best one: the smallest of 1080 "
    "individual mixtures is set against the smallest of three blocks. Measured by its definition, the fuzzy codings "
    "are about as close as the crisp ones; the gain is an artefact of the minimum. Means over the pairs, PEARNVAL."
)
SHOWN = {"default": "as run, default", "nearest": "as run, nearest", "corrected": "corrected"}


def sections(
    study: Study,
    results: Mapping[str, Mapping[str, Results]],
    numbers: Mapping[str, Sequence[Number]],
    summaries: Mapping[str, Any],
    artefacts: Mapping[str, Any],
    plots: Sequence[Section],
) -> list[Section]:
    """All sections; on a file of which nothing is printed there is nothing to compare."""
    compared = [*_compared(numbers), _artefacts(artefacts)] if study.printed is not None else []
    return [
        *compared,
        *(_summary(block, summaries[block], study) for block in METHODS),
        *([_duel(summaries["duel"])] if study.printed is not None else []),
        *plots,
        *(_annex(block, study, results[block]) for block in METHODS),
    ]


def _compared(numbers: Mapping[str, Sequence[Number]]) -> Iterator[Section]:
    """Return the counts by choice, and column by column."""
    parts: dict[str, bool | None] = {
        "no random start: global recode, fuzzy c-means, Gustafson–Kessel": False,
        "random start: k-means": True,
        "all": None,
    }
    rows = []
    for name, chosen in parts.items():
        counts = {mode: came_out(own, chosen=chosen) for mode, own in numbers.items()}
        rows.append((name, counts["default"][1], counts["default"][0], counts["nearest"][0]))
    head = ("codings", "printed numbers", "come out, default choice", "come out, nearest to print")
    yield Section(
        "Default choice, and choice nearest to print", CHOICE, grids=(Grid("numbers of the annex", head, rows),)
    )
    columns = zip(numbers["default"], numbers["nearest"], strict=True)
    rows_by_column = []
    for (block, column), group in groupby(columns, key=lambda own: (own[0].block, own[0].column)):
        default, near = (list(part) for part in zip(*group, strict=True))
        method, criterion = column.split("_")
        equal = (came_out(default)[0], came_out(near)[0])
        rows_by_column.append(
            (block, NAMES[method], criterion, len(default), *equal, _brief(largest(default)), _brief(largest(near)))
        )
    note = "t within 0.000051 (it has four decimals), others exactly"
    top = ("coding", "method", "criterion", "printed", "default", "nearest", "largest difference", "at the nearest")
    yield Section("Match with the printed tables", grids=(Grid(note, top, rows_by_column, plain=3),))


def _artefacts(artefacts: Mapping[str, Any]) -> Section:
    rows = [
        (block, NAMES[method], both["largest"], both["smallest"])
        for block, methods in artefacts.items()
        for method, both in methods.items()
    ]
    head = ("coding", "method", "largest distance (t)", "smallest distance")
    return Section("Why fuzzy codings looked ten times closer", ARTEFACT, grids=(Grid("mean t", head, rows, 2, 4),))


def _summary(block: str, summary: Mapping[str, Any], study: Study) -> Section:
    """How often each method is best, its mean, and its mean distance to the best."""
    modes = [mode for mode in SHOWN if any(mode in facts for facts in summary.values())]
    counts, averages = [], []
    for criterion in CRITERIA:
        if criterion not in summary:
            continue
        facts = summary[criterion]
        best, mean = PRINTED_COUNTS[block].get(criterion), PRINTED_MEANS[block].get(criterion)
        if not study.printed or best:
            own = [_trio(best)] if study.printed else []
            counts.append((criterion, *own, *(_trio(facts[mode]["best"]) for mode in modes)))
        own = [_pairs(mean) if mean else "–"] if study.printed else []
        averages.append((criterion, *own, *(_pairs(facts[mode]["mean"]) for mode in modes)))
    numbers = {"independent": ("Table 4.2: ", "Table 4.3: "), "joint": ("Table 4.5: ", "Table 4.6: ")}[block]
    order = " / ".join(NAMES[m] for m in METHODS[block])
    head = (
        ("criterion", "as printed", *(SHOWN[mode] for mode in modes)) if study.printed else ("criterion", "as defined")
    )
    first, second = numbers if study.printed else ("", "")
    return Section(
        f"{block.capitalize()} coding in short",
        f"{order}. Ties count for each. “Corrected” {CORRECTED}" if study.printed else f"{order}. Ties count for each.",
        grids=(
            Grid(f"{first}how often each method is best", head, counts),
            Grid(f"{second}mean, and mean distance to the best where it is not the best", head, averages),
        ),
    )


def _duel(duel: Mapping[str, Any]) -> Section:
    rows = [(c, _trio(PRINTED_DUEL[c]), *(_trio(versions[mode]) for mode in SHOWN)) for c, versions in duel.items()]
    grid = Grid("Table 4.7: how often the larger l", ("criterion", "as printed", *SHOWN.values()), rows)
    return Section("Joint k-means / fuzzy c-means", grids=(grid,))


def _annex(block: str, study: Study, versions: Mapping[str, Results]) -> Section:
    """Every number of every pair."""
    columns = [c for c in next(iter(versions["corrected"].values())) if "tmin" not in c]
    rows = [
        (
            f"({a}, {b})",
            study.title((a, b)),
            *(_annex_cell(column, *(versions[mode][a, b] for mode in versions)) for column in columns),
        )
        for a, b in study.pairs
    ]
    order = " / ".join(("printed", *SHOWN.values()) if study.printed else ("as defined",))
    head = ("pair", "columns", *columns)
    return Section(f"Annex: {block} coding, every pair", grids=(Grid(order, head, rows, 2),))


def _annex_cell(column: str, *versions: Row) -> object:
    shown = [_four_digits(version.get(column)) for version in versions]
    if len(shown) == 1:
        return shown[0]
    printed, *others = shown
    lines = [f'<span class="bad">{other}</span>' if other != printed else other for other in others[:-1]]
    return Markup("<br>".join([printed, *lines, f"<i>{others[-1]}</i>"]))  # noqa: S704 (numbers of our own)


def _four_digits(value: float | None) -> str:
    return str(cell(value, 4)) if value is None or not float(value).is_integer() else f"{value:g}"


def _brief(value: float) -> str:
    return "no number" if value == float("inf") else f"{value:.2g}"


def _trio(values: Sequence[int | None] | None) -> str:
    return " / ".join("–" if v is None else str(v) for v in values or ())


def _pairs(pairs: Sequence[tuple[float, float] | None]) -> str:
    return " · ".join(_pair(pair) for pair in pairs)


def _pair(pair: tuple[float, float] | None) -> str:
    if pair is None:
        return "–"
    digits = 4 if pair[0] < 1 else 2
    return f"{pair[0]:.{digits}f} ({pair[1]:.{digits}f})"
