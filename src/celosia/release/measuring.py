"""The verbs: assess, protect, compare."""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar, overload

from celosia.data.frames import is_frame
from celosia.data.schema import Schema
from celosia.errors import CelosiaError, NotApplicable, explained
from celosia.parts import Loss, Method, Model, Part, Risk, Threat, build, build_all, find
from celosia.parts.progress import Progress
from celosia.proposals import schema_of, suggest
from celosia.release.evidence import history
from celosia.release.evidence.findings import Assessment, Comparison, Finding, measure_threat
from celosia.release.plan import Plan, check_columns
from celosia.release.policy.fitting import formal_options, refuse_beyond
from celosia.release.policy.sections import refuse_seed
from celosia.show.notebook import progress_bar
from celosia.table import Table, read, read_protected
from celosia.table.pairing import by_index, pair

F = TypeVar("F")
P = TypeVar("P", bound=Part)
MISSING_CODES = frozenset({"", "na", "n/a", "n.a.", "nan", "null", "nil", "missing", "-", "?", "."})
"""Usual codes for a missing value, in small letters; none is missing in some fields and a value in others."""
Given: TypeAlias = Sequence[P | str | Mapping[str, Any]] | P | str | Mapping[str, Any]
"""Parts in any way of writing them: several, or one."""


@explained()
def assess(
    table: Any,
    models: Given[Model] = (),
    risks: Given[Threat] = ("prosecutor",),
    *,
    schema: Schema | None = None,
    guessed: bool = False,
    against: Sequence[Any] = (),
) -> Assessment:
    """Measure requirements and risks on a table, or on a frame or file under a schema.

    ``models`` and ``risks`` are lists of parts, or a single one.
    Without a schema the roles of a frame or a file are guessed (:func:`celosia.suggest`); then no requirement is said
    to be met.

    ``against`` names earlier releases about the same people (certificates, files, frames, tables): what a protected
    table and they tell together is measured too, by the attacks on several releases. An intruder knows the input of
    the table, as far as its quasi-identifiers go.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> assess(table, ["k-anonymity(k=2)"]).holds
    True
    """
    described = schema is not None and not isinstance(table, Table)
    if schema is None and not isinstance(table, Table):
        schema, guessed = schema_of(suggest(table)), True
    table = read_protected(table, schema)
    warn_repeated(table)
    built_models = build_all("model", models)
    built_risks = build_all("risk or attack", risks)
    if described:
        warn_undeclared(table, built_models)
    check_columns(table, [*built_models, *built_risks])
    refuse_beyond(table, [*built_models, *built_risks])
    # those that look at sensitive values first: the classes alone follow from what they count
    order = sorted(range(len(built_models)), key=lambda i: not built_models[i].counted_columns())
    judged = {i: judge(built_models[i], table) for i in order}
    warn_spellings(table, built_models)  # after the requirements: its counts follow from theirs
    return Assessment(
        table,
        tuple(judged[i] for i in range(len(built_models))),
        (
            *(measured(risk, table) for risk in built_risks if isinstance(risk, Risk)),
            *_together(table, against, built_models),
        ),
        guessed,
    )


def _together(table: Table, earlier: Sequence[Any], models: Sequence[Model]) -> tuple[Finding, ...]:
    return history.against(table.first, table, earlier, history.least(None, models)) if earlier else ()


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


@explained()
def protect(
    table: Any,
    *methods: Method | str | Mapping[str, Any],
    schema: Schema | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Apply methods one after the other; ``table.history`` tells what each did.

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
    return _without_identifiers(current, [step.method for step in plan.steps]).frame


def _without_identifiers(table: Table, methods: Sequence[Method]) -> Table:
    """The table without the identifiers that no method overwrites; a warning names them."""
    overwritten = {name for method in methods for name in method.overwrites(table.first.schema)}
    left = [name for name in table.first.schema.identifiers if name in table.names and name not in overwritten]
    if left:
        warnings.warn(
            f"identifiers are left out of the result: {', '.join(map(repr, left))}. Overwrite them with a method "
            "(pseudonymise, mask), or join them again by the order of the records.",
            stacklevel=4,
        )
    return table.drop(left)


def warn_undeclared(table: Table, models: Sequence[Model]) -> None:
    """Warn when requirements are judged beside columns without a role: they count nobody by those columns."""
    undeclared = [name for name in table.names if not table.schema[name].declared]
    if models and undeclared:
        few = ", ".join(map(repr, undeclared[:5])) + (", …" if len(undeclared) > 5 else "")
        warnings.warn(
            f"{len(undeclared)} columns have no role ({few}): the requirements do not count them. Declare them, or "
            "leave them out of what is published.",
            stacklevel=4,
        )


def warn_spellings(table: Table, models: Sequence[Model]) -> None:
    """Warn when a counted sensitive column holds several spellings of a value, or usual codes for a missing one."""
    wanted = [name for model in models for name in model.counted_columns()]
    for column in dict.fromkeys(name for each in wanted for name in table.schema.need_sensitive(each)):
        if table.afar(column) or str(table.polars_types()[column]) != "String":
            continue
        texts = table.tally(column)[column].drop_nulls().to_list()
        plain = Counter(" ".join(unicodedata.normalize("NFKC", text).casefold().split()) for text in texts)
        spelt = sum(count for count in plain.values() if count > 1)
        codes = sum(count for text, count in plain.items() if text in MISSING_CODES)
        if spelt or codes:
            warnings.warn(
                f"column {column!r}: {spelt} of {len(texts)} values differ from another one only by case, spaces or "
                f"Unicode form, and {codes} look like a code for a missing value. Requirements count each as a value "
                "of its own. Unify them before protecting (clean: strip, same, missing).",
                stacklevel=4,
            )


def watch(table: Table, method: Method | str | Mapping[str, Any], *, seed: int) -> Iterator[Any]:
    """What a method that iterates shows after each iteration; it ends with what :func:`protect` gives.

    The method has ``watch(table, stream)``, as :class:`~celosia.methods.Fcrm` does.
    """
    yield from Plan.resolve(table, [build("method", method)], seed=seed).watch()


@explained()
def compare(
    original: Any,
    protected: Any,
    losses: Given[Loss] = ("altered-records", "discernibility"),
    risks: Given[Threat] = (),
    *,
    schema: Schema | None = None,
    key: str | None = None,
    by: Literal["position"] | None = None,
) -> Comparison:
    """Measure what was lost, and attacks that use both tables. A measure that does not apply says why.

    Each is a table, or a frame or file; ``schema`` describes both. ``key`` names a column of both that identifies a
    record; it enters no loss and no attack. ``by="position"`` states that both files have the same row order. Frames
    are paired by the index of pandas, or else by position. Rows that are paired by position are refused when the
    unchanged columns show that one table was shuffled.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [30, 30]}), celosia.Schema.of(quasi=["age"]))
    >>> [finding.value for finding in compare(table, table).losses]
    [0.0, 4.0]
    """
    built_losses = build_all("loss", losses)
    built_risks = build_all("risk or attack", risks)
    original, protected = opened_pair(original, protected, schema)
    refuse_beyond(original, [*built_losses, *built_risks])
    original, aligned = pair(original, protected, key=key, by=by)
    return Comparison(
        original,
        aligned,
        tuple(lost(loss, original, aligned) for loss in built_losses),
        tuple(measure_threat(risk, original, aligned) for risk in built_risks),
    )


def opened_pair(original: Any, protected: Any, schema: Schema | None = None) -> tuple[Table, Table]:
    """An original and what was made of it as two tables; the protected one has what the schema names of its columns."""
    first = read(original, schema)
    if isinstance(protected, Table):
        return first, protected
    bare = read(protected)
    own = first.schema.keep(bare.names).loose()
    return first, by_index(first, bare.with_schema(own))


def judge(model: Model, table: Table) -> Finding:
    """Measure one requirement."""
    value, holds = model.verdict(table)
    return Finding(model, value, holds=holds)


def measured(risk: Risk, table: Table) -> Finding:
    """Measure one risk, or say why it does not apply."""
    return measure_threat(risk, table, table)


def lost(loss: Loss, original: Table, protected: Table) -> Finding:
    """Measure one loss, or say why it does not apply."""
    try:
        return Finding(loss, loss.value(original, protected), loss.parts(original, protected))
    except NotApplicable as error:
        return Finding(loss, None, reason=str(error))


def warn_index(table: Table) -> None:
    """Warn when a frame goes back with an index that may name somebody: nobody has looked at it."""
    index = table.around.index
    if index is None or not hasattr(index, "names"):
        return
    if any(name is not None for name in index.names) or index.inferred_type != "integer":
        warnings.warn(
            "the index of the frame is kept as it is and nothing protects it: where it names somebody, call "
            "reset_index() first and give the column a role.",
            stacklevel=4,
        )


def warn_repeated(table: Table) -> None:
    """Warn when identifiers repeat and no person column is declared: counts would be of rows, not persons.

    The identifier with most values decides: many people share a name, nobody a number.
    """
    if table.schema.person or not table.schema.identifiers:
        return
    counts = {name: table.engine.persons(table.rows.frame, name) for name in table.schema.identifiers}
    name = max(counts, key=lambda identifier: counts[identifier])
    repeated = len(table) - counts[name]
    if repeated > 0:
        warnings.warn(
            f"identifier {name!r} repeats on {repeated} rows and no person column is declared: "
            "class sizes count rows, not persons. Declare `person` if a person owns several rows.",
            stacklevel=4,
        )


__all__ = [
    "Assessment",
    "CelosiaError",
    "Comparison",
    "Finding",
    "assess",
    "compare",
    "find",
    "judge",
    "protect",
]
