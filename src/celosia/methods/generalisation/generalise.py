"""Full-domain generalisation with record suppression."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.data.schema import Kind
from celosia.errors import ParameterError, RequirementError, UnknownName
from celosia.methods.bases.class_aggregates import Aggregate, aggregate_classes
from celosia.methods.bases.quasi_codes import QuasiCodes, quasi_codes
from celosia.methods.bases.replay_labels import by_level
from celosia.methods.bases.suppression_method import _SuppressingMethod
from celosia.parts import (
    Explored,
    Loss,
    Model,
    PersonUnit,
    PublishesEvidence,
    SearchObjective,
    build,
    describe,
    population_table,
    refuse_replay,
    search_hints,
)
from celosia.search.lattice.aggregates import with_aggregates
from celosia.search.lattice.evaluator import NodeEvaluator
from celosia.search.lattice.explanation import lattice_record, search_quality
from celosia.search.lattice.lattice import ENUMERATED, SearchResult, search
from celosia.search.lattice.objective import SUM, ColumnObjective, LevelMaps, Objective
from celosia.table import Outcome
from celosia.table.edit import map_values
from celosia.table.suppression import suppress_classes
from celosia.table.targets import Target, labelled_targets, targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.data.schema import Schema
    from celosia.streams import Stream
    from celosia.table import Table

DEFAULT = "domain-loss(aggregate=balanced)"
"""The default objective: no column loses all its detail as long as every column can keep some."""
PATIENCE = 60.0
"""Default time limit in seconds for a lattice that is too large to search completely."""


@dataclass(frozen=True, eq=False)
class LevelLattice:
    """The combinations of levels of a table's quasi-identifiers, with the evaluator that checks them."""

    coded: QuasiCodes
    evaluator: NodeEvaluator
    lower: tuple[int, ...]
    upper: tuple[int, ...]


class Generalise(PublishesEvidence, _SuppressingMethod):
    r"""Replace the values of each quasi-identifier by those of one level of its hierarchy, the best levels there are.

    .. math:: \min_{\ell,\, S} \; loss(T_{\ell, S}) \quad\text{so that every class of } T_{\ell, S}
              \text{ meets the requirements and } |S| \le \lfloor suppress \cdot n \rfloor

    over the levels :math:`\ell` of the columns, with *S* the records of the classes that fail, which are suppressed.
    The search closes most of the lattice by bounds; ``optimal`` in the evidence says whether the result is proven
    best, ``search`` how far it may be from the best and what would help. A lattice of more than 300 000 nodes is
    searched for ``budget_seconds`` (60 unless given). A column without a hierarchy is kept or starred as a whole; a
    missing value is a value of its own. A column under ``aggregate`` does not form classes; each class gets its mean
    (median, mode, range, set) of it, which counts as the share of the column's values that the class holds. Fails
    where no levels meet the requirements within the limit, and names the one that cannot be met.

    References: Samarati (2001); Kohlmayer et al. (2012), *Flash*; Prasser & Kohlmayer (2015), *ARX*.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [34, 36, 47, 41], "zip": ["13053", "13068", "14853", "14850"]})
    >>> schema = celosia.Schema.of(quasi=["age", "zip"], hierarchies={"age": "intervals(width=10)", "zip": "prefixes"})
    >>> safe = celosia.protect(celosia.read(data, schema), Generalise(require=["k-anonymity(k=2)"], objective="height"))
    >>> safe.history[-1]["levels"], safe.history[-1]["optimal"], safe.polars()["zip"].to_list()
    ({'age': 1, 'zip': 2}, True, ['130**', '130**', '148**', '148**'])
    """

    require: Annotated[tuple[Model, ...], Explored(*((f"k-anonymity(k={k})",) for k in (2, 3, 5, 10, 20)))] = Field(
        min_length=1, description="requirements that the result must meet"
    )
    objective: Loss | None = Field(
        default=None, description="the loss to minimise; domain-loss with aggregate balanced when not given"
    )
    suppress: Annotated[float, Explored(0.0, 0.05)] = Field(
        default=0.0, ge=0, le=1, description="largest share of records that may be suppressed"
    )
    levels: dict[str, int | tuple[int, int]] = Field(
        default_factory=dict, description="column → level, or lowest and highest level allowed"
    )
    weights: dict[str, float] = Field(default_factory=dict, description="column → importance for the loss")
    costs: dict[str, tuple[float, ...]] = Field(
        default_factory=dict, description="column → loss of each of its levels, to be summed, instead of an objective"
    )
    target: Target = Field(default=None, description="smallest class size per record: a column, or an array")
    aggregate: dict[str, Aggregate] = Field(
        default_factory=dict,
        description="column → mean, geometric-mean, median, mode, interval or set of its class, instead of a level",
    )
    budget_seconds: float | None = Field(default=None, gt=0, description="stop unfinished after so many seconds")
    budget_nodes: int | None = Field(default=None, ge=1, description="stop unfinished after so many nodes")
    drop: bool = Field(default=False, description="remove suppressed rows instead of keeping them with stars")
    blank: bool = Field(default=False, description="empty the sensitive columns of suppressed records too")
    public_evidence: ClassVar[frozenset[str]] = frozenset({"levels"})
    persons: ClassVar[PersonUnit] = "counted"
    suits: ClassVar[tuple[str, ...]] = ("hierarchy",)
    examples: ClassVar = (
        {"require": ["k-anonymity(k=2)"], "suppress": 0.2},
        {"require": ["k-anonymity(k=2)"], "objective": "discernibility", "suppress": 0.5},
        {"require": ["k-anonymity(k=2)"], "suppress": 0.5, "drop": True},
        {"require": ["k-anonymity(k=2)"], "suppress": 1.0, "aggregate": {"r": "mode"}},
    )

    def needs_memory(self, schema: Schema) -> bool:
        """Targets, values of classes and a population need records; else counts of combinations are enough.

        With a person column, so does a loss that counts a column.
        """
        population = any(population_table(model) is not None for model in self.require)
        counted = bool(_loss_columns(self.objective))
        return self.target is not None or bool(self.aggregate) or population or (counted and schema.person is not None)

    def target_sizes(self, table: Table) -> dict[str, NDArray[np.int64]]:
        """Return the class sizes of ``target``."""
        return labelled_targets(self.name, table, self.target)

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Search, generalise, suppress."""
        lattice = self.lattice(table)
        coded, evaluator, lower, upper = lattice.coded, lattice.evaluator, lattice.lower, lattice.upper
        seconds = self.budget_seconds
        if seconds is None and self.budget_nodes is None:
            seconds = patience(lower, upper)
        result = search(evaluator, lower, upper, seconds=seconds, most=self.budget_nodes, rng=stream.rng)
        if result.best is None:
            raise RequirementError(infeasibility(self.name, self.require, evaluator, result, self.target is not None))
        private = _private(coded, result)
        evidence = _evidence(coded, evaluator.objective, result, may_suppress=evaluator.limit > 0)
        if coded.by_class:
            change = self._by_class(coded, evaluator, result.best.levels)
            del lattice, coded, evaluator  # the counts of the search may be most of what is in memory
            done = change(table)
        else:
            done = self._by_record(table, coded, evaluator, result.best.levels)
        if self.aggregate:
            private.pop("transformation")  # the value of a class does not apply to new records
        return Outcome(done, evidence, private)

    def _by_record(self, table: Table, coded: QuasiCodes, evaluator: NodeEvaluator, levels: Sequence[int]) -> Table:
        """Replace the values of each record by its labels, or suppress the record."""
        kept, label = evaluator.kept_records(tuple(levels))
        hidden = ~coded.active
        hidden[coded.active] = ~kept
        changed = {
            column.name: column.label(level)
            for column, level in zip(coded.columns, levels, strict=True)
            if level > 0 and column.name not in self.aggregate
        }
        if self.aggregate:
            labels = np.zeros(len(table), dtype=np.int64)
            labels[coded.active] = label
            fewest = max((search_hints(model).smallest_size() for model in self.require), default=1)
            for name, how in self.aggregate.items():
                changed[name] = aggregate_classes(self.name, table, name, how, labels, ~hidden, fewest)
        done = table.replace(changed) if changed else table
        return self.suppress_records(done, hidden) if hidden.any() else done

    def _by_class(self, coded: QuasiCodes, evaluator: NodeEvaluator, levels: Sequence[int]) -> Callable[[Table], Table]:
        """Return a function that maps labels and suppresses classes in the engine, without records in memory."""
        import polars as pl

        kept, _ = evaluator.kept_records(tuple(levels))
        chosen = list(zip(coded.columns, levels, strict=True))
        labels = {c.name: (c.values, c.labels[level - 1]) for c, level in chosen if level > 0}
        hidden = None if kept.all() else pl.DataFrame([c.label(level, c.codes[~kept]) for c, level in chosen]).unique()

        def change(table: Table) -> Table:
            for name, (values, new) in labels.items():
                table = map_values(table, name, values, new)
            if hidden is None:
                return table
            blank = table.schema.sensitive if self.blank else ()
            return suppress_classes(table, hidden, drop=self.drop, blank=blank)

        return change

    def lattice(self, table: Table) -> LevelLattice:
        """Build the lattice to search: the evaluator of its nodes, and its lowest and highest levels."""
        wanted = targets(self.name, table, self.target)
        for name in self.aggregate:
            if name not in table.schema.need_quasi():
                raise UnknownName.of("quasi-identifier", name, table.schema.quasi, "(aggregate)")
        counted = (*counted_columns(table, self.objective), *self.aggregate)
        coded = quasi_codes(
            table,
            self.require,
            counted=counted,
            weights=self.weights,
            target=wanted,
            flat=tuple(self.aggregate),
            by_class=True,
        )
        objective = self._objective(coded.domain)
        limit = int(self.suppress * len(coded.records) * (1 + 1e-12))
        evaluator = NodeEvaluator(coded.records, self.require, objective, limit, counted)
        lower, upper = level_range(self.name, coded, {**self.levels, **dict.fromkeys(self.aggregate, 1)})
        return LevelLattice(coded, evaluator, lower, upper)

    def replay(self, table: Table, recorded: Mapping[str, Any], stream: Stream) -> tuple[Table, NDArray[np.bool_]]:  # noqa: ARG002
        """Label new records by the recorded levels."""
        if "transformation" not in recorded:
            raise refuse_replay(self, "the value of a class under aggregate belongs to the records of the class")
        return by_level(table, recorded["transformation"]["labels"])

    def _objective(self, domain: LevelMaps) -> Objective:
        if self.costs:
            if self.objective is not None:
                raise ParameterError("generalise: give either an objective or costs per level, not both.")
            return level_costs(self.name, domain, self.costs)
        objective = objective_of(self.name, self.objective, domain, self.weights)
        if self.aggregate and isinstance(objective, ColumnObjective) and not objective.ranked:
            return with_aggregates(objective, domain, {domain.names.index(name): name for name in self.aggregate})
        return objective


def objective_of(
    who: str, loss: Loss | None, domain: LevelMaps, weights: Mapping[str, float] | None = None
) -> Objective:
    """Convert a loss to the form that a search can bound."""
    chosen = build("loss", DEFAULT) if loss is None else loss
    objective = chosen.objective(domain) if isinstance(chosen, SearchObjective) else None
    if objective is None:
        from celosia.parts import parts

        able = ", ".join(name for name, part in parts("loss").items() if issubclass(part, SearchObjective))
        raise ParameterError(f"{who}: {chosen.name} cannot be the objective of a search. Those that can: {able}.")
    if not weights:
        return objective
    if not isinstance(objective, ColumnObjective):
        raise ParameterError(f"{who}: weights need a loss that adds up over columns; {chosen.name} does not.")
    if objective.weighted:
        return objective
    importance, combine, additive = domain.importance, objective.combine, objective.additive
    if additive is not None:
        to_terms, to_score = additive
        additive = (lambda x: to_terms(x * importance), to_score)
    return replace(objective, combine=lambda x: combine(x * importance), additive=additive)


def _loss_columns(loss: Loss | None) -> tuple[str | None, ...]:
    """Columns that a loss counts in each class, as its parameters name them."""
    if loss is None or not isinstance(loss, SearchObjective):
        return ()
    return loss.counted_columns()


def counted_columns(table: Table, loss: Loss | None) -> tuple[str, ...]:
    """Resolve the columns that a loss counts in each class, such as the target of a majority loss."""
    return tuple(column for name in _loss_columns(loss) for column in table.schema.need_sensitive(name))


def level_costs(who: str, domain: LevelMaps, costs: Mapping[str, Sequence[float]]) -> ColumnObjective:
    """Objective that sums the given costs of the levels; columns that are not named cost nothing."""
    for name in costs:
        if name not in domain.names:
            raise UnknownName.of("quasi-identifier", name, domain.names, "(costs)")
    base = []
    for j, name in enumerate(domain.names):
        given = np.asarray(costs.get(name, np.zeros(domain.height(j) + 1)), dtype=np.float64)
        if len(given) != domain.height(j) + 1:
            raise ParameterError(
                f"{who}: column {name!r} has the levels 0 to {domain.height(j)}, but costs gives {len(given)} numbers."
            )
        base.append(given)
    rising = all(bool((np.diff(given) >= 0).all()) for given in base)
    return ColumnObjective(tuple(base), lambda x: x.sum(axis=-1), monotone=rising, additive=SUM)


def level_range(
    who: str, coded: QuasiCodes, asked: Mapping[str, int | tuple[int, int]]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Lowest and highest level of each column that may be used."""
    for name in asked:
        if name not in coded.domain.names:
            raise UnknownName.of("quasi-identifier", name, coded.domain.names, "(levels)")
    lower, upper = [], []
    for column in coded.columns:
        given = asked.get(column.name, (0, column.height))
        low, high = (given, given) if isinstance(given, int) else given
        if not 0 <= low <= high <= column.height:
            raise ParameterError(
                f"{who}: column {column.name!r} has the levels 0 to {column.height}, got {low} to {high}."
            )
        lower.append(low)
        upper.append(high)
    return tuple(lower), tuple(upper)


def patience(lower: Sequence[int], upper: Sequence[int]) -> float | None:
    """Default time limit in seconds of a search between these levels; none where every node can be listed."""
    nodes = math.prod(b - a + 1 for a, b in zip(lower, upper, strict=True))
    return PATIENCE if nodes > ENUMERATED else None


def unmet(
    require: Sequence[Model], evaluator: NodeEvaluator, levels: tuple[int, ...]
) -> tuple[int, list[tuple[Model, str]]]:
    """Return the number of classes at these levels, and each requirement that they do not meet, with the reason."""
    table = evaluator.tables.at(levels)
    counts = evaluator.tables.counts(table, table.sums[:, 0] > 0)
    return len(counts), [
        (model, f"{describe(model)} cannot be met, the nearest reachable value is {model.score(counts):g}")
        for model in require
        if not model.measure(counts).holds
    ]


def infeasibility(
    who: str, require: Sequence[Model], evaluator: NodeEvaluator, result: SearchResult, targeted: bool
) -> str:
    """Build the error message: the requirement that cannot be met, and the nearest value that can be reached."""
    n = len(evaluator.records)
    classes, short = unmet(require, evaluator, result.upper)
    reasons = [f"{model.name}: {reason}" for model, reason in short]
    least = min((check.suppressed for check in result.evaluations), default=n)
    if not reasons:
        names = " and ".join(model.name for model in require)
        together = " with the targets of the records" if targeted else ""
        reasons.append(f"{names}{together} cannot be met at the allowed levels")
    advice = f" At the highest levels {classes} classes remain." if classes > 1 else ""
    if least < n:
        advice += f" It can be met when {least / n:.4g} of the records may be suppressed (suppress ≥ {least / n:.4g})."
    return f"{who}: {'; '.join(reasons)}.{advice}"


def _evidence(
    coded: QuasiCodes, objective: Objective, result: SearchResult, *, may_suppress: bool
) -> dict[str, object]:
    best = result.best
    assert best is not None
    levels = dict(zip(coded.domain.names, best.levels, strict=True))
    facts: dict[str, object] = {
        "levels": levels,
        "heights": {column.name: column.height for column in coded.columns},
        "score": best.score,
        "suppressed": best.suppressed,
        "optimal": result.optimal,
        "bound": result.bound if isinstance(result.bound, tuple) or np.isfinite(result.bound) else None,
        "checked": len(result.evaluations),
        "lattice": result.nodes,
        "search": search_quality(
            complete=result.optimal,
            score=best.score,
            bound=result.bound,
            judged=len(result.evaluations),
            spans=[high - low + 1 for low, high in zip(result.lower, result.upper, strict=True)],
            may_suppress=may_suppress,
        ),
        "classes": best.classes,
        "covered": {name: _coverage(coded.domain, j, best.levels[j]) for j, name in enumerate(coded.domain.names)},
    }
    if isinstance(objective, ColumnObjective) and best.sums is not None:
        facts["costs"] = dict(zip(coded.domain.names, best.sums, strict=True))
    return facts


def _coverage(domain: LevelMaps, j: int, level: int) -> float:
    """Mean share of the domain that a cell of the column covers at the level: 1/size at level 0, 1 at the top."""
    return float(domain.share(j, level) @ domain.frequency(j, level) / max(1, domain.searched))


def _private(coded: QuasiCodes, result: SearchResult) -> dict[str, object]:
    """Record for :meth:`Generalise.replay` and the picture of the lattice: labels of every value, evaluated nodes."""
    best = result.best
    assert best is not None
    schema = coded.table.schema
    measured = [name for name in schema.quasi if schema[name].kind in (Kind.NUMERIC, Kind.DATE)]
    return {
        "transformation": {
            "levels": dict(zip(coded.domain.names, best.levels, strict=True)),
            "labels": {
                column.name: column.label_of(level) if level or column.name in measured else column.own_labels()
                for column, level in zip(coded.columns, best.levels, strict=True)
            },
        },
        "lattice": lattice_record(result, coded.domain.names),
    }
