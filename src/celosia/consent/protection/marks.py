"""Owner of each row of a result, and the rows and cells that are blocked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from celosia.consent.rules.matches import FoundValues, Match, marked_columns, value_columns
from celosia.consent.rules.rules import Catalogue
from celosia.consent.sql.elements import ANY, Elements
from celosia.errors import DataError, SchemaError

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.consent.owners.store import Preferences


@dataclass(frozen=True)
class Marks:
    """Blocks of a result: for each active inference the rows whose owner blocks it, and the columns that fired."""

    owner: pl.Series = field(repr=False)
    rows: Mapping[str, NDArray[np.bool_]] = field(repr=False)
    columns: Mapping[str, tuple[str, ...]]
    extra: NDArray[np.int64] = field(repr=False)
    """X of each row: the largest over the active inferences that its owner blocks; 0 if none."""
    unknown: int = 0
    """Rows without an owner; they follow the default."""

    @property
    def blocked(self) -> NDArray[np.bool_]:
        """Rows whose owner blocks at least one active inference."""
        return _any([*self.rows.values()], len(self.owner))

    def cells(self, column: str) -> NDArray[np.bool_]:
        """Return the rows whose value in a column is blocked."""
        hit = [mask for inference, mask in self.rows.items() if column in self.columns.get(inference, ())]
        return _any(hit, len(self.owner))

    def owners(self, inference: str) -> int:
        """Count the owners in the result who block an inference."""
        return int(self.owner.filter(self.rows[inference]).n_unique())


def row_owners(frame: pl.DataFrame, column: str, store: Preferences, key: str | None = None) -> pl.Series:
    """Return the owner of each row; ``key="card"`` if the column holds an alias of that kind.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"carne": ["A1", "A2"]})
    >>> class Store:
    ...     def aliases(self, kind):
    ...         return {"A1": "101"}
    >>> row_owners(frame, "carne", Store(), "card").to_list()
    ['101', None]
    """
    import polars as pl

    if column not in frame.columns:
        raise SchemaError(f"the result has no owner column {column!r}. It has: {', '.join(frame.columns)}.")
    raw = frame[column]
    if raw.dtype.is_float() and not (raw.drop_nulls() % 1 != 0).any():
        raw = raw.cast(pl.Int64)
    owner = raw.cast(pl.String).str.strip_chars().alias("owner")
    if key is None:
        return owner
    owners = owners_by_key(store, key)
    pairs = pl.DataFrame(
        {"owner": list(owners), "name": list(owners.values())}, schema={"owner": pl.String, "name": pl.String}
    )
    return owner.to_frame().join(pairs, on="owner", how="left", maintain_order="left")["name"].alias("owner")


def owners_by_key(store: Preferences, key: str) -> Mapping[str, str]:
    """Return the owner of each key of a kind; raise if no owner has such a key."""
    owners = store.aliases(key)
    if not owners:
        raise DataError(f"no owner has a key of the kind {key!r}. Register them with the owners.")
    return owners


def mark(
    owner: pl.Series,
    query: Elements,
    fired: Mapping[str, tuple[Match, ...]],
    catalogue: Catalogue,
    store: Preferences,
    keys: Iterable[str] = (),
) -> Marks:
    """Mark the rows and columns of active inferences that the owner of the row blocks."""
    import polars as pl

    rows: dict[str, NDArray[np.bool_]] = {}
    columns: dict[str, tuple[str, ...]] = {}
    extra = np.zeros(len(owner), np.int64)
    default = store.default
    keys = list(keys)
    for inference, matches in fired.items():
        others = pl.DataFrame({"owner": list(store.exceptions(inference))}, schema={"owner": pl.String})
        differs = (
            owner.to_frame("owner")
            .join(others.with_columns(hit=pl.lit(True)), on="owner", how="left", maintain_order="left")["hit"]
            .fill_null(value=False)
        )
        mask = differs.to_numpy() ^ default
        rows[inference] = np.asarray(mask, np.bool_)
        columns[inference] = marked_columns(query, matches, keys)
        extra = np.where(mask, np.maximum(extra, catalogue[inference].extra), extra)
    return Marks(owner, rows, columns, extra, int(owner.null_count()))


def find_values(frame: pl.DataFrame, query: Elements, matches: Iterable[Match], catalogue: Catalogue) -> FoundValues:
    """Search the result for the values of rules on data values; only the columns that such rules need are read."""
    names = {name.casefold(): name for name in frame.columns}
    seen: dict[tuple[str, int, int], bool] = {}
    for match in matches:
        for at in match.waiting:
            value = catalogue[match.inference].rules[match.rule].values[at]
            shown = {c.casefold() for c in value_columns(query, value)}
            columns = [names[c] for c in shown if c in names]
            columns = columns or [n for low, n in names.items() if low == value.field.casefold()]
            distinct = {text for c in columns for v in frame[c].unique().drop_nulls().to_list() for text in _texts(v)}
            missed = bool(shown - names.keys() - {ANY})  # a column that the database renamed
            seen[match.inference, match.rule, at] = missed or any(value.accepts(v) for v in distinct)
    return seen


def _texts(value: object) -> tuple[str, ...]:
    """Return the spellings of a value in a rule; a Boolean has several."""
    if isinstance(value, bool):
        return ("1", "true", "True", "t") if value else ("0", "false", "False", "f")
    return (str(value),)


def _any(masks: Iterable[NDArray[np.bool_]], n: int) -> NDArray[np.bool_]:
    out = np.zeros(n, np.bool_)
    for mask in masks:
        out |= mask
    return out
