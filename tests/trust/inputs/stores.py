"""Bad ledgers, stores of choices, stores of explorations and files of keys; disks that are full."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated

ASK = ("query", "SELECT COUNT(*) AS n FROM people WHERE age > 30", "--epsilon", "0.5")
EXPLORE = ("explore", "people.csv", "--quasi", "age,city", "--candidate", "drop(columns=[name])", "--seeds", "1")
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "ledger.db": (ASK, ("gateway", "verify"), ("gateway", "init")),
    "keys.json": (("gateway", "key", "eva"), ("gateway", "serve"), ("gateway", "key", "ana", "--remove")),
    "consent.db": (
        ("consent", "record", "Qx"),
        ("consent", "default", "allow"),
        ("consent", "load", "choices.csv", "--catalogue", "inferences.toml"),
        ("consent", "link"),
    ),
    "explored.db": ((*EXPLORE, "--workers", "1", "--store", "explored.db"),),
}
KEYS: dict[str, bytes] = {
    "a list": b"[]",
    "a number": b"7",
    "keys that are numbers": b'{"ana": 7}',
    "keys that are lists": b'{"ana": [1]}',
    "other forms": json.dumps({"format": "celosia keys 9", "keys": {}}).encode(),
    "twice": b'{"ana": "x", "ana": "y"}',
}


def cases(template: Path) -> Iterator[Case]:
    """Cases of all files that keep something."""
    for file, commands in COMMANDS.items():
        there = template / file
        whole = there.read_bytes() if there.exists() else (template / "ledger.db").read_bytes()
        broken = {**NONSENSE, **dict(truncated(whole)), **dict(spoilt(whole)), "another database": _database(template)}
        for name, content in {**broken, **(KEYS if file == "keys.json" else {})}.items():
            for argv in commands if name in {"empty", "all bytes", "another database"} else commands[:1]:
                yield Case(f"content of {file}", f"{' '.join(argv[:2])}: {name}", argv, {file: content}, may_pass=True)
        for what in ("fifo", "/dev/zero", "/dev/random", "/dev/full", "directory", "gone", file):
            for argv in commands:
                made = what == "gone"  # some commands make it
                yield Case(
                    f"{file} that is no file", f"{' '.join(argv[:2])}: {what}", argv, made={file: what}, may_pass=made
                )
        for argv in commands:
            yield Case("full disks", f"{' '.join(argv[:2])} with {file}", argv, largest_file=1, may_pass=True)
    for option, commands in {"--ledger": COMMANDS["ledger.db"], "--store": COMMANDS["consent.db"]}.items():
        for place in (
            "",
            "a\\0b",
            "x" * 5000,
            "people.csv",
            "people.db",
            "gone/x.db",
            "people.csv/x.db",
            "/proc/x.db",
        ):
            for argv in commands[:3]:
                if place or argv[0] == "query":
                    yield Case(
                        "places of stores",
                        f"{' '.join(argv[:2])} {option} {place[:20]}",
                        (*argv, option, place),
                        may_pass=True,
                    )


def _database(template: Path) -> bytes:
    """The bytes of a database of somebody else."""
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE entries (x)")
    made.execute("CREATE TABLE spent (id INTEGER PRIMARY KEY, analyst BLOB)")
    made.execute("INSERT INTO entries VALUES ('Qanary001')")
    made.commit()
    return bytes(made.serialize())
