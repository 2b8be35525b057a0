"""Bad options of readers and writers in a policy: other types, values that are not allowed, options of others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit
from tests.trust.inputs.case import Case

VALUES: tuple[Any, ...] = (7, -1, 0.5, True, "", "ab", "\x00", "\n", '"', "é", "klingon", [], [7], [[]], {}, {"a": 7})
READ: dict[str, dict[str, tuple[Any, ...]]] = {
    "people.csv": {
        "separator": ("|", " ", "\r", "a", "\u2028", ",,"),
        "encoding": ("hex", "undefined", "idna", "punycode", "utf-16", "utf-32", "rot13", "cp037", "x" * 5000),
        "decimal": (";", "9", "."),
        "header": ("yes", 1),
        "columns": (["a"], ["a"] * 4, ["*", "b", "c", "d"], ["x" * 100_000, "b", "c", "d"]),
        "missing": (["\x00"], [""], ["Ctown0"], ["x"] * 10_000),
        "text": (["nobody"], ["age", "age"], "age"),
        "dates": (
            {"age": "%Q"},
            {"age": ""},
            {"nobody": "%Y"},
            {"ill": "%d/%m/%Y"},
            {"age": "%" * 5000},
            {"age": "%H"},
        ),
        "type": ("excel", "parquet", "spss", "jsonl", "CSV"),
        "clean": ({"strip": ["nobody"]}, {"strip": ["age"]}, {"same": {"city": {"": ""}}}, {"missing": {"age": [{}]}}),
        "sheet": ("a",),
        "query": ("SELECT 1",),
        "table": ("people",),
        "engine": ("duckdb", "DuckDB", "duckdb:x"),
    },
    "people.parquet": {"columns": (["nobody"], ["age", "age"], "age")},
    "people.xlsx": {"sheet": ("nobody", "x" * 5000)},
    "people.sav": {"user_missing": ("keep", "NULL"), "encoding": ("hex", "utf-16")},
    "people.jsonl": {"separator": (";",)},
}
WRITTEN: dict[str, dict[str, tuple[Any, ...]]] = {
    "new.csv": {
        "separator": (":", " ", "a", "1", ".", "\t", ";;", ","),
        "decimal": (",", ";", "9"),
        "bom": ("yes",),
        "formulas": ("Keep", "refuse"),
        "compression": ("gzip",),
    },
    "new.tsv": {"separator": (";", ",")},
    "new.csv.gz": {"compression": ("klingon",)},
    "new.parquet": {"compression": ("zstd ", "ZSTD", "brotli", "gzip"), "separator": (";",)},
    "new.xlsx": {"sheet": ("x" * 40, "a[b]:*", "a/b", "'a'", "History", "\u202e", "\U0001f600" * 31, " ")},
    "new.ods": {"sheet": ("x" * 40, "a[b]:*", "<&>", "x\x01")},
    "new.sav": {"compress": ("yes",)},
    "new.xpt": {"version": (5, 6, "8", 8.0)},
    "new.jsonl": {"separator": (";",)},
    "new.xls": {"sheet": ("a",)},
    "new.klingon": {"sheet": ("a",)},
}
COLUMNS = {"identifiers": ["name"], "quasi": ["age", "city"], "sensitive": ["ill"]}


def cases(template: Path) -> Iterator[Case]:
    """Cases of both."""
    for section, table in (("input", READ), ("output", WRITTEN)):
        entrance = f"options of {'readers' if section == 'input' else 'writers'}"
        for file, options in table.items():
            for option, odd in options.items():
                for value in (*odd, *VALUES):
                    policy = {
                        "input": {"path": "people.csv"},
                        "schema": COLUMNS,
                        "step": [{"use": "drop", "columns": ["ill"]}],
                        "output": {"path": "new.csv", "report": False},
                    }
                    policy[section] = {**policy[section], "path": file, option: value}
                    content = tomlkit.dumps(policy).encode()
                    name = f"{file} {option} = {str(value)[:20]!r}"
                    yield Case(entrance, name, ("run", "odd.toml"), {"odd.toml": content}, may_pass=True)
