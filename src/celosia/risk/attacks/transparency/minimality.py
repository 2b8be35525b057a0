"""Minimality attack on a generalisation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from celosia.errors import NotApplicable
from celosia.histogram import number
from celosia.parts import Column, DisclosesValue, Model, build
from celosia.risk.bases.transparency import PublicStep, Success, _InformedAttack, wanted_column
from celosia.table import read
from celosia.table.columns import encoded_column, hierarchy_levels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]


LARGEST = 50_000_000  # pairs of a record and a value: 400 MB


class Minimality(DisclosesValue, _InformedAttack):
    r"""The share of people whose sensitive value an intruder infers from the fact that a generalisation is minimal.

    A search for the least loss generalises only as far as it must. An intruder who knows the quasi-identifiers of
    everybody knows the classes of each finer level; as it was not chosen, a requirement failed there. If no class was
    too small, then some class had too few values. The intruder draws random worlds: assignments of the
    values of each published class to its records. She keeps those in which every next finer level fails,

    .. math:: P(s_i = s \mid \text{release, minimal}) = \frac{\#\{w : w_i = s,\ \text{all finer levels fail in } w\}}
              {\#\{w : \text{all finer levels fail in } w\}}

    and guesses the likeliest value. Records of the same class in the release and in the finer levels are counted
    together, and the shares of the release alone count as one world. Levels that fail by class sizes alone disclose
    nothing; with k-anonymity as the only requirement nothing is learnt.

    She reads: the levels, the requirements and how many records might be suppressed. The control knows the release but
    not that it is minimal: she guesses the most frequent value of the class. The baseline guesses that of the file.
    Ties are shared. ``accepted`` is the number of worlds that were kept; without any she is the control.

    References: Wong, Fu, Wang & Pei (2007), *Minimality attack in privacy preserving data publishing*.

    >>> import polars as pl, celosia
    >>> data = pl.DataFrame({"zip": ["a", "a", "b", "b", "b", "b"], "ill": ["HIV", "HIV", "flu", "no", "rash", "gout"]})
    >>> tree = {"use": "tree", "tree": {"*": ["a", "b"]}}
    >>> schema = celosia.Schema.of(quasi=["zip"], sensitive=["ill"], hierarchies={"zip": tree})
    >>> table = celosia.read(data, schema)
    >>> release = celosia.protect(table, "generalise(require=[l-diversity(l=2)])")
    >>> Minimality().records(table, release)["risk"].to_list()[:2]  # a alone must have failed: both have HIV
    [1.0, 1.0]
    """

    reads: ClassVar[tuple[str, ...]] = ("generalise",)
    target: Column | None = Field(default=None, description="sensitive column; the first that is declared")
    levels: dict[str, int] = Field(
        default_factory=dict, description="column → published level; those of the history when not given"
    )
    draws: int = Field(default=100, ge=1, description="random worlds that are tried")
    seed: int = Field(default=0, ge=0, description="seed of the worlds")
    examples: ClassVar = (
        {
            "method": {"use": "generalise", "require": ["l-diversity(l=2, column=t)"]},
            "target": "t",
            "levels": {"c": 0, "p": 1},
            "draws": 8,
        },
    )

    def run(self, original: Table, protected: Table) -> Success:
        """Draw worlds, keep those in which the choice was minimal, and guess the likeliest values."""
        from celosia.risk.attacks.transparency.assignment import Assignment, credit
        from celosia.table.pairing import positions

        step, name = self.steps(protected)[-1], wanted_column(self.name, original, self.target)
        require = tuple(build("model", model) for model in step.parameters["require"])
        rows = positions(original, protected)
        group = np.full(len(original), -2, dtype=np.int64)  # -2: not released
        group[rows] = protected.classes.place
        truth = encoded_column(original, name).codes.astype(np.int64)
        width = int(truth.max(initial=0)) + 1
        if len(truth) * width > LARGEST:
            raise NotApplicable(
                f"minimality: {len(truth)} records × {width} values are too many; at most {LARGEST} are counted."
            )
        pair, count = np.unique(group * width + truth + 2 * width, return_counts=True)
        finer = list(self._finer(original, step, require))
        most = float(step.parameters.get("suppress") or 0.0) * len(original)
        # records of the same class in all tables are alike to the intruder: they are counted together
        alike = number([group, *(table.classes.place for table in finer)])
        kept = np.zeros((int(alike.max(initial=0)) + 1) * width)
        accepted = 0
        for world in self.worlds(group, truth) if finer else ():
            if all(_fails(table, name, world, original, require, most) for table in finer):
                kept += np.bincount(alike * width + world, minlength=len(kept))
                accepted += 1
        record, value = np.divmod(np.arange(len(truth) * width), width)
        place = np.searchsorted(pair, group[record] * width + value + 2 * width).clip(max=len(pair) - 1)
        possible = pair[place] == group[record] * width + value + 2 * width
        share = np.where(possible, count[place], 0) / np.bincount(group + 2)[group[record] + 2]
        chance = kept[alike[record] * width + value] / np.bincount(alike)[alike[record]]
        assignment = Assignment(record, value, chance + share, share)  # the share counts as one world
        released = group > -2
        risk, control = (np.where(released, credit(assignment, c, truth), 0.0) for c in (assignment.chance, share))
        baseline = float(np.bincount(truth).max() / len(truth))
        return Success(risk, baseline, control, {}, {"accepted": accepted, "finer": len(finer)})

    def worlds(self, group: Ints, truth: Ints) -> Iterator[Ints]:
        """Yield random worlds: the values of each class in random order."""
        rng = np.random.default_rng(self.seed)
        order = np.argsort(group, kind="stable")
        for _ in range(self.draws):
            world = np.empty_like(truth)
            world[order] = truth[np.lexsort((rng.random(len(truth)), group))]
            yield world

    def _finer(self, original: Table, step: PublicStep, require: tuple[Model, ...]) -> Iterator[Table]:
        """Yield the tables of the next finer levels that class sizes alone do not rule out."""
        import polars as pl

        levels = self.levels or dict(step.evidence["levels"])
        sizes = [model for model in require if not model.counted_columns()]
        target, person = wanted_column(self.name, original, self.target), original.schema.person
        names = list(dict.fromkeys([*original.schema.need_quasi(), target, *([person] if person else [])]))
        most = float(step.parameters.get("suppress") or 0.0) * len(original)
        for lowered in (name for name, level in levels.items() if level > 0):
            chosen = {name: level - (name == lowered) for name, level in levels.items()}
            frame = pl.DataFrame([original.column(name) for name in names])
            frame = frame.with_columns(
                pl.Series(name, _labels(original, name, level)) for name, level in chosen.items() if level
            )
            table = read(frame, original.schema.keep(names).loose())
            if not any(model.failing_records(table).sum() > most for model in sizes):
                yield table


def _labels(table: Table, name: str, level: int) -> NDArray[Any]:
    """Return the labels of a column at a level; a missing value stays missing."""
    levels = hierarchy_levels(table, name)
    labels = np.array([*levels.categories(level), None], dtype=object)
    shown: NDArray[Any] = labels[np.append(levels.codes(level), len(labels) - 1)[table.codes(name)[0]]]
    return shown


def _fails(table: Table, name: str, world: Ints, original: Table, require: tuple[Model, ...], most: float) -> bool:
    """Return whether a requirement fails when the sensitive column is that of a world."""
    codes = encoded_column(original, name).codes
    example = np.zeros(int(codes.max(initial=0)) + 1, dtype=np.int64)
    example[codes] = np.arange(len(codes))
    changed = read(table.polars().with_columns(original.column(name).gather(example[world])), table.schema)
    return any(model.failing_records(changed).sum() > most for model in require)
