"""Forms of a certificate and a private record: typed, versioned, and validated when a file is read.

Keys that earlier versions wrote in another form are still read: they are the further ``validation_alias`` of a field.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeVar, cast

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    model_validator,
)

from celosia import files
from celosia.data.io.atomic import JOURNAL, finish_journal
from celosia.errors import DataError
from celosia.parts.parameter_errors import sentence

CERTIFICATE_FORMAT: Final = "celosia certificate 1"
RECORD_FORMAT: Final = "celosia private record 1"

Counted = Literal["records", "persons", "candidates"]
"""Unit of class sizes: records of the file, persons, or records that could be behind a blanked cell."""


def _plain_name(name: str) -> str:
    if name in {"", ".", ".."} or name != Path(name).name or "\0" in name:
        raise ValueError("must be the name of a file beside the certificate.")
    return name


FileName = Annotated[str, AfterValidator(_plain_name)]
Number = int | float | Literal["inf", "-inf"]
Hex = Annotated[str, StringConstraints(pattern="^([0-9a-f]{2})+$")]
Facts = dict[str, JsonValue]
"""Plain data whose keys depend on the part that reports them."""


class Form(BaseModel):
    """Base of the forms: an undeclared key is refused, because it could not be verified."""

    model_config = ConfigDict(strict=True, extra="forbid", protected_namespaces=(), populate_by_name=True)

    def spec(self) -> dict[str, Any]:
        """Return the fields that were set as plain data."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class Document(Form):
    """Base of the documents that are hashed and signed."""

    _read: dict[str, Any] | None = PrivateAttr(default=None)

    def content(self) -> dict[str, Any]:
        """Return the data that hashes and signatures cover: as it was read, or as it will be written."""
        return self.spec() if self._read is None else self._read

    @classmethod
    def of_file(cls, data: dict[str, Any]) -> Self:
        """Validate the data of a file, and keep it as it was written."""
        document = cls.model_validate(data)
        document._read = data  # noqa: SLF001  (of its own class)
        return document


class Claim(Form):
    """Entry of a certificate for one measure: its value, its parameters, and what was withheld."""

    part: str = Field(description="what was measured, in the text grammar; parameters that are withheld are left out")
    value: Number | None = Field(description="the number; none where the measure does not apply")
    counted: Counted | None = Field(default=None, description="unit of class sizes, where it is not the usual one")
    withheld: list[str] = Field(default=[], description="parameters that are not published")
    reason: str = Field(default="", description="why the measure does not apply")
    evidence: Facts = Field(default={}, description="further numbers of the same measure")

    @property
    def number(self) -> float | None:
        """The value as a number; None where the measure does not apply."""
        return None if self.value is None else float(self.value)


class Requirement(Claim):
    """A requirement with its measured number."""

    holds: bool = Field(description="whether the release meets it")
    wish: str = Field(default="", description="the requirement as a text")


class Condition(Form):
    """A requirement on some of the records, which the file does not identify."""

    claim: str = Field(description="what holds for them")
    value: JsonValue = Field(description="the smallest size of their classes")
    inference: str = Field(default="", description="the inference that they block")


class ReleasedTable(Form):
    """Size of a released table."""

    rows: int = Field(description="number of records")
    columns: list[str] = Field(description="names of the columns, in order")
    suppressed: int = Field(description="number of suppressed records")


class ReleasedFile(ReleasedTable):
    """The released file."""

    file: FileName = Field(description="name of the file")
    sha256: str = Field(description="SHA-256 of the file")


class Roles(Form):
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

    @property
    def declared(self) -> set[str]:
        """Names of the columns with one of the four roles that state how a column is protected."""
        return {*self.identifiers, *self.quasi, *self.sensitive, *self.insensitive}


class KeptColumn(Form):
    """A column that is released on the responsibility of the data owner."""

    column: str = Field(description="name of the column")
    what: str = Field(description="what the column is: a role that names somebody, or undeclared")
    values_of_original: Literal["none", "some", "all"] = Field(
        validation_alias=AliasChoices("values_of_original", "values of the original"),
        description="how many of its cells hold a value of the original",
    )


class GuardEntry(Form):
    """A finding of the guard: something in a released column that could identify a person."""

    column: str = Field(description="name of the column")
    what: str = Field(description="what it looks like")
    cells: int | None = Field(default=None, description="in how many cells; none if the original decides the count")
    of: int = Field(description="of how many")
    acknowledged: str = Field(default="", description="why the owner releases it")


class HistoryCheck(Form):
    """Result of the attacks on the release together with earlier ones."""

    checked: list[str] = Field(description="the earlier releases, as the commitments name them")
    attacks: list[Claim] = Field(default=[], description="attacks on several releases")
    broken: bool = Field(default=False, description="whether they reach more together than alone")
    acknowledged: str = Field(default="", description="why the release may be published all the same")


class SecondCheck(Form):
    """Result of a second implementation on the written file, before the certificate was sealed."""

    confirmed: list[str] = Field(description="parts whose numbers it computed as stated, from the whole file")
    sampled: list[str] = Field(default=[], description="parts that a sample of the classes does not contradict")
    not_checked: dict[str, str] = Field(
        default={},
        validation_alias=AliasChoices("not_checked", "not checked"),
        description="other parts, and the reason",
    )


class FurtherTable(Form):
    """A further table of the release."""

    name: str = Field(default="", description="what the table is")
    file: FileName = Field(description="name of the file")
    sha256: str = Field(description="SHA-256 of the file")
    rows: int = Field(default=0, description="number of records")
    columns: list[str] = Field(default=[], description="names of the columns, in order")
    suppressed: int = Field(default=0, description="number of suppressed records")
    requirements: list[Requirement] = Field(default=[], description="the requirements, measured on this table")
    risks: list[Claim] = Field(default=[], description="risks measured on this table")
    checked: SecondCheck | None = Field(default=None, description="the check of this table by a second implementation")


class PublicStep(Form):
    """A step with the parameters that may be published."""

    model_config = ConfigDict(extra="allow")

    name: str = Field(description="name of the step in the policy")
    use: str = Field(description="the method; its parameters stand beside it")
    withheld: list[str] = Field(default=[], description="parameters that are not published")
    evidence: Facts = Field(default={}, description="what the method reports, as far as it is public")

    @property
    def parameters(self) -> Facts:
        """The published parameters of the method."""
        return dict(self.model_extra or {})


class About(Form):
    """Description of the release for its readers, from the policy."""

    title: str = Field(default="", description="title of the release")
    organisation: str = Field(default="", description="who publishes it")
    purpose: str = Field(default="", description="what it is published for")
    contact: str = Field(default="", description="whom to ask")
    approver: str = Field(default="", description="who approved it")
    review: str = Field(default="", description="the day by which the decision is reviewed")


class Signature(Form):
    """The signature of the author of a certificate."""

    how: str = Field(description="what is signed, and how")
    key: Hex = Field(description="the public key, in hexadecimal digits")
    value: Hex = Field(description="the signature, in hexadecimal digits")


class CertificateDraft(Document):
    """The public part of the evidence before the file is written; a policy or a consent request made the release."""

    format: Literal["celosia certificate 1"] = Field(description="the version of this form")
    celosia: str = Field(default="", description="version of Celosia that made the release")
    created: str = Field(default="", description="when, in UTC")
    made_by: str = Field(
        default="",
        validation_alias=AliasChoices("made_by", "made by"),
        description="the command that made it, where no policy did",
    )
    test: str = Field(default="", description="there when the release was made for a test, not for publication")
    about: About = Field(default_factory=About, description="what the release is, for its readers")
    release: ReleasedTable = Field(description="the file")
    tables: list[FurtherTable] = Field(default=[], description="further tables of the release")
    roles: Roles = Field(alias="schema", description="the declared columns")
    counted: Counted = Field(description="unit of class sizes")
    left_out: Annotated[int, Field(ge=0)] | list[str] = Field(
        default=0,
        description="number of columns of the input that were not released, or their names where a request names them",
    )
    kept: list[KeptColumn] = Field(default=[], description="columns that the owner releases on purpose")
    guard: list[GuardEntry] = Field(default=[], description="findings of the guard in the released columns")
    history: HistoryCheck | None = Field(default=None, description="the check against earlier releases")
    holds: bool = Field(description="whether every requirement holds")
    requirements: list[Requirement] = Field(description="the requirements with their measured numbers")
    checked: SecondCheck | None = Field(default=None, description="the check by a second implementation")
    conditions: list[Condition] = Field(default=[], description="requirements on some of the records")
    risks: list[Claim] = Field(description="risks measured on the release")
    losses: list[Claim] = Field(default=[], description="what was lost, against the original")
    attacks: list[Claim] = Field(default=[], description="attacks, against the original")
    formal: str = Field(default="", description="why measures against the original are withheld")
    steps: list[PublicStep] = Field(default=[], description="what was done, one after the other")
    baseline: str = Field(default="", description="what distributions are compared with")
    order: Literal["shuffled", "kept"] = Field(default="shuffled", description="the order of the records")
    parameters: Facts = Field(default={}, description="of a consent request: how it protects")
    inferences: list[Facts] = Field(default=[], description="of a consent request: the blocked inferences")
    owners: JsonValue = Field(default=None, description="of a consent request: number of owners")
    owners_who_block: JsonValue = Field(
        default=None,
        validation_alias=AliasChoices("owners_who_block", "owners who block"),
        description="how many of them block",
    )
    rows_marked: JsonValue = Field(
        default=None,
        validation_alias=AliasChoices("rows_marked", "rows marked"),
        description="rows of owners who block",
    )
    facts: Facts = Field(default={}, description="of a consent request: facts about the protection")
    before: JsonValue = Field(default=None, description="of a consent request: the result before it was protected")
    measured: JsonValue = Field(default=None, description="of a consent request: attacks on the release")
    withheld: JsonValue = Field(default=None, description="of a consent request: numbers that are not published")


class Certificate(CertificateDraft):
    """The public part of the evidence; a policy or a consent request made the release."""

    release: ReleasedFile = Field(description="the file")
    commitments: dict[str, str] = Field(
        description="keyed hashes of the input, the policy and the private record; the record holds the key"
    )
    signature: Signature | None = Field(default=None, description="signature of its author, where there is one")


class Input(Form):
    """Input of the release."""

    sha256: str | None = Field(description="SHA-256 of the file, or of the result of the query")
    file: str = Field(default="", description="name of the file")
    content: str = Field(default="", description="fingerprint of the records")
    rows: int | None = Field(default=None, description="number of records")


class RecordedStep(Form):
    """A step with all its parameters."""

    name: str = Field(description="name of the step in the policy")
    parameters: Facts = Field(description="the method with all parameters, private ones too")
    evidence: Facts = Field(default={}, description="what the method reports about its work, all of it")


class Order(Form):
    """Which record of the input each released row is, in short."""

    rows: int = Field(description="number of released records")
    key: Hex | None = Field(default=None, description="key of the stream that they are sorted by; none when kept")
    left: str = Field(default="", description="which records of the input remain, where some do not; compressed")


class AssessmentForm(Form):
    """Requirements and risks of one table."""

    rows: int = Field(description="number of records")
    suppressed: int = Field(description="number of suppressed records")
    quasi: list[str] = Field(description="quasi-identifiers")
    guessed: bool = Field(description="whether the roles of the columns were guessed")
    requirements: list[Requirement] = Field(description="the requirements with their measured numbers")
    risks: list[Claim] = Field(description="the measured risks")


class PairSizes(Form):
    """Number of records of two tables."""

    original: int = Field(description="of the original")
    protected: int = Field(description="of the protected table")


class ComparisonForm(Form):
    """Losses and attacks between an original and a protected table."""

    rows: PairSizes = Field(description="number of records")
    losses: list[Claim] = Field(description="the measured losses")
    risks: list[Claim] = Field(description="the measured attacks")


class RecordDraft(Document):
    """The private part of the evidence before the certificate is sealed."""

    format: Literal["celosia private record 1"] = Field(description="the version of this form")
    celosia: str = Field(default="", description="version of Celosia that made the release")
    created: str = Field(default="", description="when, in UTC")
    key: Hex = Field(description="the key of the commitments")
    seed: Annotated[str, StringConstraints(pattern="^[0-9a-f]+$")] = Field(description="the seed of the run")
    input: Input = Field(description="what the release was made of")
    committed: dict[str, str] = Field(default={}, description="what else is committed to, by name")
    policy: str = Field(default="", description="the text of the policy")
    folder: str = Field(default="", description="the folder of the policy, seen from the record: its paths start there")
    steps: list[RecordedStep] = Field(default=[], description="the steps that were run")
    streams: Literal[1, 2] = Field(
        default=1, description="scheme of the random streams: 2 depends on the steps before, 1 on the names of steps"
    )
    transformation: list[Facts] = Field(default=[], description="what each step did, for new records")
    order: Order | None = Field(default=None, description="which record of the input each released one is")
    rows: str = Field(
        default="",
        description="the row map in an earlier version, or of a consent request; compressed",
    )
    owners: str = Field(
        default="",
        description="a number for the person of each record that remains, in the order of the input; compressed",
    )
    persons: str = Field(default="", description="owners in an earlier version, in the order of the release")
    before: AssessmentForm | None = Field(default=None, description="the assessment of the input")
    after: AssessmentForm | None = Field(default=None, description="the assessment of the release")
    comparison: ComparisonForm | None = Field(default=None, description="losses and attacks")
    history: list[Claim] = Field(default=[], description="the attacks on this and earlier releases")
    types: dict[str, str] = Field(default={}, description="the type of each column of the input")
    left_out: dict[str, str] = Field(default={}, description="columns that were not released, and why")
    request: Facts = Field(default={}, description="the consent request")
    design: Facts = Field(default={}, description="how a consent request protects")
    moment: JsonValue = Field(default=None, description="the state of the choices that a consent request honoured")
    default: str = Field(default="", description="what an unanswered question meant to a consent request")
    report: Facts = Field(default={}, description="the whole report of a consent request")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.transformation) not in {0, len(self.steps)}:
            raise ValueError("there must be one transformation for each step.")
        return self


class Record(RecordDraft):
    """The private part of the evidence; a policy or a consent request made the release."""

    certificate: str = Field(description="SHA-256 of the certificate")


LARGEST_RECORD = 16 << 30
"""Largest number of bytes of a private record: it names every row."""


def journal_of(path: Path) -> Path:
    """Return the path of the journal of the release that a certificate or a private record belongs to.

    >>> str(journal_of(Path("out/safe.certificate.json"))), journal_of(Path("private.json")).name
    ('out/.safe.release.json', '.release.json')
    """
    stem = path.name.removesuffix("certificate.json").removesuffix("private.json")
    return path.with_name(f".{stem}{JOURNAL}")


def load_certificate(path: str | Path) -> Certificate:
    """Read a certificate; raise with one sentence if a field is missing or of another type."""
    return _load(Path(path), "certificate", Certificate, CERTIFICATE_FORMAT)


def load_record(path: str | Path) -> Record:
    """Read a private record; raise with one sentence if a field is missing or of another type."""
    return _load(Path(path), "private record", Record, RECORD_FORMAT)


D = TypeVar("D", bound=Document)


def _load(path: Path, name: str, form: type[D], expected: str) -> D:
    try:
        if path.name:
            finish_journal(journal_of(path))
        data = files.json_document(files.text(path, largest=LARGEST_RECORD))
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    except files.DuplicateKey as error:
        raise DataError(f"{path.name} is ambiguous: {error}. No program of Celosia writes that.") from None
    except ValueError:
        raise DataError(f"{path.name} is not JSON.") from None
    if not isinstance(data, dict) or data.get("format") != expected:
        raise DataError(f"{path.name} is no {name}: its form is not {expected!r}.")
    return _validate(form, data, path.name, name)


def record_of(data: Mapping[str, Any]) -> RecordDraft:
    """Validate the plain data of a private record, such as ``release.record``."""
    form = Record if "certificate" in data else RecordDraft
    return _validate(form, dict(data), "the private record", "private record")


def _validate(form: type[D], data: dict[str, Any], what: str, name: str) -> D:
    try:
        return form.of_file(data)
    except ValidationError as error:
        first = cast("dict[str, Any]", error.errors()[0])
        raise DataError(f"{what} is damaged: {sentence(name, form.model_fields, first)}") from None
