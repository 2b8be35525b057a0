"""Truthful records with differential privacy: sample, generalise, remove small classes."""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.data.schema import Schema
from celosia.errors import ParameterError, RequirementError, UnknownName
from celosia.histogram import number
from celosia.methods.bases.domain import Domain, covered_texts, with_declared_kind
from celosia.methods.bases.quasi_codes import QuasiColumn, coded_column
from celosia.parts import Explored, Formal, Method, PersonUnit
from celosia.parts.method import Rows
from celosia.table import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.streams import Stream
    from celosia.table import Table

Levels = tuple[int, ...]


class DpGeneralise(Formal, Method):
    r"""Publish a sample of the records, generalised, without classes smaller than a size that epsilon and delta
    dictate.

    .. math:: \beta = 1 - e^{-\varepsilon_a}, \qquad k = \min\{k : \delta(k, \beta, \varepsilon_a) \le \delta\},
              \qquad
              \varepsilon = \varepsilon_a + \varepsilon_s

    Each record is drawn with probability :math:`\beta`; levels are chosen by the exponential mechanism
    (:math:`\varepsilon_s` = ``search``) on the score
    :math:`(1 - \text{mean relative level}) \sum_E \max(0, |E| - t)`, :math:`t = k/\beta`, of sensitivity 1, or given
    by ``levels`` at no cost; classes of fewer than :math:`k` sampled records are removed. Every record that is left is
    true. Only quasi-identifiers are published, because the guarantee covers all that is published: declare the columns
    of the release as ``quasi``. All columns become texts. Hierarchies that are made from the data are refused, and a
    value that its hierarchy does not cover is missing. Each record must be a person.
    References: Li, Qardaji & Su (2012); Bild, Kuhn & Prasser (2018), *SafePub*.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [20 + i % 40 for i in range(4000)]})
    >>> schema = celosia.Schema.of(quasi=["age"], hierarchies={"age": "intervals(width=20, origin=0)"})
    >>> safe = celosia.protect(celosia.read(data, schema), DpGeneralise(epsilon=1, delta=1e-6, levels={"age": 1}))
    >>> safe.history[-1]["k"], 2300 < len(safe) < 2760
    (74, True)
    """

    epsilon: Annotated[float, Explored(1.0, 2.0)] = Field(gt=0, le=20, description="privacy loss of the release")
    delta: Annotated[float, Explored(1e-6)] = Field(
        gt=0, lt=1, description="probability with which the promise may fail"
    )
    search: float = Field(default=0.1, gt=0, lt=1, description="share of epsilon that is spent on choosing the levels")
    levels: dict[str, int] = Field(default_factory=dict, description="column → level, for all columns or for none")
    candidates: int = Field(default=300, ge=1, le=100_000, description="most combinations of levels that are compared")
    persons: ClassVar[PersonUnit] = "refused"
    rows: ClassVar[Rows] = "subset"
    suits: ClassVar[tuple[str, ...]] = ("hierarchy",)
    not_replayable_because: ClassVar[str] = (
        "who is left out is drawn anew, and another draw is another release with a cost of its own"
    )
    examples: ClassVar = ({"epsilon": 3.0, "delta": 0.1, "levels": {"q": 1, "r": 1}},)

    @model_validator(mode="after")
    def _possible(self) -> DpGeneralise:
        if any(level < 0 for level in self.levels.values()):
            raise ParameterError("dp-generalise: levels are counted from 0.")
        return self

    def privacy_loss(self) -> float:
        """All of ``epsilon``."""
        return self.epsilon

    def overwrites(self, schema: Schema) -> tuple[str, ...]:
        """List the quasi-identifiers."""
        return schema.quasi

    def apply(self, table: Table, stream: Stream) -> Outcome:  # noqa: ARG002
        """Choose levels, draw a sample, remove small classes."""
        from celosia.methods.private.sampling_bounds import share, smallest_k

        quasi = table.schema.need_quasi()
        if table.schema.person is not None:
            raise ParameterError("dp-generalise: each record must be a person; reduce the table to one row per person.")
        columns = _public_columns(table, quasi)
        searching = 0.0 if self.levels else self.epsilon * self.search
        anonymising = self.epsilon - searching
        beta = share(anonymising)
        k = smallest_k(anonymising, self.delta, beta)
        active = ~table.counts.suppressed_mask
        matrix = np.column_stack([column.codes for column in columns])
        chosen = self._given_levels(columns) if self.levels else None
        levels = chosen or self._choose(columns, matrix[active], k / beta, searching)
        # Chance from the operating system: an intruder who learns a seed could repeat the sampling.
        drawn = np.random.Generator(np.random.PCG64DXSM(secrets.randbits(128))).random(len(table)) < beta
        drawn &= active
        kept = drawn & (_class_sizes(columns, matrix, levels, drawn) >= k)
        if not kept.any():
            raise RequirementError(
                f"dp-generalise: no class of {k} sampled records is left at the chosen levels. Use a larger epsilon "
                "or delta, coarser hierarchies or fewer columns."
            )
        changed = {c.name: c.label(level) for c, level in zip(columns, levels, strict=True)}
        done = table.replace(changed).take(table.ids()[kept])
        done = done.drop([name for name in done.names if name not in quasi])
        own = tuple(with_declared_kind(column, changed[column.name].dtype) for column in done.schema.columns)
        done = done.with_schema(Schema(own, done.schema.rest))
        evidence: dict[str, object] = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "neighbours": "add-remove",
            "sampling": beta,
            "k": k,
            "search_epsilon": searching,
            "levels": dict(zip(quasi, levels, strict=True)),
        }
        return Outcome(done, evidence)

    def _given_levels(self, columns: list[QuasiColumn]) -> Levels:
        names = [column.name for column in columns]
        for name in self.levels:
            if name not in names:
                raise UnknownName.of("quasi-identifier", name, names)
        missing = [name for name in names if name not in self.levels]
        if missing:
            raise ParameterError(f"dp-generalise: give a level for each column or for none; {missing[0]!r} has none.")
        for column in columns:
            if self.levels[column.name] > column.height:
                raise ParameterError(f"dp-generalise: column {column.name!r} has levels 0 to {column.height}.")
        return tuple(self.levels[name] for name in names)

    def _choose(self, columns: list[QuasiColumn], matrix: NDArray[np.int32], t: float, epsilon: float) -> Levels:
        from celosia.kernels.budget.noise import choose

        heights = [column.height for column in columns]
        nodes = _nodes(heights, self.candidates)
        patterns, counts = np.unique(matrix, axis=0, return_counts=True)
        scores = []
        for node in nodes:
            worth = 1 - float(np.mean([level / max(h, 1) for level, h in zip(node, heights, strict=True)]))
            sizes = np.bincount(_keys(columns, patterns, node), weights=counts)
            scores.append(worth * float(np.maximum(sizes - t, 0.0).sum()))
        return nodes[choose(scores, 1.0, epsilon)]


def _public_columns(table: Table, names: Sequence[str]) -> list[QuasiColumn]:
    """Encode quasi-identifiers as texts with their hierarchies; a value outside its hierarchy is missing."""
    columns = []
    for name in names:
        info, hierarchy = table.schema[name], table.schema.hierarchy(name)
        if info.hierarchy_from_data or (hierarchy is not None and not hierarchy.is_public()):
            raise ParameterError(
                f"dp-generalise: the hierarchy of {name!r} is made from the data, so its labels tell of single "
                "persons. Declare it: intervals(breaks=…) or intervals(width=…), prefixes(masked=…), a tree or a "
                "table of levels."
            )
        texts = covered_texts(table, name)
        values = texts.drop_nulls().unique().sort()
        codes = Domain(name, values=tuple(values)).codes(texts) if len(values) else np.full(len(texts), -1)
        columns.append(coded_column(table, name, codes.astype(np.int32), values))
    return columns


def _nodes(heights: list[int], most: int) -> list[Levels]:
    """List all combinations of levels, or ``most`` of them drawn at random, independently of the data."""
    many = math.prod(height + 1 for height in heights)
    if many <= most:
        return list(itertools.product(*(range(height + 1) for height in heights)))
    chance = np.random.default_rng(secrets.randbits(128))
    drawn = {tuple(int(chance.integers(height + 1)) for height in heights) for _ in range(most)}
    return sorted(drawn)


def _keys(columns: list[QuasiColumn], matrix: NDArray[np.int32], levels: Levels) -> NDArray[np.int64]:
    """Class of each row at these levels, numbered from 0."""
    chosen = zip(columns, levels, strict=True)
    return number([column.maps[level][matrix[:, j]] for j, (column, level) in enumerate(chosen)])


def _class_sizes(
    columns: list[QuasiColumn], matrix: NDArray[np.int32], levels: Levels, drawn: NDArray[np.bool_]
) -> NDArray[np.int64]:
    key = _keys(columns, matrix, levels)
    return np.bincount(key, weights=drawn).astype(np.int64)[key]
