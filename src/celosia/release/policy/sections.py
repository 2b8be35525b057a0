"""Sections of a policy, as forms that refuse unknown keys.

A new section is a class here and a field of :class:`celosia.release.policy.policy.Policy`: the schema for editors, its
documentation and the message for a misspelt key are derived from them. A field that names a file is a ``FilePath``.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PlainValidator,
    Strict,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import core_schema

from celosia.data.io.filetypes import FileType, type_of
from celosia.data.io.options import option_names, wrong_option
from celosia.data.io.sources import is_url
from celosia.data.memory import bytes_of
from celosia.data.schema import Kind, Missing, Schema
from celosia.errors import ParameterError, suggestion
from celosia.parts import KIND, Loss, Method, Model, Threat, build, from_directory, resolve_paths
from celosia.streams import LARGEST_SEED

MEASURED_RISKS = ("prosecutor",)
MEASURED_LOSSES = ("altered-records", "discernibility")
Language = Literal["en", "es", "ca"]


def directory_of(info: ValidationInfo) -> Path:
    """Directory of the policy file, in which relative paths start."""
    return Path((info.context or {}).get("directory", ""))


def _part(kind: str) -> PlainValidator:
    """Return the validator that builds a part written as ``{use = "name", …}`` or ``name(…)``."""
    return PlainValidator(lambda value, info: build(kind, resolve_paths(kind, value, directory_of(info))))


def _json_kind(kind: str) -> WithJsonSchema:
    return WithJsonSchema({KIND: kind})


ModelPart = Annotated[Model, _part("model"), _json_kind("model")]
ThreatPart = Annotated[Threat, _part("risk or attack"), _json_kind("risk or attack")]
LossPart = Annotated[Loss, _part("loss"), _json_kind("loss")]
Candidate = Annotated[
    Any,
    AfterValidator(lambda value, info: resolve_paths("method", value, directory_of(info))),
    _json_kind("candidate"),
]
FilePath = Annotated[Path, Strict(False), AfterValidator(lambda path, info: directory_of(info) / path)]
Address = Annotated[str, AfterValidator(lambda url, info: from_directory(url, directory_of(info)))]
Names = Annotated[tuple[str, ...], Strict(False)]


class Section(BaseModel):
    """A table of a policy; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, protected_namespaces=())


class OpenSection(Section):
    """A table that also has the options of a reader or a writer; options that it does not accept are refused."""

    model_config = ConfigDict(extra="allow")

    @property
    def options(self) -> dict[str, Any]:
        """Options of the reader or the writer."""
        return dict(self.model_extra or {})

    def check_options(self, call: Callable[..., object] | None, skip: int, further: tuple[str, ...] = ()) -> None:
        """Raise if ``call``, after its first ``skip`` arguments, does not accept an option that is not ``further``."""
        names = option_names(call, skip)
        options = {name: value for name, value in self.options.items() if name not in further}
        for name in options:
            if name not in names:
                raise ValueError(
                    f"has no key {name!r}.{suggestion(name, [*type(self).model_fields, *names, *further])}"
                )
        if call is not None and (wrong := wrong_option(call, skip, options)):
            raise ValueError(wrong)


class Cleaning(Section):
    """Cleaning while reading, before anything is counted: blanks, then spellings, then codes."""

    strip: list[str] = Field(default=[], description="columns of texts whose cells lose the blanks around them")
    same: dict[str, dict[str, str]] = Field(default={}, description="per column, spellings and the one that stays")
    missing: dict[str, list[str | int | float]] = Field(default={}, description="per column, codes that mean missing")


class Input(OpenSection):
    """Input: a file or the result of a query. Further keys are options of the reader, such as the separator."""

    path: FilePath | None = Field(default=None, description="the file; its ending tells the type")
    url: Address | None = Field(default=None, description="address of a database; env:NAME and file:PATH stand for it")
    query: str | None = Field(default=None, description="SQL query, for a database")
    engine: str | None = Field(default=None, description="what holds the rows; the same as engine of the section run")
    clean: Cleaning = Field(default_factory=Cleaning, description="what is cleaned while reading")

    @property
    def source(self) -> str:
        """Path or address."""
        return str(self.path if self.path is not None else self.url)

    @property
    def cleaning_options(self) -> dict[str, Any]:
        """Cleaning options of the reader."""
        return self.clean.model_dump(exclude_defaults=True)

    @model_validator(mode="before")
    @classmethod
    def _no_address(cls, data: object) -> object:
        if isinstance(data, Mapping) and "://" in str(data.get("path", "")):  # the message must not show a password
            raise ValueError("has an address as its path: the address of a database goes under url.")
        return data

    @model_validator(mode="after")
    def _one_source(self) -> Input:
        if (self.path is None) == (self.url is None):
            raise ValueError("needs either path or url.")
        if self.path is not None and not is_url(str(self.path)):
            kind: FileType = type_of(self.path, self.options.get("type"))
            self.check_options(kind.read, 1, ("type",))
        else:
            from celosia.data.io import database

            self.check_options(database.scan, 1)
        return self


class Columns(Section):
    """Columns: their roles, kinds, bounds, orders and hierarchies."""

    identifiers: list[str] = Field(default=[], description="columns that name a person by themselves")
    quasi: list[str] = Field(default=[], description="columns that others may know; together they single people out")
    sensitive: list[str] = Field(default=[], description="columns that nobody must be able to infer")
    insensitive: list[str] = Field(default=[], description="columns that are released as they are")
    weight: str | None = Field(default=None, description="column of sampling weights")
    household: str | None = Field(default=None, description="column that names the household")
    stratum: str | None = Field(default=None, description="column that names the stratum of the sample")
    person: str | None = Field(default=None, description="column that names the person, who may own several rows")
    rest: Literal["insensitive", "error"] = Field(
        default="insensitive", description="a column without a role: left out of the release, or refused"
    )
    kinds: dict[str, Annotated[Kind, Strict(False)]] = Field(default={}, description="what the values of a column are")
    bounds: dict[str, list[float]] = Field(default={}, description="smallest and largest value of a numeric column")
    missing: dict[str, Annotated[Missing, Strict(False)]] = Field(
        default={}, description="how missing values of a quasi-identifier count"
    )
    hierarchies: dict[str, Annotated[Any, _json_kind("hierarchy")]] = Field(
        default={}, description="the hierarchy of a column: a file of levels, or a builder"
    )
    orders: dict[str, list[Any]] = Field(default={}, description="the values of an ordinal column from low to high")

    def schema_in(self, directory: Path) -> Schema:
        """Build the schema; relative paths of hierarchy files start in ``directory``."""
        hierarchies = {name: _hierarchy(value, directory) for name, value in self.hierarchies.items()}
        return Schema.of(**{**self.model_dump(exclude_unset=True), "hierarchies": hierarchies})


def _hierarchy(value: object, directory: Path) -> object:
    if isinstance(value, str) and not value.endswith(")"):
        return from_directory(value, directory)
    return resolve_paths("hierarchy", value, directory) if isinstance(value, str | Mapping) else value


class _Described:
    """Annotation of a field whose value is a schema, or the section ``[schema]`` of a policy."""

    def __get_pydantic_core_schema__(self, _: object, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        def build_schema(value: object, read: Callable[[object], Columns], info: ValidationInfo) -> Schema:
            return value if isinstance(value, Schema) else read(value).schema_in(directory_of(info))

        return core_schema.with_info_wrap_validator_function(build_schema, handler.generate_schema(Columns))


Described = Annotated[Schema, _Described()]


class Measure(Section):
    """Risks, attacks and losses to measure."""

    risks: Annotated[tuple[ThreatPart, ...], Strict(False)] = Field(
        default=MEASURED_RISKS, validate_default=True, description="risks and attacks"
    )
    losses: Annotated[tuple[LossPart, ...], Strict(False)] = Field(
        default=MEASURED_LOSSES, validate_default=True, description="losses"
    )


@dataclass(frozen=True)
class Step:
    """One step of a policy: a method with a name to refer to it."""

    name: str
    method: Method


StepPart = Annotated[Step, _json_kind("step")]


class Output(OpenSection):
    """Output: path, form and columns of the result. Further keys are options of the file's writer."""

    path: FilePath = Field(
        default=Path("safe.csv"), validate_default=True, description="the file; its ending tells the type"
    )
    order: Literal["shuffled", "kept"] = Field(default="shuffled", description="the order of the records")
    columns: Names = Field(default=(), description="columns to release that would otherwise be left out")
    report: bool = Field(default=True, description="whether the two editions of the report are written")
    language: Language = Field(default="en", description="language of the report")
    overwrite: bool = Field(default=False, description="whether a release that is there already is replaced")

    @model_validator(mode="after")
    def _known_options(self) -> Output:
        if not self.path.name:
            raise ValueError("path must name a file, such as safe.csv.")
        if self.options:
            self.check_options(type_of(self.path).write, 3)
        return self


class Guard(Section):
    """Acknowledged findings of the guard."""

    acknowledge: dict[str, str] = Field(
        default={}, description="why a column may leave although the guard sees something in it; it is published"
    )


class Exploration(Section):
    """Candidates and limits of ``celosia explore``."""

    model_config = ConfigDict(populate_by_name=True)

    candidates: Annotated[tuple[Candidate, ...], Strict(False)] | None = Field(
        default=None, alias="candidate", description="methods to try; what the catalogue proposes unless given"
    )
    risk: ThreatPart | None = Field(default=None, description="the risk to measure")
    loss: LossPart | None = Field(default=None, description="the loss to measure")
    seeds: int = Field(default=5, ge=1, le=10_000, description="how often each candidate is tried")
    max_risk: float | None = Field(default=None, ge=0, description="largest risk that is allowed")
    max_loss: float | None = Field(default=None, ge=0, description="largest loss that is allowed")
    budget_seconds: float | None = Field(default=None, ge=0, description="stop after so many seconds")
    workers: int | None = Field(default=None, ge=1, description="processes; one per core unless given")
    store: FilePath | None = Field(default=None, description="file that keeps results; a later run only adds")


class Purpose(Section):
    """What analysts need: the first page of the report states whether it was kept."""

    keep: Names = Field(default=(), description="columns that analysts must keep, the most important first")


class History(Section):
    """Earlier releases about the same people, which a new one must not break."""

    releases: Annotated[tuple[FilePath, ...], Strict(False)] = Field(
        default=(), description="their certificates, each with its file beside it, or released files"
    )
    k: int | None = Field(
        default=None,
        ge=2,
        description="fewest records that the releases together must leave for a person; the k that is required, or 2",
    )
    acknowledge: str = Field(
        default="", description="the reason why a release that breaks an earlier one may be written all the same"
    )


def _seed(value: object) -> int | None:
    """Parse a whole number or hexadecimal digits; no message shows the seed."""
    try:
        seed = value if value is None or type(value) is int else int(str(value), 16)
        refuse_seed(seed)
    except (ParameterError, ValueError):
        raise ValueError("must be a whole number or hexadecimal digits, from 0 to 512 bits.") from None
    return seed


def refuse_seed(seed: int | None) -> None:
    """Raise if a seed is out of range; the message does not show it."""
    if seed is not None and not 0 <= seed <= LARGEST_SEED:
        raise ParameterError("a seed is a whole number from 0 to 512 bits.")


def _memory(value: str | int | None) -> int | None:
    """Parse a number of bytes, or a size as text."""
    try:
        return None if value is None else bytes_of(value)
    except ParameterError as error:
        raise ValueError(str(error).removeprefix("memory: ")) from None


class Run(Section):
    """Seed, engine, memory and switched-off steps of a run."""

    seed: Annotated[int | None, BeforeValidator(_seed, json_schema_input_type=int | str)] = Field(
        default=None, description="seed of at least 65 bits; drawn from the operating system unless given"
    )
    testing: bool = Field(default=False, description="allows a small seed, for tests and demonstrations")
    engine: str | None = Field(
        default=None,
        description="what holds the rows: polars, duckdb or spark, which may name its master (spark:local[4]); "
        "chosen by the size of the input unless given",
    )
    memory: Annotated[int | None, BeforeValidator(_memory, json_schema_input_type=int | str)] = Field(
        default=None,
        description="how much memory the run may use, such as 2GB: what does not fit is spilled to the folder for "
        "temporary files (TMPDIR)",
    )
    without: Names = Field(default=(), description="names of steps that are switched off")
    streams: Literal[1, 2] = Field(
        default=2,
        description="how random streams are named: 2 by the parameters of the steps, 1 by their names, which repeats "
        "releases whose private record states no scheme",
    )


class About(Section):
    """Description of the release for its readers."""

    title: str = Field(default="", description="title of the release")
    organisation: str = Field(default="", description="who publishes it")
    purpose: str = Field(default="", description="what it is published for")
    contact: str = Field(default="", description="whom to ask")
    approver: str = Field(default="", description="who approved it")
    review: Annotated[dt.date | None, Strict(False)] = Field(
        default=None, description="the day by which the decision to publish is looked at again"
    )
