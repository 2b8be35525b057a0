"""Makes questions at random: most are answered, many are refused, some are nonsense. The same seed makes the same."""

from __future__ import annotations

import random
import re

DECLARATION = {
    "name": "clinic",
    "epsilon": 900_000.0,
    "delta": 0.5,
    "tables": {
        "patient": {
            "person": "id",
            "unique": True,
            "columns": {
                "id": {"type": "integer"},
                "name": {"type": "text"},
                "note": {"type": "text"},
                "age": {"type": "integer", "bounds": [0, 120]},
                "income": {"type": "number", "bounds": [0, 10_000]},
                "wealth": {"type": "integer", "bounds": [-1e15, 1e15]},
                "share": {"type": "number", "bounds": [1e-12, 1]},
                "debt": {"type": "number"},
                "sex": {"type": "text", "categories": ["F", "M"]},
                "level": {"type": "integer", "categories": [-1, 1, 2]},
                "smoker": {"type": "boolean"},
                "seen": {"type": "date"},
                "region": {"type": "text"},
            },
        },
        "visit": {
            "person": "patient",
            "rows": 3,
            "columns": {
                "patient": {"type": "integer"},
                "ward": {"type": "text", "categories": ["A", "B"]},
                "cost": {"type": "number", "bounds": [-5, 1000], "unit": 0.01},
                "paid": {"type": "boolean"},
                "day": {"type": "date"},
                "code": {"type": "integer", "bounds": [1, 9]},
            },
        },
        "event": {
            "columns": {
                "kind": {"type": "text", "categories": ["fall", "O'Hara"]},
                "size": {"type": "number", "bounds": [-2.5, 2.5]},
                "word": {"type": "text"},
                "held": {"type": "date"},
            },
        },
        "stay": {
            "person": "guest",
            "rows": 2,
            "columns": {
                "guest": {"type": "integer"},
                "nights": {"type": "integer", "bounds": [0, 30]},
                "unit": {"type": "text"},
            },
        },
        "area": {
            "public": True,
            "keys": ["place"],
            "columns": {
                "place": {"type": "text"},
                "extent": {"type": "integer", "bounds": [0, 100]},
                "sort": {"type": "text", "categories": ["town", "land"]},
            },
        },
        "label": {
            "public": True,
            "keys": ["word", "number"],
            "columns": {
                "word": {"type": "text"},
                "number": {"type": "integer", "bounds": [0, 20]},
                "long": {"type": "text"},
            },
        },
    },
    "joins": [
        {"left": left, "right": right}
        for left, right in (
            ("patient.id", "visit.patient"),
            ("patient.id", "stay.guest"),
            ("visit.patient", "stay.guest"),
            ("patient.id", "patient.id"),
            ("visit.patient", "visit.patient"),
            ("stay.guest", "stay.guest"),
            ("patient.region", "area.place"),
            ("patient.region", "patient.region"),
            ("area.place", "area.place"),
            ("area.sort", "label.word"),
            ("area.sort", "area.sort"),
            ("visit.ward", "label.word"),
            ("stay.unit", "label.word"),
            ("stay.unit", "label.long"),
            ("label.word", "label.long"),
            ("patient.name", "stay.unit"),
        )
    ],
}
"""Joins of every kind: of persons, of a table with itself, to public tables by a key, between them, and those that are
declared though no query may use them.
"""
FROM = {
    "patient": ("patient",),
    "visit": ("visit",),
    "event": ("event",),
    "patient JOIN visit ON patient.id = visit.patient": ("patient", "visit"),
    "visit JOIN patient ON visit.patient = patient.id": ("visit", "patient"),
    "patient LEFT JOIN visit ON patient.id = visit.patient": ("patient", "visit"),
    "patient JOIN area ON region = place": ("patient", "area"),
    "patient LEFT JOIN area ON region = place": ("patient", "area"),
    "area JOIN patient ON place = region": ("patient", "area"),
    "patient JOIN area ON region = place JOIN visit ON patient.id = visit.patient": ("patient", "area", "visit"),
}
WHOLE = "0 1 2 3 7 10 17 -1 -3 100 1000 46341 65536 100000 2147483647 2147483648 4294967296 3037000500 999999999999999"
REAL = "0.5 1.5 -0.25 0.001 1e-9 1.0999999999999998e-9 1e3 12.75 1e15 999999999999999.9"
ODD = ["1e16", "1e-10", "1e999", "99999999999999999999", "NULL", "'x'", "TRUE", "x", "17.", "0x1F"]
TEXTS = ["'Target'", "'fever'", "'a'", "''", "'O''Hara'", "'\\'", "'%'", "'R1'", "'ñandú'", "'F'", "'\"c0\"'", "'c0'"]
PATTERNS = ["'Tar%'", "'%get'", "'%e%'", "'%'", "''", "'fever'", "'%''%'", "'%ñ%'", "'%e%e%'", "'_a%'", "'f%r'"]
DAYS = ["'2026-01-03'", "DATE '2026-02-28'", "'0001-01-01'", "'9999-12-31'", "'2026-02-30'", "'tomorrow'"]
WORDS = (
    "SELECT FROM WHERE GROUP BY ( ) , * + - / % = < > AND OR NOT IN NULL CASE WHEN THEN ELSE END LIKE AS 1 'x' age id"
)
TOKEN = re.compile(r"'(?:[^']|'')*'|[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")


def _usable(left: str, right: str) -> bool:
    """Whether a table may be joined at ``left`` by ``right``: persons with persons, a public table by its key."""
    (old, column), (new, key) = left.split("."), right.split(".")
    first, second = DECLARATION["tables"][old], DECLARATION["tables"][new]
    return key in second["keys"] if "keys" in second else (first.get("person"), second["person"]) == (column, key)


class Questions:
    """An endless source of questions about the declared tables; with ``joins``, each has two to six tables."""

    def __init__(self, seed: int, *, joins: bool = False) -> None:
        self._rng = random.Random(seed)
        self._joins = joins
        self._columns: dict[str, list[str]] = {}

    def question(self) -> str:
        """The next question."""
        sql = self._select()
        return self._garbled(sql) if self._chance(0.08) else sql

    def _select(self) -> str:
        rng = self._rng
        tables = self._joined() if self._joins else rng.choice(list(FROM))
        if not self._joins:
            self._use([("", table) for table in FROM[tables]])
        keys = [self._key() for _ in range(rng.choice([0, 0, 0, 1, 1, 2]))]
        outputs = [self._output(bool(keys)) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
        shown = [f"{key} AS k{i}" for i, key in enumerate(keys) if self._chance(0.9)]
        sql = f"SELECT {', '.join([*shown, *(f'{output} AS n{i}' for i, output in enumerate(outputs))])} FROM {tables}"
        if self._chance(0.6):
            sql += f" WHERE {self._boolean(rng.choice([1, 2, 3]))}"
        if keys:
            sql += f" GROUP BY {', '.join(keys)}"
        if keys and self._chance(0.15):
            sql += f" HAVING {outputs[0]} {rng.choice(['>', '<='])} {rng.choice(['3', '-1e9', '0.5'])}"
        if self._chance(0.2):
            sql += f" ORDER BY {rng.choice(['1', 'n0', 'n0 DESC', outputs[0], '9'])}"
        return sql + (f" LIMIT {rng.choice([1, 3, 100])}" if self._chance(0.1) else "")

    def _joined(self) -> str:
        """Tables joined one after the other, each under a name of its own, along declared pairs of columns."""
        rng = self._rng
        used = [("j0", rng.choice(["patient", "visit", "stay", "patient", "visit", "area"]))]
        sql = f"{used[0][1]} AS j0"
        for place in range(1, rng.choice([2, 2, 2, 3, 3, 4, 5, 6])):
            pairs = [(join["left"], join["right"]) for join in DECLARATION["joins"]]
            pairs += [(right, left) for left, right in pairs]
            old, table = rng.choice(used)
            pairs = [pair for pair in pairs if pair[0].startswith(f"{table}.")]
            usable = [pair for pair in pairs if _usable(*pair)]
            left, right = rng.choice(usable if usable and self._chance(0.9) else pairs)
            name, (new, _, column) = f"j{place}", right.partition(".")
            sides = [f"{old}.{left.partition('.')[2]}", f"{name}.{column}"]
            rng.shuffle(sides)
            sql += f" {rng.choice(['JOIN', 'JOIN', 'LEFT JOIN'])} {new} AS {name} ON {' = '.join(sides)}"
            used.append((name, new))
        self._use(used)
        return sql

    def _use(self, tables: list[tuple[str, str]]) -> None:
        self._columns = {"number": [], "unbounded": [], "text": [], "boolean": [], "date": [], "cells": []}
        for alias, table in tables:
            for column, facts in DECLARATION["tables"][table]["columns"].items():
                name = f"{alias}.{column}" if alias else column
                kind = {"integer": "number"}.get(facts["type"], facts["type"])
                if kind == "number" and len(facts) == 1:
                    kind = "unbounded"
                self._columns[kind].append(name)
                if "categories" in facts or kind == "boolean":
                    self._columns["cells"].append(name)

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _column(self, kind: str, otherwise: str) -> str:
        return self._rng.choice(self._columns[kind] or [otherwise])

    # Aggregates and keys ------------------------------------------------------------------------------------------

    def _key(self) -> str:
        if self._chance(0.5) and self._columns["cells"]:
            return self._rng.choice(self._columns["cells"])
        few = [name for name in self._columns["number"] if name.rpartition(".")[2] in ("age", "code", "extent")]
        made = [
            lambda: self._column("text", "'x'"),
            lambda: self._column("date", "NULL"),
            lambda: self._column("number" if self._chance(0.5) else "unbounded", "1"),
            lambda: f"FLOOR({self._rng.choice(few or ['size'])} / 10) * 10",
            lambda: f"FLOOR({self._column('number', '1')} / {self._literal()})",
            lambda: self._column("boolean", "TRUE"),
            lambda: self._column_text(1),
        ]
        refused = [  # what a condition could choose
            lambda: self._boolean(1),
            lambda: f"COALESCE({self._date(1)}, DATE '2026-01-01')",
            lambda: f"CASE WHEN {self._boolean(1)} THEN {self._number(0)} ELSE {self._number(0)} END",
        ]
        return self._rng.choice(refused if self._chance(0.05) else made)()

    def _output(self, grouped: bool) -> str:
        first = self._aggregate(grouped)
        if self._chance(0.85):
            return first
        return self._rng.choice(
            [
                f"{first} / {self._aggregate(grouped)}",
                f"{first} * {self._literal()} - {self._aggregate(grouped)}",
                f"ROUND({first}, 2)",
                f"GREATEST({first}, 0, {self._aggregate(grouped)})",
                f"ABS({first} + 1e15) * 1e15",
            ]
        )

    def _aggregate(self, grouped: bool) -> str:
        made = [
            lambda: "COUNT(*)",
            lambda: f"COUNT({self._any(1)})",
            lambda: f"COUNT(DISTINCT {self._any(0)})",
            lambda: f"SUM({self._number(3)})",
            lambda: f"SUM({self._number(2)})",
            lambda: f"AVG({self._number(2)})",
            lambda: f"VARIANCE({self._number(2)})",
            lambda: f"STDDEV({self._number(1)})",
            lambda: f"SUM(CASE WHEN {self._boolean(2)} THEN {self._number(1)} ELSE {self._number(1)} END)",
        ]
        quantiles = [
            lambda: f"{self._rng.choice(['MIN', 'MAX', 'MEDIAN'])}({self._number(1)})",
            lambda: f"QUANTILE({self._number(1)}, {self._rng.choice(['0.25', '1', '0', '2'])})",
            lambda: (
                f"PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY {self._number(1)}{', 1' if self._chance(0.1) else ''})"
            ),
        ]
        return self._rng.choice(made if grouped and self._chance(0.9) else made + quantiles)()

    # Expressions --------------------------------------------------------------------------------------------------

    def _any(self, depth: int) -> str:
        return self._rng.choice([self._number, self._text, self._boolean, self._date])(depth)

    def _literal(self) -> str:
        if self._chance(0.03):
            return self._rng.choice(ODD)
        return self._rng.choice((WHOLE if self._chance(0.6) else REAL).split())

    def _number(self, depth: int) -> str:
        if depth <= 0 or self._chance(0.15):
            kind = "unbounded" if self._chance(0.03) else "number"
            return self._column(kind, "1") if self._chance(0.6) else self._literal()

        def inner() -> str:
            return self._number(depth - 1)

        made = [
            lambda: f"({inner()} {self._rng.choice('+-')} {inner()})",
            lambda: f"({inner()} {self._rng.choice('+-')} {self._literal()})",
            lambda: f"({self._column('number', '1')} * {self._rng.choice(['2', '-1', '0.5', '3', inner()])})",
            lambda: f"(CASE WHEN {self._boolean(1)} THEN {self._literal()} ELSE 0 END * {self._literal()})",
            lambda: (
                f"({inner()} / {self._rng.choice(['2', '0.5', '-3', '7', 'GREATEST(' + inner() + ', 1)', inner()])})"
            ),
            lambda: f"({inner()} % {self._rng.choice(['2', '7', '-3', '0', '2147483648', '0.5'])})",
            lambda: f"{self._rng.choice(['ABS', 'FLOOR', 'CEIL', 'ROUND', '-'])}({inner()})",
            lambda: f"{self._rng.choice(['GREATEST', 'LEAST', 'COALESCE'])}({inner()}, {inner()})",
            lambda: f"LEAST(GREATEST({inner()}, {self._literal()}), {self._literal()})",
            lambda: f"CASE WHEN {self._boolean(depth - 1)} THEN {inner()} ELSE {inner()} END",
            lambda: (
                f"CASE {self._column('number', '1')} WHEN 17 THEN {inner()} WHEN {self._literal()} THEN {inner()} END"
            ),
        ]
        return self._rng.choice(made)()

    def _text(self, depth: int) -> str:
        if depth <= 0 or self._chance(0.5):
            return self._column("text", "'x'") if self._chance(0.8) else self._rng.choice(TEXTS)
        made = [
            lambda: f"{self._rng.choice(['LOWER', 'UPPER'])}({self._column_text(depth - 1)})",
            lambda: f"COALESCE({self._text(depth - 1)}, {self._rng.choice(TEXTS)})",
            lambda: f"CASE WHEN {self._boolean(depth - 1)} THEN {self._text(depth - 1)} ELSE 'other' END",
        ]
        return self._rng.choice(made)()

    def _column_text(self, depth: int) -> str:
        """The text of a column, as functions of texts need it; seldom another one, which is refused."""
        if self._chance(0.05):
            return self._text(1)
        column = self._column("text", "'x'")
        return f"{self._rng.choice(['LOWER', 'UPPER'])}({column})" if depth > 0 else column

    def _date(self, depth: int) -> str:
        column = self._column("date", "NULL")
        if depth <= 0 or self._chance(0.7):
            return column
        return f"CASE WHEN {self._boolean(depth - 1)} THEN {column} ELSE DATE '2026-01-05' END"

    def _boolean(self, depth: int) -> str:
        if depth <= 0:
            return self._column("boolean", "TRUE")

        def inner() -> str:
            return self._boolean(depth - 1)

        number, text, date, pick = self._number, self._text, self._date, self._rng.choice
        made = [
            lambda: f"{number(depth - 1)} {pick(['=', '<>', '<', '<=', '>', '>='])} {number(depth - 1)}",
            lambda: f"{self._column('number', '1')} {pick(['=', '<', '>='])} {self._literal()}",
            lambda: f"{self._column('unbounded', '1')} {pick(['=', '<', '>='])} {self._literal()}",
            lambda: f"{self._column('unbounded', '1')} {pick(['=', '<', '>='])} {number(depth - 1)}",
            lambda: f"{number(1)} BETWEEN {self._literal()} AND {self._literal()}",
            lambda: (
                f"{self._column('number', '1')} {pick(['IN', 'NOT IN'])} ({self._literal()}, 17, {self._literal()})"
            ),
            lambda: f"{self._column('text', 'name')} {pick(['=', '<>'])} {pick(TEXTS)}",
            lambda: f"{self._column_text(1)} {pick(['LIKE', 'LIKE', 'NOT LIKE'])} {pick(PATTERNS)}",
            lambda: f"{text(1)} IN ({pick(TEXTS)}, {pick(TEXTS)})",
            lambda: f"{text(1)} = {text(1)}",
            lambda: f"{date(1)} {pick(['=', '<', '>='])} {pick(DAYS)}",
            lambda: f"{self._any(1)} IS {pick(['NULL', 'NOT NULL'])}",
            lambda: f"({inner()} {pick(['AND', 'OR'])} {inner()})",
            lambda: f"NOT ({inner()})",
            lambda: f"{self._column('boolean', 'TRUE')} IS {pick(['TRUE', 'FALSE', 'NOT TRUE'])}",
            lambda: f"CASE WHEN {inner()} THEN {inner()} ELSE {pick(['TRUE', 'FALSE'])} END",
            lambda: f"({self._column('unbounded', '1')} = 17 AND {number(1)} > {self._literal()})",
        ]
        return pick(made)()

    # Nonsense -----------------------------------------------------------------------------------------------------

    def _garbled(self, sql: str) -> str:
        tokens = TOKEN.findall(sql)
        for _ in range(self._rng.choice([1, 1, 2, 4])):
            place = self._rng.randrange(len(tokens))
            change = self._rng.choice(["drop", "double", "swap", "put"])
            if change == "drop":
                tokens[place : place + 1] = []
            elif change == "double":
                tokens.insert(place, tokens[place])
            elif change == "swap":
                other = self._rng.randrange(len(tokens))
                tokens[place], tokens[other] = tokens[other], tokens[place]
            else:
                tokens.insert(place, self._rng.choice(WORDS.split()))
            tokens = tokens or ["SELECT"]
        return " ".join(tokens)
