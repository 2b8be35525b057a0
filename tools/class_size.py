"""Count the calls behind one class size: ``KAnonymity(k=2).value(table)`` on a small CSV file.

    python tools/class_size.py [--calls] [--hard]

Only functions of Celosia count; a comprehension, lambda or generator expression belongs to the function that it is in.
``--hard`` reads missing values as wildcards, counts persons with several rows and suppresses a record. ``--calls``
prints the tree of calls.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl

import celosia
from celosia.models import KAnonymity

SOURCE = f"{Path(celosia.__file__).parent}/"
PEOPLE = {
    "id": ["p1", "p1", "p1", "p2", "p3", "p4", "p5", "p6"],
    "age": ["30", "30", "31", "31", "31", "31", "30", "30"],
    "sex": ["F", "F", "F", "F", "M", "M", "M", "M"],
}
HARD = {
    "id": ["p1", "p1", "p1", "p2", "p3", "p4", "p5", None],
    "age": ["30", "30", "31", "31", None, "31", "31", "*"],
    "sex": ["F", "F", "F", "F", "M", "M", None, "*"],
}


class Call(NamedTuple):
    """One call: how deep it is below the first, its file and its function."""

    depth: int
    file: str
    function: str


def calls_of(job: Callable[[], object]) -> list[Call]:
    """Return the calls of functions of Celosia, in order."""
    found: list[Call] = []
    depth = 0

    def note(frame, event, _):
        nonlocal depth
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(SOURCE) or code.co_name.startswith("<"):
            return
        if event == "call":
            found.append(Call(depth + 1, code.co_filename[len(SOURCE) :], code.co_qualname))
        depth += 1 if event == "call" else -1

    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
    return found


def class_size_calls(*, hard: bool = False) -> list[Call]:
    """Return the calls of one measurement, after another one has loaded what it needs."""
    schema = celosia.Schema.of(
        quasi=["age", "sex"], person="id" if hard else None, missing="wildcard" if hard else None
    )
    model = KAnonymity(k=2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        pl.DataFrame(HARD if hard else PEOPLE).write_csv(path)
        model.value(celosia.read(path, schema))
        table = celosia.read(path, schema)
        return calls_of(lambda: model.value(table))


def main() -> None:
    """Print the number of calls, of files and the depth."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", action="store_true", help="print the tree of calls")
    parser.add_argument("--hard", action="store_true", help="persons, wildcards and a suppressed record")
    chosen = parser.parse_args()
    calls = class_size_calls(hard=chosen.hard)
    if chosen.calls:
        print(*(f"{'  ' * (call.depth - 1)}{call.file} {call.function}" for call in calls), sep="\n")
    files, functions = {call.file for call in calls}, {call[1:] for call in calls}
    deep = max(call.depth for call in calls)
    print(f"{len(calls)} calls of {len(functions)} functions in {len(files)} files, {deep} deep")


if __name__ == "__main__":
    main()
