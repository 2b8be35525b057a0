"""Routes of the risk page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

from fastapi import APIRouter, File, Form, Request, Response, UploadFile

from celosia.errors import CelosiaError, InputError
from celosia.models import KAnonymity
from celosia.release.policy.policy import Policy
from celosia.show.charts import bars
from celosia.studio import forms, toml_edit
from celosia.studio.pages.hierarchies.view import Values
from celosia.studio.pages.risk.view import candidates, column_risks, key_columns, link, overview
from celosia.studio.studio import Page, Studio, SubmittedForm, language_of
from celosia.studio.translations import words
from celosia.table import read

LISTED = 60
"""Columns with at most this number of distinct values offer them as a list."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""

    @router.get("")
    def page(request: Request) -> Response:
        if not studio.project.has_policy:
            return studio.show(request, "risk", state="empty")
        policy = studio.project.policy()
        if not policy.schema.quasi:
            return studio.show(request, "risk", state="quasi")
        return studio.show(request, "risk", state="ready", **_intruder_fields(studio, policy))

    @router.get("/overview")
    def sizes(request: Request) -> Response:
        measured = overview(studio.samples.table())
        language = language_of(request)
        p = words(language, "risk")
        picture = bars(
            p["sizes_chart"],
            [_sizes(size.low, size.high) for size in measured.sizes],
            [(p["records"], [size.share for size in measured.sizes])],
            language=language,
        )
        k = max((model.k for model in studio.project.policy().require if isinstance(model, KAnonymity)), default=None)
        return studio.draw(request, "risk", "overview.html.j2", found=measured, picture=picture, k=k)

    @router.get("/columns")
    def columns(request: Request) -> Response:
        measured = column_risks(studio.samples.table())
        language = language_of(request)
        p = words(language, "risk")
        picture = bars(
            p["contributions"],
            [column.name for column in measured.columns],
            [(p["contribution"], [column.suda for column in measured.columns])],
            language=language,
        )
        return studio.draw(request, "risk", "columns.html.j2", found=measured, picture=picture)

    @router.post("/known")
    def candidates_of(request: Request, sent: SubmittedForm) -> Response:
        fitting, trouble = None, ""
        facts = _facts(sent, "known.")
        excluded = {name: [part.strip() for part in text.split(",")] for name, text in _facts(sent, "not.").items()}
        if facts or excluded:
            try:
                fitting = candidates(studio.samples.table(), facts, excluded)
            except CelosiaError as error:
                trouble = str(error)
        return studio.draw(request, "risk", "known.html.j2", found=fitting, trouble=trouble)

    @router.post("/require")
    def require(sent: SubmittedForm) -> Response:
        k = _k_of(sent.text("k", ""))
        studio.change(sent, lambda text: _with_k(text, k))
        return studio.redirect("/risk", "required")

    @router.post("/link/upload")
    def upload_external(
        request: Request, file: Annotated[UploadFile, File()], key: Annotated[str, Form()] = ""
    ) -> Response:
        if not file.filename:
            raise InputError("choose a file first.")
        table = studio.samples.table()

        def fits(path: Path) -> None:
            link(table, path, key or None)

        kept = studio.project.keep_upload(file.filename, file.file, fits)
        place = str(kept.relative_to(studio.project.folder))
        usable = key_columns(table, read(kept).names)
        result = link(table, kept, key or None)
        return studio.draw(
            request, "risk", "linked.html.j2", found=result, place=place, key=key, keys=usable, file=kept.name
        )

    @router.post("/link/keep")
    def keep(sent: SubmittedForm) -> Response:
        place = studio.project.resolve(sent.text("place", "")).relative_to(studio.project.folder)
        attack: forms.Parameters = {"use": "join-attack", "external": str(place)}
        if sent.get("key"):
            attack["key"] = sent.text("key")
        studio.change(sent, lambda text: _with_attack(text, attack))
        return studio.redirect("/risk", "kept")


class IntruderFields(TypedDict):
    """Values of the template for the knowledge of an intruder."""

    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    choices: dict[str, list[str]]
    identifiers: list[str]
    rows: int


def _intruder_fields(studio: Studio, policy: Policy) -> IntruderFields:
    """Return the columns that an intruder may know or rule out, and sampled values to choose from."""
    sample = studio.samples.sample(policy)
    named = [*policy.schema.quasi, *policy.schema.sensitive]
    values = {name: Values.of(sample.table, name).texts for name in named}
    return {
        "quasi": policy.schema.quasi,
        "sensitive": policy.schema.sensitive,
        "choices": {name: sorted(texts) for name, texts in values.items() if len(texts) <= LISTED},
        "identifiers": [*policy.schema.identifiers, *([policy.schema.person] if policy.schema.person else [])],
        "rows": sample.rows,
    }


def _facts(sent: SubmittedForm, prefix: str) -> dict[str, str]:
    return {
        name[len(prefix) :]: str(value).strip()
        for name, value in sent.items()
        if name.startswith(prefix) and str(value).strip()
    }


def _k_of(text: str) -> int:
    if not text.isdigit() or int(text) < 2:
        raise InputError("k must be a whole number of at least 2.")
    return int(text)


def _with_k(text: str, k: int) -> str:
    """Return the policy with k-anonymity for this k, replaced or appended."""
    listed = toml_edit.get(text, ("require",), [])
    for i, entry in enumerate(listed):
        if isinstance(entry, dict) and entry.get("use") == "k-anonymity":
            return toml_edit.replace(text, "require", i, {**entry, "k": k})
        if isinstance(entry, str) and entry.startswith("k-anonymity"):
            return toml_edit.set_value(text, ("require", i), f"k-anonymity(k={k})")
    return toml_edit.append(text, "require", {"use": "k-anonymity", "k": k})


def _with_attack(text: str, attack: forms.Parameters) -> str:
    """Return the policy with a join attack among its measures, once per file."""
    listed = toml_edit.get(text, ("measure", "risks"), ["prosecutor"])
    others = [each for each in listed if not (isinstance(each, dict) and each.get("external") == attack["external"])]
    return toml_edit.set_value(text, ("measure", "risks"), [*others, attack])


def _sizes(low: int, high: int | None) -> str:
    return f"{low}" if high == low else f"{low} +" if high is None else f"{low} – {high}"


PAGE = Page("risk", 30, "job", routes)
