"""What the page on fuzzy sets shows: memberships, how many records each set holds, the curve of Q-anonymity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from celosia.data.schema import Role
from celosia.errors import CelosiaError, DataError, InputError
from celosia.kernels.fuzzy.cardinality import count, sigma_count
from celosia.kernels.fuzzy.coding import FuzzyCoding
from celosia.kernels.fuzzy.sets import FuzzySet, Trapezoid
from celosia.models.bases.fuzzy_model import values_of
from celosia.models.q_anonymity import QAnonymity
from celosia.show.plots import plain_step
from celosia.studio.pages.fuzzy.chain import Chain, outline

if TYPE_CHECKING:
    from celosia.release.policy.policy import Policy
    from celosia.table import Table

Floats = NDArray[np.float64]
BINS = 48
Q = 3
"""The number that a requirement starts with."""


@dataclass(frozen=True)
class Place:
    """A part of the policy that has fuzzy sets: where it stands, and what it is."""

    section: Literal["require", "step"]
    position: int
    part: Any

    @property
    def name(self) -> str:
        """The part's name."""
        return str(self.part.name)


def places(policy: Policy) -> tuple[Place, ...]:
    """The requirements and steps that code columns by fuzzy sets."""
    models = [Place("require", i, model) for i, model in enumerate(policy.require)]
    methods = [Place("step", i, step.method) for i, step in enumerate(policy.steps)]
    return tuple(place for place in (*models, *methods) if isinstance(place.part, FuzzyCoding))


def written(coded: tuple[Place, ...]) -> dict[str, dict[str, str]]:
    """The sets of each column; where two parts differ, those of the first."""
    sets: dict[str, dict[str, str]] = {}
    for place in coded:
        for column, named in place.part.sets.items():
            sets.setdefault(column, dict(named))
    return sets


def numeric_quasi(table: Table) -> list[str]:
    """The quasi-identifiers that can have fuzzy sets of numbers."""
    types = table.polars_types()
    return [name for name in table.schema.quasi if types[name].is_numeric()]


def numeric_others(table: Table) -> list[str]:
    """Numeric columns that could become quasi-identifiers: those that are released as they are, or have no role."""
    schema, types = table.schema, table.polars_types()
    taken = {*schema.quasi, *schema.identifiers, *schema.sensitive, schema.weight, schema.person, schema.household}
    return [name for name, kind in types.items() if kind.is_numeric() and name in schema and name not in taken]


@dataclass(frozen=True)
class SetFacts:
    """One set: how it is written, its shape on the axis, and how many records it holds."""

    name: str
    literal: str
    outline: tuple[tuple[float, float], ...]
    sigma: float
    whole: int
    core: int
    """Records that belong to it fully."""


@dataclass(frozen=True)
class ColumnView:
    """The sets of one column over its values."""

    column: str
    low: float
    high: float
    step: float
    bins: tuple[float, ...]
    """The share of records in each of equally wide bins, the fullest is 1."""
    sets: tuple[SetFacts, ...]
    chain: Chain | None
    missing: int
    undecided: float
    """The share of records whose highest degree is below one half."""


@dataclass(frozen=True)
class CurveView:
    """The possibility of at least Q records in each cell, and the largest Q that is possible enough."""

    q: tuple[int, ...]
    possibility: tuple[float, ...]
    reached: int
    least: float
    wanted: int | None
    cells: int
    problem: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the requirement holds; none without a requirement."""
        return None if self.wanted is None else self.reached >= self.wanted


def numbers(table: Table, column: str) -> Floats:
    """The known values of a numeric column, over the records that are not suppressed."""
    if column not in table.schema:
        raise InputError("there is no such column.")
    if not table.polars_types()[column].is_numeric():
        raise DataError(f"column {column!r} holds text or dates; fuzzy sets are dragged over numbers.")
    values: Floats = values_of(table.column(column), np.ones(len(table), dtype=np.bool_))
    return values


def column_view(table: Table, column: str, sets: Mapping[str, str]) -> ColumnView:
    """The sets of a column, with the records of a table in them."""
    every = numbers(table, column)
    filled = every[~np.isnan(every)]
    if not len(filled):
        raise DataError(f"column {column!r} has no values.")
    chain = Chain.of(sets)
    shapes = chain.sets() if chain else dict(sets)
    low, high = ends(filled, chain)
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


def ends(filled: Floats, chain: Chain | None) -> tuple[float, float]:
    """The part of the axis that is shown: the values, and the points of the sets where they reach further."""
    at = [float(filled.min()), float(filled.max()), *(chain.points if chain else ())]
    low, high = min(at), max(at)
    return (low, high) if high > low else (low - 1, high + 1)


def requirement(coded: tuple[Place, ...]) -> Any:
    """The Q-anonymity that is measured: that of the policy, or one with the coding of its first fuzzy part."""
    for place in coded:
        if isinstance(place.part, QAnonymity):
            return place.part
    coding = {name: getattr(coded[0].part, name) for name in FuzzyCoding.model_fields} if coded else {}
    return QAnonymity(q=Q, **coding)


def alone_view(table: Table, coded: tuple[Place, ...], column: str, sets: Mapping[str, str]) -> CurveView:
    """The curve of one column by itself."""
    model = requirement(coded)
    return _curve(
        model.model_copy(update={"sets": {column: dict(sets)}}), table.with_schema(_only(table, column)), None
    )


def _only(table: Table, column: str) -> Any:
    """The schema in which one column is the only quasi-identifier."""
    schema = table.schema
    for name in schema.quasi:
        if name != column:
            schema = schema.change(name, roles=frozenset({Role.INSENSITIVE}))
    return schema


def curve_view(table: Table, coded: tuple[Place, ...], sets: Mapping[str, Mapping[str, str]]) -> CurveView:
    """The curve of the quasi-identifiers of a table under these sets."""
    model = requirement(coded)
    wanted = model.q if any(place.part is model for place in coded) else None
    used = {column: dict(named) for column, named in sets.items() if column in table.schema.quasi}
    return _curve(model.model_copy(update={"sets": used}), table, wanted)


def _curve(model: Any, table: Table, wanted: int | None) -> CurveView:
    try:
        curve = model.curve(table)
        cells = len(model.classes(table))
        reached = int(model.measured_value(table)) if len(curve) else 0
    except CelosiaError as problem:
        return CurveView((), (), 0, model.possibility, wanted, 0, str(problem))
    q, possibility = tuple(curve["q"].to_list()), tuple(curve["possibility"].to_list())
    return CurveView(q, possibility, reached, model.possibility, wanted, cells)
