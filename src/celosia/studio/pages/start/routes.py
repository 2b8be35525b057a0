"""Routes of the start page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response, UploadFile

from celosia.errors import InputError
from celosia.studio import settings
from celosia.studio.pages.start import create
from celosia.studio.studio import Page, Studio, SubmittedForm, redirect_to_page


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    project = studio.project

    @router.get("/")
    def start(request: Request) -> Response:
        if not project.has_policy:
            return studio.show(request, "start")
        project.policy()  # raises if the policy is invalid
        return studio.show(
            request,
            "start",
            kept=settings.hidden_settings(project.text, studio.pages.values()),
            job=studio.jobs.latest("run_policy"),
        )

    @router.post("/begin/demonstration")
    def demonstration(request: Request) -> Response:
        create.from_demonstration(project)
        return redirect_to_page(request, "/data", "begun")

    @router.post("/begin/upload")
    def upload(request: Request, file: UploadFile) -> Response:
        if not file.filename:
            raise InputError("choose a file first.")
        create.from_upload(project, file.filename, file.file)
        return redirect_to_page(request, "/data", "begun")

    @router.post("/begin/query")
    def query(request: Request, sent: SubmittedForm) -> Response:
        create.from_query(project, sent.text("url", ""), sent.text("query", ""))
        return redirect_to_page(request, "/data", "begun")

    @router.post("/begin/policy")
    def policy(request: Request, sent: SubmittedForm) -> Response:
        create.from_policy(project, sent.text("text", ""))
        return redirect_to_page(request, "/data", "begun")


PAGE = Page("start", 0, "job", routes)
