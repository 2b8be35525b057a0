"""Routes of the fuzzy page; every change is an edit of the policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypedDict
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from celosia.errors import CelosiaError, InputError, UnknownName
from celosia.models.q_anonymity import QAnonymity
from celosia.studio import forms, toml_edit
from celosia.studio.pages.fuzzy import edits
from celosia.studio.pages.fuzzy.chain import Chain, suggest
from celosia.studio.pages.fuzzy.pictures import curve_picture, sets_picture
from celosia.studio.pages.fuzzy.view import (
    ColumnView,
    CurveView,
    Place,
    column_curve,
    column_view,
    joint_curve,
    numbers,
    numeric_others,
    numeric_quasi,
    places,
    sets_by_column,
)
from celosia.studio.studio import Page, Studio, SubmittedForm, language_of
from celosia.studio.translations import words

if TYPE_CHECKING:
    from celosia.table import Table

WHOLE = 200_000
"""Up to this number of records, the page measures all of them at once."""
AGGREGATES = ("mean", "min", "product", "weighted")


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    _page_routes(studio, router)
    _set_routes(studio, router)
    _part_routes(studio, router)


def _page_routes(studio: Studio, router: APIRouter) -> None:
    @router.get("")
    def show(request: Request, column: str = "", everything: bool = False) -> Response:
        if not studio.project.has_policy:
            return studio.show(request, "fuzzy", columns=[], candidates=[])
        policy = studio.project.policy()
        sample = studio.samples.sample(policy)
        columns, coded = numeric_quasi(sample.table), places(policy)
        sets = {name: named for name, named in sets_by_column(coded).items() if name in columns}
        if not columns:
            return studio.show(request, "fuzzy", columns=[], candidates=numeric_others(sample.table))
        chosen = column if column in columns else next(iter(sets), "")
        whole = sample.whole or everything or sample.rows <= WHOLE
        table = studio.samples.table(policy) if whole and chosen in sets else sample.table
        return studio.show(
            request,
            "fuzzy",
            columns=columns,
            sets=sets,
            chosen=chosen,
            coded=coded,
            whole=whole,
            rows=sample.rows,
            size=sample.size,
            aggregates=AGGREGATES,
            labelled=any(place.section == "step" and chosen in place.part.columns for place in coded),
            required=next((place.part for place in coded if isinstance(place.part, QAnonymity)), None),
            **(_numbers(request, table, coded, sets, chosen) if chosen in sets else {}),
        )

    @router.post("/preview")
    def preview(request: Request, sent: SubmittedForm) -> Response:
        """Show the numbers for a dragged point on a sample, without changing the policy."""
        policy = studio.project.policy()
        sample, coded = studio.samples.sample(policy), places(policy)
        column = sent.text("column", "")
        sets = sets_by_column(coded)
        sets[column] = _parse_points(sets, column, sent.text("points", "")).sets()
        return studio.draw(
            request,
            "fuzzy",
            "numbers.html.j2",
            chosen=column,
            whole=sample.whole,
            rows=sample.rows,
            size=sample.size,
            **_numbers(request, sample.table, coded, sets, column),
        )


class Numbers(TypedDict, total=False):
    """Values of the template ``numbers.html.j2``; only ``view`` and ``view_problem`` if the sets are invalid."""

    view: ColumnView | None
    view_problem: str
    picture: str
    curves: list[tuple[str, CurveView]]
    curve_picture: str
    verdict: CurveView


def _numbers(
    request: Request, table: Table, coded: tuple[Place, ...], sets: dict[str, dict[str, str]], column: str
) -> Numbers:
    p = words(language_of(request), "fuzzy")
    try:
        view = column_view(table, column, sets[column])
    except CelosiaError as problem:
        return {"view": None, "view_problem": str(problem)}
    single, joint = column_curve(table, coded, column, sets[column]), joint_curve(table, coded, sets)
    curves = [(column, single)]
    if len(table.schema.quasi) > 1:
        curves.append((p["together"], joint))
    return {
        "view": view,
        "picture": sets_picture(view, p),
        "curves": curves,
        "curve_picture": curve_picture(curves, p),
        "verdict": joint,
    }


def _parse_points(sets: dict[str, dict[str, str]], column: str, points: str) -> Chain:
    chain = Chain.of(sets.get(column, {}))
    if chain is None:
        raise InputError("these sets have no points to drag: write them in the table instead.")
    try:
        at = tuple(float(point) for point in points.split())
    except ValueError:
        raise InputError("a point of a fuzzy set needs a number.") from None
    return Chain(chain.names, at)


def _set_routes(studio: Studio, router: APIRouter) -> None:
    project = studio.project

    def edit(sent: SubmittedForm, change: Callable[[Chain], Chain], said: str = "changed") -> Response:
        """Apply ``change`` to the chain of a column in the policy."""
        column = sent.text("column", "")

        def edit_text(text: str) -> str:
            policy = project.policy(text)
            sets = sets_by_column(places(policy))
            chain = Chain.of(sets.get(column, {}))
            if chain is None:
                raise InputError("these sets have no points to drag: write them in the table instead.")
            return edits.set_fuzzy_sets(text, policy, column, change(chain).sets())

        studio.change(sent, edit_text)
        return _back(studio, column, said)

    @router.post("/points")
    def points(sent: SubmittedForm) -> Response:
        def change(chain: Chain) -> Chain:
            return _parse_points({"": chain.sets()}, "", sent.text("points", ""))

        return edit(sent, change)

    @router.post("/move")
    def move(sent: SubmittedForm) -> Response:
        position, value = forms.read_number(sent, "position", whole=True), forms.read_number(sent, "value")
        return edit(sent, lambda chain: chain.move_point(position, value))

    @router.post("/rename")
    def rename(sent: SubmittedForm) -> Response:
        return edit(sent, lambda chain: chain.rename(sent.text("old", ""), sent.text("new", "")))

    @router.post("/split")
    def split(sent: SubmittedForm) -> Response:
        column = sent.text("column", "")
        values = numbers(studio.samples.sample().table, column)
        low, high = float(values[values == values].min()), float(values[values == values].max())
        return edit(
            sent, lambda chain: chain.split(sent.text("set"), _fresh(chain, sent.text("set")), low, high), "split"
        )

    @router.post("/remove")
    def remove(sent: SubmittedForm) -> Response:
        return edit(sent, lambda chain: chain.remove(sent.text("set", "")), "removed")

    @router.post("/write")
    def write(sent: SubmittedForm) -> Response:
        """Set the sets of a column from text."""
        column = sent.text("column", "")
        lines = [line.partition("=") for line in sent.text("text", "").splitlines() if line.strip()]
        sets = {name.strip(): literal.strip() for name, _, literal in lines}
        studio.change(sent, lambda text: edits.set_fuzzy_sets(text, project.policy(text), column, sets))
        return _back(studio, column, "changed")

    @router.post("/forget")
    def forget(sent: SubmittedForm) -> Response:
        column = sent.text("column", "")
        studio.change(sent, lambda text: edits.set_fuzzy_sets(text, project.policy(text), column, None))
        return _back(studio, "", "forgotten")


def _fresh(chain: Chain, name: str) -> str:
    """Return an unused name for a set."""
    return next(new for new in (f"{name} {i}" for i in range(2, 100)) if new not in chain.names)


def _part_routes(studio: Studio, router: APIRouter) -> None:
    project = studio.project

    @router.post("/begin")
    def begin(request: Request, sent: SubmittedForm) -> Response:
        """Suggest sets for a column; add a requirement if no part codes the column."""
        column, policy = sent.text("column", ""), project.policy()
        table = studio.samples.sample(policy).table
        if column not in numeric_quasi(table):
            raise UnknownName.of("numeric quasi-identifier", column, numeric_quasi(table))
        count = sent.text("count", "3")
        if not count.isdigit() or not 2 <= int(count) <= 7:
            raise InputError("a column can begin with 2 to 7 fuzzy sets.")
        sets = suggest(numbers(table, column), int(count), language_of(request)).sets()  # type: ignore[arg-type]

        def edit_text(text: str) -> str:
            now = project.policy(text)
            if any(edits.codes_column(place, now, column) for place in places(now)):
                return edits.set_fuzzy_sets(text, now, column, sets)
            return edits.add_requirement(text, column, sets)

        studio.change(sent, edit_text)
        return _back(studio, column, "suggested")

    @router.post("/role")
    def role(sent: SubmittedForm) -> Response:
        column = sent.text("column", "")
        columns = numeric_others(studio.samples.sample().table)
        if column not in columns:
            raise UnknownName.of("numeric column without a role of its own", column, columns)
        studio.change(sent, lambda text: toml_edit.set_role(text, column, "quasi"))
        return _back(studio, "", "role")

    @router.post("/labels")
    def labels(sent: SubmittedForm) -> Response:
        column = sent.text("column", "")

        def edit_text(text: str) -> str:
            sets = sets_by_column(places(project.policy(text)))
            if column not in sets:
                raise InputError("give the column fuzzy sets first.")
            return edits.add_labels(text, column, sets[column])

        studio.change(sent, edit_text)
        return _back(studio, column, "labels")

    @router.post("/require")
    def require(sent: SubmittedForm) -> Response:
        """Set the parameters of Q-anonymity."""
        aggregate = sent.text("aggregate", "mean")
        if aggregate not in AGGREGATES:
            raise UnknownName.of("operator over the cells", aggregate, AGGREGATES)
        possibility = forms.read_number(sent, "possibility")
        wanted = {
            "q": forms.read_number(sent, "q", whole=True),
            "possibility": None if possibility == 0.5 else possibility,
            "aggregate": None if aggregate == "mean" else aggregate,
        }

        def edit_text(text: str) -> str:
            for place in places(project.policy(text)):
                if isinstance(place.part, QAnonymity):
                    return edits.set_parameters(text, place, **wanted)
            raise InputError("the policy does not require Q-anonymity.")

        studio.change(sent, edit_text)
        return _back(studio, sent.text("column", ""), "changed")


def _back(studio: Studio, column: str, said: str) -> Response:
    if not column:
        return studio.redirect("/fuzzy", said)
    return RedirectResponse(f"/fuzzy?{urlencode({'column': column, 'said': said})}", 303)


PAGE = Page("fuzzy", 110, "workbench", routes)
