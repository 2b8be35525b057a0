"""``celosia consent``: the choices of data owners, their links and their pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json, expand_options
from celosia.cli.bases.show import announcer, print_text
from celosia.cli.consent.application import Inferences, Store, consent_app, print_outcome, show


@consent_app.command()
def init(store: Store = "consent.db", json: Json = False) -> None:
    """Create an empty store of choices; no other command creates one."""
    from celosia.consent.commands import init as make
    from celosia.data.io.database import without_password

    make(store)
    print_outcome(f"created the store of choices {without_password(store)}", {"store": without_password(store)}, json)


@consent_app.command()
def owners(
    source: Annotated[Path, typer.Argument(help="CSV with the column owner; every further column is a kind of key.")],
    store: Store = "consent.db",
    json: Json = False,
) -> None:
    """Register owners and their aliases from a CSV file. Owners registered earlier are kept."""
    from celosia.consent.commands import register

    new = register(source, store)
    print_outcome(f"{new} owners registered", {"owners_registered": new}, json)


@consent_app.command()
def load(
    source: Annotated[Path, typer.Argument(help="CSV with the columns owner, inference, block.")],
    catalogue: Inferences,
    store: Store = "consent.db",
    json: Json = False,
) -> None:
    """Store choices from a file; an inference that is not in the catalogue is refused."""
    from celosia.consent.commands import load_choices

    choices, new = load_choices(source, catalogue, store)
    print_outcome(
        f"{choices} choices stored, {new} owners are new", {"choices_stored": choices, "new_owners": new}, json
    )


@consent_app.command()
def rename(
    old: Annotated[str, typer.Argument(help="The name under which choices are stored.")],
    new: Annotated[str, typer.Argument(help="The name of the inference in the catalogue.")],
    catalogue: Inferences,
    store: Store = "consent.db",
    json: Json = False,
) -> None:
    """Rename an inference in the stored choices; no block is lost."""
    from celosia.consent.commands import rename as run

    renamed = run(old, new, catalogue, store)
    print_outcome(f"{renamed} choices renamed", {"choices_renamed": renamed}, json)


@consent_app.command()
def link(
    owner: Annotated[str | None, typer.Argument(help="The owner; without one, a link for the administrator.")] = None,
    store: Store = "consent.db",
    base: Annotated[str, typer.Option(help="Address of the consent pages.")] = "http://127.0.0.1:8100",
    hours: Annotated[float, typer.Option(help="How long the link is valid.")] = 72.0,
    json: Json = False,
) -> None:
    """Create a one-time sign-in link; it is shown once."""
    from celosia.consent.commands import link as run

    address = run(owner, store, base=base, hours=hours)
    print_outcome(address, {"link": address, "hours": hours}, json)


@dataclass(frozen=True, kw_only=True)
class ServeOptions:
    """Options of the consent site."""

    catalogue: Inferences
    store: Store = "consent.db"
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8100
    secure: Annotated[bool, typer.Option(help="Cookies for HTTPS only: set it behind a TLS proxy.")] = False
    database: Annotated[str | None, typer.Option(help="URL of the database that answers requests.")] = None
    out: Annotated[Path, typer.Option(help="Directory below which releases are written.")] = Path("publications")
    organisation: Annotated[str, typer.Option(help="Organisation that keeps the choices, shown on every page.")] = ""
    contact: Annotated[str, typer.Option(help="Contact for owners: a mail or web address, or a telephone number.")] = ""


@consent_app.command()
@expand_options
def serve(options: ServeOptions) -> None:
    """Serve the pages of data owners and of the publisher."""
    from celosia.consent.commands import serve as run

    run(announce=announcer("the consent pages are"), **vars(options))


@consent_app.command()
def record(
    owner: Annotated[str, typer.Argument(help="The owner.")],
    store: Store = "consent.db",
    forget: Annotated[bool, typer.Option(help="Delete the record after showing it.")] = False,
) -> None:
    """Show everything that is stored about an owner, or delete it."""
    from celosia.consent.commands import record as run

    stored, gone = run(owner, store, forget=forget)
    show(stored, json=True)
    if not gone:
        print_text(
            "Deleted, but another program is reading: the log still has the record until the next write.", error=True
        )


@consent_app.command()
def default(
    meaning: Annotated[str, typer.Argument(help="allow or block.")],
    store: Store = "consent.db",
    json: Json = False,
) -> None:
    """State what an unanswered question means."""
    from celosia.consent.commands import set_default

    set_default(meaning, store)
    print_outcome(f"unanswered means {meaning}", {"unanswered_means": meaning}, json)
