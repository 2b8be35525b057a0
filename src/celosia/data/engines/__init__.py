"""Engines compute with the rows of a table; each has the same operations (:mod:`celosia.data.engines.engine`)."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from celosia.errors import MissingExtra, ParameterError, UnknownName

if TYPE_CHECKING:
    from celosia.data.engines.engine import Engine

ENGINES = {"polars": "Polars", "duckdb": "DuckDB", "spark": "Spark"}
_NEEDED = {"polars": "polars", "duckdb": "duckdb", "spark": "pyspark"}


def engine_named(name: str, memory: int | None = None) -> Engine[Any]:
    """Return a new engine; the address of a Spark master may follow the name, as in ``spark:local[2]``.

    ``memory`` is the number of bytes that it may use on this machine.

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
    engine: Engine[Any] = chosen(master or None, memory=memory) if short == "spark" else chosen(memory)
    return engine


def installed_engines() -> tuple[str, ...]:
    """Names of the engines whose libraries are installed."""
    return tuple(name for name, library in _NEEDED.items() if importlib.util.find_spec(library) is not None)


def engine_for(frame: object) -> Engine[Any]:
    """Return the engine for a data frame: DuckDB for its relations, Spark for its frames, Polars for all others."""
    library = type(frame).__module__.split(".")[0]
    return engine_named({"duckdb": "duckdb", "_duckdb": "duckdb", "pyspark": "spark"}.get(library, "polars"))
