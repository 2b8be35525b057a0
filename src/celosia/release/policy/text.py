"""Text of a policy that was built in Python, so that its release can be repeated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.toml_text import table, tables
from celosia.parts import Part, resolve_paths

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.release.policy.policy import Policy


def policy_toml(policy: Policy) -> str:
    """Policy in TOML, with absolute paths and without the seed; the path of a table in memory is only a name.

    >>> from celosia import Policy
    >>> made = Policy.of({"input": {"path": "/data/people.csv"}, "require": ["k-anonymity(k=5)"]})
    >>> Policy.parse(policy_toml(made)).require
    (KAnonymity(k=5),)
    """
    import tomlkit

    document = tomlkit.document()
    for name in ("about", "purpose", "input", "guard", "history", "output"):
        section = getattr(policy, name).model_dump(mode="json", by_alias=True, exclude_defaults=True)
        if section or name == "input":
            document.add(name, table({key: _absolute(key, value) for key, value in section.items()}))
    document.add("schema", table(_columns(policy.schema)))
    if policy.require:
        document.add("require", tables(absolute_spec(model) for model in policy.require))
    if policy.steps:
        document.add("step", tables({"name": step.name, **absolute_spec(step.method)} for step in policy.steps))
    measured = {"risks": policy.risks, "losses": policy.losses}
    document.add("measure", table({name: [absolute_spec(part) for part in parts] for name, parts in measured.items()}))
    return tomlkit.dumps(document)


def absolute_spec(part: Part) -> dict[str, Any]:
    """Part as plain data with absolute paths, so that it can be built from any working directory."""
    spec: dict[str, Any] = resolve_paths(part.kind, part.spec(), Path.cwd())
    return spec


def _absolute(key: str, value: object) -> object:
    """Make the paths of a section absolute."""
    if key == "path":
        return str(Path(str(value)).absolute())
    return [str(Path(path).absolute()) for path in value] if key == "releases" and isinstance(value, list) else value


def _columns(schema: Schema) -> dict[str, Any]:
    declared = [column for column in schema.columns if column.declared]
    built = {column.name: schema.hierarchy(column.name) for column in declared}
    facts = {
        "bounds": {column.name: list(column.bounds) for column in declared if column.bounds},
        "orders": {column.name: list(column.order) for column in declared if column.order},
        "hierarchies": {name: absolute_spec(hierarchy) for name, hierarchy in built.items() if hierarchy is not None},
    }
    return {**schema.spec(), "rest": schema.rest, **{key: value for key, value in facts.items() if value}}
