"""Apply methods to a table or a frame: ``celosia.protect``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, overload

from celosia.data.frames import is_frame
from celosia.data.schema import Schema
from celosia.errors import explain_failures
from celosia.parts import Method, build
from celosia.parts.progress import Progress
from celosia.release.plan import Plan
from celosia.release.policy.feasibility import formal_options
from celosia.release.policy.sections import refuse_seed
from celosia.show.notebook import progress_bar
from celosia.table import Table, read

F = TypeVar("F")


@overload
def protect(
    table: Table | str | Path,
    *methods: Method | str | Mapping[str, Any],
    schema: Schema | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Table: ...


@overload
def protect(
    table: F,
    *methods: Method | str | Mapping[str, Any],
    schema: Schema | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> F: ...


@explain_failures()
def protect(
    table: Any,
    *methods: Method | str | Mapping[str, Any],
    schema: Schema | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Apply methods one after the other; ``table.history`` has an entry for each.

    A table gives a table. A frame of pandas, Polars, PyArrow, DuckDB or Spark, described by ``schema``, gives a frame
    of that kind; its index, if it has one, is kept as it is.

    Without a seed 128 bits come from the operating system; then the result cannot be repeated. With a seed the same
    table and the same methods give the same result; another cell or another parameter gives independent noise.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> len(protect(table, "recode(column=age, breaks=[40])").history)
    1
    """
    refuse_seed(seed)
    built = [build("method", method) for method in methods]
    named = isinstance(table, str | Path)
    as_text = formal_options(built, schema or Schema(), str(table)) if named else {}
    source, table = table, read(table, schema, **as_text)
    plan = Plan.resolve(table, built, seed=seed)
    with progress_bar(progress) as listener:
        current = plan.run(progress=listener)
        if listener:
            listener("done", 1.0)
    if not is_frame(source):
        return current
    warn_index(current)
    return _drop_identifiers(current, [step.method for step in plan.steps]).frame


def _drop_identifiers(table: Table, methods: Sequence[Method]) -> Table:
    """Drop the identifiers that no method overwrites, with a warning that names them."""
    overwritten = {name for method in methods for name in method.overwrites(table.first.schema)}
    left = [name for name in table.first.schema.identifiers if name in table.names and name not in overwritten]
    if left:
        warnings.warn(
            f"identifiers are left out of the result: {', '.join(map(repr, left))}. Overwrite them with a method "
            "(pseudonymise, mask), or join them again by the order of the records.",
            stacklevel=4,
        )
    return table.drop(left)


def watch(table: Table, method: Method | str | Mapping[str, Any], *, seed: int) -> Iterator[Any]:
    """Yield the intermediate results of a method that iterates; the last one is the result of :func:`protect`.

    The method has ``watch(table, stream)``, as :class:`~celosia.methods.Fcrm` does.
    """
    yield from Plan.resolve(table, [build("method", method)], seed=seed).watch()


def warn_index(table: Table) -> None:
    """Warn if a frame is returned with an index that may identify persons: no method protects it."""
    index = table.origin.metadata.index
    if index is None or not hasattr(index, "names"):
        return
    if any(name is not None for name in index.names) or index.inferred_type != "integer":
        warnings.warn(
            "the index of the frame is kept as it is and no method protects it: if it identifies persons, call "
            "reset_index() first and give the column a role.",
            stacklevel=4,
        )
