"""Candidates of an exploration: methods with ranges of parameters, pipelines of methods, or proposals of the
catalogue.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from celosia.errors import ParameterError
from celosia.parts import Formal, Method, build, explored_values, grammar, parts, public_spec

if TYPE_CHECKING:
    from celosia.table import Table

VARY = "vary"
STEPS = "steps"
PIPELINE_K = (3, 5, 10)
PIPELINE_SUPPRESS = 0.05  # without any, one odd combination raises every level


@dataclass(frozen=True, eq=False)
class Candidate:
    """One or more methods, applied one after the other."""

    methods: tuple[Method, ...]

    @cached_property
    def text(self) -> str:
        """The methods with all parameters, which identify the candidate."""
        return grammar.show(self.spec())

    @property
    def family(self) -> str:
        """The names of the methods without their parameters."""
        return " + ".join(method.name for method in self.methods)

    @property
    def epsilon(self) -> float | None:
        """The privacy loss of the steps with a formal guarantee; None without such steps, or where only the data
        determine it.
        """
        losses = [method.privacy_loss() for method in self.methods if isinstance(method, Formal)]
        spent = [loss for loss in losses if loss is not None]
        return sum(spent) if spent and len(spent) == len(losses) else None

    @property
    def label(self) -> str:
        """The methods with the parameters that may be published; lists of columns are shortened."""
        shown = (grammar.show(_short(public_spec(method))) for method in self.methods)
        return re.sub(r'"(\d+ columns)"', r"[\1]", " + ".join(shown))

    @property
    def published(self) -> str:
        """The methods with all parameters that may be published."""
        return " + ".join(grammar.show(public_spec(method)) for method in self.methods)

    def spec(self) -> list[dict[str, Any]]:
        """Return the candidate as plain data."""
        return [method.spec() for method in self.methods]

    def public_spec(self) -> list[dict[str, Any]]:
        """Return the candidate as it may be published."""
        return [public_spec(method) for method in self.methods]


def candidates_of(table: Table, given: Sequence[Any] | None) -> list[Candidate]:
    """Return the given candidates, or those that the catalogue proposes for the table.

    An entry is a method (an instance, a text, a mapping with ``use``), or a list of them: a pipeline. A mapping may
    hold ``vary``: parameter → values, every combination becomes a candidate; or ``steps``: a list of mappings that may
    vary each. A method that needs columns and names none gets those that suit it.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 3.0]}))
    >>> [c.label for c in candidates_of(table, [{"use": "noise", "vary": {"p": [0.1, 0.2]}}])]
    ['noise(columns=[x, y])', 'noise(columns=[x, y], p=0.2)']
    """
    if given is None:
        candidates = list(_propose(table))
        if not candidates:
            raise ParameterError(
                "explore: no method of the catalogue suits the columns of this table; list candidates."
            )
    else:
        candidates = [option for entry in given for option in _expand(table, entry)]
    if not candidates:
        raise ParameterError("explore: the list of candidates is empty.")
    unique = {option.text: option for option in candidates}
    return list(unique.values())


def columns_for(table: Table, cls: type[Method]) -> list[str]:
    """Return the quasi-identifiers that suit a method, or all suitable columns where none is declared."""
    schema = table.schema
    special = {*schema.identifiers, schema.weight, schema.household, schema.person, schema.stratum}
    pool = schema.quasi or [name for name in table.names if name not in special]
    return [name for name in pool if str(schema[name].kind) in cls.suits]


def is_generalisable(table: Table) -> bool:
    """Return whether every quasi-identifier has a hierarchy, so that the table can be generalised."""
    quasi = table.schema.quasi
    return bool(quasi) and all(table.schema[name].hierarchy is not None for name in quasi)


def has_declared_domains(table: Table) -> bool:
    """Return whether the domain of every column is declared, so that noise needs no look at the data."""
    special = {*table.schema.identifiers, table.schema.person, table.schema.household}
    return all(table.schema[name].bounds is not None for name in table.names if name not in special)


def _propose(table: Table) -> Iterator[Candidate]:
    """Yield methods that generalise where every quasi-identifier has a hierarchy, else those that suit the columns.

    Synthetic records are among the latter: attacks that read what was done measure them. A formal guarantee is
    proposed where the domains are declared.
    """
    by_hierarchy = is_generalisable(table)
    if by_hierarchy:
        yield from _mixed_pipelines(table)
    for cls in parts("method").values():
        assert issubclass(cls, Method)
        # Noise and generalisation are not mixed: no one measure sees the loss of both.
        explored = explored_values(cls)
        if not explored or ("hierarchy" in cls.suits) != by_hierarchy:
            continue
        if not by_hierarchy and (
            not columns_for(table, cls) or (issubclass(cls, Formal) and not has_declared_domains(table))
        ):
            continue
        for values in itertools.product(*explored.values()):
            method = _with_columns(table, {"use": cls.name, **dict(zip(explored, values, strict=True))})
            if method is not None:
                yield Candidate((method,))


def _mixed_pipelines(table: Table) -> Iterator[Candidate]:
    """Numbers microaggregated to values that occur, then everything generalised: less is lost in the numbers."""
    numbers = [name for name in table.schema.quasi if str(table.schema[name].kind) == "numeric"]
    if not numbers or len(numbers) == len(table.schema.quasi):
        return
    for k in PIPELINE_K:
        grouped = {"use": "microaggregate", "columns": numbers, "k": k, "aggregate": "medoid"}
        coarser = {"use": "generalise", "require": (f"k-anonymity(k={k})",), "suppress": PIPELINE_SUPPRESS}
        yield Candidate((build("method", grouped), build("method", coarser)))


def _expand(table: Table, entry: object) -> Iterator[Candidate]:
    """Yield the candidates of one entry."""
    if isinstance(entry, Mapping) and STEPS in entry:
        unknown = sorted(set(entry) - {STEPS})
        if unknown:
            raise ParameterError(f"explore: an entry with steps has no key {unknown[0]!r}; vary inside the steps.")
        entry = entry[STEPS]
    steps = list(entry) if isinstance(entry, list | tuple) else [entry]
    if not steps:
        raise ParameterError("explore: a pipeline needs at least one method.")
    for chosen in itertools.product(*(list(_variants(table, step)) for step in steps)):
        yield Candidate(tuple(chosen))


def _variants(table: Table, step: object) -> Iterator[Method]:
    if isinstance(step, str):
        step = grammar.part(step)
    if not isinstance(step, Mapping):
        yield build("method", step)
        return
    ranges = step.get(VARY, {})
    if not isinstance(ranges, Mapping) or not all(isinstance(v, list | tuple) and v for v in ranges.values()):
        raise ParameterError(f"explore: vary of {step.get('use')!r} must map parameters to lists of values.")
    fixed = {name: value for name, value in step.items() if name != VARY}
    twice = sorted(set(fixed) & set(ranges))
    if twice:
        raise ParameterError(f"explore: {step.get('use')!r} both sets and varies {twice[0]!r}.")
    for values in itertools.product(*ranges.values()):
        method = _with_columns(table, {**fixed, **dict(zip(ranges, values, strict=True))})
        if method is None:
            raise ParameterError(f"explore: no column of the table suits {step.get('use')!r}; name its columns.")
        yield method


def _with_columns(table: Table, spec: Mapping[str, Any]) -> Method | None:
    """Return the method with suitable columns where it needs some and names none; None where no column suits."""
    method: Method = build("method", spec)
    try:
        return method.resolve_columns(table.schema, columns_for(table, type(method)))
    except ParameterError:
        return None


def _short(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a specification in which long lists of columns are counted instead of written."""
    return {
        name: f"{len(value)} columns"
        if isinstance(value, list) and len(value) > 3 and all(isinstance(v, str) for v in value)
        else value
        for name, value in spec.items()
    }
