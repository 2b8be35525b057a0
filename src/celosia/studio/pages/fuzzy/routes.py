"""The routes of the page on fuzzy sets: every change is an edit of the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from celosia.errors import CelosiaError, InputError, UnknownName
from celosia.models.q_anonymity import QAnonymity
from celosia.studio import editing, forms
from celosia.studio.pages.fuzzy import edits
from celosia.studio.pages.fuzzy.chain import Chain, suggested
from celosia.studio.pages.fuzzy.drawing import curve_picture, sets_picture
from celosia.studio.pages.fuzzy.view import (
    Place,
    alone_view,
    column_view,
    curve_view,
    numbers,
    numeric_others,
    numeric_quasi,
    places,
    written,
)
from celosia.studio.studio import Page, Sent, Studio, language_of
from celosia.studio.wording import words

if TYPE_CHECKING:
    from celosia.table import Table

WHOLE = 200_000
"""Up to so many records the numbers of the page come from all of them at once."""
AGGREGATES = ("mean", "min", "product", "weighted")


def routes(studio: Studio, router: APIRouter) -> None:
    """The addresses of the page."""
    _shown(studio, router)
    _sets(studio, router)
    _parts(studio, router)


def _shown(studio: Studio, router: APIRouter) -> None:
    @router.get("")
    def show(request: Request, column: str = "", everything: bool = False) -> Response:
        if not studio.project.ready:
            return studio.show(request, "fuzzy", columns=[], candidates=[])
        policy = studio.project.policy()
        sample = studio.samples.sample(policy)
        columns, coded = numeric_quasi(sample.table), places(policy)
        sets = {name: named for name, named in written(coded).items() if name in columns}
        if not columns:
            return studio.show(request, "fuzzy", columns=[], candidates=numeric_others(sample.table))
        chosen = column if column in columns else next(iter(sets), "")
        whole = sample.whole or everything or sample.rows <= WHOLE
        table = studio.samples.table(policy) if whole and chosen in sets else sample.table
        values: dict[str, Any] = {"columns": columns, "sets": sets, "chosen": chosen, "coded": coded, "whole": whole}
        values |= {"rows": sample.rows, "size": sample.size, "aggregates": AGGREGATES}
        values["labelled"] = any(place.section == "step" and chosen in place.part.columns for place in coded)
        values["required"] = next((place.part for place in coded if isinstance(place.part, QAnonymity)), None)
        if chosen in sets:
            values |= _numbers(request, table, coded, sets, chosen)
        return studio.show(request, "fuzzy", **values)

    @router.post("/preview")
    def preview(request: Request, sent: Sent) -> Response:
        """The numbers while a point is dragged, from a sample; nothing is changed."""
        policy = studio.project.policy()
        sample, coded = studio.samples.sample(policy), places(policy)
        column = str(sent.get("column", ""))
        sets = written(coded)
        sets[column] = _dragged(sets, column, str(sent.get("points", ""))).sets()
        given = _numbers(request, sample.table, coded, sets, column)
        whole = {"whole": sample.whole, "rows": sample.rows, "size": sample.size}
        return studio.draw(request, "fuzzy", "numbers.html.j2", chosen=column, **whole, **given)


def _numbers(
    request: Request, table: Table, coded: tuple[Place, ...], sets: dict[str, dict[str, str]], column: str
) -> dict[str, Any]:
    said = words(language_of(request), "fuzzy")
    try:
        view = column_view(table, column, sets[column])
    except CelosiaError as problem:
        return {"view": None, "view_problem": str(problem)}
    alone, together = alone_view(table, coded, column, sets[column]), curve_view(table, coded, sets)
    curves = [(column, alone)]
    if len(table.schema.quasi) > 1:
        curves.append((said["together"], together))
    return {
        "view": view,
        "picture": sets_picture(view, said),
        "curves": curves,
        "curve_picture": curve_picture(curves, said),
        "verdict": together,
    }


def _dragged(sets: dict[str, dict[str, str]], column: str, points: str) -> Chain:
    chain = Chain.of(sets.get(column, {}))
    if chain is None:
        raise InputError("these sets have no points to drag: write them in the table instead.")
    try:
        at = tuple(float(point) for point in points.split())
    except ValueError:
        raise InputError("a point of a fuzzy set needs a number.") from None
    return Chain(chain.names, at)


def _sets(studio: Studio, router: APIRouter) -> None:
    project = studio.project

    def edit(sent: dict[str, Any], change: Any, said: str = "changed") -> Response:
        """Change the chain of a column in the policy; ``change`` takes the chain and gives another."""
        column = str(sent.get("column", ""))

        def edited(text: str) -> str:
            policy = project.policy(text)
            sets = written(places(policy))
            chain = Chain.of(sets.get(column, {}))
            if chain is None:
                raise InputError("these sets have no points to drag: write them in the table instead.")
            return edits.with_sets(text, policy, column, change(chain).sets())

        studio.change(sent, edited)
        return _back(studio, column, said)

    @router.post("/points")
    def points(sent: Sent) -> Response:
        def change(chain: Chain) -> Chain:
            return _dragged({"": chain.sets()}, "", str(sent.get("points", "")))

        return edit(sent, change)

    @router.post("/move")
    def move(sent: Sent) -> Response:
        position, value = forms.number(sent, "position", whole=True), forms.number(sent, "value")
        return edit(sent, lambda chain: chain.moved(position, value))

    @router.post("/rename")
    def rename(sent: Sent) -> Response:
        return edit(sent, lambda chain: chain.renamed(str(sent.get("old", "")), str(sent.get("new", ""))))

    @router.post("/split")
    def split(sent: Sent) -> Response:
        column = str(sent.get("column", ""))
        values = numbers(studio.samples.sample().table, column)
        low, high = float(values[values == values].min()), float(values[values == values].max())
        return edit(
            sent, lambda chain: chain.split(str(sent["set"]), _fresh(chain, str(sent["set"])), low, high), "split"
        )

    @router.post("/remove")
    def remove(sent: Sent) -> Response:
        return edit(sent, lambda chain: chain.without(str(sent.get("set", ""))), "removed")

    @router.post("/write")
    def write(sent: Sent) -> Response:
        """Sets as text, for those that cannot be dragged."""
        column = str(sent.get("column", ""))
        lines = [line.partition("=") for line in str(sent.get("text", "")).splitlines() if line.strip()]
        sets = {name.strip(): literal.strip() for name, _, literal in lines}
        studio.change(sent, lambda text: edits.with_sets(text, project.policy(text), column, sets))
        return _back(studio, column, "changed")

    @router.post("/forget")
    def forget(sent: Sent) -> Response:
        column = str(sent.get("column", ""))
        studio.change(sent, lambda text: edits.with_sets(text, project.policy(text), column, None))
        return _back(studio, "", "forgotten")


def _fresh(chain: Chain, name: str) -> str:
    """A name that no set has yet."""
    return next(new for new in (f"{name} {i}" for i in range(2, 100)) if new not in chain.names)


def _parts(studio: Studio, router: APIRouter) -> None:
    project = studio.project

    @router.post("/begin")
    def begin(request: Request, sent: Sent) -> Response:
        """Suggest sets for a column; without a requirement that uses them, one is added."""
        column, policy = str(sent.get("column", "")), project.policy()
        table = studio.samples.sample(policy).table
        if column not in numeric_quasi(table):
            raise UnknownName.of("numeric quasi-identifier", column, numeric_quasi(table))
        count = str(sent.get("count", "3"))
        if not count.isdigit() or not 2 <= int(count) <= 7:
            raise InputError("a column can begin with 2 to 7 fuzzy sets.")
        sets = suggested(numbers(table, column), int(count), language_of(request)).sets()  # type: ignore[arg-type]

        def edited(text: str) -> str:
            now = project.policy(text)
            if any(edits.codes(place, now, column) for place in places(now)):
                return edits.with_sets(text, now, column, sets)
            return edits.with_requirement(text, column, sets)

        studio.change(sent, edited)
        return _back(studio, column, "suggested")

    @router.post("/role")
    def role(sent: Sent) -> Response:
        column = str(sent.get("column", ""))
        columns = numeric_others(studio.samples.sample().table)
        if column not in columns:
            raise UnknownName.of("numeric column without a role of its own", column, columns)
        studio.change(sent, lambda text: editing.set_role(text, column, "quasi"))
        return _back(studio, "", "role")

    @router.post("/labels")
    def labels(sent: Sent) -> Response:
        column = str(sent.get("column", ""))

        def edited(text: str) -> str:
            sets = written(places(project.policy(text)))
            if column not in sets:
                raise InputError("give the column fuzzy sets first.")
            return edits.with_labels(text, column, sets[column])

        studio.change(sent, edited)
        return _back(studio, column, "labels")

    @router.post("/require")
    def require(sent: Sent) -> Response:
        """What Q-anonymity asks for."""
        aggregate = str(sent.get("aggregate", "mean"))
        if aggregate not in AGGREGATES:
            raise UnknownName.of("operator over the cells", aggregate, AGGREGATES)
        possibility = forms.number(sent, "possibility")
        wanted = {
            "q": forms.number(sent, "q", whole=True),
            "possibility": None if possibility == 0.5 else possibility,
            "aggregate": None if aggregate == "mean" else aggregate,
        }

        def edited(text: str) -> str:
            for place in places(project.policy(text)):
                if isinstance(place.part, QAnonymity):
                    return edits.with_parameters(text, place, **wanted)
            raise InputError("the policy does not ask for Q-anonymity.")

        studio.change(sent, edited)
        return _back(studio, str(sent.get("column", "")), "changed")


def _back(studio: Studio, column: str, said: str) -> Response:
    if not column:
        return studio.back("/fuzzy", said)
    return RedirectResponse(f"/fuzzy?{urlencode({'column': column, 'said': said})}", 303)


PAGE = Page("fuzzy", 110, "workbench", routes)
