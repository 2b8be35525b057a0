"""The experiment of Quirós (2013): microdata privacy with crisp and fuzzy partitions, run again and corrected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.experiments import write_report

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from celosia.experiments.fuzzy_privacy.experiment import Pairs, Progress

NAME = "fuzzy-privacy"
DOCUMENT = "Quirós (2013), privacy of microdata with crisp and fuzzy partitions"
DATA = "census.csv"
STARTS = 40
"""Random starts of k-means and Gustafson–Kessel; the source used one of unknown seed."""


def reproduce(
    data: Path,
    out: Path,
    progress: Progress | None = None,
    *,
    starts: int = STARTS,
    seed: int = 2013,
    pairs: Pairs | None = None,
) -> dict[str, Any]:
    """Run the experiment on the census file and write ``fuzzy-privacy.html`` and ``fuzzy-privacy.json`` into ``out``.

    The result has the match rates with the printed tables, every mismatch with its reason, the summary tables and the
    files that were written. It is refused for any other data: the printed numbers belong to this file. ``pairs`` limits
    it to some pairs of attributes (1 … 13).
    """
    import numpy as np

    from celosia.experiments.fuzzy_privacy import comparison, experiment
    from celosia.experiments.fuzzy_privacy.codings import PAIRS
    from celosia.experiments.fuzzy_privacy.page import page

    tell = progress or (lambda *_: None)
    x = experiment.read_census(Path(data))
    rng = np.random.default_rng(seed)
    chosen = pairs or PAIRS
    blocks = {
        "independent": experiment.independent_block(x, rng, starts, tell, chosen),
        "joint": experiment.joint_block(x, rng, starts, tell, chosen),
    }
    results = {
        block: {"printed": {p: experiment.printed(block)[p] for p in chosen}, **found}
        for block, found in blocks.items()
    }
    found: list[comparison.Match] = []
    wrong: list[comparison.Mismatch] = []
    for block, versions in results.items():
        some, others = comparison.matches(block, versions["printed"], versions["compatible"])
        found, wrong = found + some, wrong + others
    summaries = {block: comparison.summary(block, versions) for block, versions in results.items()}
    summaries["duel"] = comparison.duel(results["joint"])
    artefacts = {
        block: comparison.artefact(versions["corrected"], comparison.METHODS[block])
        for block, versions in results.items()
    }
    tell("plots", 0.96)
    html = page(results, found, wrong, summaries, artefacts, _plots(x, rng))
    report = {
        "experiment": NAME,
        "printed numbers": sum(m.compared for m in found),
        "come out": sum(m.equal for m in found),
        "differ, each with its reason": len(wrong),
        "mean t of joint fuzzy c-means": artefacts["joint"]["fcm"]["largest"],
        "mean t of joint k-means": artefacts["joint"]["km"]["largest"],
        "matches": comparison.plain(found),
        "mismatches": comparison.plain(wrong),
        "summaries": summaries,
        "mean_t": artefacts,
        "results": {
            block: {mode: {f"{a},{b}": row for (a, b), row in rows.items()} for mode, rows in versions.items()}
            for block, versions in results.items()
        },
    }
    files = write_report(NAME, out, html, report)
    tell("done", 1.0)
    return {**{k: v for k, v in report.items() if k != "results"}, "files": files}


def _plots(x: NDArray[np.float64], rng: np.random.Generator) -> dict[str, list[str]]:
    """Cells, contour curves and surfaces of the first pair, AFNLWGT × AGI, and its possibility curves."""
    import numpy as np

    from celosia.experiments.fuzzy_privacy import charts, codings
    from celosia.mathematics.fuzzy.anonymity import possibility_curve
    from celosia.mathematics.fuzzy.clustering import cluster_memberships
    from celosia.mathematics.fuzzy.partitions import scale

    plane = x[:, :2]
    unit = scale(plane)
    axes = ("AFNLWGT", "AGI")
    fcm = codings.fuzzy_c_means(plane, rng)
    gk = codings.gustafson_kessel_optima(plane, 10, rng)[0]
    assert gk.clusters is not None
    crossed = codings.crossed_fuzzy(*(codings.fuzzy_c_means(plane[:, [j]], rng) for j in (0, 1)))
    sharp = codings.local_optima(plane, 10, rng)[0][0]
    grid = codings.crossed(*(codings.recoded(plane[:, j]) for j in (0, 1)))
    every = np.arange(len(x))
    cells = {
        "independent, global recode": (grid.rows, grid.labels),
        "independent, fuzzy c-means": (every, crossed.labels),
        "joint, k-means": (every, sharp),
        "joint, Gustafson–Kessel": (every, gk.labels),
        "joint, fuzzy c-means": (every, codings.joint(fcm).labels),
    }
    metrics = gk.clusters.report.metrics
    shapes = {
        "fuzzy c-means": (lambda p: cluster_memberships(p, fcm.centres), fcm.centres),
        "Gustafson–Kessel": (lambda p: cluster_memberships(p, gk.clusters.centres, 2.0, metrics), gk.clusters.centres),
    }
    lines = [
        (name, possibility_curve(coding.mu.T))
        for name, coding in (("joint FCM", codings.joint(fcm)), ("joint GK", gk), ("independent FCM", crossed))
    ]
    return {
        "Cells of AFNLWGT × AGI": [
            charts.points(unit[rows, 0], unit[rows, 1], labels, name, axes) for name, (rows, labels) in cells.items()
        ],
        "Contour curves of the memberships (½, 0.7, 0.9)": [
            charts.contours(degrees, 3, name, axes, centres) for name, (degrees, centres) in shapes.items()
        ],
        "Membership surfaces": [charts.surface(degrees, name, axes) for name, (degrees, _) in shapes.items()],
        "Q-anonymity: possibility of at least Q records per cell": [
            charts.curves(lines, "mean over the cells", ("Q", "possibility"))
        ],
    }
