"""A plan: steps resolved and validated against one table, each with its random stream.

The only way in which methods are applied to a table: ``protect``, ``run``, ``explore``, ``apply``, previews, the
transformer of scikit-learn and consent all build a plan.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from celosia.errors import CelosiaError, DataError, ParameterError, RequirementError, SchemaError, suggestion
from celosia.parts import (
    Formal,
    Iterative,
    Method,
    Part,
    describe,
    identity,
    named_columns,
    public_spec,
    requirements,
)
from celosia.parts.progress import Progress, stage
from celosia.release.output.columns import further_tables, with_further_tables
from celosia.release.policy.feasibility import refuse_before_formal, refuse_beyond
from celosia.release.policy.sections import Step
from celosia.streams import Stream
from celosia.table import Outcome, Table
from celosia.table.derive import with_record_ids, with_step
from celosia.table.frames import table_fingerprint
from celosia.table.materialise import materialise
from celosia.table.suppression import blank_suppressed, suppress_records, unmark_refilled

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Replayed(NamedTuple):
    """New records under recorded steps, and a mask of those that the steps have no cells for."""

    table: Table
    unplaced: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps for one table. Build it with :meth:`resolve`, then :meth:`run` or :meth:`replay` it."""

    table: Table
    """The input, with record ids."""
    steps: tuple[Step, ...]
    stream: Stream
    """Random stream of the whole plan."""
    scheme: Literal[1, 2] = 2
    """How the streams of steps are named. 1: after the name of the step. 2: after the parameters of the step and of all
    steps before it, so that names have no effect and one seed does not give the same noise on differently prepared
    columns."""

    @classmethod
    def resolve(
        cls,
        table: Table,
        steps: Sequence[Method | Step],
        *,
        seed: int | None,
        measured: Sequence[Part] = (),
        scheme: Literal[1, 2] = 2,
    ) -> Plan:
        """Fill in the columns that steps leave to the schema, and refuse what cannot run, before anything runs.

        ``measured`` are the models, risks and losses that will be computed on the result. Without ``seed`` the plan
        takes 128 bits from the operating system.
        """
        stream = Stream.of(seed, functools.partial(table_fingerprint, table))
        table = with_record_ids(table)
        named = [step if isinstance(step, Step) else Step(step.name, step) for step in steps]
        planned = tuple(replace(step, method=step.method.resolve_columns(table.first.schema)) for step in named)
        methods = [step.method for step in planned]
        refuse_before_formal(methods)
        refuse_beyond(table, [*methods, *measured])
        # columns of later steps may be made by earlier ones, so each later step is checked before it runs
        check_columns(table, methods[:1])
        return cls(table, planned, stream, scheme)

    def run(
        self,
        *,
        first: int = 0,
        last: int | None = None,
        table: Table | None = None,
        progress: Progress | None = None,
    ) -> Table:
        """Apply the steps from position ``first`` up to, not including, ``last``; return the protected table.

        With ``first`` above 0, ``table`` is the result of the steps before it.
        """
        current = self.table if table is None else table
        chosen = self.steps[first:last]
        for position, step in enumerate(chosen):
            with stage(progress, step.name, position / len(chosen), (position + 1) / len(chosen)):
                current = self._apply(current, step)
        return current

    def replay(self, recorded: Sequence[Mapping[str, Any]], *, refit: bool = False) -> Replayed:
        """Apply the recorded transformation of another table; ``recorded`` is the private evidence of each step.

        A method that depends on all records at once is refused, or with ``refit`` fitted to these records.
        Requirements are not checked.
        """
        current, unplaced = self.table, np.zeros(len(self.table), dtype=np.bool_)
        for step, evidence in zip(self.steps, recorded, strict=True):
            replayed = self._replay(current, step, evidence, refit=refit)
            if replayed is None:
                current = self._apply(current, step)
                continue
            unplaced |= replayed.unplaced
            entry = {"step": step.method.name, "parameters": public_spec(step.method)}
            current = with_step(materialise(replayed.table), entry, {"method": step.method}, self.table.first)
        return Replayed(suppress_records(current, unplaced) if unplaced.any() else current, unplaced)

    def watch(self) -> Iterator[Any]:
        """Yield the state of the only step, an iterative method, after each iteration; the last item is the result."""
        (step,) = self.steps
        if not isinstance(step.method, Iterative):
            raise ParameterError(f"{step.method.name} does not iterate: there is nothing to watch.")
        yield from step.method.watch(self.table, self._stream(self.table, step))

    def _stream(self, table: Table, step: Step) -> Stream:
        if self.scheme == 1:
            return self.stream.child(step.name, identity(step.method))
        earlier = (identity(secret["method"]) for secret in table.private_history if "method" in secret)
        return self.stream.child(*earlier, identity(step.method))

    def _replay(self, table: Table, step: Step, evidence: Mapping[str, Any], *, refit: bool) -> Replayed | None:
        try:
            return Replayed(*step.method.replay(table, evidence, self._stream(table, step)))
        except CelosiaError:
            if not refit:
                raise
            return None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            # each method has its own form of evidence, and the record may have been edited
            reason = "its private evidence cannot be used. Is the record damaged?"
            raise DataError(f"step {step.name!r}: {reason}") from error

    def _apply(self, table: Table, step: Step) -> Table:
        """Apply one method to the main table and to the further tables of earlier steps, and add it to the history.

        Further copies of a synthesis get the same stream as the main table: noise of different streams on a column that
        they share could be averaged out.
        """
        method, stream = step.method, self._stream(table, step)
        check_columns(table, [method])
        refuse_beyond(table, [method])
        before = len(table.history)
        copies = further_tables(table)
        _refuse_after_further_tables(method, table, copies)
        shared = {name: _equal_columns(table, copy) for name, copy in copies.items()}
        outcome = _outcome(method, table, stream)
        if copies and outcome.others:
            raise _not_after(method, copies, "it makes further tables itself")
        copies = {name: _safe(method, _outcome(method, copy, stream).table) for name, copy in copies.items()}
        entry = {"step": method.name, "parameters": public_spec(method), **outcome.evidence}
        safe = _blank_suppressed(method, outcome.table)
        if safe is not outcome.table:
            entry["blanked"] = safe.suppressed()
        if outcome.others:
            entry["tables"] = list(outcome.others)
        further = {key: value for key, value in (("tables", outcome.others), ("aside", outcome.aside)) if value}
        secret = {"step": method.name, "method": method, **outcome.private, **further}
        result = materialise(safe)
        if method.rows == "new" and not isinstance(method, Formal):
            secret["made"] = table, result  # later steps may hide from the guard that new records repeat the input
        done = with_further_tables(result, copies)
        for name, copy in copies.items():
            differing = shared[name] & set(done.names) - _equal_columns(done, copy)
            if differing:
                reason = f"it changes {min(differing)!r}, which they share, in each of them in another way"
                raise _not_after(method, copies, f"{reason}: together they show more than each")
        _refuse_missed(method, done)
        return done if len(done.history) > before else with_step(done, entry, secret, self.table.first)


def _refuse_missed(method: Method, table: Table) -> None:
    """Raise if the result misses a requirement of its method because of rows without a person's id.

    Methods count these rows as one person; a verdict also counts each of them as a person of its own.
    """
    models = requirements(method)
    if not models or table.counts.unidentified < 2:
        return
    for model in models:
        verdict = model.verdict(table)
        if not verdict.holds:
            raise RequirementError(
                f"{method.name}: {model.name}, {describe(model)}, is not met (value {verdict.value:.4g}) where each of "
                f"the {table.counts.unidentified} rows without a value in {table.schema.person!r} belongs to another "
                "person. Fill in the persons, leave these rows out (subset), or require less."
            )


def check_columns(table: Table, parts: Sequence[Part]) -> None:
    """Raise if a part names a column that the table does not have."""
    for part in parts:
        for field_name, column in named_columns(part):
            if column not in table.schema:
                hint = suggestion(column, table.schema.names)
                raise SchemaError(
                    f"{part.name}: {field_name} names the column {column!r}, which the table lacks.{hint}"
                )


def _equal_columns(table: Table, other: Table) -> set[str]:
    """Names of the columns whose cells are the same in both tables, record by record."""
    common = set(table.names) & set(other.names)
    return {name for name in common if table.column(name).equals(other.column(name))}


def _outcome(method: Method, table: Table, stream: Stream) -> Outcome:
    outcome = method.apply(table, stream)
    if (outcome.table.provenance.family is table.provenance.family) == (method.rows == "new"):
        raise TypeError(f"{method.name} declares its rows as {method.rows!r}, but made others.")
    if table.rows.has_marks and set(method.overwrites(table.schema)) & set(table.rows.suppression_columns):
        return replace(outcome, table=unmark_refilled(outcome.table))
    return outcome


def _safe(method: Method, table: Table) -> Table:
    return materialise(_blank_suppressed(method, table))


def _blank_suppressed(method: Method, table: Table) -> Table:
    """Blank the sensitive cells of suppressed records that miss the method's requirements; noise stays as drawn."""
    return table if isinstance(method, Formal) else blank_suppressed(table, requirements(method))


def _refuse_after_further_tables(method: Method, table: Table, further: Mapping[str, Table]) -> None:
    """Raise if a method cannot be applied to every further table of an earlier step."""
    other = next((name for name, each in further.items() if set(each.names) != set(table.names)), None)
    if other is not None:
        raise _not_after(method, further, f"the table {other!r} has other columns, so that it would stay as it is")
    if further and isinstance(method, Formal):
        raise _not_after(method, further, "its privacy loss would be spent once for each table")


def _not_after(method: Method, further: Mapping[str, Table], reason: str) -> ParameterError:
    return ParameterError(
        f"{method.name}: an earlier step made further tables ({', '.join(map(repr, further))}), and {reason}. "
        f"Put {method.name} before that step, or let that step make one table only (copies = 1)."
    )


__all__ = ["Plan", "Replayed", "check_columns"]
