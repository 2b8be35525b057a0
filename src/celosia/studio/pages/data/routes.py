"""Routes of the data page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, Request, Response, UploadFile

from celosia.data.schema import Column, Kind, Missing, Role, Schema
from celosia.errors import InputError, UnknownName
from celosia.parts import grammar
from celosia.proposals import ColumnSuggestion
from celosia.release.output.guard import inspect
from celosia.release.policy.policy import Policy
from celosia.studio import toml_edit
from celosia.studio.samples import Samples
from celosia.studio.sketch import Sketch, sketch
from celosia.studio.studio import Page, Studio, SubmittedForm
from celosia.table.frames import visible_frame

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


# Cards of the columns: contents, proposal and current settings.


ROLES = ("identifier", "quasi", "sensitive", "insensitive", "person", "household", "weight", "stratum", "")
"""Roles to choose from; the empty one leaves the column out of the release."""


@dataclass(frozen=True)
class Card:
    """A column on the page."""

    name: str
    role: str
    kind: str
    missing: int
    distinct: int
    sketch: Sketch
    proposal: ColumnSuggestion
    column: Column
    """Settings of the policy for the column."""

    @property
    def proposed(self) -> str:
        """Proposed role; empty if the column should be left out."""
        return "" if self.proposal.left_out else str(self.proposal.role)

    @property
    def agrees(self) -> bool:
        """Whether the column has the proposed role."""
        return self.role == self.proposed


@dataclass(frozen=True)
class Cards:
    """All cards, with the number of records and the size of the sample behind the sketches."""

    columns: tuple[Card, ...]
    rows: int
    sampled: int


def cards(policy: Policy, samples: Samples) -> Cards:
    """Return the cards of the input: counts over all records, sketches over a sample."""

    def count_cells() -> dict[str, tuple[int, int]]:
        import polars as pl

        whole = samples.raw(policy)
        frame = visible_frame(whole).lazy()
        names = whole.names
        asked = [pl.col(n).null_count().alias(f"m{i}") for i, n in enumerate(names)]
        asked += [pl.col(n).n_unique().alias(f"d{i}") for i, n in enumerate(names)]
        row = frame.select(asked).collect(engine="streaming").row(0, named=True)
        return {n: (row[f"m{i}"], row[f"d{i}"] - (row[f"m{i}"] > 0)) for i, n in enumerate(names)}

    counts = samples.cached_by_input(policy, "counts", count_cells)
    proposals = samples.proposals(policy)
    seen = samples.sample(policy)
    frame = seen.table.polars()
    schema = seen.table.schema
    columns = tuple(
        Card(
            name=name,
            role=_role(schema, name),
            kind=str(schema[name].kind),
            missing=counts[name][0],
            distinct=counts[name][1],
            sketch=samples.cached_by_input(policy, f"sketch {name}", lambda name=name: sketch(frame[name])),  # type: ignore[misc]
            proposal=proposals[name],
            column=schema[name],
        )
        for name in seen.table.names
    )
    return Cards(columns, seen.rows, seen.size)


def apply_cleaning(text: str, policy: Policy, samples: Samples, column: str, key: str) -> str:
    """Return the policy with a proposed cleaning; its values come from the proposal, not from the browser."""
    for untidy in samples.proposals(policy)[column].untidy:
        if untidy.key != key:
            continue
        if key == "strip":
            return toml_edit.append(text, ("input", "clean", "strip"), column)
        return toml_edit.set_value(text, ("input", "clean", key, column), untidy.spellings or list(untidy.codes))
    raise InputError("this proposal no longer exists.")


def _role(schema: Schema, name: str) -> str:
    """Return the role of a column; empty if the policy does not declare it."""
    column = schema[name]
    if not column.declared:
        return ""
    return next((role for role in ROLES if role and Role(role) in column.roles), "")
