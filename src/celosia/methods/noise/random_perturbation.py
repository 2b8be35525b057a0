"""Jitter and reshuffle, without a guarantee."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import ParameterError
from celosia.methods.bases.by_rows import NOISE_PER_ROW
from celosia.methods.bases.cells import as_column, bounds, numbers, strata, units
from celosia.parts import Columns, CountsRows, Method, Overwritten, PersonUnit, PublishesEvidence
from celosia.table import Outcome

if TYPE_CHECKING:
    import polars as pl

    from celosia.streams import Stream
    from celosia.table import Table


class RandomPerturbation(PublishesEvidence, Method):
    r"""Jitter numeric columns by whole steps and shuffle other columns inside groups, without any formal guarantee.

    .. math:: \tilde x = x + u, \quad u \in \{-s, \dots, s\} \text{ uniformly}, \qquad
              \tilde y_i = y_{\pi_g(i)}

    The random perturbation of teaching material: records look real, counts of the shuffled columns by group (and over
    the file) are exact, means of the jittered ones stay on average. Small groups and rare values remain recognisable;
    measure the risk afterwards. Columns shuffled together keep their relation to each other. Missing values are
    shuffled like values and are not jittered; values are reflected at declared bounds.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"age": [30, 30, 32, 36], "disease": ["HIV", "flu", "HIV", "flu"]})
    >>> method = RandomPerturbation(jitter=["age"], spread=1, shuffle=["disease"])
    >>> protected = celosia.protect(celosia.read(data), method, seed=1).polars()
    >>> sorted(protected["disease"].to_list())
    ['HIV', 'HIV', 'flu', 'flu']
    """

    jitter: Annotated[Columns, Overwritten()] = Field(
        default=(), description="numeric columns that are moved by whole steps"
    )
    spread: int = Field(default=3, ge=1, description="largest step")
    shuffle: Annotated[Columns, Overwritten()] = Field(default=(), description="columns that are shuffled together")
    within: Columns = Field(default=(), description="shuffle only among records that agree on these columns")
    public_evidence: ClassVar[frozenset[str]] = frozenset({"guarantee"})
    persons: ClassVar[PersonUnit] = CountsRows(NOISE_PER_ROW)
    not_replayable_because: ClassVar[str] = "values change places between records"
    examples: ClassVar = ({"jitter": ["m"], "shuffle": ["s"]},)

    @model_validator(mode="after")
    def _check_columns(self) -> RandomPerturbation:
        if not self.jitter and not self.shuffle:
            raise ParameterError("random-perturbation: name columns under jitter or shuffle.")
        both = [name for name in self.jitter if name in self.shuffle]
        if both:
            raise ParameterError(f"random-perturbation: column {both[0]!r} is both jittered and shuffled.")
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Jitter and shuffle."""
        from celosia.kernels.perturbation.noise import reflect

        new: dict[str, pl.Series] = {}
        if self.jitter:
            x = numbers(self.name, table, self.jitter)
            for j, name in enumerate(self.jitter):
                unit = units(self.name, table, [name])
                draw = stream.child("jitter", name).uniform(unit.pick(table.ids()))
                step = np.floor(draw * (2 * self.spread + 1)) - self.spread
                moved = reflect(x[unit.first, j] + step, *bounds(table, name))
                new[name] = as_column(table.column(name), unit.expand(moved))
        if self.shuffle:
            unit = units(self.name, table, self.shuffle)
            draw = stream.child("shuffle").uniform(unit.pick(table.ids()))
            source = np.arange(len(unit))
            for rows in strata(table, self.within, unit):
                source[rows] = rows[np.argsort(draw[rows], kind="stable")]
            new |= {name: table.column(name).gather(unit.first[source][unit.member]) for name in self.shuffle}
        return Outcome(table.replace(new), {"guarantee": "none"})
