"""Tree of all errors.

::

    CelosiaError
    ├── InputError                 bad input: the command line ends with exit code 2
    │   ├── ParameterError         invalid parameter of a part
    │   ├── UnknownName            no part, column, step or file type of that name
    │   ├── SchemaError            roles, kinds or hierarchies do not fit the table
    │   ├── DataError              the data cannot be read or used as asked
    │   │   └── DamagedText        bytes that are not in the encoding of the rest
    │   ├── PolicyError            the policy file is wrong
    │   ├── NotApplicable          a measure has no meaning for this table; the message says why
    │   ├── OutputError            the result cannot be written
    │   └── MissingExtra           an optional dependency is not installed
    ├── RequirementError           a requirement does not hold or cannot be met: exit code 3
    │   └── GuardError             the output contains values that must not be released
    ├── BudgetError                the privacy budget does not allow it: exit code 3
    └── Contradiction              two implementations disagree about a release: exit code 1

Every message states what is wrong, the value, what is allowed and what to do. No message contains a cell value of
original data, only columns and counts. An error has its message as a template and parameters, to translate it
(:mod:`celosia.show.messages`).
"""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterable, Iterator
from typing import Any, Self

LONGEST = 1_500
"""Characters of the longest message; a longer one would contain an excessively long name."""


class Message(str):
    """Text of a message with its template and parameters.

    >>> message = Message("{number} groups; at most {limit} are answered at once.", number=7, limit=5)
    >>> message, message.template
    ('7 groups; at most 5 are answered at once.', '{number} groups; at most {limit} are answered at once.')
    """

    template: str
    parameters: dict[str, object]

    def __new__(cls, template: str, /, **parameters: object) -> Self:
        """Fill in the parameters; without parameters the template is the text, including braces."""
        self = super().__new__(cls, template.format(**parameters) if parameters else template)
        self.template, self.parameters = template, parameters
        return self


class CelosiaError(Exception):
    """Anything Celosia raises on purpose."""

    def __init__(self, message: str = "", /, **parameters: object) -> None:
        super().__init__(message if isinstance(message, Message) else Message(message, **parameters))

    @property
    def message(self) -> Message:
        """Full text with its template and parameters."""
        message: Message = self.args[0]
        return message

    def __str__(self) -> str:
        return truncate(self.message)


def truncate(text: str) -> str:
    """Remove the middle of a text that is too long to be read.

    >>> len(truncate("x" * 10_000)) <= LONGEST
    True
    """
    half = LONGEST // 2 - 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


class InputError(CelosiaError, ValueError):
    """The input is invalid; the message states what to change."""


class ParameterError(InputError):
    """A parameter of a part is invalid."""


class UnknownName(InputError):
    """No part, column, step or file type has that name; the message proposes the nearest names."""

    @classmethod
    def of(cls, what: str, name: str, existing: Iterable[str], hint: str = "") -> UnknownName:
        """Build the message ``no <what> named '<name>'. Did you mean …?``."""
        nearest = suggestion(name, existing)
        if hint:
            return cls(
                "no {what} named {name!r}.{suggestion} {hint}",
                what=Message(what),
                name=name,
                suggestion=nearest,
                hint=hint,
            )
        return cls("no {what} named {name!r}.{suggestion}", what=Message(what), name=name, suggestion=nearest)


class SchemaError(InputError):
    """Roles, kinds or hierarchies do not fit the table."""


class DataError(InputError):
    """The data cannot be read, or not used as asked."""


class DamagedText(DataError):
    """A text file has bytes that are not in the encoding of the rest."""


class PolicyError(InputError):
    """The policy file is wrong; the message names the key or the line."""


class NotApplicable(InputError):
    """A measure has no meaning for this table."""


class OutputError(InputError):
    """The result cannot be written."""


class MissingExtra(InputError):
    """An optional dependency is not installed."""

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtra:
        """Build the message that names the extra to install."""
        return cls(f"{what} needs an optional dependency. Install it with: pip install 'celosia[{extra}]'")


EXTRAS = {"scipy": "scipy", "sklearn": "learn", "opendp": "dp", "highspy": "solver", "pyarrow": "pandas"}
"""Extra with each optional library."""


@contextlib.contextmanager
def explain_failures() -> Iterator[None]:
    """Translate errors of libraries: a missing library names the extra to install, and DuckDB's errors no cell value.

    DuckDB computes rows lazily, and its messages quote the value that it cannot convert.

    >>> with explain_failures():
    ...     raise ModuleNotFoundError(name="scipy.special")
    Traceback (most recent call last):
    celosia.errors.MissingExtra: a calculation with scipy needs an optional dependency. Install it with: pip install ...
    """
    try:
        yield
    except ModuleNotFoundError as error:
        library = (error.name or "").split(".")[0]
        if library not in EXTRAS:
            raise
        raise MissingExtra.of(f"a calculation with {library}", EXTRAS[library]) from None
    except Exception as error:
        if not _of_a_row(error):
            raise
        raise DataError(
            f"DuckDB cannot compute a row of what is read ({type(error).__name__}): look at the casts and the "
            "calculations of the query, or at the file."
        ) from None


def _of_a_row(error: Exception) -> bool:
    """Return whether DuckDB failed to compute a value by itself, not in a function of Celosia."""
    duckdb = sys.modules.get("duckdb")
    kinds = () if duckdb is None else (duckdb.DataError, duckdb.InvalidInputException)
    return isinstance(error, kinds) and "executing the UDF" not in str(error)


class RequirementError(CelosiaError):
    """A requirement does not hold, or cannot be met."""


class GuardError(RequirementError):
    """The output contains values that must not be released; nothing was written."""

    sightings: tuple[Any, ...] = ()
    """Findings of the guard in the table: :class:`celosia.release.output.sighting.Sighting`."""


class BudgetError(CelosiaError):
    """The privacy budget does not allow the request."""


class Contradiction(CelosiaError):
    """The second implementation computes another number than the release claims; nothing was written."""


def suggestion(name: str, existing: Iterable[str]) -> Message:
    """Propose the nearest existing names, or list the existing ones if none is near.

    >>> suggestion("microagregate", ["microaggregate", "noise"])
    " Did you mean 'microaggregate'?"
    """
    names = sorted(existing)
    near = difflib.get_close_matches(name, names, n=2, cutoff=0.6)
    if near:
        first, *second = near
        if second:
            return Message(" Did you mean {first!r} or {second!r}?", first=first, second=second[0])
        return Message(" Did you mean {name!r}?", name=first)
    if not names:
        return Message("")
    return Message(" There are: {names}.", names=", ".join(names[:12]) + (", …" if len(names) > 12 else ""))
