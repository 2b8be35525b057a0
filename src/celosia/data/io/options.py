"""Validation of options of readers and writers: keywords of the function, by their annotations.

Names, types and values are validated before a file is opened, so that no library gets an invalid one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError, create_model

from celosia.parts.parameter_errors import phrase, shorten

LONGEST_SHEET = 31
"""Characters of a sheet's name in Excel."""
FORBIDDEN_IN_SHEETS = r"[\[\]:*?/\\\x00-\x1f]"
_PHRASES = {"sequence_str": "must be a list", "is_instance_of": "must be a list", "is_sequence_of": "must be a list"}
_Call = Callable[..., Any]


def _separator(mark: str) -> str:
    if len(mark) != 1 or not mark.isascii() or mark in '"\n\r\x00':
        raise ValueError("must be one ASCII character, no quote and no end of a line")
    return mark


def _encoding(name: str) -> str:
    try:
        if "a".encode(name).decode(name) == "a":
            return name
    except (LookupError, ValueError):
        pass
    raise ValueError("must name an encoding of text, such as utf-8, cp1252 or utf-16")


def _notation(text: str) -> str:
    if "%" not in text:
        raise ValueError("must be a notation of dates, such as %d/%m/%Y")
    return text


def _sheet(name: str) -> str:
    if not is_sheet(name):
        raise ValueError(
            f"must have 1 to {LONGEST_SHEET} characters, none of them one of [ ] : * ? / \\, and no ' at an end"
        )
    return name


Separator = Annotated[str, AfterValidator(_separator)]
Encoding = Annotated[str, AfterValidator(_encoding)]
SheetName = Annotated[str, AfterValidator(_sheet)]
DecimalMark = Literal[".", ","]
WrittenSeparator = Literal[",", ";", "\t", "|"]
"""Separators that the reader detects, because a release is verified from its file alone."""
Notation = Annotated[str, AfterValidator(_notation)]


def is_sheet(name: str) -> bool:
    """Return whether a spreadsheet accepts the name of a sheet; Excel reserves "History".

    >>> is_sheet("People"), is_sheet("a[b]:*"), is_sheet("x" * 40)
    (True, False, False)
    """
    ends = name.startswith("'") or name.endswith("'") or name.lower() == "history"
    units = len(name.encode("utf-16-le", "surrogatepass")) // 2  # as Excel counts characters
    return 0 < units <= LONGEST_SHEET and not ends and re.search(FORBIDDEN_IN_SHEETS, name) is None


def option_names(call: _Call | None, skip: int) -> list[str]:
    """Return the options of a reader or writer (None has none), without its first ``skip`` arguments."""
    return [] if call is None else [*_form(call, skip).model_fields]


def wrong_option(call: _Call, skip: int, options: Mapping[str, object]) -> str:
    """Describe the first invalid option in one sentence; empty if all are valid.

    >>> def read(path: str, *, separator: Separator | None = None, header: bool = True) -> None: ...
    >>> wrong_option(read, 1, {"separator": ";"}), wrong_option(read, 1, {"header": 7})
    ('', 'header must be true or false, got 7.')
    """
    try:
        _form(call, skip).model_validate(dict(options))
    except ValidationError as error:
        findings = cast("list[dict[str, Any]]", error.errors())
        return _first_finding(findings)
    return ""


@lru_cache(maxsize=64)
def _form(call: _Call, skip: int) -> type[BaseModel]:
    """Build a pydantic model of the options, with annotations resolved in the module of the function."""
    variable = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    parameters = [p for p in list(inspect.signature(call).parameters.values())[skip:] if p.kind not in variable]
    empty = inspect.Parameter.empty
    fields: dict[str, Any] = {
        p.name: (Any if p.annotation is empty else p.annotation, ... if p.default is empty else p.default)
        for p in parameters
    }
    settings = ConfigDict(strict=True, extra="forbid", protected_namespaces=())
    form: type[BaseModel] = create_model("Options", __config__=settings, __module__=call.__module__, **fields)
    return form


def _first_finding(findings: list[dict[str, Any]]) -> str:
    """Describe the first finding, with all allowed types of that option."""
    option = str(findings[0]["loc"][0])
    alike = [finding for finding in findings if finding["loc"][0] == option]
    first = findings[0]
    if first["type"] == "missing":
        return f"{option} is required."
    rules = " or ".join(dict.fromkeys(_rule(finding).removeprefix("must be ") for finding in alike))
    where = f"{option}: each" if len(first["loc"]) > 1 and len(alike) == 1 else option
    return f"{where} {'must be ' if _rule(first).startswith('must be ') else ''}{rules}, got {shorten(first['input'])}."


def _rule(finding: dict[str, Any]) -> str:
    if finding["type"] == "value_error":
        return str(finding["ctx"]["error"])
    return _PHRASES.get(finding["type"]) or phrase(finding)
