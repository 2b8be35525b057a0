"""The experiment: pairs of attributes, six codings, all criteria, in three modes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.clustering import Clusters
from celosia.kernels.fuzzy.partitions import scale
from celosia_reproduce.fuzzy_privacy.codings import (
    CLASSES,
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
from celosia_reproduce.fuzzy_privacy.criteria import (
    anonymity,
    compatible_l_t,
    measure,
    records_at_risk,
    smallest_class,
)
from celosia_reproduce.fuzzy_privacy.study import Results, Row, Study
from celosia_reproduce.fuzzy_privacy.toolbox import cluster

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Progress = Callable[[str, float], None]
Coded = dict[str, dict[str, Coding]]

SHARP = 4
"""A start of k-means costs a twentieth of one of Gustafson–Kessel and its traps are as many: take more."""


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


def independent_block(study: Study, rng: np.random.Generator, starts: int, progress: Progress) -> dict[str, Results]:
    """Return a cell per pair of classes: k-means (km), global recoding (gr), fuzzy c-means (fz)."""
    optima: dict[int, list[Labels]] = {}
    clusters: dict[int, Clusters] = {}
    for done, a in enumerate(study.attributes):
        column = study.column(a)[:, None]
        optima[a] = [labels for labels, _ in local_optima(column, SHARP * starts, rng, study.classes)]
        clusters[a] = fuzzy_c_means(column, rng, study.classes)
        progress("one attribute at a time", 0.05 * (done + 1) / len(study.attributes))
    as_run = {a: by_toolbox(study.column(a)[:, None]) for a in study.attributes} if study.printed is not None else {}
    classes = {
        a: recoded(study.column(a), study.classes, as_source=study.printed is not None) for a in study.attributes
    }
    sensitive, by_pair = study.codes(), {}
    for done, (a, b) in enumerate(study.pairs):
        best = {"km": crossed(optima[a][0], optima[b][0], study.classes)}
        recoding = {"gr": crossed(classes[a], classes[b], study.classes)}
        chosen: Coded = {"corrected": {**best, **recoding, "fz": crossed_fuzzy(clusters[a], clusters[b])}}
        if study.printed is not None:
            want = study.printed["independent"][a, b]
            coded = {**recoding, "fz": crossed_fuzzy(as_run[a], as_run[b])}
            chosen["default"] = {**best, **coded}
            chosen["nearest"] = {"km": printed_k_means(optima[a], optima[b], sensitive, want), **coded}
        by_pair[a, b] = modes_of(chosen, sensitive)
        progress("independent coding", 0.05 + 0.15 * (done + 1) / len(study.pairs))
    return by_mode(by_pair)


def joint_block(study: Study, rng: np.random.Generator, starts: int, progress: Progress) -> dict[str, Results]:
    """Return a cell per cluster of the plane: k-means (km), Gustafson–Kessel (gk), fuzzy c-means (fcm)."""
    sensitive, by_pair = study.codes(), {}
    for done, pair in enumerate(study.pairs):
        plane = study.plane(pair)
        sharp = [
            Coding(np.eye(study.classes)[labels], np.arange(len(plane)), fuzzy=False, objective=cost)
            for labels, cost in local_optima(plane, SHARP * starts, rng, study.classes)
        ]
        shaped = gustafson_kessel_optima(plane, starts, rng, study.classes)
        best = {"km": sharp[0], "gk": shaped[0], "fcm": joint(fuzzy_c_means(plane, rng, study.classes))}
        chosen: Coded = {"corrected": best}
        if study.printed is not None:
            want = study.printed["joint"][pair]
            coded = {"gk": joint(by_toolbox(plane, shaped=True)), "fcm": joint(by_toolbox(plane))}
            chosen["default"] = {"km": sharp[0], **coded}
            chosen["nearest"] = {"km": printed_joint_k_means(sharp, sensitive, want), **coded}
        by_pair[pair] = modes_of(chosen, sensitive)
        progress("joint coding", 0.2 + 0.75 * (done + 1) / len(study.pairs))
    return by_mode(by_pair)


def modes_of(chosen: Coded, sensitive: list[tuple[Codes, int]]) -> dict[str, Row]:
    """Return the criteria as the source ran them at the default choice and at the one nearest to print; and as defined.

    Another file than that of the source has the criteria as they are defined only, at the best optima.
    """
    return {mode: rows_of(codings, sensitive, compatible=mode != "corrected") for mode, codings in chosen.items()}


def by_toolbox(x: Floats, *, shaped: bool = False) -> Clusters:
    """Return the clusters of columns scaled to [0, 1] as the programs of the source found them."""
    return cluster(scale(x), CLASSES, shaped=shaped)


def by_mode(by_pair: dict[tuple[int, int], dict[str, Row]]) -> dict[str, Results]:
    """Return the rows of each mode by pair."""
    modes = dict.fromkeys(mode for rows in by_pair.values() for mode in rows)
    return {mode: {pair: rows[mode] for pair, rows in by_pair.items()} for mode in modes}


def rows_of(codings: dict[str, Coding], sensitive: list[tuple[Codes, int]], *, compatible: bool) -> Row:
    """All criteria of all codings of a pair in one row, named as in the printed tables."""
    return {
        f"{name}_{criterion}": value
        for name, coding in codings.items()
        for criterion, value in measure(coding, sensitive, compatible=compatible).items()
    }
