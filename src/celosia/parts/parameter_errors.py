"""Messages about invalid parameters: part, field, rule and value in one sentence each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from celosia.errors import suggestion

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic.fields import FieldInfo

    from celosia.parts import Part

_PHRASES = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "string_unicode": "must be a text without half a character",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "int_parsing_size": "must be a smaller whole number",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table of names and values",
    "too_short": "must have at least {min_length} items",
    "too_long": "must have at most {max_length} items",
}


def phrase(finding: Mapping[str, Any]) -> str:
    """Return the rule that a value violates, from one of pydantic's findings, without the value.

    >>> phrase({"type": "greater_than", "ctx": {"gt": 0}})
    'must be more than 0'
    """
    template = _PHRASES.get(finding["type"])
    return template.format(**finding.get("ctx") or {}) if template else finding["msg"][0].lower() + finding["msg"][1:]


def explain(cls: type[Part], error: ValidationError) -> str:
    """Turn pydantic's findings into one sentence each: part, field, rule, value."""
    findings = cast("list[Mapping[str, Any]]", error.errors())
    return " ".join(sentence(cls.name, cls.model_fields, finding) for finding in findings)


def sentence(name: str, fields: Mapping[str, FieldInfo], finding: Mapping[str, Any]) -> str:
    """Return the message for one of pydantic's findings about a model, which messages call ``name``."""
    where = ".".join(str(step) for step in finding["loc"] if not str(step).startswith(("function-", "tagged-")))
    field = str(finding["loc"][0]) if finding["loc"] else ""
    if finding["type"] == "missing":
        info = fields.get(field) if where == field else None
        meaning = f" ({info.description})" if info and info.description else ""
        return f"{name}: {where} is required{meaning}."
    if finding["type"] == "extra_forbidden":
        return f"{name} has no parameter {where!r}.{suggestion(where, fields)}"
    context = finding.get("ctx") or {}
    if finding["type"] == "value_error":
        message = str(context.get("error", finding["msg"]))
        return message if message.startswith(name) or not where else f"{name}: {where}: {message}"
    if field in fields and any(getattr(mark, "hidden", False) for mark in fields[field].metadata):
        return f"{name}: {where} {phrase(finding)}."
    return f"{name}: {where} {phrase(finding)}, got {shorten(finding.get('input'))}."


def shorten(value: object) -> str:
    """Return a value as text for a message, cut when it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
