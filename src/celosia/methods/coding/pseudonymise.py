"""Replace identifiers by pseudonyms."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field, model_validator

from celosia import files
from celosia.data.credentials import SHORTEST_KEY, is_reference, key_bytes
from celosia.errors import DataError, ParameterError
from celosia.methods.bases.by_rows import EACH_CELL
from celosia.parts import (
    Columns,
    CountsRows,
    Credential,
    Method,
    PersonUnit,
    Place,
    PublishesEvidence,
    RecordByRecord,
    refuse_replay,
)
from celosia.table import Outcome
from celosia.table.columns import count_values
from celosia.table.edit import map_values

if TYPE_CHECKING:
    from celosia.streams import Stream
    from celosia.table import Table


class Pseudonymise(PublishesEvidence, RecordByRecord, Method):
    r"""Replace each value by a keyed hash: equal values get equal pseudonyms, and only the key can make one.

    .. math:: p(x) = \operatorname{base32}\big(\operatorname{HMAC}_K(\text{domain} \,\|\, x)\big)_{1 \dots \ell}

    Without a key one is derived from the seed of the run and the data, so that another run gives other pseudonyms;
    give ``key`` or ``key_file`` (at least 16 bytes) to link releases and tables. The table that leads back is kept in
    the private record only. Pseudonymous data are still personal data: rows of one person stay linked. References:
    RFC 2104.

    >>> import polars as pl, celosia
    >>> table = celosia.read(pl.DataFrame({"id": ["a", "b", "a"]}), celosia.Schema.of(identifiers=["id"]))
    >>> pseudonyms = celosia.protect(table, Pseudonymise(columns=["id"], key="correct horse battery")).polars()["id"]
    >>> pseudonyms[0] == pseudonyms[2] != pseudonyms[1], pseudonyms.str.len_chars().to_list()
    (True, [16, 16, 16])
    """

    columns: Columns = Field(min_length=1, description="columns to replace")
    key: Annotated[str | None, Credential()] = Field(
        default=None, description="secret of at least 16 bytes, or env:NAME, file:PATH; from the seed if not given"
    )
    key_file: Annotated[Path | None, Place()] = Field(default=None, description="file that holds the key")
    length: int = Field(default=16, ge=8, le=52, description="characters of a pseudonym, 5 bits each")
    prefix: str = Field(default="", description="text before each pseudonym")
    domain: str = Field(default="", description="name of what is identified; other domains get other pseudonyms")
    reverse: bool = Field(default=True, description="keep the table that leads back in the private record")
    public_evidence: ClassVar[frozenset[str]] = frozenset({"replaced"})
    persons: ClassVar[PersonUnit] = CountsRows(EACH_CELL)
    not_replayable_because: ClassVar[str] = (
        "its key came from the seed and the data of that run. Give key or key_file to link files"
    )
    examples: ClassVar = ({"columns": ["name"]}, {"columns": ["name"], "key": "correct horse battery"})

    @model_validator(mode="after")
    def _key_is_long(self) -> Pseudonymise:
        if self.key is not None and self.key_file is not None:
            raise ParameterError("pseudonymise: give key or key_file, not both.")
        if self.key is not None and not is_reference(self.key):
            key_bytes(self.key, self.name)
        return self

    def freeze(self, recorded: Mapping[str, Any]) -> Method:  # noqa: ARG002
        """Return the method itself, which needs the key of the release."""
        if self.key is None and self.key_file is None:
            raise refuse_replay(self)
        return self

    def apply(self, table: Table, stream: Stream) -> Outcome:
        """Replace the values, column by column; equal values of two columns get equal pseudonyms."""
        from celosia.hierarchy import texts

        key = self._key(stream)
        back: dict[str, str] = {}
        replaced = table
        for name in dict.fromkeys(self.columns):
            values = count_values(table, name)[name].drop_nulls()
            originals = [str(text) for text in texts(values)]
            pseudonyms = [self._pseudonym(key, text) for text in originals]
            for pseudonym, text in zip(pseudonyms, originals, strict=True):
                if back.setdefault(pseudonym, text) != text:
                    raise DataError(
                        f"pseudonymise: two values of column {name!r} would get one pseudonym; use a greater length"
                        f" than {self.length}."
                    )
            replaced = map_values(replaced, name, values, pseudonyms)
        private = {"pseudonyms": back} if self.reverse else {}
        return Outcome(replaced, {"replaced": list(self.columns), "values": len(back)}, private)

    def _key(self, stream: Stream) -> bytes:
        if self.key is not None:
            return key_bytes(self.key, self.name)
        if self.key_file is None:
            return stream.child("pseudonyms").key()
        try:
            key = files.regular_file(self.key_file).read_bytes().strip()
        except OSError as error:
            raise ParameterError(f"pseudonymise: cannot read the key file: {error.strerror}.") from None
        if len(key) < SHORTEST_KEY:
            raise ParameterError(f"pseudonymise: the key file must hold at least {SHORTEST_KEY} bytes, got {len(key)}.")
        return key

    def _pseudonym(self, key: bytes, text: str) -> str:
        digest = hmac.digest(key, f"{self.domain}\x1f{text}".encode(), hashlib.sha256)
        return self.prefix + base64.b32encode(digest).decode().lower()[: self.length]
