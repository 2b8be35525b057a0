"""The experiments of the source documents.

Each is a package here with a function ``reproduce(…, out, …)`` and the constants ``DOCUMENT``, what it repeats, and
``DATA``, the reference file that it reads (empty for none); ``UNIT`` names the unit of the tolerance between printed
and computed numbers, if it is not theirs. Experiments are not listed elsewhere.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia.errors import UnknownName


@dataclass(frozen=True)
class Experiment:
    """Declarations of the package of an experiment."""

    name: str
    document: str
    data: str
    about: str
    reproduce: Callable[..., dict[str, Any]]
    unit: str = ""


def experiments() -> list[str]:
    """Return the names of the experiments, which are the packages in this one.

    >>> experiments()
    ['consent', 'fuzzy-privacy', 'lecture', 'synthetic', 'textbook']
    """
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__) if module.ispkg)


def declared(name: str) -> Experiment:
    """Return an experiment with the declarations of its package.

    >>> declared("synthetic").data
    'census.csv'
    """
    if name not in experiments():
        raise UnknownName.of("experiment", name, experiments())
    module = importlib.import_module(f"{__name__}.{name.replace('-', '_')}")
    about = (module.__doc__ or "").partition("\n")[0]
    return Experiment(name, module.DOCUMENT, module.DATA, about, module.reproduce, getattr(module, "UNIT", ""))


def experiment(name: str) -> Callable[..., dict[str, Any]]:
    """Return the function that runs an experiment.

    >>> experiment("fuzzy-privacy").__name__
    'reproduce'
    """
    return declared(name).reproduce


def write_report(name: str, out: Path, html: str, report: Mapping[str, Any]) -> dict[str, str]:
    """Write the page and the numbers of an experiment, each whole or not at all, and return the paths."""
    from celosia.data.io.atomic import replace_file

    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    texts = {"html": html, "json": json.dumps(report, indent=1)}
    files = {kind: out / f"{name}.{kind}" for kind in texts}
    for kind, path in files.items():
        with replace_file(path) as draft:
            draft.write_text(texts[kind], encoding="utf-8")
    return {kind: str(path) for kind, path in files.items()}
