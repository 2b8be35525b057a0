"""Local recoding: levels of the hierarchies chosen class by class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import ParameterError, RequirementError
from celosia.methods.bases.quasi_codes import QuasiCodes, QuasiColumn, quasi_codes
from celosia.methods.bases.replay_labels import by_class
from celosia.methods.bases.suppression_method import _SuppressingMethod
from celosia.methods.generalisation.generalise import level_range, patience, unmet
from celosia.parts import Model, PersonUnit, describe, search_hints
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.explanation import search_quality
from celosia.search.lattice.objective import ColumnObjective
from celosia.search.lattice.tables import Levels
from celosia.search.local import LocalResult, LocalSearch
from celosia.table import STAR, Outcome
from celosia.table.suppression import suppress_records
from celosia.table.targets import Target, labelled_targets, targets

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table


class LocalGeneralise(_SuppressingMethod):
    r"""Replace quasi-identifiers by values of their hierarchies, at levels chosen for each class of records.

    .. math:: \min \frac1{nm} \sum_i \sum_j \frac{share(\tilde x_{ij}) - 1/D_j}{1 - 1/D_j}
              \quad\text{so that every class meets the requirements}

    Frequent combinations keep their detail, rare ones are generalised further: much more detail than with one
    level per column, and as a rule nothing suppressed. The price: one value occurs at several levels of detail, which
    tabulations must allow for. The result is good, not proven best. ``suppress`` is the largest share of records that
    may be given up, 5 % unless stated: under t-closeness a few records in no class leave all others much more detail,
    and under requirements that every combination can meet none is suppressed. A class of which nothing but stars is
    left counts as suppressed, unless it is the whole table. A lattice of more than 300 000 nodes is searched for
    ``budget_seconds`` (60 unless given); ``finished`` in the evidence says whether the time was enough. Requirements
    on the file as a whole are refused. A column without a hierarchy is kept or starred.

    References: Prasser, Kohlmayer & Kuhn (2016); LeFevre, DeWitt & Ramakrishnan (2006).

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["13053", "13053", "14850", "14853"]})
    >>> table = celosia.read(data, celosia.Schema.of(quasi=["zip"], hierarchies={"zip": "prefixes"}))
    >>> celosia.protect(table, LocalGeneralise(require=["k-anonymity(k=2)"])).polars()["zip"].to_list()
    ['13053', '13053', '1485*', '1485*']
    """

    require: tuple[Model, ...] = Field(min_length=1, description="requirements that every class must meet")
    suppress: float = Field(default=0.05, ge=0, le=1, description="largest share of records that may be suppressed")
    levels: dict[str, int | tuple[int, int]] = Field(
        default_factory=dict, description="column → level, or lowest and highest level allowed"
    )
    weights: dict[str, float] = Field(default_factory=dict, description="column → importance for the loss")
    target: Target = Field(default=None, description="smallest class size per record: a column, or an array")
    budget_seconds: float | None = Field(default=None, gt=0, description="stop looking after so many seconds")
    drop: bool = Field(default=False, description="remove suppressed rows instead of keeping them with stars")
    blank: bool = Field(default=False, description="empty the sensitive columns of suppressed records too")
    persons: ClassVar[PersonUnit] = "counted"
    examples: ClassVar = (
        {"require": ["k-anonymity(k=2)"]},
        {"require": ["k-anonymity(k=2)"], "suppress": 0.5, "drop": True},
    )

    def target_sizes(self, table: Table) -> dict[str, NDArray[np.int64]]:
        """Return the class sizes of ``target``."""
        return labelled_targets(self.name, table, self.target)

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Find the classes, generalise each, suppress what is left over."""
        for model in self.require:
            if model.scope != "class":
                raise ParameterError(
                    f"local-generalise: {model.name} judges the whole file, not class by class; use generalise."
                )
        wanted = targets(self.name, table, self.target)
        coded = quasi_codes(table, self.require, weights=self.weights, target=wanted)
        lower, upper = level_range(self.name, coded, self.levels)
        domain = coded.domain
        nothing = ColumnObjective(
            tuple(np.zeros(domain.height(j) + 1) for j in range(len(domain))), lambda x: x.sum(axis=-1)
        )
        evaluator = NodeEvaluator(coded.records, self.require, nothing, 0)
        weights = domain.importance if self.weights else None
        limit = int(self.suppress * len(coded.records) * (1 + 1e-12))
        seconds = patience(lower, upper) if self.budget_seconds is None else self.budget_seconds
        search = LocalSearch(evaluator, lower, upper, weights, [_stars(column) for column in coded.columns])
        result = search.run(seconds, limit)
        if result.suppressed > limit or result.suppressed == len(coded.records):
            late = "" if result.finished else f" The search was stopped after {seconds:g} s; give more budget_seconds."
            raise RequirementError(_too_many(self.require, evaluator, upper, result.suppressed) + late)
        done = _replace_cells(table, coded, evaluator, result)
        cells = _cells(coded, evaluator, result)
        hidden = ~coded.active
        hidden[coded.active] = result.hidden[evaluator.tables.group]
        if coded.records.repeated or not all(search_hints(model).monotone_generalisation for model in self.require):
            hidden |= self._broken(done, hidden)
            if int(hidden[coded.active].sum()) > limit:
                raise RequirementError(_too_many(self.require, evaluator, upper, int(hidden[coded.active].sum())))
        if hidden.any():
            done = self.suppress_records(done, hidden)
        facts = _evidence(coded, evaluator, result, lower, upper, may_suppress=limit > 0) | {
            "suppressed": int(hidden[coded.active].sum())
        }
        return Outcome(done, facts, {"transformation": _transformation(coded, result, cells)})

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:  # noqa: ARG002
        """Assign new records to the recorded classes."""
        return by_class(table, recorded["transformation"])

    def _broken(self, done: Table, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mask of the records of merged classes that fail a requirement: classes with equal cells are one class."""
        judged = suppress_records(done, hidden) if hidden.any() else done
        broken: NDArray[np.bool_] = np.logical_or.reduce([model.failing_records(judged) for model in self.require])
        return broken


def _replace_cells(table: Table, coded: QuasiCodes, evaluator: NodeEvaluator, result: LocalResult) -> Table:
    """Replace the cells of each record by those at the levels of its class."""
    place = result.place[evaluator.tables.group]
    changed: dict[str, pl.Series] = {}
    for j, column in enumerate(coded.columns):
        levels = np.zeros(len(table), dtype=np.int64)
        if len(result.levels):
            levels[coded.active] = np.where(place >= 0, result.levels[np.maximum(place, 0), j], 0)
        if levels.any():
            changed[column.name] = mix_levels(column, levels, column.codes)
    return table.replace(changed) if changed else table


def _stars(column: QuasiColumn) -> NDArray[np.bool_]:
    """Mask of the values (columns) whose label at a level (rows) is a star."""
    shape = column.height + 1, len(column.values)
    levels, codes = (index.reshape(-1) for index in np.indices(shape))
    cells = mix_levels(column, levels, codes.astype(np.int32))
    return np.asarray((cells == STAR).fill_null(value=False).to_numpy(), dtype=np.bool_).reshape(shape)


def _cells(coded: QuasiCodes, evaluator: NodeEvaluator, result: LocalResult) -> list[pl.Series]:
    """Cells of each class, column by column."""
    first = np.full(len(result.levels), -1, dtype=np.int64)
    placed = np.flatnonzero(result.place >= 0)
    first[result.place[placed][::-1]] = placed[::-1]
    codes = _codes_of(evaluator, first)
    levels = result.levels.astype(np.int64)
    return [mix_levels(column, levels[:, j], codes[:, j]) for j, column in enumerate(coded.columns)]


def mix_levels(column: QuasiColumn, levels: NDArray[np.int64], codes: NDArray[np.int32]) -> pl.Series:
    """Labels of the codes of a column, each at its own level."""
    import polars as pl

    from celosia.hierarchy.text import texts

    raw = pl.Series(column.name, texts(column.values), dtype=pl.String)
    stacked = pl.concat([raw, *column.labels])
    series: pl.Series = stacked.gather(levels * len(column.values) + codes).alias(column.name)
    return series


def _too_many(require: tuple[Model, ...], evaluator: NodeEvaluator, upper: tuple[int, ...], suppressed: int) -> str:
    n = len(evaluator.records)
    _, short = unmet(require, evaluator, upper)
    reason = (
        "; ".join(why for _, why in short)
        or " and ".join(describe(model) for model in require) + " cannot be met for every record"
    )
    advice = f" {suppressed} of {n} records would be left over: allow suppress ≥ {suppressed / max(1, n):.4g}."
    return f"local-generalise: {reason}.{advice if suppressed < n else ''}"


def _evidence(
    coded: QuasiCodes,
    evaluator: NodeEvaluator,
    result: LocalResult,
    lower: Levels,
    upper: Levels,
    *,
    may_suppress: bool,
) -> dict[str, object]:
    placed = result.place >= 0
    records = np.bincount(result.place[placed], evaluator.tables.base.sums[placed, 0], len(result.levels))
    mean = {
        column.name: float(np.average(result.levels[:, j], weights=records)) for j, column in enumerate(coded.columns)
    }
    domain = coded.domain
    score = (result.loss * domain.searched + domain.suppressed_before) / max(1, domain.n)
    return {
        "score": score,
        "granularity": 1 - score,
        "suppressed": result.suppressed,
        "optimal": False,
        "classes": len(result.levels),
        "nodes": len(np.unique(result.levels, axis=0)),
        "checked": result.nodes,
        "finished": result.finished,
        "search": search_quality(
            complete=result.finished,
            score=result.loss,
            bound=None,
            judged=result.nodes,
            spans=[high - low + 1 for low, high in zip(lower, upper, strict=True)],
            may_suppress=may_suppress,
        ),
        "mean_levels": mean,
    }


def _transformation(coded: QuasiCodes, result: LocalResult, cells: list[pl.Series]) -> dict[str, object]:
    """Record for replay: the classes in the order in which a new record tries them, each with its levels and labels."""
    labelled = map(list, zip(*(column.to_list() for column in cells), strict=True))
    classes = [list(pair) for pair in zip(result.levels.tolist(), labelled, strict=True)]
    heights = np.unique(result.levels, axis=0).max(axis=0) if len(result.levels) else np.zeros(len(coded.columns), int)
    labels = {
        column.name: [column.label_of(level) for level in range(int(top) + 1)]
        for column, top in zip(coded.columns, heights, strict=True)
    }
    return {"columns": list(coded.domain.names), "labels": labels, "classes": classes}


def _codes_of(evaluator: NodeEvaluator, rows: NDArray[np.int64]) -> NDArray[np.int32]:
    from celosia.kernels.search.lattice import unpack

    lay = evaluator.tables.layout
    return unpack(evaluator.tables.base.keys[rows], lay.word, lay.shift, lay.mask)
