"""Edits of fuzzy sets in a policy: every part that codes a column gets the same sets."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.errors import InputError
from celosia.release.policy.policy import Policy
from celosia.studio import forms, toml_edit
from celosia.studio.pages.fuzzy.view import Place, Q, places


def set_fuzzy_sets(text: str, policy: Policy, column: str, sets: Mapping[str, str] | None) -> str:
    """Set the sets of a column in every requirement and step that codes it; None removes them."""
    concerned = [place for place in places(policy) if codes_column(place, policy, column)]
    if not concerned:
        raise InputError(f"no requirement or step of the policy codes the column {column!r} by fuzzy sets.")
    for place in concerned:
        entry = _entry(text, place)
        kept = {name: named for name, named in entry.get("sets", {}).items() if name != column}
        entry = {**entry, "sets": kept if sets is None else {**kept, column: dict(sets)}}
        if not entry["sets"]:
            del entry["sets"]
        text = toml_edit.replace(text, place.section, place.position, entry)
    return text


def add_requirement(text: str, column: str, sets: Mapping[str, str]) -> str:
    """Add a requirement: Q-anonymity under these sets."""
    return toml_edit.append(text, "require", {"use": "q-anonymity", "q": Q, "sets": {column: dict(sets)}})


def add_labels(text: str, column: str, sets: Mapping[str, str]) -> str:
    """Add a step that publishes the column as the names of its sets."""
    return toml_edit.append(text, "step", {"use": "fuzzy-recode", "columns": [column], "sets": {column: dict(sets)}})


def set_parameters(text: str, place: Place, **parameters: object) -> str:
    """Set parameters of a requirement; None removes a parameter."""
    entry = {**_entry(text, place), **parameters}
    kept = {name: value for name, value in entry.items() if value is not None}
    return toml_edit.replace(text, place.section, place.position, kept)


def codes_column(place: Place, policy: Policy, column: str) -> bool:
    """Return whether a part codes a column: a model codes all quasi-identifiers, a method its ``columns``."""
    return column in (policy.schema.quasi if place.section == "require" else place.part.columns)


def _entry(text: str, place: Place) -> forms.Parameters:
    """Return the part as a table, also if the file has it in the text grammar."""
    entry = toml_edit.get(text, (place.section, place.position))
    return dict(entry) if isinstance(entry, Mapping) else {"use": place.name, **place.part.spec()}
