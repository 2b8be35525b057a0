"""What every page of the studio is given: the project, its jobs, its samples, and how a page is drawn."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from celosia.errors import CelosiaError, InputError
from celosia.release.policy.policy import Policy
from celosia.show.formats import formats
from celosia.show.look import LANGUAGES, choose_language
from celosia.studio import forms
from celosia.studio.jobs import Jobs
from celosia.studio.preview import Samples
from celosia.studio.project import Project
from celosia.studio.wording import translated, words

if TYPE_CHECKING:
    import jinja2
    from fastapi import APIRouter

HOME = Path(str(resources.files("celosia.studio")))
THEMES = ("system", "light", "dark")


@dataclass(frozen=True)
class Page:
    """A page: a room in ``pages/`` that names itself here; the menu and the addresses follow."""

    name: str
    """The folder, and the address: ``/data``."""
    place: int
    """Where it stands in the menu."""
    group: Literal["job", "workbench"]
    """The way from data to release, or a bench beside it."""
    routes: Callable[[Studio, APIRouter], None]
    """Adds its routes; the router's addresses start at ``/name``."""
    shows: tuple[str, ...] = ()
    """The settings of a policy that it shows, ``"schema.quasi"`` or ``"step"``: all others are listed as kept as is."""

    @property
    def address(self) -> str:
        """Where it is."""
        return "/" if self.name == "start" else f"/{self.name}"


class Studio:
    """One project in a browser."""

    def __init__(self, project: Project, pages: Mapping[str, Page]) -> None:
        self.project, self.pages = project, pages
        self.jobs, self.samples = Jobs(project), Samples(project)

    def show(self, request: Request, page: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """A page: its template ``page.html.j2``, which extends ``frame.html.j2``."""
        return self.draw(request, page, "page.html.j2", status=status, **values)

    def draw(
        self, request: Request, page: str, template: str, *, status: int = 200, headers: Any = None, **values: Any
    ) -> HTMLResponse:
        """A template of a page, or of all pages where ``page`` is empty: a whole page, or a piece of one for htmx."""
        language = language_of(request)
        say = formats(language)
        given = {
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
            "num": say.num,
            "share": lambda value: say.share(value).replace(" ", "\N{NO-BREAK SPACE}"),
            "moment": say.moment,
            "duration": say.duration,
            "plural": say.plural,
            "translated": functools.partial(translated, language),
            "said": request.query_params.get("said", ""),
            "problem": "",
            "broken": (broken := self.broken),
            "policy": None if broken or not self.project.ready else self.project.policy(),
        }
        name = f"{page}/{template}" if page else template
        return HTMLResponse(templates().get_template(name).render(**{**given, **values}), status, headers=headers)

    @property
    def broken(self) -> str:
        """Why the policy cannot be read; empty where it can, or where there is none."""
        try:
            if self.project.ready:
                self.project.policy()
        except CelosiaError as problem:
            return str(problem)
        return ""

    def change(self, sent: Mapping[str, Any], edit: Callable[[str], str]) -> Policy:
        """Edit the policy; ``sent`` is the form, whose hidden ``version`` says which policy it was made for."""
        return self.project.change(edit, str(sent.get("version", "")))

    def back(self, address: str, said: str = "") -> Response:
        """To a page after something was done; ``said`` is the key of a sentence in ``[said]`` of the words."""
        return RedirectResponse(f"{address}?said={said}" if said else address, 303)


def onwards(request: Request, address: str, said: str) -> Response:
    """To another page after something was done: a whole load, since that page has scripts and styles of its own."""
    there = f"{address}?said={said}"
    return Response(headers={"HX-Redirect": there}) if "hx-request" in request.headers else RedirectResponse(there, 303)


def language_of(request: Request) -> str:
    """The language of a visitor."""
    return choose_language(None, request.cookies.get("lang"), request.headers.get("accept-language", ""))


def theme_of(request: Request) -> str:
    """Light, dark, or as the system has it."""
    asked = request.cookies.get("theme", "")
    return asked if asked in THEMES else "system"


async def _sent(request: Request) -> dict[str, Any]:
    fields = (await request.form()).multi_items()
    if any("\0" in value for _, value in fields if isinstance(value, str)):
        raise InputError("the form holds a null character. Leave it out.")
    return forms.sent(fields)


Sent = Annotated[dict[str, Any], Depends(_sent)]
"""What a form sent, by name; a name that ends in ``[]`` gives a list."""


@functools.cache
def templates() -> jinja2.Environment:
    """The templates: ``frame.html.j2`` and what pages share, and ``<page>/….html.j2``."""
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
    """A name for the present assets: browsers keep them until it changes."""
    from celosia.show.look import tokens

    hashed = hashlib.sha256(tokens().encode())
    for file in sorted(
        [*(HOME / "assets").iterdir(), *(HOME / "pages").glob("*/*.js"), *(HOME / "pages").glob("*/*.css")]
    ):
        hashed.update(file.read_bytes())
    return hashed.hexdigest()[:12]


def asset(path: str) -> str:
    """The address of a script or a style sheet: of ``assets/``, or ``pages/<name>/<file>``."""
    return f"/assets/{digest()}/{path}"
