"""Registry of parts, and the lazy import of the modules that fill it."""

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
    """Return the kinds of part by name."""
    importlib.import_module("celosia.hierarchy")  # the one kind whose base class is in a package of its own
    return {name: kind for name, kind in _KINDS.items() if name}


def home(kind: str) -> str:
    """Return the package of a kind's parts.

    >>> home("attack")
    'celosia.risk.attacks'
    """
    return _HOMES[kind]


def covered_kinds(kind: str) -> tuple[str, ...]:
    """Return the kinds that a name covers: two for ``risk or attack``, itself for any other."""
    return _COVERS.get(kind, (kind,))


def parts(kind: str) -> dict[str, type[Part]]:
    """Return all parts of a kind by name, third-party ones included.

    >>> "k-anonymity" in parts("model")
    True
    """
    _load_kind(kind)
    return dict(sorted(_REGISTRY[kind].items()))


def find(kind: str, name: str) -> type[Part]:
    """Return the part of that kind and name.

    >>> find("model", "l-divercity")
    Traceback (most recent call last):
    celosia.errors.UnknownName: no model named 'l-divercity'. Did you mean 'l-diversity'...
    """
    for load in (_import_file_of, lambda each, _: _load_kind(each)):
        for each in covered_kinds(kind):
            if name not in _registry(each):
                load(each, name)
            if name in _REGISTRY[each]:
                return _REGISTRY[each][name]
    names = [other for each in covered_kinds(kind) for other in _REGISTRY[each]]
    raise UnknownName.of(kind, name, names, _hint_other_kind(covered_kinds(kind), name))


def lazy_package(*of: str) -> tuple[Callable[[str], type[Part]], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for the package of some kinds, which import their parts on first use."""

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
    """Import the plug-ins of other packages; each is logged before its code runs.

    One that cannot be imported is left out with a warning. ``CELOSIA_PLUG_INS=off`` leaves out all.
    """
    if os.environ.get("CELOSIA_PLUG_INS") == "off":
        return
    for entry, described in plug_ins().items():
        _LOG.warning("celosia: loading the plug-in %s", described)
        before = {(kind, name) for kind, registered in _REGISTRY.items() for name in registered}
        try:
            entry.load()
        except Exception as error:  # third-party code may raise anything; a plug-in must not stop the program
            _leave_out(before)
            warnings.warn(
                f"the plug-in {described} is left out: it cannot be loaded "
                f"({type(error).__name__}: {error}). Update or remove it; everything else works.",
                stacklevel=2,
            )


def plug_ins() -> dict[importlib.metadata.EntryPoint, str]:
    """Return the plug-ins of other packages, each with its name and package as text; nothing is imported."""
    return {
        entry: repr(entry.name)
        + ("" if entry.dist is None else f" of the package {entry.dist.name} {entry.dist.version}")
        for entry in importlib.metadata.entry_points(group="celosia.parts")
    }


def _leave_out(before: set[tuple[str, str]]) -> None:
    """Remove the parts that a plug-in registered before it failed; parts of celosia that it imported stay."""
    for kind, registered in _REGISTRY.items():
        for name, part in list(registered.items()):
            if (kind, name) not in before and not part.__module__.startswith("celosia."):
                del registered[name]


def _import_file_of(kind: str, name: str) -> None:
    """Import the file that is named like the part, anywhere below the package of its kind."""
    if not _NAME.fullmatch(name):  # it comes from a policy: no pattern, no path, not longer than a file name
        return
    package = importlib.import_module(_HOMES[kind])
    for place in map(Path, package.__path__):
        for file in place.rglob(f"{name.replace('-', '_')}.py"):
            importlib.import_module(".".join((package.__name__, *file.relative_to(place).with_suffix("").parts)))


def _hint_other_kind(asked: tuple[str, ...], name: str) -> str:
    """Return a hint when the name belongs to a part of another kind; empty otherwise."""
    for other in kinds():
        if other not in asked and name in parts(other):
            return f"({name!r} is a {other}.)"
    return ""
