"""Engines move rows; each has the same verbs (see :mod:`celosia.data.engines.engine`)."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from celosia.errors import MissingExtra, ParameterError, UnknownName

if TYPE_CHECKING:
    from celosia.data.engines.engine import Engine

ENGINES = {"polars": "Polars", "duckdb": "DuckDB", "spark": "Spark"}
_NEEDED = {"polars": "polars", "duckdb": "duckdb", "spark": "pyspark"}


def engine_named(name: str, memory: int | None = None) -> Engine:
    """The engine of that name; Spark's may be followed by the address of a master, as in ``spark:local[2]``.

    ``memory`` is how many bytes it may use on this machine.

    >>> engine_named("polars").name
    'polars'
    """
    short, _, master = name.partition(":")
    if short not in ENGINES:
        raise UnknownName.of("engine", short, ENGINES)
    if master and short != "spark":
        raise ParameterError(f"the engine {short!r} takes no address: only spark does, as in spark:local[2].")
    try:
        module = importlib.import_module(f"celosia.data.engines.{short}")
    except ModuleNotFoundError as error:
        if error.name not in {_NEEDED[short], "pyarrow"}:
            raise
        raise MissingExtra.of(f"the engine {short!r}", short) from None
    chosen = getattr(module, ENGINES[short])
    engine: Engine = chosen(master or None, memory=memory) if short == "spark" else chosen(memory)
    return engine


def installed_engines() -> tuple[str, ...]:
    """The engines whose libraries are there."""
    return tuple(name for name, library in _NEEDED.items() if importlib.util.find_spec(library) is not None)


def engine_for(frame: Any) -> Engine:
    """The engine that a data frame belongs to: DuckDB for its relations, Spark for its own, Polars for the others."""
    library = type(frame).__module__.split(".")[0]
    return engine_named({"duckdb": "duckdb", "_duckdb": "duckdb", "pyspark": "spark"}.get(library, "polars"))
