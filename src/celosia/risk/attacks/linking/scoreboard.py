"""Scoreboard attack on sparse data, by a few items of a person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from celosia.errors import NotApplicable, ParameterError
from celosia.parts import Attack, AttackEvidence, Column, Columns
from celosia.table.source import Same

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KnownItems:
    """Items with their values that the intruder knows; those of target i are ``begin[i]:begin[i + 1]``."""

    target: Ints
    begin: Ints
    item: Ints
    values: Floats


class ScoreboardEvidence(AttackEvidence):
    """Right and wrong claims, and claims about absent people as control."""

    control: float
    control_interval: list[float]
    attacks: int
    right: int
    wrong: int
    best: float


class Scoreboard(Attack):
    r"""The share of people whom an intruder recognises in sparse data by a few of their items.

    Rated films, visited pages, diagnoses or purchases: hardly two people have the same list. The intruder knows some
    (``known``) items of a person, ``wrong`` ones among them, with errors of up to
    ``rating_error`` in ratings and ``day_error`` in days. She scores everybody in the release by the shared items, rare
    ones and near values more:

    .. math:: S(r) = \sum_{i \in aux} \frac{1}{\log \max(n_i, 2)} \Bigl( e^{-|\rho_i - \rho'_i|/\rho_0}
              + e^{-|d_i - d'_i|/d_0} \Bigr), \qquad \frac{S_1 - S_2}{\sigma(S)} \ge \varphi

    with :math:`n_i` the number of people who have the item; without ratings and days a shared item counts 1. She claims
    the best one only when it stands out by ``eccentricity`` :math:`\varphi` from the second. The value is the share of
    people who are claimed rightly. The control is how often she claims a record when the person is not in the
    release; the baseline is a guess among all.

    Data are long (a person column, a column ``item``, perhaps ``rating`` and ``day``) or wide: each of the columns
    ``items`` is an item, a number is its rating, a text one of several items, a missing value none.

    References: Narayanan & Shmatikov (2008), *Robust de-anonymization of large sparse datasets*.

    >>> import polars as pl, celosia
    >>> films = [["a", "b", "c"], ["b", "c", "d"], ["c", "d", "e"], ["d", "e", "f"], ["e", "f", "a"], ["f", "a", "b"]]
    >>> rows = [{"who": who, "film": film} for who, seen in enumerate(films) for film in seen]
    >>> table = celosia.read(pl.DataFrame(rows), celosia.Schema.of(person="who"))
    >>> Scoreboard(item="film", known=3, eccentricity=0.5).value(table, table)
    1.0
    """

    item: Column | None = Field(default=None, description="column that names the item, in long data")
    rating: Column | None = Field(default=None, description="column with the rating of the item, in long data")
    day: Column | None = Field(default=None, description="column with the date of the rating, in long data")
    items: Columns | None = Field(default=None, description="columns that are the items, in wide data")
    known: int = Field(default=8, ge=1, description="items of a person that the intruder knows")
    wrong: int = Field(default=0, ge=0, description="how many of them are wrong")
    rating_error: float = Field(default=0.0, ge=0, description="largest error of a known rating")
    day_error: float = Field(default=0.0, ge=0, description="largest error of a known date in days")
    rating_scale: float = Field(default=1.5, gt=0, description="how far ratings may lie apart and still count")
    day_scale: float = Field(default=30.0, gt=0, description="how far dates may lie apart and still count, in days")
    eccentricity: float = Field(default=1.5, ge=0, description="how far the best one must stand out")
    attacks: int = Field(default=500, ge=1, description="people that are tried; all when there are fewer")
    seed: int = Field(default=0, ge=0, description="seed of the choice of people and items")
    examples: ClassVar = (
        {"items": ["x", "y"], "known": 2, "eccentricity": 0.5},
        {"items": ["x", "c", "p", "t"], "known": 3, "wrong": 1, "rating_error": 1.0, "eccentricity": 0.2, "attacks": 5},
    )

    @model_validator(mode="after")
    def _one_form(self) -> Scoreboard:
        if (self.item is None) == (self.items is None):
            raise ParameterError("scoreboard: name either item (long data) or items (wide data).")
        if self.items is not None and (self.rating is not None or self.day is not None):
            raise ParameterError("scoreboard: rating and day belong to long data; wide data hold ratings in the cells.")
        return self

    def value(self, original: Table, protected: Table) -> float:
        """Return the share of people who are claimed rightly."""
        return float(self.evidence(original, protected)["value"])

    def evidence(self, original: Table, protected: Table) -> ScoreboardEvidence:
        """Return the share with its interval, right and wrong claims, the baseline, and claims about absent people."""
        from celosia.kernels.statistics.intervals import wilson

        knowledge, best, stands, persons = self._outcome(original, protected)
        claimed = stands[:, 0] >= self.eccentricity
        right = claimed & (best == knowledge.target)
        tried, absent = len(best), stands[:, 1] >= self.eccentricity
        return {
            "value": float(right.mean()),
            "interval": list(wilson(float(right.sum()), tried)),
            "baseline": 1 / max(persons, 1),
            "control": float(absent.mean()),
            "control_interval": list(wilson(float(absent.sum()), tried)),
            "attacks": tried,
            "right": int(right.sum()),
            "wrong": int((claimed & ~right).sum()),
            "best": float((best == knowledge.target).mean()),
        }

    def records(self, original: Table, protected: Table) -> pl.DataFrame:
        """Return whether the person of each record is recognised, and the eccentricity; missing if not tried."""
        import polars as pl

        from celosia.views.persons import person_codes

        knowledge, best, stands, _ = self._outcome(original, protected)
        person = person_codes(original)
        risk, out = np.full(int(person.max(initial=0)) + 1, np.nan), np.full(int(person.max(initial=0)) + 1, np.nan)
        risk[knowledge.target] = (stands[:, 0] >= self.eccentricity) & (best == knowledge.target)
        out[knowledge.target] = stands[:, 0]
        return pl.DataFrame({"risk": risk[person], "eccentricity": out[person]}).fill_nan(None)

    def draw_known_items(self, original: Table, protected: Table) -> KnownItems:
        """Draw the targets and the items that the intruder knows of them."""
        items = self._items_of_people(original, protected)[0]
        rng = np.random.default_rng(self.seed)
        order = np.argsort(items[0], kind="stable")
        person, item, values = (part[order] for part in items)
        people, start = np.unique(person, return_index=True)
        stop = np.append(start[1:], len(person))
        chosen = np.sort(rng.choice(len(people), min(len(people), self.attacks), replace=False))
        every = int(item.max(initial=-1)) + 1
        picked, fake, ends = [], [], [0]
        for who in chosen:
            own = np.arange(start[who], stop[who])
            once = own[np.unique(item[own], return_index=True)[1]]
            rows = rng.permutation(once)[: self.known]
            wrong = min(self.wrong, len(rows))
            others = np.setdiff1d(rng.integers(0, every, 4 * wrong), item[own])
            replaced = np.full(len(rows), -1, dtype=np.int64)
            replaced[:wrong][: len(others)] = rng.permutation(others)[:wrong]
            picked.append(rows)
            fake.append(replaced)
            ends.append(ends[-1] + len(rows))
        rows, replaced = np.concatenate(picked), np.concatenate(fake)
        noisy = values[rows] + rng.uniform(-1, 1, (len(rows), values.shape[1])) * self._errors()
        believed = np.where(replaced >= 0, replaced, item[rows])
        target, begin = people[chosen].astype(np.int64), np.array(ends, dtype=np.int64)
        return KnownItems(target, begin, believed.astype(np.int64), noisy)

    def _outcome(self, original: Table, protected: Table) -> tuple[KnownItems, Ints, Floats, int]:
        return protected.compute_once((str(self), Same(original)), lambda: self._run(original, protected))

    def _run(self, original: Table, protected: Table) -> tuple[KnownItems, Ints, Floats, int]:
        from celosia.kernels.neighbours.scoreboard import Held, Knowledge, scoreboard

        knowledge = self.draw_known_items(original, protected)
        person, item, values = self._items_of_people(original, protected)[1]
        everybody, number = np.unique(person, return_inverse=True)
        order = np.lexsort((number, item))
        width = max(int(item.max(initial=-1)), int(knowledge.item.max(initial=-1))) + 1
        begin = np.zeros(width + 1, dtype=np.int64)
        np.cumsum(np.bincount(item, minlength=width), out=begin[1:])
        pairs = np.unique(item * (len(everybody) + 1) + number) // (len(everybody) + 1)
        support = np.bincount(pairs, minlength=width)
        target = np.searchsorted(everybody, knowledge.target)
        present = (target < len(everybody)) & (everybody[np.minimum(target, len(everybody) - 1)] == knowledge.target)
        rarity = 1 / np.log(np.maximum(support, 2))
        best, stands = scoreboard(
            Held(begin, number[order].astype(np.int64), values[order], rarity, self._scales()),
            Knowledge(knowledge.begin, knowledge.item, knowledge.values, np.where(present, target, -1)),
            len(everybody),
        )
        return knowledge, everybody[best], stands, len(everybody)

    def _errors(self) -> Floats:
        return self._by_value_column(self.rating_error, self.day_error)

    def _scales(self) -> Floats:
        return self._by_value_column(self.rating_scale, self.day_scale)

    def _by_value_column(self, rating: float, day: float) -> Floats:
        """Return the parameters of the value columns that the items have: rating, day, both or none."""
        if self.items is not None:
            return np.array([rating])
        return np.array([number for name, number in ((self.rating, rating), (self.day, day)) if name], dtype=np.float64)

    def _items_of_people(self, original: Table, protected: Table) -> list[tuple[Ints, Ints, Floats]]:
        """Return person, item and values of every entry, of the original and of the release."""
        from celosia.views.persons import paired_persons

        if self.items is None and original.schema.person is None:
            raise NotApplicable("scoreboard: long data need a person column: declare one under `person`.")
        return protected.compute_once(
            ("items of people", self.item, self.rating, self.day, self.items, Same(original)),
            lambda: _encode_items(
                [self._list_items(original), self._list_items(protected)], paired_persons(original, protected)
            ),
        )

    def _list_items(self, table: Table) -> pl.DataFrame:
        """Return one row per record and item: the record, the item as text, its values."""
        import polars as pl

        row = pl.Series("row", np.arange(len(table), dtype=np.int64))
        if self.items is None:
            columns = [row, table.column(str(self.item)).cast(pl.String).alias("item")]
            columns += [_as_float(table.column(name)).alias(f"v{name}") for name in (self.rating, self.day) if name]
            return pl.DataFrame(columns).drop_nulls("item")
        parts = []
        for name in self.items:
            column = table.column(name)
            text = not column.dtype.is_numeric()
            item = pl.Series([f"{name}="] * len(column)) + column.cast(pl.String) if text else [name] * len(column)
            value = pl.Series(np.full(len(column), np.nan)) if text else column.cast(pl.Float64)
            parts.append(pl.DataFrame([row, pl.Series("item", item), value.alias("v")]).filter(column.is_not_null()))
        return pl.concat(parts)


def _encode_items(entries: list[pl.DataFrame], persons: tuple[Ints, Ints]) -> list[tuple[Ints, Ints, Floats]]:
    """Encode the items of several tables with common codes."""
    import polars as pl

    names = pl.concat([frame.select("item") for frame in entries]).unique().sort("item").with_row_index("code")
    encoded = []
    for frame, person in zip(entries, persons, strict=True):
        code = frame.select("item").join(names, on="item", how="left", maintain_order="left")["code"]
        values = [frame[name].to_numpy() for name in frame.columns if name not in {"row", "item"}]
        stacked = np.column_stack([*values, np.empty((len(frame), 0))])
        encoded.append((person[frame["row"].to_numpy()], code.to_numpy().astype(np.int64), stacked))
    return encoded


def _as_float(column: pl.Series) -> pl.Series:
    """Return ratings as numbers, dates as days."""
    import polars as pl

    if column.dtype.is_temporal():
        return column.cast(pl.Datetime("us")).cast(pl.Int64).cast(pl.Float64) / 86_400e6
    return column.cast(pl.Float64)
