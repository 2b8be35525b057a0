"""Protection that honours blocks: four rules, additional requirements, and a control.

``inference``  the columns by which an inference is made are protected by the remedy with the least loss that keeps a
               promise in numbers (:mod:`celosia.consent.protection.remedies`); k for everybody, and k + X for those
               who block an inference about quasi-identifiers.

``class``      rule of the thesis: a class with one blocking owner must reach k + X. With many blocking owners nearly
               every class has one, and the rule becomes standard(k + X) for everybody.
``coarser``    blocking owners show the place of standard(k + X), or one above it; all others the place of
               standard(k), joined with a sibling if fewer than k remain. All values are true.
``exchange``   blocking owners exchange their marked values inside the classes of standard(k + X); then standard(k)
               for everybody. The format does not disclose who blocks, but exchanged values are not true.
``standard``   k for everybody, no preferences. ``control``: k + X for everybody, no preferences.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from celosia.classes import STAR
from celosia.consent.protection.coarsen import coarsen
from celosia.consent.protection.remedies import MAX_BLOCKING_SHARE, Kept, Search, groups
from celosia.consent.protection.tree import Tree, count
from celosia.errors import ParameterError, RequirementError
from celosia.histogram import number
from celosia.parts import Model, build, describe
from celosia.release.protect import protect_table
from celosia.streams import Stream
from celosia.table.columns import declared_persons, encoded_column
from celosia.table.derive import with_record_ids
from celosia.table.suppression import suppress_records

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

Rule = Literal["inference", "class", "coarser", "exchange", "standard", "control"]
RULES: tuple[str, ...] = get_args(Rule)
MIN_PARTNERS = 5
"""Smallest number of owners that exchange values: a single one would keep its own."""


@dataclass(frozen=True)
class Design:
    """Method and parameters: ``tree`` names the columns of one place from coarse to fine; without it Mondrian is used.

    ``camouflage`` is the share of owners without a block who are treated like blocking ones under ``coarser`` and by
    ``suppress``, so that a coarse place or a blank cell is no proof of a block. ``strengthen`` adds to the rule for
    blocking owners: ``suppress`` their marked cells, ``exclude`` their rows, or a model (``l-diversity(…)``) that every
    class with one must meet. Under ``inference``, ``lift`` and ``advantage`` are the largest shares by which an
    intruder may infer a blocked column, and a reader distinguish who blocks, better than by guessing.
    """

    k: int
    rule: Rule = "coarser"
    tree: tuple[str, ...] = ()
    camouflage: float = 0.0
    strengthen: tuple[str, ...] = ()
    lift: float = 0.1
    advantage: float = 0.1

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ParameterError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}.")
        if self.k < 1:
            raise ParameterError(f"k must be at least 1, got {self.k}.")
        if not 0 <= self.camouflage <= 1:
            raise ParameterError(f"camouflage is a share between 0 and 1, got {self.camouflage:g}.")
        for name in ("lift", "advantage"):
            if not 0 < getattr(self, name) <= 1:
                raise ParameterError(f"{name} is a share above 0 and at most 1, got {getattr(self, name):g}.")
        if self.rule == "inference" and (self.strengthen or self.camouflage):
            raise ParameterError(
                "the rule 'inference' chooses its remedies itself: leave out strengthen and camouflage."
            )
        models = [text for text in self.strengthen if text not in ("suppress", "exclude")]
        if models and self.rule not in ("class", "coarser"):
            raise ParameterError(f"the rule {self.rule!r} cannot meet {models[0]}; use 'class' or 'coarser' with it.")
        if "suppress" in self.strengthen and "exclude" not in self.strengthen and not self.camouflage:
            raise ParameterError(
                "suppress blanks the cells of exactly those who block, which publishes who they are: give a "
                "camouflage, the share of other data subjects whose cells are blanked too; at least as many must be."
            )
        if self.rule == "coarser" and not self.tree:
            raise ParameterError("the rule 'coarser' needs a tree of columns; use 'exchange' or 'class' without one.")


@dataclass(frozen=True, eq=False)
class Protected:
    """Protected table with its evidence."""

    table: Table
    design: Design
    evidence: Mapping[str, Any] = field(default_factory=dict)
    level: NDArray[np.int64] | None = field(default=None, repr=False)
    """Level of the tree that each record shows."""
    tree: Tree | None = field(default=None, repr=False)
    """Tree of the generalised values (after the exchange, under ``exchange``), with joined nodes."""
    holds: bool = True
    remedies: Mapping[str, Kept] = field(default_factory=dict, repr=False)
    """Remedy of each inference under ``inference``."""


def honour_inferences(
    table: Table,
    extra: NDArray[np.int64],
    design: Design,
    stream: Stream,
    columns: Mapping[str, Sequence[str]],
    rows: Mapping[str, NDArray[np.bool_]],
    external: float,
) -> Protected:
    """Protect a table under the rule ``inference``; ``columns`` are those of each inference, ``rows`` its blocks.

    Classes have k, and k + X where somebody blocks an inference about quasi-identifiers; where their sizes would show
    who blocks, all have k + X. Raises if no remedy keeps the promise.
    """
    guarded = groups(columns, rows, design.tree)
    plain, largest = replace(design, rule="class"), int(extra.max(initial=0))
    sizes = [design.k + extra, np.full(len(table), design.k + largest)] if largest else [np.full(len(table), design.k)]
    for last, target in enumerate(sizes, 1 - len(sizes)):

        def protect(work: Table, target: NDArray[np.int64] = target) -> Table:
            return _by_one_method(work, plain, design.k, target).table

        search = Search(table, design, stream, protect, bool((target == target[0]).all()), external)
        try:
            result, kept = search.run(guarded)
        except RequirementError:
            if last == 0:
                raise
            continue
        break
    remedies = {name: remedy for remedy, group in zip(kept, guarded, strict=True) for name in group.inferences}
    facts = {"exchanged": max((int(o.treated.sum()) for o in kept if o.remedy.kind == "exchange"), default=0)}
    protected = _blank_suppressed(Protected(result, design, facts, remedies=remedies), extra, [])
    return _with_evidence(table, extra, protected, 0)


def honour(
    table: Table,
    extra: NDArray[np.int64],
    design: Design,
    stream: Stream,
    cells: Mapping[str, NDArray[np.bool_]] | None = None,
) -> Protected:
    """Protect a table under a rule; ``extra`` is X of each record (0: no block), ``cells`` the marked ones.

    The condition that is checked at the end, for every record i that is not suppressed:

    .. math:: n_i \\ge k + X_i

    with n_i the number of records (persons) that show the same quasi-identifiers, blank cells included. Raises if a
    model cannot be met.
    """
    marked = dict(cells or {})
    work, rows = table, np.ones(len(table), np.bool_)
    if "exclude" in design.strengthen and (extra > 0).any():
        rows = extra == 0
        work = with_record_ids(table).take(with_record_ids(table).ids()[rows])
        extra, marked = extra[rows], {name: mask[rows] for name, mask in marked.items()}
    protected = _by_rule(work, extra, design, stream, marked)
    models: list[Model] = [build("model", text) for text in design.strengthen if text not in ("suppress", "exclude")]
    if models:
        protected = _meet_models(work, extra, protected, models, stream)
    if "suppress" in design.strengthen:  # after the models, which protect the table again
        protected = _suppress_cells(protected, extra, marked, _camouflage(work, design, stream))
    protected = _blank_suppressed(protected, extra, models)
    unmet = [describe(model) for model in models if _failing_records(protected.table, [model], extra).any()]
    if unmet:
        raise RequirementError(
            f"{unmet[0]} is not met where marked cells are blanked: their rows are a class of their own. Strengthen "
            "with the model or with suppress, not with both."
        )
    return _with_evidence(work, extra, protected, int((~rows).sum()))


def _by_rule(
    table: Table, extra: NDArray[np.int64], design: Design, stream: Stream, marked: Mapping[str, NDArray[np.bool_]]
) -> Protected:
    most = int(extra.max(initial=0))
    if design.rule == "standard":
        return _by_one_method(table, design, design.k)
    if design.rule == "control":
        return _by_one_method(table, design, design.k + most)
    if design.rule == "class":
        return _by_one_method(table, design, design.k, design.k + extra)
    if design.rule == "exchange":
        return _exchange(table, extra, design, stream, marked)
    return _coarser(table, extra, design, stream)


def _by_one_method(table: Table, design: Design, k: int, target: NDArray[np.int64] | None = None) -> Protected:
    """Protect all records by one method: the tree, or Mondrian."""
    if not design.tree:
        options: dict[str, object] = {"require": [{"use": "k-anonymity", "k": k}]}
        protected = protect_table(table, [{"use": "mondrian", **options, "target": target}], seed=0)
        return Protected(protected, design)
    # with sizes for each record, small places join others below a shared root: suppressed rows would disclose blocks
    sizes = np.full(len(table), k) if target is None else target
    method = {"use": "tree-generalise", "columns": list(design.tree), "k": k, "target": sizes}
    protected = protect_table(table, [method], seed=0)
    tree = Tree.of(table, design.tree)
    return Protected(protected, design, level=tree.levels_shown(table, protected), tree=tree)


def _coarser(
    table: Table, extra: NDArray[np.int64], design: Design, stream: Stream, want: NDArray[np.int64] | None = None
) -> Protected:
    """Apply the rule ``coarser``; ``want`` is the class size beyond k for a model that needs more than ``extra``."""
    tree, fine = _tree_and_level(_by_one_method(table, design, design.k))
    raised = extra
    if design.camouflage:
        raised = np.where(_camouflage(table, design, stream), int(extra.max(initial=0)), extra)
    level = fine
    for x in np.unique(raised[raised > 0]):
        _, coarse = _tree_and_level(_by_one_method(table, design, design.k + int(x)))
        level = np.where(raised == x, np.maximum(fine, coarse), level)
    need = design.k + (raised if want is None else np.maximum(raised, want))
    tree, level = coarsen(tree, level, need, design.k, _persons(table))
    protected, suppressed = table.replace(tree.cells(level)), level == tree.height
    facts = {"raised": int((level > fine).sum()), "joined": int(tree.shows_several(level).sum())}
    return Protected(
        suppress_records(protected, suppressed) if suppressed.any() else protected, design, facts, level, tree
    )


def _camouflage(table: Table, design: Design, stream: Stream) -> NDArray[np.bool_]:
    """Draw the rows to treat like those of blocking owners: all rows of a person, or none."""
    person = _persons(table)
    return stream.child("camouflage").uniform(table.ids() if person is None else person) < design.camouflage


def _tree_and_level(protected: Protected) -> tuple[Tree, NDArray[np.int64]]:
    """Return the tree and the levels of a table that has them."""
    assert protected.tree is not None
    assert protected.level is not None
    return protected.tree, protected.level


def _exchange(
    table: Table, extra: NDArray[np.int64], design: Design, stream: Stream, marked: Mapping[str, NDArray[np.bool_]]
) -> Protected:
    wide = _by_one_method(table, design, design.k + int(extra.max(initial=0)))
    if design.tree:
        tree, level = _tree_and_level(wide)
        group = tree.classes(level)
    else:
        group = _class_numbers(wide.table)
    rows = _partners(extra > 0, group, stream.child("partners").uniform(table.ids()), _persons(table))
    order = rows[np.argsort(group[rows], kind="stable")]
    mixed = rows[np.lexsort((stream.child("exchange").uniform(rows.astype(np.int64)), group[rows]))]
    source = np.arange(len(table))
    source[order] = mixed
    names = list(dict.fromkeys([*(design.tree or table.schema.quasi), *(n for n in marked if n in table.names)]))
    moved = table.replace({name: table.column(name).gather(source) for name in names})
    protected = _by_one_method(moved, design, design.k)
    changed = np.zeros(len(table), np.bool_)
    for name in names:
        changed |= table.column(name).ne_missing(moved.column(name)).to_numpy()
    return Protected(
        protected.table,
        design,
        {"exchanged": len(rows), "untrue rows": int(changed.sum())},
        protected.level,
        protected.tree,
    )


def _partners(
    blocked: NDArray[np.bool_],
    group: NDArray[np.int64],
    chance: NDArray[np.float64],
    person: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """Select the rows that exchange: those of blocking owners, and others up to five per group with a block.

    With ``person`` groups need five persons; each additional person takes part with one row.
    """
    groups = int(group.max(initial=0)) + 1
    n = count(group[blocked], None if person is None else person[blocked], groups)
    missing = np.where(n > 0, np.maximum(MIN_PARTNERS - n, 0), 0)
    others = np.flatnonzero(~blocked)
    others = others[np.lexsort((chance[others], group[others]))]
    if person is not None and len(others):
        pair = number([group, person])
        others = others[~np.isin(pair[others], pair[blocked])]
        others = others[np.sort(np.unique(pair[others], return_index=True)[1])]
    first = np.searchsorted(group[others], np.arange(groups))
    rank = np.arange(len(others)) - first[group[others]]
    return np.sort(np.concatenate([np.flatnonzero(blocked), others[rank < missing[group[others]]]]))


def _suppress_cells(
    protected: Protected,
    extra: NDArray[np.int64],
    marked: Mapping[str, NDArray[np.bool_]],
    hidden: NDArray[np.bool_],
) -> Protected:
    """Blank the marked cells of blocking owners, and the finer places below a blanked one, which would disclose it.

    ``hidden`` are the rows whose cells are blanked in the same columns although their owners block nothing. Blank
    places make classes of their own and leave smaller ones behind, so the places are made coarser once more.
    """
    import polars as pl

    hits = {name: mask.copy() for name, mask in marked.items() if name in protected.table.names and mask.any()}
    design, tree, level, table = protected.design, protected.design.tree, protected.level, protected.table
    if len(tree) > 1:
        for coarse, fine in itertools.pairwise(tree):
            if coarse in hits:
                hits[fine] = hits.get(fine, np.zeros(len(protected.table), np.bool_)) | hits[coarse]
    for name, mask in hits.items():
        _refuse_disclosing_blanks(name, mask, hidden, _persons(table))
    hits = {name: mask | hidden for name, mask in hits.items()}
    places = protected.tree
    if places is not None and level is not None and hits.keys() & set(tree):
        for depth, name in enumerate(tree):
            level = np.where(hits[name], np.maximum(level, places.height - depth), level) if name in hits else level
        k = design.k + int(extra.max(initial=0))  # for all: a class that grew for some would show who they are
        places, level = coarsen(places, level, np.full(len(table), k), k, _persons(table))
        table, suppressed = table.replace(places.cells(level)), level == places.height
        table = suppress_records(table, suppressed) if suppressed.any() else table
    new = {}
    for name, mask in hits.items():
        if mask.any():
            column = table.column(name).cast(pl.String)
            new[name] = _where(mask, pl.Series(name, [STAR]).new_from_index(0, len(column)), column)
    facts = {**protected.evidence, "blanked cells": int(sum(mask.sum() for mask in hits.values()))}
    return Protected(table.replace(new) if new else table, design, facts, level, places)


def _refuse_disclosing_blanks(
    column: str, marked: NDArray[np.bool_], hidden: NDArray[np.bool_], person: NDArray[np.int64] | None
) -> None:
    r"""Raise if blank cells disclose who blocks: at most half of the data subjects with one may block.

    .. math:: b / (b + h) \le 1/2

    with b data subjects who block and h others whose cells are blanked. If all cells are blank, nothing is disclosed.
    """
    persons = np.arange(len(marked)) if person is None else person
    blocking, blank = (len(np.unique(persons[mask])) for mask in (marked, marked | hidden))
    if (marked | hidden).all() or blocking <= MAX_BLOCKING_SHARE * blank:
        return
    others = len(np.unique(persons)) - blocking
    enough = blocking * (1 / MAX_BLOCKING_SHARE - 1)
    # three standard deviations above, in steps of 0.05: the advice works, and states no exact number
    share = min(1.0, math.ceil(20 * (enough + 3 * math.sqrt(enough)) / max(others, 1)) / 20)
    raise RequirementError(
        f"more than {MAX_BLOCKING_SHARE:.0%} of the data subjects whose {column!r} would be blank block it, so that a "
        f"blank cell shows who does. Use a camouflage of at least {share:g}, or strengthen with 'exclude'."
    )


def _meet_models(
    table: Table, extra: NDArray[np.int64], protected: Protected, models: Sequence[Model], stream: Stream
) -> Protected:
    """Require larger classes for blocking owners in classes that fail a model, until none does.

    A model of the whole file fails for all records at once; if larger classes do not help, raise.
    """
    design, want = protected.design, extra.copy()
    requirement = " and ".join(describe(model) for model in models)
    while (failing := _failing_records(protected.table, models, extra)).any():
        size, _ = class_sizes(protected.table)
        larger = np.where(failing, np.maximum(want, size - design.k + 1), want)
        if np.array_equal(larger, want):  # the classes of the method are larger than those of all quasi-identifiers
            raise RequirementError(
                f"{requirement} is not met by larger classes of {', '.join(design.tree)}: other quasi-identifiers "
                "divide them. Leave these out of the query, or leave out the tree."
            )
        want = larger
        if design.rule == "coarser":
            protected = _coarser(table, extra, design, stream, want)  # in the worst case up to the root
            continue
        if (want + design.k > len(table)).any():
            raise RequirementError(f"no class large enough meets {requirement} for all blocking owners; ask for less.")
        protected = _by_one_method(table, design, design.k, design.k + want)
    unmet = [describe(model) for model in models if model.scope == "file" and not model.holds(protected.table)]
    if unmet:
        raise RequirementError(
            f"{unmet[0]} is not met, however coarse the places of blocking owners are; raise k, or ask for less."
        )
    return replace(protected, evidence={**protected.evidence, "strengthened": requirement})


def _blank_suppressed(protected: Protected, extra: NDArray[np.int64], models: Sequence[Model]) -> Protected:
    """Blank the sensitive cells of suppressed records if their class has fewer than k + X or fails a model."""
    table = protected.table
    suppressed, person = table.counts.suppressed_mask, _persons(table)
    sensitive = [name for name in table.schema.sensitive if name not in table.schema.quasi]
    if not sensitive or not suppressed.any() or suppressed.all():
        return protected
    size = int(suppressed.sum()) if person is None else len(np.unique(person[suppressed]))
    few = size < protected.design.k + int(extra[suppressed].max())
    if not few and not any(model.failing_records(table)[suppressed].any() for model in models):
        return protected
    return replace(protected, table=suppress_records(table, suppressed, blank=sensitive))


def _failing_records(table: Table, models: Sequence[Model], extra: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the records of blocking owners in a class that fails a model; suppressed records are in none."""
    failing = np.logical_or.reduce([model.failing_records(table) for model in models])
    return np.asarray(failing & ~table.counts.suppressed_mask & (extra > 0), np.bool_)


def class_sizes(table: Table) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the size of the class of every record over all quasi-identifiers, and which records are in a class.

    Persons are counted where they are declared. A suppressed record is in no class.
    """
    return table.frequencies().astype(np.int64), ~table.counts.suppressed_mask


def _with_evidence(table: Table, extra: NDArray[np.int64], protected: Protected, left_out: int) -> Protected:
    """Check the post-condition, and add the evidence on class sizes and on the disclosure of blocks."""
    design = protected.design
    blocked = extra > 0
    asked = design.k + extra  # the requested class size, whatever the rule aims at
    facts = {**protected.evidence, "rule": design.rule, "k": design.k, "X": int(extra.max(initial=0))}
    facts |= {"rows": len(table), "blocked rows": int(blocked.sum()), "left out": left_out}
    size, kept = class_sizes(protected.table)
    label = _class_numbers(protected.table)
    facts |= {"smallest class": int(size[kept].min(initial=len(table)))}
    if protected.tree is not None:
        tree, level = _tree_and_level(protected)
        facts |= _block_disclosure(tree.has_finer(level), blocked)
    with_block = np.zeros(int(label.max(initial=0)) + 1, np.bool_)
    np.logical_or.at(with_block, label[kept], blocked[kept])
    facts |= {"classes": len(np.unique(label[kept])), "classes with a block": int(with_block.sum())}
    facts |= {"suppressed": int((~kept).sum()), "short": int((kept & (size < asked)).sum())}
    return replace(protected, evidence=facts, holds=facts["short"] == 0)


def _block_disclosure(flagged: NDArray[np.bool_], blocked: NDArray[np.bool_]) -> dict[str, float]:
    """Measure how well a coarse place among finer ones predicts that its owner blocks something."""
    hits, n = int((flagged & blocked).sum()), int(flagged.sum())
    return {
        "coarse among finer": n,
        "of them blocked": hits / n if n else 0.0,
        "blocked in all": float(blocked.mean()) if len(blocked) else 0.0,
        "blocked who show it": hits / int(blocked.sum()) if blocked.any() else 0.0,
    }


def _persons(table: Table) -> NDArray[np.int64] | None:
    persons = declared_persons(table)
    return None if persons is None else persons.astype(np.int64)


def _where(mask: NDArray[np.bool_], yes: pl.Series, no: pl.Series) -> pl.Series:
    import polars as pl

    if yes.dtype != no.dtype:
        yes, no = yes.cast(pl.String), no.cast(pl.String)
    return pl.select(pl.when(pl.Series(mask)).then(yes).otherwise(no).alias(no.name)).to_series()


def _class_numbers(table: Table) -> NDArray[np.int64]:
    """Return the class number of each record: records of a class show the same quasi-identifiers."""
    return number([encoded_column(table, name).codes for name in table.schema.need_quasi()])
