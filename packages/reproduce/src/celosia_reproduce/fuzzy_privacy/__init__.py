"""The experiment of Quirós (2013): microdata privacy with crisp and fuzzy partitions, run again and corrected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia_reproduce import write_report

if TYPE_CHECKING:
    from celosia_reproduce.fuzzy_privacy.experiment import Progress
    from celosia_reproduce.fuzzy_privacy.study import Pairs, Results, Study

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
    columns: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    k: int = 3,
    starts: int = STARTS,
    seed: int = 2013,
    pairs: Pairs | None = None,
) -> dict[str, Any]:
    """Run the experiment and write ``fuzzy-privacy.html`` and ``fuzzy-privacy.json`` into ``out``.

    On the census file as it is, every printed number is compared: ``pairs`` limits it to some pairs of attributes
    (1 … 13). On any other file, or with ``columns``, ``sensitive`` or ``k`` classes per attribute, all pairs of the
    numeric columns are coded and judged in the same way; nothing is printed of these. The page shows records: it is
    for those who may see the file.
    """
    from celosia_reproduce.fuzzy_privacy import study

    tell = progress or (lambda *_: None)
    path = Path(data)
    if not columns and not sensitive and k == 3 and study.is_census(path):
        return _printed(study.census(path, pairs), Path(out), tell, starts, seed)
    return _own(study.own(path, columns, sensitive, k), Path(out), tell, starts, seed)


def _run(chosen: Study, tell: Progress, starts: int, seed: int) -> tuple[dict[str, dict[str, Results]], list[Any]]:
    import numpy as np

    from celosia_reproduce.fuzzy_privacy import experiment
    from celosia_reproduce.fuzzy_privacy.plots import plots

    rng = np.random.default_rng(seed)
    results = {
        "independent": experiment.independent_block(chosen, rng, starts, tell),
        "joint": experiment.joint_block(chosen, rng, starts, tell),
    }
    tell("plots", 0.96)
    return results, plots(chosen, rng)


def _printed(chosen: Study, out: Path, tell: Progress, starts: int, seed: int) -> dict[str, Any]:
    """Run the study on the census file, at the default choice and at the choice nearest to print."""
    from celosia_reproduce.fuzzy_privacy import comparison
    from celosia_reproduce.fuzzy_privacy.page import INTRO, sections
    from celosia_reproduce.fuzzy_privacy.study import printed
    from celosia_reproduce.statements import page, summary

    computed, plots = _run(chosen, tell, starts, seed)
    assert chosen.printed is not None
    results = {block: {"printed": chosen.printed[block], **modes} for block, modes in computed.items()}
    numbers = {
        mode: [
            number
            for block, modes in results.items()
            for number in comparison.numbers(block, modes["printed"], modes[mode], modes["nearest"])
        ]
        for mode in ("default", "nearest")
    }
    summaries = {block: comparison.summary(block, modes) for block, modes in results.items()}
    summaries["duel"] = comparison.duel(results["joint"])
    artefacts = {
        block: comparison.artefact(modes["corrected"], comparison.METHODS[block]) for block, modes in results.items()
    }
    annex = {block: printed(block) for block in results}
    whole = all(set(modes["default"]) == set(annex[block]) for block, modes in results.items())
    checked = {
        mode: [
            *(number.statement for number in own),
            *(comparison.summary_statements({b: modes[mode] for b, modes in results.items()}) if whole else ()),
            *comparison.of_the_print(annex),
        ]
        for mode, own in numbers.items()
    }
    report = {
        **summary(NAME, checked["default"], checked["nearest"]),
        **_headline(numbers),
        "mean t of joint fuzzy c-means": artefacts["joint"]["fcm"]["largest"],
        "mean t of joint k-means": artefacts["joint"]["km"]["largest"],
        "summaries": summaries,
        "mean_t": artefacts,
        "differ at the choice nearest to print": [s.data() for s in checked["nearest"] if not s.agrees],
        "results": _keyed_by_text(results),
    }
    parts = sections(chosen, results, numbers, summaries, artefacts, plots)
    html = page("Fuzzy privacy: the experiment of 2013, run again", INTRO, checked["default"], parts)
    return _written(report, out, html, tell)


def _headline(numbers: dict[str, list[Any]]) -> dict[str, str]:
    """Count the matches with the annex: without choices, at the default choice, and nearest to print."""
    from celosia_reproduce.fuzzy_privacy.comparison import came_out

    def said(mode: str, chosen: bool | None) -> str:
        return "{} of {}".format(*came_out(numbers[mode], chosen=chosen))

    return {
        "annex, no random start": said("default", chosen=False),
        "annex, k-means, default choice": said("default", chosen=True),
        "annex, k-means, choice nearest to print": said("nearest", chosen=True),
        "annex, all, default choice": said("default", chosen=None),
        "annex, all, choice nearest to print": said("nearest", chosen=None),
    }


def _own(chosen: Study, out: Path, tell: Progress, starts: int, seed: int) -> dict[str, Any]:
    """Any other file: the criteria as they are defined."""
    from celosia_reproduce.fuzzy_privacy import comparison
    from celosia_reproduce.fuzzy_privacy.page import sections
    from celosia_reproduce.statements import page

    results, plots = _run(chosen, tell, starts, seed)
    summaries = {block: comparison.summary(block, modes) for block, modes in results.items()}
    secret = ", ".join(chosen.names[position - 1] for position in chosen.sensitive)
    report = {
        "experiment": NAME,
        "records": len(chosen.x),
        "columns": ", ".join(chosen.names[position - 1] for position in chosen.attributes),
        "sensitive": secret or "none",
        "classes per attribute (k)": chosen.classes,
        "pairs": len(chosen.pairs),
        "summaries": summaries,
        "results": _keyed_by_text(results),
    }
    intro = (
        f"{len(chosen.pairs)} pairs of {len(chosen.attributes)} columns, {len(chosen.x)} records, {chosen.classes} "
        f"classes per attribute; sensitive: {secret or 'no column, so l and t are left out'}. Criteria are as they are "
        "defined. The pictures show records: keep this page with those who may see the file."
    )
    parts = sections(chosen, results, {}, summaries, {}, plots)
    return _written(report, out, page("Crisp and fuzzy partitions of a file", intro, [], parts), tell)


def _keyed_by_text(results: dict[str, dict[str, Results]]) -> dict[str, Any]:
    return {
        block: {mode: {f"{a},{b}": row for (a, b), row in rows.items()} for mode, rows in modes.items()}
        for block, modes in results.items()
    }


def _written(report: dict[str, Any], out: Path, html: str, tell: Progress) -> dict[str, Any]:
    files = write_report(NAME, out, html, report)
    tell("done", 1.0)
    return {**{key: value for key, value in report.items() if key != "results"}, "files": files}
