"""Routes of the consent page."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from celosia.errors import CelosiaError
from celosia.studio.pages.consent.console import STORE, Console
from celosia.studio.studio import Page, Studio

HERE = "/consent"


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    project, console = studio.project, Console(studio.project)

    def page(request: Request, link: str = "") -> Response:
        try:
            inferences, wrong = console.inferences(), ""
        except CelosiaError as problem:
            inferences, wrong = (), str(problem)
        file = console.catalogue.name if console.catalogue else ""
        return studio.show(request, "consent", inferences=inferences, file=file, store=STORE, link=link, wrong=wrong)

    @router.get("")
    def show(request: Request) -> Response:
        return page(request)

    @router.post("/begin")
    def begin() -> Response:
        console.create_catalogue(project.policy())
        return studio.redirect(HERE, "made")

    @router.post("/open")
    def start(request: Request) -> Response:
        database = project.policy().input.url if project.has_policy else None
        return page(request, console.open(database))


PAGE = Page("consent", 140, "workbench", routes)
