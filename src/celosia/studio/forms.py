"""Forms from the catalogue: a field for every parameter of a part, with its help, bounds and default.

A parameter that has no control of its own is written in the text grammar, as on the command line: so a form shows every
parameter that a part has, and a new part has a form by being defined.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from celosia.errors import InputError, ParameterError
from celosia.parts import KIND, Part, find, grammar, parts, summary
from celosia.parts.columns import ColumnMark
from celosia.parts.part import has_mark
from celosia.parts.registry import covered_kinds
from celosia.show.parse import parse_number

Control = Literal["number", "switch", "choice", "column", "columns", "list", "text", "grammar", "part"]
FIRST = 4
"""Parameters of a part that are shown at once, but for nested ones; of the others, those that are required or set."""

SLIDE = 20
"""Where a slider of whole numbers without an upper bound ends at the least."""


@dataclass(frozen=True)
class Field:
    """One parameter as a page shows it."""

    name: str
    """The name of the input: the parameter, behind those of the parts it is nested in."""
    label: str
    help: str
    control: Control
    value: Any
    """What is set, as an input holds it: a text, a truth value, a list of columns; empty for the default."""
    default: str
    required: bool
    shown: bool
    """Whether it stands in the form itself; the others are folded away."""
    whole: bool = False
    least: float | None = None
    most: float | None = None
    options: tuple[tuple[str, str], ...] = ()
    inner: tuple[Field, ...] = ()
    """The parameters of a nested part."""

    @property
    def slides(self) -> bool:
        """Whether it has a slider: a number with a least value, and a value to slide to."""
        return self.control == "number" and self.least is not None and self.reach is not None

    @property
    def reach(self) -> float | None:
        """The end of a slider: the bound, or where there is none so far beyond the present value that it can grow."""
        if self.most is not None or self.least is None:
            return self.most
        now = self.value or self.default
        grown = self.least + 4 * (float(now) - self.least) if now else self.least
        if self.whole:
            return max(SLIDE, grown)
        return grown if grown > self.least else None

    @property
    def step(self) -> str:
        """The step of a number's input."""
        return "1" if self.whole else "any"

    @property
    def slide(self) -> str:
        """The step of a slider."""
        if self.whole or self.least is None or self.reach is None:
            return "1"
        return f"{(self.reach - self.least) / 100:g}"


def form(
    cls: type[BaseModel],
    values: Mapping[str, Any],
    columns: Sequence[str] = (),
    prefix: str = "",
    optional: Collection[str] = (),
) -> list[Field]:
    """The fields of a part, or of a section of a policy.

    ``values`` are its parameters as a policy has them, ``columns`` those of the table; what is ``optional`` here may be
    left empty though the part itself needs it.

    >>> from celosia.models import KAnonymity
    >>> [(one.label, one.control, one.value, one.least) for one in form(KAnonymity, {"k": 5})]
    [('k', 'number', '5', 1)]
    """
    schema = cls.model_json_schema()
    definitions, required = schema.get("$defs", {}), set(schema.get("required", ())) - set(optional)
    given = {str(name).replace("-", "_"): value for name, value in values.items()}
    fields = []
    for i, (name, info) in enumerate(cls.model_fields.items()):
        shape, nullable = _shape(schema["properties"][name], definitions)
        control = "column" if has_mark(info, ColumnMark) else _control(shape, nullable)
        if control == "column" and shape.get("type") != "string":
            control = "columns"
        value = given.get(name)
        fields.append(
            Field(
                name=prefix + name,
                label=name.replace("_", " "),
                help=_sentence(info.description or ""),
                control=control,
                value=_held(value, control, _default(cls, name)),
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
    return fields


def read(cls: type[BaseModel], sent: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The parameters that a form sent, without those that have their default; ``sent`` gives lists for columns.

    >>> from celosia.models import LDiversity
    >>> read(LDiversity, {"l": "3", "column": "diagnosis", "variant": "distinct"})
    {'column': 'diagnosis', 'l': 3}
    """
    schema = cls.model_json_schema()
    entry: dict[str, Any] = {}
    for name, info in cls.model_fields.items():
        shape, nullable = _shape(schema["properties"][name], schema.get("$defs", {}))
        control: Control = "column" if has_mark(info, ColumnMark) else _control(shape, nullable)
        if control == "column" and shape.get("type") != "string":
            control = "columns"
        value = _parsed(sent, prefix + name, control, shape, name)
        if value is not None and not _same(value, _default(cls, name)):
            entry[name] = value
    return entry


def part(kind: str, sent: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The part that a form sent: the one chosen in ``use``, with its parameters."""
    use = str(sent.get(f"{prefix}use", ""))
    return {"use": use, **read(find(kind, use), sent, prefix)}


class Form(dict[str, Any]):
    """What a form sent, by name; a field that must be there and is not is refused in a sentence."""

    def __missing__(self, name: str) -> Any:
        raise InputError(f"the form has no field {name!r}: load the page again.")


def sent(items: Sequence[tuple[str, Any]]) -> Form:
    """What a form sent, by name: a list where a name ends in ``[]``."""
    gathered = Form()
    for name, value in items:
        if name.endswith("[]"):
            gathered.setdefault(name[:-2], []).append(str(value))
        else:
            gathered[name] = str(value)
    return gathered


def number(sent: Mapping[str, Any], name: str, default: float | None = None, *, whole: bool = False) -> Any:
    """A finite number that a form sent, as people write it; ``default`` where it was left empty.

    >>> number({"low-2": "1,5"}, "low-2"), number({}, "rows", 1, whole=True)
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
    """The parts that a choice offers, by name; a word that stands for several kinds gives those of each."""
    return sorted((name, cls) for each_kind in covered_kinds(kind) for name, cls in parts(each_kind).items())


def _shape(given: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The JSON schema of a parameter without references and without null, and whether it may be null."""
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


def _inner(shape: Mapping[str, Any], value: Any, columns: Sequence[str], prefix: str) -> tuple[Field, ...]:
    if not value:
        return ()
    spec = grammar.part(value) if isinstance(value, str) else value
    return tuple(form(find(shape[KIND], spec["use"]), spec, columns, f"{prefix}."))


def _held(value: Any, control: Control, default: Any) -> Any:
    """A value as its input holds it."""
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


def _parsed(sent: Mapping[str, Any], name: str, control: Control, shape: Mapping[str, Any], field: str) -> Any:
    """The value of an input; None where it was left empty."""
    if control == "switch":
        return name in sent and sent[name] not in ("", "false")
    if control == "columns":
        held = sent.get(name, [])
        return ([held] if isinstance(held, str) and held else list(held)) or None
    if control == "part":
        return part(shape[KIND], sent, f"{name}.") if sent.get(f"{name}.use") else None
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


def _default(cls: type[BaseModel], name: str) -> Any:
    info = cls.model_fields[name]
    given = info.get_default(call_default_factory=True, validated_data={})
    return None if given is PydanticUndefined else given


def _same(value: Any, default: Any) -> bool:
    plain = default.spec() if isinstance(default, Part) else list(default) if isinstance(default, tuple) else default
    return bool(value == plain) and isinstance(value, bool) == isinstance(plain, bool)


def _default_text(value: Any) -> str:
    """A default for people."""
    if value is None or value == () or value == {}:
        return ""
    if isinstance(value, bool):
        return ""
    if isinstance(value, Part):
        return str(value)
    return ", ".join(map(_as_text, value)) if isinstance(value, tuple | list) else _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _bound(shape: Mapping[str, Any], *names: str) -> float | None:
    return next((shape[name] for name in names if name in shape), None)


def _sentence(text: str) -> str:
    text = text.replace("``", "").strip()
    return text[:1].upper() + text[1:] + ("" if not text or text.endswith((".", "?")) else ".")
