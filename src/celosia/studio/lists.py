"""The lists of parts that a policy holds: what must hold, what is done, what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from celosia.errors import UnknownName
from celosia.parts import Part, find, grammar
from celosia.release.policy import MEASURED_LOSSES, MEASURED_RISKS, Policy
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
    inner = cls.__module__.removeprefix(cls.home).strip(".").split(".")
    return inner[0] if len(inner) > 1 else ""


def fields(policy: Policy, name: str, use: str, values: Mapping[str, Any], columns: list[str]) -> list[forms.Field]:
    """The form of an entry; what a step takes from the policy may be left empty."""
    listed = the_list(name)
    optional = ("require",) if name == "step" and policy.require else ()
    return forms.form(find(listed.kind, use), values, columns, optional=optional)


def saved(text: str, name: str, position: int | None, sent: Mapping[str, Any]) -> str:
    """The policy with an entry as a form sent it, in its place or at the end."""
    listed = the_list(name)
    entry = forms.part(listed.kind, sent)
    text = listed.settle(text)
    if name == "step":
        entry = _named(text, entry, position, str(sent.get("name", "")).strip())
    if position is None:
        return editing.append(text, listed.place, entry)
    return editing.replace(text, listed.place, position, entry)


def _named(text: str, entry: dict[str, Any], position: int | None, name: str) -> dict[str, Any]:
    """A step with a name of its own where another has the name that it would have: it is switched off by it."""
    there = [raw.get("name", raw["use"]) for i, raw in enumerate(LISTS["step"].raw(text)) if i != position]
    wanted = name or entry["use"]
    if wanted in there:
        wanted = next(f"{wanted}-{i}" for i in range(2, len(there) + 3) if f"{wanted}-{i}" not in there)
    return entry if wanted == entry["use"] else {"name": wanted, **entry}


def switched(text: str, policy: Policy, position: int) -> str:
    """The policy with a step switched off, or on again."""
    name = policy.steps[position].name
    raw = LISTS["step"].raw(text)[position]
    if name != raw.get("name", raw["use"]):  # a name by position would change with the order
        text = editing.replace(text, "step", position, {"name": name, **raw})
    off = list(policy.run.without)
    left = [each for each in off if each != name] if name in off else [*off, name]
    return editing.put(text, ("run", "without"), left) if left else editing.drop(text, ("run", "without"))


def removed(text: str, policy: Policy, name: str, position: int) -> str:
    """The policy without an entry; a step that was switched off is forgotten there too."""
    listed = the_list(name)
    if name == "step" and policy.steps[position].name in policy.run.without:
        text = switched(text, policy, position)
    return editing.remove(listed.settle(text), listed.place, position)
