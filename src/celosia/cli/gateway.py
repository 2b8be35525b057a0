"""``celosia gateway``: queries to a database over HTTP, with their keys and ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json, end_with, expand_options
from celosia.cli.bases.show import announcer, print_text

Dataset = Annotated[Path, typer.Option(help="TOML file that declares the data set: tables, bounds, person, budget.")]
LedgerPlace = Annotated[
    str | None, typer.Option(help="The ledger: a file or a database URL; next to the data set by default.")
]
KeysPlace = Annotated[Path | None, typer.Option(help="File of the analysts' keys; next to the data set by default.")]


def to_number(given: str | float) -> float:
    """Parse the number of an option, with a decimal comma too; return a default as it is."""
    from celosia.errors import ParameterError
    from celosia.show.parse import parse_number

    try:
        return parse_number(str(given), "the value")
    except ParameterError as problem:
        raise typer.BadParameter(str(problem)) from None


gateway_app = typer.Typer(help="The differential-privacy gateway over a database: serve it, its keys, its ledger.")


@gateway_app.command()
def init(dataset: Dataset = Path("dataset.toml"), ledger: LedgerPlace = None, keys: KeysPlace = None) -> None:
    """Create the ledger with the lifetime total of a data set, and the file of keys; existing ones stay."""
    from celosia.gateway.commands import init as make

    created = make(dataset, ledger=ledger, keys=keys)
    print_text("created: " + ", ".join(created) if created else "nothing to create: ledger and keys exist")


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of the gateway server."""

    dataset: Dataset = Path("dataset.toml")
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8350
    per_minute: Annotated[int, typer.Option(min=1, help="Requests that an analyst may make in a minute.")] = 120
    grid: Annotated[float, typer.Option(min=0, help="Seconds of the time grid on which answers are sent.")] = 0.05
    secure: Annotated[bool, typer.Option(help="Behind a TLS proxy: cookies over https only.")] = False
    ledger: LedgerPlace = None
    keys: KeysPlace = None


@gateway_app.command()
@expand_options
def serve(options: ServeOptions) -> None:
    """Serve queries over HTTP, with a page for people."""
    from celosia.gateway.commands import serve as run

    run(announce=announcer("the gateway is"), **vars(options))


@gateway_app.command()
def key(
    analyst: Annotated[str | None, typer.Argument(help="Analyst who gets the key.")] = None,
    dataset: Dataset = Path("dataset.toml"),
    keys: KeysPlace = None,
    remove: Annotated[
        bool, typer.Option("--remove", help="Revoke the key, also while the gateway is serving.")
    ] = False,
    admin: Annotated[bool, typer.Option("--admin", help="The administrator's key, for the page /admin.")] = False,
) -> None:
    """Create a key for an analyst (it is shown once, only its hash is stored), or revoke it."""
    from celosia.errors import InputError
    from celosia.gateway.commands import add_key, administrator_key, remove_key

    if (analyst is None) != admin:
        raise InputError("name an analyst, or give --admin for the administrator.")
    if analyst is None:
        print_text(administrator_key(dataset, keys, remove=remove) or "the administrator's key is revoked")
    elif remove:
        remove_key(dataset, analyst, keys)
        print_text(f"the key of {analyst} is revoked")
    else:
        print_text(add_key(dataset, analyst, keys))


@gateway_app.command()
def verify(
    dataset: Dataset = Path("dataset.toml"),
    anchor: Annotated[str, typer.Option(help="The head of an earlier check.")] = "",
    ledger: LedgerPlace = None,
    json: Json = False,
) -> None:
    """Check the chain and the sums of the ledger."""
    from dataclasses import asdict

    from celosia.gateway.commands import verify as check

    verification = check(dataset, ledger, anchor)
    _print(asdict(verification), json=json)
    end_with(0 if verification.holds else 3)


@gateway_app.command()
def audit(
    log: Annotated[Path, typer.Argument(help="A log of plain SQL statements.")],
    dataset: Dataset = Path("dataset.toml"),
    json: Json = False,
) -> None:
    """Find pairs of logged queries whose row sets differ by one person."""
    from dataclasses import asdict

    from celosia.gateway.commands import audit_log

    _print(asdict(audit_log(log, dataset)), json=json)


def _print(facts: Mapping[str, object], *, json: bool) -> None:
    from celosia.cli.bases.show import print_json

    if json:
        print_json(facts)
    else:
        print_text("\n".join(f"{name}: {value}" for name, value in facts.items()))
