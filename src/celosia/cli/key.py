"""``celosia key``: a pair of keys that sign releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json


def key(
    path: Annotated[Path, typer.Argument(help="Where the private key goes; the public one goes beside it, as .pub.")],
    json: Json = False,
) -> None:
    """Make a pair of keys that sign certificates: 'run --sign' takes the private one, 'verify --signer' the public."""
    from celosia.cli.bases.show import console, print_json
    from celosia.release.evidence.signing import create

    public = create(path)
    if json:
        print_json({"private": str(path), "public": f"{path}.pub", "key": public})
        return
    out = console()
    out.print(f"{path}: the private key. Keep it to yourself: who has it signs in your name.")
    out.print(f"{path}.pub: the public key. Give it to those who verify, on a way that they trust.")
    out.print(public)
