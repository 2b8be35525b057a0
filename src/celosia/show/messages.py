"""Messages in the language of the reader.

Messages are written in English where they are raised (:class:`celosia.errors.Message`). The catalogues
``catalogues/LANGUAGE.po`` translate their templates, in the format of gettext.
"""

from __future__ import annotations

import functools
import io
from importlib import resources

from babel.messages.pofile import read_po

from celosia.errors import Message


def translate(message: str, language: str) -> str | None:
    """Return a message in another language, or None where a template in it has no translation.

    Parameters that are messages themselves are translated too.

    >>> from celosia.errors import UnknownName
    >>> translate(UnknownName.of("table in this data set", "vist", ["visit"]).message, "es")
    "no hay ninguna tabla de este conjunto de datos llamada 'vist'. ¿Quiso decir 'visit'?"
    """
    if not isinstance(message, Message):
        return catalogue(language).get(message)
    translation = catalogue(language).get(message.template)
    filled: dict[str, object] = {}
    for name, value in message.parameters.items():
        filled[name] = translate(value, language) if isinstance(value, Message) and value else value
        if filled[name] is None and value is not None:
            return None
    return translation.format(**filled) if translation is not None and filled else translation


@functools.cache
def catalogue(language: str) -> dict[str, str]:
    """Return the translation of every template; empty for English."""
    if language == "en":
        return {}
    file = resources.files("celosia.show") / "catalogues" / f"{language}.po"
    return {str(entry.id): str(entry.string) for entry in read_po(io.BytesIO(file.read_bytes())) if entry.id}
