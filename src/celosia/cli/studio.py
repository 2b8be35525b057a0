"""``celosia studio``: the whole job in a browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json


def studio(
    folder: Annotated[Path, typer.Argument(help="The project's folder; made where there is none.")] = Path("project"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")] = 8360,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    json: Json = False,
) -> None:
    """The whole job in a browser, on this machine only: data, risk, protection, release."""
    from celosia.cli.bases.show import print_json, say
    from celosia.errors import MissingExtra

    try:
        from celosia.studio.app import serve
    except ImportError:  # pragma: no cover - the test environment has it
        raise MissingExtra.of("the studio", "studio") from None

    def announce(link: str) -> None:
        if json:
            print_json({"folder": str(folder), "address": link})
        else:
            say(f"The studio of {folder} is at {link}\nIt ends with Ctrl-C; nothing is lost.")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(link)

    serve(folder, port, announce)
