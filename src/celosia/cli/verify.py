"""``celosia verify``: what a certificate claims, computed again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Engine, Json, end_with


def verify(
    certificate: Annotated[Path, typer.Argument(help="The certificate, or the directory of the release.")],
    data: Annotated[
        Path | None, typer.Argument(help="The released file, when it is not next to the certificate.")
    ] = None,
    record: Annotated[Path | None, typer.Option(help="The private record: opens the commitments.")] = None,
    original: Annotated[
        str | None, typer.Option(help="The original, a file or a database URL: the run is repeated (needs the record).")
    ] = None,
    catalogue: Annotated[Path | None, typer.Option(help="Inferences, to repeat a consent request.")] = None,
    store: Annotated[str, typer.Option(help="Choices of owners, to repeat a consent request.")] = "consent.db",
    signer: Annotated[
        Path | None, typer.Option(help="A public key: the certificate must be signed with the private one.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the result as a page as well.")] = None,
    engine: Engine = None,
    json: Json = False,
) -> None:
    """Recompute what a certificate claims."""
    from celosia.cli.bases.show import console, print_json, print_text
    from celosia.release.verify.verify import verify as check

    repeat = None
    if original is not None and catalogue is not None:
        from celosia.consent.commands import repeat_request

        repeat = repeat_request(original, catalogue, store)
    verification = check(
        certificate, data, record=record, original=original, repeat=repeat, signer=signer, engine=engine
    )
    if html is not None:
        from celosia.release.report import verification_page

        verification_page(verification, certificate, html)
    print_json(verification.spec()) if json else console().print(verification)
    if verification.holds and not verification.confirmed:
        print_text("celosia: warning: not every requirement that the certificate states could be checked.", error=True)
    elif verification.verdict == "verified in part" and original is None and not json:
        print_text("To check the rest: celosia verify … --original FILE, with the private record.")
    end_with(0 if verification.confirmed else 3)
