"""Ed25519 signatures: proof that the owner of a private key made a certificate, and that it is unchanged.

A signature identifies the author of the claims. It does not show that they are true, which
:mod:`celosia.release.verify.verify` computes. It is as trustworthy as the channel on which the public key was received
and the safekeeping of the private key.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from celosia import files
from celosia.data.io.atomic import replace_file
from celosia.errors import InputError, MissingExtra, OutputError
from celosia.release.evidence.plain_data import canonical
from celosia.release.verify.verification import Check

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    from celosia.release.evidence.certificate import Certificate, Signature

HOW = "Ed25519 over 'celosia signature 1', a line feed and the certificate without this field as canonical JSON"
_LARGEST = 10_000  # bytes of a file that holds a key
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Signer:
    """A private key that signs certificates."""

    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> Signer:
        """Read a private key from a file that only its owner may read."""
        file = Path(path)
        key = _read_key(file, private=True)
        if stat.S_IMODE(file.stat().st_mode) & _OTHERS:
            raise InputError(f"the key {str(file)!r} can be read by other users: restrict it to its owner (chmod 600).")
        return cls(key)

    def signature(self, certificate: Mapping[str, Any]) -> dict[str, str]:
        """Sign the data of a certificate."""
        return {
            "how": HOW,
            "key": hex_of(self.key.public_key()),
            "value": self.key.sign(_signed_bytes(certificate)).hex(),
        }


def create(path: str | Path) -> str:
    """Create a pair of keys, the private one at ``path`` and the public one at ``path.pub``; return the public key.

    Raise if one of the files exists.
    """
    _require_cryptography()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Path(path)
    if not private.name:
        raise OutputError(f"{str(path)!r} does not name a file: give one, such as release.key.")
    public = private.with_name(f"{private.name}.pub")
    for file in (private, public):
        if file.exists():
            raise OutputError(
                f"{file.name!r} exists already: choose another path. A key is never replaced, because nothing could be "
                "signed with it again; remove it yourself if it is no longer needed."
            )
    key = Ed25519PrivateKey.generate()
    texts = {
        private: key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()),
        public: key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo),
    }
    for file, text in texts.items():
        with replace_file(file, 0o600 if file is private else None) as draft:
            draft.write_bytes(text)
    return hex_of(key.public_key())


def public_key(path: str | Path) -> str:
    """Return the public key in a file, as hexadecimal digits."""
    return hex_of(_read_key(Path(path), private=False))


def is_signed_by(signature: Signature, certificate: Mapping[str, Any]) -> bool:
    """Return whether a signature is that of its key over the data of this certificate."""
    _require_cryptography()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature.key))
        key.verify(bytes.fromhex(signature.value), _signed_bytes(certificate))
    except (InvalidSignature, ValueError):
        return False
    return True


def check_author(certificate: Certificate, public: str | Path | None) -> list[Check]:
    """Check the signature of a certificate, and that it is by the key in the file ``public`` if one is given."""
    wanted = None if public is None else public_key(public)
    signature = certificate.signature
    if signature is None:
        return [] if wanted is None else [Check("signature", None, wanted, False, "the certificate is not signed")]
    unsigned = {name: value for name, value in certificate.content().items() if name != "signature"}
    try:
        valid = is_signed_by(signature, unsigned)
    except MissingExtra as error:
        return [Check("signature", signature.key, None, None, str(error))]
    note = "" if wanted else "compare the key with the public key that the author published"
    return [Check("signature", wanted or signature.key, signature.key, valid and wanted in (None, signature.key), note)]


def hex_of(key: Ed25519PublicKey) -> str:
    """Format a public key as hexadecimal digits."""
    return key.public_bytes_raw().hex()


def _signed_bytes(certificate: Mapping[str, Any]) -> bytes:
    return b"celosia signature 1\n" + canonical(certificate)


@overload
def _read_key(file: Path, *, private: Literal[True]) -> Ed25519PrivateKey: ...
@overload
def _read_key(file: Path, *, private: Literal[False]) -> Ed25519PublicKey: ...
def _read_key(file: Path, *, private: bool) -> Ed25519PrivateKey | Ed25519PublicKey:
    """Read the key of that kind from a file; the message of a refusal shows nothing of the content."""
    _require_cryptography()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    kind = "private" if private else "public"
    refusal = f"{str(file)!r} holds no {kind} Ed25519 key. Make a pair with 'celosia key'."
    try:
        with files.regular_file(file).open("rb") as stream:
            content = stream.read(_LARGEST)
    except OSError as error:
        raise InputError(f"cannot read the key {str(file)!r}: {error.strerror}.") from None
    try:
        key = form.load_pem_private_key(content, None) if private else form.load_pem_public_key(content)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError(refusal) from None
    if isinstance(key, Ed25519PrivateKey | Ed25519PublicKey):
        return key
    raise InputError(refusal)


def _require_cryptography() -> None:
    import importlib.util

    if importlib.util.find_spec("cryptography") is None:
        raise MissingExtra.of("signing", "sign")


__all__ = ["Signer", "check_author", "create", "is_signed_by", "public_key"]
