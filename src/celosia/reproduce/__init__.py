"""The experiments of the source documents, each a module with a function ``reproduce(data, out, …)``."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from celosia.errors import UnknownName


def experiments() -> list[str]:
    """The names of the experiments: the modules that are here."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def experiment(name: str) -> Callable[..., dict[str, Any]]:
    """The function that runs an experiment.

    >>> experiment("fuzzy-privacy").__name__
    'reproduce'
    """
    if name not in experiments():
        raise UnknownName.of("experiment", name, experiments())
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    made: Callable[..., dict[str, Any]] = module.reproduce
    return made
