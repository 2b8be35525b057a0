"""Cross several releases about the same people: the candidate records of each person, and links between releases.

Only what an intruder knows is used: known values are matched with released cells, and the records of two releases are
compared by the columns that both have unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from celosia.errors import NotApplicable
from celosia.histogram import encode, number

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from celosia.table import Table

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

UNCHANGED = 0.9  # share of the values of an earlier release that the original must have: data are updated


@dataclass(frozen=True, eq=False)
class CrossedReleases:
    """Candidate records of each original record when releases are combined."""

    left: Ints
    """Persons (records) that are candidates in all releases; 0 when no record fits."""
    alone: Ints
    """Fewest candidates in a single release."""
    single: Bools
    """Original records × sensitive columns: whether the candidates have one value."""
    single_alone: Bools
    """Original records × sensitive columns: whether the candidates of a single release have one value."""
    fitting: Ints
    """Number of releases in which each original record fits some cells."""
    group: Ints
    """List of fitting cells of each original record."""
    lists: pl.DataFrame
    """Cells of each list, and the release of each."""
    rows: pl.DataFrame
    """Cell and mark (combination of carried values) of each record of all releases, one after the other."""

    def inside(self, records: Ints, mark: Ints) -> Bools:
        """For some original records, whether a record with this mark is a candidate in every release."""
        import polars as pl

        asked = pl.DataFrame({"asked": np.arange(len(records)), "group": self.group[records], "mark": mark})
        matched = asked.join(self.lists, on="group").join(self.rows.unique(), on=["cell", "mark"], how="semi")
        releases = np.zeros(len(records), dtype=np.int64)
        counted = matched.group_by("asked").agg(pl.col("release").n_unique())
        releases[counted["asked"].to_numpy()] = counted["release"].to_numpy()
        return np.asarray((releases > 0) & (releases == self.fitting[records]), dtype=np.bool_)


def cross_releases(
    original: Table, releases: Sequence[Table], shared: Sequence[str], carried: Sequence[str], sensitive: Sequence[str]
) -> CrossedReleases:
    """Cross releases: cells that fit the ``shared`` values, records with the same ``carried`` ones."""
    import polars as pl

    from celosia.kernels.grouping.intersect import Groups, Rows, intersect_releases
    from celosia.views.comparing.join_candidates import JoinCandidates

    cells: list[pl.DataFrame] = []
    raws, rows_of, release_of = [], [], []
    offset = 0
    for at, release in enumerate(releases):
        names = [name for name in shared if name in release.names]
        if not names:
            raise NotApplicable("one of the releases has no column that the intruder knows.")
        fitting = JoinCandidates.of(original, release, names)
        width = int(fitting.cell.max(initial=-1)) + 1
        raws.append(fitting.raw)
        rows_of.append(np.where(fitting.cell < 0, -1, fitting.cell + offset))
        release_of.append(np.full(width, at, dtype=np.int64))
        cells.append(pl.DataFrame({"raw": fitting.pairs[0], "cell": fitting.pairs[1] + offset}))
        offset += width
    group, begin, members = _groups(raws, cells)
    where = np.concatenate(rows_of)
    order = np.flatnonzero(where >= 0)[np.argsort(where[where >= 0], kind="stable")]
    row_begin = np.zeros(offset + 1, dtype=np.int64)
    np.cumsum(np.bincount(where[where >= 0], minlength=offset), out=row_begin[1:])
    mark = marks(releases, carried)
    person = _persons(original, releases)
    values = np.column_stack([_values(releases, name) for name in sensitive] or [np.empty((len(where), 0), np.int64)])
    owner = np.concatenate(release_of)
    left, alone, single, single_alone = intersect_releases(
        Groups(begin, members, owner, row_begin),
        Rows(mark[order], person[order], values[order].astype(np.int64)),
        len(releases),
        int(mark.max(initial=0)) + 1,
        int(person.max(initial=-1)) + 1,
    )
    of_list = np.repeat(np.arange(len(begin) - 1), np.diff(begin))
    several = np.zeros((len(begin) - 1, len(releases)), dtype=np.bool_)
    several[of_list, owner[members]] = True
    return CrossedReleases(
        left[group],
        alone[group],
        single[group],
        single_alone[group],
        several.sum(axis=1)[group],
        group,
        pl.DataFrame({"group": of_list, "cell": members, "release": owner[members]}),
        pl.DataFrame({"cell": where, "mark": mark}),
    )


def _groups(raws: list[Ints], cells: list[pl.DataFrame]) -> tuple[Ints, Ints, Ints]:
    """Distinct lists of fitting cells: the list of each record, and the lists one after the other."""
    import polars as pl

    key = number(raws)
    first = np.unique(key, return_index=True)[1]
    parts = [
        pl.DataFrame({"key": np.arange(len(first)), "raw": raw[first]}).join(fits, on="raw").select("key", "cell")
        for raw, fits in zip(raws, cells, strict=True)
    ]
    listed = pl.concat(parts).sort("key", "cell").group_by("key", maintain_order=True).agg("cell")
    kinds = listed.select("cell").unique(maintain_order=True).with_row_index("group")
    of_key = np.full(len(first), len(kinds), dtype=np.int64)  # the last group has the people without fitting cells
    group = listed.join(kinds, on="cell", how="left", maintain_order="left")["group"].to_numpy()
    of_key[listed["key"].to_numpy()] = group
    lengths = np.append(kinds["cell"].list.len().to_numpy(), 0).astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    members = kinds["cell"].explode(empty_as_null=False).to_numpy().astype(np.int64)
    return of_key[key], begin, members


def marks(releases: Sequence[Table], carried: Sequence[str]) -> Ints:
    """Encode the combination of the carried values of each record of all releases, one after the other."""
    total = sum(len(release) for release in releases)
    return number([_values(releases, name) + 1 for name in carried]) if carried else np.zeros(total, dtype=np.int64)


def _values(releases: Sequence[Table], name: str) -> Ints:
    """Code a column of all releases with common codes; -1 for every record of a release without it."""
    import polars as pl

    with_column = [release for release in releases if name in release.names]
    types = {release.column(name).dtype for release in with_column}
    whole = pl.concat([_comparable(release.column(name), plain=len(types) == 1) for release in with_column])
    codes = iter(np.split(encode(whole).codes, np.cumsum([len(release) for release in with_column])[:-1]))
    parts = [next(codes) if name in release.names else np.full(len(release), -1) for release in releases]
    return np.concatenate(parts).astype(np.int64)


def _comparable(column: pl.Series, *, plain: bool) -> pl.Series:
    from celosia.hierarchy import text_series

    return column if plain else text_series(column)


def _persons(original: Table, releases: Sequence[Table]) -> Ints:
    """Encode the persons of all records, separately in each release; the first by pairing with the original."""
    from celosia.views.persons import person_codes, released_persons

    numbered, offset = [], 0
    for at, release in enumerate(releases):
        own = person_codes(release) if at else released_persons(original, release)
        numbered.append(own + offset)
        offset += int(own.max(initial=-1)) + 1
    return np.concatenate(numbered)


def carried_columns(original: Table, protected: Table, earlier: Sequence[Table], shared: Sequence[str]) -> list[str]:
    """Return the columns besides the ``shared`` ones that the releases have unchanged.

    A column that a step overwrote, which certificates name, is left out. Where the steps of an earlier release are not
    known, nearly all of its values must be values of the original column.
    """
    schema = original.schema
    hidden = {*schema.identifiers, schema.person, schema.household, *shared}
    names = [n for n in original.names if n not in hidden and all(n in t.names for t in (protected, *earlier))]
    changed = {name for table in (protected, *earlier) for name in _overwritten(table)}
    return [
        name
        for name in names
        if name not in changed and all(_known_share(original, table, name) >= UNCHANGED for table in earlier)
    ]


def _overwritten(table: Table) -> set[str]:
    """Return the columns that the steps of a table's public history overwrote; it lacks private parameters."""
    from celosia.parts import Method, find

    columns: set[str] = set()
    for entry in table.history:
        cls = find("method", entry["step"])
        assert issubclass(cls, Method)
        given = {name: value for name, value in entry["parameters"].items() if name in cls.model_fields}
        columns |= set(cls.model_construct(**given).overwrites(table.schema))
    return columns


def _known_share(original: Table, release: Table, name: str) -> float:
    columns = [table.column(name) for table in (original, release)]
    both = [_comparable(column, plain=columns[0].dtype == columns[1].dtype) for column in columns]
    unchanged = both[1].is_in(both[0].unique().implode()).fill_null(value=True)
    return float(unchanged.mean() or 0.0) if len(unchanged) else 1.0  # type: ignore[arg-type]


def surplus(
    original: Table, newer: Table, earlier: Table, shared: Sequence[str], carried: Sequence[str]
) -> tuple[NDArray[np.float64], Ints, Ints]:
    """Compare the counts of a release with an earlier one in the cells that both have.

    Return for each record of the newer one the probability that it was added, and the number of persons (records)
    added to its cell; and for each cell the number removed. A suppressed record is in no cell.
    """
    import polars as pl

    both = (newer, earlier)
    cell = marks(both, shared)
    owner = _persons(original, both)
    hidden = np.concatenate([t.counts.suppressed_mask if t.schema.quasi else np.zeros(len(t), np.bool_) for t in both])
    rows = pl.DataFrame(
        {"cell": cell, "mark": marks(both, carried), "person": owner, "new": np.arange(len(cell)) < len(newer)}
    )
    shown = rows.filter(~pl.Series(hidden))
    counted = shown.group_by("cell", "mark").agg(
        n=pl.col("person").filter("new").n_unique(), m=pl.col("person").filter(~pl.col("new")).n_unique()
    )
    more = pl.col("n").cast(pl.Int64) - pl.col("m").cast(pl.Int64)
    counted = counted.with_columns(more=more.clip(lower_bound=0), less=(-more).clip(lower_bound=0)).with_columns(
        added=pl.col("more").sum().over("cell"), shared=(pl.col("m").sum().over("cell") > 0)
    )
    own = rows.head(len(newer)).join(counted, on=["cell", "mark"], how="left", maintain_order="left")
    shared_cell = own["shared"].fill_null(value=False).to_numpy() & ~hidden[: len(newer)]
    chance = np.where(shared_cell, (own["more"] / own["n"]).fill_null(0.0).fill_nan(0.0).to_numpy(), 0.0)
    removed = counted.group_by("cell").agg(pl.col("less").sum(), pl.col("n").sum()).filter(pl.col("n") > 0)
    return chance, np.where(shared_cell, own["added"].fill_null(0).to_numpy(), 0), removed["less"].to_numpy()


def linked_rows(releases: Sequence[Table], carried: Sequence[str]) -> Ints:
    """Link each record of the first release to every other release, by unique carried values; -1 for no link."""
    import polars as pl

    places = np.split(marks(releases, carried), np.cumsum([len(release) for release in releases])[:-1])
    frames = [pl.DataFrame({"mark": mark}).with_row_index("row") for mark in places]
    once = [frame.filter(pl.col("mark").is_unique()) for frame in frames[1:]]
    unique = frames[0]["mark"].is_unique().to_numpy()
    out = np.full((len(frames[0]), len(releases) - 1), -1, dtype=np.int64)
    for j, other in enumerate(once):
        rows = frames[0].join(other, on="mark", how="left", maintain_order="left")["row_right"].fill_null(-1)
        out[:, j] = np.where(unique, rows.cast(pl.Int64).to_numpy(), -1)
    return out
