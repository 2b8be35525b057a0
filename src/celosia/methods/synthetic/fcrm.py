"""Synthetic columns from fuzzy c-regression models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from celosia.errors import ParameterError
from celosia.methods.bases.by_rows import FITTED
from celosia.methods.bases.cells import Impossible
from celosia.methods.bases.regression import by_stratum, need_residuals, replace_dependent, split_columns
from celosia.parts import Columns, CountsRows, Explored, Iterative, Method, Overwritten, PersonUnit, SuitedColumns
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.kernels.synthesis.design import Design
    from celosia.kernels.synthesis.fuzzy_regression import State
    from celosia.streams import Stream
    from celosia.table import Table

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]


class Fcrm(Iterative, Method):
    r"""Replace dependent columns by the prediction of the nearest of ``c`` regressions on the independent columns.

    .. math:: \min_{U, \beta} \sum_{i=1}^{c} \sum_k U_{ik}^m \lVert y_k - f(x_k; \beta_i) \rVert^2, \qquad
              y'_k = f(x_k; \beta_{i^*}), \quad i^* = \arg\max_i U_{ik}

    Fuzzy c-regression models, started by fuzzy c-means. c is the knob: more models lose less and disclose more; one
    model is variant A of ``ipso``. The nearest model is chosen by looking at the true y, so y' comes ever closer to
    y; ``choice="blind"`` draws the model from x alone, at lower risk and higher loss. One set of models for each
    dependent column, or with ``joint`` one for all. ``radial`` adds radial basis functions to the local models, which
    may then bend. ``constraints`` between columns (``"PTOTVAL = POTHVAL + PEARNVAL"``, ``"TAX <= PAY"``,
    ``"PAY >= 0"``) hold in the output: each record moves to the nearest point where they do.

    The new columns are decimal numbers; ``whole`` rounds whole-number columns and folds values into the declared
    bounds. No noise is added. Fails for missing values, a column on both sides, c not below the number of records, and
    constraints that no values of the dependent columns meet. References: Hathaway & Bezdek (1993); Cano & Torra
    (2009); Cano Franco (2009).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"x": [0.0, 1, 2, 3] * 2, "y": [0.0, 1, 2, 3, 9, 8, 7, 6]})
    >>> protected = celosia.protect(celosia.read(data), Fcrm(dependent=["y"], independent=["x"], c=2), seed=1)
    >>> protected.polars()["y"].round(6).to_list()
    [0.0, 1.0, 2.0, 3.0, 9.0, 8.0, 7.0, 6.0]
    """

    dependent: Annotated[SuitedColumns, Overwritten()] = Field(
        default=(), description="numeric columns that are replaced; such quasi-identifiers when empty"
    )
    independent: SuitedColumns = Field(
        default=(), description="numeric columns that stay and predict the others; the other numbers when empty"
    )
    c: Annotated[int, Explored(2, 3, 5, 8, 12)] = Field(default=5, ge=1, description="number of regressions")
    m: float = Field(default=1.5, gt=1, description="fuzziness: near 1 each record belongs to one regression")
    tolerance: float = Field(default=1e-5, gt=0, description="stop when no membership moves by more")
    max_iterations: int = Field(default=30, ge=1, description="most iterations")
    intercept: bool = Field(default=True, description="regressions with an intercept")
    joint: bool = Field(default=False, description="one set of regressions for all dependent columns")
    starts: int = Field(default=1, ge=1, description="starts of which the best is kept")
    radial: int = Field(default=0, ge=0, description="radial basis functions in each local model; 0 is linear")
    choice: Literal["nearest", "blind"] = Field(
        default="nearest", description="regression nearest to the true value, or drawn from the independent columns"
    )
    constraints: Impossible = Field(
        default=(), description="linear equations and inequalities between columns that the output keeps"
    )
    within: Columns = Field(default=(), description="synthesise apart for each combination of these columns")
    whole: bool = Field(default=False, description="round whole-number columns and keep declared bounds")
    persons: ClassVar[PersonUnit] = CountsRows(FITTED)
    suits: ClassVar[tuple[str, ...]] = ("numeric",)
    not_replayable_because: ClassVar[str] = "its values come from regressions over all records"
    examples: ClassVar = ({"dependent": ["y"], "independent": ["x"], "c": 2},)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Fit the regressions and predict."""
        split = split_columns(self.name, table, self.dependent, self.independent, self.within)
        need_residuals(self.name, split, self.c, intercept=self.intercept)
        runs: list[State] = []

        def make(s: int, x: Floats, y: Floats, rows: Ints) -> Floats:
            source = stream.child(s) if s else stream
            return self._synthetic(x, y, table.ids()[rows], source, runs)

        return self.outcome(table, by_stratum(split, make), runs)

    def watch(self, table: Table, stream: Stream) -> Iterator[Watched]:
        """Yield the regressions and the release after each iteration; the last is the result of :meth:`apply`.

        For one set of regressions: one dependent column or ``joint``, one start, not ``within`` others.
        """
        from celosia.kernels.synthesis.fuzzy_regression import iterate, until

        if self.within or self.starts > 1 or (len(self.dependent) > 1 and not self.joint):
            raise ParameterError(
                "fcrm: only one set of regressions can be watched. Take one dependent column or joint = true, one "
                "start, and no columns within which to synthesise apart."
            )
        split = split_columns(self.name, table, self.dependent, self.independent, ())
        need_residuals(self.name, split, self.c, intercept=self.intercept)
        model, names = self._design(split.x, stream), ",".join(self.dependent)
        states = iterate(split.x, split.y, model, self.c, stream.child("start", names).rng(), self.m)
        for state in until(states, self.tolerance, self.max_iterations):
            cluster = self._clusters(state, split.x, table.ids(), stream, names)
            yield Watched(state, cluster, model, self, table)

    def outcome(self, table: Table, synthetic: Floats, runs: Sequence[State]) -> Outcome:
        """Build the outcome with the ``synthetic`` columns in place of the dependent ones."""
        table, synthetic, outside = replace_dependent(table, self.dependent, synthetic, whole=self.whole)
        evidence: dict[str, object] = {
            "objective": float(sum(run.objective for run in runs)),
            "last change": max((run.change for run in runs), default=0.0),
            "iterations": max((run.iteration for run in runs), default=0),
            "converged": all(run.change <= self.tolerance for run in runs),
            **({"outside the bounds": outside} if outside else {}),
        }
        if self.constraints:
            from celosia.methods.synthetic.linear_constraints import keep_constraints

            table, evidence["moved by constraints"] = keep_constraints(
                self.name, table, self.dependent, self.constraints, whole=self.whole
            )
        return Outcome(table, evidence)

    def _synthetic(self, x: Floats, y: Floats, ids: Ints, stream: Stream, runs: list[State]) -> Floats:
        from celosia.kernels.synthesis.fuzzy_regression import best_fit, one_regression

        model = self._design(x, stream)
        if self.c == 1:
            runs.append(one_regression(model, y))
            return model.fitted_values(y)
        synthetic = np.empty_like(y)
        blocks = [list(range(y.shape[1]))] if self.joint else [[j] for j in range(y.shape[1])]
        for block in blocks:
            names = ",".join(self.dependent[j] for j in block)
            state = best_fit(
                x,
                y[:, block],
                model,
                self.c,
                stream.child("start", names).rng(),
                self.m,
                starts=self.starts,
                tolerance=self.tolerance,
                max_iterations=self.max_iterations,
            )
            synthetic[:, block] = state.predict(model, self._clusters(state, x, ids, stream, names))
            runs.append(state)
        return synthetic

    def _design(self, x: Floats, stream: Stream) -> Design:
        from celosia.kernels.synthesis.design import design
        from celosia.kernels.synthesis.fuzzy_regression import radial_features

        features = radial_features(x, self.radial, stream.child("radial").rng()) if self.radial else x
        return design(features, intercept=self.intercept)

    def _clusters(self, state: State, x: Floats, ids: Ints, stream: Stream, names: str) -> Ints:
        """Index of the regression that predicts each record."""
        from celosia.kernels.synthesis.fuzzy_regression import blind_clusters

        if self.choice == "nearest":
            return state.nearest()
        return blind_clusters(x, state.memberships, stream.child("choice", names).uniform(ids))


@dataclass(frozen=True)
class Watched:
    """One iteration: the regressions, the one that predicts each record, and the release."""

    state: State
    cluster: Ints
    design: Design
    method: Fcrm
    table: Table

    @cached_property
    def outcome(self) -> Outcome:
        """The release after this iteration, computed on first use."""
        predicted = self.state.predict(self.design, self.cluster)
        return self.method.outcome(self.table, predicted, [self.state])

    @property
    def lines(self) -> Floats:
        """Intercept and slopes of each regression, c × (1 + columns) × dependent columns."""
        return self.state.lines(self.design)
