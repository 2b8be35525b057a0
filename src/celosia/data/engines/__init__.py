"""Engines move rows; each has the same verbs (see :mod:`celosia.data.engines.engine`)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from celosia.errors import MissingExtra, UnknownName

if TYPE_CHECKING:
    from celosia.data.engines.engine import Engine

_ENGINES = {"polars": "Polars", "duckdb": "DuckDB"}


def engine_named(name: str) -> Engine:
    """The engine of that name.

    >>> engine_named("polars").name
    'polars'
    """
    if name not in _ENGINES:
        raise UnknownName.of("engine", name, _ENGINES)
    try:
        module = importlib.import_module(f"celosia.data.engines.{name}")
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise MissingExtra.of(f"the engine {name!r}", name) from None
    made: Engine = getattr(module, _ENGINES[name])()
    return made


def engine_for(frame: Any) -> Engine:
    """The engine that a data frame belongs to: DuckDB for its relations, Polars for the others."""
    return engine_named("duckdb" if type(frame).__module__.split(".")[0] in {"duckdb", "_duckdb"} else "polars")
