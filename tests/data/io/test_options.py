"""Options of readers and writers: a wrong type or value is refused by the declaration alone, in one sentence."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest

from celosia.data import io as cio
from celosia.data.io import database
from celosia.data.io.filetypes import check_options, file_types
from celosia.data.io.options import is_sheet, option_names, wrong_option
from celosia.errors import InputError, ParameterError

CALLS: dict[str, tuple[Callable[..., Any], int]] = {
    **{f"{name}: read": (kind.read, 1) for name, kind in file_types().items() if kind.read},
    **{f"{name}: write": (kind.write, 3) for name, kind in file_types().items() if kind.write},
    "database: read": (database.scan, 1),
    "database: write": (database.write, 2),
}
OPTIONS = [(where, option) for where, (call, skip) in CALLS.items() for option in option_names(call, skip)]


class Stranger:
    """What no option can be."""


@pytest.mark.parametrize(("where", "option"), OPTIONS)
def test_every_option_refuses_what_it_cannot_be(where, option):
    call, skip = CALLS[where]
    assert wrong_option(call, skip, {option: Stranger()}).startswith(f"{option} must be ")
    with pytest.raises(ParameterError, match=option):
        check_options(where, call, {option: Stranger()}, skip)


def test_all_options_are_met():
    """As many as there are keywords behind the arguments that are none."""
    keywords = [
        name
        for call, skip in CALLS.values()
        for name, p in list(inspect.signature(call).parameters.items())[skip:]
        if p.kind is p.KEYWORD_ONLY
    ]
    assert len(keywords) == len(OPTIONS) > 25


READ = [
    ({"separator": 7}, "separator must be a text, got 7"),
    ({"separator": "ab"}, "separator must be one ASCII character"),
    ({"separator": '"'}, "separator must be one ASCII character"),
    ({"separator": "\n"}, "separator must be one ASCII character"),
    ({"separator": "é"}, "separator must be one ASCII character"),
    ({"separator": ""}, "separator must be one ASCII character"),
    ({"decimal": 7}, "decimal must be '.' or ',', got 7"),
    ({"decimal": "ab"}, "decimal must be '.' or ','"),
    ({"missing": 7}, "missing must be a list, got 7"),
    ({"missing": "NA"}, "missing must be a list, got 'NA'"),
    ({"missing": ["NA", 7]}, "missing: each must be a text, got 7"),
    ({"header": []}, "header must be true or false"),
    ({"encoding": 7}, "encoding must be a text"),
    ({"encoding": "klingon"}, "encoding must name an encoding of text"),
    ({"encoding": "hex"}, "encoding must name an encoding of text"),
    ({"encoding": "undefined"}, "encoding must name an encoding of text"),
    ({"encoding": "\x00"}, "encoding must name an encoding of text"),
    ({"encoding": "punycode"}, "the text is not punycode"),
    ({"dates": 7}, "dates must be a table of names and values"),
    ({"dates": {"age": 7}}, "dates: each must be a text"),
    ({"dates": {"age": ""}}, "dates: each must be a notation of dates"),
    ({"text": 7}, "text must be a list or true or false, got 7"),
    ({"columns": 7}, "columns must be a list"),
    ({"type": []}, "no file type named"),
    ({"type": 7}, "no file type named '7'"),
]


@pytest.mark.parametrize(("options", "said"), READ)
def test_a_reader_refuses(tmp_path: Path, options: dict[str, Any], said: str):
    (tmp_path / "people.csv").write_text("age,city\n1,Ur\n2,Uruk\n")
    with pytest.raises(InputError) as refusal:
        cio.scan(tmp_path / "people.csv", **options)
    assert said in str(refusal.value)


WRITTEN = [
    (
        "safe.parquet",
        {"compression": "klingon"},
        "compression must be 'zstd', 'snappy', 'lz4', 'gzip' or 'uncompressed'",
    ),
    ("safe.parquet", {"compression": ""}, "compression must be"),
    ("safe.parquet", {"compression": 7}, "compression must be"),
    ("safe.csv", {"separator": "ab"}, "separator must be ',', ';', '\\t' or '|', got 'ab'"),
    ("safe.csv", {"separator": ":"}, "separator must be"),
    ("safe.csv", {"decimal": "ab"}, "decimal must be '.' or ','"),
    ("safe.csv", {"decimal": ","}, "separator and decimal mark are both ','"),
    ("safe.csv", {"bom": 7}, "bom must be true or false"),
    ("safe.csv", {"formulas": "x"}, "formulas must be 'keep', 'quote' or 'refuse'"),
    ("safe.tsv", {"separator": ";"}, "a file whose name says .tsv has tabs"),
    ("safe.xlsx", {"sheet": "x" * 40}, "sheet must have 1 to 31 characters"),
    ("safe.xlsx", {"sheet": "a[b]:*"}, "none of them one of [ ] : * ? / \\"),
    ("safe.xlsx", {"sheet": ""}, "sheet must have"),
    ("safe.xlsx", {"sheet": "\U0001f600" * 16}, "sheet must have"),
    ("safe.ods", {"sheet": "x\x01"}, "sheet must have"),
    ("safe.xls", {}, "only read: name the output .xlsx"),
    ("safe.sav", {"compress": 7}, "compress must be true or false"),
    ("safe.xpt", {"version": 7}, "version must be 8 or 5"),
]


@pytest.mark.parametrize(("name", "options", "said"), WRITTEN)
def test_a_writer_refuses_and_leaves_nothing(tmp_path: Path, name: str, options: dict[str, Any], said: str):
    with pytest.raises(InputError) as refusal:
        cio.write(pl.DataFrame({"age": [1, 2], "city": ["Ur", "Uruk"]}), tmp_path / name, **options)
    assert said in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_a_database_says_that_it_needs_a_table(tmp_path: Path):
    with pytest.raises(ParameterError, match="database: table is required"):
        cio.write(pl.DataFrame({"a": [1]}), f"sqlite:///{tmp_path}/x.db")


def test_what_is_written_is_read_back_by_itself(tmp_path: Path):
    """A separator that only the original had is not kept: nobody who checks the file could tell it."""
    (tmp_path / "people.csv").write_text("age:city\n1:Ur\n2:Uruk\n")
    opened = cio.scan(tmp_path / "people.csv", separator=":")
    cio.write(opened.frame, tmp_path / "safe.csv", opened.facts)
    assert cio.scan(tmp_path / "safe.csv").frame.collect().rows() == [(1, "Ur"), (2, "Uruk")]


def test_a_sheet_of_the_original_keeps_its_name_where_it_can(tmp_path: Path):
    frame = pl.DataFrame({"a": [1, 2]})
    for name in ("People", "x" * 40):
        facts = cio.FileFacts("excel", sheet=name)
        cio.write(frame, tmp_path / "safe.xlsx", facts, overwrite=True)
        assert cio.scan(tmp_path / "safe.xlsx").facts.sheet == (name if is_sheet(name) else "Sheet1")


def test_a_new_option_is_covered_by_being_declared():
    def write(
        frame: Any, draft: Path, facts: Any, *, level: Literal[1, 2] = 1, anything: Any = None, **rest: Any
    ) -> None: ...

    assert option_names(write, 3) == ["level", "anything"]
    assert wrong_option(write, 3, {"level": 2, "anything": Stranger()}) == ""
    assert wrong_option(write, 3, {"level": 3}) == "level must be 1 or 2, got 3."
