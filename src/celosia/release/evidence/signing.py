"""Signatures: whoever holds the private key made the certificate, and nobody has changed it since (Ed25519).

A signature says who vouches for the claims, not that they are true: that is what
:mod:`celosia.release.verifying.verifying` computes. It is worth as much as the way on which the public key came, and as
the care that is taken of the private one.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia import files
from celosia.data.io.atomic import replaced
from celosia.errors import InputError, MissingExtra, OutputError
from celosia.release.verifying.verification import Check

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

HOW = "Ed25519 over 'celosia signature 1', a line feed and the certificate without this field as canonical JSON"
_LARGEST = 10_000  # bytes of a file that holds a key
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Signer:
    """A private key that signs certificates."""

    key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def load(cls, path: str | Path) -> Signer:
        """Read a private key, of which nobody but its owner may read the file."""
        file = Path(path)
        key = _key_in(file, private=True)
        if stat.S_IMODE(file.stat().st_mode) & _OTHERS:
            raise InputError(f"the key {str(file)!r} can be read by others: take the right away (chmod 600).")
        return cls(key)

    def signature(self, certificate: Mapping[str, Any]) -> dict[str, str]:
        """What a certificate says about its signature."""
        return {"how": HOW, "key": hex_of(self.key.public_key()), "value": self.key.sign(_signed(certificate)).hex()}


def create(path: str | Path) -> str:
    """Make a pair of keys: the private one at ``path``, the public one beside it (``.pub``). Returns the public key.

    Neither replaces a file.
    """
    _need()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Path(path)
    if not private.name:
        raise OutputError(f"{str(path)!r} names no file: name the one that the key goes to, such as release.key.")
    public = private.with_name(f"{private.name}.pub")
    for file in (private, public):
        if file.exists():
            raise OutputError(
                f"{file.name!r} is there already: choose another path. A key is not replaced, since nothing could be "
                "signed with it again; remove it yourself if it is no longer needed."
            )
    key = Ed25519PrivateKey.generate()
    texts = {
        private: key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()),
        public: key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo),
    }
    for file, text in texts.items():
        with replaced(file, 0o600 if file is private else None) as draft:
            draft.write_bytes(text)
    return hex_of(key.public_key())


def public_key(path: str | Path) -> str:
    """The public key in a file, as hexadecimal digits."""
    return hex_of(_key_in(Path(path), private=False))


def signed_by(signature: Mapping[str, str], certificate: Mapping[str, Any]) -> bool:
    """Whether a signature is that of its key over this certificate."""
    _need()
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(signature["key"]))
        key.verify(bytes.fromhex(signature["value"]), _signed(certificate))
    except (InvalidSignature, ValueError):
        return False
    return True


def from_author(stated: Mapping[str, Any], signer: str | Path | None) -> list[Check]:
    """Whether a certificate is signed, and by whom it should be."""
    wanted = None if signer is None else public_key(signer)
    signature = stated.get("signature")
    if signature is None:
        return [] if wanted is None else [Check("signature", None, wanted, False, "the certificate is not signed")]
    try:
        valid = signed_by(signature, {name: value for name, value in stated.items() if name != "signature"})
    except MissingExtra as error:
        return [Check("signature", signature["key"], None, None, str(error))]
    key, note = signature["key"], "" if wanted else "whose key it is, the public key of the author tells"
    return [Check("signature", wanted or key, key, valid and wanted in (None, key), note)]


def hex_of(key: Ed25519PublicKey) -> str:
    """A public key as hexadecimal digits."""
    return key.public_bytes_raw().hex()


def _signed(certificate: Mapping[str, Any]) -> bytes:
    from celosia.release.evidence.evidence import canonical

    return b"celosia signature 1\n" + canonical(certificate)


def _key_in(file: Path, *, private: bool) -> Any:
    """The key of that kind in a file; anything else is refused, without a word of what the file holds."""
    _need()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    kind = "private" if private else "public"
    refusal = f"{str(file)!r} holds no {kind} Ed25519 key. Make a pair with 'celosia key'."
    try:
        with files.plain(file).open("rb") as opened:
            content = opened.read(_LARGEST)
    except OSError as error:
        raise InputError(f"cannot read the key {str(file)!r}: {error.strerror}.") from None
    try:
        key = form.load_pem_private_key(content, None) if private else form.load_pem_public_key(content)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InputError(refusal) from None
    if not isinstance(key, Ed25519PrivateKey if private else Ed25519PublicKey):
        raise InputError(refusal)
    return key


def _need() -> None:
    import importlib.util

    if importlib.util.find_spec("cryptography") is None:
        raise MissingExtra.of("signing", "sign")


__all__ = ["Signer", "create", "from_author", "public_key", "signed_by"]
