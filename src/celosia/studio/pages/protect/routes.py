"""The routes of the page that protects."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from celosia.errors import CelosiaError, InputError
from celosia.parts import find
from celosia.studio import forms, lists, running
from celosia.studio.pages.protect.previewing import preview
from celosia.studio.studio import Page, Sent, Studio, language_of


def routes(studio: Studio, router: APIRouter) -> None:
    """Add the routes."""
    project = studio.project

    @router.get("")
    def protect(request: Request, change: str = "", add: str = "") -> Response:
        if not project.ready:
            return studio.show(request, "protect", entries=None)
        language, policy = language_of(request), project.policy()
        return studio.show(
            request,
            "protect",
            entries={name: lists.entries(policy, name, language) for name in lists.LISTS},
            choices={name: lists.choices(name, language) for name in lists.LISTS},
            opened=_opened(studio, change, add),
            job=studio.jobs.latest("run_policy"),
            now=project.version,
        )

    @router.post("/form")
    def form(request: Request, sent: Sent) -> Response:
        name, position = _entry(sent)
        raw = forms.part(lists.the_list(name).kind, sent)
        opened = _form(studio, name, raw, position)
        return studio.draw(request, "protect", "_fields.html.j2", opened=opened)

    @router.post("/preview")
    def look(request: Request, sent: Sent) -> Response:
        name, position = _entry(sent)
        now = project.policy()
        policy = project.drafted(lists.drafted(now, name, position, sent), now.text)
        changed = ""
        if name == "step":
            changed = policy.steps[-1 if position is None else position].name
        try:
            shown = preview(policy, studio.samples, language_of(request), changed)
        except CelosiaError as refusal:  # of the sample: the form itself is right, and can be saved
            return studio.draw(request, "protect", "_preview.html.j2", preview=None, why=str(refusal))
        return studio.draw(request, "protect", "_preview.html.j2", preview=shown)

    @router.post("/save")
    def save(sent: Sent) -> Response:
        name, position = _entry(sent)
        studio.change(sent, lambda text: lists.saved(text, project.policy(text), name, position, sent))
        return studio.back("/protect", "saved")

    @router.post("/move")
    def move(sent: Sent) -> Response:
        name, position = _entry(sent)
        to = _position(sent.get("to"))
        studio.change(sent, lambda text: lists.moved(text, project.policy(text), name, _is(position), to))
        return studio.back("/protect", "moved")

    @router.post("/remove")
    def remove(sent: Sent) -> Response:
        name, position = _entry(sent)
        studio.change(sent, lambda text: lists.removed(text, project.policy(text), name, _is(position)))
        return studio.back("/protect", "removed")

    @router.post("/switch")
    def switch(sent: Sent) -> Response:
        _, position = _entry(sent)
        studio.change(sent, lambda text: lists.switched(text, project.policy(text), _is(position)))
        return studio.back("/protect", "switched")

    @router.post("/run")
    def run() -> Response:
        running.start_run(project, studio.jobs)
        return studio.back("/protect")


def _opened(studio: Studio, change: str, add: str) -> dict[str, Any] | None:
    """The entry whose form is open: one to change, ``step.0``, or one to add, ``step.noise``."""
    name, _, which = (change or add).partition(".")
    if not which:
        return None
    listed = lists.the_list(name)
    if add:
        return _form(studio, name, {"use": find(listed.kind, which).name}, None)
    raw = listed.raw(studio.project.text)
    position = _position(which)
    if position >= len(raw):
        return None
    return _form(studio, name, raw[position], position)


def _form(studio: Studio, name: str, raw: dict[str, Any], position: int | None) -> dict[str, Any]:
    policy = studio.project.policy()
    columns = list(studio.samples.sample(policy).table.names)
    values = {key: value for key, value in raw.items() if key not in ("use", "name")}
    return {
        "list": name,
        "position": "" if position is None else position,
        "use": raw["use"],
        "name": raw.get("name", ""),
        "part": find(lists.the_list(name).kind, raw["use"]),
        "fields": lists.fields(policy, name, raw["use"], values, columns),
    }


def _entry(sent: dict[str, Any]) -> tuple[str, int | None]:
    """Which entry a form is about: its list and its position, none for a new one."""
    position = sent.get("position", "")
    return sent.get("list", ""), None if position == "" else _position(position)


def _position(text: Any) -> int:
    if not str(text).isdigit():
        raise InputError("that entry is not there.")
    return int(text)


def _is(position: int | None) -> int:
    if position is None:
        raise InputError("that entry is not there.")
    return position


PAGE = Page("protect", 40, "job", routes, ("require", "step", "measure", "run.without"))
