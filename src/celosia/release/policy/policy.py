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
    Purpose,
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
    """Policy of a release: input, schema, requirements, steps, measures, output and how to run it."""

    format: Literal[1] = Field(default=1, description="the version of this form")
    about: About = Field(default_factory=About, description="what the release is, for its readers")
    purpose: Purpose = Field(default_factory=Purpose, description="what analysts need")
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
        """Build a policy from its sections as in a file; parts and a schema may be built already.

        >>> Policy.of({"input": {"path": "people.csv"}, "require": ["k-anonymity(k=5)"]}).require
        (KAnonymity(k=5),)
        """
        try:
            # the default of the output starts from the directory as well
            policy = cls.model_validate({"output": {}, **sections}, context={"directory": directory})
        except ValidationError as error:
            findings = cast("list[dict[str, Any]]", error.errors())
            # a misspelt key often is the one that is missing
            finding = next((each for each in findings if each["type"] == "extra_forbidden"), findings[0])
            raise PolicyError(f"{name}: {_refusal(cls, finding)}") from None
        policy._text, policy._directory = text, directory  # noqa: SLF001  (of its own class)
        return policy

    @classmethod
    def from_record(cls, record: RecordDraft, directory: Path) -> Policy:
        """Read the policy in a private record; ``directory`` is that of the record, where its relative paths start."""
        own = directory / record.folder
        return cls.parse(record.policy, own if own.is_dir() else directory, "the policy in the record")

    @field_validator("steps", mode="plain", json_schema_input_type=tuple[StepPart, ...])
    @classmethod
    def _steps(cls, entries: object, info: ValidationInfo) -> tuple[Step, ...]:
        """Build the steps; a step that needs requirements and has none gets those of the policy."""
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
    def _require_protection(cls, require: tuple[Model, ...]) -> tuple[Model, ...]:
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
        """Text of the policy file, comments included; empty if the policy was built in Python."""
        return self._text

    @property
    def directory(self) -> Path:
        """Directory in which its relative paths start."""
        return self._directory

    @property
    def schema(self) -> Schema:  # type: ignore[override]  # pydantic has a deprecated function of this name
        """Schema of the columns."""
        return self.columns

    @property
    def source(self) -> str:
        """Path or address of the data."""
        return self.input.source

    @property
    def risks(self) -> tuple[Threat, ...]:
        """Risks and attacks to measure."""
        return self.measure.risks

    @property
    def losses(self) -> tuple[Loss, ...]:
        """Losses to measure."""
        return self.measure.losses

    def table(
        self,
        schema: Schema | None = None,
        engine: str | None = None,
        memory: str | int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Table:
        """Read the input under the schema of the policy or another one, with further options of the reader."""
        return read(
            self.input.source,
            schema or self.schema,
            engine=engine or self.run.engine or self.input.engine,
            memory=memory or self.run.memory,
            query=self.input.query,
            clean=self.input.cleaning_options,
            empty="missing",
            **{**self.input.options, **(options or {})},
        )

    def like(self, source: object, engine: str | None = None) -> Table:
        """Read other records, cleaned like the input, with its reader options if the type of file is the same."""
        path = self.input.path
        file = source if isinstance(source, str | Path) and not is_url(str(source)) else None
        alike = file is not None and path is not None and type_of(file) is type_of(path)
        options = self.input.options if alike else {}
        return read(source, self.schema, engine=engine, clean=self.input.cleaning_options, empty="missing", **options)

    def select(self, *, until: str | None = None, without: Iterable[str] = ()) -> Policy:
        """Return a copy with the steps up to ``until``, without those named in ``without`` or in ``run.without``."""
        names = [step.name for step in self.steps]
        for wanted in [*([until] if until else []), *without]:
            if wanted not in names:
                raise UnknownName.of("step", wanted, names)
        last = names.index(until) + 1 if until else len(names)
        left_out = {*without, *self.run.without}
        kept = tuple(step for step in self.steps[:last] if step.name not in left_out)
        return self.model_copy(update={"steps": kept})


def _step(entry: object, position: int, info: ValidationInfo) -> Step:
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
"""Keys under which values of the data are listed by column: a message names the column and shows no value."""


def _refusal(form: type[BaseModel], finding: Mapping[str, Any]) -> str:
    """Message for an error of pydantic: the section, the key, what is wrong."""
    path = [step for step in finding["loc"] if not str(step).startswith(("function-", "tagged-"))]
    if finding["type"] == "extra_forbidden":
        keys = _keys(form, path[:-1])
        where = f"[{'.'.join(map(str, path[:-1]))}]" if path[:-1] else "the policy"
        return f"{where} has no key {path[-1]!r}.{suggestion(str(path[-1]), keys)}"
    if finding["type"] == "missing":
        return f"{_place(path[:-1])} needs {path[-1]}." if path[:-1] else f"the policy needs [{path[-1]}]."
    if finding["type"] == "value_error":
        return _with_place(path, str(finding["ctx"]["error"]))
    if finding["type"] in {"model_type", "dict_type"}:
        return f"[{'.'.join(map(str, path))}] must be a table."
    rule = phrase(finding)
    values = next((place for place in VALUES if tuple(path[: len(place)]) == place), None)
    if values is not None and len(path) > len(values):
        inside = ": something in it" if len(path) > len(values) + 1 else ""
        return f"{_place(path[: len(values) + 1])}{inside} {rule}."
    if finding["type"] == "greater_than_equal":
        least = finding["ctx"]["ge"]
        rule = f"must be a {'whole ' if isinstance(least, int) else ''}number of at least {least:g}"
    return f"{_place(path)} {rule}, got {shorten(finding.get('input'))}."


def _with_place(path: list[Any], message: str) -> str:
    """Put the place in the policy in front of a message of Celosia that does not begin with one."""
    if message.startswith("[[step]]") or not path:
        return message
    if message.startswith(("needs ", "has no key ")):
        return f"[{'.'.join(map(str, path))}] {message}"
    return f"{_place(path)} {message}" if message.startswith("must ") else f"{_place(path)}: {message}"


def _place(path: list[Any]) -> str:
    """Place in a policy as text: ``output.order``, ``require 2``."""
    names = ".".join(str(step) for step in path if not isinstance(step, int))
    positions = [step + 1 for step in path if isinstance(step, int)]
    return f"{names} {positions[0]}" if positions else names


def _keys(form: type[BaseModel], path: list[Any]) -> list[str]:
    """Names of the keys that the policy accepts in the section at a path."""
    for step in path:
        info = next(info for name, info in form.model_fields.items() if step in (name, info.alias))
        form = Columns if step == "schema" else cast("type[BaseModel]", info.annotation)
    return [info.alias or name for name, info in form.model_fields.items()]


__all__ = ["MEASURED_LOSSES", "MEASURED_RISKS", "Exploration", "Output", "Policy", "Step"]
