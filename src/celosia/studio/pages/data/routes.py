"""The routes of the data page."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response, UploadFile

from celosia.data.schema import Kind, Missing
from celosia.errors import InputError, UnknownName
from celosia.release.guard import inspect
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
        studio.change(sent, lambda text: editing.set_role(text, sent["column"], wanted))
        return studio.back("/data")

    @router.post("/column")
    def column(sent: Sent) -> Response:
        studio.change(sent, lambda text: _described(text, sent))
        return studio.back("/data", "saved")

    @router.post("/rest")
    def rest(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.put(text, ("schema", "rest"), sent["rest"]))
        return studio.back("/data", "saved")

    @router.post("/clean")
    def clean(sent: Sent) -> Response:
        policy = project.policy()
        studio.change(sent, lambda text: cleaned(text, policy, studio.samples, sent["column"], sent["key"]))
        return studio.back("/data", "cleaned")

    @router.post("/unclean")
    def unclean(sent: Sent) -> Response:
        studio.change(sent, lambda text: editing.drop(text, ("input", "clean")))
        return studio.back("/data", "saved")

    @router.post("/upload")
    def upload(file: UploadFile, version: str = "") -> Response:
        if not file.filename:
            raise InputError("choose a file first.")
        place = project.keep(file.filename, file.file).relative_to(project.folder).as_posix()

        def edit(text: str) -> str:
            for key in ("url", "query"):
                text = editing.drop(text, ("input", key))
            text = editing.put(text, ("input", "path"), place)
            project.policy(text).table()  # it must have the columns that the policy names
            return text

        project.change(edit, version or None)
        return studio.back("/data", "begun")


def _described(text: str, sent: dict[str, Any]) -> str:
    """The policy with what a card says about a column: kind, bounds, order, the reading of missing values."""
    name = sent["column"]
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
