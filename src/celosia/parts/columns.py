"""Parameters that name columns of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator

from celosia.parts import grammar
from celosia.parts.part import Part, has_mark


class ColumnMark:
    """Marks a field that names columns of the table."""


def _split(value: object) -> object:
    """Split ``"age, zip"`` into names; a single name becomes a list of one."""
    if isinstance(value, str):
        if value.strip().startswith("["):
            return tuple(grammar.parse_list(value))
        return tuple(name.strip() for name in value.split(",") if name.strip())
    return value


Column = Annotated[str, ColumnMark()]
"""The name of one column; checked against the schema before anything runs."""
Columns = Annotated[
    tuple[str, ...], BeforeValidator(_split, json_schema_input_type=str | tuple[str, ...]), ColumnMark()
]
"""The names of several columns."""


class SuitedMark:
    """Marks columns that are taken from the schema where none is named."""


SuitedColumns = Annotated[Columns, SuitedMark()]
"""The names of several columns; where none is named, the quasi-identifiers of the kinds that suit the method."""


def named_columns(part: Part) -> Iterator[tuple[str, str]]:
    """Yield every (field, column) that a part names, nested parts included."""
    for field, info in type(part).model_fields.items():
        value = getattr(part, field)
        if has_mark(info, ColumnMark):
            names = [value] if isinstance(value, str) else list(value or ())
            yield from ((field, name) for name in names)
        for nested in value if isinstance(value, tuple | list) else (value,):
            if isinstance(nested, Part):
                yield from named_columns(nested)
