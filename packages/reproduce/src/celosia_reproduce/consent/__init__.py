"""The experiment of the thesis on preferences over inferences, on generated students, with the control it lacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
    extra: Sequence[int] = (30,),
    districts: Sequence[str] = ("clustered", "uneven"),
    seed: int = 2019,
    texts: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run the experiment and write ``consent.html`` and ``consent.json`` into ``out``.

    ``data`` is the UCI file ``adult.data`` for the study of the metric, which is left out without it. Fewer blocks or
    rows give a quick version. The first of ``extra`` is X of the experiment; further ones are run on the same blocks to
    see what X does. The first of ``districts`` tells how their sizes are drawn (see ``case``); of all of them the
    altered rows of one block are shown. ``texts`` are the queries and rules as they are printed, unless given.
    """
    import numpy as np

    from celosia.release.evidence.plain_data import plain as plain_data
    from celosia_reproduce import write_report
    from celosia_reproduce.consent import adult, anova, case, chain, chapter7, experiment, questions, worked
    from celosia_reproduce.consent.page import INTRO, sections
    from celosia_reproduce.statements import page, sections_of, summary

    tell = progress or (lambda *_: None)
    texts = texts or worked.printed_texts()
    people, blocked = case.drawn(seed, districts[0])
    size = min(rows, len(people))
    plans = [experiment.Plan(blocks, size, tuple(k), tuple(external), x) for x in extra]
    results, *others = [experiment.run(people, blocked, plan, np.random.default_rng(seed), tell) for plan in plans]
    values = results.p_reid[..., 1]
    some = np.sort(np.random.default_rng(seed).choice(len(people), size, replace=False))
    tell("chapter 7", 0.9)
    published = chapter7.section(texts, people[some], blocked[some], k[0], seed)
    attacked = chain.section(np.random.default_rng(seed))
    study = adult.study(Path(data), tell) if data is not None else []
    checked = [
        *worked.statements(texts), *attacked.statements, *published.statements, *questions.statements(results),
        *adult.statements(study),
    ]  # fmt: skip
    report: dict[str, Any] = {
        **summary(NAME, checked),
        "summary": questions.summary(results),
        "questions": questions.answers(results),
        "differences": experiment.magnitudes(results),
        "others": experiment.others_cost(results),
        "anova": anova.plain(anova.anova(values, ["k", "external", "rule"])) if blocks > 1 else [],
        "assumptions": anova.assumptions(values, results.order) if blocks > 2 else {},
        "who asked": {str(n): float(v) for n, v in zip(plans[0].k, results.exposed.mean(axis=0), strict=True)},
        "p_reid": results.p_reid.mean(axis=0).tolist(),
        "baseline": results.baseline.mean(axis=0).tolist(),
        "gcp": results.gcp.mean(axis=0).tolist(),
        "altered": results.altered.mean(axis=0).tolist(),
        "alpha": questions.alpha_table(results),
        "sensitivity": experiment.sensitivity(results, others) if others else [],
        "cases": {shape: experiment.altered_rows(*case.drawn(seed, shape), plans[0], seed) for shape in districts},
        "adult": study,
        "case": districts[0],
        "plan": {"blocks": blocks, "rows": size, "k": list(k), "external": list(external), "X": extra[0]},
    }
    drawn = [*sections(results, report), published, attacked, *sections_of(checked[: len(worked.statements(texts))])]
    html = page("Preferences over inferences, run again", INTRO, checked, drawn)
    files = write_report(NAME, out, html, plain_data(report))
    tell("done", 1.0)
    return {**report["summary"], **plain_data(report), "files": files}
