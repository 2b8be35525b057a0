"""The policy: a TOML file with the schema, the requirements, the steps, the measures and where the result goes.

.. code-block:: toml

    [input]
    path = "patients.csv"

    [schema]
    identifiers = ["name"]
    quasi = ["age", "zip"]
    sensitive = ["diagnosis"]

    [schema.hierarchies]
    zip = {use = "prefixes", length = 5}

    [[require]]
    use = "k-anonymity"
    k = 5

    [[step]]
    use = "generalise"

    [measure]
    risks = ["prosecutor"]
    losses = ["altered-records"]

    [output]
    path = "safe.csv"
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from celosia.data.schema import Schema
from celosia.errors import InputError, PolicyError, UnknownName, suggestion
from celosia.parts import Loss, Method, Model, Threat, build, find

MEASURED_RISKS = ("prosecutor",)
MEASURED_LOSSES = ("altered-records", "discernibility")
_SECTIONS = ("input", "schema", "require", "step", "measure", "explore", "output", "run")
_SCHEMA_KEYS = [
    "identifiers",
    "quasi",
    "sensitive",
    "insensitive",
    "weight",
    "household",
    "stratum",
    "person",
    "rest",
    "kinds",
    "bounds",
    "missing",
    "hierarchies",
    "orders",
]


@dataclass(frozen=True)
class Step:
    """One step of a policy: a method with a name to refer to it."""

    name: str
    method: Method


@dataclass(frozen=True)
class Output:
    """Where the result goes and in which form."""

    path: Path = Path("safe.csv")
    order: str = "shuffled"
    columns: tuple[str, ...] = ()
    """Columns to release that would otherwise be left out (undeclared ones, ids)."""
    report: bool = True
    language: str = "en"
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further options of the file writer."""


@dataclass(frozen=True)
class Exploration:
    """What ``celosia explore`` tries and which limits it keeps."""

    candidates: tuple[Any, ...] | None = None
    """Entries as :func:`celosia.explore` takes them; None: what the catalogue proposes."""
    risk: Threat | None = None
    loss: Loss | None = None
    seeds: int = 5
    max_risk: float | None = None
    max_loss: float | None = None
    budget_seconds: float | None = None
    workers: int | None = None
    store: Path | None = None


@dataclass(frozen=True)
class Policy:
    """What to read, what must hold, what is done, what is measured, where it goes."""

    source: str
    schema: Schema
    require: tuple[Model, ...] = ()
    steps: tuple[Step, ...] = ()
    risks: tuple[Threat, ...] = ()
    losses: tuple[Loss, ...] = ()
    output: Output = Output()
    explore: Exploration = Exploration()
    query: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the reader: separator, encoding, …"""
    engine: str | None = None
    seed: int | None = None
    testing: bool = False
    """Allows a small seed, for tests and demonstrations."""
    text: str = field(default="", repr=False)

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; relative paths in it start from its directory."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise PolicyError(f"{path.name} is not UTF-8 text.") from None
        except OSError as error:
            raise PolicyError(f"cannot read the policy {str(path)!r}: {error.strerror}.") from None
        return cls.parse(text, path.parent, path.name)

    @classmethod
    def parse(cls, text: str, directory: Path = Path(), name: str = "policy") -> Policy:
        """Read the text of a policy."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{name}: {error}.") from None
        return _Reader(data, directory, name, text).policy()

    def select(self, *, until: str | None = None, without: Iterable[str] = ()) -> Policy:
        """The policy with the steps up to one only, or without some: steps are never lost, only left out of a run."""
        names = [step.name for step in self.steps]
        for wanted in [*([until] if until else []), *without]:
            if wanted not in names:
                raise UnknownName.of("step", wanted, names)
        last = names.index(until) + 1 if until else len(names)
        left_out = set(without)
        return replace(self, steps=tuple(step for step in self.steps[:last] if step.name not in left_out))


class _Reader:
    """Turns parsed TOML into a policy; every message names the key."""

    def __init__(self, data: Mapping[str, Any], directory: Path, name: str, text: str) -> None:
        self.data = data
        self.directory = directory
        self.name = name
        self.text = text
        self._known("the policy", data, _SECTIONS)

    def policy(self) -> Policy:
        given = self._table("input", ("path", "url", "query", "engine"), open_ended=True)
        if ("path" in given) == ("url" in given):
            raise PolicyError(f"{self.name}: [input] needs either path or url.")
        options = {k: v for k, v in given.items() if k not in {"path", "url", "query", "engine"}}
        source = str(self.directory / given["path"]) if "path" in given else str(given["url"])
        measure = self._table("measure", ("risks", "losses"))
        run = self._table("run", ("seed", "testing"))
        require = self._parts("require", "model", self.data.get("require", []))
        return Policy(
            source=source,
            schema=self._schema(),
            require=require,
            steps=self._steps(require),
            risks=self._parts("measure.risks", "risk or attack", measure.get("risks", MEASURED_RISKS)),
            losses=self._parts("measure.losses", "loss", measure.get("losses", MEASURED_LOSSES)),
            output=self._output(),
            explore=self._explore(),
            query=given.get("query"),
            options=options,
            engine=given.get("engine"),
            seed=_seed(run.get("seed")),
            testing=bool(run.get("testing", False)),
            text=self.text,
        )

    def _schema(self) -> Schema:
        table = dict(self._table("schema", _SCHEMA_KEYS))
        hierarchies = table.get("hierarchies", {})
        if isinstance(hierarchies, Mapping):
            table["hierarchies"] = {column: self._located(value) for column, value in hierarchies.items()}
        made: Schema = self._made("schema", Schema.of, **table)
        return made

    def _located(self, value: Any) -> Any:
        """A path of a hierarchy file starts from the directory of the policy."""
        if isinstance(value, str) and not value.endswith(")"):
            return str(self.directory / value)
        if isinstance(value, Mapping) and "path" in value:
            return {**value, "path": str(self.directory / value["path"])}
        return value

    def _steps(self, require: tuple[Model, ...]) -> tuple[Step, ...]:
        """The steps; one that needs requirements and names none gets those of the policy."""
        steps: list[Step] = []
        for i, entry in enumerate(self._list("step", self.data.get("step", []))):
            label = f"step {i + 1}"
            if not isinstance(entry, Mapping):
                raise PolicyError(f"{self.name}: [[step]] {i + 1} must be a table with `use`.")
            name = str(entry.get("name", entry.get("use", label)))
            if name in {step.name for step in steps}:
                name = f"{name}-{i + 1}"
            parameters = {k: v for k, v in entry.items() if k != "name"}
            if "require" not in parameters and require and self._requires(parameters, f"[[step]] {i + 1}"):
                parameters["require"] = require
            method = self._made(f"[[step]] {i + 1}", build, "method", parameters)
            steps.append(Step(name, method))
        return tuple(steps)

    def _requires(self, parameters: Mapping[str, Any], where: str) -> bool:
        cls = self._made(where, find, "method", str(parameters.get("use", "")))
        return "require" in cls.model_fields

    def _parts(self, key: str, kind: str, entries: Any) -> Any:
        return tuple(
            self._made(f"{key} {i + 1}", build, kind, entry) for i, entry in enumerate(self._list(key, entries))
        )

    def _explore(self) -> Exploration:
        numbers = ("seeds", "max_risk", "max_loss", "budget_seconds", "workers")
        table = self._table("explore", ("candidate", "risk", "loss", "store", *numbers))
        for name in numbers:
            whole = name in ("seeds", "workers")
            value = table.get(name, 1)
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or value < whole:
                kind = "a whole number of at least 1" if whole else "a number of at least 0"
                raise PolicyError(f"{self.name}: explore.{name} must be {kind}, got {value!r}.")
        listed = self._list("explore.candidate", table["candidate"]) if "candidate" in table else None
        return Exploration(
            candidates=None if listed is None else tuple(listed),
            risk=self._made("explore.risk", build, "risk or attack", table["risk"]) if "risk" in table else None,
            loss=self._made("explore.loss", build, "loss", table["loss"]) if "loss" in table else None,
            store=self.directory / str(table["store"]) if "store" in table else None,
            **{name: table[name] for name in numbers if name in table},
        )

    def _output(self) -> Output:
        table = dict(self._table("output", ("path", "order", "columns", "report", "language"), open_ended=True))
        order = table.pop("order", "shuffled")
        if order not in ("shuffled", "kept"):
            raise PolicyError(f"{self.name}: output.order must be 'shuffled' or 'kept', got {order!r}.")
        language = table.pop("language", "en")
        if language not in ("en", "es", "ca"):
            raise PolicyError(f"{self.name}: output.language must be 'en', 'es' or 'ca', got {language!r}.")
        return Output(
            path=self.directory / str(table.pop("path", "safe.csv")),
            order=order,
            columns=tuple(table.pop("columns", ())),
            report=bool(table.pop("report", True)),
            language=language,
            options=table,
        )

    def _made(self, where: str, make: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        try:
            return make(*arguments, **named)
        except PolicyError:
            raise
        except (InputError, TypeError) as error:
            raise PolicyError(f"{self.name}: {where}: {error}") from None

    def _table(self, section: str, known: Iterable[str], *, open_ended: bool = False) -> Mapping[str, Any]:
        table = self.data.get(section, {})
        if not isinstance(table, Mapping):
            raise PolicyError(f"{self.name}: [{section}] must be a table.")
        if not open_ended:
            self._known(f"[{section}]", table, known)
        return table

    def _list(self, key: str, value: Any) -> list[Any]:
        if not isinstance(value, list | tuple):
            raise PolicyError(f"{self.name}: {key} must be a list.")
        return list(value)

    def _known(self, where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
        for key in table:
            if key not in known:
                raise PolicyError(f"{self.name}: {where} has no key {key!r}.{suggestion(key, known)}")


def _seed(value: Any) -> int | None:
    if value is None or isinstance(value, int):
        return value
    try:
        return int(str(value), 16)
    except ValueError:
        raise PolicyError("run.seed must be a whole number or hexadecimal digits.") from None
