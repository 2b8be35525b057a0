"""The routes of the page about the release."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import FileResponse

from celosia import files
from celosia.errors import InputError
from celosia.studio import editing, running, settings
from celosia.studio.jobs import Job
from celosia.studio.studio import Page, Sent, Studio

PRIVATE = {"record", "internal"}
"""Files that stay with their owner."""
PREVIEW = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "frame-ancestors 'self'; sandbox"
}
"""A report is shown in a frame of its own: its style is inside it, and nothing in it runs."""
SHOWS = (*settings.FORMS, "guard")


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    project = studio.project

    def latest() -> Job | None:
        return studio.jobs.latest("run_policy")

    @router.get("")
    def release(request: Request) -> Response:
        if not project.ready:
            return studio.show(request, "release", job=None)
        project.policy()  # one that cannot be read has a page of its own
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
        running.start_run(project, studio.jobs)
        return studio.back("/release")

    @router.post("/acknowledge")
    def acknowledge(sent: Sent) -> Response:
        reason = str(sent.get("reason", "")).strip()
        if not reason:
            raise InputError("say why the column may leave: the reason stands in the certificate.")
        studio.change(sent, lambda text: editing.put(text, ("guard", "acknowledge", sent["column"]), reason))
        return studio.back("/release", "acknowledged")

    @router.post("/take-back")
    def take_back(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.drop(text, ("guard", "acknowledge", sent["column"])))
        return studio.back("/release", "taken_back")

    @router.post("/leave-out")
    def leave_out(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.set_role(text, sent["column"], ""))
        return studio.back("/release", "left_out")

    @router.post("/settings")
    def change(sent: Sent) -> Response:
        studio.change(sent, lambda text: settings.saved(text, sent.get("section", ""), sent))
        return studio.back("/release", "saved")

    @router.post("/verify")
    def verify() -> Response:
        job = latest()
        if job is None or running.file_of(project, job, "certificate") is None:
            raise InputError("there is no release to verify: run the policy first.")
        files = job.result["files"]
        given = {"certificate": files["certificate"], "record": files["record"]}
        studio.jobs.start(running.VERIFY, version=job.arguments["version"], run=job.id, **given)
        return studio.back("/release")

    @router.get("/file/{name}")
    def file(name: str) -> Response:
        job = latest()
        place = None if job is None else running.file_of(project, job, name)
        if place is None:
            raise HTTPException(404)
        return FileResponse(place, filename=place.name)

    @router.get("/report/{name}")
    def report(name: str) -> Response:
        job = latest()
        place = None if job is None or name not in ("report", "internal") else running.file_of(project, job, name)
        if place is None:
            raise HTTPException(404)
        return FileResponse(place, media_type="text/html", headers=PREVIEW)


def _verification(studio: Studio, run: Job) -> Job | None:
    """Latest verification of the release of a run, whatever the policy is now."""
    verifications = (
        job for job in studio.jobs.all() if job.name == "verify_release" and job.arguments.get("run") == run.id
    )
    return next(verifications, None)


def _files(studio: Studio, job: Job | None) -> list[dict[str, Any]]:
    """The files of the release: what each is, how large, and whether it may leave."""
    if job is None or job.state != "done" or "files" not in (job.result or {}):
        return []
    listed = []
    for name, file in job.result["files"].items():
        place = running.file_of(studio.project, job, name)
        if place is not None:
            size = place.stat().st_size
            listed.append({"name": name, "file": file, "size": size, "private": name in PRIVATE})
    return listed


def _certificate(studio: Studio, job: Job | None) -> dict[str, Any] | None:
    place = None if job is None else running.file_of(studio.project, job, "certificate")
    return None if place is None else files.json_document(place.read_text("utf-8"))


PAGE = Page("release", 70, "job", routes, SHOWS)
