"""The full run of a policy and the verification of its release, as jobs."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from celosia.data.io.atomic import replace_file
from celosia.errors import GuardError
from celosia.parts.progress import Progress
from celosia.release.evidence.plain_data import plain
from celosia.release.output.sighting import Sighting
from celosia.release.run import run
from celosia.release.verify.verify import verify
from celosia.show.blocks import keep_outcomes
from celosia.studio.jobs import Job, Jobs
from celosia.studio.project import POLICY, Project

RUN = "celosia.studio.runs:run_policy"
Result = dict[str, object]
"""Return value of a job: JSON data."""
VERIFY = "celosia.studio.runs:verify_release"


def run_policy(project: Project, progress: Progress, version: str) -> Result:
    """Run the policy stored in the result folder of ``version`` and return a summary, or the findings of the guard."""
    place = project.results(version)
    policy = project.policy((place / POLICY).read_text("utf-8"))
    output = policy.output.model_copy(update={"path": place / policy.output.path.name})
    begun = time.monotonic()
    try:
        release = run(policy.model_copy(update={"output": output}), overwrite=True, progress=progress)
    except GuardError as refusal:
        return {"stopped": str(refusal), "guard": [_sighting_spec(each) for each in refusal.sightings]}
    return {
        "holds": release.holds and not release.is_empty,
        "empty": release.is_empty,
        "remaining": asdict(release.remaining),
        "unprotected": list(release.unprotected) if release.assessment.models else [],
        "keep": keep_outcomes(release),
        "rows": release.public.release.rows,
        "suppressed": release.public.release.suppressed,
        "seconds": time.monotonic() - begun,
        "files": {name: path.name for name, path in release.paths.items()},
        "guard": [entry.spec() for entry in release.public.guard],
    }


def verify_release(
    project: Project,
    progress: Progress,
    version: str,
    certificate: str,
    record: str,
    run: str,  # noqa: ARG001  (pages find the verification of a run by this argument)
) -> Result:
    """Verify the release of a run as a third party would, and recompute it from the original."""
    place = project.results(version)
    policy = project.policy((place / POLICY).read_text("utf-8"))
    progress("verify", 0.1)
    original = policy.input.path
    verification = verify(place / certificate, record=place / record, original=original)
    return {"verdict": verification.verdict, "checks": plain([check.spec() for check in verification.checks])}


def start_run(project: Project, jobs: Jobs) -> Job:
    """Start the full run of the current policy."""
    with project.lock():
        jobs.refuse_second("run_policy")
        text, version = project.text, project.version
        project.policy(text)
        place = project.results(version)
        place.mkdir(parents=True, exist_ok=True)
        with replace_file(place / POLICY, 0o600) as draft:
            draft.write_text(text, "utf-8")
        return jobs.start(RUN, version=version)


def file_of(project: Project, job: Job, name: str) -> Path | None:
    """Return a file of the release of a run: ``data``, ``certificate``, ``report`` …, or None if it is gone."""
    file = ((job.result or {}).get("files") or {}).get(name) if job.state == "done" else None
    place = None if file is None else project.resolve(f"results/{job.arguments['version']}/{file}")
    return place if place is not None and place.is_file() else None


def _sighting_spec(sighting: Sighting) -> Result:
    return {**sighting.entry().spec(), "stops": sighting.stops, "advice": sighting.advice}
