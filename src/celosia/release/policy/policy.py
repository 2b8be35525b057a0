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

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    Field,
    PrivateAttr,
    Strict,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from celosia import files
from celosia.data.io.filetypes import type_of
from celosia.data.io.sources import is_url
from celosia.data.schema import Schema
from celosia.errors import InputError, ParameterError, PolicyError, UnknownName, suggestion
from celosia.parts import Loss, Method, Model, Threat, build, find, protects, resolve_paths
from celosia.parts.parameter_errors import phrase, shorten
from celosia.release.policy.sections import (
    MEASURED_LOSSES,
    MEASURED_RISKS,
    About,
    Columns,
    Described,
    Exploration,
    Guard,
    History,
    Input,
    Measure,
    ModelPart,
    Output,
    Run,
    Section,
    Step,
    StepPart,
    directory_of,
)
from celosia.table import Table, read

if TYPE_CHECKING:
    from celosia.release.evidence.certificate import RecordDraft


class Policy(Section):
    """What to read, what must hold, what is done, what is measured, where it goes."""

    format: Literal[1] = Field(default=1, description="the version of this form")
    about: About = Field(default_factory=About, description="what the release is, for its readers")
    input: Input = Field(description="what is read")
    columns: Described = Field(default_factory=Schema, alias="schema", description="the columns")
    require: Annotated[tuple[ModelPart, ...], Strict(False)] = Field(default=(), description="what must hold")
    steps: tuple[StepPart, ...] = Field(default=(), alias="step", description="what is done, one after the other")
    measure: Measure = Field(default_factory=Measure, description="what is measured")
    explore: Exploration = Field(default_factory=Exploration, description="what an exploration tries")
    guard: Guard = Field(default_factory=Guard, description="what the guard may let leave")
    history: History = Field(default_factory=History, description="earlier releases that it is checked against")
    output: Output = Field(default_factory=Output, description="where the result goes")
    run: Run = Field(default_factory=Run, description="how the policy is run")
    _text: str = PrivateAttr(default="")
    _directory: Path = PrivateAttr(default=Path())

    @classmethod
    def load(cls, path: str | Path) -> Policy:
        """Read a policy file; relative paths in it start from its directory."""
        path = Path(path)
        try:
            text = files.text(path)
        except UnicodeDecodeError:
            raise PolicyError(f"{path.name} is not UTF-8 text.") from None
        except OSError as error:
            raise PolicyError(f"cannot read the policy {str(path)!r}: {error.strerror}.") from None
        return cls.parse(text, path.parent, path.name)

    @classmethod
    def parse(cls, text: str, directory: Path = Path(), name: str = "policy") -> Policy:
        """Read the text of a policy."""
        try:
            data = files.toml_document(text)
        except ValueError as error:
            raise PolicyError(f"{name}: {error}.") from None
        return cls.of(data, directory, name, text)

    @classmethod
    def of(cls, sections: Mapping[str, Any], directory: Path = Path(), name: str = "policy", text: str = "") -> Policy:
        """Make a policy of its sections, as a file has them; parts and a schema may be built already.

        >>> Policy.of({"input": {"path": "people.csv"}, "require": ["k-anonymity(k=5)"]}).require
        (KAnonymity(k=5),)
        """
        try:
            # the default of the output starts from the directory as well
            policy = cls.model_validate({"output": {}, **sections}, context={"directory": directory})
        except ValidationError as error:
            findings = cast("list[dict[str, Any]]", error.errors())
            # a misspelt key explains why another one is missing
            finding = next((each for each in findings if each["type"] == "extra_forbidden"), findings[0])
            raise PolicyError(f"{name}: {_refusal(cls, finding)}") from None
        policy._text, policy._directory = text, directory  # noqa: SLF001  (of its own class)
        return policy

    @classmethod
    def recorded(cls, record: RecordDraft, directory: Path) -> Policy:
        """Read the policy in a private record; ``directory`` is that of the record, where its relative paths start."""
        own = directory / record.folder
        return cls.parse(record.policy, own if own.is_dir() else directory, "the policy in the record")

    @field_validator("steps", mode="plain", json_schema_input_type=tuple[StepPart, ...])
    @classmethod
    def _steps(cls, entries: Any, info: ValidationInfo) -> tuple[Step, ...]:
        """The steps; one that needs requirements and names none gets those of the policy."""
        if not isinstance(entries, list | tuple):
            raise ParameterError("must be a list.")
        steps: list[Step] = []
        for i, entry in enumerate(entries):
            try:
                step = entry if isinstance(entry, Step) else _step(entry, i, info)
            except InputError as error:
                raise ValueError(f"[[step]] {i + 1}: {error}") from None
            taken = step.name in {other.name for other in steps}
            steps.append(Step(f"{step.name}-{i + 1}", step.method) if taken else step)
        return tuple(steps)

    @field_validator("require")
    @classmethod
    def _protecting(cls, require: tuple[Model, ...]) -> tuple[Model, ...]:
        for model in require:
            if not protects(model):
                raise ValueError(
                    f"{model} bounds the best class only, so that it protects nobody: use aggregate = 'max'."
                )
        return require

    @model_validator(mode="after")
    def _known_steps(self) -> Policy:
        names = [step.name for step in self.steps]
        for wanted in self.run.without:
            if wanted not in names:
                raise ValueError(f"run.without: {UnknownName.of('step', wanted, names)}")
        return self

    @property
    def text(self) -> str:
        """The file as it was written."""
        return self._text

    @property
    def directory(self) -> Path:
        """The folder in which its relative paths start."""
        return self._directory

    @property
    def schema(self) -> Schema:  # type: ignore[override]  # pydantic has a deprecated function of this name
        """The columns."""
        return self.columns

    @property
    def source(self) -> str:
        """The path or address of the data."""
        return self.input.source

    @property
    def risks(self) -> tuple[Threat, ...]:
        """The risks and attacks to measure."""
        return self.measure.risks

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses to measure."""
        return self.measure.losses

    def table(
        self,
        schema: Schema | None = None,
        engine: str | None = None,
        memory: str | int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Table:
        """The input, read under the schema of the policy or another one, with further options of the reader."""
        given = self.input
        return read(
            given.source,
            schema or self.schema,
            engine=engine or self.run.engine or given.engine,
            memory=memory or self.run.memory,
            query=given.query,
            clean=given.cleaning,
            empty="missing",
            **{**given.options, **(options or {})},
        )

    def like(self, source: Any, engine: str | None = None) -> Table:
        """Other records, cleaned as the input is, and read with its options where the type of file is the same."""
        path = self.input.path
        file = isinstance(source, str | Path) and not is_url(str(source))
        alike = file and path is not None and type_of(source) is type_of(path)
        options = self.input.options if alike else {}
        return read(source, self.schema, engine=engine, clean=self.input.cleaning, empty="missing", **options)

    def select(self, *, until: str | None = None, without: Iterable[str] = ()) -> Policy:
        """The policy with the steps up to one only, or without some: steps are never lost, only left out of a run.

        Those that the policy itself switches off (``run.without``) are left out as well.
        """
        names = [step.name for step in self.steps]
        for wanted in [*([until] if until else []), *without]:
            if wanted not in names:
                raise UnknownName.of("step", wanted, names)
        last = names.index(until) + 1 if until else len(names)
        left_out = {*without, *self.run.without}
        kept = tuple(step for step in self.steps[:last] if step.name not in left_out)
        return self.model_copy(update={"steps": kept})


def _step(entry: Any, position: int, info: ValidationInfo) -> Step:
    if not isinstance(entry, Mapping):
        raise InputError("must be a table with `use`.")
    name = str(entry.get("name", entry.get("use", f"step {position + 1}")))
    parameters = {key: value for key, value in entry.items() if key != "name"}
    require: tuple[Model, ...] = info.data.get("require", ())
    method: type[Method] = find("method", str(parameters.get("use", "")))  # type: ignore[assignment]
    if require and "require" not in parameters and "require" in method.model_fields:
        parameters["require"] = require
    return Step(name, build("method", resolve_paths("method", parameters, directory_of(info))))


VALUES = (("input", "clean", "same"), ("input", "clean", "missing"), ("schema", "orders"))
"""What holds values of the data, column by column: a message names the column and shows none of them."""


def _refusal(form: type[BaseModel], finding: Mapping[str, Any]) -> str:
    """One of pydantic's findings in words: the section, the key, what is wrong."""
    path = [step for step in finding["loc"] if not str(step).startswith(("function-", "tagged-"))]
    if finding["type"] == "extra_forbidden":
        keys = _keys(form, path[:-1])
        where = f"[{'.'.join(map(str, path[:-1]))}]" if path[:-1] else "the policy"
        return f"{where} has no key {path[-1]!r}.{suggestion(str(path[-1]), keys)}"
    if finding["type"] == "missing":
        return f"{_place(path[:-1])} needs {path[-1]}." if path[:-1] else f"the policy needs [{path[-1]}]."
    if finding["type"] == "value_error":
        return _said(path, str(finding["ctx"]["error"]))
    if finding["type"] in {"model_type", "dict_type"}:
        return f"[{'.'.join(map(str, path))}] must be a table."
    rule = phrase(finding)
    held = next((place for place in VALUES if tuple(path[: len(place)]) == place), None)
    if held is not None and len(path) > len(held):
        inside = ": something in it" if len(path) > len(held) + 1 else ""
        return f"{_place(path[: len(held) + 1])}{inside} {rule}."
    if finding["type"] == "greater_than_equal":
        least = finding["ctx"]["ge"]
        rule = f"must be a {'whole ' if isinstance(least, int) else ''}number of at least {least:g}"
    return f"{_place(path)} {rule}, got {shorten(finding.get('input'))}."


def _said(path: list[Any], message: str) -> str:
    """A message of ours behind its place, unless it begins with one."""
    if message.startswith("[[step]]") or not path:
        return message
    if message.startswith(("needs ", "has no key ")):
        return f"[{'.'.join(map(str, path))}] {message}"
    return f"{_place(path)} {message}" if message.startswith("must ") else f"{_place(path)}: {message}"


def _place(path: list[Any]) -> str:
    """Where something stands in a policy: ``output.order``, ``require 2``."""
    names = ".".join(str(step) for step in path if not isinstance(step, int))
    positions = [step + 1 for step in path if isinstance(step, int)]
    return f"{names} {positions[0]}" if positions else names


def _keys(form: type[BaseModel], path: list[Any]) -> list[str]:
    """The keys that the form has at a place."""
    for step in path:
        info = next(info for name, info in form.model_fields.items() if step in (name, info.alias))
        form = Columns if step == "schema" else cast("type[BaseModel]", info.annotation)
    return [info.alias or name for name, info in form.model_fields.items()]


__all__ = ["MEASURED_LOSSES", "MEASURED_RISKS", "Exploration", "Output", "Policy", "Step"]
