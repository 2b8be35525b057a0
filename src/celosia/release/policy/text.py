"""A policy that was made in Python, as the file that it could have been: so that its release can be repeated too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.toml_text import table, tables
from celosia.parts import Part, resolve_paths

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.release.policy.policy import Policy


def policy_toml(policy: Policy) -> str:
    """The policy in TOML, with whole paths; the seed is left out. A table in memory can only be named.

    >>> from celosia import Policy
    >>> made = Policy.of({"input": {"path": "/data/people.csv"}, "require": ["k-anonymity(k=5)"]})
    >>> Policy.parse(policy_toml(made)).require
    (KAnonymity(k=5),)
    """
    import tomlkit

    document = tomlkit.document()
    for name in ("about", "input", "guard", "history", "output"):
        section = getattr(policy, name).model_dump(mode="json", by_alias=True, exclude_defaults=True)
        if section or name == "input":
            document.add(name, table({key: _whole(key, value) for key, value in section.items()}))
    document.add("schema", table(_columns(policy.schema)))
    if policy.require:
        document.add("require", tables(whole_spec(model) for model in policy.require))
    if policy.steps:
        document.add("step", tables({"name": step.name, **whole_spec(step.method)} for step in policy.steps))
    measured = {"risks": policy.risks, "losses": policy.losses}
    document.add("measure", table({name: [whole_spec(part) for part in parts] for name, parts in measured.items()}))
    return tomlkit.dumps(document)


def whole_spec(part: Part) -> dict[str, Any]:
    """A part as plain data, its paths whole: it can be built again wherever somebody is."""
    spec: dict[str, Any] = resolve_paths(part.kind, part.spec(), Path.cwd())
    return spec


def _whole(key: str, value: Any) -> Any:
    """The paths of a section, whole."""
    if key == "path":
        return str(Path(value).absolute())
    return [str(Path(path).absolute()) for path in value] if key == "releases" else value


def _columns(schema: Schema) -> dict[str, Any]:
    declared = [column for column in schema.columns if column.declared]
    built = {column.name: schema.hierarchy(column.name) for column in declared}
    facts = {
        "bounds": {column.name: list(column.bounds) for column in declared if column.bounds},
        "orders": {column.name: list(column.order) for column in declared if column.order},
        "hierarchies": {name: whole_spec(hierarchy) for name, hierarchy in built.items() if hierarchy is not None},
    }
    return {**schema.spec(), "rest": schema.rest, **{key: value for key, value in facts.items() if value}}
