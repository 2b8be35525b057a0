"""Routes of the data page."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request, Response, UploadFile

from celosia.data.schema import Kind, Missing
from celosia.errors import InputError, UnknownName
from celosia.parts import grammar
from celosia.release.output.guard import inspect
from celosia.studio import toml_edit
from celosia.studio.pages.data.cards import ROLES, apply_cleaning, cards
from celosia.studio.studio import Page, Studio, SubmittedForm

FIRST = 8
"""Records in the preview of the raw data."""
SHOWS = (
    *(f"input.{key}" for key in ("path", "url", "query", "clean")),
    *(f"schema.{key}" for key in ("identifiers", "quasi", "sensitive", "insensitive", "rest", "kinds", "bounds")),
    *(f"schema.{key}" for key in ("person", "household", "weight", "stratum", "missing", "orders")),
)


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    project = studio.project

    @router.get("")
    def data(request: Request) -> Response:
        if not project.has_policy:
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
            clean=policy.input.cleaning_options,
            shown=grammar.show,
            written=toml_edit.get(policy.text, ("input",)),
        )

    @router.get("/guard")
    def guard(request: Request) -> Response:
        """Show the findings of the guard if every column with a role were released unchanged."""
        policy = project.policy()
        table = studio.samples.table(policy)
        released = table.drop([c.name for c in table.schema.columns if not c.declared or c.name in table.schema.naming])
        seen = studio.samples.get(policy, "guard", lambda: inspect(table, released, (), policy.guard.acknowledge))
        return studio.draw(request, "data", "_guard.html.j2", names=list(table.names), seen=seen)

    @router.post("/role")
    def role(sent: SubmittedForm) -> Response:
        wanted = sent.text("role", "")
        if wanted not in ROLES:
            raise UnknownName.of("role", wanted, ROLES)
        column = _column(studio, sent)
        # merged into the current policy without a version check, so that no quick click is lost
        project.change(lambda text: toml_edit.set_role(text, column, wanted))
        return studio.redirect("/data")

    @router.post("/column")
    def column(sent: SubmittedForm) -> Response:
        name = _column(studio, sent)
        studio.change(sent, lambda text: _set_column(text, name, sent))
        return studio.redirect("/data", "saved")

    @router.post("/rest")
    def rest(sent: SubmittedForm) -> Response:
        studio.change(sent, lambda text: toml_edit.set_value(text, ("schema", "rest"), sent.text("rest")))
        return studio.redirect("/data", "saved")

    @router.post("/clean")
    def clean(sent: SubmittedForm) -> Response:
        policy = project.policy()
        column, key = _column(studio, sent), sent.text("key")
        studio.change(sent, lambda text: apply_cleaning(text, policy, studio.samples, column, key))
        return studio.redirect("/data", "cleaned")

    @router.post("/unclean")
    def unclean(sent: SubmittedForm) -> Response:
        studio.change(sent, lambda text: toml_edit.drop(text, ("input", "clean")))
        return studio.redirect("/data", "saved")

    @router.post("/upload")
    def upload(file: UploadFile, version: str = "") -> Response:
        if not file.filename:
            raise InputError("choose a file first.")

        def fits(path: Path) -> None:
            project.policy(_with_input(project.text, path.relative_to(project.folder).as_posix())).table()

        with project.lock():  # no other change between check and use of the file
            project.check(version or None)
            place = project.keep_upload(file.filename, file.file, fits).relative_to(project.folder).as_posix()
            project.change(lambda text: _with_input(text, place), version or None)
        return studio.redirect("/data", "begun")


def _with_input(text: str, place: str) -> str:
    """Return the policy with another input file."""
    for key in ("url", "query"):
        text = toml_edit.drop(text, ("input", key))
    return toml_edit.set_value(text, ("input", "path"), place)


def _column(studio: Studio, sent: SubmittedForm) -> str:
    """Return the column of a form; unknown columns raise."""
    name, names = sent.text("column"), studio.samples.sample().table.names
    if name not in names:
        raise UnknownName.of("column", name, names)
    return name


def _set_column(text: str, name: str, sent: SubmittedForm) -> str:
    """Return the policy with the settings of a card: kind, bounds, order, treatment of missing values."""
    text = _set_or_drop(text, "kinds", name, sent.get("kind"))
    missing = sent.get("missing")
    text = _set_or_drop(text, "missing", name, "" if missing == Missing.CATEGORY else missing)
    low, high = sent.text("low", "").strip(), sent.text("high", "").strip()
    try:
        bounds = [float(low), float(high)] if low or high else ""
    except ValueError:
        raise InputError("bounds are two numbers, the smaller first.") from None
    text = _set_or_drop(text, "bounds", name, bounds)
    order = [value.strip() for value in sent.text("order", "").split(",") if value.strip()]
    return _set_or_drop(text, "orders", name, order)


def _set_or_drop(text: str, key: str, name: str, value: object) -> str:
    place = ("schema", key, name)
    return toml_edit.set_value(text, place, value) if value else toml_edit.drop(text, place)


PAGE = Page("data", 10, "job", routes, SHOWS)
