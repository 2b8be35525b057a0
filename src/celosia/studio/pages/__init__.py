"""The pages, one room each. A room that defines ``PAGE`` is found by being there."""

from __future__ import annotations

import importlib
import pkgutil

from celosia.studio.studio import Page


def pages() -> dict[str, Page]:
    """The pages by name, in the order of the menu."""
    rooms = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    defined: list[Page] = [room.PAGE for room in rooms if hasattr(room, "PAGE")]
    return {page.name: page for page in sorted(defined, key=lambda page: page.place)}
