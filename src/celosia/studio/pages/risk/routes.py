"""The routes of the page of the risk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile

from celosia.errors import CelosiaError, InputError
from celosia.models import KAnonymity
from celosia.release.policy.policy import Policy
from celosia.show.charts import bars
from celosia.studio import editing
from celosia.studio.pages.hierarchies.view import Values
from celosia.studio.pages.risk.view import candidates, keys_of, linked, makers, overview
from celosia.studio.studio import Page, Sent, Studio, language_of
from celosia.studio.wording import words
from celosia.table import read

LISTED = 60
"""Different values up to which a column offers them for choice."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""

    @router.get("")
    def page(request: Request) -> Response:
        if not studio.project.ready:
            return studio.show(request, "risk", state="empty")
        policy = studio.project.policy()
        if not policy.schema.quasi:
            return studio.show(request, "risk", state="quasi")
        return studio.show(request, "risk", state="ready", **_asked(studio, policy))

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
        making = makers(studio.samples.table())
        language = language_of(request)
        p = words(language, "risk")
        picture = bars(
            p["contributions"],
            [column.name for column in making.columns],
            [(p["contribution"], [column.suda for column in making.columns])],
            language=language,
        )
        return studio.draw(request, "risk", "columns.html.j2", found=making, picture=picture)

    @router.post("/known")
    def candidates_of(request: Request, sent: Sent) -> Response:
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
    def require(sent: Sent) -> Response:
        k = _whole(sent.get("k"))
        studio.change(sent, lambda text: _with_k(text, k))
        return studio.back("/risk", "required")

    @router.post("/link/upload")
    def link(request: Request, file: Annotated[UploadFile, File()], key: Annotated[str, Form()] = "") -> Response:
        if not file.filename:
            raise InputError("choose a file first.")
        table = studio.samples.table()

        def fits(path: Path) -> None:
            linked(table, path, key or None)

        kept = studio.project.keep(file.filename, file.file, fits)
        place = str(kept.relative_to(studio.project.folder))
        usable = keys_of(table, read(kept).names)
        result = linked(table, kept, key or None)
        return studio.draw(
            request, "risk", "linked.html.j2", found=result, place=place, key=key, keys=usable, file=kept.name
        )

    @router.post("/link/keep")
    def keep(sent: Sent) -> Response:
        place = studio.project.inside(str(sent.get("place", ""))).relative_to(studio.project.folder)
        attack: dict[str, Any] = {"use": "join-attack", "external": str(place)}
        if sent.get("key"):
            attack["key"] = sent["key"]
        studio.change(sent, lambda text: _with_attack(text, attack))
        return studio.back("/risk", "kept")


def _asked(studio: Studio, policy: Policy) -> dict[str, Any]:
    """The columns that an intruder may know, those that can be ruled out, and values of a sample to choose from."""
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


def _facts(sent: dict[str, Any], prefix: str) -> dict[str, str]:
    return {
        name[len(prefix) :]: str(value).strip()
        for name, value in sent.items()
        if name.startswith(prefix) and str(value).strip()
    }


def _whole(text: Any) -> int:
    if not str(text or "").isdigit() or int(text) < 2:
        raise InputError("k must be a whole number of at least 2.")
    return int(text)


def _with_k(text: str, k: int) -> str:
    """The policy that requires classes of k: its k-anonymity gets the number, or it gets one."""
    listed = editing.get(text, ("require",), [])
    for i, entry in enumerate(listed):
        if isinstance(entry, dict) and entry.get("use") == "k-anonymity":
            return editing.replace(text, "require", i, {**entry, "k": k})
        if isinstance(entry, str) and entry.startswith("k-anonymity"):
            return editing.put(text, ("require", i), f"k-anonymity(k={k})")
    return editing.append(text, "require", {"use": "k-anonymity", "k": k})


def _with_attack(text: str, attack: dict[str, Any]) -> str:
    """The policy that measures a linkage in every run; the same file is measured once."""
    listed = editing.get(text, ("measure", "risks"), ["prosecutor"])
    others = [each for each in listed if not (isinstance(each, dict) and each.get("external") == attack["external"])]
    return editing.put(text, ("measure", "risks"), [*others, attack])


def _sizes(low: int, high: int | None) -> str:
    return f"{low}" if high == low else f"{low} +" if high is None else f"{low} – {high}"


PAGE = Page("risk", 30, "job", routes)
