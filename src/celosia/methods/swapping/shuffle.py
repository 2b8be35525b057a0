"""Data shuffling."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import DataError, ParameterError
from celosia.methods.bases.by_rows import EXCHANGED
from celosia.methods.bases.cells import as_column, numbers, units
from celosia.parts import Columns, CountsRows, Explored, Memory, Method, PersonUnit, PublishesEvidence, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

MANY = 100  # categories of a column that may become indicators


class Shuffle(PublishesEvidence, Method):
    r"""Deal the values of numeric columns out again so that margins stay exactly and rank correlations on average.

    .. math:: y^* = \Sigma_{xs}\Sigma_{ss}^{-1} s^* + e, \qquad
              e \sim N(0,\ \Sigma_{xx} - \Sigma_{xs}\Sigma_{ss}^{-1}\Sigma_{sx})

    on normal scores; the record with the r-th smallest :math:`y^*` gets the r-th smallest value of the column. Given
    the columns ``given``, the new values are independent of the old ones: an intruder who has ``given`` learns no more
    than their relation to the shuffled columns. ``given`` may be numeric (by rank) or categorical (by indicators);
    columns that it does not name lose their relation to the shuffled ones. Values are never changed. Missing values
    stay where they are. Fails for text in ``columns`` and missing values in ``given``. Reference: Muralidhar & Sarathy
    (2006).

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"age": [20, 30, 40, 50], "income": [1, 4, 9, 16]}))
    >>> protected = celosia.protect(table, Shuffle(columns=["income"], given=["age"]), seed=1).polars()
    >>> sorted(protected["income"].to_list())
    [1, 4, 9, 16]
    """

    columns: SuitedColumns = Field(
        default=(), description="numeric columns whose values are dealt out again; such quasi-identifiers when empty"
    )
    given: Annotated[Columns, Explored(())] = Field(
        default=(), description="columns whose relation to the shuffled ones is kept"
    )
    public_evidence: ClassVar[frozenset[str]] = frozenset({"given"})
    persons: ClassVar[PersonUnit] = CountsRows(EXCHANGED)
    memory: ClassVar[Memory] = "blocks"
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "values change places between records"
    examples: ClassVar = ({"columns": ["x"], "given": ["y"]},)

    @model_validator(mode="after")
    def _check_columns(self) -> Shuffle:
        both = [name for name in self.columns if name in self.given]
        if both:
            raise ParameterError(f"shuffle: column {both[0]!r} is both shuffled and given.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Shuffle the values of the columns."""
        from celosia.kernels.perturbation.shuffle import shuffle

        unit = units(self.name, table, self.columns)
        x = numbers(self.name, table, self.columns)[unit.first]
        parts = [self._scores(table, name)[unit.first] for name in self.given]
        given = np.column_stack(parts) if parts else np.empty((len(x), 0))
        new = shuffle(x, given, stream.rng())
        columns = {name: as_column(table.column(name), new[unit.member, j]) for j, name in enumerate(self.columns)}
        return Outcome(table.replace(columns), {"given": list(self.given)})

    def _scores(self, table: Table, name: str) -> NDArray[np.float64]:
        """Compute normal scores of an ordered column, indicators of the categories of an unordered one."""
        from celosia.kernels.perturbation.shuffle import normal_scores

        column = table.column(name)
        codes, values = table.codes(name)
        gone = int((codes < 0).sum())
        if gone:
            raise DataError(f"shuffle: {gone} records have missing values in the given column {name!r}.")
        if column.dtype.is_numeric() or table.schema[name].kind == "ordinal":
            return normal_scores(np.asarray(codes, dtype=np.float64))[:, None]
        if len(values) > MANY:
            raise DataError(
                f"shuffle: the given column {name!r} has {len(values)} categories; at most {MANY} can be used."
            )
        return np.asarray(codes[:, None] == np.arange(1, max(len(values), 1))[None, :], dtype=np.float64)
