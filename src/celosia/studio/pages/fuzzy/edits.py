"""Edits of a policy that concern fuzzy sets: the same sets of a column in every part that codes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.errors import InputError
from celosia.release.policy.policy import Policy
from celosia.studio import editing
from celosia.studio.pages.fuzzy.view import Place, Q, places


def with_sets(text: str, policy: Policy, column: str, sets: Mapping[str, str] | None) -> str:
    """Give a column these sets in every requirement and step that codes it by fuzzy sets; none takes them away."""
    concerned = [place for place in places(policy) if codes(place, policy, column)]
    if not concerned:
        raise InputError(f"no requirement or step of the policy codes the column {column!r} by fuzzy sets.")
    for place in concerned:
        entry = _entry(text, place)
        kept = {name: named for name, named in entry.get("sets", {}).items() if name != column}
        entry = {**entry, "sets": kept if sets is None else {**kept, column: dict(sets)}}
        if not entry["sets"]:
            del entry["sets"]
        text = editing.replace(text, place.section, place.position, entry)
    return text


def with_requirement(text: str, column: str, sets: Mapping[str, str]) -> str:
    """A further requirement: Q-anonymity under these sets."""
    return editing.append(text, "require", {"use": "q-anonymity", "q": Q, "sets": {column: dict(sets)}})


def with_labels(text: str, column: str, sets: Mapping[str, str]) -> str:
    """A further step: the column is published as the names of its sets."""
    return editing.append(text, "step", {"use": "fuzzy-recode", "columns": [column], "sets": {column: dict(sets)}})


def with_parameters(text: str, place: Place, **parameters: Any) -> str:
    """Other parameters of a requirement; those that are None go."""
    entry = {**_entry(text, place), **parameters}
    kept = {name: value for name, value in entry.items() if value is not None}
    return editing.replace(text, place.section, place.position, kept)


def codes(place: Place, policy: Policy, column: str) -> bool:
    """Whether a part codes a column: a model all quasi-identifiers, a method those that it names."""
    return column in (policy.schema.quasi if place.section == "require" else place.part.columns)


def _entry(text: str, place: Place) -> dict[str, Any]:
    """The part as it stands in the file; one in short form is written out."""
    entry = editing.get(text, (place.section, place.position))
    return dict(entry) if isinstance(entry, Mapping) else {"use": place.name, **place.part.spec()}
