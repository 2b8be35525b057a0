"""Apply the transformation of an earlier release to new records of the same schema: ``celosia.apply``.

The private record has the transformation of each step: the label of each value, the classes with their levels, the
cuts of a partition, the fuzzy sets. New records get the same cells, so that old and new releases can be combined.
Nothing is searched again, so the requirements may fail for new records: the records that violate them are listed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.errors import DataError
from celosia.hierarchy.text import texts
from celosia.parts import Method, Model, build, requirements, target_sizes
from celosia.release.drift import ColumnDrift, measure_drift
from celosia.release.evidence.certificate import RecordDraft, load_record, record_of
from celosia.release.evidence.row_map import row_map
from celosia.release.evidence.seal import file_hash
from celosia.release.plan import Plan
from celosia.release.policy.policy import Policy, Step
from celosia.table import Table, read, read_released
from celosia.table.suppression import blank_suppressed, suppress_records

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Reused:
    """New records under an earlier transformation, with masks of the suppressed and of the violating ones."""

    table: Table
    original: Table = field(repr=False)
    """New records before the transformation."""
    methods: tuple[Method, ...] = field(repr=False)
    """Steps of the release."""
    unplaced: NDArray[np.bool_] = field(repr=False)
    """Records that are suppressed because the transformation has no cells for them (an unknown value, or no class)."""
    violating: Mapping[str, NDArray[np.bool_]] = field(repr=False)
    """For each requirement, a mask of the records whose class does not meet it."""
    suppressed: NDArray[np.bool_] = field(repr=False)
    """Records that were suppressed because their class did not meet a requirement."""
    drift: tuple[ColumnDrift, ...] | None = None
    """How the new records differ from the earlier ones; None where neither the original nor the release is there."""

    @property
    def holds(self) -> bool:
        """Whether every requirement holds for the records that were placed."""
        return not any(mask.any() for mask in self.violating.values())

    def spec(self) -> dict[str, Any]:
        """Return the counts as plain data; positions of records start at 0."""
        return {
            "rows": len(self.table),
            "unplaced": int(self.unplaced.sum()),
            "suppressed": int(self.suppressed.sum()),
            "holds": self.holds,
            "requirements": [
                {"part": name, "violating": int(mask.sum()), "records": np.flatnonzero(mask).tolist()}
                for name, mask in self.violating.items()
            ],
            "drift": None if self.drift is None else [column.spec() for column in self.drift],
        }


def apply(
    record: RecordDraft | Mapping[str, Any] | str | Path,
    source: object,
    *,
    released: object = None,
    suppress_violating: bool = False,
    engine: str | None = None,
) -> Reused:
    """Apply the transformation of a private record to new records.

    ``source`` is a table, or a frame or path that is read under the schema of the record's policy. With ``released``
    (the earlier release) the requirements are checked on old and new records together; where they count persons whose
    column was not released, the original must be where the policy reads it. Each method defines how its step
    is repeated (:meth:`celosia.parts.Method.replay`); one that depends on all records at once is refused. ``engine``
    holds the new records. With ``suppress_violating`` the records whose class does not meet a requirement are
    suppressed, until every class does.

    ``Reused.drift`` compares the new records with the original, where the file that the policy reads is the one of the
    release, else their protected cells with ``released``: new categories, and distributions that shifted.
    """
    directory = Path(record).parent if isinstance(record, str | Path) else Path()
    recorded = _open_record(record)
    if not recorded.policy and recorded.request:
        raise DataError(
            "a consent request made this record: its classes depend on choices. Make a new request instead."
        )
    policy = Policy.from_record(recorded, directory)
    table = source if isinstance(source, Table) else policy.like(source, engine)
    missing = [name for name in policy.schema.quasi if name not in table.names]
    if missing:
        raise DataError(f"the new records have no column {missing[0]!r}: they must have the schema of the release.")
    steps = [Step(step.name, build("method", step.parameters)) for step in recorded.steps]
    plan = Plan.resolve(table, steps, seed=None)
    placed, unplaced = plan.replay(recorded.transformation)
    methods = tuple(step.method for step in plan.steps)
    require: list[Model] = list(policy.require)
    for method in methods:
        require += [model for model in requirements(method) if model not in require]
    targets = {name: sizes for method in methods for name, sizes in target_sizes(method, plan.table).items()}
    placed = blank_suppressed(placed, require)

    def violations(table: Table) -> dict[str, NDArray[np.bool_]]:
        combined = table if released is None else _combine(table, plan.table, released, policy, recorded)
        return _violation_masks(table, require, targets, combined)

    masks = violations(placed)
    suppressed = np.zeros(len(placed), dtype=np.bool_)
    while suppress_violating:
        failing = np.logical_or.reduce([*masks.values(), np.zeros(len(placed), dtype=np.bool_)])
        if not (failing & ~suppressed).any():
            break
        suppressed |= failing
        placed = blank_suppressed(suppress_records(placed, suppressed), require)
        masks = violations(placed)
    drift = _drift(plan.table, placed, released, policy, recorded)
    return Reused(placed, plan.table, methods, unplaced, masks, suppressed, drift)


def _drift(
    source: Table, placed: Table, released: object, policy: Policy, record: RecordDraft
) -> tuple[ColumnDrift, ...] | None:
    """Compare the new records with the original of the record, or protected cells with the release."""
    schema = policy.schema
    names = [*schema.quasi, *schema.sensitive, *schema.insensitive]
    if _is_original(policy, record):
        earlier, new = policy.table(), source
    elif released is not None:
        earlier, new = _open_release(released), placed
    else:
        return None
    return measure_drift(earlier, new, [name for name in names if name in earlier.names and name in new.names])


def _is_original(policy: Policy, record: RecordDraft) -> bool:
    """Whether the file that the policy reads is the one that the record was made of."""
    path = policy.input.path
    return path is not None and path.is_file() and file_hash(path) == record.input.sha256


def _open_release(released: object) -> Table:
    return read_released(released) if isinstance(released, str | Path) else read(released)


def _open_record(record: RecordDraft | Mapping[str, Any] | str | Path) -> RecordDraft:
    if isinstance(record, RecordDraft):
        return record
    return record_of(record) if isinstance(record, Mapping) else load_record(record)


def _violation_masks(
    table: Table, require: list[Model], targets: Mapping[str, NDArray[np.int64]], combined: Table
) -> dict[str, NDArray[np.bool_]]:
    """Return for each requirement a mask of the new records whose class among the combined ones does not meet it.

    For a method with target sizes these are the records whose class is smaller than their target.
    """
    masks = {str(model): model.failing_records(combined)[: len(table)] for model in require}
    for name, sizes in targets.items():
        masks[name] = (combined.frequencies()[: len(table)] < sizes) & ~table.counts.suppressed_mask
    return masks


def _combine(table: Table, source: Table, released: object, policy: Policy, record: RecordDraft) -> Table:
    """Concatenate new and released records, the new ones first; a suppressed record is one with ``*`` in its cells.

    ``source`` holds the new records before the transformation, with the ids of their persons.
    """
    import polars as pl

    old = _open_release(released)
    names = [name for name in table.names if name in old.names]
    lacking = [name for name in table.schema.quasi if name not in names]
    if lacking:
        raise DataError(f"the release has no column {lacking[0]!r}: it must be the one that the record belongs to.")

    def text(side: Table) -> pl.DataFrame:
        return pl.DataFrame([pl.Series(name, texts(side.column(name)), dtype=pl.String) for name in names])

    both = pl.concat([text(table), text(old)])
    person = table.schema.person
    if person is not None and person not in names:
        ids = [*texts(source.column(person)), *_released_ids(policy, record, person, len(old))]
        both, names = both.with_columns(pl.Series(person, ids, dtype=pl.String)), [*names, person]
    return read(both, table.schema.keep(names).loose())


def _released_ids(policy: Policy, record: RecordDraft, person: str, rows: int) -> list[str | None]:
    """Return the id of the person of each released record, from the original that the record was made of.

    The numbers of persons in the record are not enough: a new record may belong to one of them.
    """
    if not _is_original(policy, record):
        raise DataError(
            f"the requirements count persons, and the release has no column {person!r}: which new records belong to "
            "the persons of the release is known from its original only, and the file that the policy reads is not "
            "there or another one. Put it back, or run the policy on old and new records."
        )
    released = row_map(record)
    if len(released) != rows:
        raise DataError(f"the release has {rows} records and its private record {len(released)}: they do not match.")
    return texts(policy.table().column(person)[released])
