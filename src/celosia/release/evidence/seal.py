"""Commitments, hashes and files of a release, which bind data, certificate and private record together."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.io.atomic import finish_journal, replace_files
from celosia.release.evidence.certificate import (
    Certificate,
    CertificateDraft,
    FurtherTable,
    Record,
    RecordDraft,
    Signature,
    journal_of,
)
from celosia.release.evidence.plain_data import canonical, plain

if TYPE_CHECKING:
    from celosia.release.evidence.signature import Signer

PRIVATE = frozenset({"record", "internal"})
"""Files of a release that only its owner may read."""


def commitment(key: bytes, content: bytes) -> str:
    """Return a keyed hash of the content, which reveals nothing about it without the key."""
    return hmac.new(key, content, hashlib.sha256).hexdigest()


def commitments_of(record: RecordDraft) -> dict[str, str]:
    """Return the commitments that a private record opens: to its input, its policy, earlier releases, and to itself."""
    key, data = bytes.fromhex(record.key), record.content()
    texts = {"input": str(record.input.sha256)}
    texts |= {"policy": record.policy} if "policy" in data else {}
    texts |= record.committed
    own = {name: value for name, value in data.items() if name not in {"key", "certificate"}}
    return {
        **{name: commitment(key, text.encode()) for name, text in texts.items()},
        "record": commitment(key, canonical(own)),
    }


def seal(
    draft: CertificateDraft,
    record: RecordDraft,
    file: str,
    sha256: str,
    tables: Sequence[FurtherTable] = (),
    signer: Signer | None = None,
) -> tuple[Certificate, Record]:
    """Complete the evidence of a written file: its hash, commitments, a signature, and the certificate's own hash.

    Both are validated again, so that nothing is written that could not be read.
    """
    stated = draft.spec()
    stated["release"] = {"file": file, "sha256": sha256, **stated["release"]}
    if tables:
        stated["tables"] = [table.spec() for table in tables]
    stated["commitments"] = {"how": "HMAC-SHA-256 with a key that the private record holds", **commitments_of(record)}
    certificate = Certificate.model_validate(plain(stated))
    if signer is not None:
        certificate.signature = Signature(**signer.signature(certificate.content()))
    own_hash = hashlib.sha256(canonical(certificate.content())).hexdigest()
    return certificate, Record.model_validate(plain({**record.spec(), "certificate": own_hash}))


@contextlib.contextmanager
def draft_files(
    paths: Mapping[str, Path], stale: Callable[[], Iterable[Path]] = tuple, *, overwrite: bool = False
) -> Iterator[dict[str, Path]]:
    """Yield a draft for each file of a release; all appear in one step when the block succeeds, otherwise none.

    ``stale`` returns the files of an earlier release that are removed in the same step.
    """
    modes = dict.fromkeys(PRIVATE, 0o600)
    journal = journal_of(paths["certificate"])
    with replace_files(paths, journal, modes, stale=stale, fresh=not overwrite) as drafts:
        yield drafts


def finish_interrupted(paths: Mapping[str, Path]) -> None:
    """Finish the release at these paths if a killed process left it half renamed."""
    finish_journal(journal_of(paths["certificate"]))


def fresh_key() -> bytes:
    """Return 256 bits from the operating system."""
    return secrets.token_bytes(32)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def now() -> str:
    """Return the time in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
