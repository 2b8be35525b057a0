"""The objects shared by all pages: ``Studio`` (project, jobs, samples, rendering) and ``Page``."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from celosia.errors import CelosiaError, InputError
from celosia.release.policy.policy import Policy
from celosia.show.formats import formats
from celosia.show.look import LANGUAGES, choose_language
from celosia.studio import forms
from celosia.studio.jobs import Jobs
from celosia.studio.project import Project
from celosia.studio.samples import Samples
from celosia.studio.translations import translate, words

if TYPE_CHECKING:
    import jinja2
    from fastapi import APIRouter

HOME = Path(str(resources.files("celosia.studio")))
THEMES = ("system", "light", "dark")


@dataclass(frozen=True)
class Page:
    """Declaration of a page in ``pages/``; menu and addresses derive from it."""

    name: str
    """Folder and address: ``data`` is served at ``/data``."""
    place: int
    """Order in the menu."""
    group: Literal["job", "workbench"]
    """Step of the job from data to release, or independent workbench."""
    routes: Callable[[Studio, APIRouter], None]
    """Adds its routes; the router's addresses start at ``/name``."""
    shows: tuple[str, ...] = ()
    """Settings of the policy edited on the page, such as ``"schema.quasi"``; the first page lists all others."""

    @property
    def address(self) -> str:
        """URL path of the page."""
        return "/" if self.name == "start" else f"/{self.name}"


class Studio:
    """One project, served to a browser."""

    def __init__(self, project: Project, pages: Mapping[str, Page]) -> None:
        self.project, self.pages = project, pages
        self.jobs, self.samples = Jobs(project), Samples(project)

    def show(self, request: Request, page: str, *, status: int = 200, **values: object) -> HTMLResponse:
        """Render the template ``page.html.j2`` of a page."""
        return self.draw(request, page, "page.html.j2", status=status, headers=None, **values)

    def draw(
        self,
        request: Request,
        page: str,
        template: str,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        **values: object,
    ) -> HTMLResponse:
        """Render a template of a page (a shared one if ``page`` is empty): a whole page, or a fragment for htmx."""
        language = language_of(request)
        form = formats(language)
        shared = {
            "studio": self,
            "project": self.project,
            "version": self.project.version,
            "pages": self.pages,
            "titles": {name: words(language, name)["name"] for name in self.pages},
            "here": self.pages.get(page),
            "code": language,
            "languages": LANGUAGES,
            "theme": theme_of(request),
            "w": words(language),
            "p": words(language, page) if page else {},
            "num": form.num,
            "share": lambda value: form.share(value).replace(" ", "\N{NO-BREAK SPACE}"),
            "moment": form.moment,
            "duration": form.duration,
            "plural": form.plural,
            "translate": functools.partial(translate, language),
            "said": request.query_params.get("said", ""),
            "problem": "",
            "broken": (broken := self.broken),
            "policy": None if broken or not self.project.has_policy else self.project.policy(),
        }
        name = f"{page}/{template}" if page else template
        return HTMLResponse(templates().get_template(name).render(**{**shared, **values}), status, headers=headers)

    @property
    def broken(self) -> str:
        """Error message of an invalid policy; empty if it is valid or missing."""
        try:
            if self.project.has_policy:
                self.project.policy()
        except CelosiaError as problem:
            return str(problem)
        return ""

    def change(self, sent: forms.Submitted, edit: Callable[[str], str]) -> Policy:
        """Edit the policy; the hidden field ``version`` of the form guards against concurrent edits."""
        return self.project.change(edit, str(sent.get("version", "")))

    def redirect(self, address: str, said: str = "") -> Response:
        """Redirect to a page after a change and show a message there, by its key in ``words/*.toml``."""
        return RedirectResponse(f"{address}?said={said}" if said else address, 303)


def redirect_to_page(request: Request, address: str, said: str) -> Response:
    """Redirect to another page by a full load, because its scripts and styles differ."""
    target = f"{address}?said={said}"
    return (
        Response(headers={"HX-Redirect": target}) if "hx-request" in request.headers else RedirectResponse(target, 303)
    )


def language_of(request: Request) -> str:
    """Return the language of a request: cookie, then browser preference."""
    return choose_language(None, request.cookies.get("lang"), request.headers.get("accept-language", ""))


def theme_of(request: Request) -> str:
    """Return the theme of a request: light, dark or system."""
    chosen = request.cookies.get("theme", "")
    return chosen if chosen in THEMES else "system"


async def _read_form(request: Request) -> forms.FormData:
    fields = (await request.form()).multi_items()
    if any("\0" in value for _, value in fields if isinstance(value, str)):
        raise InputError("the form holds a null character. Leave it out.")
    return forms.FormData.of(fields)


SubmittedForm = Annotated[forms.FormData, Depends(_read_form)]
"""Fields of a submitted form by name; a name that ends in ``[]`` gives a list."""


@functools.cache
def templates() -> jinja2.Environment:
    """Return the Jinja environment of the shared templates and those of the pages."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([HOME / "templates", HOME / "pages"]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals["asset"] = asset
    environment.globals["has"] = lambda page, file: (HOME / "pages" / page / file).is_file()
    return environment


@functools.cache
def digest() -> str:
    """Return a hash of all assets, part of their address so that browsers can cache them."""
    from celosia.show.look import tokens

    hashed = hashlib.sha256(tokens().encode())
    for file in sorted(
        [*(HOME / "assets").iterdir(), *(HOME / "pages").glob("*/*.js"), *(HOME / "pages").glob("*/*.css")]
    ):
        hashed.update(file.read_bytes())
    return hashed.hexdigest()[:12]


def asset(path: str) -> str:
    """Return the address of a script or style sheet in ``assets/`` or ``pages/<name>/``."""
    return f"/assets/{digest()}/{path}"
