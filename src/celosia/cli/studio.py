"""``celosia studio``: the whole job in a browser."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from celosia.cli.bases.options import Json


def studio(
    folder: Annotated[Path, typer.Argument(help="The project's folder; created if it does not exist.")] = Path(
        "project"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")] = 8360,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    servers: Annotated[
        bool, typer.Option("--servers", help="Let the policy of the folder query database servers, such as PostgreSQL.")
    ] = False,
    json: Json = False,
) -> None:
    """Open the studio, the whole job in a browser on this machine only: data, risk, protection, release."""
    from celosia.cli.bases.show import print_json, print_text
    from celosia.errors import MissingExtra

    try:
        from celosia.studio.app import serve
    except ImportError:  # pragma: no cover - the test environment has it
        raise MissingExtra.of("the studio", "studio") from None

    def announce(fresh_link: Callable[[], str], page: Path) -> None:
        link = fresh_link()
        if json:
            print_json({"folder": str(folder), "address": link})
        else:
            print_text(
                f"The studio of {folder} is at {link}\nThe link works once. It ends with Ctrl-C; nothing is lost."
            )
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(page.as_uri())  # the link itself would be in the arguments of the browser
        if sys.stdin.isatty():
            print_text("For another browser press Enter: it prints a new link.")
            _print_links(fresh_link, print_text)

    serve(folder, port, announce, servers)


def _print_links(fresh_link: Callable[[], str], print_text: Callable[[str], None]) -> None:
    """Print a new link each time that Enter is pressed in the terminal, until the program ends."""

    def wait() -> None:
        with contextlib.suppress(OSError, ValueError):  # in the background, or closed: there is no terminal to read
            for _ in sys.stdin:
                print_text(fresh_link())

    signal.signal(signal.SIGTTIN, signal.SIG_IGN)  # reading in the background would stop the whole program
    threading.Thread(target=wait, daemon=True).start()
