"""How commands show and complete themselves: types in plain words, one command per method, names of parts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

WORDS = {"str": "TEXT", "int": "INTEGER", "float": "NUMBER", "path": "PATH", "list[str]": "TEXT …"}
"""What stands after an option for a type of Python; a flag has nothing there."""


def _with_plain_types(params: list[Any]) -> list[Any]:
    """Set a plain name for the type of each option of a command."""
    for param in params:
        if param.param_type_name == "option" and param.metavar is None:
            shown = param.bare_type() if hasattr(param, "bare_type") else ""
            shown = "path" if param.type_descriptor.is_path else shown
            param.metavar = "" if param.is_flag else WORDS.get(shown)
    return params


ClickObject = Any
"""Context or command of Click; typer has private copies of the classes."""


class Command(TyperCommand):
    """A command whose help shows no type after a flag."""

    def get_params(self, ctx: ClickObject) -> list[Any]:
        """Return the parameters, with the option that shows the help."""
        return _with_plain_types(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows no type after a flag."""

    def get_params(self, ctx: ClickObject) -> list[Any]:
        """Return the parameters, with the option that shows the help."""
        return _with_plain_types(super().get_params(ctx))


def show_plainly(app: typer.Typer) -> None:
    """Let every command of an application, and of its groups, be shown and completed as above."""
    for command in app.registered_commands:
        command.cls = Command
    for group in app.registered_groups:
        if group.typer_instance is not None:
            show_plainly(group.typer_instance)


def kinds_like(incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds of parts that begin so, for a shell."""
    from celosia.parts import kinds

    yield from ((name, _sentence(cls)) for name, cls in kinds().items() if name.startswith(incomplete))


def names_like(ctx: typer.Context, incomplete: str) -> Iterator[tuple[str, str]]:
    """Yield the parts of the given kind that begin so, for a shell."""
    from celosia.parts import kinds, parts, summary

    kind = ctx.params.get("kind")
    listed = parts(kind) if kind in kinds() else {}
    yield from ((name, summary(cls)) for name, cls in listed.items() if name.startswith(incomplete))


def engines_like(incomplete: str) -> list[str]:
    """Return the engines that begin so, for a shell."""
    from celosia.data.engines import ENGINES

    return [name for name in ENGINES if name.startswith(incomplete)]


def _sentence(cls: type) -> str:
    return str(cls.__doc__ or "").strip().splitlines()[0]
