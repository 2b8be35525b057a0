"""Read the written file as plain rows: all of them, or those of a sample of the classes where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.checker.rows import STAR, Plain, Row
from celosia.data.io.released import scan_released

if TYPE_CHECKING:
    import polars as pl

WHOLE = 100_000
"""Most rows of a file that is read whole; of a longer one a sample of the classes is read."""
SAMPLED = 20_000
"""Approximate rows of such a sample."""
PERSON = "__person__"


@dataclass(frozen=True)
class OwnerFacts:
    """Facts that the publisher knows and the file does not show."""

    persons: Sequence[int | None] | None = None
    """Person of each row as a number, in the order of the file."""
    inputs: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """For columns that no step changed: each value of the input table (``value``) and its persons, those without
    an id as one (``count``) or one for each row (``each``), with all persons of the table so counted (``persons``,
    ``persons_each``)."""
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Hierarchies: the text of each value and its labels, up to the root."""
    unchanged: frozenset[str] = frozenset()
    """Columns that no step changed."""
    populations: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """People of a population, by the part that uses them."""


@dataclass(frozen=True)
class ReleasedRows:
    """Size of a written file, and the rows of it that are checked."""

    rows: int
    columns: tuple[str, ...]
    suppressed: int
    plain: Plain
    sampled: bool


def read_file(path: Path, roles: Mapping[str, Any], facts: OwnerFacts, *, type: str, seed: int = 0) -> ReleasedRows:  # noqa: A002
    """Read a file under the roles that its certificate states; ``seed`` chooses the classes where it is long."""
    import polars as pl

    frame = scan_released(path, type=type).frame.lazy()
    columns = tuple(frame.collect_schema())
    quasi = [name for name in roles.get("quasi", ()) if name in columns]
    person = roles.get("person") if roles.get("person") in columns else None
    stars = pl.all_horizontal(pl.col(name).cast(pl.String).eq_missing(pl.lit(STAR)) for name in quasi) & bool(quasi)
    counted = frame.select(rows=pl.len(), suppressed=stars.sum()).collect(engine="streaming")
    rows, suppressed = counted.row(0)
    if person is None and facts.persons is not None and len(facts.persons) == rows:
        person = PERSON
        frame = frame.with_columns(pl.Series(PERSON, facts.persons, dtype=pl.Int64))
    sampled = rows > WHOLE
    people = _persons(frame, person, rows) if sampled else None
    if sampled:
        chosen = pl.struct(quasi).hash(seed) % -(-rows // SAMPLED) == 0
        # few suppressed rows are the class that is most at risk: never left out by chance
        frame = frame.filter(chosen | stars if suppressed <= SAMPLED else chosen)
    needed = [*quasi, *(n for n in roles.get("sensitive", ()) if n in columns), *([person] if person else [])]
    checked = frame.select(list(dict.fromkeys(needed))).collect(engine="streaming")
    hidden = checked.select(stars).to_series().arg_true().to_list() if quasi and suppressed < rows else []
    plain = Plain(
        rows=tuple(checked.to_dicts()),
        quasi=tuple(quasi),
        sensitive=tuple(n for n in roles.get("sensitive", ()) if n in columns),
        person=person,
        missing={name: how for name, how in roles.get("missing", {}).items() if name in quasi},
        suppressed=frozenset(hidden),
        people=people,
        **_distributions(checked, facts),
    )
    return ReleasedRows(rows, columns, suppressed, plain, sampled)


def _persons(frame: pl.LazyFrame, person: str | None, rows: int) -> int:
    import polars as pl

    return rows if person is None else int(frame.select(pl.col(person).n_unique()).collect(engine="streaming").item())


def _distributions(checked: pl.DataFrame, facts: OwnerFacts) -> dict[str, Any]:
    """Distributions, orders and hierarchies of input columns, with values as the file writes them.

    Columns whose values cannot be matched are left out.
    """
    import polars as pl

    shares, each, prevalence, prevalence_each, orders, trees = {}, {}, {}, {}, {}, {}
    for name, counts in facts.inputs.items():
        if name not in checked.columns:
            continue
        dtype = checked.schema[name]
        values = counts["value"].cast(dtype, strict=False)
        released = set(checked[name].to_list()) - {None}  # a cell may be blanked where no value of the input is missing
        if values.n_unique() < len(values) or not released <= set(values.to_list()):
            continue
        shares[name], each[name] = (_shares(values, counts[how], counts[how]) for how in ("count", "each"))
        prevalence[name] = _shares(values, counts["count"], counts["persons"].top_k(1))
        prevalence_each[name] = _shares(values, counts["each"], counts["persons_each"].top_k(1))
        if name in facts.orders:
            orders[name] = tuple(pl.Series(facts.orders[name], dtype=pl.String).cast(dtype, strict=False).to_list())
        if name in facts.paths:
            texts = dict(zip(counts["value"].cast(pl.String).to_list(), values.to_list(), strict=True))
            trees[name] = tuple((str(texts.get(path[0], path[0])), *path[1:]) for path in facts.paths[name])
    trees |= {name: paths for name, paths in facts.paths.items() if name not in trees}
    before = {"shares_before": shares, "shares_each": each}
    before |= {"prevalence_before": prevalence, "prevalence_each": prevalence_each}
    return before | {"orders": orders, "trees": trees}


def _shares(values: pl.Series, counts: pl.Series, whole: pl.Series) -> dict[Any, Fraction]:
    """Return the share of each value in the sum of ``whole``."""
    total = int(whole.sum() or 1)
    return {value: Fraction(count, total) for value, count in zip(values.to_list(), counts.to_list(), strict=True)}
