"""Functions behind the commands of ``celosia consent``, over files and databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

from celosia import files
from celosia.consent.owners.block_checks import REGISTER, refuse_unknown
from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design, Rule
from celosia.consent.publication.request import Publication, Request, analyse, publish, write
from celosia.consent.publication.result import known_columns
from celosia.consent.rules.exchange import load
from celosia.consent.rules.rules import Catalogue, Inference, derive_rule
from celosia.consent.site.signin import ADMIN, issue
from celosia.data.io.durable import PATIENCE
from celosia.errors import DataError, MissingExtra, OutputError, ParameterError
from celosia.release.evidence.signature import Signer

if TYPE_CHECKING:
    import polars as pl
    from fastapi import FastAPI

    from celosia.consent.rules.association import Association
    from celosia.consent.rules.matches import Match
    from celosia.consent.sql.query_log import LogFacts
    from celosia.release.evidence.certificate import Certificate, Record
    from celosia.release.verify.verification import Check
    from celosia.release.verify.verify import Repeat

STORE = "consent.db"
WAITING = 5.0
"""Seconds that the pages wait for the lock of another program."""


class SiteSettings(TypedDict, total=False):
    """Settings of :func:`site`."""

    secure: bool
    database: str | None
    out: str | Path
    organisation: str
    contact: str


def elements_of(sql: str, dialect: str = "postgres", database: str | None = None) -> dict[str, object]:
    """Return tables, fields and constants (with their values) of a query.

    ``database`` gives the columns of the tables, which resolve ``*`` and names without a table.
    """
    from celosia.consent.sql.lineage import elements

    touched = elements(sql, dialect, known_columns(database, sql, dialect))
    return {
        "tables": sorted(touched.tables),
        "fields": sorted(f"{t}.{f}" for t, f in touched.fields),
        "constants": sorted(f"{c.table}.{c.field} = {c.literal}" for c in touched.constants),
        "outputs": {o.name: sorted(f"{t}.{f}" for t, f in o.direct | o.linked) for o in touched.outputs},
    }


def derive(
    name: str, sentence: str, queries: Sequence[str], dialect: str = "postgres", threshold: float | None = None
) -> Catalogue:
    """Return a catalogue with one inference, whose rule has the elements of the queries."""
    rule = derive_rule(queries, dialect).model_copy(update={"threshold": threshold})
    realisations = [{"sql": sql, "dialect": dialect} for sql in queries]
    inference = Inference.model_validate(
        {"id": name, "description": sentence, "rules": [rule.model_dump()], "realisations": realisations}
    )
    return Catalogue(inferences=(inference,))


def convert(source: str | Path, target: str | Path, *, overwrite: bool = False) -> Catalogue:
    """Read a catalogue (TOML or XML, also that of the thesis) and write it in the format of the target name."""
    from celosia.consent.rules.exchange import save

    catalogue, target = load(source), Path(target)
    if target.exists() and not overwrite:
        raise OutputError(f"{target.name} exists already. Give another name, or overwrite.")
    save(catalogue, target)
    return catalogue


def match_query(
    catalogue: str | Path, sql: str, dialect: str = "postgres", database: str | None = None
) -> tuple[Match, ...]:
    """Return every rule with the elements that fired; the query is not run."""
    return analyse(sql, load(catalogue), dialect, known_columns(database, sql, dialect))[1]


def request(
    database: str,
    sql: str,
    *,
    catalogue: str | Path,
    store: str | Path = STORE,
    owner: str,
    quasi: Sequence[str],
    k: int,
    rule: str | None = None,
    tree: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    dialect: str | None = None,
    key: str | None = None,
    camouflage: float = 0.0,
    lift: float = 0.1,
    advantage: float = 0.1,
    external: float = 0.1,
    strengthen: Sequence[str] = (),
    acknowledge: Mapping[str, str] | None = None,
    out: str | Path = "publication",
    overwrite: bool = False,
    sign: str | Path | None = None,
    seed: int | None = None,
    measure: bool = True,
    progress: Callable[[str, float], None] | None = None,
) -> tuple[Publication, Mapping[str, Path]]:
    """Carry out a request to publish and write the release: data, certificate, private record, reports."""
    chosen_rule: Rule = rule or ("coarser" if tree else "inference")  # type: ignore[assignment]  # checked by Design
    promise = {"lift": lift, "advantage": advantage}
    design = Design(
        k=k, rule=chosen_rule, tree=tuple(tree), camouflage=camouflage, strengthen=tuple(strengthen), **promise
    )
    details = Request(
        sql=sql,
        owner=owner,
        design=design,
        quasi=tuple(quasi),
        identifiers=tuple(identifiers),
        sensitive=tuple(sensitive),
        dialect=dialect,
        key=key,
        external=external,
        acknowledge=acknowledge or {},
        measure=measure,
    )
    signer = None if sign is None else Signer.load(sign)
    with open_store(store) as choices:
        publication = publish(details, database, load(catalogue), choices, seed=seed, progress=progress)
    return publication, write(publication, out, overwrite=overwrite, signer=signer)


def repeat_request(database: str, catalogue: str | Path, store: str | Path = STORE) -> Repeat:
    """Return the function with which ``celosia verify`` repeats a publication."""
    from celosia.consent.publication.replay import repetition

    with open_store(store, reading=True):  # raises now if there is no store
        inferences = load(catalogue)

    def repeat(stated: Certificate, private: Record) -> list[Check]:
        with open_store(store, reading=True) as choices:
            return repetition(database, inferences, choices)(stated, private)

    return repeat


def init(store: str | Path = STORE) -> None:
    """Create an empty store of choices; raise if it exists."""
    Preferences.create(store).close()


def register(source: str | Path, store: str | Path = STORE) -> int:
    """Register owners from a file with the column owner; every further column is a kind of alias.

    Empty cells are skipped, and other aliases stay. Return the number of new owners.
    """
    import polars as pl

    frame = _csv(source, "owners").with_columns(pl.all().str.strip_chars())
    if "owner" not in frame.columns:
        raise DataError(f"owners need the column owner: it is none of the {len(frame.columns)} in the first line.")
    if frame["owner"].null_count() or frame["owner"].is_duplicated().any():
        raise DataError("every row of owners names somebody, and nobody twice.")
    aliases: dict[str, dict[str, str]] = {}
    for kind in frame.columns:
        if kind != "owner":
            keyed = frame.drop_nulls(kind).filter(pl.col(kind) != "")
            if keyed[kind].is_duplicated().any():
                raise DataError(f"two owners have the same key in the column {kind!r}.")
            aliases[kind] = dict(zip(keyed[kind], keyed["owner"], strict=True))
    with open_store(store) as choices:
        return choices.add_owners(frame["owner"], aliases)


def load_choices(source: str | Path, catalogue: str | Path, store: str | Path = STORE) -> tuple[int, int]:
    """Store choices from a file with the columns owner, inference, block.

    Raise for an inference that is not in the catalogue. Return the numbers of choices and of new owners.
    """
    import polars as pl

    inferences, frame = load(catalogue), _csv(source, "choices")
    words = dict.fromkeys(("true", "1", "yes", "block"), True) | dict.fromkeys(("false", "0", "no", "allow"), False)
    if "block" in frame.columns:
        shown = frame["block"].str.to_lowercase()
        if not shown.is_in(list(words)).all():
            raise DataError("the column block holds true or false (also 1 and 0, yes and no, block and allow).")
        frame = frame.with_columns(block=shown.replace_strict(words, return_dtype=pl.Boolean))
    with open_store(store) as choices:
        before = choices.count()
        return choices.load(frame, inferences.ids()), choices.count() - before


def rename(old: str, new: str, catalogue: str | Path, store: str | Path = STORE) -> int:
    """Rename an inference in the stored choices to its name in the catalogue; return the number of choices."""
    with open_store(store) as choices:
        return choices.rename(old, new, load(catalogue).ids())


def _csv(source: str | Path, what: str) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.read_csv(files.regular_file(source), infer_schema=False, glob=False)
    except (OSError, pl.exceptions.PolarsError):
        raise DataError(f"{str(source)!r} cannot be read as a CSV file of {what}.") from None


def link(
    owner: str | None, store: str | Path = STORE, *, base: str = "http://127.0.0.1:8100", hours: float = 72
) -> str:
    """Create a one-time sign-in link for an owner, or for the administrator if there is no owner."""
    with open_store(store) as choices:
        if owner is not None and not choices.has(owner):
            raise DataError(f"no owner of that name is registered. Check it, or register owners ({REGISTER}).")
        return f"{base.rstrip('/')}/in/{issue(choices, ADMIN if owner is None else owner, hours=hours)}"


def serve(
    catalogue: str | Path,
    store: str | Path = STORE,
    *,
    host: str = "127.0.0.1",
    port: int = 8100,
    announce: Callable[[str], None] = lambda _: None,
    **settings: Unpack[SiteSettings],
) -> None:
    """Serve the pages of owners and publisher until interrupted; ``announce`` receives their address.

    ``settings`` are those of :func:`site`.
    """
    from celosia.web import sockets as serving

    with closing(Preferences(store, patience=WAITING)) as choices:
        serving.serve(site(catalogue, choices, **settings), host, port, announce)


def site(
    catalogue: str | Path,
    choices: Preferences,
    *,
    secure: bool = False,
    database: str | None = None,
    out: str | Path = "publications",
    organisation: str = "",
    contact: str = "",
) -> FastAPI:
    """Return the pages of owners and publisher as an application, for a server.

    Every page shows ``organisation`` and ``contact``.
    """
    try:
        from celosia.consent.site.pages import About
        from celosia.consent.site.web import create
    except ImportError:
        raise MissingExtra.of("the consent pages", "web") from None
    about, inferences = About(organisation.strip(), contact.strip()), load(catalogue)
    refuse_unknown(choices, inferences)
    return create(inferences, choices, secure=secure, path=catalogue, database=database, out=out, about=about)


def record(owner: str, store: str | Path = STORE, *, forget: bool = False) -> tuple[dict[str, object], bool]:
    """Return all data stored about an owner, deleted afterwards with ``forget``.

    The second value is False if deleted data are still in the log (see :meth:`Preferences.forget`).
    """
    with open_store(store, reading=not forget) as choices:
        stored = choices.export(owner)
        return stored, not forget or choices.forget(owner, by="publisher")


def set_default(meaning: str, store: str | Path = STORE) -> None:
    """Set the meaning of an unanswered question: ``allow`` or ``block``."""
    if meaning not in ("allow", "block"):
        raise ParameterError(f"the default is 'allow' or 'block', got {meaning!r}.")
    with open_store(store) as choices:
        choices.set_default(block=meaning == "block")


def log_statistics(log: str | Path, dialect: str = "postgres") -> LogFacts:
    """Count the tables and fields in a log of queries."""
    from celosia.consent.sql.query_log import log_facts, split_log

    try:
        text = files.text(log)
    except (OSError, UnicodeDecodeError):
        raise DataError(f"cannot read the log {str(log)!r}.") from None
    return log_facts(split_log(text), dialect)


def suggest(source: str, query: str | None = None, *, least: float = 0.3, most: int = 30) -> list[Association]:
    """Return the columns that predict others, where inferences may be possible."""
    from celosia.consent.rules.association import associations
    from celosia.table import read

    return [a for a in associations(read(source, query=query).polars()) if a.strength >= least][:most]


@contextmanager
def open_store(store: str | Path, *, reading: bool = False) -> Iterator[Preferences]:
    """Open a store, and close it afterwards."""
    with closing(Preferences(store, reading=reading, patience=PATIENCE)) as choices:
        yield choices
