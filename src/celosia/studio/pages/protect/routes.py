"""Routes of the protect page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from fastapi import APIRouter, Request, Response

from celosia.errors import CelosiaError, InputError
from celosia.parts import Part, find
from celosia.studio import forms, lists, runs
from celosia.studio.pages.protect.preview import preview
from celosia.studio.studio import Page, Studio, SubmittedForm, language_of


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes of the page."""
    project = studio.project

    @router.get("")
    def protect(request: Request, change: str = "", add: str = "") -> Response:
        if not project.has_policy:
            return studio.show(request, "protect", entries=None)
        language, policy = language_of(request), project.policy()
        return studio.show(
            request,
            "protect",
            entries={name: lists.entries(policy, name, language) for name in lists.LISTS},
            choices={name: lists.choices(name, language) for name in lists.LISTS},
            opened=_open_form(studio, change, add),
            job=studio.jobs.latest("run_policy"),
            now=project.version,
        )

    @router.post("/form")
    def form(request: Request, sent: SubmittedForm) -> Response:
        name, position = _entry_of(sent)
        raw = forms.read_part(lists.get_list(name).kind, sent)
        opened = _form(studio, name, raw, position)
        return studio.draw(request, "protect", "_fields.html.j2", opened=opened)

    @router.post("/preview")
    def look(request: Request, sent: SubmittedForm) -> Response:
        name, position = _entry_of(sent)
        now = project.policy()
        policy = project.draft(lists.draft_sections(now, name, position, sent), now.text)
        changed = ""
        if name == "step":
            changed = policy.steps[-1 if position is None else position].name
        try:
            shown = preview(policy, studio.samples, language_of(request), changed)
        except CelosiaError as refusal:  # the sample cannot meet it; the form itself is valid and can be saved
            return studio.draw(request, "protect", "_preview.html.j2", preview=None, why=str(refusal))
        return studio.draw(request, "protect", "_preview.html.j2", preview=shown)

    @router.post("/save")
    def save(sent: SubmittedForm) -> Response:
        name, position = _entry_of(sent)
        studio.change(sent, lambda text: lists.save_entry(text, project.policy(text), name, position, sent))
        return studio.redirect("/protect", "saved")

    @router.post("/move")
    def move(sent: SubmittedForm) -> Response:
        name, position = _entry_of(sent)
        to = _position(sent.text("to", ""))
        studio.change(
            sent, lambda text: lists.move_entry(text, project.policy(text), name, _need_position(position), to)
        )
        return studio.redirect("/protect", "moved")

    @router.post("/remove")
    def remove(sent: SubmittedForm) -> Response:
        name, position = _entry_of(sent)
        studio.change(sent, lambda text: lists.remove_entry(text, project.policy(text), name, _need_position(position)))
        return studio.redirect("/protect", "removed")

    @router.post("/switch")
    def switch(sent: SubmittedForm) -> Response:
        _, position = _entry_of(sent)
        studio.change(sent, lambda text: lists.toggle_step(text, project.policy(text), _need_position(position)))
        return studio.redirect("/protect", "switched")

    @router.post("/run")
    def run() -> Response:
        runs.start_run(project, studio.jobs)
        return studio.redirect("/protect")


class OpenForm(TypedDict):
    """Values of the template for the form of an entry."""

    list: str
    position: int | str
    use: str
    name: str
    part: type[Part]
    fields: Sequence[forms.Field]


def _open_form(studio: Studio, change: str, add: str) -> OpenForm | None:
    """Return the open form: ``change`` names an entry (``step.0``), ``add`` a new part (``step.noise``)."""
    name, _, which = (change or add).partition(".")
    if not which:
        return None
    listed = lists.get_list(name)
    if add:
        return _form(studio, name, {"use": find(listed.kind, which).name}, None)
    raw = listed.raw(studio.project.text)
    position = _position(which)
    if position >= len(raw):
        return None
    return _form(studio, name, raw[position], position)


def _form(studio: Studio, name: str, raw: forms.Parameters, position: int | None) -> OpenForm:
    policy = studio.project.policy()
    columns = list(studio.samples.sample(policy).table.names)
    values = {key: value for key, value in raw.items() if key not in ("use", "name")}
    return {
        "list": name,
        "position": "" if position is None else position,
        "use": raw["use"],
        "name": raw.get("name", ""),
        "part": find(lists.get_list(name).kind, raw["use"]),
        "fields": lists.fields(policy, name, raw["use"], values, columns),
    }


def _entry_of(sent: SubmittedForm) -> tuple[str, int | None]:
    """Return the list and the position of the entry of a form; position None for a new entry."""
    position = sent.text("position", "")
    return sent.text("list", ""), None if position == "" else _position(position)


def _position(text: str) -> int:
    if not text.isdigit():
        raise InputError("there is no such entry.")
    return int(text)


def _need_position(position: int | None) -> int:
    if position is None:
        raise InputError("there is no such entry.")
    return position


PAGE = Page("protect", 40, "job", routes, ("require", "step", "measure", "run.without"))
