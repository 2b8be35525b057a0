"""The experiment of the thesis on preferences over inferences, on generated students, with the control it lacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

NAME = "consent"
DOCUMENT = "Esquivel-Quirós, individual privacy preferences over inferences"
DATA = "adult.data"


def reproduce(
    out: Path,
    data: Path | None = None,
    progress: Callable[[str, float], None] | None = None,
    *,
    blocks: int = 30,
    rows: int = 10_634,
    k: Sequence[int] = (60, 90, 120, 150),
    external: Sequence[float] = (0.05, 0.10),
    extra: int = 30,
    seed: int = 2019,
) -> dict[str, Any]:
    """Run the experiment and write ``consent.html`` and ``consent.json`` into ``out``.

    ``data`` is the UCI file ``adult.data`` for the study of the metric, which is left out without it. Fewer blocks or
    rows give a quick version.
    """
    import numpy as np

    from celosia.experiments import write_report
    from celosia.experiments.consent import adult, anova, case, experiment, questions
    from celosia.experiments.consent.page import page
    from celosia.release.evidence import plain as plain_data

    tell = progress or (lambda *_: None)
    rng = np.random.default_rng(seed)
    people = case.students(rng)
    blocked = np.zeros(len(people), np.bool_)
    blocked[rng.permutation(len(people))[: round(case.SHARE * len(people))]] = True
    plan = experiment.Plan(blocks, min(rows, len(people)), tuple(k), tuple(external), extra)
    found = experiment.run(people, blocked, plan, rng, tell)
    values = found.p_reid[..., 1]
    report: dict[str, Any] = {
        "experiment": NAME,
        "summary": questions.summary(found),
        "questions": questions.answers(found),
        "differences": experiment.magnitudes(found),
        "others": experiment.others_cost(found),
        "anova": anova.plain(anova.anova(values, ["k", "external", "rule"])) if blocks > 1 else [],
        "assumptions": anova.assumptions(values, found.order) if blocks > 2 else {},
        "who asked": {str(n): float(v) for n, v in zip(plan.k, found.told.mean(axis=0), strict=True)},
        "p_reid": found.p_reid.mean(axis=0).tolist(),
        "baseline": found.baseline.mean(axis=0).tolist(),
        "gcp": found.gcp.mean(axis=0).tolist(),
        "altered": found.altered.mean(axis=0).tolist(),
        "adult": adult.study(Path(data), tell) if data is not None else [],
        "plan": {"blocks": blocks, "rows": plan.rows, "k": list(k), "external": list(external), "X": extra},
    }
    files = write_report(NAME, out, page(found, report), plain_data(report))
    tell("done", 1.0)
    return {**report["summary"], **plain_data(report), "files": files}
