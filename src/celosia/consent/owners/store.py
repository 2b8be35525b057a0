"""Choices of data subjects: one block or permission per owner and inference, with its history.

An *owner* is a data subject. SQLite by default (a file with mode 0600), PostgreSQL by URL. Only choices are stored,
never a reason; an owner who has not answered has the default that the publisher states and shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from celosia.consent.owners.block_checks import refuse_uncatalogued
from celosia.consent.owners.tables import STORE, tables
from celosia.data.io.durable import PATIENCE, truncate_log
from celosia.errors import DataError, UnknownName

if TYPE_CHECKING:
    import polars as pl
    from sqlalchemy import Connection, Engine, Table

BATCH = 20_000
T = TypeVar("T")


@dataclass(frozen=True)
class Choice:
    """Choice of an owner for an inference; ``at`` is empty if the default applies."""

    inference: str
    block: bool
    at: str = ""


class Preferences:
    """Durable choices of data subjects.

    ``default`` states whether an unanswered question means a block. It is stored with the choices and shown to owners;
    its changes are in the audit trail. :meth:`create` makes a store; opening a missing one raises, since an empty one
    has no blocks. A transaction waits ``patience`` seconds for the lock of another program.

    >>> import tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> store = Preferences.create(Path(place.name) / "choices.db")
    >>> store.choose("B1234", {"residence": True}, ["residence"])
    >>> store.blocking_owners(["residence", "timetable"])
    {'residence': ['B1234'], 'timetable': []}
    >>> store.close()
    """

    _erasure_pending = False
    """Whether a deleted owner is still in the write-ahead log."""

    def __init__(self, where: str | Path, *, reading: bool = False, patience: float = PATIENCE) -> None:
        self._engine = STORE.open(where, reading=reading, patience=patience)

    @classmethod
    def create(cls, where: str | Path) -> Preferences:
        """Create an empty store and open it; raise if it exists."""
        STORE.create(where)
        return cls(where)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    @property
    def default(self) -> bool:
        """Whether an owner who has not answered counts as blocking."""
        return self._read_setting("default") == "block"

    def set_default(self, *, block: bool, by: str = "publisher") -> None:
        """Set whether an unanswered question means a block."""
        t = tables().settings
        with self.transaction() as connection:
            connection.execute(t.delete().where(t.c.name == "default"))
            connection.execute(t.insert(), {"name": "default", "value": "block" if block else "allow"})
            _note(connection, "default", by, "block" if block else "allow")

    # Owners.

    def add_owners(self, owners: Iterable[str], aliases: Mapping[str, Mapping[str, str]] | None = None) -> int:
        """Register owners and their aliases (``{"card": {"A7": "101230456"}}``); return the number of new owners.

        Known owners stay; an alias replaces the previous one of its kind.
        """
        t = tables()
        new = list(dict.fromkeys(_owner_key(o) for o in owners))
        with self.transaction() as connection:
            registered = set(_column_values(connection, t.owners, "owner"))
            fresh = [{"owner": o, "since": now()} for o in new if o not in registered]
            for part in _batches(fresh):
                connection.execute(t.owners.insert(), part)
            for kind, pairs in (aliases or {}).items():
                rows = [{"kind": kind.casefold(), "alias": str(a), "owner": _owner_key(o)} for a, o in pairs.items()]
                for part in _batches(rows, 500):  # owners without a row here keep their alias
                    for column in (t.aliases.c.alias, t.aliases.c.owner):
                        mine = (t.aliases.c.kind == kind.casefold()) & column.in_([row[column.name] for row in part])
                        connection.execute(t.aliases.delete().where(mine))
                for part in _batches(rows):
                    connection.execute(t.aliases.insert(), part)
        return len(fresh)

    def has(self, owner: str) -> bool:
        """Return whether an owner is registered."""
        t = tables().owners
        with self._engine.connect() as connection:
            return connection.execute(t.select().where(t.c.owner == owner)).first() is not None

    def count(self) -> int:
        """Return the number of registered owners."""
        import sqlalchemy as sa

        with self._engine.connect() as connection:
            return int(connection.execute(sa.select(sa.func.count()).select_from(tables().owners)).scalar_one())

    def owners(self) -> set[str]:
        """Return all registered owners."""
        with self._engine.connect() as connection:
            return set(_column_values(connection, tables().owners, "owner"))

    def aliases(self, kind: str) -> dict[str, str]:
        """Return the owner of each alias of a kind."""
        t = tables().aliases
        with self._engine.connect() as connection:
            return {r.alias: r.owner for r in connection.execute(t.select().where(t.c.kind == kind.casefold()))}

    # Choices.

    def choose(self, owner: str, choices: Mapping[str, bool], inferences: Iterable[str], *, by: str = "owner") -> None:
        """Store the choices of an owner in one transaction; an unchanged choice is not recorded again.

        ``inferences`` are those of the catalogue (``catalogue.ids()``); any other raises, as in :meth:`load`.
        """
        import polars as pl

        refuse_uncatalogued(pl.DataFrame({"inference": list(choices)}, schema={"inference": pl.String}), inferences)
        t = tables()
        owner = _owner_key(owner)
        with self.transaction() as connection:
            if connection.execute(t.owners.select().where(t.owners.c.owner == owner)).first() is None:
                connection.execute(t.owners.insert(), {"owner": owner, "since": now()})
            stored = connection.execute(t.choices.select().where(t.choices.c.owner == owner))
            earlier = {row.inference: bool(row.block) for row in stored}
            at = now()
            for inference, block in choices.items():
                if earlier.get(inference) == block:
                    continue
                row = {"owner": owner, "inference": inference, "block": bool(block), "at": at}
                mine = (t.choices.c.owner == owner) & (t.choices.c.inference == inference)
                connection.execute(t.choices.delete().where(mine))
                connection.execute(t.choices.insert(), row)
                connection.execute(t.changes.insert(), {**row, "by": by})

    def load(self, frame: pl.DataFrame, inferences: Iterable[str], *, by: str = "import") -> int:
        """Store many choices at once, from the columns ``owner``, ``inference``, ``block``; return their number.

        ``inferences`` are those of the catalogue (``catalogue.ids()``); any other raises, since a block under a
        misspelt name would never be honoured.
        """
        import polars as pl

        wanted = ["owner", "inference", "block"]
        if not set(wanted) <= set(frame.columns):
            raise DataError("choices need the columns owner, inference and block: not all are in the first line.")
        if len(frame.columns) > len(wanted):
            more = len(frame.columns) - len(wanted)
            raise DataError(f"choices have the columns owner, inference and block; {more} more would be ignored.")
        chosen = frame.select(pl.col("owner", "inference").cast(pl.String), pl.col("block").cast(pl.Boolean))
        if chosen.null_count().sum_horizontal()[0]:
            raise DataError("choices must not have missing values.")
        chosen = chosen.with_columns(pl.col("owner").str.strip_chars())
        for owner in chosen["owner"].unique():
            _owner_key(owner)
        refuse_uncatalogued(chosen, inferences)
        chosen = chosen.unique(maintain_order=True)
        twice = len(chosen) - chosen.select("owner", "inference").n_unique()
        if twice:
            raise DataError(
                f"{twice} choices contradict another one of the same owner and inference: keep one of each."
            )
        t = tables()
        with self.transaction() as connection:
            at = now()
            registered = set(_column_values(connection, t.owners, "owner"))
            for part in _batches([{"owner": o, "since": at} for o in chosen["owner"].unique() if o not in registered]):
                connection.execute(t.owners.insert(), part)
            for (inference,), group in chosen.group_by("inference"):
                for batch in _batches(group["owner"].to_list(), 500):
                    stored = (t.choices.c.inference == inference) & t.choices.c.owner.in_(batch)
                    connection.execute(t.choices.delete().where(stored))
            for part in _batches(chosen.with_columns(at=pl.lit(at)).to_dicts()):
                connection.execute(t.choices.insert(), part)
                connection.execute(t.changes.insert(), [{**row, "by": by} for row in part])
            _note(connection, "import", by, f"{len(chosen)} choices")
        return len(chosen)

    def rename(self, old: str, new: str, inferences: Iterable[str], *, by: str = "publisher") -> int:
        """Rename an inference in the stored choices to one of the catalogue; return the number of choices.

        If an owner has chosen under both names, a block under either stays a block.
        """
        catalogued = list(inferences)
        if new not in catalogued:
            raise UnknownName.of("inference", new, catalogued)
        if old in catalogued:
            raise DataError(f"the catalogue still has the inference {old!r}: its choices keep that name.")
        t = tables()
        with self.transaction() as connection:
            rows = connection.execute(t.choices.select().where(t.choices.c.inference.in_([old, new]))).all()
            moved = [row.owner for row in rows if row.inference == old]
            blocks = {row.owner: False for row in rows if row.owner in set(moved)}
            for row in rows:
                if row.owner in blocks:
                    blocks[row.owner] |= bool(row.block)
            connection.execute(t.choices.delete().where(t.choices.c.inference == old))
            for batch in _batches(moved, 500):
                stored = (t.choices.c.inference == new) & t.choices.c.owner.in_(batch)
                connection.execute(t.choices.delete().where(stored))
            at = now()
            for part in _batches([{"owner": o, "inference": new, "block": b, "at": at} for o, b in blocks.items()]):
                connection.execute(t.choices.insert(), part)
                connection.execute(t.changes.insert(), [{**row, "by": by} for row in part])
            _note(connection, "rename", by, f"{old} is {new}: {len(moved)} choices")
        return len(moved)

    def choices(self, owner: str, inferences: Sequence[str]) -> list[Choice]:
        """Return the choices that apply to an owner, with the default for unanswered inferences."""
        t = tables().choices
        with self._engine.connect() as connection:
            chosen = {r.inference: r for r in connection.execute(t.select().where(t.c.owner == owner))}
        default = self.default
        return [
            Choice(i, bool(chosen[i].block), chosen[i].at) if i in chosen else Choice(i, default) for i in inferences
        ]

    def history(self, owner: str) -> list[dict[str, Any]]:
        """Return every change of the choices of an owner, oldest first."""
        t = tables().changes
        with self._engine.connect() as connection:
            rows = connection.execute(t.select().where(t.c.owner == owner).order_by(t.c.number))
            return [{"inference": r.inference, "block": bool(r.block), "at": r.at, "by": r.by} for r in rows]

    def blocking_owners(self, inferences: Sequence[str]) -> dict[str, list[str]]:
        """Return the owners with a stored block of each inference; the default is in :meth:`exceptions`."""
        t = tables()
        with self._engine.connect() as connection:
            out: dict[str, list[str]] = {}
            for inference in inferences:
                query = t.choices.select().where(t.choices.c.inference == inference, t.choices.c.block.is_(True))
                out[inference] = sorted(r.owner for r in connection.execute(query))
            return out

    def blocked_inferences(self) -> list[str]:
        """Return the names of all inferences with a stored block."""
        import sqlalchemy as sa

        t = tables().choices
        with self._engine.connect() as connection:
            query = sa.select(t.c.inference).where(t.c.block.is_(True)).distinct().order_by(t.c.inference)
            return list(connection.execute(query).scalars())

    def exceptions(self, inference: str) -> set[str]:
        """Return the owners whose choice differs from the default."""
        t, default = tables().choices, self.default
        with self._engine.connect() as connection:
            query = t.select().where(t.c.inference == inference, t.c.block.is_(not default))
            return {r.owner for r in connection.execute(query)}

    def counts(self, inferences: Sequence[str]) -> dict[str, dict[str, int]]:
        """Count the owners who block, allow, and have not answered each inference."""
        import sqlalchemy as sa

        t, total = tables().choices, self.count()
        with self._engine.connect() as connection:
            query = sa.select(t.c.inference, t.c.block, sa.func.count()).group_by(t.c.inference, t.c.block)
            answers = {(i, bool(b)): int(n) for i, b, n in connection.execute(query)}
        out = {}
        for inference in inferences:
            block, allow = answers.get((inference, True), 0), answers.get((inference, False), 0)
            out[inference] = {"block": block, "allow": allow, "unanswered": total - block - allow}
        return out

    # An owner's own record.

    def export(self, owner: str) -> dict[str, Any]:
        """Return all data stored about an owner."""
        t = tables()
        with self._engine.connect() as connection:
            since = connection.execute(t.owners.select().where(t.owners.c.owner == owner)).first()
            if since is None:
                raise DataError("no owner of that name is registered.")
            keys = connection.execute(t.aliases.select().where(t.aliases.c.owner == owner))
            chosen = connection.execute(t.choices.select().where(t.choices.c.owner == owner))
            links = connection.execute(t.links.select().where(t.links.c.owner == owner))
            answered = connection.execute(t.answered.select().where(t.answered.c.owner == owner)).first()
            return {
                "owner": owner,
                "since": since.since,
                "keys": {row.kind: row.alias for row in keys},
                "default": "block" if self.default else "allow",
                "choices": {r.inference: {"block": bool(r.block), "at": r.at} for r in chosen},
                "history": self.history(owner),
                "sign_in_links": [{"until": r.until, "used": r.used} for r in links],
                "questionnaire": "not answered" if answered is None else "answered",
            }

    def forget(self, owner: str, *, by: str = "owner") -> bool:
        """Delete all data about an owner; the audit trail records a deletion without the name.

        Return whether the data are erased from the write-ahead log of SQLite as well. If another program was reading,
        they are erased by the next write, or when the last program closes the store.
        """
        t = tables()
        with self.transaction() as connection:
            for table in (t.choices, t.changes, t.aliases, t.links, t.answered, t.owners):
                connection.execute(table.delete().where(table.c.owner == owner))
            _note(connection, "deletion", by, "")
        self._erasure_pending = not truncate_log(self._engine)
        return not self._erasure_pending

    # The audit trail.

    def note(self, what: str, who: str, detail: str = "") -> None:
        """Add an entry to the audit trail."""
        with self.transaction() as connection:
            _note(connection, what, who, detail)

    def trail(self, limit: int = 200) -> list[dict[str, str]]:
        """Return the newest entries of the audit trail."""
        t = tables().trail
        with self._engine.connect() as connection:
            rows = connection.execute(t.select().order_by(t.c.number.desc()).limit(limit))
            return [{"at": r.at, "what": r.what, "who": r.who, "detail": r.detail} for r in rows]

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Open a transaction that holds the write lock."""
        with self._engine.execution_options(writing=True).begin() as connection:
            yield connection
        if self._erasure_pending:
            self._erasure_pending = not truncate_log(self._engine, waiting=False)

    @property
    def engine(self) -> Engine:
        """Database engine, for modules with tables of their own in the store."""
        return self._engine

    def _read_setting(self, name: str) -> str:
        t = tables().settings
        with self._engine.connect() as connection:
            row = connection.execute(t.select().where(t.c.name == name)).first()
        return "" if row is None else str(row.value)


def _note(connection: Connection, what: str, who: str, detail: str) -> None:
    row = {"at": now(), "what": what, "who": who, "detail": detail}
    connection.execute(tables().trail.insert(), row)


def _owner_key(name: object) -> str:
    text = str(name).strip()
    if not text or len(text) > 200 or not text.isprintable():
        raise DataError("an owner's key has 1 to 200 printable characters.")
    return text


def now() -> str:
    """Return the current time in UTC, to the microsecond."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _column_values(connection: Connection, table: Table, column: str) -> list[str]:
    import sqlalchemy as sa

    return list(connection.execute(sa.select(table.c[column])).scalars())


def _batches(rows: Sequence[T], size: int = BATCH) -> Iterator[list[T]]:
    for at in range(0, len(rows), size):
        yield list(rows[at : at + size])
