"""Secrets come from a file or the environment: ``env:NAME`` and ``file:PATH`` stand for them wherever one is given.

A command line can be read by every user of the machine while it runs, and stays in the history of the shell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from celosia import files
from celosia.errors import InputError, ParameterError

SHORTEST_KEY = 16
REFERENCES = ("env:", "file:")
# A password before the host, as the database libraries read an address, or among its parameters.
_PASSWORD = re.compile(r"://[^:/@\s]*:[^@\s'\"]+@|://\S*[?&](?:ssl)?(?:password|passwd|pwd)=[^&\s]")


def is_reference(text: object) -> bool:
    """Whether a text stands for a secret instead of being one.

    >>> is_reference("env:DATABASE"), is_reference("postgresql://host/base")
    (True, False)
    """
    return isinstance(text, str) and text.startswith(REFERENCES)


def resolved(text: str) -> str:
    """What a reference stands for, without space around it; any other text stays as it is."""
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


def key_bytes(text: str, what: str) -> bytes:
    """The key that a text is or stands for; it must not be short."""
    key = resolved(text).encode()
    if len(key) < SHORTEST_KEY:
        raise ParameterError(f"{what}: key must have at least {SHORTEST_KEY} bytes, got {len(key)}.")
    return key


def refuse_literal(value: object, what: str) -> None:
    """Refuse a secret that stands on the command line itself."""
    if value is not None and not is_reference(value):
        raise ParameterError(
            f"{what} on the command line can be read by everybody on this machine: give it as env:NAME (a variable of "
            "the environment) or file:PATH (a file that holds it)."
        )


def refuse_passwords(words: Iterable[str]) -> None:
    """Refuse a command line of which a word holds an address with a password."""
    if any(_PASSWORD.search(word) for word in words):
        raise InputError(
            "a password on the command line can be read by everybody on this machine. Leave it out of the address "
            "(PostgreSQL takes it from ~/.pgpass or PGPASSWORD), or give the address as env:NAME or file:PATH."
        )
