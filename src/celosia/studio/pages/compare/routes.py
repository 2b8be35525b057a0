"""Routes of the compare page."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

from fastapi import APIRouter, Query, Request, Response

from celosia.errors import CelosiaError, InputError, RequirementError
from celosia.frontier import Frontier
from celosia.frontier.exploration import measures
from celosia.frontier.trial import measure
from celosia.parts import Loss, Threat, grammar
from celosia.release.policy.policy import Policy
from celosia.release.protect import protect_table
from celosia.release.report.ru_map import ru_map, whole_window
from celosia.show.charts import bars, heatmap, overlay
from celosia.studio import forms, lists, toml_edit
from celosia.studio.pages.compare import exploration
from celosia.studio.pages.compare.view import MapQuery, comparison_options, rows, sample_of, zoom_window
from celosia.studio.project import version_of
from celosia.studio.studio import Page, Studio, SubmittedForm, language_of
from celosia.studio.translations import words
from celosia.table import Table
from celosia.views.comparing.columns import ColumnPair, column_pairs
from celosia.views.comparing.dependences import Dependences, dependences

NUMBERS = {"seeds": True, "max_risk": False, "max_loss": False, "budget_seconds": False}
"""Numeric settings of an exploration, and whether they are integers."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    project = studio.project

    @router.get("")
    def page(request: Request) -> Response:
        if not project.has_policy:
            return studio.show(request, "compare", state="empty")
        policy = project.policy()
        frontier = exploration.load_frontier(project)
        job = studio.jobs.latest("explore_policy")
        return studio.show(
            request,
            "compare",
            state="ready",
            job=job,
            frontier=frontier,
            table=() if frontier is None else sorted(rows(frontier, language_of(request)), key=lambda row: row.score),
            families=() if frontier is None else list(dict.fromkeys(p.candidate.family for p in frontier.points)),
            best=None if frontier is None else _best(frontier),
            plan=policy.explore,
            written=_other_settings(policy.text),
            risks=[name for name, _ in forms.catalogue("risk or attack")],
            losses=[name for name, _ in forms.catalogue("loss")],
            options=comparison_options(policy, frontier),
            rows_of_input=studio.samples.sample(policy).rows,
        )

    @router.post("/explore")
    def begin(sent: SubmittedForm) -> Response:
        with project.lock():
            studio.jobs.refuse_second("explore_policy")
            studio.change(sent, lambda text: _set_exploration(text, sent))
            exploration.start(project, studio.jobs)
        return studio.redirect("/compare", "begun_exploring")

    @router.get("/map")
    def chart(request: Request, query: Annotated[MapQuery, Query()]) -> Response:
        frontier = _need_frontier(studio)
        window = zoom_window(frontier, query)
        shown = [row.index for row in rows(frontier) if query.shows(row)]
        language = language_of(request)
        drawn = ru_map(
            frontier, window=window, shown=set(shown), choosable=True, chosen=query.chosen, language=language
        )
        return studio.draw(
            request,
            "compare",
            "map.html.j2",
            picture=drawn,
            window=window,
            whole=whole_window(frontier),
            shown=len(shown),
            all=len(frontier.points),
        )

    @router.get("/candidate")
    def candidate(request: Request, index: int) -> Response:
        row = rows(_need_frontier(studio), language_of(request))[_index(studio, index)]
        return studio.draw(request, "compare", "candidate.html.j2", row=row)

    @router.post("/apply")
    def apply(sent: SubmittedForm) -> Response:
        frontier = _need_frontier(studio)
        point = frontier.points[_index(studio, forms.read_number(sent, "index", -1, whole=True))]
        studio.change(sent, lambda text: lists.replace_steps(text, point.candidate.spec()))
        return studio.redirect("/compare", "applied")

    @router.get("/pair")
    def pair(request: Request, a: str = "original", b: str = "policy") -> Response:
        policy = project.policy()
        try:
            values = _Comparison(studio, policy).template_values(language_of(request), a, b)
        except CelosiaError as error:
            return studio.draw(request, "compare", "trouble.html.j2", sentence=str(error))
        return studio.draw(request, "compare", "pair.html.j2", **values)


class PairValues(TypedDict):
    """Values of the template ``pair.html.j2``."""

    numbers: list[dict[str, object]]
    columns: list[tuple[ColumnPair, str]]
    maps: list[tuple[Dependences, str, str]]
    risk: Threat
    loss: Loss
    size: int
    rows: int
    names: list[str]


class _Comparison:
    """Two candidates on the same sample."""

    def __init__(self, studio: Studio, policy: Policy) -> None:
        self.studio, self.policy = studio, policy
        whole = studio.samples.table(policy)
        key = version_of(repr(toml_edit.get(policy.text, ("schema",))))
        self.rows = len(whole)
        self.table: Table = studio.samples.get(policy, f"compared {key}", lambda: sample_of(whole))

    def template_values(self, language: str, a: str, b: str) -> PairValues:
        """Return measures and pictures of two candidates for the template."""
        p = words(language, "compare")
        labels = dict(comparison_options(self.policy, exploration.load_frontier(self.studio.project)))
        names = [
            p[label] if label in ("original", "policy") else label for label in (labels.get(a, a), labels.get(b, b))
        ]
        left, right = tables = self.protect(a), self.protect(b)
        original = self.table
        risk, loss = measures(original, self.policy.explore.risk, self.policy.explore.loss)
        numbers = []
        for name, table in zip(names, tables, strict=True):
            try:
                values = measure(risk, loss, original, table)
            except CelosiaError as error:
                values = {"reason": str(error)}
            numbers.append({"name": name, "rows": len(table), "suppressed": table.suppressed(), **values})
        columns = [(pair, _picture(pair, names, language)) for pair in column_pairs(left, right)]
        maps = [
            (
                each,
                heatmap(names[0], each.names, each.before, language=language),
                heatmap(names[1], each.names, each.after, language=language),
            )
            for each in dependences(left, right)
        ]
        return {
            "numbers": numbers,
            "columns": columns,
            "maps": maps,
            "risk": risk,
            "loss": loss,
            "size": len(self.table),
            "rows": self.rows,
            "names": names,
        }

    def protect(self, which: str) -> Table:
        """Return the sample itself, or protected by the policy or by a candidate."""
        if which == "original":
            return self.table
        steps = self._steps(which)
        key = version_of(repr([toml_edit.get(self.policy.text, ("schema",)), grammar.show(steps)]))
        return self.studio.samples.get(
            self.policy, f"protected {key}", lambda: protect_table(self.table, steps, seed=1)
        )

    def _steps(self, which: str) -> list[Any]:
        if which == "policy":
            steps = [step.method.spec() for _, step in lists.steps_on(self.policy)]
            if not steps:
                raise InputError(
                    "the policy has no step that is switched on: choose a candidate, or go to the page Protect."
                )
            return steps
        if not which.isdigit():
            raise InputError("choose the original, the policy, or a candidate of the exploration.")
        return _need_frontier(self.studio).points[_index(self.studio, int(which))].candidate.spec()


def _picture(pair: ColumnPair, names: list[str], language: str) -> str:
    series = [(names[0], pair.before), (names[1], pair.after)]
    if pair.edges:
        return overlay(pair.name, pair.edges, series, language=language)
    return bars(pair.name, pair.labels, series, language=language)


def _need_frontier(studio: Studio) -> Frontier:
    frontier = exploration.load_frontier(studio.project)
    if frontier is None:
        raise InputError("there is no exploration of this policy: start one first.")
    return frontier


def _index(studio: Studio, index: int) -> int:
    if not 0 <= index < len(_need_frontier(studio).points):
        raise InputError("there is no such candidate in this exploration.")
    return index


def _best(frontier: Frontier) -> tuple[int | None, str]:
    """Return the index of the best candidate within the limits, or a message that names the nearest one."""
    try:
        best = frontier.best()
    except RequirementError as error:
        return None, str(error)
    return next(i for i, point in enumerate(frontier.points) if point is best), ""


def _set_exploration(text: str, sent: SubmittedForm) -> str:
    """Return the policy with the settings of the form; empty fields mean the defaults."""
    for name, whole in NUMBERS.items():
        number = str(sent.get(name, "")).strip().replace(",", ".")
        place = ("explore", name)
        if not number:
            text = toml_edit.drop(text, place)
            continue
        try:
            value = int(number) if whole else float(number)
        except ValueError:
            raise InputError(f"{name.replace('_', ' ')} must be a {'whole ' if whole else ''}number.") from None
        text = toml_edit.set_value(text, place, value)
    for name in ("risk", "loss"):
        chosen = str(sent.get(name, ""))
        if not chosen:
            text = toml_edit.drop(text, ("explore", name))
        elif _use_of(toml_edit.get(text, ("explore", name))) != chosen:  # keep parameters written by hand
            text = toml_edit.set_value(text, ("explore", name), chosen)
    return text


def _other_settings(text: str) -> list[str]:
    """Return the settings that the form does not show: candidates, and parameters of the measures."""
    plan = toml_edit.get(text, ("explore",), {})
    parts = [part for part in (plan.get("risk"), plan.get("loss")) if part is not None and _use_of(part) != part]
    return [each if isinstance(each, str) else grammar.show(each) for each in (*plan.get("candidate", []), *parts)]


def _use_of(part: object) -> str:
    return str(part.get("use", "")) if isinstance(part, dict) else str(part or "").split("(")[0]


PAGE = Page("compare", 60, "job", routes, tuple(f"explore.{name}" for name in (*NUMBERS, "risk", "loss", "candidate")))
