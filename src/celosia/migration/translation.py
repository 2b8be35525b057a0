"""The translation of another tool's project into a policy, with notes on what was not translated."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.data.io.atomic import JOURNAL, refuse_existing, refuse_originals, replace_files
from celosia.data.toml_text import add_comments, table, tables
from celosia.errors import InputError, OutputError
from celosia.parts import build
from celosia.release.policy.policy import Policy

if TYPE_CHECKING:
    from tomlkit.items import Table

ROLES = ("identifiers", "quasi", "sensitive", "insensitive")
SINGLES = ("weight", "household", "stratum", "person")
OWNER_ONLY = 0o600
"""The mode of what came out of a project: it holds the original data, or values of them."""


@dataclass(frozen=True)
class Note:
    """Something that was not translated exactly: why, and its line."""

    text: str
    line: int | None = None

    def __str__(self) -> str:
        return self.text if self.line is None else f"line {self.line}: {self.text}"


@dataclass(frozen=True)
class Entry:
    """A requirement or a step, with its origin."""

    part: Mapping[str, Any]
    origin: str = ""


@dataclass
class Translation:
    """A project or a script as the sections of a policy."""

    source: str
    tool: str
    about: dict[str, str] = field(default_factory=dict)
    input: dict[str, Any] = field(default_factory=dict)
    roles: dict[str, list[str]] = field(default_factory=lambda: {role: [] for role in ROLES})
    singles: dict[str, str] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    orders: dict[str, list[str]] = field(default_factory=dict)
    hierarchies: dict[str, str] = field(default_factory=dict)
    require: list[Entry] = field(default_factory=list)
    steps: list[Entry] = field(default_factory=list)
    risks: list[Mapping[str, Any]] = field(default_factory=list)
    losses: list[Mapping[str, Any]] = field(default_factory=list)
    output: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    files: dict[str, Callable[[Path], None]] = field(default_factory=dict)
    """What lies beside the policy: the end of each name, and what writes it."""

    def give_role(self, role: str, *names: str) -> None:
        """Add columns to a role, each once."""
        self.roles[role] += [name for name in dict.fromkeys(names) if name not in self.roles[role]]

    def note(self, text: str, line: int | None = None) -> None:
        """Record once what was not translated."""
        if Note(text, line) not in self.notes:
            self.notes.append(Note(text, line))

    def measure(self, kind: str, part: Mapping[str, Any]) -> None:
        """Add a risk or a loss, once."""
        measured = self.risks if kind == "risk" else self.losses
        if part not in measured:
            measured.append(part)

    def policy(self, stem: str = "policy") -> str:
        """Return the text of the policy; notes become comments."""
        import tomlkit

        document = tomlkit.document()
        add_comments(document, [f"Translated from {self.source}, a {self.tool}.", *self._remarks(), ""])
        if self.about:
            document.add("about", table(self.about))
        document.add("input", table(self._input(stem)))
        document.add("schema", self._schema(stem))
        if self.require:
            document.add("require", tables(_with_origin(entry) for entry in self.require))
        if self.steps:
            document.add("step", tables(_with_origin(entry) for entry in self.steps))
        measured = {"risks": _without_empty_parameters(self.risks), "losses": _without_empty_parameters(self.losses)}
        if self.risks or self.losses:
            document.add("measure", table({kind: parts for kind, parts in measured.items() if parts}))
        document.add("output", table({"path": f"{stem}.safe.csv", **self.output}))
        return tomlkit.dumps(document)

    def _remarks(self) -> list[str]:
        if not self.notes:
            return ["All that it says is translated. Read it before you run it."]
        heading = "Not translated, or not exactly. Read each line before you run it:"
        return ["", heading, *(f"- {note}" for note in self.notes)]

    def _input(self, stem: str) -> dict[str, Any]:
        place = self.input.get("path", "")
        return {**self.input, "path": f"{stem}{place}" if place in self.files else place}

    def _schema(self, stem: str) -> Table:
        columns: dict[str, Any] = {role: names for role, names in self.roles.items() if names}
        section = table({**columns, **{key: self.singles.get(key) for key in SINGLES}})
        hierarchies = {name: f"{stem}{place}" for name, place in self.hierarchies.items()}
        facts: dict[str, dict[str, Any]] = {"kinds": self.kinds, "orders": self.orders, "hierarchies": hierarchies}
        for key, values in facts.items():
            if values:
                section.add(key, table(values))
        return section


def write(translation: Translation, out: str | Path, *, source: str | Path, overwrite: bool = False) -> list[Path]:
    """Write the policy and its further files, all or none, after loading the policy once.

    Returns the paths, the policy first.
    """
    policy = Path(out)
    if policy.suffix.lower() != ".toml":
        raise OutputError(f"a policy is a file of TOML: {policy.name!r} must end in .toml.")
    text = translation.policy(policy.stem)
    Policy.parse(text, policy.parent, policy.name)
    targets = {"": policy, **{end: policy.with_name(f"{policy.stem}{end}") for end in translation.files}}
    for target in targets.values():
        refuse_originals(target, [source])
    if not overwrite:
        refuse_existing(targets.values())
    journal = policy.with_name(f".{policy.stem}.{JOURNAL}")
    modes = dict.fromkeys(translation.files, OWNER_ONLY)
    with replace_files(targets, journal, modes, fresh=not overwrite) as drafts:
        drafts[""].write_text(text, encoding="utf-8")
        for end, fill in translation.files.items():
            fill(drafts[end])
    return list(targets.values())


def refusal(kind: str, part: Mapping[str, Any]) -> str:
    """Return why a part cannot be built as it is written, or an empty text."""
    try:
        build(kind, dict(part))
    except InputError as error:
        return str(error)
    return ""


def file_end(what: str, column: str, taken: Mapping[str, Any]) -> str:
    """Return the end of a file name for a column, made of letters, digits and hyphens whatever its name.

    >>> file_end("hierarchy", "../../etc/pass wd", {})
    '.hierarchy.etc-pass-wd.csv'
    """
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", column).strip("-")[:60] or "column"
    names = (f".{what}.{safe}{number}.csv" for number in ("", *(f"-{i}" for i in range(2, len(taken) + 3))))
    return next(name for name in names if name.lower() not in {each.lower() for each in taken})


def _with_origin(entry: Entry) -> Table:
    return table(entry.part, about=[entry.origin] if entry.origin else ())


def _without_empty_parameters(parts: list[Mapping[str, Any]]) -> list[Any]:
    """Return parts without parameters by name alone."""
    return [part["use"] if len(part) == 1 else part for part in parts]
