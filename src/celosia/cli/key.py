"""``celosia key``: a pair of keys that sign releases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json


def key(
    path: Annotated[Path, typer.Argument(help="Path of the private key; the public one goes next to it, as .pub.")],
    json: Json = False,
) -> None:
    """Create a pair of keys: 'run --sign' signs with the private one, 'verify --signer' checks with the public one."""
    from celosia.cli.bases.show import console, print_json
    from celosia.release.evidence.signature import create

    public = create(path)
    if json:
        print_json({"private": str(path), "public": f"{path}.pub", "key": public})
        return
    out = console()
    out.print(f"{path}: the private key. Keep it secret: anyone who has it signs in your name.")
    out.print(f"{path}.pub: the public key. Give it to those who verify, over a channel that they trust.")
    out.print(public)
