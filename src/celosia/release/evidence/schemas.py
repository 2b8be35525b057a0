"""The JSON Schemas of what Celosia reads and writes: policy, certificate, private record.

Editors complete and check a policy by its schema; other programs read certificates by theirs. All of them follow from
the forms; the methods, models, risks and losses in the policy's schema are those of the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from celosia.parts import KIND, Part, kinds, parts, summary
from celosia.release.evidence.certificate import CERTIFICATE_FORMAT, RECORD_FORMAT, Certificate, Record
from celosia.release.policy.policy import Policy

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def policy_schema() -> dict[str, Any]:
    """The schema of a policy, with every part that there is."""
    form = Policy.model_json_schema()
    definitions = {**form.pop("$defs", {}), **_parts()}
    return _headed("celosia policy 1", _referring({**form, "$defs": definitions}))


def certificate_schema() -> dict[str, Any]:
    """The schema of a certificate."""
    return _headed(CERTIFICATE_FORMAT, Certificate.model_json_schema())


def record_schema() -> dict[str, Any]:
    """The schema of a private record."""
    return _headed(RECORD_FORMAT, Record.model_json_schema())


SCHEMAS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "policy": policy_schema,
    "certificate": certificate_schema,
    "record": record_schema,
}


def _headed(title: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"$schema": DRAFT, **schema, "title": title}


def _parts() -> dict[str, Any]:
    """A definition for each part and each kind, for the steps of a policy and for candidates of an exploration."""
    definitions: dict[str, Any] = {}
    for kind in kinds():
        members = parts(kind)
        definitions |= {f"{kind}-{name}": _part(cls) for name, cls in members.items()}
        definitions[kind] = _choice([f"{kind}-{name}" for name in members])
    definitions["risk-or-attack"] = {"anyOf": [_reference("risk"), _reference("attack")]}
    tree, rows = {"type": "object", "not": {"required": ["use"]}}, {"type": "array", "items": {"type": "array"}}
    definitions["hierarchy"]["anyOf"] += [tree, rows]
    methods = parts("method")
    steps = {f"step-{name}": _step(cls) for name, cls in methods.items()}
    varied = {f"varied-{name}": _varied(cls) for name, cls in methods.items()}
    definitions["step"] = {"oneOf": [_reference(name) for name in steps]}
    single = _choice(list(varied))
    pipeline = {"type": "array", "items": single, "minItems": 1}
    several = {
        "type": "object",
        "properties": {"steps": pipeline},
        "required": ["steps"],
        "additionalProperties": False,
    }
    definitions["candidate"] = {"anyOf": [*single["anyOf"], pipeline, several]}
    return {**definitions, **steps, **varied}


def _choice(names: list[str]) -> dict[str, Any]:
    """A part in the text grammar, or as a table."""
    return {"anyOf": [{"type": "string"}, {"oneOf": [_reference(name) for name in names]}]}


def _part(cls: type[Part]) -> dict[str, Any]:
    form = cls.model_json_schema()
    use = {"const": cls.name, "description": summary(cls)}
    properties = {name: _several(each) for name, each in form.get("properties", {}).items()}
    about = {"description": summary(cls)}
    return about | _object({"use": use, **properties}, ["use", *form.get("required", [])])


def _step(cls: type[Part]) -> dict[str, Any]:
    """A method as a step: it may have a name, and takes the requirements of the policy where it names none."""
    form = _part(cls)
    name = {"type": "string", "description": "a name for --until and --without"}
    required = [each for each in form["required"] if each != "require"]
    return {**form, "properties": {**form["properties"], "name": name}, "required": required}


def _varied(cls: type[Part]) -> dict[str, Any]:
    """A method to try: parameters may take several values, and its columns are found where none is named."""
    form = _part(cls)
    values = {"type": "array", "minItems": 1}
    vary = {"description": "parameter → values to try"} | _object(dict.fromkeys(cls.model_fields, values), [])
    return {**form, "properties": {**form["properties"], "vary": vary}, "required": ["use"]}


def _several(form: dict[str, Any]) -> dict[str, Any]:
    """One part where several are wanted is a list of one."""
    items = form.get("items", {})
    if form.get("type") != "array" or KIND not in items:
        return form
    about = {"title", "description", "default"}
    kept = {key: value for key, value in form.items() if key in about}
    rest = {key: value for key, value in form.items() if key not in about}
    return {**kept, "anyOf": [rest, items]}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name.replace(' ', '-')}"}


def _referring(form: Any) -> Any:
    """Every mark of a nested part replaced by a reference to the parts of that kind."""
    if isinstance(form, list):
        return [_referring(each) for each in form]
    if not isinstance(form, dict):
        return form
    if KIND in form:
        beside = {key: value for key, value in form.items() if key not in {KIND, "type"}}
        return {**beside, **_reference(form[KIND])}
    return {key: _referring(value) for key, value in form.items()}
