"""Target class size of each record, as a parameter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from celosia.errors import DataError, ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table


def _read(value: object) -> object:
    if value is None or isinstance(value, str):
        return value
    array = np.asarray(value)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise ParameterError("targets are the name of a column, or one whole number per record.")
    return tuple(array.tolist())


Target = Annotated[
    Any,
    BeforeValidator(_read),
    PlainSerializer(lambda value: value if value is None or isinstance(value, str) else "<one number per record>"),
    WithJsonSchema({"type": "string"}),
]
"""Name of a column with, or an array of, one class size per record."""


def labelled_targets(who: str, table: Table, target: object) -> dict[str, NDArray[np.int64]]:
    """Return the target class size of each record, by its label; empty without targets."""
    sizes = targets(who, table, target)
    return {} if sizes is None else {f"{who}(target={target})": sizes}


def targets(who: str, table: Table, target: object, k: int = 1) -> NDArray[np.int64] | None:
    """Return the target class size of each record, at least ``k``; ``None`` without targets.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 31], "wish": [None, 5]}), celosia.Schema.of(quasi=["age"]))
    >>> targets("mondrian", table, "wish", k=2).tolist(), targets("mondrian", table, [3, 1], k=2).tolist()
    ([2, 5], [3, 2])
    """
    if target is None:
        return None
    if isinstance(target, str):
        table.schema[target]
        values = table.numeric([target])[:, 0]
        values = np.where(np.isnan(values), float(k), values)
    else:
        values = np.asarray(target, np.float64)
    if len(values) != len(table):
        raise DataError(f"{who}: {len(values)} targets were given for {len(table)} records.")
    if not (np.isfinite(values).all() and (values == np.floor(values)).all() and (values >= 0).all()):
        raise DataError(f"{who}: targets must be whole numbers of at least 0; a missing one asks for nothing.")
    return np.maximum(values.astype(np.int64), k)
