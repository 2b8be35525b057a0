"""JSON Schemas of a policy, a certificate and a private record.

Editors complete and check a policy by its schema; other programs read certificates by theirs. All are derived from
the forms; the methods, models, risks and losses in the policy's schema are those of the catalogue.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic.json_schema import JsonSchemaValue

from celosia.parts import KIND, Part, kinds, parts, summary
from celosia.release.evidence.certificate import CERTIFICATE_FORMAT, RECORD_FORMAT, Certificate, Record
from celosia.release.evidence.plain_data import PlainData
from celosia.release.policy.policy import Policy

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def policy_schema() -> JsonSchemaValue:
    """Return the schema of a policy, with every part of the catalogue."""
    form = Policy.model_json_schema()
    definitions = {**form.pop("$defs", {}), **_parts()}
    return _with_title("celosia policy 1", _with_references({**form, "$defs": definitions}))


def certificate_schema() -> JsonSchemaValue:
    """Return the schema of a certificate."""
    return _with_title(CERTIFICATE_FORMAT, Certificate.model_json_schema())


def record_schema() -> JsonSchemaValue:
    """Return the schema of a private record."""
    return _with_title(RECORD_FORMAT, Record.model_json_schema())


SCHEMAS: Mapping[str, Callable[[], JsonSchemaValue]] = {
    "policy": policy_schema,
    "certificate": certificate_schema,
    "record": record_schema,
}


def _with_title(title: str, schema: Mapping[str, Any]) -> JsonSchemaValue:
    return {"$schema": DRAFT, **schema, "title": title}


def _parts() -> JsonSchemaValue:
    """Definitions of each part and each kind, of the steps of a policy and of the candidates of an exploration."""
    definitions: JsonSchemaValue = {}
    for kind in kinds():
        members = parts(kind)
        definitions |= {f"{kind}-{name}": _part(cls) for name, cls in members.items()}
        definitions[kind] = _choice([f"{kind}-{name}" for name in members])
    definitions["risk-or-attack"] = {"anyOf": [_reference("risk"), _reference("attack")]}
    tree, rows = {"type": "object", "not": {"required": ["use"]}}, {"type": "array", "items": {"type": "array"}}
    definitions["hierarchy"]["anyOf"] += [tree, rows]
    methods = parts("method")
    steps = {f"step-{name}": _step(cls) for name, cls in methods.items()}
    varied = {f"varied-{name}": _candidate(cls) for name, cls in methods.items()}
    definitions["step"] = {"oneOf": [_reference(name) for name in steps]}
    single = _choice(list(varied))
    pipeline = {"type": "array", "items": single, "minItems": 1}
    pipeline_table = {
        "type": "object",
        "properties": {"steps": pipeline},
        "required": ["steps"],
        "additionalProperties": False,
    }
    definitions["candidate"] = {"anyOf": [*single["anyOf"], pipeline, pipeline_table]}
    return {**definitions, **steps, **varied}


def _choice(names: list[str]) -> JsonSchemaValue:
    """Return the schema of a part written in the text grammar or as a table."""
    return {"anyOf": [{"type": "string"}, {"oneOf": [_reference(name) for name in names]}]}


def _part(cls: type[Part]) -> JsonSchemaValue:
    form = cls.model_json_schema()
    use = {"const": cls.name, "description": summary(cls)}
    properties = {name: _list_or_one(each) for name, each in form.get("properties", {}).items()}
    about = {"description": summary(cls)}
    return about | _object({"use": use, **properties}, ["use", *form.get("required", [])])


def _step(cls: type[Part]) -> JsonSchemaValue:
    """Return the schema of a method as a step: it may have a name, and ``require`` defaults to that of the policy."""
    form = _part(cls)
    name = {"type": "string", "description": "a name for --until and --without"}
    required = [each for each in form["required"] if each != "require"]
    return {**form, "properties": {**form["properties"], "name": name}, "required": required}


def _candidate(cls: type[Part]) -> JsonSchemaValue:
    """Return the schema of a method to try: parameters may take several values, and columns may be left out."""
    form = _part(cls)
    values = {"type": "array", "minItems": 1}
    vary = {"description": "parameter → values to try"} | _object(dict.fromkeys(cls.model_fields, values), [])
    return {**form, "properties": {**form["properties"], "vary": vary}, "required": ["use"]}


def _list_or_one(form: JsonSchemaValue) -> JsonSchemaValue:
    """Extend the schema of a list of parts to a single part, which is read as a list of one."""
    items = form.get("items", {})
    if form.get("type") != "array" or KIND not in items:
        return form
    about = {"title", "description", "default"}
    texts = {key: value for key, value in form.items() if key in about}
    rest = {key: value for key, value in form.items() if key not in about}
    return {**texts, "anyOf": [rest, items]}


def _object(properties: JsonSchemaValue, required: list[str]) -> JsonSchemaValue:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name.replace(' ', '-')}"}


def _with_references(form: PlainData) -> PlainData:
    """Replace every mark of a nested part by a reference to the parts of that kind."""
    if isinstance(form, list):
        return [_with_references(each) for each in form]
    if not isinstance(form, dict):
        return form
    if KIND in form:
        others = {key: value for key, value in form.items() if key not in {KIND, "type"}}
        return {**others, **_reference(form[KIND])}
    return {key: _with_references(value) for key, value in form.items()}
