"""Which parts there are: the registry, and how the modules that fill it are found and imported."""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import logging
import os
import pkgutil
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import ParameterError, UnknownName, suggestion

if TYPE_CHECKING:
    from celosia.parts.part import Part

_LOG = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z][a-z0-9-]{0,99}", re.ASCII)
_REGISTRY: dict[str, dict[str, type[Part]]] = {}
_KINDS: dict[str, type[Part]] = {}
_COVERS: dict[str, tuple[str, ...]] = {}
_HOMES: dict[str, str] = {}


def add_kind(cls: type[Part], home: str, covers: tuple[str, ...]) -> None:
    """Register a kind of part with the package of its parts, or a base class of several kinds."""
    if covers:
        _COVERS[cls.kind] = covers
        return
    _KINDS[cls.kind] = cls
    _HOMES[cls.kind] = home
    _REGISTRY.setdefault(cls.kind, {})


def add_part(cls: type[Part]) -> None:
    """Register a part under its own name, or under the name of its class: ``KAnonymity`` → ``k-anonymity``."""
    cls.name = cls.__dict__.get("name") or re.sub(r"(?<!^)(?=[A-Z])", "-", cls.__name__).lower()
    registered = _REGISTRY[cls.kind].get(cls.name)
    if registered is not None and (registered.__module__, registered.__qualname__) != (
        cls.__module__,
        cls.__qualname__,
    ):
        raise ParameterError(
            f"two {cls.kind} parts are named {cls.name!r}: {registered.__module__} and {cls.__module__}."
        )
    _REGISTRY[cls.kind][cls.name] = cls


def kinds() -> dict[str, type[Part]]:
    """The kinds of part by name."""
    importlib.import_module("celosia.hierarchy")  # the one kind whose base class has a room of its own
    return {name: kind for name, kind in _KINDS.items() if name}


def home(kind: str) -> str:
    """The package of a kind's parts.

    >>> home("attack")
    'celosia.risk.attacks'
    """
    return _HOMES[kind]


def covered(kind: str) -> tuple[str, ...]:
    """The kinds that a word stands for: ``risk or attack`` for two, any other for itself."""
    return _COVERS.get(kind, (kind,))


def parts(kind: str) -> dict[str, type[Part]]:
    """All parts of a kind by name, the third-party ones too.

    >>> "k-anonymity" in parts("model")
    True
    """
    _load_kind(kind)
    return dict(sorted(_REGISTRY[kind].items()))


def find(kind: str, name: str) -> type[Part]:
    """The part of that kind and name.

    >>> find("model", "l-divercity")
    Traceback (most recent call last):
    celosia.errors.UnknownName: no model named 'l-divercity'. Did you mean 'l-diversity'...
    """
    for load in (_import_file_of, lambda each, _: _load_kind(each)):
        for each in covered(kind):
            if name not in _registry(each):
                load(each, name)
            if name in _REGISTRY[each]:
                return _REGISTRY[each][name]
    names = [other for each in covered(kind) for other in _REGISTRY[each]]
    raise UnknownName.of(kind, name, names, _elsewhere(covered(kind), name))


def package(*of: str) -> tuple[Callable[[str], type[Part]], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` for the package of some kinds: ``celosia.models.KAnonymity`` is found lazily."""

    def classes() -> dict[str, type[Part]]:
        return {cls.__name__: cls for kind in of for cls in parts(kind).values()}

    def get(name: str) -> type[Part]:
        if name.startswith("_"):
            raise AttributeError(name)
        by_name = classes()
        if name not in by_name:
            raise AttributeError(f"no {' or '.join(of)} named {name!r}.{suggestion(name, by_name)}")
        return by_name[name]

    return get, lambda: sorted(classes())


def _registry(kind: str) -> dict[str, type[Part]]:
    if kind not in _REGISTRY and kind not in kinds():
        raise UnknownName.of("kind of part", kind, _REGISTRY)
    return _REGISTRY[kind]


@functools.cache
def _load_kind(kind: str) -> None:
    _registry(kind)
    package = importlib.import_module(_HOMES[kind])
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
    _load_entry_points()


@functools.cache
def _load_entry_points() -> None:
    """Import what other packages add, each named before its code runs.

    One that cannot be imported is left out, the others are there. ``CELOSIA_PLUG_INS=off`` leaves out all.
    """
    if os.environ.get("CELOSIA_PLUG_INS") == "off":
        return
    for entry, named in plug_ins().items():
        _LOG.warning("celosia: loading the plug-in %s", named)
        before = {(kind, name) for kind, registered in _REGISTRY.items() for name in registered}
        try:
            entry.load()
        except Exception as error:  # whatever the code of others raises, ours goes on
            _leave_out(before)
            warnings.warn(
                f"the plug-in {named} is left out: it cannot be loaded "
                f"({type(error).__name__}: {error}). Update or remove it; everything else works.",
                stacklevel=2,
            )


def plug_ins() -> dict[importlib.metadata.EntryPoint, str]:
    """What other packages would add, with the name and package of each; nothing is imported."""
    return {
        entry: repr(entry.name)
        + ("" if entry.dist is None else f" of the package {entry.dist.name} {entry.dist.version}")
        for entry in importlib.metadata.entry_points(group="celosia.parts")
    }


def _leave_out(before: set[tuple[str, str]]) -> None:
    """Take out what a plug-in has added since: half of one is none. What it imported from here stays."""
    for kind, registered in _REGISTRY.items():
        for name, part in list(registered.items()):
            if (kind, name) not in before and not part.__module__.startswith("celosia."):
                del registered[name]


def _import_file_of(kind: str, name: str) -> None:
    """Import the one file that is named like the part, wherever it lies below the home of its kind."""
    if not _NAME.fullmatch(name):  # it comes from a policy: it must not be a pattern, a path or longer than a file name
        return
    package = importlib.import_module(_HOMES[kind])
    for place in map(Path, package.__path__):
        for file in place.rglob(f"{name.replace('-', '_')}.py"):
            importlib.import_module(".".join((package.__name__, *file.relative_to(place).with_suffix("").parts)))


def _elsewhere(asked: tuple[str, ...], name: str) -> str:
    """Say so when the name belongs to a part of another kind."""
    for other in kinds():
        if other not in asked and name in parts(other):
            return f"({name!r} is a {other}.)"
    return ""
