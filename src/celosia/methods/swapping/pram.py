"""Post-randomisation of categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import Impossible, created, strata, units
from celosia.parts import Columns, Method, SuitedColumns
from celosia.table import Outcome
from celosia.table.source import Source, open_source

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]


MANY = 2000  # categories whose transition matrix fits into memory and into a certificate


class Pram(Method):
    r"""Replace categories at random by others, by a transition matrix that keeps the expected counts.

    .. math:: P(\tilde x = j \mid x = i) = R_{ij}, \qquad p^T R = p^T, \qquad R_{ii} \ge \delta

    Without a ``matrix`` a category is kept or drawn anew from the margin, and ``diagonal`` is exactly the smallest
    probability of staying. A given matrix is made invariant (unless ``invariant = false``) and mixed with the identity
    until its diagonal is at least ``diagonal``. Each stratum of ``within`` has its own matrix over the categories
    that occur there. A column that is the same within households changes once per household; missing values stay.
    Records that would come to meet an ``impossible`` condition keep their values.

    The matrix is part of the evidence: counts can be estimated without bias from it
    (:func:`celosia.mathematics.perturbation.transition.unbiased_counts`). It shows the margin of the original. With
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
    diagonal: float = Field(default=0.8, gt=0, le=1, description="smallest probability that a category stays")
    matrix: Source = Field(
        default=None,
        description="table with the transition matrix: first column the category, the others one per new category",
    )
    invariant: bool = Field(default=True, description="change a given matrix so that expected counts stay")
    within: Columns = Field(default=(), description="randomise only among categories of records that agree on these")
    impossible: Impossible = Field(default=(), description="conditions that no record may come to meet")
    rows_because: ClassVar[str] = NOISE_PER_ROW
    blockable: ClassVar[bool] = True
    explored: ClassVar[Mapping[str, tuple[Any, ...]]] = {"diagonal": (0.9, 0.8, 0.7, 0.6, 0.5)}
    suits: ClassVar[tuple[str, ...]] = ("nominal", "ordinal")
    refusal: ClassVar[str] = "the transition matrix keeps the frequencies of all records"

    @model_validator(mode="after")
    def _one_column(self) -> Pram:
        if self.matrix is not None and len(self.columns) != 1:
            raise ParameterError(f"pram: a matrix is for one column, got {len(self.columns)}.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Draw the new categories."""
        from celosia.mathematics.kernels.neighbours.transition import transit

        given = None if self.matrix is None else _given(self.matrix)
        drawn: dict[str, pl.Series] = {}
        changed: dict[str, int] = {}
        matrices: dict[str, list[dict[str, Any]]] = {}
        for name in self.columns:
            unit = units(self.name, table, [name])
            coded, values = table.codes(name)
            codes = unit.pick(np.asarray(coded, dtype=np.int64))
            if len(values) > MANY:
                raise DataError(
                    f"pram: column {name!r} has {len(values)} categories; at most {MANY} can be used. Recode it first."
                )
            labels = [str(value) for value in values]
            new = codes.copy()
            matrices[name] = []
            rng = stream.child(name).rng()
            for rows in strata(table, self.within, unit):
                own = codes[rows] if self.within else codes
                counts = np.bincount(own[own >= 0], minlength=len(labels))
                if not counts.any():
                    continue
                here = np.flatnonzero(counts)
                # number of a category among those that occur here; the last entry serves -1, which is missing
                local = np.append(np.cumsum(counts > 0) - 1, -1)
                here_labels = [labels[c] for c in here]
                matrix = self._matrix(counts[here].astype(np.float64), here_labels, given)
                moved = np.append(here, -1)[transit(local[own], matrix, rng)]
                if self.within:
                    new[rows] = moved
                else:
                    new = moved
                entry: dict[str, Any] = {"categories": here_labels, "matrix": matrix.tolist()}
                if self.within:
                    entry["stratum"] = {w: str(table.column(w)[int(unit.first[rows[0]])]) for w in self.within}
                matrices[name].append(entry)
            changed[name] = int(unit.spread(new != codes).sum())
            drawn[name] = _labelled(table.column(name), values, unit.spread(new))
        done = table.replace(drawn)
        evidence: dict[str, Any] = {"changed": changed}
        private = {"matrices": matrices} if self.within else {}
        if not self.within:
            evidence["matrices"] = matrices
        if self.impossible:
            wrong = created(self.name, table, done, self.impossible)
            evidence["kept"] = int(wrong.sum())
            done = self._restore(table, done, wrong)
            evidence["changed"] = {
                name: int(table.column(name).ne_missing(done.column(name)).sum()) for name in self.columns
            }
        return Outcome(done, evidence, private)

    def _matrix(self, counts: Floats, labels: list[str], given: tuple[list[str], Floats] | None) -> Floats:
        from celosia.mathematics.perturbation.transition import invariant, raise_diagonal, toward_margin

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
        """Give records their old categories; whole households where the column is a household's."""
        back = {}
        for name in self.columns:
            unit = units(self.name, table, [name])
            hit = np.zeros(len(unit), np.bool_)
            hit[unit.member[wrong]] = True
            back[name] = _choose(hit[unit.member], table.column(name), done.column(name))
        restored = done.replace(back)
        again = created(self.name, table, restored, self.impossible)
        return self._restore(table, restored, wrong | again) if again.any() else restored


def _given(source: Any) -> tuple[list[str], Floats]:
    """Categories and numbers of a transition matrix that is given as a table."""
    from celosia.mathematics.perturbation.transition import check

    frame = open_source(source).polars()
    labels = [str(value) for value in frame[:, 0]]
    if sorted(labels) != sorted(frame.columns[1:]):
        raise ParameterError("pram: the rows and columns of the matrix must name the same categories.")
    try:
        matrix = frame.select(labels).to_numpy().astype(np.float64)
    except ValueError:
        raise ParameterError("pram: the matrix must hold numbers.") from None
    return labels, check(matrix)


def _labelled(old: pl.Series, values: pl.Series, codes: NDArray[np.int64]) -> pl.Series:
    """Codes back to values, in the type of the old column."""
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
