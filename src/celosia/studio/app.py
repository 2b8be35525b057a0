"""The studio as an application: what all pages share, and the pages that there are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from celosia.errors import CelosiaError, InputError
from celosia.show.look import LANGUAGES, tokens
from celosia.studio.elsewhere import elsewhere
from celosia.studio.pages import pages
from celosia.studio.project import Changed, Project
from celosia.studio.security import HOST, Gate
from celosia.studio.studio import HOME, THEMES, Sent, Studio, language_of
from celosia.studio.wording import translated, words
from celosia.web.serving import address_of, listening

FOREVER = "private, max-age=31536000, immutable"


def create(project: Project, port: int) -> Any:
    """Make the application behind its gate."""
    studio = Studio(project, pages())
    app = FastAPI(title="Celosia studio", docs_url=None, redoc_url=None, openapi_url=None)
    _refusals(app, studio)
    _shared(app, studio)
    for page in studio.pages.values():
        router = APIRouter(prefix="" if page.name == "start" else page.address)
        page.routes(studio, router)
        app.include_router(router)
    return Gate(app, token=project.token(), port=port)


def serve(folder: str | Path, port: int, announce: Callable[[str], None]) -> None:
    """Serve a project on the loopback address until it is stopped; ``announce`` is told the link once it answers."""
    import uvicorn

    project = Project(folder)
    with listening(HOST, port) as opened:
        app = create(project, opened.getsockname()[1])
        announce(f"{address_of(opened)}/?token={project.token()}")
        settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(settings).run(sockets=[opened])


def _refusals(app: FastAPI, studio: Studio) -> None:
    """Errors are sentences: in the page where htmx asked, else on a page of their own."""

    def refusal(request: Request, sentence: str, status: int) -> Response:
        if "hx-request" in request.headers:
            place = {
                "HX-Retarget": "#problem",
                "HX-Reswap": "innerHTML",
                "HX-Reselect": "#refusal",
                "HX-Push-Url": "false",
            }
            return studio.draw(request, "", "refusal.html.j2", headers=place, problem=sentence)
        return studio.draw(request, "", "refused.html.j2", status=status, problem=sentence)

    @app.exception_handler(CelosiaError)
    async def refused(request: Request, problem: CelosiaError) -> Response:
        changed = isinstance(problem, Changed)
        language = language_of(request)
        sentence = words(language)["changed"] if changed else translated(language, str(problem))
        return refusal(request, sentence, 409 if changed else 422)

    @app.exception_handler(HTTPException)
    async def missing(request: Request, problem: HTTPException) -> Response:
        w = words(language_of(request))
        return refusal(
            request, w["not_found"] if problem.status_code == 404 else str(problem.detail), problem.status_code
        )

    @app.exception_handler(RequestValidationError)
    async def malformed(request: Request, _: RequestValidationError) -> Response:
        return refusal(request, words(language_of(request))["malformed"], 422)

    @app.exception_handler(Exception)
    async def internal(request: Request, problem: Exception) -> Response:
        return refusal(request, words(language_of(request))["internal"].format(kind=type(problem).__name__), 500)


def _shared(app: FastAPI, studio: Studio) -> None:
    project = studio.project

    @app.get("/assets/{digest}/{path:path}")
    def assets(digest: str, path: str) -> Response:  # noqa: ARG001
        if path == "studio.css":
            sheet = tokens() + (HOME / "assets" / path).read_text("utf-8")
            return PlainTextResponse(sheet, media_type="text/css", headers={"Cache-Control": FOREVER})
        base = HOME if path.startswith("pages/") else HOME / "assets"
        file = (base / path).resolve()
        if not file.is_relative_to(base) or Path(path).suffix not in (".js", ".css", ".svg") or not file.is_file():
            raise HTTPException(404)
        return FileResponse(file, headers={"Cache-Control": FOREVER})

    @app.post("/undo")
    def undo(sent: Sent) -> Response:
        project.undo(str(sent.get("version", "")))
        return studio.back(_address(studio, sent), "undone")

    @app.post("/redo")
    def redo(sent: Sent) -> Response:
        project.redo(str(sent.get("version", "")))
        return studio.back(_address(studio, sent), "redone")

    @app.post("/look")
    def look(sent: Sent) -> Response:
        answer = studio.back(_address(studio, sent))
        for name, offered in (("lang", LANGUAGES), ("theme", THEMES)):
            if sent.get(name) in offered:
                answer.set_cookie(name, sent[name], samesite="strict", httponly=True, max_age=365 * 86400)
        return answer

    @app.get("/show")
    def show(request: Request) -> Response:
        return studio.draw(request, "", "show.html.j2", ways=elsewhere(project))

    @app.post("/show")
    def save(sent: Sent) -> Response:
        studio.change(sent, lambda _: str(sent.get("text", "")).replace("\r\n", "\n"))
        return studio.back("/show", "saved")

    @app.get("/jobs/{name}")
    def job(request: Request, name: str, after: str = "/") -> Response:
        running = studio.jobs.find(name)
        where = after if after in {page.address for page in studio.pages.values()} else "/"
        # when it ends, the page that waits for it is loaded again: it shows the result
        headers = {"X-Then": where} if running.over else None
        return studio.draw(request, "", "job.html.j2", headers=headers, job=running, after=where)

    @app.post("/jobs/{name}/cancel")
    def cancel(name: str, sent: Sent) -> Response:
        studio.jobs.cancel(name)
        return studio.back(_address(studio, sent), "cancelled")


def _address(studio: Studio, sent: dict[str, Any]) -> str:
    """The page that a form stands on; another address is not followed."""
    wanted = str(sent.get("here", "/"))
    if wanted not in {"/show", *(page.address for page in studio.pages.values())}:
        raise InputError("there is no such page.")
    return wanted
