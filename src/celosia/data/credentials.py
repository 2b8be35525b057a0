"""References to secrets: ``env:NAME`` for a variable of the environment, ``file:PATH`` for a file.

A secret on a command line could be read by every user of the machine, and stays in the history of the shell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from celosia import files
from celosia.errors import CelosiaError, DataError, InputError, OutputError, ParameterError

_KINDS = frozenset({"sqlite", "postgresql", "postgres", "duckdb", "mysql", "psycopg"})
"""Kinds of database: this first part of an address is not secret."""
SHORTEST_KEY = 16
REFERENCES = ("env:", "file:")
# A password before the host, as the database libraries read an address, or among its parameters.
_PASSWORD = re.compile(r"://[^:/@\s]*:[^@\s'\"]+@|://\S*[?&](?:ssl)?(?:password|passwd|pwd)=[^&\s]")


def is_reference(text: object) -> bool:
    """Return whether a text is a reference to a secret.

    >>> is_reference("env:DATABASE"), is_reference("postgresql://host/base")
    (True, False)
    """
    return isinstance(text, str) and text.startswith(REFERENCES)


def resolve_reference(text: str) -> str:
    """Return the secret of a reference, stripped of blanks; any other text is returned as it is."""
    if not is_reference(text):
        return text
    kind, _, name = text.partition(":")
    if kind == "env":
        secret = os.environ.get(name)
        if secret is None:
            raise InputError(f"{text}: the environment has no variable {name!r}.")
    else:
        try:
            secret = files.text(Path(name).expanduser())
        except OSError as problem:
            raise InputError(f"{text}: the file cannot be read ({problem.strerror}).") from None
        except UnicodeDecodeError:
            raise InputError(f"{text}: the file is no UTF-8 text.") from None
    if not secret.strip():
        raise InputError(f"{text} is empty.")
    return secret.strip()


@contextmanager
def address(text: str) -> Iterator[str]:
    """Resolve the address of a database; errors inside the block name the reference, never the address.

    Libraries quote parts of an address (a host, a user, a path) in their messages. After a wrong parse this may be any
    part of the secret, so such a message is replaced as a whole.
    """
    plain = resolve_reference(text)
    try:
        yield plain
    except CelosiaError as problem:
        if not is_reference(text) or not _quotes(str(problem).replace(text, ""), plain):
            raise
        error_type = type(problem) if type(problem) in (InputError, DataError, OutputError) else DataError
        raise error_type(
            f"{text}: the database whose address it holds cannot be used ({type(problem).__name__}). The address is "
            "a URL such as postgresql://user:password@host/base or sqlite:///people.db; the message is withheld "
            "because it quotes the address."
        ) from None


def _quotes(message: str, secret: str) -> bool:
    """Return whether a message contains a part of a secret.

    >>> _quotes("role 'ana' does not exist", "postgresql://ana:x@h/b"), _quotes("no table 'a'", "sqlite:///people.db")
    (True, False)
    """
    parts = {part.casefold() for part in re.split(r"[\s:/@?&=;,+'\"]+", secret) if len(part) > 2}
    words = set(re.split(r"[\s:/@?&=;,+'\"()]+", message.casefold()))
    return any(part in words or (len(part) > 5 and part in message.casefold()) for part in parts - _KINDS)


def key_bytes(text: str, what: str) -> bytes:
    """Return a key that is given as text or by reference; raise if it is too short."""
    key = resolve_reference(text).encode()
    if len(key) < SHORTEST_KEY:
        raise ParameterError(f"{what}: key must have at least {SHORTEST_KEY} bytes, got {len(key)}.")
    return key


def refuse_literal(value: object, what: str) -> None:
    """Raise for a secret on the command line itself, not by reference."""
    if value is not None and not is_reference(value):
        raise ParameterError(
            f"{what} on the command line can be read by everybody on this machine: give it as env:NAME (a variable of "
            "the environment) or file:PATH (a file that holds it)."
        )


def refuse_passwords(arguments: Iterable[str]) -> None:
    """Raise if an argument of a command line contains an address with a password."""
    if any(_PASSWORD.search(argument) for argument in arguments):
        raise InputError(
            "a password on the command line can be read by everybody on this machine. Leave it out of the address "
            "(PostgreSQL takes it from ~/.pgpass or PGPASSWORD), or give the address as env:NAME or file:PATH."
        )
