"""The written file as plain rows: all of them, or those of some classes where there are many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.checker.rows import STAR, Plain
from celosia.data.io import scan

if TYPE_CHECKING:
    import polars as pl

WHOLE = 100_000
"""Up to so many rows are looked at one by one; of a longer file those of a sample of its classes."""
SAMPLED = 20_000
"""About so many rows are looked at then."""
PERSON = "__person__"


@dataclass(frozen=True)
class OwnerFacts:
    """What the publisher knows and the file does not tell."""

    persons: Sequence[int | None] | None = None
    """A number for the person of each row, in the order of the file."""
    inputs: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """For columns that no step changed: each value of the input table (``value``) and its persons, those without
    an id as one (``count``) or one for each row (``each``)."""
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    """Hierarchies: for each value its text and its labels, up to the root."""
    unchanged: frozenset[str] = frozenset()
    """Columns that no step changed."""
    populations: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    """The people of a population, by the part that asks for them."""


@dataclass(frozen=True)
class ReleasedRows:
    """A file as it was written: its size, and the rows that are looked at."""

    rows: int
    columns: tuple[str, ...]
    suppressed: int
    plain: Plain
    sampled: bool


def read_file(path: Path, roles: Mapping[str, Any], facts: OwnerFacts, *, type: str, seed: int = 0) -> ReleasedRows:  # noqa: A002
    """Read a file under the roles that its certificate states; ``seed`` chooses the classes where it is long."""
    import polars as pl

    frame = scan(path, type=type, **({"header": True} if type == "csv" else {})).frame.lazy()
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
    looked = frame.select(list(dict.fromkeys(needed))).collect(engine="streaming")
    hidden = looked.select(stars).to_series().arg_true().to_list() if quasi and suppressed < rows else []
    plain = Plain(
        rows=tuple(looked.to_dicts()),
        quasi=tuple(quasi),
        sensitive=tuple(n for n in roles.get("sensitive", ()) if n in columns),
        person=person,
        missing={name: how for name, how in roles.get("missing", {}).items() if name in quasi},
        suppressed=frozenset(hidden),
        people=people,
        **_distributions(looked, facts),
    )
    return ReleasedRows(rows, columns, suppressed, plain, sampled)


def _persons(frame: pl.LazyFrame, person: str | None, rows: int) -> int:
    import polars as pl

    return rows if person is None else int(frame.select(pl.col(person).n_unique()).collect(engine="streaming").item())


def _distributions(looked: pl.DataFrame, facts: OwnerFacts) -> dict[str, Any]:
    """What the input had in each column, with its values as the file writes them; not where those do not meet."""
    import polars as pl

    shares, each, orders, trees = {}, {}, {}, {}
    for name, counts in facts.inputs.items():
        if name not in looked.columns:
            continue
        dtype = looked.schema[name]
        values = counts["value"].cast(dtype, strict=False)
        shown = set(looked[name].to_list()) - {None}  # a cell may be blanked where no value of the input is missing
        if values.n_unique() < len(values) or not shown <= set(values.to_list()):
            continue
        shares[name], each[name] = (_shares(values, counts[how]) for how in ("count", "each"))
        if name in facts.orders:
            orders[name] = tuple(pl.Series(facts.orders[name], dtype=pl.String).cast(dtype, strict=False).to_list())
        if name in facts.paths:
            texts = dict(zip(counts["value"].cast(pl.String).to_list(), values.to_list(), strict=True))
            trees[name] = tuple((str(texts.get(path[0], path[0])), *path[1:]) for path in facts.paths[name])
    trees |= {name: paths for name, paths in facts.paths.items() if name not in trees}
    return {"shares_before": shares, "shares_each": each, "orders": orders, "trees": trees}


def _shares(values: pl.Series, counts: pl.Series) -> dict[Any, Fraction]:
    whole = int(counts.sum())
    return {value: Fraction(count, whole) for value, count in zip(values.to_list(), counts.to_list(), strict=True)}
