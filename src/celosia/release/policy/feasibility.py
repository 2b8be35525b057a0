"""Checks before a run that the engine supports the parts, from what parts and engines declare.

A part declares whether it needs whole columns in memory or, a method, those of a block (``memory``); an engine how many
rows it brings into memory for one column (``refusal``), and how much memory it was given (``memory``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from celosia.data.engines import engine_named, installed_engines
from celosia.data.engines.engine import CELL_BYTES
from celosia.data.io.filetypes import type_of
from celosia.data.io.options import option_names
from celosia.data.io.sources import is_url
from celosia.data.memory import format_bytes
from celosia.errors import DataError, PolicyError
from celosia.parts import Formal, Method, Part, RowWise, parts

if TYPE_CHECKING:
    from celosia.data.engines.engine import Engine
    from celosia.data.schema import Schema
    from celosia.table import Table


def refuse_beyond(table: Table, wanted: Iterable[Part]) -> None:
    """Raise if a part needs more in memory than the engine can collect, or than the memory limit."""
    engine = table.engine
    for part in wanted:
        if not part.needs_memory(table.schema):
            continue
        refusal = engine.refusal(len(table))
        if refusal is not None:
            raise DataError(
                f"{part.name} needs whole columns in memory: {len(table)} rows, and {refusal}. "
                f"{nearest(part, engine, len(table))}"
            )
        need = required_bytes(part, table)
        if engine.memory is not None and need > engine.memory:
            raise DataError(
                f"{part.name} needs whole columns in memory: about {format_bytes(need)} for {len(table)} rows, and "
                f"memory is {format_bytes(engine.memory)}. {nearest(part, engine, len(table), memory=need)}"
            )


def refuse_before_formal(methods: Sequence[Method]) -> None:
    """Raise if a step before a formal guarantee makes the result of one record depend on other records."""
    last = max((i for i, method in enumerate(methods) if isinstance(method, Formal)), default=0)
    for before in methods[:last]:
        if not (isinstance(before, Formal) or (isinstance(before, RowWise) and before.is_row_wise())):
            able = [name for name, other in parts("method").items() if issubclass(other, RowWise)]
            raise PolicyError(
                f"{before.name} comes before {methods[last].name}: what it does to one record depends on the others or "
                f"on their number, and the formal guarantee would not cover that. Put {methods[last].name} first; only "
                f"steps that treat each record by itself may come before it ({', '.join(able)})."
            )


def formal_options(methods: Iterable[Method], schema: Schema, source: str) -> dict[str, Any]:
    """Reader options that read columns with a formal guarantee as text, so that no type is inferred from the cells."""
    formal = [method for method in methods if isinstance(method, Formal)]
    if not formal or is_url(source) or "text" not in option_names(type_of(source).read, 1):
        return {}
    if any(method.covers_table for method in formal):
        return {"text": True}
    units = [name for name in (schema.person, schema.household) if name]
    return {"text": list(dict.fromkeys([*(n for method in formal for n in method.overwrites(schema)), *units]))}


def required_bytes(part: Part, table: Table) -> int:
    """Approximate memory of a part that needs whole columns: those that it overwrites or reads."""
    schema = table.schema
    columns = part.overwrites(schema) if isinstance(part, Method) else schema.quasi
    return len(table) * max(1, len(columns)) * CELL_BYTES


def nearest(part: Part, engine: Engine[Any], rows: int, memory: int | None = None) -> str:
    """Advice on what would work instead; ``memory`` is the number of bytes that would be enough."""
    roomier = [name for name in installed_engines() if name != engine.name and engine_named(name).refusal(rows) is None]
    ways = []
    if memory is not None:
        ways.append(f"give memory = {format_bytes(memory)!r} or more")
        roomier = []
    if part.memory == "blocks":
        ways.append(f"apply it to blocks: in-blocks(method={part.name}(…), by=…)")
    if roomier:
        ways.append(f"use the engine {roomier[0]}")
    if part.kind != "method":
        able = [name for name, other in parts(part.kind).items() if not is_always_in_memory(other)]
        ways.append(f"measure one that needs no more than combinations: {', '.join(able)}" if able else "")
    ways.append("work on a sample of the records")
    first, *others = [way for way in ways if way]
    return "; or ".join([first[0].upper() + first[1:], *others]) + "."


def is_always_in_memory(part: type[Part]) -> bool:
    """Whether the part needs whole columns for all of its parameters."""
    return part.memory != "none" and part.needs_memory is Part.needs_memory
