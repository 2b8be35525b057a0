"""The routes of the data page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response, UploadFile

from celosia.data.schema import Kind, Missing
from celosia.errors import InputError, UnknownName
from celosia.parts import grammar
from celosia.release.leaving.guard import inspect
from celosia.studio import editing
from celosia.studio.pages.data.cards import ROLES, cards, cleaned
from celosia.studio.studio import Page, Sent, Studio

FIRST = 8
"""Records that are shown as they are."""
SHOWS = (
    *(f"input.{key}" for key in ("path", "url", "query", "clean")),
    *(f"schema.{key}" for key in ("identifiers", "quasi", "sensitive", "insensitive", "rest", "kinds", "bounds")),
    *(f"schema.{key}" for key in ("person", "household", "weight", "stratum", "missing", "orders")),
)


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    project = studio.project

    @router.get("")
    def data(request: Request) -> Response:
        if not project.ready:
            return studio.show(request, "data", cards=None)
        policy = project.policy()
        return studio.show(
            request,
            "data",
            cards=cards(policy, studio.samples),
            roles=ROLES,
            kinds=list(Kind),
            readings=list(Missing),
            first=studio.samples.sample(policy).table.polars().head(FIRST),
            clean=policy.input.cleaning,
            shown=grammar.show,
            written=editing.get(policy.text, ("input",)),
        )

    @router.get("/guard")
    def guard(request: Request) -> Response:
        """What the guard would say if every column with a role left as it is."""
        policy = project.policy()
        table = studio.samples.table(policy)
        leaving = table.drop([c.name for c in table.schema.columns if not c.declared or c.name in table.schema.naming])
        seen = studio.samples.once(policy, "guard", lambda: inspect(table, leaving, (), policy.guard.acknowledge))
        return studio.draw(request, "data", "_guard.html.j2", names=list(table.names), seen=seen)

    @router.post("/role")
    def role(sent: Sent) -> Response:
        wanted = sent.get("role", "")
        if wanted not in ROLES:
            raise UnknownName.of("role", wanted, ROLES)
        column = _column(studio, sent)
        # one field of one column: it is merged into the policy as it is now, so that quick clicks are all kept
        project.change(lambda text: editing.set_role(text, column, wanted))
        return studio.back("/data")

    @router.post("/column")
    def column(sent: Sent) -> Response:
        name = _column(studio, sent)
        studio.change(sent, lambda text: _described(text, name, sent))
        return studio.back("/data", "saved")

    @router.post("/rest")
    def rest(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.put(text, ("schema", "rest"), sent["rest"]))
        return studio.back("/data", "saved")

    @router.post("/clean")
    def clean(sent: Sent) -> Response:
        policy = project.policy()
        column, key = _column(studio, sent), sent["key"]
        studio.change(sent, lambda text: cleaned(text, policy, studio.samples, column, key))
        return studio.back("/data", "cleaned")

    @router.post("/unclean")
    def unclean(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.drop(text, ("input", "clean")))
        return studio.back("/data", "saved")

    @router.post("/upload")
    def upload(file: UploadFile, version: str = "") -> Response:
        if not file.filename:
            raise InputError("choose a file first.")

        def fits(path: Path) -> None:
            project.policy(_reads(project.text, path.relative_to(project.folder).as_posix())).table()

        with project.alone():  # no other change comes between the look at the file and its use
            project.check(version or None)
            place = project.keep(file.filename, file.file, fits).relative_to(project.folder).as_posix()
            project.change(lambda text: _reads(text, place), version or None)
        return studio.back("/data", "begun")


def _reads(text: str, place: str) -> str:
    """The policy that reads another file."""
    for key in ("url", "query"):
        text = editing.drop(text, ("input", key))
    return editing.put(text, ("input", "path"), place)


def _column(studio: Studio, sent: dict[str, Any]) -> str:
    """The column that a form is about."""
    name, names = str(sent["column"]), studio.samples.sample().table.names
    if name not in names:
        raise UnknownName.of("column", name, names)
    return name


def _described(text: str, name: str, sent: dict[str, Any]) -> str:
    """The policy with what a card says about a column: kind, bounds, order, the reading of missing values."""
    text = _either(text, "kinds", name, sent.get("kind"))
    missing = sent.get("missing")
    text = _either(text, "missing", name, "" if missing == Missing.CATEGORY else missing)
    low, high = sent.get("low", "").strip(), sent.get("high", "").strip()
    try:
        bounds = [float(low), float(high)] if low or high else ""
    except ValueError:
        raise InputError("bounds are two numbers, the smaller first.") from None
    text = _either(text, "bounds", name, bounds)
    order = [value.strip() for value in sent.get("order", "").split(",") if value.strip()]
    return _either(text, "orders", name, order)


def _either(text: str, key: str, name: str, value: Any) -> str:
    place = ("schema", key, name)
    return editing.put(text, place, value) if value else editing.drop(text, place)


PAGE = Page("data", 10, "job", routes, SHOWS)
