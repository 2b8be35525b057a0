"""The exploration of a project: a job that stores each trial and continues after an interruption."""

from __future__ import annotations

import json
from pathlib import Path

from celosia.data.io.atomic import replace_file
from celosia.frontier import Frontier, explore
from celosia.parts.progress import Progress
from celosia.studio import toml_edit
from celosia.studio.jobs import Job, Jobs
from celosia.studio.project import POLICY, Project, version_of

CALL = "celosia.studio.pages.compare.exploration:explore_policy"
SECTIONS = ("input", "schema", "explore")
"""Sections that an exploration depends on; other edits of the policy keep its results valid."""


def folder_of(project: Project, text: str | None = None) -> Path:
    """Return the folder of the exploration of a policy."""
    written = project.text if text is None else text
    return project.results(version_of(repr([toml_edit.get(written, (name,)) for name in SECTIONS])))


def start(project: Project, jobs: Jobs) -> Job:
    """Start the exploration of the current policy; stored trials are not measured again."""
    text = project.text
    project.policy(text)
    place = folder_of(project, text)
    place.mkdir(parents=True, exist_ok=True)
    (place / POLICY).touch(mode=0o600)
    (place / POLICY).write_text(text, "utf-8")
    return jobs.start(CALL, place=place.name)


def explore_policy(project: Project, progress: Progress, place: str) -> dict[str, int]:
    """Measure the candidates of the policy in a folder and store the frontier there."""
    folder = project.results(place)
    policy = project.policy((folder / POLICY).read_text("utf-8"))
    plan = policy.explore
    frontier = explore(
        policy.table(),
        plan.candidates,
        risk=plan.risk,
        loss=plan.loss,
        seeds=plan.seeds,
        seed=policy.run.seed,
        max_risk=plan.max_risk,
        max_loss=plan.max_loss,
        budget_seconds=plan.budget_seconds,
        workers=plan.workers,
        store=folder / "tried.jsonl",
        progress=progress,
    )
    with replace_file(folder / "exploration.json", 0o600) as draft:
        draft.write_text(json.dumps(frontier.record()), encoding="utf-8")
    return {"points": len(frontier.points), "failed": len(frontier.failed)}


def load_frontier(project: Project) -> Frontier | None:
    """Return the stored frontier of the policy, or None."""
    try:
        record = json.loads((folder_of(project) / "exploration.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    return Frontier.from_record(record)
