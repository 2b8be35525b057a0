"""Routes of the hierarchies page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict
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
from celosia.studio import toml_edit
from celosia.studio.forms import Field, Parameters, Submitted
from celosia.studio.pages.hierarchies import editor
from celosia.studio.pages.hierarchies.tree import Forest
from celosia.studio.pages.hierarchies.view import LevelsView, Values, histogram, levels_view, starting_point
from celosia.studio.studio import Page, Studio, SubmittedForm, language_of
from celosia.studio.translations import words
from celosia.table import Table

COOKIE = "hierarchies-column"


@dataclass(frozen=True)
class Tab:
    """A column in the list of columns."""

    name: str
    role: str
    levels: int | None
    """Levels above the values; None without a hierarchy, 0 if it does not fit the values."""


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    columns = _ColumnEditor(studio)

    @router.get("")
    def page(request: Request, column: str = "") -> Response:
        if not studio.project.has_policy:
            return studio.show(request, "hierarchies", tabs=None)
        policy = studio.project.policy()
        tabs = columns.tabs(policy)
        remembered = unquote(request.cookies.get(COOKIE, ""))
        names = [tab.name for tab in tabs]
        chosen = next((name for name in (column, remembered, *names) if name in names), "")
        values = columns.template_values(request, policy, chosen) if chosen else {}
        answer = studio.show(request, "hierarchies", tabs=tabs, column=chosen, **values)
        answer.set_cookie(COOKIE, quote(chosen), samesite="strict", httponly=True)
        return answer

    @router.post("/preview")
    def preview(request: Request, sent: SubmittedForm) -> Response:
        policy = studio.project.policy()
        shown, problem = None, ""
        try:
            shown = levels_view(columns.values(policy, sent.text("column", "")), hierarchy(editor.read_form(sent)))
        except CelosiaError as error:
            problem = str(error)
        return studio.draw(request, "hierarchies", "levels.html.j2", levels=shown, trouble=problem)

    @router.post("/save")
    def save(sent: SubmittedForm) -> Response:
        name, spec = columns.column(sent), editor.read_form(sent)
        levels_view(columns.values(studio.project.policy(), name), hierarchy(spec))
        return columns.write(sent, name, spec, "changed")

    @router.post("/builder")
    def builder(sent: SubmittedForm) -> Response:
        name = columns.column(sent)
        return columns.write(
            sent, name, columns.initial_hierarchy(studio.project.policy(), name, sent.text("use", "")), "set"
        )

    @router.post("/remove")
    def remove(sent: SubmittedForm) -> Response:
        name = columns.column(sent)
        studio.change(sent, lambda text: toml_edit.drop(text, ("schema", "hierarchies", name)))
        return columns.redirect(name, "removed")

    @router.post("/tree")
    def tree(sent: SubmittedForm) -> Response:
        policy = studio.project.policy()
        name = columns.column(sent)
        chosen = policy.schema.hierarchy(name)
        if chosen is None:
            raise InputError("the column has no hierarchy yet: choose one first.")
        changed = editor.apply_action(editor.build_forest(columns.values(policy, name), chosen), sent)
        spec = {"use": "tree", "tree": changed.spec(), **({"fallback": chosen.fallback} if chosen.fallback else {})}
        return columns.write(sent, name, spec, "changed")

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
        name = columns.column(sent)
        more = {"fallback": "*"} if fallback else {}
        values = columns.values(studio.project.policy(), name)

        def fits(path: Path) -> None:
            levels_view(values, LevelTable(path=path, **more))

        studio.project.check(version)
        kept = studio.project.keep_upload(file.filename, file.file, fits)
        spec = {"use": "levels", "path": str(kept.relative_to(studio.project.folder)), **more}
        return columns.write(sent, name, spec, "imported")


class EditorValues(TypedDict, total=False):
    """Values of the template for the hierarchy of one column."""

    values: Values
    kind: str
    builders: list[str]
    proposal: ColumnSuggestion | None
    written: str
    trouble: str
    chosen: Hierarchy | None
    levels: LevelsView | None
    summary: str
    picture: str
    forest: Forest | None
    listed: list[str]
    fields: list[Field]
    units: tuple[str, ...]


class _ColumnEditor:
    """Values, proposals and edits of the hierarchy of a column; shared by the routes."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def values(self, policy: Policy, name: str) -> Values:
        """Return the values of a column over the full data, cached per input."""
        if name not in self._raw(policy).names:
            raise UnknownName.of("column", name, self._raw(policy).names)
        return self.studio.samples.cached_by_input(policy, f"values {name}", lambda: Values.of(self._raw(policy), name))

    def _raw(self, policy: Policy) -> Table:
        return self.studio.samples.raw(policy)

    def suggestion(self, policy: Policy, name: str) -> ColumnSuggestion | None:
        """Return the proposal for a column."""
        return self.studio.samples.proposals(policy).get(name)

    def tabs(self, policy: Policy) -> list[Tab]:
        """Return the quasi-identifiers, then sensitive columns and others with a hierarchy."""
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

    def template_values(self, request: Request, policy: Policy, name: str) -> EditorValues:
        """Return the values of the editor of one column for the template."""
        values = self.values(policy, name)
        p = words(language_of(request), "hierarchies")
        proposal = self.suggestion(policy, name)
        kind = str(policy.schema[name].kind or (proposal.kind if proposal else "nominal"))
        shown: EditorValues = {
            "values": values,
            "kind": kind,
            "builders": self._builders(kind),
            "proposal": proposal if proposal is not None and proposal.hierarchy else None,
            "chosen": None,
            "levels": None,
            "written": _policy_text(policy, name),
            "trouble": "",
        }
        try:
            chosen = policy.schema.hierarchy(name)
        except CelosiaError as error:
            return {**shown, "trouble": str(error)}
        if chosen is None:
            return shown
        return {**shown, **self._hierarchy_values(p, values, chosen, policy.schema.names)}

    def _hierarchy_values(
        self, p: Mapping[str, str], values: Values, chosen: Hierarchy, columns: tuple[str, ...]
    ) -> EditorValues:
        shown: EditorValues = {
            "chosen": chosen,
            "summary": summary(chosen),
            "picture": "",
            "forest": None,
            "listed": editor.initial_entries(values, chosen),
            "fields": editor.remaining_fields(chosen, columns),
            "units": editor.UNITS,
        }
        try:
            shown["levels"] = levels_view(values, chosen)
            if editor.has_tree(chosen):
                shown["forest"] = editor.build_forest(values, chosen)
        except CelosiaError as error:
            shown["trouble"] = str(error)
            if chosen.name == "tree":
                shown["forest"] = editor.build_forest(values, chosen)
        shape = histogram(values) if chosen.name == "intervals" else None
        if shape is not None:
            breaks = [float(value) for value in shown["listed"]]
            title = p["drag"].format(column=values.name)
            shown["picture"] = cut_histogram(title, shape.edges, shape.counts, breaks, step=shape.step, grip=p["grip"])
        return shown

    def _builders(self, kind: str) -> list[str]:
        """Return the names of all builders, those that suit the kind of the column first."""
        first = {"numeric": ("intervals", "balanced"), "date": ("dates",), "ordinal": ("order",)}
        likely = [*first.get(kind, ("tree", "prefixes")), "priority"]
        every = [name for name in parts("hierarchy") if name != "levels"]
        return [*(name for name in likely if name in every), *(name for name in every if name not in likely)]

    def initial_hierarchy(self, policy: Policy, name: str, use: str) -> Parameters:
        """Return an initial hierarchy: the proposal, one that suits the values, or the builder with defaults."""
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

    def column(self, sent: Submitted) -> str:
        """Return the column of a form; unknown columns raise."""
        name = str(sent.get("column", ""))
        self.values(self.studio.project.policy(), name)
        return name

    def write(self, sent: Submitted, name: str, spec: Parameters, said: str) -> Response:
        """Write a hierarchy into the policy."""
        self.studio.change(sent, lambda text: toml_edit.set_value(text, ("schema", "hierarchies", name), spec))
        return self.redirect(name, said)

    def redirect(self, name: str, said: str) -> Response:
        """Redirect to the page with the same column."""
        return RedirectResponse(f"/hierarchies?{urlencode({'column': name, 'said': said})}", 303)


def _policy_text(policy: Policy, name: str) -> str:
    """Return the hierarchy as written in the policy, because the forms do not show all its settings."""
    spec = toml_edit.get(policy.text, ("schema", "hierarchies", name))
    if spec is None:
        return ""
    return spec if isinstance(spec, str) else grammar.show(spec)


PAGE = Page("hierarchies", 20, "job", routes, ("schema.hierarchies",))
