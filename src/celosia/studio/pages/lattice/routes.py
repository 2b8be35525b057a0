"""The routes of the page of the lattice."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request, Response

from celosia.errors import CelosiaError, RequirementError
from celosia.methods.generalisation.generalise import Generalise, impossible
from celosia.parts import grammar
from celosia.release.policy.policy import Policy
from celosia.studio import editing
from celosia.studio.lists import steps_on
from celosia.studio.pages.lattice.view import Landscape, Levels, Node, generalisation
from celosia.studio.project import version_of
from celosia.studio.studio import Page, Sent, Studio

PATIENCE = 5.0
"""Seconds for judging what is drawn."""
KEPT = 2
"""Searched lattices that are kept in memory: each holds the codes of all records."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    kept = _Kept(studio)

    @router.get("")
    def page(request: Request, node: str = "") -> Response:
        if not studio.project.ready:
            return studio.show(request, "lattice", state="empty")
        policy = studio.project.policy()
        if not policy.schema.quasi:
            return studio.show(request, "lattice", state="quasi")
        if not policy.require and not any(isinstance(step.method, Generalise) for _, step in steps_on(policy)):
            return studio.show(request, "lattice", state="require")
        return studio.show(request, "lattice", state="ready", node=node)

    @router.get("/look")
    def look(request: Request, node: str = "", judge: bool = False) -> Response:
        """The lattice itself: it may take a moment, so the page asks for it when it is there."""
        policy = studio.project.policy()
        try:
            given = kept.shown(policy, node, judge=judge)
        except CelosiaError as error:
            return studio.draw(request, "lattice", "trouble.html.j2", sentence=str(error))
        return studio.draw(request, "lattice", "look.html.j2", **given)

    @router.post("/choose")
    def choose(sent: Sent) -> Response:
        policy = studio.project.policy()
        landscape = kept.landscape(policy)
        levels = landscape.levels(str(sent.get("node", "")))
        if not landscape.look(levels).holds:
            raise RequirementError(
                "these levels do not meet the requirements within the records that may be suppressed: "
                "choose a combination that is marked as safe."
            )
        fixed = dict(zip(landscape.names, levels, strict=True))
        studio.change(sent, lambda text: _with_levels(text, policy, fixed))
        return studio.back("/lattice", "chosen")

    @router.post("/free")
    def free(sent: Sent) -> Response:
        policy = studio.project.policy()
        studio.change(sent, lambda text: _with_levels(text, policy, {}))
        return studio.back("/lattice", "freed")


class _Kept:
    """The lattices that were searched, by what they depend on."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self._lock = threading.Lock()
        self._landscapes: OrderedDict[str, Landscape] = OrderedDict()

    def landscape(self, policy: Policy) -> Landscape:
        """The searched lattice of the policy; searched once, whichever node is chosen."""
        method = _method(policy)
        key = version_of(
            repr([editing.get(policy.text, (name,)) for name in ("input", "schema")])
            + grammar.show(method.model_copy(update={"levels": {}}).spec())
        )
        with self._lock:
            if key not in self._landscapes:
                self._landscapes[key] = Landscape.of(self.studio.samples.table(policy), method)
                while len(self._landscapes) > KEPT:
                    self._landscapes.popitem(last=False)
            self._landscapes.move_to_end(key)
            return self._landscapes[key]

    def shown(self, policy: Policy, node: str, *, judge: bool) -> dict[str, Any]:
        """What the page shows around a node: the one asked for, the one that is fixed, or the best."""
        landscape, method = self.landscape(policy), _method(policy)
        with self._lock:  # it remembers what it judges
            fixed = landscape.chosen(method.levels)
            at: Levels = landscape.levels(node) if node else fixed or landscape.start
            if judge:
                landscape.judge(at, PATIENCE)
            here = landscape.consequences(at)
            drawn = landscape.drawn(at)
            refusal = ""
            if landscape.result.best is None:
                refusal = impossible(
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
                "rows": _rows(drawn),
                "unknown": sum(node.state == "unknown" for node in drawn),
                "neighbours": {move.node.levels for move in (*here.finer, *here.coarser)},
                "refusal": refusal,
            }


def _rows(drawn: Sequence[Node]) -> list[tuple[int, list[Node]]]:
    """The nodes of the picture by the sum of their levels, the coarsest first."""
    rows: dict[int, list[Node]] = {}
    for node in drawn:
        rows.setdefault(sum(node.levels), []).append(node)
    return sorted(rows.items(), reverse=True)


def _method(policy: Policy) -> Generalise:
    return generalisation(policy.require, [step.method for _, step in steps_on(policy)])


def _with_levels(text: str, policy: Policy, fixed: dict[str, int]) -> str:
    """The policy whose generalisation has these levels, or finds its own; one is added where there is none."""
    position = next((i for i, step in steps_on(policy) if isinstance(step.method, Generalise)), None)
    if position is None:
        return editing.append(text, "step", {"use": "generalise", **({"levels": fixed} if fixed else {})})
    place = ("step", position, "levels")
    return editing.put(text, place, fixed) if fixed else editing.drop(text, place)


PAGE = Page("lattice", 50, "job", routes)
