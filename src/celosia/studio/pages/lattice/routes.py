"""Routes of the lattice page."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TypedDict

from fastapi import APIRouter, Request, Response

from celosia.errors import CelosiaError, RequirementError
from celosia.methods.generalisation.generalise import Generalise, infeasibility
from celosia.parts import grammar
from celosia.release.policy.policy import Policy
from celosia.studio import toml_edit
from celosia.studio.lists import steps_on
from celosia.studio.pages.lattice.view import Consequences, Landscape, Levels, Node, Summary, generalisation
from celosia.studio.project import version_of
from celosia.studio.studio import Page, Studio, SubmittedForm

PATIENCE = 5.0
"""Seconds to check the nodes of the picture."""
CACHED = 2
"""Lattices kept in memory; each contains the codes of all records."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    landscapes = _LandscapeCache(studio)

    @router.get("")
    def page(request: Request, node: str = "") -> Response:
        if not studio.project.has_policy:
            return studio.show(request, "lattice", state="empty")
        policy = studio.project.policy()
        if not policy.schema.quasi:
            return studio.show(request, "lattice", state="quasi")
        if not policy.require and not any(isinstance(step.method, Generalise) for _, step in steps_on(policy)):
            return studio.show(request, "lattice", state="require")
        return studio.show(request, "lattice", state="ready", node=node)

    @router.get("/look")
    def look(request: Request, node: str = "", judge: bool = False) -> Response:
        """Show the lattice; a request of its own because the search may take a moment."""
        policy = studio.project.policy()
        try:
            values = landscapes.template_values(policy, node, judge=judge)
        except CelosiaError as error:
            return studio.draw(request, "lattice", "trouble.html.j2", sentence=str(error))
        return studio.draw(request, "lattice", "look.html.j2", **values)

    @router.post("/choose")
    def choose(sent: SubmittedForm) -> Response:
        policy = studio.project.policy()
        landscape = landscapes.landscape(policy)
        levels = landscape.levels(sent.text("node", ""))
        if not landscape.check(levels).holds:
            raise RequirementError(
                "these levels do not meet the requirements within the records that may be suppressed: "
                "choose a combination that is marked as safe."
            )
        fixed = dict(zip(landscape.names, levels, strict=True))
        studio.change(sent, lambda text: _with_levels(text, policy, fixed))
        return studio.redirect("/lattice", "chosen")

    @router.post("/free")
    def free(sent: SubmittedForm) -> Response:
        policy = studio.project.policy()
        studio.change(sent, lambda text: _with_levels(text, policy, {}))
        return studio.redirect("/lattice", "freed")


class LatticeValues(TypedDict):
    """Values of the template ``look.html.j2``."""

    summary: Summary
    here: Page
    at: Consequences
    fixed: Levels | None
    alternatives: tuple[Node, ...]
    rows: list[tuple[int, list[Node]]]
    unknown: int
    neighbours: set[Levels]
    refusal: str


class _LandscapeCache:
    """Searched lattices by the sections of the policy that they depend on."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self._lock = threading.Lock()
        self._landscapes: OrderedDict[str, Landscape] = OrderedDict()

    def landscape(self, policy: Policy) -> Landscape:
        """Return the searched lattice of a policy; the chosen node does not matter for the cache."""
        method = _method(policy)
        key = version_of(
            repr([toml_edit.get(policy.text, (name,)) for name in ("input", "schema")])
            + grammar.show(method.model_copy(update={"levels": {}}).spec())
        )
        with self._lock:
            if key not in self._landscapes:
                self._landscapes[key] = Landscape.of(self.studio.samples.table(policy), method)
                while len(self._landscapes) > CACHED:
                    self._landscapes.popitem(last=False)
            self._landscapes.move_to_end(key)
            return self._landscapes[key]

    def template_values(self, policy: Policy, node: str, *, judge: bool) -> LatticeValues:
        """Return the values of the template around a node: the requested, the fixed or the best one."""
        landscape, method = self.landscape(policy), _method(policy)
        with self._lock:  # a landscape caches its checks
            fixed = landscape.chosen(method.levels)
            at: Levels = landscape.levels(node) if node else fixed or landscape.start
            if judge:
                landscape.check_around(at, PATIENCE)
            here = landscape.consequences(at)
            nodes = landscape.nodes_around(at)
            refusal = ""
            if landscape.result.best is None:
                refusal = infeasibility(
                    method.name,
                    method.require,
                    landscape.lattice.evaluator,
                    landscape.result,
                    method.target is not None,
                )
            return {
                "summary": landscape.summary(),
                "here": self.studio.pages["lattice"],
                "at": here,
                "fixed": fixed,
                "alternatives": landscape.alternatives(),
                "rows": _rows(nodes),
                "unknown": sum(node.state == "unknown" for node in nodes),
                "neighbours": {move.node.levels for move in (*here.finer, *here.coarser)},
                "refusal": refusal,
            }


def _rows(nodes: Sequence[Node]) -> list[tuple[int, list[Node]]]:
    """Return the nodes of the picture by the sum of their levels, coarsest first."""
    rows: dict[int, list[Node]] = {}
    for node in nodes:
        rows.setdefault(sum(node.levels), []).append(node)
    return sorted(rows.items(), reverse=True)


def _method(policy: Policy) -> Generalise:
    return generalisation(policy.require, [step.method for _, step in steps_on(policy)])


def _with_levels(text: str, policy: Policy, fixed: dict[str, int]) -> str:
    """Return the policy with these levels fixed (free if empty); a missing generalisation is added."""
    position = next((i for i, step in steps_on(policy) if isinstance(step.method, Generalise)), None)
    if position is None:
        return toml_edit.append(text, "step", {"use": "generalise", **({"levels": fixed} if fixed else {})})
    place = ("step", position, "levels")
    return toml_edit.set_value(text, place, fixed) if fixed else toml_edit.drop(text, place)


PAGE = Page("lattice", 50, "job", routes)
