"""The lists of parts in a policy: requirements, steps, measured risks and losses."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.errors import InputError, UnknownName
from celosia.parts import Part, find, grammar, home
from celosia.release.policy.policy import MEASURED_LOSSES, MEASURED_RISKS, Policy, Step
from celosia.release.report.texts import description
from celosia.release.report.texts import words as report_words
from celosia.studio import forms, toml_edit


@dataclass(frozen=True)
class PartList:
    """A list of parts: its place in the file and the kind of its parts."""

    name: str
    place: tuple[str, ...]
    kind: str
    usual: tuple[str, ...] = ()
    """Entries that apply if the list is missing."""

    def raw(self, text: str) -> list[forms.Parameters]:
        """Return the entries of the file; those in the text grammar as tables."""
        listed = toml_edit.get(text, self.place, list(self.usual))
        return [grammar.part(entry) if isinstance(entry, str) else dict(entry) for entry in listed]

    def write_default(self, text: str) -> str:
        """Write the default entries into a policy without this list, so that they can be edited."""
        if self.usual and toml_edit.get(text, self.place) is None:
            return toml_edit.set_value(text, self.place, list(self.usual))
        return text


LISTS = {
    each.name: each
    for each in (
        PartList("require", ("require",), "model"),
        PartList("step", ("step",), "method"),
        PartList("risks", ("measure", "risks"), "risk or attack", MEASURED_RISKS),
        PartList("losses", ("measure", "losses"), "loss", MEASURED_LOSSES),
    )
}


@dataclass(frozen=True)
class Entry:
    """An entry of a list for display."""

    position: int
    use: str
    name: str
    """Name of the step."""
    meaning: str
    settings: str
    on: bool


def get_list(name: str) -> PartList:
    """Return a list by its name."""
    if name not in LISTS:
        raise UnknownName.of("list", name, LISTS)
    return LISTS[name]


def entries(policy: Policy, name: str, language: str) -> list[Entry]:
    """Return the entries of a list for display in a language."""
    sentences, listed = report_words(language), get_list(name)
    shown = []
    for i, raw in enumerate(listed.raw(policy.text)):
        step = policy.steps[i].name if name == "step" else ""
        settings = {key: value for key, value in raw.items() if key not in ("use", "name")}
        text = ", ".join(f"{key} = {grammar.show(value)}" for key, value in settings.items())
        about = description(find(listed.kind, raw["use"]), sentences)
        shown.append(Entry(i, raw["use"], step, about, text, step not in policy.run.without))
    return shown


def choices(name: str, language: str) -> dict[str, list[tuple[str, str]]]:
    """Return the parts that can be added to a list as (name, meaning), by family."""
    sentences = report_words(language)
    families: dict[str, list[tuple[str, str]]] = {}
    for use, cls in forms.catalogue(get_list(name).kind):
        families.setdefault(_family(cls), []).append((use, description(cls, sentences)))
    return dict(sorted(families.items()))


def _family(cls: type[Part]) -> str:
    """Return the subpackage of a part within the package of its kind; empty if there is none."""
    inner = cls.__module__.removeprefix(home(cls.kind)).strip(".").split(".")
    return inner[0] if len(inner) > 1 else ""


def fields(policy: Policy, name: str, use: str, values: Mapping[str, Any], columns: list[str]) -> list[forms.Field]:
    """Return the form fields of an entry; ``require`` of a step is optional if the policy has requirements."""
    listed = get_list(name)
    optional = ("require",) if name == "step" and policy.require else ()
    return forms.fields(find(listed.kind, use), values, columns, optional=optional)


def save_entry(text: str, policy: Policy, name: str, position: int | None, sent: forms.Submitted) -> str:
    """Return the policy with an entry from a form, replaced or appended; a disabled step stays disabled."""
    listed = get_list(name)
    entry = forms.read_part(listed.kind, sent)
    text = listed.write_default(text)
    if name != "step":
        return _insert_entry(text, listed, position, entry)
    taken = [step.name for i, step in enumerate(policy.steps) if i != position]
    entry = _with_unique_name(entry, taken, str(sent.get("name", "")).strip())
    text = _insert_entry(write_names(text, policy), listed, position, entry)
    before = "" if position is None else _step_name(policy, position)
    return _set_disabled(text, [_name(entry) if each == before else each for each in policy.run.without])


def draft_sections(policy: Policy, name: str, position: int | None, sent: forms.Submitted) -> forms.Parameters:
    """Return the parsed policy with an entry from an unsaved form, for a preview."""
    listed = get_list(name)
    entry, entries = forms.read_part(listed.kind, sent), listed.raw(policy.text)
    sections: forms.Parameters = tomllib.loads(policy.text)
    if position is not None and position >= len(entries):
        raise InputError("there is no such entry.")
    if name == "step":
        taken = [step.name for i, step in enumerate(policy.steps) if i != position]
        entries = [{"name": step.name, **raw} for step, raw in zip(policy.steps, entries, strict=True)]
        entry = _with_unique_name(entry, taken, str(sent.get("name", "")).strip())
        if position is not None and policy.run.without:
            before = policy.steps[position].name
            off = [_name(entry) if each == before else each for each in policy.run.without]
            sections["run"] = {**sections["run"], "without": off}
    if position is None:
        entries.append(entry)
    else:
        entries[position] = entry
    here = sections
    for key in listed.place[:-1]:
        here = here.setdefault(key, {})
    here[listed.place[-1]] = entries
    return sections


def _insert_entry(text: str, listed: PartList, position: int | None, entry: forms.Parameters) -> str:
    if position is None:
        return toml_edit.append(text, listed.place, entry)
    return toml_edit.replace(text, listed.place, position, entry)


def _with_unique_name(entry: forms.Parameters, taken: Collection[str], name: str) -> forms.Parameters:
    """Return a step with a unique name: steps are disabled by name."""
    wanted = name or entry["use"]
    if wanted in taken:
        wanted = next(f"{wanted}-{i}" for i in range(2, len(taken) + 3) if f"{wanted}-{i}" not in taken)
    return entry if wanted == entry["use"] else {"name": wanted, **entry}


def _step_name(policy: Policy, position: int) -> str:
    if position >= len(policy.steps):
        raise InputError(f"there is no step {position + 1}.")
    return policy.steps[position].name


def _name(raw: Mapping[str, Any]) -> str:
    """Return the name of a step in the file: ``name``, or the method."""
    return str(raw.get("name", raw["use"]))


def write_names(text: str, policy: Policy) -> str:
    """Write the generated names of steps if any step is disabled by name, so that reordering keeps them."""
    if not policy.run.without:
        return text
    for i, (step, raw) in enumerate(zip(policy.steps, LISTS["step"].raw(text), strict=True)):
        if step.name != _name(raw):  # generated from the position
            text = toml_edit.replace(text, "step", i, {"name": step.name, **raw})
    return text


def _set_disabled(text: str, names: Sequence[str]) -> str:
    place = ("run", "without")
    return toml_edit.set_value(text, place, list(names)) if names else toml_edit.drop(text, place)


def toggle_step(text: str, policy: Policy, position: int) -> str:
    """Return the policy with a step disabled, or enabled again."""
    name, off = _step_name(policy, position), policy.run.without
    left = [each for each in off if each != name] if name in off else [*off, name]
    changed = policy.model_copy(update={"run": policy.run.model_copy(update={"without": tuple(left or off)})})
    return _set_disabled(write_names(text, changed), left)


def move_entry(text: str, policy: Policy, name: str, position: int, target: int) -> str:
    """Return the policy with an entry at another position."""
    listed = get_list(name)
    text = write_names(text, policy) if name == "step" else listed.write_default(text)
    return toml_edit.move(text, listed.place, position, target)


def remove_entry(text: str, policy: Policy, name: str, position: int) -> str:
    """Return the policy without an entry; a removed step also leaves ``run.without``."""
    listed = get_list(name)
    if name == "step":
        removed = _step_name(policy, position)
        text = _set_disabled(write_names(text, policy), [each for each in policy.run.without if each != removed])
    return toml_edit.remove(listed.write_default(text), listed.place, position)


def replace_steps(text: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the policy with these steps only, all enabled."""
    text = _set_disabled(text, ())
    for _ in toml_edit.get(text, ("step",), []):
        text = toml_edit.remove(text, "step", 0)
    for step in steps:
        text = toml_edit.append(text, "step", step)
    return text


def steps_on(policy: Policy) -> list[tuple[int, Step]]:
    """Return the enabled steps with their positions in the file."""
    return [(i, step) for i, step in enumerate(policy.steps) if step.name not in policy.run.without]
