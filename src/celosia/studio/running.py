"""The full run of the policy and the check of its release, as jobs; the files lie by the hash of the policy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from celosia.data.io.atomic import replaced
from celosia.errors import GuardError
from celosia.parts.progress import Progress
from celosia.release.evidence.evidence import plain
from celosia.release.leaving.guard import Sighting
from celosia.release.running import run
from celosia.release.verifying.verifying import verify
from celosia.studio.jobs import Job, Jobs
from celosia.studio.project import POLICY, Project

RUN = "celosia.studio.running:run_policy"
VERIFY = "celosia.studio.running:verify_release"


def run_policy(project: Project, tell: Progress, version: str) -> dict[str, Any]:
    """Run the policy of that version; its text was laid where the results go. The guard may stop it."""
    place = project.results(version)
    policy = project.policy((place / POLICY).read_text("utf-8"))
    output = policy.output.model_copy(update={"path": place / policy.output.path.name})
    begun = time.monotonic()
    try:
        release = run(policy.model_copy(update={"output": output}), overwrite=True, progress=tell)
    except GuardError as refusal:
        return {"stopped": str(refusal), "guard": [_sighting(each) for each in refusal.sightings]}
    return {
        "holds": release.holds,
        "rows": release.certificate["release"]["rows"],
        "suppressed": release.certificate["release"]["suppressed"],
        "seconds": time.monotonic() - begun,
        "files": {name: path.name for name, path in release.paths.items()},
        "guard": release.certificate["guard"],
    }


def verify_release(
    project: Project,
    tell: Progress,
    version: str,
    certificate: str,
    record: str,
    run: str,  # noqa: ARG001  (which run it verifies is read from the arguments of the job)
) -> dict[str, Any]:
    """Check the release of a run as a third party would, and repeat it from the original."""
    place = project.results(version)
    policy = project.policy((place / POLICY).read_text("utf-8"))
    tell("verify", 0.1)
    original = policy.input.path
    verification = verify(place / certificate, record=place / record, original=original)
    return {"verdict": verification.verdict, "checks": plain([check.spec() for check in verification.checks])}


def start_run(project: Project, jobs: Jobs) -> Job:
    """Start the full run of the policy as it is now."""
    with project.alone():
        jobs.refuse_second("run_policy")
        text, version = project.text, project.version
        project.policy(text)
        place = project.results(version)
        place.mkdir(parents=True, exist_ok=True)
        with replaced(place / POLICY, 0o600) as draft:
            draft.write_text(text, "utf-8")
        return jobs.start(RUN, version=version)


def file_of(project: Project, job: Job, name: str) -> Path | None:
    """A file of the release that a run made, by what it is: ``data``, ``certificate``, ``report``; none where gone."""
    file = ((job.result or {}).get("files") or {}).get(name) if job.state == "done" else None
    place = None if file is None else project.inside(f"results/{job.arguments['version']}/{file}")
    return place if place is not None and place.is_file() else None


def _sighting(seen: Sighting) -> dict[str, Any]:
    return {**seen.spec(), "stops": seen.stops, "advice": seen.advice}
