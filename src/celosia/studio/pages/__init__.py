"""The pages, one package each; a package that defines ``PAGE`` is registered by :func:`pages`."""

from __future__ import annotations

import importlib
import pkgutil

from celosia.studio.studio import Page


def pages() -> dict[str, Page]:
    """Return the pages by name, in the order of the menu."""
    modules = [importlib.import_module(f"{__name__}.{each.name}") for each in pkgutil.iter_modules(__path__)]
    defined: list[Page] = [module.PAGE for module in modules if hasattr(module, "PAGE")]
    return {page.name: page for page in sorted(defined, key=lambda page: page.place)}
