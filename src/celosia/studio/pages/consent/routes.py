"""Routes of the consent page."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from celosia.consent.commands import WAITING, init, link, site
from celosia.consent.owners.store import Preferences
from celosia.consent.owners.tables import tables
from celosia.consent.rules.exchange import load
from celosia.consent.rules.rules import Catalogue, Inference, Rule, write_toml
from celosia.data.io.atomic import replace_file
from celosia.errors import CelosiaError, InputError
from celosia.studio.studio import Page, Studio
from celosia.web.guard import quiet
from celosia.web.sockets import loopback, secret_host

if TYPE_CHECKING:
    from celosia.release.policy.policy import Policy
    from celosia.studio.project import Project

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


# The publisher's console: the consent site of a project, served on a port of its own.


CATALOGUE, STORE, RELEASES = "inferences", "consent.db", "publications"
HOURS = 1.0
PATIENCE = 15.0
"""Seconds to wait for the console to start."""


class Console:
    """The consent site of a project; started once, stopped with the studio."""

    def __init__(self, project: Project) -> None:
        self._folder = project.folder
        self._lock = threading.Lock()
        self._address = ""

    @property
    def catalogue(self) -> Path | None:
        """Path of the catalogue of inferences, or None."""
        places = [self._folder / f"{CATALOGUE}{ending}" for ending in (".toml", ".xml")]
        return next((place for place in places if place.is_file()), None)

    def inferences(self) -> tuple[Inference, ...]:
        """Return the inferences of the catalogue."""
        return load(self.catalogue).inferences if self.catalogue else ()

    def create_catalogue(self, policy: Policy) -> None:
        """Write a catalogue with one inference for each sensitive column."""
        if self.catalogue is not None:
            raise InputError(f"there is a catalogue already: {self.catalogue.name}.")
        text = write_toml(first_catalogue(policy))
        with replace_file(self._folder / f"{CATALOGUE}.toml", 0o600) as draft:
            draft.write_text(text, encoding="utf-8")

    def open(self, database: str | None) -> str:
        """Start the console if needed and return a one-time link for the publisher, valid for an hour."""
        with self._lock:
            if self.catalogue is None:
                raise InputError("there is no catalogue of inferences yet: create one first.")
            store = self._folder / STORE
            if not store.exists():
                init(store)
            if not self._address:
                self._address = self._serve(self.catalogue, store, database)
            return link(None, store, base=self._address, hours=HOURS)

    def _serve(self, catalogue: Path, store: Path, database: str | None) -> str:
        import uvicorn

        choices = Preferences(store, patience=WAITING)
        with choices.transaction() as connection:  # a folder from a third party may contain known links
            connection.execute(tables().links.delete())
        pages = quiet(site(catalogue, choices, database=database, out=self._folder / RELEASES))
        opened = loopback(0)
        server = uvicorn.Server(uvicorn.Config(pages, log_level="warning", access_log=False))
        threading.Thread(target=server.run, kwargs={"sockets": opened}, daemon=True).start()
        until = time.monotonic() + PATIENCE
        while not server.started and time.monotonic() < until:
            time.sleep(0.02)
        if not server.started:
            raise InputError("the console did not start. Try again.")
        return f"http://{secret_host()}:{opened[0].getsockname()[1]}"


def first_catalogue(policy: Policy) -> Catalogue:
    """Return a catalogue with one inference for each sensitive column: learning its value for a person."""
    columns = policy.schema.sensitive
    if not columns:
        raise InputError("no column is sensitive: give the column that must not be inferred the role sensitive first.")
    table = policy.input.path.stem if policy.input.path is not None else "data"
    return Catalogue(
        inferences=tuple(
            Inference(
                id="".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in f"find-{column}")[:60],
                description={
                    "en": f"Find out my {column}",
                    "es": f"Deducir mi {column}",
                    "ca": f"Deduir el meu {column}",
                },
                rules=(Rule(tables={table: (column,)}),),
            )
            for column in columns
        )
    )
