"""Functions behind the commands of the gateway: init, ask, explain, serve, keys, verify and audit."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from celosia import files
from celosia.data.io.database import without_password
from celosia.errors import InputError
from celosia.gateway.answer import Answer, cell_text, cost_data
from celosia.gateway.audit import Finding, audit
from celosia.gateway.databases import check_database, open_database
from celosia.gateway.explain import Explanation
from celosia.gateway.gateway import GRID, Gateway
from celosia.gateway.ledger import Ledger, NoLedger, Verification
from celosia.gateway.ledger.tables import LEDGER
from celosia.gateway.metadata import DatasetFacts

LEDGER_FILE = "ledger.db"
KEYS_FILE = "keys.json"
WAITING = 5.0
"""Seconds that an analyst waits for the lock of another program on the ledger."""


def init(dataset: str | Path, *, ledger: str | Path | None = None, keys: str | Path | None = None) -> list[str]:
    """Create the ledger, the budget of the data set in it and the file of keys; return the names of what was created.

    What exists stays. The total binds for good, so the declaration is first checked against the data.
    """
    from celosia.gateway.keys import Keys

    facts, place, key_file = DatasetFacts.load(dataset), ledger_of(dataset, ledger), keys_of(dataset, keys)
    check_database(facts)
    created = []
    if not LEDGER.exists(place):
        LEDGER.create(place)
        created.append(f"ledger {without_password(str(place))}")
    with closing(Ledger(place)) as book:
        if facts.name not in book.datasets():
            created.append(f"data set {facts.name!r} in the ledger")
        book.add(facts.name, facts.budget, facts.neighbours)
    if not key_file.exists():
        Keys.create(key_file)
        created.append(f"file of keys {key_file}")
    return created


def query(
    sql: str,
    dataset: str | Path,
    *,
    ledger: str | Path | None = None,
    epsilon: float | None = None,
    rho: float | None = None,
    delta: float = 0.0,
    announce: int = 1,
    analyst: str = "owner",
    fresh: bool = False,
    explain: bool = False,
) -> Answer | Explanation:
    """Answer one query about the data set that a TOML file declares, or explain it without spending.

    ``ledger`` is a path or the URL of a PostgreSQL database, by default ``ledger.db`` in the folder of the declaration.
    """
    facts = DatasetFacts.load(dataset)
    book = NoLedger() if explain else Ledger(ledger_of(dataset, ledger))
    with closing(Gateway(facts, book)) as gateway:
        price = {"epsilon": epsilon, "rho": rho, "delta": delta, "announce": announce}
        if explain:
            return gateway.explain(sql, **price)  # type: ignore[arg-type]
        return gateway.ask(sql, analyst=analyst, fresh=fresh, **price)  # type: ignore[arg-type]


def serve(
    dataset: str | Path,
    *,
    ledger: str | Path | None = None,
    keys: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8350,
    per_minute: int = 120,
    grid: float = GRID,
    secure: bool = False,
    announce: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve the gateway over HTTP until it is stopped. Put a TLS proxy in front and set ``secure``.

    ``announce`` is called with the address once the server listens.
    """
    from celosia.gateway.keys import Keys
    from celosia.gateway.site.web import create
    from celosia.web import sockets as serving

    analysts = Keys(keys_of(dataset, keys))
    if len(analysts) == 0:
        raise InputError(f"no analyst has a key in {keys_of(dataset, keys)}: make one with 'celosia gateway key'.")
    book = Ledger(ledger_of(dataset, ledger), patience=WAITING)
    with closing(Gateway(DatasetFacts.load(dataset), book, grid=grid)) as gateway:
        app = create(gateway, analysts, per_minute=per_minute, secure=secure)
        serving.serve(app, host, port, announce, server_header=False)


def add_key(dataset: str | Path, analyst: str, keys: str | Path | None = None) -> str:
    """Make a key for an analyst and return it; only its hash is stored."""
    from celosia.gateway.keys import Keys

    DatasetFacts.load(dataset)
    return Keys(keys_of(dataset, keys)).add(analyst)


def remove_key(dataset: str | Path, analyst: str, keys: str | Path | None = None) -> None:
    """Remove an analyst's key; a gateway that is serving refuses it from now on and ends its sessions."""
    from celosia.gateway.keys import Keys

    DatasetFacts.load(dataset)
    Keys(keys_of(dataset, keys)).remove(analyst)


def administrator_key(dataset: str | Path, keys: str | Path | None = None, *, remove: bool = False) -> str:
    """Make the administrator's key and return it, or remove it and return the empty text."""
    from celosia.gateway.keys import Keys

    DatasetFacts.load(dataset)
    stored = Keys(keys_of(dataset, keys))
    if remove:
        stored.remove_administrator()
        return ""
    return stored.add_administrator()


def verify(dataset: str | Path, ledger: str | Path | None = None, anchor: str = "") -> Verification:
    """Check the whole ledger of a data set; ``anchor`` is the head of an earlier check."""
    facts = DatasetFacts.load(dataset)
    with closing(Ledger(ledger_of(dataset, ledger), reading=True)) as book:
        return book.verify(facts.name, anchor)


def audit_log(log: str | Path, dataset: str | Path) -> Finding:
    """Examine a log of plain SQL (one statement a line, or separated by semicolons) for differencing."""
    try:
        text = files.text(log)
    except (OSError, UnicodeDecodeError):
        raise InputError(f"cannot read the log {str(log)!r}.") from None
    statements = [part.strip() for line in text.splitlines() for part in line.split(";") if part.strip()]
    facts = DatasetFacts.load(dataset)
    with closing(open_database(facts)) as database:
        return audit(statements, facts, database)


def answer_text(answer: Answer) -> str:
    """Return an answer as text for a terminal."""
    lines = ["In brackets: 95 % interval.", ""]
    lines += ["  ".join(f"{name} = {cell_text(row[name])}" for name in answer.columns) for row in answer.rows]
    cost, left = (", ".join(f"{k} {v:.12g}" for k, v in cost_data(each).items()) for each in (answer.cost, answer.left))
    lines.append("(answered before: this cost nothing)" if answer.stored else f"(this cost {cost})")
    lines.append(f"(left: {left})")
    return "\n".join(lines)


def ledger_of(dataset: str | Path, ledger: str | Path | None) -> str | Path:
    """Return the ledger that is named, by default a file in the folder of the declaration."""
    return ledger if ledger is not None else Path(dataset).parent / LEDGER_FILE


def keys_of(dataset: str | Path, keys: str | Path | None) -> Path:
    """Return the file of keys that is named, by default one in the folder of the declaration."""
    return Path(keys) if keys is not None else Path(dataset).parent / KEYS_FILE
