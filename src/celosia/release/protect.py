"""Apply methods to a table or a frame: ``celosia.protect``."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, overload

from celosia.data.frames import is_frame
from celosia.data.schema import Schema
from celosia.errors import ParameterError, UnknownName, explain_failures
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
    keep: Sequence[str] = (),
    seed: int | None = None,
    progress: Progress | None = None,
) -> Table: ...


@overload
def protect(
    table: F,
    *methods: Method | str | Mapping[str, Any],
    schema: Schema | None = None,
    keep: Sequence[str] = (),
    seed: int | None = None,
    progress: Progress | None = None,
) -> F: ...


@explain_failures()
def protect(
    table: Any,
    *methods: Method | str | Mapping[str, Any],
    schema: Schema | None = None,
    keep: Sequence[str] = (),
    seed: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Apply methods one after the other; ``table.history`` has an entry for each.

    A table gives a table, in which identifiers stay for further steps and measures, with a warning;
    :func:`celosia.write` leaves them out. A frame of pandas, Polars, PyArrow, DuckDB or Spark, described by ``schema``,
    gives a frame of that kind without the columns that a release would leave out, with a warning: identifiers, and
    columns to which the schema gives no role, unless a method overwrites them or ``keep`` names them. Without a
    ``schema`` nothing is known of the columns, and all are kept. The index of a frame, if it has one, is kept as it is.

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
    current = protect_table(read(table, schema, **as_text), built, seed=seed, progress=progress)
    if not is_frame(table):
        if keep:
            raise ParameterError("protect: keep is for frames; a table keeps all columns until celosia.write(keep=…).")
        _warn_columns(
            "identifiers stay in the table",
            _original_columns(current, current.first.schema.identifiers),
            "celosia.write leaves them out, the frame of the table does not. Drop or overwrite them (drop, "
            "pseudonymise, mask).",
        )
        return current
    warn_index(current)
    for name in keep:
        if name not in current.names:
            raise UnknownName.of("column", name, current.names, "(keep)")
    left_out = [name for name in _unreleased(current, schema is not None) if name not in keep]
    _warn_columns(
        "columns are left out of the result",
        left_out,
        "To keep one, give it a role, overwrite it with a method (pseudonymise, mask), or name it under keep.",
    )
    return current.drop(left_out).frame


def protect_table(
    table: Table,
    methods: Sequence[Method | str | Mapping[str, Any]],
    *,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """Apply methods to a table that is not given to a user: identifiers stay without a warning."""
    plan = Plan.resolve(table, [build("method", method) for method in methods], seed=seed)
    with progress_bar(progress) as listener:
        result = plan.run(progress=listener)
        if listener:
            listener("done", 1.0)
    return result


def _unreleased(table: Table, described: bool) -> list[str]:
    """List the columns that a release leaves out: those that name a person, and with a schema those without a role."""
    schema = table.first.schema
    undeclared = [name for name in schema.names if not schema[name].declared] if described else []
    return _original_columns(table, [*schema.naming, *undeclared])


def _original_columns(table: Table, names: Iterable[str]) -> list[str]:
    """List those of the columns that are in the table and that none of its steps overwrites, in the table's order."""
    schema, wanted = table.first.schema, set(names)
    steps = [secret["method"] for secret in table.private_history if "method" in secret]
    overwritten = {name for method in steps for name in method.overwrites(schema)}
    return [name for name in table.names if name in wanted and name not in overwritten]


def _warn_columns(what: str, names: Sequence[str], advice: str) -> None:
    if names:
        warnings.warn(f"{what}: {', '.join(map(repr, names))}. {advice}", stacklevel=5)


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
