"""The exploration of a project: started as a job, kept by what it depends on, continued where it stopped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from celosia.data.io.atomic import replaced
from celosia.frontier import Frontier, explore
from celosia.parts.progress import Progress
from celosia.studio import editing
from celosia.studio.jobs import Job, Jobs
from celosia.studio.project import POLICY, Project, version_of

CALL = "celosia.studio.pages.compare.exploration:explore_policy"
SECTIONS = ("input", "schema", "explore")
"""What an exploration depends on; a step that is applied afterwards leaves its results as they are."""


def place_of(project: Project, text: str | None = None) -> Path:
    """The folder of the exploration of a policy."""
    written = project.text if text is None else text
    return project.results(version_of(repr([editing.get(written, (name,)) for name in SECTIONS])))


def start(project: Project, jobs: Jobs) -> Job:
    """Start the exploration of the policy as it is now; what was measured before is not measured again."""
    text = project.text
    project.policy(text)
    place = place_of(project, text)
    place.mkdir(parents=True, exist_ok=True)
    (place / POLICY).touch(mode=0o600)
    (place / POLICY).write_text(text, "utf-8")
    return jobs.start(CALL, place=place.name)


def explore_policy(project: Project, tell: Progress, place: str) -> dict[str, Any]:
    """Try the candidates of the policy that was laid there, and write down what they gave."""
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
        progress=tell,
    )
    with replaced(folder / "exploration.json", 0o600) as draft:
        draft.write_text(json.dumps(frontier.record()), encoding="utf-8")
    return {"points": len(frontier.points), "failed": len(frontier.failed)}


def explored(project: Project) -> Frontier | None:
    """What the exploration of the policy gave; None where there was none."""
    try:
        record = json.loads((place_of(project) / "exploration.json").read_text("utf-8"))
    except FileNotFoundError:
        return None
    return Frontier.restored(record)
