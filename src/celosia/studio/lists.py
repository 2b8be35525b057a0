"""The lists of parts that a policy holds: what must hold, what is done, what is measured."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.errors import InputError, UnknownName
from celosia.parts import Part, find, grammar, home
from celosia.release.policy.policy import MEASURED_LOSSES, MEASURED_RISKS, Policy, Step
from celosia.release.report.telling import meaning
from celosia.release.report.telling import words as report_words
from celosia.studio import editing, forms


@dataclass(frozen=True)
class PartList:
    """One of the lists: where it stands in the file, and the kind of its parts."""

    name: str
    place: tuple[str, ...]
    kind: str
    usual: tuple[str, ...] = ()
    """What holds where the file says nothing."""

    def raw(self, text: str) -> list[dict[str, Any]]:
        """The entries as the file has them; one in the text grammar as a table."""
        listed = editing.get(text, self.place, list(self.usual))
        return [grammar.part(entry) if isinstance(entry, str) else dict(entry) for entry in listed]

    def settle(self, text: str) -> str:
        """Write down what held without being said, so that it can be changed."""
        if self.usual and editing.get(text, self.place) is None:
            return editing.put(text, self.place, list(self.usual))
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
    """An entry of a list as a page shows it."""

    position: int
    use: str
    name: str
    """The name of a step."""
    meaning: str
    settings: str
    on: bool


def the_list(name: str) -> PartList:
    """The list of that name."""
    if name not in LISTS:
        raise UnknownName.of("list", name, LISTS)
    return LISTS[name]


def entries(policy: Policy, name: str, language: str) -> list[Entry]:
    """The entries of a list, in the language of the reader."""
    sentences, listed = report_words(language), the_list(name)
    shown = []
    for i, raw in enumerate(listed.raw(policy.text)):
        step = policy.steps[i].name if name == "step" else ""
        settings = {key: value for key, value in raw.items() if key not in ("use", "name")}
        text = ", ".join(f"{key} = {grammar.show(value)}" for key, value in settings.items())
        about = meaning(find(listed.kind, raw["use"]), sentences)
        shown.append(Entry(i, raw["use"], step, about, text, step not in policy.run.without))
    return shown


def choices(name: str, language: str) -> dict[str, list[tuple[str, str]]]:
    """The parts that can be added to a list, by family: name and what it is."""
    sentences = report_words(language)
    families: dict[str, list[tuple[str, str]]] = {}
    for use, cls in forms.catalogue(the_list(name).kind):
        families.setdefault(_family(cls), []).append((use, meaning(cls, sentences)))
    return dict(sorted(families.items()))


def _family(cls: type[Part]) -> str:
    """The folder of a part below the home of its kind; empty where it lies in the home itself."""
    inner = cls.__module__.removeprefix(home(cls.kind)).strip(".").split(".")
    return inner[0] if len(inner) > 1 else ""


def fields(policy: Policy, name: str, use: str, values: Mapping[str, Any], columns: list[str]) -> list[forms.Field]:
    """The form of an entry; what a step takes from the policy may be left empty."""
    listed = the_list(name)
    optional = ("require",) if name == "step" and policy.require else ()
    return forms.form(find(listed.kind, use), values, columns, optional=optional)


def saved(text: str, policy: Policy, name: str, position: int | None, sent: Mapping[str, Any]) -> str:
    """The policy with an entry as a form sent it, in its place or at the end; a step that was off stays off."""
    listed = the_list(name)
    entry = forms.part(listed.kind, sent)
    text = listed.settle(text)
    if name != "step":
        return _placed(text, listed, position, entry)
    there = [step.name for i, step in enumerate(policy.steps) if i != position]
    entry = _named(entry, there, str(sent.get("name", "")).strip())
    text = _placed(fixed_names(text, policy), listed, position, entry)
    before = "" if position is None else _name_of(policy, position)
    return _without(text, [_name(entry) if each == before else each for each in policy.run.without])


def drafted(policy: Policy, name: str, position: int | None, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The sections of the policy with an entry as a form has it: for a look, without writing the file anew."""
    listed = the_list(name)
    entry, entries = forms.part(listed.kind, sent), listed.raw(policy.text)
    sections: dict[str, Any] = tomllib.loads(policy.text)
    if position is not None and position >= len(entries):
        raise InputError("that entry is not there.")
    if name == "step":
        there = [step.name for i, step in enumerate(policy.steps) if i != position]
        entries = [{"name": step.name, **raw} for step, raw in zip(policy.steps, entries, strict=True)]
        entry = _named(entry, there, str(sent.get("name", "")).strip())
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


def _placed(text: str, listed: PartList, position: int | None, entry: dict[str, Any]) -> str:
    if position is None:
        return editing.append(text, listed.place, entry)
    return editing.replace(text, listed.place, position, entry)


def _named(entry: dict[str, Any], there: Collection[str], name: str) -> dict[str, Any]:
    """A step with a name of its own where another has the name that it would have: it is switched off by it."""
    wanted = name or entry["use"]
    if wanted in there:
        wanted = next(f"{wanted}-{i}" for i in range(2, len(there) + 3) if f"{wanted}-{i}" not in there)
    return entry if wanted == entry["use"] else {"name": wanted, **entry}


def _name_of(policy: Policy, position: int) -> str:
    if position >= len(policy.steps):
        raise InputError(f"there is no step {position + 1}.")
    return policy.steps[position].name


def _name(raw: Mapping[str, Any]) -> str:
    """The name that a step has in the file."""
    return str(raw.get("name", raw["use"]))


def fixed_names(text: str, policy: Policy) -> str:
    """The policy whose steps keep their names in any order, where some are switched off: those go by their names."""
    if not policy.run.without:
        return text
    for i, (step, raw) in enumerate(zip(policy.steps, LISTS["step"].raw(text), strict=True)):
        if step.name != _name(raw):  # a name by position
            text = editing.replace(text, "step", i, {"name": step.name, **raw})
    return text


def _without(text: str, names: Sequence[str]) -> str:
    place = ("run", "without")
    return editing.put(text, place, list(names)) if names else editing.drop(text, place)


def switched(text: str, policy: Policy, position: int) -> str:
    """The policy with a step switched off, or on again."""
    name, off = _name_of(policy, position), policy.run.without
    left = [each for each in off if each != name] if name in off else [*off, name]
    changed = policy.model_copy(update={"run": policy.run.model_copy(update={"without": tuple(left or off)})})
    return _without(fixed_names(text, changed), left)


def moved(text: str, policy: Policy, name: str, position: int, target: int) -> str:
    """The policy with an entry in another place."""
    listed = the_list(name)
    text = fixed_names(text, policy) if name == "step" else listed.settle(text)
    return editing.move(text, listed.place, position, target)


def removed(text: str, policy: Policy, name: str, position: int) -> str:
    """The policy without an entry; a step that was switched off is forgotten there too."""
    listed = the_list(name)
    if name == "step":
        gone = _name_of(policy, position)
        text = _without(fixed_names(text, policy), [each for each in policy.run.without if each != gone])
    return editing.remove(listed.settle(text), listed.place, position)


def with_steps(text: str, steps: Sequence[Mapping[str, Any]]) -> str:
    """The policy with these steps and no others, all of them switched on."""
    text = _without(text, ())
    for _ in editing.get(text, ("step",), []):
        text = editing.remove(text, "step", 0)
    for step in steps:
        text = editing.append(text, "step", step)
    return text


def steps_on(policy: Policy) -> list[tuple[int, Step]]:
    """The steps that are switched on, with their positions in the file."""
    return [(i, step) for i, step in enumerate(policy.steps) if step.name not in policy.run.without]
