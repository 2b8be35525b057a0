"""The experiment: 55 pairs of attributes, six codings, all criteria, in two modes."""

from __future__ import annotations

import csv
from collections.abc import Callable
from importlib.resources import files
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError
from celosia.experiments.fuzzy_privacy.codings import (
    ATTRIBUTES,
    PAIRS,
    Coding,
    Labels,
    crossed,
    crossed_fuzzy,
    fuzzy_c_means,
    gustafson_kessel_optima,
    joint,
    local_optima,
    nearest,
    recoded,
)
from celosia.experiments.fuzzy_privacy.criteria import (
    anonymity,
    compatible_l_t,
    measure,
    records_at_risk,
    smallest_class,
)

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Row = dict[str, float | None]
Results = dict[tuple[int, int], Row]
Pairs = tuple[tuple[int, int], ...]
Progress = Callable[[str, float], None]

COLUMNS = [
    *("AFNLWGT", "AGI", "EMCONTRB", "FEDTAX", "PTOTVAL", "STATETAX", "TAXINC"),
    *("POTHVAL", "INTVAL", "PEARNVAL", "FICA", "WSALVAL", "ERNVAL"),
]
"""The real names by position; the source printed an alphabetical list, wrong from the fourth on."""
SENSITIVE = (10, 12)
SHARP = 4
"""A start of k-means costs a twentieth of one of Gustafson–Kessel and its traps are as many: take more."""


def read_census(path: Path) -> Floats:
    """The 1080 × 13 numbers of the census file, checked to be that file."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read as CSV with a header ({error.__class__.__name__}).") from None
    if header != COLUMNS or len(rows) != 1080:
        raise DataError(
            f"{path}: this is not the census reference file. It has 1080 records and the columns {', '.join(COLUMNS)} "
            f"in this order; got {len(rows)} records and {len(header)} columns."
        )
    return np.array(rows, dtype=np.float64)


def printed(block: str) -> Results:
    """The numbers of the source for ``independent`` or ``joint`` coding; a dash is None."""
    text = files("celosia.experiments.fuzzy_privacy").joinpath(f"printed_{block}.csv").read_text(encoding="utf-8")
    return {
        (int(r["a"]), int(r["b"])): {k: None if v == "-" else float(v) for k, v in r.items() if k not in "ab"}
        for r in csv.DictReader(text.splitlines())
    }


def sensitive_codes(x: Floats) -> list[tuple[Codes, int]]:
    """Both sensitive columns as codes in value order, with their number of values."""
    result = []
    for position in SENSITIVE:
        values, codes = np.unique(x[:, position - 1], return_inverse=True)
        result.append((codes, len(values)))
    return result


def distance_to(row: Row, name: str) -> Callable[[Coding], float]:
    """How far a coding lies from the printed k, and from the printed Q or number of records at risk."""

    def distance(coding: Coding) -> float:
        gap = abs(smallest_class(coding) - (row[f"{name}_k"] or 0))
        # whole classes enter and leave the number at risk, so it only decides between equals
        return gap + (
            abs(anonymity(coding) - (row[f"{name}_Q"] or 0))
            if coding.fuzzy
            else 1e-3 * abs(records_at_risk(coding) - (row[f"{name}_risk"] or 0))
        )

    return distance


def printed_k_means(first: list[Labels], second: list[Labels], sensitive: list[tuple[Codes, int]], row: Row) -> Coding:
    """Independent k-means cells at the local optima, and under the numbering, that lie nearest to the printed numbers.

    The source's t visits the first e of nine codes when e cells hold records, so it depends on how the program
    happened to number the clusters. With nine cells that all hold records the numbering makes no difference.
    """
    distance = distance_to(row, "km")
    gaps = {(i, j): distance(crossed(f, s)) for i, f in enumerate(first) for j, s in enumerate(second)}
    least = min(gaps.values())
    near = [(first[i], second[j]) for (i, j), gap in gaps.items() if gap <= least + 1e-9]
    options = []
    for f, s in near:
        orders = list(permutations(range(3))) if not crossed(f, s).mu.any(axis=0).all() else [(0, 1, 2)]
        options += [crossed(np.array(a)[f], np.array(b)[s]) for a in orders for b in orders]

    return options[0] if row["km_t1"] is None else nearest(options, lambda option: gap_of_t(option, sensitive, row))


def gap_of_t(option: Coding, sensitive: list[tuple[Codes, int]], row: Row) -> float:
    """How far the compatible t of k-means cells lie from the printed ones."""
    return sum(
        abs(compatible_l_t(option, codes, values)[1] - (row[f"km_t{i}"] or 0))
        for i, (codes, values) in enumerate(sensitive, start=1)
    )


def printed_joint_k_means(options: list[Coding], sensitive: list[tuple[Codes, int]], row: Row) -> Coding:
    """Joint k-means cells at the local optimum nearest to the printed k and risk, and of those to the printed t."""
    distance = distance_to(row, "km")
    gaps = [distance(option) for option in options]
    near = [option for option, gap in zip(options, gaps, strict=True) if gap <= min(gaps) + 1e-9]
    return nearest(near, lambda option: gap_of_t(option, sensitive, row))


def independent_block(
    x: Floats, rng: np.random.Generator, starts: int, progress: Progress, pairs: Pairs = PAIRS
) -> dict[str, Results]:
    """Nine cells per pair: k-means (km), global recoding (gr), fuzzy c-means (fz)."""
    column = {a: x[:, a - 1] for a in ATTRIBUTES}
    optima, clusters = {}, {}
    for done, a in enumerate(ATTRIBUTES):
        optima[a] = [labels for labels, _ in local_optima(column[a][:, None], SHARP * starts, rng)]
        clusters[a] = fuzzy_c_means(column[a][:, None], rng)
        progress("one attribute at a time", 0.05 * (done + 1) / len(ATTRIBUTES))
    sensitive, want = sensitive_codes(x), printed("independent")
    found: dict[str, Results] = {"compatible": {}, "corrected": {}}
    for done, (a, b) in enumerate(pairs):
        fuzzy = crossed_fuzzy(clusters[a], clusters[b])
        for mode, results in found.items():
            compatible = mode == "compatible"
            codings = {
                "km": printed_k_means(optima[a], optima[b], sensitive, want[a, b])
                if compatible
                else crossed(optima[a][0], optima[b][0]),
                "gr": crossed(recoded(column[a]), recoded(column[b])),
                "fz": fuzzy,
            }
            results[a, b] = rows_of(codings, sensitive, compatible=compatible)
        progress("independent coding", 0.05 + 0.15 * (done + 1) / len(pairs))
    return found


def joint_block(
    x: Floats, rng: np.random.Generator, starts: int, progress: Progress, pairs: Pairs = PAIRS
) -> dict[str, Results]:
    """Three cells per pair: k-means (km), Gustafson–Kessel (gk), fuzzy c-means (fcm)."""
    sensitive, want = sensitive_codes(x), printed("joint")
    found: dict[str, Results] = {"compatible": {}, "corrected": {}}
    for done, (a, b) in enumerate(pairs):
        plane = x[:, [a - 1, b - 1]]
        sharp = [
            Coding(np.eye(3)[labels], np.arange(len(x)), fuzzy=False, objective=cost)
            for labels, cost in local_optima(plane, SHARP * starts, rng)
        ]
        shaped = gustafson_kessel_optima(plane, starts, rng)
        round_ = joint(fuzzy_c_means(plane, rng))
        for mode, results in found.items():
            compatible = mode == "compatible"
            codings = {
                "km": printed_joint_k_means(sharp, sensitive, want[a, b]) if compatible else sharp[0],
                "gk": nearest(shaped, distance_to(want[a, b], "gk")) if compatible else shaped[0],
                "fcm": round_,
            }
            results[a, b] = rows_of(codings, sensitive, compatible=compatible)
        progress("joint coding", 0.2 + 0.75 * (done + 1) / len(pairs))
    return found


def rows_of(codings: dict[str, Coding], sensitive: list[tuple[Codes, int]], *, compatible: bool) -> Row:
    """All criteria of all codings of a pair in one row, named as in the printed tables."""
    return {
        f"{name}_{criterion}": value
        for name, coding in codings.items()
        for criterion, value in measure(coding, sensitive, compatible=compatible).items()
    }
