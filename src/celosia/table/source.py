"""A second table as a parameter: a population, an external file, a list of targets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import PlainSerializer, WithJsonSchema

from celosia.parts import Place

if TYPE_CHECKING:
    from celosia.data.schema import Schema
    from celosia.table import Table


def _serialise(value: object) -> object:
    """Serialise a path or a mapping for a policy; a frame in memory is replaced by its type."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Path):
        return str(value)
    return dict(value) if isinstance(value, Mapping) else f"<{type(value).__name__}>"


class Same:
    """A cache key that stands for one object and keeps it alive: an ``id`` may be given to another object later.

    >>> frame = [1]
    >>> Same(frame) == Same(frame), Same(frame) == Same([1])
    (True, False)
    """

    def __init__(self, target: object) -> None:
        self.target = target

    def __hash__(self) -> int:
        return id(self.target)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.target is other.target


Source = Annotated[Any, PlainSerializer(_serialise), WithJsonSchema({"type": ["string", "object", "array"]}), Place()]
"""A path, ``{url = …, query = …}``, or a frame of Polars, pandas, PyArrow or DuckDB, or a :class:`Table`."""


def open_source(source: object, schema: Schema | None = None) -> Table:
    """Read the second table.

    >>> import polars as pl
    >>> len(open_source(pl.DataFrame({"age": [30, 31]})))
    2
    """
    from celosia.table import read

    if isinstance(source, Mapping) and "url" in source:
        options = {str(k): v for k, v in source.items() if k != "url"}
        return read(str(source["url"]), schema, **options)
    if isinstance(source, Mapping) and "path" in source:
        options = {str(k): v for k, v in source.items() if k != "path"}
        return read(str(source["path"]), schema, **options)
    return read(source, schema)
