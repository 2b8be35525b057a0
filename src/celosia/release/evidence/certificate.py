"""What a certificate and a private record look like: what others may have written is checked before it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from celosia import files
from celosia.data.io.atomic import JOURNAL, settle
from celosia.errors import DataError
from celosia.parts.parameter_errors import sentence

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
    """What is not named here is refused: nobody verifies what nobody knows."""

    model_config = ConfigDict(strict=True, extra="forbid", protected_namespaces=())


class Claim(_Stated):
    """A measured number."""

    part: str = Field(description="what was measured, in the text grammar; parameters that are withheld are left out")
    value: Number | None = Field(description="the number; none where the measure does not apply")
    counted: Counted | None = Field(default=None, description="what sizes of classes count, where it is not the usual")
    withheld: list[str] = Field(default=[], description="parameters that are not published")
    reason: str = Field(default="", description="why the measure does not apply")
    evidence: dict[str, Any] = Field(default={}, description="further numbers of the same measure")


class Required(Claim):
    """A requirement with its measured number."""

    holds: bool = Field(description="whether the release meets it")
    wish: str = Field(default="", description="the requirement in words")


class Condition(_Stated):
    """A requirement on some of the records, which the file does not tell apart."""

    claim: str = Field(description="what holds for them")
    value: Any = Field(description="the smallest size of their classes")
    inference: str = Field(default="", description="the inference that they block")


class Released(_Stated):
    """The file."""

    file: FileName = Field(description="name of the file")
    sha256: str = Field(description="SHA-256 of the file")
    rows: int = Field(description="number of records")
    columns: list[str] = Field(description="names of the columns, in order")
    suppressed: int = Field(description="number of suppressed records")


class Roles(_Stated):
    """The declared columns that were released."""

    identifiers: list[str] = Field(default=[], description="columns that name a person by themselves")
    quasi: list[str] = Field(default=[], description="quasi-identifiers: they form the classes")
    sensitive: list[str] = Field(default=[], description="columns that nobody must be able to infer")
    insensitive: list[str] = Field(default=[], description="columns that were released as they are")
    weight: str | None = Field(default=None, description="column of sampling weights")
    household: str | None = Field(default=None, description="column that names the household")
    stratum: str | None = Field(default=None, description="column that names the stratum")
    person: str | None = Field(default=None, description="column that names the person")
    kinds: dict[str, str] = Field(default={}, description="what the values of each column are")
    missing: dict[str, str] = Field(default={}, description="how missing values of a column count")


class Kept(_Stated):
    """A column that left on the word of the owner."""

    column: str = Field(description="name of the column")
    what: str = Field(description="what the column is: a role that names somebody, or undeclared")
    values: Literal["none", "some", "all"] = Field(
        alias="values of the original", description="how many of its cells hold a value of the original"
    )


class Sighting(_Stated):
    """Something in a released column that could name somebody."""

    column: str = Field(description="name of the column")
    what: str = Field(description="what it looks like")
    cells: int = Field(description="in how many cells")
    of: int = Field(description="of how many")
    acknowledged: str = Field(default="", description="why the owner lets it leave")


class Earlier(_Stated):
    """What the release and earlier ones tell together."""

    checked: list[str] = Field(description="the earlier releases, as the commitments name them")
    attacks: list[Claim] = Field(default=[], description="attacks on several releases")
    broken: bool = Field(default=False, description="whether they reach more together than alone")
    acknowledged: str = Field(default="", description="why the release may be published all the same")


class Checked(_Stated):
    """What a second implementation found in the written file, before the certificate was sealed."""

    confirmed: list[str] = Field(description="parts whose numbers it found as stated, from the whole file")
    sampled: list[str] = Field(default=[], description="parts that a sample of the classes does not contradict")
    not_checked: dict[str, str] = Field(default={}, alias="not checked", description="other parts, and the reason")


class Beside(_Stated):
    """A further table of the release."""

    file: FileName = Field(description="name of the file")
    sha256: str = Field(description="SHA-256 of the file")
    rows: int = Field(default=0, description="number of records")
    columns: list[str] = Field(default=[], description="names of the columns, in order")
    name: str = Field(default="", description="what the table is")
    suppressed: int = Field(default=0, description="number of suppressed records")
    requirements: list[Required] = Field(default=[], description="the requirements, measured on this table")
    risks: list[Claim] = Field(default=[], description="risks measured on this table")
    checked: Checked | None = Field(default=None, description="the check of this table by a second implementation")


class PublicStep(_Stated):
    """A step with the parameters that may be published."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="name of the step in the policy")
    use: str = Field(description="the method; its parameters stand beside it")
    withheld: list[str] = Field(default=[], description="parameters that are not published")
    evidence: dict[str, Any] = Field(default={}, description="what the method reports, as far as it is public")


class Cover(_Stated):
    """What the release is, for its readers, as the policy says it."""

    title: str = Field(default="", description="title of the release")
    organisation: str = Field(default="", description="who publishes it")
    purpose: str = Field(default="", description="what it is published for")
    contact: str = Field(default="", description="whom to ask")
    approver: str = Field(default="", description="who approved it")
    review: str = Field(default="", description="the day by which the decision is looked at again")


class Signature(_Stated):
    """Who vouches for the certificate."""

    how: str = Field(description="what is signed, and how")
    key: Hex = Field(description="the public key, in hexadecimal digits")
    value: Hex = Field(description="the signature, in hexadecimal digits")


class Certificate(_Stated):
    """The public part of the evidence; a policy made the release, or a consent request."""

    format: Literal["celosia certificate 1"] = Field(description="the version of this form")
    celosia: str = Field(default="", description="version of Celosia that made the release")
    created: str = Field(default="", description="when, in UTC")
    made_by: str = Field(default="", alias="made by", description="the command that made it, where no policy did")
    test: str = Field(default="", description="there when the release was made for a test, not for publication")
    about: Cover = Field(default_factory=Cover, description="what the release is, for its readers")
    release: Released = Field(description="the file")
    tables: list[Beside] = Field(default=[], description="further tables of the release")
    roles: Roles = Field(alias="schema", description="the declared columns")
    counted: Counted = Field(description="what sizes of classes count")
    left_out: Annotated[int, Field(ge=0)] | list[str] = Field(
        default=0,
        description="number of columns of the input that were not released, or their names where a request names them",
    )
    kept: list[Kept] = Field(default=[], description="columns that left on the word of the owner")
    guard: list[Sighting] = Field(default=[], description="what the guard saw in the released columns")
    history: Earlier | None = Field(default=None, description="the check against earlier releases")
    holds: bool = Field(description="whether every requirement holds")
    requirements: list[Required] = Field(description="the requirements with their measured numbers")
    checked: Checked | None = Field(default=None, description="the check by a second implementation")
    conditions: list[Condition] = Field(default=[], description="requirements on some of the records")
    risks: list[Claim] = Field(description="risks measured on the release")
    losses: list[Claim] = Field(default=[], description="what was lost, against the original")
    attacks: list[Claim] = Field(default=[], description="attacks, against the original")
    formal: str = Field(default="", description="why measures against the original are withheld")
    steps: list[PublicStep] = Field(default=[], description="what was done, one after the other")
    baseline: str = Field(default="", description="what distributions are compared with")
    order: Literal["shuffled", "kept"] = Field(default="shuffled", description="the order of the records")
    commitments: dict[str, str] = Field(
        description="keyed hashes of the input, the policy and the private record; the record holds the key"
    )
    signature: Signature | None = Field(default=None, description="signature of its author, where there is one")
    parameters: dict[str, Any] = Field(default={}, description="of a consent request: how it protects")
    inferences: list[dict[str, Any]] = Field(default=[], description="of a consent request: the blocked inferences")
    owners: Any = Field(default=None, description="of a consent request: number of owners")
    owners_who_block: Any = Field(default=None, alias="owners who block", description="how many of them block")
    rows_marked: Any = Field(default=None, alias="rows marked", description="rows of owners who block")
    facts: dict[str, Any] = Field(default={}, description="of a consent request: facts about the protection")
    before: Any = Field(default=None, description="of a consent request: the result before it was protected")
    measured: Any = Field(default=None, description="of a consent request: attacks on the release")
    withheld: Any = Field(default=None, description="of a consent request: numbers that are not published")


class Input(_Stated):
    """What the release was made of."""

    sha256: str | None = Field(description="SHA-256 of the file, or of the result of the query")
    file: str = Field(default="", description="name of the file")
    content: str = Field(default="", description="fingerprint of the records")
    rows: int | None = Field(default=None, description="number of records")


class RecordedStep(_Stated):
    """A step with all its parameters."""

    name: str = Field(description="name of the step in the policy")
    parameters: dict[str, Any] = Field(description="the method with all parameters, private ones too")
    evidence: dict[str, Any] = Field(default={}, description="what the method reports about its work, all of it")


class Order(_Stated):
    """What tells which record of the input each released one is."""

    rows: int = Field(description="number of released records")
    key: Hex | None = Field(default=None, description="key of the stream that they are sorted by; none when kept")
    left: str = Field(default="", description="which records of the input are left, where some are not; compressed")


class Record(_Stated):
    """The private part of the evidence; a policy made it, or a consent request."""

    format: Literal["celosia private record 1"] = Field(description="the version of this form")
    celosia: str = Field(default="", description="version of Celosia that made the release")
    created: str = Field(default="", description="when, in UTC")
    key: Hex = Field(description="the key of the commitments")
    seed: Annotated[str, StringConstraints(pattern="^[0-9a-f]+$")] = Field(description="the seed of the run")
    input: Input = Field(description="what the release was made of")
    certificate: str = Field(description="SHA-256 of the certificate")
    committed: dict[str, str] = Field(default={}, description="what else is committed to, by name")
    policy: str = Field(default="", description="the text of the policy")
    folder: str = Field(default="", description="the folder of the policy, seen from the record: its paths start there")
    steps: list[RecordedStep] = Field(default=[], description="the steps that were run")
    streams: int = Field(default=1, description="scheme of the random streams: 2 depends on the steps before")
    transformation: list[dict[str, Any]] = Field(default=[], description="what each step did, for new records")
    order: Order | None = Field(default=None, description="which record of the input each released one is")
    rows: str = Field(
        default="",
        description="the same in an earlier version, or of a consent request; compressed",
    )
    owners: str = Field(
        default="",
        description="a number for the person of each record that is left, in the order of the input; compressed",
    )
    persons: str = Field(default="", description="the same in an earlier version, in the order of the release")
    before: dict[str, Any] = Field(default={}, description="the assessment of the input")
    after: dict[str, Any] = Field(default={}, description="the assessment of the release")
    comparison: dict[str, Any] = Field(default={}, description="losses and attacks")
    history: list[dict[str, Any]] = Field(default=[], description="the attacks on this and earlier releases")
    types: dict[str, str] = Field(default={}, description="the type of each column of the input")
    left_out: dict[str, str] = Field(default={}, description="columns that were not released, and why")
    request: dict[str, Any] = Field(default={}, description="the consent request")
    design: dict[str, Any] = Field(default={}, description="how a consent request protects")
    moment: Any = Field(default=None, description="the state of the choices that a consent request honoured")
    default: str = Field(default="", description="what an unanswered question meant to a consent request")
    report: dict[str, Any] = Field(default={}, description="the whole report of a consent request")

    @model_validator(mode="after")
    def _whole(self) -> Record:
        if len(self.transformation) not in {0, len(self.steps)}:
            raise ValueError("there must be one transformation for each step.")
        return self


LARGEST_RECORD = 16 << 30
"""Bytes of a private record: it names every row."""


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
    try:
        if path.name:
            settle(journal_of(path))
        data = files.json_document(files.text(path, largest=LARGEST_RECORD))
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except files.DuplicateKey as error:
        raise DataError(f"{path.name} is ambiguous: {error}. No program of Celosia writes that.") from None
    except ValueError:
        raise DataError(f"{path.name} is not JSON.") from None
    if not isinstance(data, dict) or data.get("format") != expected:
        raise DataError(f"{path.name} is no {name}: its form is not {expected!r}.")
    try:
        form.model_validate(data)
    except ValidationError as error:
        first = cast("dict[str, Any]", error.errors()[0])
        raise DataError(f"{path.name} is damaged: {sentence(name, form.model_fields, first)}") from None
    return data
