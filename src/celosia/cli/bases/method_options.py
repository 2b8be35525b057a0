"""The options of a method, derived from its fields."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

import typer
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from celosia.cli.bases.commands import Command
from celosia.cli.bases.options import parameters_of
from celosia.cli.protect import FileOptions, protect_file
from celosia.data.credentials import refuse_literal
from celosia.parts import Credential, Method, Part, grammar, marked_fields
from celosia.show.formulas import plain_docs

if TYPE_CHECKING:
    from typing_extensions import TypeForm

_PLAIN_TYPES: dict[object, type[int | float | str]] = {int: int, float: float, bool: bool}
OptionValue = Any
"""Value of an option of a method or of a file command."""


def method_command(cls: type[Any]) -> object:
    """Return the command of a method."""
    single = typer.Typer(add_completion=False)
    single.command(cls.name, help=_help(cls), cls=Command)(_command(cls))
    return typer.main.get_command(single)


def _help(cls: type[Part]) -> str:
    text = plain_docs(inspect.cleandoc(cls.__doc__ or "").split(">>>")[0])
    return "\n\n".join(" ".join(block.split()) for block in text.split("\n\n"))


def _command(cls: type[Method]) -> Callable[..., None]:
    """Return a function whose signature has the options of the method and those of every file command."""
    fields = {_option_name(field): field for field in cls.model_fields}

    def command(**given: OptionValue) -> None:
        for field in marked_fields(cls, Credential):
            refuse_literal(given.get(_option_name(field)), f"{cls.name}: {field}")
        values = {field: _value(given.pop(option)) for option, field in fields.items() if given.get(option) is not None}
        protect_file(cls(**values), FileOptions(**{name: given[name] for name in _TAKEN}))

    own = [
        inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_annotation(cls, field))
        for option, field in fields.items()
    ]
    everything = [_COMMON[0], *own, *_COMMON[1:]]
    command.__signature__ = inspect.Signature(everything)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in everything}
    return command


_COMMON = parameters_of(FileOptions)
_TAKEN = frozenset(parameter.name for parameter in _COMMON)


def _option_name(field: str) -> str:
    """Return the name of the option of a field; a field that means the same as a common option gets a suffix."""
    return f"{field}_" if field in _TAKEN else field


def _annotation(cls: type[Part], field: str) -> object:
    info = cls.model_fields[field]
    meaning = info.description or ""
    default = _default(info)
    flag = "--" + field.replace("_", "-") + ("-of-method" if field in _TAKEN else "")
    kind = _plain_type(info.annotation)
    declaration = f"{flag}/--no-{flag[2:]}" if kind is bool else flag
    help_text = f"{meaning} (default {default})" if default else meaning
    required = " (must be given)" if info.is_required() else ""
    choices = _choices(info.annotation)
    option = typer.Option(
        declaration,
        help=help_text + required,
        show_default=False,
        metavar=_metavar(choices, kind),
        rich_help_panel=f"Parameters of {cls.name}",
        autocompletion=(lambda: choices) if choices else None,
    )
    return Annotated[kind | None, option]


def _plain_type(annotation: TypeForm[Any] | None) -> type[int | float | str]:
    """Return the type for the command line: number, flag or choice; anything else is text in the grammar."""
    origin = get_origin(annotation)
    if origin in {Union, types.UnionType}:
        inner = [arg for arg in get_args(annotation) if arg is not type(None)]
        return _plain_type(inner[0]) if len(inner) == 1 else str
    if origin is Annotated:
        return _plain_type(get_args(annotation)[0])
    return _PLAIN_TYPES.get(annotation, str)


def _metavar(choices: list[str], kind: type[Any]) -> str | None:
    if kind is bool:
        return None
    if choices:
        return "|".join(choices)
    return {int: "INTEGER", float: "NUMBER"}.get(kind, "TEXT")


def _choices(annotation: TypeForm[Any] | None) -> list[str]:
    if get_origin(annotation) is Literal:
        return [str(choice) for choice in get_args(annotation)]
    return [choice for arg in get_args(annotation) for choice in _choices(arg)]


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return ""
    value = info.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined or value is None or value == () or value == {}:
        return ""
    return str(value) if isinstance(value, Part) else grammar.show(value)


def _value(value: object) -> object:
    """Parse the text of an option by the grammar, where it is more than an identifier."""
    if isinstance(value, str) and value.strip()[:1] in {"[", "{", '"', "'"}:
        return grammar.parse(value)
    return grammar.scalar(value) if isinstance(value, str) and "," not in value else value
