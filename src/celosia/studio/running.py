"""The full run of the policy as a job: the same as ``celosia run``, its files by the hash of the policy."""

from __future__ import annotations

import shutil
import time
from typing import Any

from celosia.parts.progress import Progress
from celosia.release.running import run
from celosia.studio.project import Project


def run_policy(project: Project, tell: Progress, version: str) -> dict[str, Any]:
    """Run the policy of that version; its text was laid beside where the results go."""
    place = project.results(version)
    text = (place / "policy.toml").read_text("utf-8")
    policy = project.policy(text)
    output = policy.output.model_copy(update={"path": place / policy.output.path.name})
    begun = time.monotonic()
    release = run(policy.model_copy(update={"output": output}), overwrite=True, progress=tell)
    return {
        "holds": release.holds,
        "rows": release.certificate["release"]["rows"],
        "suppressed": release.certificate["release"]["suppressed"],
        "seconds": time.monotonic() - begun,
        "files": {name: path.name for name, path in release.paths.items()},
    }


def prepared(project: Project) -> str:
    """Lay the policy beside where its results go; returns its version."""
    text, version = project.text, project.version
    project.policy(text)
    place = project.results(version)
    place.mkdir(parents=True, exist_ok=True)
    (place / "policy.toml").touch(mode=0o600)
    (place / "policy.toml").write_text(text, "utf-8")
    return version


def forget(project: Project, version: str) -> None:
    """Remove the results of a policy."""
    shutil.rmtree(project.inside(f"results/{version}"), ignore_errors=True)
