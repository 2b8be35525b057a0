"""What a certificate and a private record look like: what others may have written is checked before it is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from celosia.data.io.atomic import JOURNAL, settle
from celosia.errors import DataError
from celosia.parts.refusals import sentence

CERTIFICATE_FORMAT = "celosia certificate 1"
RECORD_FORMAT = "celosia private record 1"

Counted = Literal["records", "persons", "candidates"]
"""What the sizes of classes count: records of the file, persons, or who could be behind a blanked cell."""


def _plain_name(name: str) -> str:
    if name in {"", ".", ".."} or name != Path(name).name or "\0" in name:
        raise ValueError("must be the name of a file beside the certificate.")
    return name


FileName = Annotated[str, AfterValidator(_plain_name)]
Number = float | Literal["inf", "-inf"]
Hex = Annotated[str, StringConstraints(pattern="^([0-9a-f]{2})+$")]


class _Stated(BaseModel):
    """Entries that are not named here may be there; those that are have these types."""

    model_config = ConfigDict(strict=True, extra="allow", protected_namespaces=())


class Claim(_Stated):
    """A measured number."""

    part: str
    value: Number | None
    counted: Counted | None = None
    withheld: list[str] = []


class Required(Claim):
    """A requirement with its measured number."""

    holds: bool


class Condition(_Stated):
    """A requirement on some of the records, which the file does not tell apart."""

    claim: str
    value: Any


class Beside(_Stated):
    """A further table of the release."""

    file: FileName
    sha256: str


class Released(Beside):
    """The file."""

    rows: int
    columns: list[str]
    suppressed: int


class Roles(_Stated):
    """The declared columns that were released."""

    identifiers: list[str] = []
    quasi: list[str] = []
    sensitive: list[str] = []
    insensitive: list[str] = []
    weight: str | None = None
    household: str | None = None
    stratum: str | None = None
    person: str | None = None
    missing: dict[str, str] = {}


class Certificate(_Stated):
    """The public part of the evidence."""

    format: Literal["celosia certificate 1"]
    release: Released
    roles: Roles = Field(alias="schema")
    counted: Counted
    holds: bool
    requirements: list[Required]
    risks: list[Claim]
    conditions: list[Condition] = []
    tables: list[Beside] = []
    losses: list[Claim] = []
    attacks: list[Claim] = []
    commitments: dict[str, str]


class Input(_Stated):
    """What the release was made of."""

    sha256: str | None


class RecordedStep(_Stated):
    """A step with all its parameters."""

    name: str
    parameters: dict[str, Any]


class Record(_Stated):
    """The private part of the evidence; a policy made it, or a consent request."""

    format: Literal["celosia private record 1"]
    key: Hex
    seed: Annotated[str, StringConstraints(pattern="^[0-9a-f]+$")]
    input: Input
    certificate: str
    committed: dict[str, str] = {}
    policy: str = ""
    steps: list[RecordedStep] = []
    transformation: list[dict[str, Any]] = []
    request: dict[str, Any] = {}

    @model_validator(mode="after")
    def _whole(self) -> Record:
        if len(self.transformation) not in {0, len(self.steps)}:
            raise ValueError("there must be one transformation for each step.")
        return self


def journal_of(path: Path) -> Path:
    """The journal of the release that a certificate or a private record belongs to.

    >>> str(journal_of(Path("out/safe.certificate.json"))), journal_of(Path("private.json")).name
    ('out/.safe.release.json', '.release.json')
    """
    stem = path.name.removesuffix("certificate.json").removesuffix("private.json")
    return path.with_name(f".{stem}{JOURNAL}")


def load_certificate(path: str | Path) -> dict[str, Any]:
    """Read a certificate; what is missing or of another type is told in one sentence."""
    return _loaded(Path(path), "certificate", Certificate, CERTIFICATE_FORMAT)


def load_record(path: str | Path) -> dict[str, Any]:
    """Read a private record; what is missing or of another type is told in one sentence."""
    return _loaded(Path(path), "private record", Record, RECORD_FORMAT)


def _loaded(path: Path, name: str, form: type[BaseModel], expected: str) -> dict[str, Any]:
    settle(journal_of(path))
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path.name} is not JSON.") from None
    if not isinstance(data, dict) or data.get("format") != expected:
        raise DataError(f"{path.name} is no {name}: its form is not {expected!r}.")
    try:
        form.model_validate(data)
    except ValidationError as error:
        first = cast("dict[str, Any]", error.errors()[0])
        raise DataError(f"{path.name} is damaged: {sentence(name, form.model_fields, first)}") from None
    return data
