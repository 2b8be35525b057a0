"""``celosia report``: a report to forward, as PDF or Word document."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json


def report(
    page: Annotated[Path, typer.Argument(help="The report of a release (.html), the external or the internal one.")],
    out: Annotated[Path, typer.Option(help="The file to write; its suffix is the format: .pdf or .docx.")],
    sign: Annotated[Path | None, typer.Option(help="File with the key that signs the PDF (PKCS #12).")] = None,
    password: Annotated[str | None, typer.Option(help="Opens the key: env:NAME or file:PATH.")] = None,
    overwrite: Annotated[bool, typer.Option(help="Replace a file that is there already.")] = False,
    json: Json = False,
) -> None:
    """Write a report as PDF, signed if a key is given, or as Word document."""
    from celosia.cli.bases.show import print_json, print_text
    from celosia.data.credentials import refuse_literal
    from celosia.release.report.export import export

    refuse_literal(password, "password")
    written = export(page, out, key=sign, password=password, overwrite=overwrite)
    if json:
        print_json({"written": str(written), "signed": sign is not None})
    else:
        print_text(f"{'Signed and written' if sign else 'Written'}: open {written}")
