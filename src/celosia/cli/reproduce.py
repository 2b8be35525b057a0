"""``celosia reproduce``: the command of the package ``celosia-reproduce``, or how to install it.

Only that distribution is asked: a search through all installed ones would take longer than the start of Celosia.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable

from celosia.cli.bases.options import Json

PACKAGE = "celosia-reproduce"


def not_installed(*, json: Json = False) -> None:  # noqa: ARG001
    """Repeat the experiments of the source documents (needs the package celosia-reproduce)."""
    from celosia.errors import MissingExtra

    raise MissingExtra(
        f"reproduce needs the package {PACKAGE}. "
        "Install it from a clone of Celosia with: pip install -e packages/reproduce"
    )


def find_command() -> Callable[..., None]:
    """Return the command that the installed package declares as an entry point."""
    try:
        entries = importlib.metadata.distribution(PACKAGE).entry_points
    except importlib.metadata.PackageNotFoundError:
        return not_installed
    command: Callable[..., None] = entries.select(group="celosia.commands")["reproduce"].load()
    return command


reproduce = find_command()
