"""What the command line does: plain functions over files and databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import files
from celosia.consent.owners.ignored import REGISTER, refuse_unknown
from celosia.consent.owners.store import Preferences
from celosia.consent.protection.protection import Design, Rule
from celosia.consent.publication.request import Publication, Request, analyse, publish, write
from celosia.consent.publication.result import known_columns
from celosia.consent.rules.exchange import load
from celosia.consent.rules.rules import Catalogue, Inference, derived
from celosia.consent.site.signin import ADMIN, issue
from celosia.data.io.durable import PATIENCE
from celosia.errors import DataError, MissingExtra, OutputError, ParameterError
from celosia.release.evidence.signature import Signer

if TYPE_CHECKING:
    import polars as pl

    from celosia.consent.sql.query_log import LogFacts
    from celosia.release.evidence.certificate import Certificate, Record
    from celosia.release.verify.verification import Check
    from celosia.release.verify.verify import Repeat

STORE = "consent.db"
WAITING = 5.0
"""Seconds that a visitor of the pages waits for the lock of another program."""


def elements_of(sql: str, dialect: str = "postgres", database: str | None = None) -> dict[str, Any]:
    """Tables, fields and constants of a query; constants by field, with their values since they are in the query.

    ``database`` tells the columns of its tables, which ``*`` and names without a table need.
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
    """A catalogue with one inference whose rule has the elements of the queries."""
    rule = derived(queries, dialect).model_copy(update={"threshold": threshold})
    realisations = [{"sql": sql, "dialect": dialect} for sql in queries]
    inference = Inference.model_validate(
        {"id": name, "description": sentence, "rules": [rule.model_dump()], "realisations": realisations}
    )
    return Catalogue(inferences=(inference,))


def convert(source: str | Path, target: str | Path, *, overwrite: bool = False) -> Catalogue:
    """Read a catalogue (TOML or XML, also the thesis's) and write it in the form that the target's name asks for."""
    from celosia.consent.rules.exchange import save

    catalogue, target = load(source), Path(target)
    if target.exists() and not overwrite:
        raise OutputError(f"{target.name} exists already. Give another name, or overwrite.")
    save(catalogue, target)
    return catalogue


def match_query(
    catalogue: str | Path, sql: str, dialect: str = "postgres", database: str | None = None
) -> list[dict[str, Any]]:
    """Every rule with what fired; nothing is run."""
    _, compared = analyse(sql, load(catalogue), dialect, known_columns(database, sql, dialect))
    return [match.data() | {"sentence": match.sentence()} for match in compared]


def request(
    database: str,
    sql: str,
    *,
    catalogue: str | Path,
    store: str | Path = STORE,
    owner: str,
    quasi: Sequence[str],
    k: int,
    rule: str = "coarser",
    tree: Sequence[str] = (),
    identifiers: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    dialect: str | None = None,
    key: str | None = None,
    camouflage: float = 0.0,
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
    chosen: Rule = rule  # type: ignore[assignment]  # checked by Design
    design = Design(k=k, rule=chosen, tree=tuple(tree), camouflage=camouflage, strengthen=tuple(strengthen))
    wanted = Request(
        sql=sql,
        owner=owner,
        design=design,
        quasi=tuple(quasi),
        identifiers=tuple(identifiers),
        sensitive=tuple(sensitive),
        dialect=dialect,
        key=key,
        acknowledge=acknowledge or {},
        measure=measure,
    )
    signer = None if sign is None else Signer.load(sign)
    with opened(store) as choices:
        publication = publish(wanted, database, load(catalogue), choices, seed=seed, progress=progress)
    return publication, write(publication, out, overwrite=overwrite, signer=signer)


def repeat_request(database: str, catalogue: str | Path, store: str | Path = STORE) -> Repeat:
    """How ``celosia verify`` makes a publication again."""
    from celosia.consent.publication.replay import repetition

    with opened(store, reading=True):  # refuse now what is no store
        inferences = load(catalogue)

    def repeat(stated: Certificate, private: Record) -> list[Check]:
        with opened(store, reading=True) as choices:
            return repetition(database, inferences, choices)(stated, private)

    return repeat


def init(store: str | Path = STORE) -> None:
    """Make an empty store of choices; one that is there already is refused."""
    Preferences.create(store).close()


def register(source: str | Path, store: str | Path = STORE) -> int:
    """Register owners from a file with the column owner; every further column is a kind of key.

    A cell without a key is left out; nobody's other keys are changed. Returns how many owners are new.
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
    with opened(store) as choices:
        return choices.add_owners(frame["owner"], aliases)


def load_choices(source: str | Path, catalogue: str | Path, store: str | Path = STORE) -> tuple[int, int]:
    """Store choices from a file with the columns owner, inference, block.

    A choice of an inference that the catalogue has not is refused. Returns how many choices, and how many new owners.
    """
    import polars as pl

    inferences, frame = load(catalogue), _csv(source, "choices")
    words = dict.fromkeys(("true", "1", "yes", "block"), True) | dict.fromkeys(("false", "0", "no", "allow"), False)
    if "block" in frame.columns:
        shown = frame["block"].str.to_lowercase()
        if not shown.is_in(list(words)).all():
            raise DataError("the column block holds true or false (also 1 and 0, yes and no, block and allow).")
        frame = frame.with_columns(block=shown.replace_strict(words, return_dtype=pl.Boolean))
    with opened(store) as choices:
        before = choices.count()
        return choices.load(frame, inferences.ids()), choices.count() - before


def rename(old: str, new: str, catalogue: str | Path, store: str | Path = STORE) -> int:
    """Give the stored choices of an inference the name that it has in the catalogue now; tells how many there were."""
    with opened(store) as choices:
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
    """A one-time sign-in link for an owner, or for the administrator when no owner is given."""
    with opened(store) as choices:
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
    **settings: Any,
) -> None:
    """Serve the pages of owners and publisher until interrupted; ``announce`` is told the address once it is had.

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
) -> Any:
    """The pages of owners and publisher as an application, for a server.

    ``organisation`` and ``contact`` say on every page who keeps the choices, and how to reach them.
    """
    try:
        from celosia.consent.site.pages import About
        from celosia.consent.site.web import create
    except ImportError:
        raise MissingExtra.of("the consent pages", "web") from None
    about, inferences = About(organisation.strip(), contact.strip()), load(catalogue)
    refuse_unknown(choices, inferences)
    return create(inferences, choices, secure=secure, path=catalogue, database=database, out=out, about=about)


def record(owner: str, store: str | Path = STORE, *, forget: bool = False) -> tuple[dict[str, Any], bool]:
    """Everything that is stored about an owner; with ``forget`` it is deleted afterwards.

    Also tells whether nothing of a deleted record is left in the log (see :meth:`Preferences.forget`).
    """
    with opened(store, reading=not forget) as choices:
        stored = choices.export(owner)
        return stored, not forget or choices.forget(owner, by="publisher")


def set_default(meaning: str, store: str | Path = STORE) -> None:
    """State what an unanswered question means: ``allow`` or ``block``."""
    if meaning not in ("allow", "block"):
        raise ParameterError(f"the default is 'allow' or 'block', got {meaning!r}.")
    with opened(store) as choices:
        choices.set_default(block=meaning == "block")


def log_statistics(log: str | Path, dialect: str = "postgres") -> LogFacts:
    """Tables and fields of a log of queries."""
    from celosia.consent.sql.query_log import log_facts, split_log

    try:
        text = files.text(log)
    except (OSError, UnicodeDecodeError):
        raise DataError(f"cannot read the log {str(log)!r}.") from None
    return log_facts(split_log(text), dialect)


def suggest(source: str, query: str | None = None, *, least: float = 0.3, most: int = 30) -> list[dict[str, Any]]:
    """Columns that tell others: where inferences may hide."""
    from celosia.consent.rules.association import associations
    from celosia.table import read

    ranked = associations(read(source, query=query).polars())
    shown = [a for a in ranked if a.strength >= least][:most]
    return [
        {"known": list(a.known), "target": a.target, "strength": a.strength, "determines": a.determines} for a in shown
    ]


@contextmanager
def opened(store: str | Path, *, reading: bool = False) -> Iterator[Preferences]:
    """The store, closed afterwards."""
    with closing(Preferences(store, reading=reading, patience=PATIENCE)) as choices:
        yield choices
