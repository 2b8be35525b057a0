"""The method of a suggested policy: methods with the same guarantee are tried, the one with the least loss wins."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from celosia.data.schema import Kind, Role
from celosia.errors import CelosiaError
from celosia.parts import build, describe, find, search_hints
from celosia.proposals import ColumnSuggestion, ProposedMethod, needs_method, policy_text
from celosia.release.output.columns import overwritten_columns
from celosia.release.output.derived import DerivedColumns
from celosia.release.policy.feasibility import refuse_beyond
from celosia.release.policy.policy import Policy
from celosia.release.protect import protect_table
from celosia.table import STAR, Table, read
from celosia.table.derive import with_record_ids
from celosia.table.frames import visible_frame
from celosia.table.materialise import materialise

if TYPE_CHECKING:
    from pathlib import Path

    from celosia.parts import Model

SAMPLE = 20_000
"""Records on which methods are tried: of a larger table, every n-th."""
SUPPRESS = 0.05
"""Largest share of the records that a candidate may suppress."""
MARGIN = 0.03
"""A candidate further down the list must lose so much less than those above it, which are easier to use."""
EMPTY_LOSS = 2.0
"""Loss of a column of which nothing is left; that of any other column is below 1."""
KEPT_WEIGHT = 3.0
"""Weight of a column that analysts must keep, in the search and in the loss."""
FEW_COLUMNS = 8
"""Most quasi-identifiers under which cells are blanked one by one."""
FEW_NAMES = 5
"""Most columns that the outcome of a trial names."""
MANY_LABELS = 200
"""A nominal column with more values and no hierarchy has no readable label for a box of mondrian."""
SECONDS = 10.0
"""Longest search for a candidate on the sample."""
BLANKS = "local-suppress"
FOLLOWING, LEARNT, RECORDS_OF_VALUE = 0.995, 0.02, 20
"""A column reveals another one if the commonest value beside its own is right for this share of the records, well above
that of the commonest value alone, with so many records per value."""
POOR = 0.25
"""A method that keeps a smaller share of the information gets a warning."""
Entries: TypeAlias = Mapping[str, Any]
"""A method as it stands in a policy: ``{"use": …}``."""
ABOUT = {
    "generalise": "one level of detail per column, the same for every record",
    "local-generalise": "levels of detail chosen class by class, so that frequent combinations stay as they are",
    "local-suppress": "single cells are emptied, the others stay as they are; new records cannot be treated alike",
    "mondrian": "records are grouped, and each group shows its own ranges",
}


@dataclass(frozen=True)
class MethodTrial:
    """One candidate on the sample: its loss by column, or the reason why it was not tried or failed."""

    entries: Entries
    losses: Mapping[str, float]
    """Share of the information that each quasi-identifier loses."""
    empty: tuple[str, ...] = ()
    """Columns in which no record shows a value."""
    reason: str = ""
    protected: Table | None = field(default=None, repr=False, compare=False)

    @property
    def name(self) -> str:
        """Keyword of the method."""
        return str(self.entries["use"])

    @property
    def kept(self) -> float:
        """Mean share of the information of the quasi-identifiers that is kept."""
        return 1 - float(np.mean(list(self.losses.values())))

    def loss(self, weights: Mapping[str, float]) -> float:
        """Weighted mean of the losses; a column of which nothing is left counts ``EMPTY_LOSS``."""
        values = [EMPTY_LOSS if name in self.empty else loss for name, loss in self.losses.items()]
        return float(np.average(values, weights=[weights.get(name, 1.0) for name in self.losses]))


@dataclass(frozen=True)
class MethodChoice:
    """The chosen method, every trial, and what a user must know before the run."""

    trials: tuple[MethodTrial, ...]
    chosen: MethodTrial | None
    records: int
    """Records of the sample."""
    total: int
    """Records of the table."""
    requirements: str
    """The requirements in words."""
    refused: str = ""
    """The reason why no method could be tried."""
    derived: Mapping[str, str] = field(default_factory=dict)
    """Columns that show quasi-identifiers more finely than they are released, and what they hold."""

    @property
    def method(self) -> ProposedMethod | None:
        """The method for the policy, with the reason and the numbers of the others as its comment."""
        if self.chosen is None:
            return None
        lines = [f"{self.chosen.name}: {ABOUT[self.chosen.name]}.", f"{self.measured}:"]
        lines += [f"  {trial.name:17}{outcome}" for trial, outcome in zip(self.trials, self.outcomes, strict=True)]
        return ProposedMethod(self.chosen.entries, (*lines, *self.warnings))

    @property
    def measured(self) -> str:
        """Description of the measured share, with the number of records."""
        tried = (
            f"all {self.total:,} records"
            if self.records == self.total
            else f"{self.records:,} of {self.total:,} records"
        )
        return f"the share of the information of the quasi-identifiers that each method keeps, on {tried}"

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Result of each trial as text."""
        return tuple(map(_outcome, self.trials))

    def spec(self) -> dict[str, object]:
        """Return the trials as plain data."""
        trials = [
            {
                "method": dict(t.entries),
                **({"kept": t.kept, "losses": dict(t.losses)} if t.losses else {"reason": t.reason}),
            }
            for t in self.trials
        ]
        chosen = None if self.chosen is None else self.chosen.name
        return {"method": chosen, "tried": trials, "records": self.records, "warnings": list(self.warnings)}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Columns of which nothing is left, and a requirement that costs most of the information."""
        trial = self.chosen
        where = f"all {self.total:,} records" if self.records == self.total else "all records of the sample"
        if self.refused:
            return (f"no method could be tried, and the run will stop: {self.refused}",)
        if trial is None:
            reasons = "; ".join(f"{t.name}: {t.reason}" for t in self.trials)
            return (f"no method meets {self.requirements}: {reasons}",)
        lines = [f"{', '.join(trial.empty)}: hidden in {where}"] if trial.empty else []
        lines += [f"{name}: left out, because it holds {what}" for name, what in self.derived.items()]
        if trial.empty or trial.kept < POOR:
            costly = sorted(trial.losses, key=lambda name: -trial.losses[name])[:3]
            lines.append(
                f"{self.requirements} leaves {trial.kept:.0%} of the information of the quasi-identifiers. To keep "
                f"more: a lower k, fewer quasi-identifiers (those that cost most: {', '.join(costly)}), coarser values "
                "first, or a sample of the records"
            )
        return tuple(lines)


def suggested_policy(
    suggestions: list[ColumnSuggestion],
    path: str | Path,
    directory: Path,
    **facts: Any,  # noqa: ANN401  (keywords of policy_text)
) -> tuple[str, MethodChoice | None]:
    """Return the text of a suggested policy, with the method that keeps most, and how it was chosen.

    ``facts`` are the keywords of :func:`celosia.proposals.policy_text`; ``directory`` is the folder of the policy. No
    method is tried where none is needed.
    """
    text = policy_text(suggestions, path, **facts)
    if not needs_method(suggestions):
        return text, None
    try:
        choice = choose_method(Policy.parse(text, directory))
    except CelosiaError as error:  # what run will say, and init must not fail for
        return text, MethodChoice((), None, 0, 0, "", str(error))
    suggestions = [
        replace(s, left_out=True, role=Role.INSENSITIVE, reason=f"it holds {choice.derived[s.name]}")
        if s.name in choice.derived
        else s
        for s in suggestions
    ]
    return (policy_text(suggestions, path, **facts, method=choice.method) if choice.method else text), choice


def choose_method(policy: Policy) -> MethodChoice:
    """Try methods that meet the requirements of a policy on a sample of its input, and choose one.

    The loss is non-uniform entropy: the share of the bits of each quasi-identifier that its cells no longer tell.
    ``[purpose] keep`` gives columns more weight. The run checks the requirements on all records.
    """
    weights = dict.fromkeys((n for n in policy.purpose.keep if n in policy.schema.quasi), KEPT_WEIGHT)
    table, total = _sample(policy)
    trials = tuple(
        _try(table, entries, policy.require, reason) for entries, reason in _candidates(table, policy.require, weights)
    )
    losses = [trial.loss(weights) if trial.losses else np.inf for trial in trials]
    within = [
        trial for trial, loss in zip(trials, losses, strict=True) if loss <= min(losses) + MARGIN and trial.losses
    ]
    requirements = " and ".join(describe(model) for model in policy.require)
    derived = _derived_columns(table, within[0], policy) if within else {}
    return MethodChoice(trials, within[0] if within else None, len(table), total, requirements, derived=derived)


def _sample(policy: Policy) -> tuple[Table, int]:
    """Return every n-th record (with a person column, all records of every n-th person), and the number of all."""
    import polars as pl

    table = policy.table()
    total = len(table)
    parts = -(-total // SAMPLE)
    if parts > 1:
        frame = (visible_frame(table) if table.engine.name == "polars" else table.polars()).lazy()
        person = table.schema.person
        chosen = frame.gather_every(parts) if person is None else frame.filter(pl.col(person).hash() % parts == 0)
        table = read(chosen.collect(engine="streaming"), policy.schema)
    return materialise(with_record_ids(table)), total


def _candidates(table: Table, require: Sequence[Model], weights: Mapping[str, float]) -> Iterator[tuple[Entries, str]]:
    """Yield the methods, those that are easier to use first, each with the reason why it is not tried."""
    schema = table.schema
    more = {"weights": dict(weights)} if weights else {}
    yield {"use": "generalise", "suppress": SUPPRESS, **more}, ""
    local = all(model.scope == "class" for model in require)
    yield (
        {"use": "local-generalise", "suppress": SUPPRESS, **more},
        "" if local else "a requirement judges the whole file",
    )
    hints = [search_hints(model) for model in require]
    k = max((hint.smallest_size() for hint in hints), default=1)
    blanks = {"use": BLANKS, "k": k, **({"importance": dict(weights)} if weights else {})}
    if len(schema.quasi) > FEW_COLUMNS:
        yield blanks, f"only up to {FEW_COLUMNS} quasi-identifiers"
    elif k == 1 or not all(hint.is_size_only() for hint in hints):
        yield blanks, "it meets requirements on the size of a class only"
    else:
        yield blanks, ""
    bare = [name for name in schema.quasi if schema[name].kind == Kind.NOMINAL and schema[name].hierarchy is None]
    wide = [name for name in bare if len(table.codes(name)[1]) > MANY_LABELS]
    yield {"use": "mondrian", **more}, f"too many values for readable groups: {', '.join(wide)}" if wide else ""


def _try(table: Table, entries: Entries, require: Sequence[Model], reason: str) -> MethodTrial:
    """Protect the sample with a method and measure what each quasi-identifier loses."""
    from celosia.loss import NonUniformEntropy

    if reason:
        return MethodTrial(entries, {}, reason=reason)
    try:
        method = build("method", _complete(entries, require))
        refuse_beyond(table, [method])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            protected = protect_table(table, [method], seed=1)  # none of the candidates draws random numbers
            losses = NonUniformEntropy().parts(table, protected)
    except CelosiaError as error:
        return MethodTrial(entries, {}, reason=str(error))
    empty = tuple(name for name in losses if not _shows_values(protected, name))
    return MethodTrial(entries, losses, empty, protected=protected)


def _derived_columns(table: Table, trial: MethodTrial, policy: Policy) -> dict[str, str]:
    """Return the columns for which the guard would stop the release, with what they hold of others.

    Of two columns that follow from each other the later one is returned, unless analysts must keep it.
    """
    if (protected := trial.protected) is None:
        return {}
    others = [step.method for step in policy.steps if step.method.name not in ABOUT]
    methods = [build("method", _complete(trial.entries, policy.require)), *others]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            protected = protect_table(protected, others, seed=1)
    except CelosiaError:  # what run will say
        return {}
    released = protected.drop([name for name in protected.names if not table.schema[name].declared])
    overwritten = overwritten_columns(table, methods)
    reasons: dict[str, str] = {}
    while True:
        derived = DerivedColumns(table, released, overwritten, frozenset())
        names = [name for name in released.names if name not in table.schema.quasi]
        sightings = [s for name in names for s in derived.sightings(name, len(released)) if s.certain]
        if not sightings:
            return reasons | _revealing_columns(table, released)
        last = max(sightings, key=lambda s: (s.column not in policy.purpose.keep, released.names.index(s.column)))
        reasons[last.column] = last.what
        released = released.drop([last.column])


def _revealing_columns(table: Table, released: Table) -> dict[str, str]:
    """Return the columns of few values from which nearly every value of a changed quasi-identifier follows.

    A missing cell is a value: a question that only women are asked shows the sex of everybody.
    """
    from celosia.hierarchy.text import texts

    quasi = table.schema.quasi
    changed = [
        name for name in quasi if name in released.names and texts(table.column(name)) != texts(released.column(name))
    ]
    revealing: dict[str, str] = {}
    for name in released.names:
        if name in quasi or name not in table.names:
            continue
        shown = released.codes(name)[0].astype(np.int64) + 1
        if len(table) < RECORDS_OF_VALUE * len(np.unique(shown)):
            continue
        for key in changed:
            values = table.codes(key)[0].astype(np.int64) + 1
            counts = np.bincount(shown * (values.max() + 1) + values, minlength=(shown.max() + 1) * (values.max() + 1))
            followed = counts.reshape(-1, int(values.max()) + 1).max(axis=1).sum() / len(table)
            if followed >= FOLLOWING > np.bincount(values).max() / len(table) + LEARNT:
                revealing[name] = f"values from which {key!r} follows for {followed:.1%} of the records"
                break
    return revealing


def _complete(entries: Entries, require: Sequence[Model]) -> Entries:
    """Return the entries with the requirements of the policy, as a policy does, and a time limit for the trial."""
    fields = find("method", entries["use"]).model_fields
    extra = {"require": tuple(require), "budget_seconds": SECONDS}
    return {**entries, **{name: value for name, value in extra.items() if name in fields and entries["use"] != BLANKS}}


def _shows_values(table: Table, name: str) -> bool:
    """Return whether some record shows a value of the column."""
    import polars as pl

    return bool((table.column(name).drop_nulls().cast(pl.String) != STAR).any())


def _outcome(trial: MethodTrial) -> str:
    """Return what a trial gave, for the comment."""
    if not trial.losses:
        return trial.reason
    return f"{trial.kept:.0%}" + (f", nothing left in {_short_list(trial.empty)}" if trial.empty else "")


def _short_list(names: Sequence[str]) -> str:
    """Return a few names, or how many there are."""
    return ", ".join(names) if len(names) <= FEW_NAMES else f"{len(names)} columns"
