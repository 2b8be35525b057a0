"""Output of ``celosia parts``: the catalogue, and the page of a part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin

from celosia.cli.bases.show import console, print_json, print_text
from celosia.errors import UnknownName
from celosia.parts import summary

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from celosia.parts import Part


def print_parts(kind: str | None, name: str | None, *, schema: bool, json: bool) -> None:
    """List the parts, or show one."""
    from celosia.parts import find, kinds, measured_by, parts

    if kind and name is None and kind not in kinds():  # the name of a part alone
        name = kind
        kind = next((each for each in kinds() if name in parts(each)), name)
        if kind == name:
            raise UnknownName.of("kind of part, or part,", name, [*kinds(), *(n for k in kinds() for n in parts(k))])
    if kind and name:
        cls = find(kind, name)
        print_json(cls.model_json_schema()) if schema or json else _print_part(cls)
        return
    wanted = [kind] if kind else list(kinds())
    listing = {each: {n: summary(c) for n, c in parts(each).items()} for each in wanted}
    if json:
        print_json(listing)
        return
    from rich.table import Table

    for each, summaries in listing.items():
        table = Table(title=each, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
        for part, sentence in summaries.items():
            table.add_row(part, sentence, *([f"risk by {measured_by(part)}"] if each == "method" else []))
        console().print(table)
        print_text("")


def write_policy_schema(out: Path | None) -> None:
    """Write what an editor completes and checks a policy with, every installed part in it; print it without a file."""
    import json

    from celosia.data.io.atomic import replace_file
    from celosia.release.evidence.schemas import policy_schema

    if out is None:
        print_json(policy_schema())
        return
    with replace_file(out) as draft:
        draft.write_text(json.dumps(policy_schema(), ensure_ascii=False) + "\n", encoding="utf-8")
    print_text(f"Written to {out}. An editor reads it where the first line of a policy is: #:schema ./{out.name}")


def _print_part(cls: type[Part]) -> None:
    import inspect

    from celosia.parts import measured_by, methods_read
    from celosia.show.formulas import plain_docs

    out = console()
    out.print(f"{cls.kind} {cls.name}\n")
    out.print(plain_docs(inspect.cleandoc(cls.__doc__ or "")))
    if cls.kind == "method":
        out.print(f"\nrisk measured by {measured_by(cls.name)}")
    if cls.kind == "attack":
        out.print(
            f"\nreads what is published about: {', '.join(methods_read(cls)) or 'nothing, it is a general attack'}"
        )
    unit = unit_of(cls)
    if unit:
        out.print(f"\nvalue: {unit}")
    out.print("\nparameters" if cls.model_fields else "\nno parameters")
    for field, info in cls.model_fields.items():
        out.print(f"  {field}: {info.description or ''} ({default_of(info)}{allowed_of(info)})")


def unit_of(cls: type[Part]) -> str:
    """Return the unit of the value of a measure; empty for other parts."""
    from celosia.parts import Loss, Model, Threat

    if issubclass(cls, Loss | Threat) and isinstance(cls.bounded, bool):
        return "a share of 1, shown as a percentage" if cls.bounded else "a number in its own unit"
    if issubclass(cls, Model) and isinstance(cls.direction, str):
        return f"{cls.symbol}, {cls.direction} the bound"
    return ""


def default_of(info: FieldInfo) -> str:
    """Return the default of a parameter as a text."""
    if info.is_required():
        return "must be given"
    value = info.get_default(call_default_factory=True)
    if value is None or value in ((), [], {}, ""):
        return "optional"
    if hasattr(value, "spec"):
        from celosia.parts import grammar

        value = grammar.show(value.spec())
    return f"default {value}"


def allowed_of(info: FieldInfo) -> str:
    """Return the bounds of a number, or the texts to choose from."""
    signs = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    rules = [(rule, sign) for rule in info.metadata for sign in signs if hasattr(rule, sign)]
    choices = [str(choice) for choice in get_args(info.annotation)] if get_origin(info.annotation) is Literal else []
    bounds = [f"{signs[sign]} {getattr(rule, sign)}" for rule, sign in rules]
    return "".join(f", {text}" for text in [*bounds, *([f"one of {', '.join(choices)}"] if choices else [])])
