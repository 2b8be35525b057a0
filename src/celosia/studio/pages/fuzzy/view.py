"""View models of the fuzzy page: memberships, cardinalities and the curve of Q-anonymity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.data.schema import Role, Schema
from celosia.errors import CelosiaError, DataError, InputError
from celosia.kernels.fuzzy.cardinality import count, sigma_count
from celosia.kernels.fuzzy.coding import FuzzyCoding
from celosia.kernels.fuzzy.sets import FuzzySet, Trapezoid
from celosia.models.q_anonymity import QAnonymity
from celosia.show.plots import plain_step
from celosia.studio.pages.fuzzy.chain import Chain, outline
from celosia.table.columns import column_types
from celosia.views.fuzzy_cells import values_of

if TYPE_CHECKING:
    from celosia.release.policy.policy import Policy
    from celosia.table import Table

Floats = NDArray[np.float64]
BINS = 48
Q = 3
"""Initial Q of a new requirement."""


@dataclass(frozen=True)
class Place:
    """A part of the policy with fuzzy sets, and its position in the file."""

    section: Literal["require", "step"]
    position: int
    part: Any

    @property
    def name(self) -> str:
        """Name of the part."""
        return str(self.part.name)


def places(policy: Policy) -> tuple[Place, ...]:
    """Return the requirements and steps that code columns by fuzzy sets."""
    models = [Place("require", i, model) for i, model in enumerate(policy.require)]
    methods = [Place("step", i, step.method) for i, step in enumerate(policy.steps)]
    return tuple(place for place in (*models, *methods) if isinstance(place.part, FuzzyCoding))


def sets_by_column(coded: tuple[Place, ...]) -> dict[str, dict[str, str]]:
    """Return the sets of each column; the first part wins if parts differ."""
    sets: dict[str, dict[str, str]] = {}
    for place in coded:
        for column, named in place.part.sets.items():
            sets.setdefault(column, dict(named))
    return sets


def numeric_quasi(table: Table) -> list[str]:
    """Return the numeric quasi-identifiers."""
    types = column_types(table)
    return [name for name in table.schema.quasi if types[name].is_numeric()]


def numeric_others(table: Table) -> list[str]:
    """Return numeric columns that are insensitive or have no role: candidates for quasi-identifiers."""
    schema, types = table.schema, column_types(table)
    taken = {*schema.quasi, *schema.identifiers, *schema.sensitive, schema.weight, schema.person, schema.household}
    return [name for name, kind in types.items() if kind.is_numeric() and name in schema and name not in taken]


@dataclass(frozen=True)
class SetFacts:
    """One fuzzy set: literal, outline and cardinalities."""

    name: str
    literal: str
    outline: tuple[tuple[float, float], ...]
    sigma: float
    whole: int
    core: int
    """Records with membership 1."""


@dataclass(frozen=True)
class ColumnView:
    """The fuzzy sets of one column over its values."""

    column: str
    low: float
    high: float
    step: float
    bins: tuple[float, ...]
    """Records in equally wide bins, relative to the fullest bin."""
    sets: tuple[SetFacts, ...]
    chain: Chain | None
    missing: int
    undecided: float
    """Share of records whose highest membership is below one half."""


@dataclass(frozen=True)
class CurveView:
    """Possibility of at least Q records in each cell, and the largest Q that reaches the required possibility."""

    q: tuple[int, ...]
    possibility: tuple[float, ...]
    reached: int
    least: float
    wanted: int | None
    cells: int
    problem: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the requirement holds; None without a requirement."""
        return None if self.wanted is None else self.reached >= self.wanted


def numbers(table: Table, column: str) -> Floats:
    """Return the values of a numeric column; NaN if missing or suppressed."""
    if column not in table.schema:
        raise InputError("there is no such column.")
    if not column_types(table)[column].is_numeric():
        raise DataError(f"column {column!r} holds text or dates; fuzzy sets are dragged over numbers.")
    values: Floats = values_of(table.column(column), np.ones(len(table), dtype=np.bool_))
    return values


def column_view(table: Table, column: str, sets: Mapping[str, str]) -> ColumnView:
    """Return the sets of a column with their cardinalities in a table."""
    every = numbers(table, column)
    filled = every[~np.isnan(every)]
    if not len(filled):
        raise DataError(f"column {column!r} has no values.")
    chain = Chain.of(sets)
    shapes = chain.sets() if chain else dict(sets)
    low, high = axis_range(filled, chain)
    parsed = {name: FuzzySet.parse(literal) for name, literal in shapes.items()}
    degrees = np.column_stack([shape(filled) for shape in parsed.values()])
    facts = tuple(
        SetFacts(
            name,
            shapes[name],
            outline(shape, low, high) if isinstance(shape, Trapezoid) else (),
            float(sigma_count(degrees[:, i])),
            int(count(degrees[:, i])),
            int((degrees[:, i] >= 1 - 1e-9).sum()),
        )
        for i, (name, shape) in enumerate(parsed.items())
    )
    counts = np.histogram(filled, BINS, (low, high))[0]
    return ColumnView(
        column,
        low,
        high,
        plain_step((high - low) / 100),
        tuple((counts / max(int(counts.max()), 1)).tolist()),
        facts,
        chain,
        len(every) - len(filled),
        float((degrees.max(axis=1) < 0.5 - 1e-9).mean()),
    )


def axis_range(filled: Floats, chain: Chain | None) -> tuple[float, float]:
    """Return the range of the axis: all values and all points of the sets."""
    at = [float(filled.min()), float(filled.max()), *(chain.points if chain else ())]
    low, high = min(at), max(at)
    return (low, high) if high > low else (low - 1, high + 1)


def requirement(coded: tuple[Place, ...]) -> QAnonymity:
    """Return the Q-anonymity of the policy, or a new one with the sets of its first fuzzy part."""
    for place in coded:
        if isinstance(place.part, QAnonymity):
            return place.part
    coding = {name: getattr(coded[0].part, name) for name in FuzzyCoding.model_fields} if coded else {}
    return QAnonymity(q=Q, **coding)


def column_curve(table: Table, coded: tuple[Place, ...], column: str, sets: Mapping[str, str]) -> CurveView:
    """Return the curve of one column as the only quasi-identifier."""
    model = requirement(coded)
    return _curve(
        model.model_copy(update={"sets": {column: dict(sets)}}), table.with_schema(_only(table, column)), None
    )


def _only(table: Table, column: str) -> Schema:
    """Return the schema with one column as the only quasi-identifier."""
    schema = table.schema
    for name in schema.quasi:
        if name != column:
            schema = schema.change(name, roles=frozenset({Role.INSENSITIVE}))
    return schema


def joint_curve(table: Table, coded: tuple[Place, ...], sets: Mapping[str, Mapping[str, str]]) -> CurveView:
    """Return the curve of all quasi-identifiers under these sets."""
    model = requirement(coded)
    wanted = model.q if any(place.part is model for place in coded) else None
    used = {column: dict(named) for column, named in sets.items() if column in table.schema.quasi}
    return _curve(model.model_copy(update={"sets": used}), table, wanted)


def _curve(model: QAnonymity, table: Table, wanted: int | None) -> CurveView:
    try:
        curve = model.curve(table)
        cells = len(model.classes(table))
        reached = int(model.measured_value(table)) if len(curve) else 0
    except CelosiaError as problem:
        return CurveView((), (), 0, model.possibility, wanted, 0, str(problem))
    q, possibility = tuple(curve["q"].to_list()), tuple(curve["possibility"].to_list())
    return CurveView(q, possibility, reached, model.possibility, wanted, cells)
