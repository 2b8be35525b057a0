"""Neighbouring databases: one person is absent, there with ordinary values, or there with values that fit nothing."""

from __future__ import annotations

import contextlib
import copy
import random
import sqlite3
from pathlib import Path
from typing import Any

from tests.gateway.neighbours.questions import DECLARATION

from celosia.gateway.metadata import DatasetFacts

KINDS = ("duckdb", "sqlite", "postgresql")
VARIANTS = ("absent", "present", "dirty", "dirtier", "dirtiest")
PEOPLE, LARGER = 40, 4
"""Persons of a database, and how many times as many the variant ``larger`` has."""
LABELS = ["'town'", "'land'", "'A'", "'B'", "'a'", "'Town'"]
TABLES = {
    "duckdb": (
        (
            "CREATE TABLE patient (id HUGEINT, name VARCHAR COLLATE NOCASE, note VARCHAR, age UHUGEINT, "
            "income DECIMAL(38,20), wealth HUGEINT, share DOUBLE, debt DOUBLE, sex VARCHAR COLLATE NOCASE, level DOUBLE, "
            "smoker BOOLEAN, seen TIMESTAMP, region VARCHAR)"
        ),
        "CREATE TABLE visit (patient HUGEINT, ward VARCHAR, cost FLOAT, paid BOOLEAN, day DATE, code DECIMAL(38,30))",
        "CREATE TABLE event (kind VARCHAR, size FLOAT, word VARCHAR COLLATE NOCASE, held DATE)",
        "CREATE TABLE stay (guest HUGEINT, nights FLOAT, unit VARCHAR COLLATE NOCASE)",
        "CREATE TABLE area (place VARCHAR, extent UTINYINT, sort VARCHAR)",
        "CREATE TABLE label (word VARCHAR, number SMALLINT, long VARCHAR)",
    ),
    "sqlite": (
        (
            "CREATE TABLE patient (id, name TEXT COLLATE NOCASE, note, age INTEGER, income REAL, wealth, share, debt, "
            "sex TEXT COLLATE NOCASE, level, smoker BOOLEAN, seen DATE, region TEXT)"
        ),
        "CREATE TABLE visit (patient, ward TEXT, cost, paid, day, code)",
        "CREATE TABLE event (kind, size, word TEXT COLLATE NOCASE, held)",
        "CREATE TABLE stay (guest, nights, unit TEXT COLLATE NOCASE)",
        "CREATE TABLE area (place TEXT, extent INTEGER, sort TEXT)",
        "CREATE TABLE label (word TEXT, number INTEGER, long)",
    ),
    "postgresql": (
        "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        (
            "CREATE TABLE patient (id NUMERIC, name TEXT COLLATE nocase, note TEXT, age DOUBLE PRECISION, income NUMERIC, "
            "wealth NUMERIC, share DOUBLE PRECISION, debt NUMERIC, sex CHAR(3), level NUMERIC, smoker BOOLEAN, "
            "seen TIMESTAMPTZ, region VARCHAR(60))"
        ),
        "CREATE TABLE visit (patient NUMERIC, ward TEXT, cost REAL, paid BOOLEAN, day DATE, code NUMERIC)",
        "CREATE TABLE event (kind TEXT, size REAL, word TEXT COLLATE nocase, held DATE)",
        "CREATE TABLE stay (guest NUMERIC, nights REAL, unit TEXT COLLATE nocase)",
        "CREATE TABLE area (place TEXT, extent SMALLINT, sort CHAR(4))",
        "CREATE TABLE label (word TEXT, number SMALLINT, long TEXT)",
    ),
}
PRESENT = {
    "patient": [
        "17, 'Target', 'fever since May', 41, 5432.1, 123456789012345, 1e-10, 7731.5, 'F', 2, TRUE, '2026-01-03', 'R1'"
    ],
    "visit": [f"17, 'A', 77{i}.125, TRUE, '2026-01-0{i}', {i}" for i in range(1, 6)],
    "event": ["'fall', 2.5, 'Target', '2026-01-03'"],
    "stay": [f"17, {i}, 'town'" for i in range(40)],
}
BIG = "170141183460469231731687303715884105727"
DIRTY: dict[str, list[dict[str, list[str]]]] = {
    "duckdb": [
        {
            "patient": [
                (
                    f"17, 'TARGET', '', 340282366920938463463374607431768211455, 99999999999, {BIG}, 'NaN', 'NaN', 'f', 'NaN', "
                    "NULL, 'infinity', 'r1'"
                )
            ],
            "visit": ["17, 'C', 'NaN', NULL, 'infinity', 99999999", "17, '', 'inf', NULL, '-infinity', 0.4"],
            "event": ["'FALL', 'NaN', 'WORD', 'infinity'"],
            "stay": ["17, 'NaN', 'TOWN'"] * 30,
        },
        {
            "patient": [
                (
                    f"{BIG}, chr(0), repeat('e', 2000000), 0, -99999999999, -{BIG}, 'inf', '-inf', ' F', 1.5, NULL, "
                    "'4713-01-01 (BC)', NULL"
                )
            ],
            "visit": [f"{BIG}, NULL, '-inf', NULL, '12345-01-01', NULL", "NULL, 'A', 1, TRUE, '2026-01-01', 1"],
            "event": ["NULL, '-inf', chr(0), '4713-01-01 (BC)'"],
            "stay": [f"{BIG}, 'inf', NULL", "NULL, 1, 'town'"],
        },
        {
            "patient": [
                f"-{BIG}, NULL, NULL, NULL, NULL, NULL, NULL, 1e308, NULL, NULL, NULL, NULL, repeat('R', 99999)"
            ],
            "visit": [f"-{BIG}, repeat('A', 99999), 1e-38, TRUE, '9999-12-31', -99999999"] * 9,
            "event": ["repeat('x', 99999), 1e38, repeat('word', 99999), '9999-12-31'"],
            "stay": [f"-{BIG}, 1e-38, repeat('A', 99999)"] * 9,
        },
    ],
    "sqlite": [
        {
            "patient": [
                "17, 'TARGET', X'FF00FE', 'old', 'much', 9e999, 1e-300, 'none', 'f', 'two', 2, 'infinity', X'5231'",
            ],
            "visit": [
                "17, X'41', 'dear', 'maybe', 'now', 'x'",
                "17, CAST(X'41FF' AS TEXT), 9e999, -1, 20260101, 9e999",
            ],
            "event": ["X'66616C6C', 'big', 'WORD', 'now'"],
            "stay": ["17, 'many', X'746F776E'", "17, 9e999, 'TOWN'"] * 15,
        },
        {
            "patient": [
                (
                    "'nobody', CAST(X'80C3' AS TEXT), printf('%.2000000c', 'e'), 9e999, -9e999, -9223372036854775808, X'FF', "
                    "9e999, CAST(X'46FF' AS TEXT), 1.5, 'TRUE', '2026-02-30', CAST(X'5231FF' AS TEXT)"
                )
            ],
            "visit": ["'nobody', NULL, -9e999, 0.5, X'FF', X'31'", "NULL, 'A', 1, TRUE, '2026-01-01', 1"],
            "event": ["CAST(X'FF' AS TEXT), -9e999, CAST(X'EDA080' AS TEXT), '2026-13-01'"],
            "stay": ["'nobody', X'FF', CAST(X'746F776EFF' AS TEXT)", "NULL, 1, 'town'"],
        },
        {
            "patient": ["X'11', X'FF', NULL, -5, 1e-300, '9e99', '1e999', X'00', NULL, X'31', '', '20260-01-01', ''"],
            "visit": ["X'11', printf('%.99999c', 'A'), '1e999', 'false', '2026-01-01 25:00', -1e999"] * 9,
            "event": ["printf('%.99999c', 'x'), 1e-300, printf('%.99999c', 'w'), '0000-01-01'"],
            "stay": ["X'11', '1e999', printf('%.99999c', 'A')"] * 9,
        },
    ],
    "postgresql": [
        {
            "patient": [
                "17, 'TARGET', '', 'NaN', 'NaN', 'NaN', 'NaN', 'NaN', 'f', 'NaN', NULL, 'infinity', 'r1'",
            ],
            "visit": ["17, 'C', 'NaN', NULL, 'infinity', 'NaN'", "17, '', 'Infinity', NULL, '-infinity', 'Infinity'"],
            "event": ["'FALL', 'NaN', 'WORD', 'infinity'"],
            "stay": ["17, 'NaN', 'TOWN'"] * 30,
        },
        {
            "patient": [
                (
                    "1e400, E'\\x01', repeat('e', 2000000), 'Infinity', 1e400, -1e400, '-Infinity', 1e-400, ' F', 1.5, NULL, "
                    "'4713-01-02 BC', NULL"
                )
            ],
            "visit": ["1e400, NULL, '-Infinity', NULL, '5874897-12-31', 1e-400", "NULL, 'A', 1, TRUE, '2026-01-01', 1"],
            "event": ["NULL, '-Infinity', E'\\x01', '4713-01-02 BC'"],
            "stay": ["1e400, '-Infinity', NULL", "NULL, 1, 'town'"],
        },
        {
            "patient": [
                (
                    "'NaN', NULL, NULL, 1e308, 1e-400, 'Infinity', 1e-308, '-Infinity', NULL, 1e400, NULL, "
                    "'294276-12-31 23:59:59+00', repeat('R', 60)"
                )
            ],
            "visit": ["'NaN', repeat('A', 99999), 1e-38, TRUE, '9999-12-31', -1e400"] * 9,
            "event": ["repeat('x', 99999), 1e38, repeat('word', 99999), '10000-01-01'"],
            "stay": ["'NaN', 1e-38, repeat('A', 99999)"] * 9,
        },
    ],
}


def others(people: int = PEOPLE, *, single: bool = False) -> dict[str, list[str]]:
    """The rows of everybody else; nobody has more rows than declared, so that no chance decides which ones count.

    With ``single`` a person has at most one row in each table, so that this holds for joins as well.
    """
    rng = random.Random(7)
    rows: dict[str, list[str]] = {name: [] for name in DECLARATION["tables"]}

    def some(value: str) -> str:
        return value if rng.random() < 0.9 else "NULL"

    for person in range(100, 100 + people):
        values = [f"'Name {person % 9}'", f"'{rng.choice(['fever', 'cough', 'ñandú', '%_'])} {person}'"]
        values += [str(rng.randrange(121)), f"{rng.uniform(0, 10000):.2f}", str(rng.randrange(-(10**15), 10**15))]
        values += [f"{rng.random():.6f}", f"{rng.gauss(0, 1e6):.3f}", rng.choice(["'F'", "'M'"])]
        values += [rng.choice(["-1", "1", "2"]), rng.choice(["TRUE", "FALSE"]), f"'2026-01-0{rng.randrange(1, 8)}'"]
        rows["patient"].append(", ".join([str(person), *map(some, [*values, f"'R{rng.randrange(4)}'"])]))
        for _ in range(rng.randrange(2 if single else 4)):
            visit = [f"'{rng.choice('AB')}'", f"{rng.uniform(0, 900):.2f}", rng.choice(["TRUE", "FALSE"])]
            visit += [f"'2026-01-0{rng.randrange(1, 8)}'", str(rng.randrange(1, 10))]
            rows["visit"].append(", ".join([str(person), *map(some, visit)]))
        for _ in range(person % (2 if single else 3)):
            rows["stay"].append(f"{person}, {rng.randrange(31)}, {some(rng.choice(LABELS))}")
        event = [rng.choice(["'fall'", "'O''Hara'"]), f"{rng.uniform(-3, 3):.3f}", f"'word {person % 5}'"]
        rows["event"].append(", ".join(map(some, [*event, f"'2026-01-0{rng.randrange(1, 8)}'"])))
    rows["area"] = [f"'R{i}', {10 * i}, '{'town' if i % 2 else 'land'}'" for i in range(4)]
    rows["label"] = [f"{word}, {i}, 'long'" for i, word in enumerate(LABELS)]
    return rows


def statements(kind: str, variant: str, *, single: bool = False) -> list[str]:
    """The SQL that makes one variant."""
    rows = others(LARGER * PEOPLE if variant == "larger" else PEOPLE, single=single)
    person = {"absent": {}, "larger": {}, "present": PRESENT}.get(variant)
    added = person if person is not None else DIRTY[kind][VARIANTS.index(variant) - 2]
    made = list(TABLES[kind])
    for table, lines in rows.items():
        made += [f"INSERT INTO {table} VALUES ({line})" for line in (*lines, *added.get(table, []))]
    return made


def clinic(kind: str, variant: str, where: Path, url: str = "", *, single: bool = False) -> DatasetFacts:
    """Make one variant as a database of that kind, and declare it; ``url`` is that of an empty PostgreSQL database."""
    declared: dict[str, Any] = copy.deepcopy(DECLARATION)
    path = where / f"{kind}-{variant}.db"
    declared["database"] = url or f"{kind}:///{path}"
    run(declared["database"], statements(kind, variant, single=single))
    return DatasetFacts.of(declared)


def run(url: str, lines: list[str]) -> None:
    """Run plain SQL in the database of a URL."""
    import duckdb
    import psycopg

    opened: Any
    if url.startswith("postgresql"):
        opened = psycopg.connect(url)
    else:
        opened = (sqlite3 if url.startswith("sqlite") else duckdb).connect(url.partition(":///")[2])
    with contextlib.closing(opened) as connection:
        for line in lines:
            connection.execute(line)
        connection.commit()
