"""The routes of the page of comparisons."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from celosia.errors import CelosiaError, InputError, RequirementError
from celosia.frontier import Frontier
from celosia.frontier.exploration import measures
from celosia.frontier.trial import measure
from celosia.parts import grammar
from celosia.release.measuring import protect
from celosia.release.policy.policy import Policy
from celosia.release.report.ru_map import ru_map, whole_window
from celosia.show.charts import bars, heatmap, overlay
from celosia.studio import editing, forms, lists
from celosia.studio.pages.compare import exploration
from celosia.studio.pages.compare.view import Sight, compared, options_of, rows, zoomed
from celosia.studio.project import version_of
from celosia.studio.studio import Page, Sent, Studio, language_of
from celosia.studio.wording import words
from celosia.table import Table
from celosia.views.comparing.columns import overlaid
from celosia.views.comparing.dependences import dependences

NUMBERS = {"seeds": True, "max_risk": False, "max_loss": False, "budget_seconds": False}
"""The numbers of an exploration, and whether they are whole."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    project = studio.project

    @router.get("")
    def page(request: Request) -> Response:
        if not project.ready:
            return studio.show(request, "compare", state="empty")
        policy = project.policy()
        frontier = exploration.explored(project)
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
            written=_written(policy.text),
            risks=[name for name, _ in forms.catalogue("risk or attack")],
            losses=[name for name, _ in forms.catalogue("loss")],
            options=options_of(policy, frontier),
            rows_of_input=studio.samples.sample(policy).rows,
        )

    @router.post("/explore")
    def begin(sent: Sent) -> Response:
        with project.alone():
            studio.jobs.refuse_second("explore_policy")
            studio.change(sent, lambda text: _planned(text, sent))
            exploration.start(project, studio.jobs)
        return studio.back("/compare", "begun_exploring")

    @router.get("/map")
    def chart(request: Request, sight: Annotated[Sight, Query()]) -> Response:
        frontier = _explored(studio)
        window = zoomed(frontier, sight)
        shown = [row.index for row in rows(frontier) if sight.shows(row)]
        language = language_of(request)
        drawn = ru_map(
            frontier, window=window, shown=set(shown), choosable=True, chosen=sight.chosen, language=language
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
        row = rows(_explored(studio), language_of(request))[_index(studio, index)]
        return studio.draw(request, "compare", "candidate.html.j2", row=row)

    @router.post("/apply")
    def apply(sent: Sent) -> Response:
        frontier = _explored(studio)
        point = frontier.points[_index(studio, forms.number(sent, "index", -1, whole=True))]
        studio.change(sent, lambda text: lists.with_steps(text, point.candidate.spec()))
        return studio.back("/compare", "applied")

    @router.get("/pair")
    def pair(request: Request, a: str = "original", b: str = "policy") -> Response:
        policy = project.policy()
        try:
            given = _Pair(studio, policy).shown(language_of(request), a, b)
        except CelosiaError as error:
            return studio.draw(request, "compare", "trouble.html.j2", sentence=str(error))
        return studio.draw(request, "compare", "pair.html.j2", **given)


class _Pair:
    """Two candidates on the same sample."""

    def __init__(self, studio: Studio, policy: Policy) -> None:
        self.studio, self.policy = studio, policy
        whole = studio.samples.table(policy)
        key = version_of(repr(editing.get(policy.text, ("schema",))))
        self.rows = len(whole)
        self.table: Table = studio.samples.once(policy, f"compared {key}", lambda: compared(whole))

    def shown(self, language: str, a: str, b: str) -> dict[str, Any]:
        """What the page shows of two candidates."""
        p = words(language, "compare")
        labels = dict(options_of(self.policy, exploration.explored(self.studio.project)))
        names = [
            p[label] if label in ("original", "policy") else label for label in (labels.get(a, a), labels.get(b, b))
        ]
        left, right = tables = self.protected(a), self.protected(b)
        original = self.table
        risk, loss = measures(original, self.policy.explore.risk, self.policy.explore.loss)
        numbers = []
        for name, table in zip(names, tables, strict=True):
            try:
                values = measure(risk, loss, original, table)
            except CelosiaError as error:
                values = {"reason": str(error)}
            numbers.append({"name": name, "rows": len(table), "suppressed": table.suppressed(), **values})
        columns = [(pair, _picture(pair, names, language)) for pair in overlaid(left, right)]
        maps = [
            (
                each,
                *(
                    heatmap(name, each.names, side, language=language)
                    for name, side in zip(names, (each.before, each.after), strict=True)
                ),
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

    def protected(self, which: str) -> Table:
        """The sample as it is, as the policy has it protected, or as a candidate has."""
        if which == "original":
            return self.table
        steps = self._steps(which)
        key = version_of(repr([editing.get(self.policy.text, ("schema",)), grammar.show(steps)]))
        table: Table = self.studio.samples.once(
            self.policy, f"protected {key}", lambda: protect(self.table, *steps, seed=1)
        )
        return table

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
        return _explored(self.studio).points[_index(self.studio, int(which))].candidate.spec()


def _picture(pair: Any, names: list[str], language: str) -> str:
    series = [(names[0], pair.before), (names[1], pair.after)]
    if pair.edges:
        return overlay(pair.name, pair.edges, series, language=language)
    return bars(pair.name, pair.labels, series, language=language)


def _explored(studio: Studio) -> Frontier:
    frontier = exploration.explored(studio.project)
    if frontier is None:
        raise InputError("there is no exploration of this policy: start one first.")
    return frontier


def _index(studio: Studio, index: int) -> int:
    if not 0 <= index < len(_explored(studio).points):
        raise InputError("there is no such candidate in this exploration.")
    return index


def _best(frontier: Frontier) -> tuple[int | None, str]:
    """The number of the best candidate under the limits, or the sentence that says which is nearest."""
    try:
        best = frontier.best()
    except RequirementError as error:
        return None, str(error)
    return next(i for i, point in enumerate(frontier.points) if point is best), ""


def _planned(text: str, sent: dict[str, Any]) -> str:
    """The policy with the settings of the exploration; what a form leaves empty is as usual."""
    for name, whole in NUMBERS.items():
        given = str(sent.get(name, "")).strip().replace(",", ".")
        place = ("explore", name)
        if not given:
            text = editing.drop(text, place)
            continue
        try:
            value = int(given) if whole else float(given)
        except ValueError:
            raise InputError(f"{name.replace('_', ' ')} must be a {'whole ' if whole else ''}number.") from None
        text = editing.put(text, place, value)
    for name in ("risk", "loss"):
        chosen = str(sent.get(name, ""))
        if not chosen:
            text = editing.drop(text, ("explore", name))
        elif _used(editing.get(text, ("explore", name))) != chosen:  # parameters that were written by hand stay
            text = editing.put(text, ("explore", name), chosen)
    return text


def _written(text: str) -> list[str]:
    """What an exploration is told that the form does not hold: its candidates, the parameters of its measures."""
    plan = editing.get(text, ("explore",), {})
    parts = [part for part in (plan.get("risk"), plan.get("loss")) if part is not None and _used(part) != part]
    return [each if isinstance(each, str) else grammar.show(each) for each in (*plan.get("candidate", []), *parts)]


def _used(part: Any) -> str:
    return str(part.get("use", "")) if isinstance(part, dict) else str(part or "").split("(")[0]


PAGE = Page("compare", 60, "job", routes, tuple(f"explore.{name}" for name in (*NUMBERS, "risk", "loss", "candidate")))
