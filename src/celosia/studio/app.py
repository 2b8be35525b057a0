"""The FastAPI application of the studio: shared routes, error pages, and the routes of every page."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TypedDict

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from celosia.data.io.atomic import replace_file
from celosia.errors import CelosiaError, InputError
from celosia.show.look import LANGUAGES, tokens
from celosia.studio.pages import pages
from celosia.studio.project import POLICY, PolicyChanged, Project
from celosia.studio.security import Gate, redirect_page
from celosia.studio.studio import HOME, THEMES, Studio, SubmittedForm, language_of
from celosia.studio.translations import translate, words
from celosia.web.sockets import loopback

ENTRY, LOOK_FILE = "open.html", "look.json"
LOOK = {"lang": LANGUAGES, "theme": THEMES}
FOREVER = "private, max-age=31536000, immutable"


def create(project: Project, port: int) -> Gate:
    """Return the application of a project behind its gate."""
    studio = Studio(project, pages())
    app = FastAPI(title="Celosia studio", docs_url=None, redoc_url=None, openapi_url=None)
    _add_error_handlers(app, studio)
    _add_shared_routes(app, studio)
    for page in studio.pages.values():
        router = APIRouter(prefix="" if page.name == "start" else page.address)
        page.routes(studio, router)
        app.include_router(router)
    return Gate(app, port=port, look=lambda: _stored_look(project))


def serve(
    folder: str | Path, port: int, announce: Callable[[Callable[[], str], Path], None], servers: bool = False
) -> None:
    """Serve a project on the loopback addresses until it is stopped; ``servers`` allows its policy database servers.

    ``announce`` receives a function that returns a new one-time link, and a file of mode 0600 that leads to such a
    link: a browser is started with the path of that file, because every account of the machine can read the arguments
    of a process.
    """
    import uvicorn

    project = Project(folder, servers)
    with ExitStack() as stack:
        opened = [stack.enter_context(each) for each in loopback(port)]
        app, page = create(project, opened[0].getsockname()[1]), project.state_folder / ENTRY

        def link() -> str:
            address = app.link()
            with replace_file(page, 0o600) as draft:
                draft.write_text(redirect_page(address), "utf-8")
            return address

        stack.callback(page.unlink, missing_ok=True)
        announce(link, page)
        settings = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False)
        uvicorn.Server(settings).run(sockets=opened)


def _add_error_handlers(app: FastAPI, studio: Studio) -> None:
    """Show errors as sentences: inside the page for a request of htmx, otherwise on a page of their own."""

    def refusal(request: Request, sentence: str, status: int) -> Response:
        if (
            status != 404 and request.method == "GET" and studio.broken
        ):  # the frame shows the reason and how to restore the policy
            sentence, status = "", 422
        if "hx-request" in request.headers:
            place = {
                "HX-Retarget": "#problem",
                "HX-Reswap": "innerHTML",
                "HX-Reselect": "#refusal",
                "HX-Push-Url": "false",
            }
            return studio.draw(request, "", "refusal.html.j2", headers=place, problem=sentence or studio.broken)
        return studio.draw(request, "", "refused.html.j2", status=status, problem=sentence)

    @app.exception_handler(CelosiaError)
    async def show_refusal(request: Request, problem: CelosiaError) -> Response:
        changed = isinstance(problem, PolicyChanged)
        language = language_of(request)
        sentence = words(language)["changed"] if changed else translate(language, problem.message)
        return refusal(request, sentence, 409 if changed else 422)

    @app.exception_handler(HTTPException)
    async def show_http_error(request: Request, problem: HTTPException) -> Response:
        w = words(language_of(request))
        return refusal(
            request, w["not_found"] if problem.status_code == 404 else str(problem.detail), problem.status_code
        )

    @app.exception_handler(RequestValidationError)
    async def show_malformed(request: Request, _: RequestValidationError) -> Response:
        return refusal(request, words(language_of(request))["malformed"], 422)

    @app.exception_handler(Exception)
    async def show_internal_error(request: Request, problem: Exception) -> Response:
        return refusal(request, words(language_of(request))["internal"].format(kind=type(problem).__name__), 500)


def _add_shared_routes(app: FastAPI, studio: Studio) -> None:
    project = studio.project

    @app.get("/assets/{digest}/{path:path}")
    def assets(digest: str, path: str) -> Response:  # noqa: ARG001
        if path == "studio.css":
            sheet = tokens() + (HOME / "assets" / path).read_text("utf-8")
            return PlainTextResponse(sheet, media_type="text/css", headers={"Cache-Control": FOREVER})
        if len(path) > 200 or not path.isprintable():
            raise HTTPException(404)
        base = HOME if path.startswith("pages/") else HOME / "assets"
        file = (base / path).resolve()
        if not file.is_relative_to(base) or Path(path).suffix not in (".js", ".css", ".svg") or not file.is_file():
            raise HTTPException(404)
        return FileResponse(file, headers={"Cache-Control": FOREVER})

    @app.post("/undo")
    def undo(sent: SubmittedForm) -> Response:
        project.undo(sent.text("version", ""))
        return studio.redirect(_page_address(studio, sent), "undone")

    @app.post("/redo")
    def redo(sent: SubmittedForm) -> Response:
        project.redo(sent.text("version", ""))
        return studio.redirect(_page_address(studio, sent), "redone")

    @app.post("/restore")
    def restore(sent: SubmittedForm) -> Response:
        if not project.last_valid:
            raise InputError("there is no earlier policy to restore: edit the text.")
        studio.change(sent, lambda _: project.last_valid)
        return studio.redirect("/", "restored")

    @app.post("/look")
    def look(sent: SubmittedForm) -> Response:
        answer = studio.redirect(_page_address(studio, sent))
        chosen = {name: sent.text(name) for name, offered in LOOK.items() if sent.get(name) in offered}
        for name, value in chosen.items():
            answer.set_cookie(name, value, samesite="strict", httponly=True)
        with replace_file(
            project.state_folder / LOOK_FILE, 0o600
        ) as draft:  # the cookies belong to the host of this run
            draft.write_text(json.dumps(_stored_look(project) | chosen), "utf-8")
        return answer

    @app.get("/show")
    def show(request: Request) -> Response:
        return studio.draw(request, "", "show.html.j2", **_snippets(project))

    @app.post("/show")
    def save(sent: SubmittedForm) -> Response:
        studio.change(sent, lambda _: sent.text("text", "").replace("\r\n", "\n"))
        return studio.redirect("/show", "saved")

    @app.get("/jobs/{name}")
    def show_job(request: Request, name: str, after: str = "/") -> Response:
        job = studio.jobs.find(name)
        where = after if after in {page.address for page in studio.pages.values()} else "/"
        # when the job ends, studio.js loads this address, whose page shows the result
        headers = {"X-Then": where} if job.finished else None
        return studio.draw(request, "", "job.html.j2", headers=headers, job=job, after=where)

    @app.post("/jobs/{name}/cancel")
    def cancel(name: str, sent: SubmittedForm) -> Response:
        studio.jobs.cancel(name)
        return studio.redirect(_page_address(studio, sent), "cancelled")


class Snippets(TypedDict):
    """Ways to run the policy without the studio."""

    file: str
    python: str
    command: str


def _snippets(project: Project) -> Snippets:
    """Return the policy, and how to run it in Python and on the command line."""
    place = project.folder / POLICY
    python = f"import celosia\n\nrelease = celosia.run({str(place)!r})\nprint(release.holds)\n"
    return {"file": project.text, "python": python, "command": f"celosia run {shlex.quote(str(place))}"}


def _page_address(studio: Studio, sent: SubmittedForm) -> str:
    """Return the address of the page that sent a form; other addresses are refused (no open redirect)."""
    wanted = sent.text("here", "/")
    if wanted not in {"/show", *(page.address for page in studio.pages.values())}:
        raise InputError("there is no such page.")
    return wanted


def _stored_look(project: Project) -> dict[str, str]:
    """Return the language and theme chosen in an earlier run, without invalid values."""
    try:
        stored = json.loads((project.state_folder / LOOK_FILE).read_text("utf-8"))
        return {name: stored[name] for name, offered in LOOK.items() if stored.get(name) in offered}
    except (OSError, ValueError, AttributeError, TypeError):  # missing or damaged
        return {}
