"""The routes of the page of hierarchies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, unquote, urlencode

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import RedirectResponse

from celosia.data.schema import Role
from celosia.errors import CelosiaError, InputError, UnknownName
from celosia.hierarchy import Hierarchy, hierarchy
from celosia.hierarchy.level_table import LevelTable
from celosia.parts import grammar, parts, summary
from celosia.proposals import ColumnSuggestion
from celosia.release.policy.policy import Policy
from celosia.show.charts import cut_histogram
from celosia.studio import editing
from celosia.studio.pages.hierarchies import drafting
from celosia.studio.pages.hierarchies.view import Values, histogram, levels_view, starting_point
from celosia.studio.studio import Page, Sent, Studio, language_of
from celosia.studio.wording import words

COOKIE = "hierarchies-column"


@dataclass(frozen=True)
class Tab:
    """A column in the list."""

    name: str
    role: str
    levels: int | None
    """Levels above the values; None without a hierarchy, 0 where it does not fit the values."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    room = _Room(studio)

    @router.get("")
    def page(request: Request, column: str = "") -> Response:
        if not studio.project.ready:
            return studio.show(request, "hierarchies", tabs=None)
        policy = studio.project.policy()
        tabs = room.tabs(policy)
        remembered = unquote(request.cookies.get(COOKIE, ""))
        names = [tab.name for tab in tabs]
        chosen = next((name for name in (column, remembered, *names) if name in names), "")
        given = room.editor(request, policy, chosen) if chosen else {}
        answer = studio.show(request, "hierarchies", tabs=tabs, column=chosen, **given)
        answer.set_cookie(COOKIE, quote(chosen), samesite="strict", httponly=True)
        return answer

    @router.post("/preview")
    def preview(request: Request, sent: Sent) -> Response:
        policy = studio.project.policy()
        shown, problem = None, ""
        try:
            shown = levels_view(room.values(policy, sent.get("column", "")), hierarchy(drafting.draft(sent)))
        except CelosiaError as error:
            problem = str(error)
        return studio.draw(request, "hierarchies", "levels.html.j2", levels=shown, trouble=problem)

    @router.post("/save")
    def save(sent: Sent) -> Response:
        name, spec = room.column(sent), drafting.draft(sent)
        levels_view(room.values(studio.project.policy(), name), hierarchy(spec))
        return room.put(sent, name, spec, "changed")

    @router.post("/builder")
    def builder(sent: Sent) -> Response:
        name = room.column(sent)
        return room.put(sent, name, room.begun(studio.project.policy(), name, str(sent.get("use", ""))), "set")

    @router.post("/remove")
    def remove(sent: Sent) -> Response:
        name = room.column(sent)
        studio.change(sent, lambda text: editing.drop(text, ("schema", "hierarchies", name)))
        return room.back(name, "removed")

    @router.post("/tree")
    def tree(sent: Sent) -> Response:
        policy = studio.project.policy()
        name = room.column(sent)
        chosen = policy.schema.hierarchy(name)
        if chosen is None:
            raise InputError("the column has no hierarchy yet: begin with one.")
        changed = drafting.changed(drafting.forest(room.values(policy, name), chosen), sent)
        spec = {"use": "tree", "tree": changed.spec(), **({"fallback": chosen.fallback} if chosen.fallback else {})}
        return room.put(sent, name, spec, "changed")

    @router.post("/upload")
    def upload(
        file: Annotated[UploadFile, File()],
        column: Annotated[str, Form()],
        version: Annotated[str, Form()] = "",
        fallback: Annotated[str, Form()] = "",
    ) -> Response:
        if not file.filename:
            raise InputError("choose a file first.")
        sent = {"column": column, "version": version}
        name = room.column(sent)
        more = {"fallback": "*"} if fallback else {}
        values = room.values(studio.project.policy(), name)

        def fits(path: Path) -> None:
            levels_view(values, LevelTable(path=path, **more))

        studio.project.check(version)
        kept = studio.project.keep(file.filename, file.file, fits)
        spec = {"use": "levels", "path": str(kept.relative_to(studio.project.folder)), **more}
        return room.put(sent, name, spec, "imported")


class _Room:
    """What the routes share."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def values(self, policy: Policy, name: str) -> Values:
        """The values of a column over the full data, counted once per input."""
        if name not in self._raw(policy).names:
            raise UnknownName.of("column", name, self._raw(policy).names)
        values: Values = self.studio.samples.read_once(
            policy, f"values {name}", lambda: Values.of(self._raw(policy), name)
        )
        return values

    def _raw(self, policy: Policy) -> Any:
        return self.studio.samples.raw(policy)

    def suggestion(self, policy: Policy, name: str) -> ColumnSuggestion | None:
        """What is proposed for a column."""
        return self.studio.samples.proposals(policy).get(name)

    def tabs(self, policy: Policy) -> list[Tab]:
        """The columns that can be made coarser: quasi-identifiers first, then what has a hierarchy or is sensitive."""
        schema = policy.schema
        rest = [name for name in schema.names if name not in schema.quasi]
        others = [name for name in rest if schema[name].hierarchy is not None or Role.SENSITIVE in schema[name].roles]
        names = self._raw(policy).names
        return [
            Tab(name, "quasi" if name in schema.quasi else "sensitive", self._height(policy, name))
            for name in (*schema.quasi, *others)
            if name in names
        ]

    def _height(self, policy: Policy, name: str) -> int | None:
        if policy.schema[name].hierarchy is None:
            return None
        try:
            chosen = policy.schema.hierarchy(name)
            return None if chosen is None else len(levels_view(self.values(policy, name), chosen).rows) - 1
        except CelosiaError:
            return 0

    def editor(self, request: Request, policy: Policy, name: str) -> dict[str, Any]:
        """What the page shows of one column."""
        values = self.values(policy, name)
        p = words(language_of(request), "hierarchies")
        proposal = self.suggestion(policy, name)
        kind = str(policy.schema[name].kind or (proposal.kind if proposal else "nominal"))
        given: dict[str, Any] = {
            "values": values,
            "kind": kind,
            "builders": self._builders(kind),
            "proposal": proposal if proposal is not None and proposal.hierarchy else None,
            "chosen": None,
            "levels": None,
            "written": _written(policy, name),
            "trouble": "",
        }
        try:
            chosen = policy.schema.hierarchy(name)
        except CelosiaError as error:
            return {**given, "trouble": str(error)}
        if chosen is None:
            return given
        return {**given, **self._drawn(p, values, chosen, policy.schema.names)}

    def _drawn(self, p: dict[str, Any], values: Values, chosen: Hierarchy, columns: tuple[str, ...]) -> dict[str, Any]:
        given: dict[str, Any] = {
            "chosen": chosen,
            "summary": summary(chosen),
            "picture": "",
            "forest": None,
            "listed": drafting.listed(values, chosen),
            "fields": drafting.fields_of(chosen, columns),
            "units": drafting.UNITS,
        }
        try:
            given["levels"] = levels_view(values, chosen)
            if drafting.shows_tree(chosen):
                given["forest"] = drafting.forest(values, chosen)
        except CelosiaError as error:
            given["trouble"] = str(error)
            if chosen.name == "tree":
                given["forest"] = drafting.forest(values, chosen)
        shape = histogram(values) if chosen.name == "intervals" else None
        if shape is not None:
            breaks = [float(value) for value in given["listed"]]
            title = p["drag"].format(column=values.name)
            given["picture"] = cut_histogram(title, shape.edges, shape.counts, breaks, step=shape.step, grip=p["grip"])
        return given

    def _builders(self, kind: str) -> list[str]:
        """The builders of the catalogue, those that suit the kind first."""
        first = {"numeric": ("intervals", "balanced"), "date": ("dates",), "ordinal": ("order",)}
        likely = [*first.get(kind, ("tree", "prefixes")), "priority"]
        every = [name for name in parts("hierarchy") if name != "levels"]
        return [*(name for name in likely if name in every), *(name for name in every if name not in likely)]

    def begun(self, policy: Policy, name: str, use: str) -> dict[str, Any]:
        """A first hierarchy with a builder: what is proposed, what suits the values, or the builder as it is."""
        values, proposal = self.values(policy, name), self.suggestion(policy, name)
        proposed = proposal.hierarchy if proposal is not None else None
        if proposed is not None and use in ("proposed", proposed["use"]):
            return dict(proposed)
        kinds = {"intervals": "numeric", "dates": "date", "tree": "nominal"}
        if use in kinds:
            return starting_point(values, kinds[use])
        if use == "order":
            return {"use": "order", "order": list(policy.schema[name].order) or sorted(values.texts)}
        if use not in parts("hierarchy"):
            raise UnknownName.of("hierarchy", use, parts("hierarchy"))
        return {"use": use}

    def column(self, sent: Any) -> str:
        """The column that a form is about."""
        name = str(sent.get("column", ""))
        self.values(self.studio.project.policy(), name)
        return name

    def put(self, sent: Any, name: str, spec: dict[str, Any], said: str) -> Response:
        """Write a hierarchy into the policy."""
        self.studio.change(sent, lambda text: editing.put(text, ("schema", "hierarchies", name), spec))
        return self.back(name, said)

    def back(self, name: str, said: str) -> Response:
        """To the page with the same column."""
        return RedirectResponse(f"/hierarchies?{urlencode({'column': name, 'said': said})}", 303)


def _written(policy: Policy, name: str) -> str:
    """A hierarchy as the policy has it: the form of a tree or of a file does not hold all its settings."""
    spec = editing.get(policy.text, ("schema", "hierarchies", name))
    if spec is None:
        return ""
    return spec if isinstance(spec, str) else grammar.show(spec)


PAGE = Page("hierarchies", 20, "job", routes, ("schema.hierarchies",))
