"""Forms generated from the catalogue: one field for every parameter of a part, with help, bounds and default.

A parameter without a control of its own is entered in the text grammar of the command line, so every parameter of every
registered part can be set.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, overload

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from celosia.errors import InputError, ParameterError
from celosia.parts import KIND, Part, find, grammar, parts, summary
from celosia.parts.columns import ColumnMark
from celosia.parts.part import has_mark
from celosia.parts.registry import covered_kinds
from celosia.show.parse import parse_number

Submitted = Mapping[str, "str | list[str]"]
"""Fields of a submitted form."""
Value = Any
"""Value of a parameter: number, text, truth value, list or part."""
Parameters = dict[str, Value]
"""Parameters of a part as a policy writes them."""
Control = Literal["number", "switch", "choice", "column", "columns", "list", "text", "grammar", "part"]
FIRST = 4
"""Parameters shown unfolded; later and nested ones are unfolded if they are required or set."""

SLIDE = 20
"""Smallest end of a slider for whole numbers without an upper bound."""


@dataclass(frozen=True)
class Field:
    """One parameter as a page shows it."""

    name: str
    """Name of the input: the parameter, prefixed by those that contain it (``objective.gs``)."""
    label: str
    help: str
    control: Control
    value: Any
    """Current value for the input: a text, a bool or a list of columns; empty for the default."""
    default: str
    required: bool
    shown: bool
    """Whether the field is unfolded."""
    whole: bool = False
    least: float | None = None
    most: float | None = None
    options: tuple[tuple[str, str], ...] = ()
    inner: tuple[Field, ...] = ()
    """Parameters of a nested part."""

    @property
    def slides(self) -> bool:
        """Whether the field has a slider: a number with a minimum and an end."""
        return self.control == "number" and self.least is not None and self.reach is not None

    @property
    def reach(self) -> float | None:
        """End of the slider: the upper bound, or beyond the current value if there is none."""
        if self.most is not None or self.least is None:
            return self.most
        now = self.value or self.default
        grown = self.least + 4 * (float(now) - self.least) if now else self.least
        if self.whole:
            return max(SLIDE, grown)
        return grown if grown > self.least else None

    @property
    def step(self) -> str:
        """Step of the number input."""
        return "1" if self.whole else "any"

    @property
    def slide(self) -> str:
        """Step of the slider."""
        if self.whole or self.least is None or self.reach is None:
            return "1"
        return f"{(self.reach - self.least) / 100:g}"


def fields(
    cls: type[BaseModel],
    values: Mapping[str, Any],
    columns: Sequence[str] = (),
    prefix: str = "",
    optional: Collection[str] = (),
) -> list[Field]:
    """Return the form fields of a part, or of a section of a policy.

    ``values`` are the parameters in the policy, ``columns`` those of the table. Parameters in ``optional`` may stay
    empty although the part requires them.

    >>> from celosia.models import KAnonymity
    >>> [(one.label, one.control, one.value, one.least) for one in fields(KAnonymity, {"k": 5})]
    [('k', 'number', '5', 1)]
    """
    schema = cls.model_json_schema()
    definitions, required = schema.get("$defs", {}), set(schema.get("required", ())) - set(optional)
    given = {str(name).replace("-", "_"): value for name, value in values.items()}
    built = []
    for i, (name, info) in enumerate(cls.model_fields.items()):
        shape, nullable = _shape(schema["properties"][name], definitions)
        control = "column" if has_mark(info, ColumnMark) else _control(shape, nullable)
        if control == "column" and shape.get("type") != "string":
            control = "columns"
        value = given.get(name)
        built.append(
            Field(
                name=prefix + name,
                label=name.replace("_", " "),
                help=_sentence(info.description or ""),
                control=control,
                value=_input_value(value, control, _default(cls, name)),
                default=_default_text(_default(cls, name)),
                required=name in required,
                shown=name in required or name in given or (i < FIRST and control not in ("part", "grammar")),
                whole=shape.get("type") == "integer",
                least=_bound(shape, "minimum", "exclusiveMinimum"),
                most=_bound(shape, "maximum", "exclusiveMaximum"),
                options=_options(shape, control, columns, nullable=nullable),
                inner=_inner(shape, value, columns, prefix + name) if control == "part" else (),
            )
        )
    return built


def read(cls: type[BaseModel], sent: Submitted, prefix: str = "") -> Parameters:
    """Return the parameters of a submitted form that differ from their defaults.

    >>> from celosia.models import LDiversity
    >>> read(LDiversity, {"l": "3", "column": "diagnosis", "variant": "distinct"})
    {'column': 'diagnosis', 'l': 3}
    """
    schema = cls.model_json_schema()
    entry: Parameters = {}
    for name, info in cls.model_fields.items():
        shape, nullable = _shape(schema["properties"][name], schema.get("$defs", {}))
        control: Control = "column" if has_mark(info, ColumnMark) else _control(shape, nullable)
        if control == "column" and shape.get("type") != "string":
            control = "columns"
        value = _parse_input(sent, prefix + name, control, shape, name)
        if value is not None and not _is_default(value, _default(cls, name)):
            entry[name] = value
    return entry


def read_part(kind: str, sent: Submitted, prefix: str = "") -> Parameters:
    """Return the part of a submitted form: ``use`` and its parameters."""
    use = str(sent.get(f"{prefix}use", ""))
    return {"use": use, **read(find(kind, use), sent, prefix)}


class FormData(dict[str, "str | list[str]"]):
    """Fields of a submitted form by name: a text, or a list if the name of the input ends in ``[]``."""

    @classmethod
    def of(cls, items: Sequence[tuple[str, object]]) -> FormData:
        """Collect the fields of a request.

        >>> FormData.of([("k", "5"), ("columns[]", "age"), ("columns[]", "zip")])
        {'k': '5', 'columns': ['age', 'zip']}
        """
        data = cls()
        lists: dict[str, list[str]] = {}
        for name, value in items:
            if name.endswith("[]"):
                lists.setdefault(name[:-2], []).append(str(value))
            else:
                data[name] = str(value)
        data.update(lists)
        return data

    def __missing__(self, name: str) -> NoReturn:
        raise InputError(f"the form has no field {name!r}: load the page again.")

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text field; a missing field without a default raises."""
        return str(self[name] if default is None else self.get(name, default))

    def texts(self, name: str) -> list[str]:
        """Return a list field; empty if nothing was chosen."""
        value = self.get(name, [])
        return [value] if isinstance(value, str) else list(value)


@overload
def read_number(sent: Submitted, name: str, default: int | None = None, *, whole: Literal[True]) -> int: ...
@overload
def read_number(sent: Submitted, name: str, default: float | None = None) -> float: ...
def read_number(sent: Submitted, name: str, default: float | None = None, *, whole: bool = False) -> float:
    """Return a finite number of a submitted form, with a decimal point or comma; ``default`` if the field is empty.

    >>> read_number({"low-2": "1,5"}, "low-2"), read_number({}, "rows", 1, whole=True)
    (1.5, 1)
    """
    text, field = str(sent.get(name, "")).strip(), name.partition("-")[0].replace("_", " ")
    if not text and default is not None:
        return default
    value = _as_number(text, field, whole=whole)
    if not math.isfinite(value):
        raise ParameterError(f"{field} must be a finite number.")
    return value


def catalogue(kind: str) -> list[tuple[str, type[Part]]]:
    """Return the parts of a kind, or of all kinds that a name such as ``risk or attack`` covers, by name."""
    return sorted((name, cls) for each_kind in covered_kinds(kind) for name, cls in parts(each_kind).items())


def _shape(given: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[Parameters, bool]:
    """Return the JSON schema of a parameter without references and null, and whether it may be null."""
    shape = dict(given)
    if "$ref" in shape:
        shape = {**definitions[shape.pop("$ref").rsplit("/", 1)[-1]], **shape}
    choices = shape.pop("anyOf", None)
    if choices is None:
        return shape, False
    resolved = [_shape(each, definitions)[0] for each in choices]
    kept = [each for each in resolved if each.get("type") != "null"]
    nullable = len(kept) < len(resolved)
    if len(kept) == 1:
        return {**shape, **kept[0]}, nullable
    if {json.dumps(each, sort_keys=True) for each in kept} >= {'{"type": "string"}'} and any(
        each.get("type") == "array" for each in kept
    ):
        return {**shape, **next(each for each in kept if each.get("type") == "array")}, nullable
    return {**shape, "several": kept}, nullable


def _control(shape: Mapping[str, Any], nullable: bool) -> Control:
    if KIND in shape:
        return "part"
    if "enum" in shape or "const" in shape:
        return "choice"
    match shape.get("type"):
        case "boolean":
            return "choice" if nullable else "switch"
        case "integer" | "number":
            return "number"
        case "string":
            return "text"
        case "array" if shape.get("items", {}).get("type") in ("string", "number", "integer"):
            return "list"
    return "grammar"


def _options(
    shape: Mapping[str, Any], control: Control, columns: Sequence[str], *, nullable: bool
) -> tuple[tuple[str, str], ...]:
    if control in ("column", "columns"):
        return tuple((name, name) for name in columns)
    if control == "part":
        return tuple((name, summary(cls)) for name, cls in catalogue(shape[KIND]))
    if control == "choice":
        values = shape.get("enum", [shape["const"]] if "const" in shape else ["true", "false"])
        return tuple((str(value), str(value)) for value in values)
    return () if nullable or control != "list" else tuple((str(v), str(v)) for v in shape["items"].get("enum", ()))


def _inner(
    shape: Mapping[str, Any], value: str | Mapping[str, Any] | None, columns: Sequence[str], prefix: str
) -> tuple[Field, ...]:
    if not value:
        return ()
    spec = grammar.part(value) if isinstance(value, str) else value
    return tuple(fields(find(shape[KIND], spec["use"]), spec, columns, f"{prefix}."))


def _input_value(value: Value, control: Control, default: object) -> Value:
    """Convert a parameter to the value of its input."""
    if control == "switch":
        return bool(default if value is None else value)
    if control in ("columns", "list"):
        listed = [value] if isinstance(value, str) else list(value or ())
        return listed if control == "columns" else ", ".join(map(_as_text, listed))
    if value is None:
        return ""
    if control == "part":
        return (grammar.part(value) if isinstance(value, str) else value)["use"]
    return grammar.show(value) if control == "grammar" else _as_text(value)


def _parse_input(sent: Submitted, name: str, control: Control, shape: Mapping[str, Any], field: str) -> Value:
    """Convert the value of an input to a parameter; None if it was left empty."""
    if control == "switch":
        return name in sent and sent[name] not in ("", "false")
    if control == "columns":
        chosen = sent.get(name, [])
        return ([chosen] if isinstance(chosen, str) and chosen else list(chosen)) or None
    if control == "part":
        return read_part(shape[KIND], sent, f"{name}.") if sent.get(f"{name}.use") else None
    text = str(sent.get(name, "")).strip()
    if not text:
        return None
    if control == "number":
        return _as_number(text, field, whole=shape.get("type") == "integer")
    if control == "choice" and shape.get("type") == "boolean":
        return text == "true"
    if control == "choice" and shape.get("type") == "integer":
        return int(text)
    if control == "list":
        return grammar.parse(text if text.startswith("[") else f"[{text}]")
    return grammar.parse(text) if control == "grammar" else text


def _as_number(text: str, field: str, *, whole: bool) -> float | int:
    value = parse_number(text, field, "whole number" if whole else "number")
    if whole and not (math.isfinite(value) and value == int(value)):
        raise ParameterError(f"{field} must be a whole number, got {text!r}.")
    return int(value) if whole or text.isdigit() else value


def _default(cls: type[BaseModel], name: str) -> Value:
    info = cls.model_fields[name]
    default = info.get_default(call_default_factory=True, validated_data={})
    return None if default is PydanticUndefined else default


def _is_default(value: object, default: object) -> bool:
    plain = default.spec() if isinstance(default, Part) else list(default) if isinstance(default, tuple) else default
    return bool(value == plain) and isinstance(value, bool) == isinstance(plain, bool)


def _default_text(value: object) -> str:
    """Format a default value for display."""
    if value is None or value == () or value == {}:
        return ""
    if isinstance(value, bool):
        return ""
    if isinstance(value, Part):
        return str(value)
    return ", ".join(map(_as_text, value)) if isinstance(value, tuple | list) else _as_text(value)


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _bound(shape: Mapping[str, Any], *names: str) -> float | None:
    return next((shape[name] for name in names if name in shape), None)


def _sentence(text: str) -> str:
    text = text.replace("``", "").strip()
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", "?")) else ".")
