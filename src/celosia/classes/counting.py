"""Who takes part in the classes of a table, and the combinations of its columns with their counts.

What :mod:`celosia.classes.classes` rests on; it says what is decided here.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.classes.coded import Coded
from celosia.classes.column import encode
from celosia.classes.keys import Keys, tellable
from celosia.classes.numbered import Numbered, refuse_many
from celosia.classes.patterns import Patterns
from celosia.classes.rows import STAR, Rows, all_stars, starred
from celosia.data.engines.engine import COLLECT_LIMIT, KEY, RECORD, ROWS, SUPPRESSED, WEIGHT

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    from numpy.typing import NDArray

    from celosia.classes.classes import Classes
    from celosia.classes.followed import Followed

    Memory = Callable[[], pl.DataFrame | None]
    Before = Callable[[str], "tuple[Classes, Classes] | None"]
    Traced = Callable[[Sequence[str]], "Followed | None"]

HIDDEN = "__hidden__"
FEW_VALUES = 64
"""Columns with so few values, together, are counted along with the quasi-identifiers: a pass less over the rows."""


@dataclass(eq=False)
class Counting:
    """Who takes part, and the combinations of columns with their counts, each computed once."""

    rows: Rows
    memory: Memory
    """Gives the frame in the order of the records where it is in memory, else None."""
    before: Before = lambda _column: None
    """Gives for a column the classes of the input table, as it was read and with the values as they are by now."""
    traced: Traced = lambda _names: None
    """Gives for a table that is not in memory the combinations of some columns (and more), where those of the input
    tell them: then no row is looked at again."""
    listed: dict[str, pl.Series] = field(default_factory=dict, repr=False)
    """The values of columns that were asked for, of all rows."""
    kept: Keys | None = field(default=None, repr=False)
    """The numbers of the rows, where somebody asked that they be kept."""
    numbers: list[Numbered] = field(default_factory=list, repr=False)
    """The rows as codes, where somebody asked that they be kept and the engine has them elsewhere."""
    _patterns: dict[tuple[tuple[str, ...], bool], Patterns] = field(default_factory=dict, repr=False)

    # Who takes part.

    @cached_property
    def coded(self) -> Coded | None:
        """The columns as codes; None when the rows are not in memory."""
        frame = self.memory()
        if frame is None:
            return None
        hidden = self._hidden_in(frame)
        return Coded(frame, self.rows.schema, None if hidden.all() or not hidden.any() else np.flatnonzero(~hidden))

    @cached_property
    def suppressed(self) -> int:
        """How many records (rows) are suppressed."""
        if self.coded is not None:
            return int(self.mask.sum())
        return self._facts[self._told_by]

    @cached_property
    def nothing_told(self) -> bool:
        """Whether every record shows nothing but stars."""
        if not self.rows.starrable:
            return False
        if self.coded is not None:
            return bool(starred(self.coded.frame, self.rows.telling).all()) and len(self.coded.frame) > 0
        return 0 < self._facts["rows"] == self._facts["stars"]

    @cached_property
    def total(self) -> int:
        """Records of the table, suppressed ones included; persons where a person column is declared."""
        person = self.rows.schema.person
        if self.coded is not None:
            return len(self.coded.frame) if person is None else len(np.unique(self.coded.column(person).codes))
        return self._facts["rows" if person is None else "persons"]

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        """Which records are suppressed, in table order."""
        if self.coded is not None:
            return self._hidden_in(self.coded.frame)
        if self.suppressed == 0:
            return np.zeros(self._facts["rows"], dtype=np.bool_)
        engine = self.rows.engine
        with_marks = engine.with_columns(self._identified(), {HIDDEN: self._marks[self._told_by]})
        marked = engine.collect(engine.ordered(engine.select(with_marks, [RECORD, HIDDEN])))
        return np.asarray(marked[HIDDEN].to_numpy(), dtype=np.bool_)

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Which records belong to a class, in table order: those that are not suppressed, or all where all are."""
        return np.ones_like(self.mask) if self.mask.all() else ~self.mask

    @cached_property
    def _marks(self) -> dict[str, nw.Expr]:
        """How a suppressed row may be told: by its mark, by stars in all quasi-identifiers, by either."""
        import narwhals as nw

        marks = {"flags": nw.col(SUPPRESSED)} if self.rows.flagged else {}
        if self.rows.starrable:
            marks["stars"] = all_stars(self.rows.telling)
        if marks:
            marks["either"] = functools.reduce(operator.or_, marks.values())
        return marks

    @cached_property
    def unidentified(self) -> int:
        """How many rows have no person's id; 0 without a person column."""
        import narwhals as nw

        person = self.rows.schema.person
        if person is None:
            return 0
        missing = nw.from_native(self.rows.frame).select(n=nw.col(person).is_null().cast(nw.Int64).sum())
        return int(self.rows.engine.collect(missing.to_native())["n"][0] or 0)

    @property
    def mark(self) -> nw.Expr:
        """Expression that is true for suppressed rows; only where some are."""
        return self._marks["flags" if self.nothing_told else "either"]

    @cached_property
    def _facts(self) -> dict[str, int]:
        """Rows, marked ones, starred ones, either, and persons of a table that is not in memory: one pass."""
        import narwhals as nw

        with_marks = self._marked_patterns(self.rows.schema.quasi) if self._marks or self._patterns else None
        if with_marks is not None:
            patterns, marks = with_marks
            return {"rows": int(patterns.rows.sum())} | {n: int(patterns.rows[mark].sum()) for n, mark in marks.items()}
        rows, person = self.rows, self.rows.schema.person
        counted = {"rows": nw.len(), **{name: mark.cast(nw.Int64).sum() for name, mark in self._marks.items()}}
        if person is not None:
            counted["persons"] = nw.col(person).n_unique()
        totals = rows.engine.collect(nw.from_native(rows.frame).select(**counted).to_native())
        return {"flags": 0, "stars": 0, "either": 0, **{k: int(v or 0) for k, v in totals.row(0, named=True).items()}}

    def _marked_patterns(self, names: Sequence[str]) -> tuple[Patterns, dict[str, NDArray[np.bool_]]] | None:
        """Combinations of these columns and more, and which of them are marked, starred, either.

        Where records are counted, and their marks follow from the combinations; else None.
        """
        schema = self.rows.schema
        wanted = list(dict.fromkeys([*schema.quasi, *names]))
        if schema.person is not None or not schema.quasi:
            return None
        followed = self.traced(wanted)
        if followed is None and self.rows.flagged:
            return None
        patterns = self.patterns(wanted, everyone=True) if followed is None else followed.patterns
        return patterns, self._marks_on(patterns, None if followed is None else followed.marked)

    def _marks_on(self, patterns: Patterns, marked: NDArray[np.bool_] | None) -> dict[str, NDArray[np.bool_]]:
        """Which combinations carry the mark, show stars, either."""
        flags = np.zeros(len(patterns), dtype=np.bool_) if marked is None else marked
        stars = np.full(len(patterns), self.rows.starrable, dtype=np.bool_)
        for name in self.rows.telling if self.rows.starrable else ():
            column = patterns.column(name)
            stars &= np.asarray(column.values.eq_missing(STAR).to_numpy()[column.codes])
        return {"flags": flags, "stars": stars, "either": flags | stars}

    @property
    def _told_by(self) -> str:
        """The mark that tells the suppressed rows of a table that is not in memory."""
        return "flags" if self._facts["stars"] == self._facts["rows"] else "either"

    def _hidden_in(self, frame: pl.DataFrame) -> NDArray[np.bool_]:
        """Which rows of a frame in memory are suppressed."""
        hidden = frame[SUPPRESSED].to_numpy() if self.rows.flagged else np.zeros(len(frame), dtype=np.bool_)
        if self.rows.starrable:
            stars = starred(frame, self.rows.telling).to_numpy()
            hidden = hidden if stars.all() else hidden | stars
        return np.asarray(hidden, dtype=np.bool_)

    # Combinations.

    def patterns(self, names: Sequence[str], *, everyone: bool = False) -> Patterns:
        """The combinations of these columns; with ``everyone`` suppressed records are counted too."""
        wanted = tuple(names), everyone
        if wanted not in self._patterns:
            self._patterns[wanted] = self._count_patterns(list(names), everyone=everyone)
        return self._patterns[wanted]

    def count_together(self, names: Sequence[str], further: Sequence[str], *, keep: bool = False) -> None:
        """Count the combinations of some columns and of further ones with few values, for all that is asked later.

        With ``keep`` the number of each row is kept too, for who will look at every row: the table is as it was read.
        """
        if self.coded is not None or self.rows.schema.person is not None:
            return
        others = [name for name in dict.fromkeys(further) if name not in names]
        if not keep and len(others) <= 1 and self._outright([*names, *others]):
            self.patterns([*names, *others], everyone=True)
            return
        domains = self._domains(list(dict.fromkeys([*names, *further])))
        few = list(names)
        for name in sorted(set(further) - set(names), key=lambda name: len(domains[name])):
            if math.prod(len(domains[each]) for each in (*few[len(names) :], name)) <= FEW_VALUES:
                few.append(name)
        engine, domains = self.rows.engine, {name: domains[name] for name in few}
        if keep and engine.local and engine.keeps_order and few and tellable(domains):
            self.kept = Keys.of(engine, self.rows.frame, domains)
        self.patterns(few, everyone=True)

    def _count_patterns(self, names: list[str], *, everyone: bool) -> Patterns:
        coded = self.coded
        if coded is not None:
            return Patterns.of_codes(coded.everyone() if everyone else coded, names)
        schema = self.rows.schema
        if schema.person is None:
            for (columns, all_of_them), patterns in self._patterns.items():
                if all_of_them == everyone and set(names) <= set(columns):
                    return patterns.coarser(names)
            if not everyone and self.suppressed in {0, self._facts["rows"]}:
                return self.patterns(names, everyone=True)
            followed = self.traced(names) if everyone else None
            if followed is not None:
                return followed.patterns.coarser(names).under(schema)
            with_marks = None if everyone or not self._follows(names) else self._marked_patterns(names)
            if with_marks is not None:
                patterns, marks = with_marks
                return patterns.take(~marks[self._told_by]).coarser(names).under(schema)
        return self._looked_at(names, everyone=everyone)

    def _looked_at(self, names: list[str], *, everyone: bool) -> Patterns:
        """The combinations as the engine counts them, row by row."""
        rows, schema = self.rows, self.rows.schema
        if everyone:
            return self._grouped(rows.frame, names)
        if not set(schema.quasi) <= set(names):
            some = 0 < self.suppressed < self._facts["rows"]
            kept = rows.engine.filter(rows.frame, ~self._marks[self._told_by]) if some else rows.frame
            return self._grouped(kept, names)
        # the stars of suppressed records are combinations of their own: no need to look for them row by row
        combinations = self._grouped(rows.kept(), names)
        if rows.starrable:
            stars = starred(combinations.cells, rows.telling).to_numpy()
            combinations = combinations.take(~stars) if stars.any() else combinations
        return combinations if len(combinations) else self._grouped(rows.frame, names)

    def _follows(self, names: Sequence[str]) -> bool:
        """Whether the combinations of these columns with the quasi-identifiers are told, or asked for anyway."""
        quasi = self.rows.schema.quasi
        return set(quasi) <= set(names) or self.traced([*quasi, *names]) is not None

    def _grouped(self, frame: Any, names: list[str]) -> Patterns:
        """The combinations in a frame: by codes where one number can tell them, else by the values themselves.

        Weights of persons are summed only when somebody asks: that takes every pair of a combination and a person.
        """
        engine, schema = self.rows.engine, self.rows.schema
        person = schema.person
        weight = None if person is not None else schema.weight
        later = None if weight == schema.weight else functools.partial(self._person_weights, frame, names)
        numbered = self._numbered(frame, names) if weight is None else None
        if numbered is not None:
            domains = numbered.of_columns(names)
            by_codes = later is not None and schema.weight not in names
            later = functools.partial(later, domains) if later is not None and by_codes else later
            counted = numbered.histogram(names, persons=person is not None)
            return Patterns.of_keys(counted, domains, schema, later)
        if names and not {person, schema.weight} & set(names):
            if person is None and self._outright(names):
                patterns = Patterns.of_values(
                    engine.collect(engine.histogram(frame, names, weight=weight)), schema, names
                )
                if frame is self.rows.frame:
                    self.listed.update({name: patterns.column(name).values for name in names})
                return patterns
            domains = self._domains(names)
            kept = self._kept_of(frame, names)
            if kept is not None:
                return Patterns.of_keys(kept.histogram(), domains, schema)
            if tellable(domains):
                later = None if later is None else functools.partial(later, domains)
                return Patterns.of_keys(engine.packed(frame, domains, weight, person), domains, schema, later)
        combinations = engine.bounded(engine.histogram(frame, names, person=person, weight=weight))
        # sums must not depend on the order of threads
        return Patterns.of_histogram(combinations.sort(names, nulls_last=True), schema, names, later)

    def _numbered(self, frame: Any, names: Sequence[str]) -> Numbered | None:
        """The codes that were kept, where they are those of all rows of a frame and tell these columns."""
        own = frame is self.rows.frame
        return next((numbered for numbered in self.numbers if own and numbered.tells(names)), None)

    def _outright(self, names: Sequence[str]) -> bool:
        """Whether rows are grouped by their values: one pass where codes take two, if the result is sure to fit."""
        engine = self.rows.engine
        new = engine.groups_values and engine.memory is None and not set(names) <= set(self.listed)
        return new and self._length * (len(names) + 2) <= COLLECT_LIMIT

    @cached_property
    def _length(self) -> int:
        return self.rows.engine.rows(self.rows.frame)

    def _kept_of(self, frame: Any, names: list[str]) -> Keys | None:
        """The numbers that were kept, where they are those of all rows of a frame in these columns."""
        alone = self.rows.schema.person is None and self.rows.schema.weight is None
        own = alone and frame is self.rows.frame and self.kept is not None and list(self.kept.domains) == names
        return self.kept if own else None

    def _domains(self, names: list[str]) -> dict[str, pl.Series]:
        """The values of columns in the order of their kind, a missing one last; all that are new in one pass."""
        new = [name for name in names if name not in self.listed]
        for name, tally in (self.rows.engine.tallies(self.rows.frame, new) if new else {}).items():
            self.listed[name] = self._in_order(tally[name])
        return {name: self.listed[name] for name in names}

    def _in_order(self, values: pl.Series) -> pl.Series:
        """Different values of a column in the order of its kind, a missing one last."""
        info = self.rows.schema[values.name]
        return encode(values, info.kind, info.order).values

    def several(self, names: Sequence[str], further: Sequence[str]) -> Patterns:
        """The combinations of these and further columns that persons have who have several of these.

        Nobody else has to be told apart to count persons in coarser classes. Refused where they are too many.
        """
        import narwhals as nw

        rows, engine, person = self.rows, self.rows.engine, self.rows.schema.person
        assert person is not None
        some = 0 < self.suppressed < self._facts["rows"]
        frame = engine.filter(rows.frame, ~self._marks[self._told_by]) if some else rows.frame
        numbered = self._numbered(frame, list(dict.fromkeys([*names, *further])))
        if numbered is not None:
            return numbered.several(names, further, person, rows.schema)
        domains = self._domains([name for name in names if name != person])
        if tellable(domains):
            keyed = nw.from_native(engine.keyed(frame, domains, [person])).group_by(person)
            whose = keyed.agg(low=nw.col(KEY).min(), high=nw.col(KEY).max()).filter(nw.col("low") < nw.col("high"))
        else:
            pairs = nw.from_native(engine.histogram(frame, list(dict.fromkeys([*names, person]))))
            whose = pairs.group_by(person).agg(nw.len().alias(ROWS)).filter(nw.col(ROWS) > 1)
        few = engine.collect(whose.select(person).head(engine.most + 1).to_native())
        refuse_many(engine, len(few))
        wanted = list(dict.fromkeys([*names, *further, person]))
        theirs = engine.select(engine.attach(frame, few, [person], keep_unmatched=False), wanted)
        combinations = engine.bounded(engine.histogram(theirs, wanted, person=person))
        return Patterns.of_histogram(combinations.sort(wanted, nulls_last=True), rows.schema, wanted)

    def _person_weights(
        self, frame: Any, names: list[str], domains: dict[str, pl.Series] | None = None
    ) -> NDArray[np.float64]:
        """The weight of each combination, in the order of its values or of ``domains``; a person's counts once."""
        import narwhals as nw
        import polars as pl

        engine, person, weight = self.rows.engine, self.rows.schema.person, self.rows.schema.weight
        assert person is not None
        assert weight is not None
        keys = names if domains is None else [KEY]
        numbered = None if domains is None else self._numbered(frame, [*names, weight])
        if numbered is not None:
            pairs = nw.from_native(numbered.weights(names, weight))
        else:
            keyed = frame if domains is None else engine.keyed(frame, domains, [person, weight])
            pairs = nw.from_native(engine.histogram(keyed, list(dict.fromkeys([*keys, person])), weight=weight))
        each = pairs.select(*keys, ROWS, WEIGHT).to_native()  # whose they are is not asked
        if domains is None:
            return _summed(engine.collect(each), keys)[WEIGHT].to_numpy()
        types = {KEY: pl.Int64(), WEIGHT: pl.Float64()}
        rows = 0 if engine.local else self._facts["rows"]
        added = engine.in_parts(each, keys, types, functools.partial(_summed, keys=keys), rows)
        return engine.collect(added).sort(KEY)[WEIGHT].to_numpy()

    def _identified(self) -> Any:
        engine, frame = self.rows.engine, self.rows.frame
        return frame if RECORD in engine.types(frame) else engine.identify(frame)


def _summed(each: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    """The weights of persons added up in an order of their own, so that every engine gives the same digits."""
    import polars as pl

    once = each.with_columns(pl.col(WEIGHT).cast(pl.Float64) / pl.col(ROWS)).sort(*keys, WEIGHT, nulls_last=True)
    return once.group_by(keys, maintain_order=True).agg(pl.col(WEIGHT).sum())
