"""The drawings of the page: the sets of every attribute, every pair, and the first pair at length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels.fuzzy.anonymity import possibility_curve
from celosia.kernels.fuzzy.clustering import Clusters, cluster_memberships
from celosia.kernels.fuzzy.partitions import scale
from celosia_reproduce.fuzzy_privacy import charts, codings
from celosia_reproduce.fuzzy_privacy.study import Study
from celosia_reproduce.statements import Section

Floats = NDArray[np.float64]
DRAWN = 2000
"""Records that a picture shows at most: more hide each other."""


def plots(study: Study, rng: np.random.Generator) -> list[Section]:
    """Membership functions, every pair, and cells, contours, surfaces and possibility curves of the first pair."""
    sets = {a: codings.fuzzy_c_means(study.column(a)[:, None], rng, study.classes) for a in study.attributes}
    shown = np.sort(rng.permutation(len(study.x))[:DRAWN])
    return [
        Section(
            "Membership functions",
            "Fuzzy c-means of one attribute at a time, on the attribute scaled to 0 … 1; marks below are the records.",
            tuple(
                charts.memberships(_degrees(clusters), scale(study.column(a)[:, None])[shown, 0], study.names[a - 1])
                for a, clusters in sets.items()
            ),
            small=True,
        ),
        Section(
            "Every pair",
            "Records in the colour of their cell of joint fuzzy c-means, with the curves where a degree is one half; "
            "dashed, the borders of the cells of independent fuzzy c-means.",
            tuple(_pair(study, pair, sets, shown, rng) for pair in study.pairs),
            small=True,
        ),
        *_at_length(study, study.pairs[0], sets, shown, rng),
    ]


def _degrees(clusters: Clusters) -> charts.Degrees:
    return lambda points: cluster_memberships(points, clusters.centres)


def _pair(
    study: Study,
    pair: tuple[int, int],
    sets: dict[int, Clusters],
    shown: NDArray[np.int64],
    rng: np.random.Generator,
) -> str:
    plane = study.plane(pair)
    clusters = codings.fuzzy_c_means(plane, rng, study.classes)
    unit, labels = scale(plane)[shown], codings.joint(clusters).labels[shown]
    names = (study.names[pair[0] - 1], study.names[pair[1] - 1])
    borders = tuple(charts.borders(sets[position].centres[:, 0]) for position in pair)
    return charts.pair(unit, labels, _degrees(clusters), (borders[0], borders[1]), names)


def _at_length(
    study: Study,
    pair: tuple[int, int],
    sets: dict[int, Clusters],
    shown: NDArray[np.int64],
    rng: np.random.Generator,
) -> list[Section]:
    """All codings of one pair."""
    plane, classes = study.plane(pair), study.classes
    unit = scale(plane)
    axes = (study.names[pair[0] - 1], study.names[pair[1] - 1])
    fcm = codings.fuzzy_c_means(plane, rng, classes)
    gk = codings.gustafson_kessel_optima(plane, 10, rng, classes)[0]
    assert gk.clusters is not None
    crossed = codings.crossed_fuzzy(*(sets[position] for position in pair))
    as_source = study.printed is not None
    recoded = [codings.recoded(plane[:, j], classes, as_source=as_source) for j in (0, 1)]
    grid = codings.crossed(recoded[0], recoded[1], classes)
    every = np.arange(len(plane))
    cells = {
        "independent, global recode": (grid.rows, grid.labels),
        "independent, fuzzy c-means": (every, crossed.labels),
        "joint, k-means": (every, codings.local_optima(plane, 10, rng, classes)[0][0]),
        "joint, Gustafson–Kessel": (every, gk.labels),
        "joint, fuzzy c-means": (every, codings.joint(fcm).labels),
    }
    metrics, centres = gk.clusters.report.metrics, gk.clusters.centres
    shapes: dict[str, tuple[charts.Degrees, Floats]] = {
        "fuzzy c-means": (_degrees(fcm), fcm.centres),
        "Gustafson–Kessel": (lambda p: cluster_memberships(p, centres, 2.0, metrics), centres),
    }
    lines = [
        (name, possibility_curve(coding.mu.T))
        for name, coding in (("joint FCM", codings.joint(fcm)), ("joint GK", gk), ("independent FCM", crossed))
    ]
    title = study.title(pair)
    points = []
    for name, (rows, labels) in cells.items():
        own = np.isin(rows, shown)
        points.append(charts.points(unit[rows[own]], labels[own], name, axes))
    return [
        Section(f"Cells of {title}", figures=tuple(points), small=True),
        Section(
            f"Contour curves of the memberships of {title} (½, 0.7, 0.9)",
            figures=tuple(charts.contours(degrees, name, axes, own) for name, (degrees, own) in shapes.items()),
            small=True,
        ),
        Section(
            f"Membership surfaces of {title}",
            figures=tuple(charts.surface(degrees, name, axes) for name, (degrees, _) in shapes.items()),
            small=True,
        ),
        Section(
            "Q-anonymity: possibility of at least Q records per cell",
            figures=(charts.curves(lines, "mean over the cells", ("Q", "possibility")),),
            small=True,
        ),
    ]
