"""The routes of the first page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response, UploadFile

from celosia.errors import InputError
from celosia.studio import settings
from celosia.studio.pages.start import beginning
from celosia.studio.studio import Page, Sent, Studio, onwards


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    project = studio.project

    @router.get("/")
    def start(request: Request) -> Response:
        if not project.ready:
            return studio.show(request, "start")
        project.policy()  # one that cannot be read has a page of its own
        return studio.show(
            request,
            "start",
            kept=settings.kept_as_is(project.text, studio.pages.values()),
            job=studio.jobs.latest("run_policy"),
        )

    @router.post("/begin/demonstration")
    def demonstration(request: Request) -> Response:
        beginning.from_demonstration(project)
        return onwards(request, "/data", "begun")

    @router.post("/begin/upload")
    def upload(request: Request, file: UploadFile) -> Response:
        if not file.filename:
            raise InputError("choose a file first.")
        beginning.from_upload(project, file.filename, file.file)
        return onwards(request, "/data", "begun")

    @router.post("/begin/query")
    def query(request: Request, sent: Sent) -> Response:
        beginning.from_query(project, sent.get("url", ""), sent.get("query", ""))
        return onwards(request, "/data", "begun")

    @router.post("/begin/policy")
    def policy(request: Request, sent: Sent) -> Response:
        beginning.from_policy(project, sent.get("text", ""))
        return onwards(request, "/data", "begun")


PAGE = Page("start", 0, "job", routes)
