"""Routes of the release page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from celosia import files
from celosia.errors import InputError
from celosia.studio import runs, settings, toml_edit
from celosia.studio.jobs import Job
from celosia.studio.studio import Page, Studio, SubmittedForm

PRIVATE = {"record", "internal"}
"""Files that must not be published."""
PREVIEW = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; sandbox"
}
"""Headers of a report in a frame: inline styles are allowed, scripts are not."""
SHOWS = (*settings.FORMS, "guard")


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    project = studio.project

    def latest() -> Job | None:
        return studio.jobs.latest("run_policy")

    @router.get("")
    def release(request: Request) -> Response:
        if not project.has_policy:
            return studio.show(request, "release", job=None)
        project.policy()  # raises if the policy is invalid
        job = latest()
        return studio.show(
            request,
            "release",
            job=job,
            now=project.version,
            files=_files(studio, job),
            certificate=_certificate(studio, job),
            verified=None if job is None else _verification(studio, job),
            sections={name: settings.fields(project.text, name) for name in settings.SECTIONS},
        )

    @router.post("/run")
    def run() -> Response:
        runs.start_run(project, studio.jobs)
        return studio.redirect("/release")

    @router.post("/acknowledge")
    def acknowledge(sent: SubmittedForm) -> Response:
        reason = sent.text("reason", "").strip()
        if not reason:
            raise InputError("give the reason for releasing the column: it is published in the certificate.")
        studio.change(
            sent, lambda text: toml_edit.set_value(text, ("guard", "acknowledge", sent.text("column")), reason)
        )
        return studio.redirect("/release", "acknowledged")

    @router.post("/take-back")
    def revoke(sent: SubmittedForm) -> Response:
        studio.change(sent, lambda text: toml_edit.drop(text, ("guard", "acknowledge", sent.text("column"))))
        return studio.redirect("/release", "taken_back")

    @router.post("/leave-out")
    def leave_out(sent: SubmittedForm) -> Response:
        studio.change(sent, lambda text: toml_edit.set_role(text, sent.text("column"), ""))
        return studio.redirect("/release", "left_out")

    @router.post("/settings")
    def change(sent: SubmittedForm) -> Response:
        studio.change(sent, lambda text: settings.save_section(text, sent.text("section", ""), sent))
        return studio.redirect("/release", "saved")

    @router.post("/verify")
    def verify() -> Response:
        job = latest()
        if job is None or runs.file_of(project, job, "certificate") is None:
            raise InputError("there is no release to verify: run the policy first.")
        files = job.result["files"]
        studio.jobs.start(
            runs.VERIFY,
            version=job.arguments["version"],
            run=job.id,
            certificate=files["certificate"],
            record=files["record"],
        )
        return studio.redirect("/release")

    @router.get("/file/{name}")
    def file(name: str) -> Response:
        job = latest()
        place = None if job is None else runs.file_of(project, job, name)
        if place is None:
            raise HTTPException(404)
        return FileResponse(place, filename=place.name)

    @router.get("/report/{name}")
    def report(name: str) -> Response:
        job = latest()
        place = None if job is None or name not in ("report", "internal") else runs.file_of(project, job, name)
        if place is None:
            raise HTTPException(404)
        return FileResponse(place, media_type="text/html", headers=PREVIEW)


def _verification(studio: Studio, run: Job) -> Job | None:
    """Return the latest verification of the release of a run, also if the policy has changed since."""
    verifications = (
        job for job in studio.jobs.all() if job.name == "verify_release" and job.arguments.get("run") == run.id
    )
    return next(verifications, None)


class ReleaseFile(TypedDict):
    """A file of a release; ``private`` files must not be published."""

    name: str
    file: str
    size: int
    private: bool


def _files(studio: Studio, job: Job | None) -> list[ReleaseFile]:
    """Return the files of a release that exist."""
    if job is None or job.state != "done" or "files" not in (job.result or {}):
        return []
    listed: list[ReleaseFile] = []
    for name, file in job.result["files"].items():
        place = runs.file_of(studio.project, job, name)
        if place is not None:
            size = place.stat().st_size
            listed.append({"name": name, "file": file, "size": size, "private": name in PRIVATE})
    return listed


def _certificate(studio: Studio, job: Job | None) -> Mapping[str, Any] | None:
    place = None if job is None else runs.file_of(studio.project, job, "certificate")
    return None if place is None else files.json_document(place.read_text("utf-8"))


PAGE = Page("release", 70, "job", routes, SHOWS)
