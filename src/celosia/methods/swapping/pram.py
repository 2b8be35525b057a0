"""Post-randomisation of categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.data.engines.lazy_frames import RECORD
from celosia.errors import DataError, ParameterError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import Impossible, combine_codes, created_impossible, strata, units
from celosia.parts import Columns, CountsRows, Explored, Memory, Method, PersonUnit, SuitedColumns
from celosia.table import Outcome
from celosia.table.derive import with_record_ids
from celosia.table.edit import replace_by_batches
from celosia.table.frames import row_batches
from celosia.table.source import Source, open_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]


_STRATUM, _CODE = "__stratum__", "__code__"
MANY = 2000  # categories whose transition matrix fits into memory and into a certificate


class Pram(Method):
    r"""Replace categories at random by others, by a transition matrix that keeps the expected counts.

    .. math:: P(\tilde x = j \mid x = i) = R_{ij}, \qquad p^T R = p^T, \qquad R_{ii} \ge \delta

    Without a ``matrix`` a category is kept or redrawn from the margin, and ``diagonal`` is exactly the smallest
    probability of staying. A given matrix is made invariant (unless ``invariant = false``) and mixed with the identity
    until its diagonal is at least ``diagonal``. Each stratum of ``within`` has its own matrix over the categories
    that occur there. A column that is the same within households changes once per household; missing values stay.
    Records that would come to meet an ``impossible`` condition keep their values.

    The matrix is part of the evidence: counts can be estimated without bias from it
    (:func:`celosia.kernels.perturbation.transition.unbiased_counts`). It shows the margin of the original. With
    ``within`` the matrices would show it for every stratum, by name: they go to the private record. Fails for a
    matrix that does not fit the categories. References: Gouweleeuw et al. (1998); Kooiman et al. (1997).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"city": ["A"] * 6 + ["B"] * 2}), celosia.Schema.of(quasi=["city"]))
    >>> protected = celosia.protect(table, Pram(columns=["city"], diagonal=0.7), seed=1)
    >>> [[round(p, 3) for p in row] for row in protected.history[-1]["matrices"]["city"][0]["matrix"]]
    [[0.9, 0.1], [0.3, 0.7]]
    """

    columns: SuitedColumns = Field(
        default=(), description="categorical columns, randomised one by one; such quasi-identifiers when empty"
    )
    diagonal: Annotated[float, Explored(0.9, 0.8, 0.7, 0.6, 0.5)] = Field(
        default=0.8, gt=0, le=1, description="smallest probability that a category stays"
    )
    matrix: Source = Field(
        default=None,
        description="table with the transition matrix: first column the category, the others one per new category",
    )
    invariant: bool = Field(default=True, description="change a given matrix so that expected counts stay")
    within: Columns = Field(default=(), description="randomise only among categories of records that agree on these")
    impossible: Impossible = Field(default=(), description="conditions that no record may come to meet")
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    memory: ClassVar[Memory] = "blocks"
    suits: ClassVar[tuple[str, ...]] = ("nominal", "ordinal")
    not_replayable_because: ClassVar[str] = "the transition matrix keeps the frequencies of all records"
    examples: ClassVar = ({"columns": ["q", "s"]},)

    @model_validator(mode="after")
    def _one_column(self) -> Pram:
        if self.matrix is not None and len(self.columns) != 1:
            raise ParameterError(f"pram: a matrix is for one column, got {len(self.columns)}.")
        return self

    def needs_memory(self, schema: Schema) -> bool:
        """Return whether conditions or members of a household must be checked over all records."""
        return bool(self.impossible) or schema.household is not None

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Draw the new categories."""
        given = None if self.matrix is None else _read_matrix(self.matrix)
        if table.counts.frame is None and not self.needs_memory(table.schema):
            return self._apply_in_batches(table, stream, given)
        columns: dict[str, pl.Series] = {}
        changed: dict[str, int] = {}
        matrices: dict[str, list[dict[str, object]]] = {}
        for name in self.columns:
            unit = units(self.name, table, [name])
            coded, values = table.codes(name)
            codes = unit.pick(np.asarray(coded, dtype=np.int64))
            _refuse_many(name, values)
            new = codes.copy()
            matrices[name] = []
            uniform = stream.child(name).uniform(unit.pick(table.ids()))
            for rows in strata(table, self.within, unit):
                counts = np.bincount(codes[rows][codes[rows] >= 0], minlength=len(values))
                if not counts.any():
                    continue
                transition = self._transition(counts, values, given)
                new[rows] = transition.redraw(codes[rows], uniform[rows])
                first = int(unit.first[rows[0]])
                matrices[name].append(transition.entry({w: str(table.column(w)[first]) for w in self.within}))
            changed[name] = int(unit.expand(new != codes).sum())
            columns[name] = _decode(table.column(name), values, unit.expand(new))
        done = table.replace(columns)
        outcome = self._outcome(done, changed, matrices)
        if not self.impossible:
            return outcome
        wrong = created_impossible(self.name, table, done, self.impossible)
        done = self._restore(table, done, wrong)
        again = {name: int(table.column(name).ne_missing(done.column(name)).sum()) for name in self.columns}
        return Outcome(done, {**outcome.evidence, "kept": int(wrong.sum()), "changed": again}, outcome.private)

    def _apply_in_batches(self, table: Table, stream: Stream, given: tuple[list[str], Floats] | None) -> Outcome:
        """Compute the matrices from counts and draw batch by batch, without the table in memory."""
        import polars as pl

        done = with_record_ids(table)
        changed: dict[str, int] = {}
        matrices: dict[str, list[dict[str, object]]] = {}
        for name in self.columns:
            counted = table.counts.histogram([*self.within, name], rows_only=True)
            column = counted.column(name)
            _refuse_many(name, column.present)
            transitions: list[_Transition] = []
            matrices[name] = []
            stratum = np.full(len(counted), -1, dtype=np.int64)
            within = [counted.column(w).masked for w in self.within]
            label = combine_codes(within) if within else np.zeros(len(counted), dtype=np.int64)
            for rows in _by_label(label):
                own = column.masked[rows]
                counts = np.bincount(own[own >= 0], counted.rows[rows][own >= 0], minlength=len(column.present))
                if not counts.any():
                    continue
                stratum[rows] = len(transitions)
                transitions.append(self._transition(counts.astype(np.int64), column.present, given))
                cells = counted.cells[int(rows[0])]
                matrices[name].append(transitions[-1].entry({w: str(cells[w][0]) for w in self.within}))
            place = counted.cells.with_columns(pl.Series(_STRATUM, stratum), pl.Series(_CODE, column.masked))
            own_stream = stream.child(name).with_digest()
            draws = _Draws(name, place, column.present, tuple(transitions), own_stream)
            before = done
            done = replace_by_batches(done, name, draws, further=self.within)
            changed[name] = _count_changed(before, draws, self.within)
        return self._outcome(done, changed, matrices)

    def _outcome(self, done: Table, changed: dict[str, int], matrices: dict[str, list[dict[str, object]]]) -> Outcome:
        if self.within:
            return Outcome(done, {"changed": changed}, {"matrices": matrices})
        return Outcome(done, {"changed": changed, "matrices": matrices})

    def _transition(
        self, counts: NDArray[np.int64], values: pl.Series, given: tuple[list[str], Floats] | None
    ) -> _Transition:
        here = np.flatnonzero(counts)
        labels = [str(values[int(code)]) for code in here]
        return _Transition(here, labels, self._matrix(counts[here].astype(np.float64), labels, given), len(values))

    def _matrix(self, counts: Floats, labels: list[str], given: tuple[list[str], Floats] | None) -> Floats:
        from celosia.kernels.perturbation.transition import invariant, raise_diagonal, toward_margin

        if given is None:
            share = float(counts.min() / counts.sum())
            return toward_margin(counts, max(self.diagonal, share))
        categories, matrix = given
        absent = [label for label in labels if label not in categories]
        if absent:
            raise DataError(f"pram: the matrix lacks {len(absent)} of the {len(labels)} categories of the column.")
        pick = [categories.index(label) for label in labels]
        matrix = matrix[np.ix_(pick, pick)]
        lost = 1 - matrix.sum(axis=1)  # what went to categories that do not occur stays where it was
        matrix = matrix + np.diag(np.maximum(lost, 0.0))
        if self.invariant:
            matrix = invariant(matrix, counts)
        return raise_diagonal(matrix, self.diagonal)

    def _restore(self, table: Table, done: Table, wrong: NDArray[np.bool_]) -> Table:
        """Restore the old categories of records, of whole households in columns of households."""
        back = {}
        for name in self.columns:
            unit = units(self.name, table, [name])
            hit = np.zeros(len(unit), np.bool_)
            hit[unit.member[wrong]] = True
            back[name] = _choose(hit[unit.member], table.column(name), done.column(name))
        restored = done.replace(back)
        again = created_impossible(self.name, table, restored, self.impossible)
        return self._restore(table, restored, wrong | again) if again.any() else restored


def _read_matrix(source: object) -> tuple[list[str], Floats]:
    """Read a transition matrix from a table: categories and probabilities."""
    from celosia.kernels.perturbation.transition import check

    frame = open_source(source).polars()
    labels = [str(value) for value in frame[:, 0]]
    if sorted(labels) != sorted(frame.columns[1:]):
        raise ParameterError("pram: the rows and columns of the matrix must name the same categories.")
    try:
        matrix = frame.select(labels).to_numpy().astype(np.float64)
    except ValueError:
        raise ParameterError("pram: the matrix must hold numbers.") from None
    return labels, check(matrix)


@dataclass(frozen=True)
class _Transition:
    """The transition matrix of a stratum, over the categories that occur in it."""

    here: NDArray[np.int64]
    labels: list[str]
    matrix: Floats
    width: int

    def redraw(self, codes: NDArray[np.int64], uniform: Floats) -> NDArray[np.int64]:
        """Draw new categories; -1, which is missing, stays."""
        from celosia.kernels.neighbours.transition import transit

        local = np.full(self.width + 1, -1, dtype=np.int64)  # the last entry serves -1
        local[self.here] = np.arange(len(self.here))
        new: NDArray[np.int64] = np.append(self.here, -1)[transit(local[codes], self.matrix, uniform)]
        return new

    def entry(self, stratum: dict[str, str]) -> dict[str, object]:
        """Categories and transition matrix as evidence, with the values that define the stratum."""
        facts = {"categories": self.labels, "matrix": self.matrix.tolist()}
        return {**facts, "stratum": stratum} if stratum else facts


@dataclass(frozen=True)
class _Draws:
    """Picklable function that draws new categories of a column for a batch of records."""

    name: str
    place: pl.DataFrame
    """The number of the stratum and the code for each combination of the columns of strata and the category."""
    values: pl.Series
    transitions: tuple[_Transition, ...]
    stream: Stream

    def __call__(self, batch: pl.DataFrame) -> pl.Series:
        _, new = self.codes(batch)
        return _decode(batch[self.name], self.values, new)

    def codes(self, batch: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the categories of a batch before and after."""
        keys = [column for column in self.place.columns if column not in {_STRATUM, _CODE}]
        places = self.place.cast({key: batch.schema[key] for key in keys})
        joined = batch.join(places, on=keys, how="left", nulls_equal=True, maintain_order="left")
        codes = joined[_CODE].to_numpy().astype(np.int64)
        stratum = joined[_STRATUM].to_numpy()
        uniform = self.stream.uniform(batch[RECORD].to_numpy())
        new = codes.copy()
        for number, transition in enumerate(self.transitions):
            rows = np.flatnonzero(stratum == number)
            new[rows] = transition.redraw(codes[rows], uniform[rows])
        return codes, new


def _count_changed(table: Table, draws: _Draws, within: Sequence[str]) -> int:
    """Count the records that get another category."""
    names = list(dict.fromkeys([RECORD, draws.name, *within]))
    total = 0
    for batch in row_batches(table, names):
        codes, new = draws.codes(batch)
        total += int((codes != new).sum())
    return total


def _by_label(label: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """List the positions of each label, in the order of the labels."""
    order = np.argsort(label, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(label[order])) + 1) if len(label) else []


def _refuse_many(name: str, values: pl.Series) -> None:
    if len(values) > MANY:
        raise DataError(
            f"pram: column {name!r} has {len(values)} categories; at most {MANY} can be used. Recode it first."
        )


def _decode(old: pl.Series, values: pl.Series, codes: NDArray[np.int64]) -> pl.Series:
    """Decode codes to values, in the type of the old column."""
    import polars as pl

    picked = pl.Series(old.name, codes.astype(np.int32))
    if (codes < 0).any():
        picked = picked.replace(-1, None)
    return values.gather(picked).alias(old.name).cast(old.dtype)


def _choose(hit: NDArray[np.bool_], old: pl.Series, new: pl.Series) -> pl.Series:
    import polars as pl

    return pl.select(
        pl.when(pl.lit(pl.Series(hit))).then(pl.lit(old)).otherwise(pl.lit(new)).alias(old.name)
    ).to_series()
