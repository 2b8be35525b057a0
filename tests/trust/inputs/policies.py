"""Bad policies: broken TOML, and values of other types at every place of a good one."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tomlkit
from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated

BIG = 10**30
LARGE: dict[str, str] = {
    "10⁹ bins": 'hierarchies = {age = "intervals(bins=1000000000)"}',
    "a width of nothing": 'hierarchies = {age = "intervals(width=1e-300)"}',
    "a width of zero": 'hierarchies = {age = "intervals(width=0)"}',
    "endless widths": 'hierarchies = {age = "intervals(width=inf)"}',
    "2 000 levels": f'hierarchies = {{age = "intervals(widths=[{", ".join(str(i + 1) for i in range(2000))}])"}}',
    "levels that double": f'hierarchies = {{age = "intervals(width=1, factors=[{", ".join(["2"] * 2000)}])"}}',
    "a fanout of 10⁹": 'hierarchies = {city = "order(fanout=1000000000)"}',
    "bounds beyond doubles": "bounds = {age = [-1e999, 1e999]}",
    "bounds beyond 64 bits": f"bounds = {{age = [0, {BIG}]}}",
    "a deep call": 'hierarchies = {age = "' + "intervals(" * 3000 + ")" * 3000 + '"}',
    "deep lists": 'hierarchies = {age = "intervals(widths=' + "[" * 3000 + "]" * 3000 + ')"}',
    "100 000 columns": f"insensitive = [{', '.join(repr(f'c{i}') for i in range(100_000))}]",
    "a column name of a megabyte": f'person = "{"x" * 1_000_000}"',
    "a column name with a zero byte": 'person = "a\\u0000b"',
    "a hierarchy that is a device": 'hierarchies = {city = "/dev/zero"}',
    "a hierarchy that never ends": 'hierarchies = {city = "/dev/random"}',
    "a hierarchy that is a directory": 'hierarchies = {city = "/"}',
    "a hierarchy with a zero byte": 'hierarchies = {city = "a\\u0000.csv"}',
    "a hierarchy with a long name": f'hierarchies = {{city = "{"a/" * 3000}x.csv"}}',
    "a hierarchy with an empty name": 'hierarchies = {city = ""}',
}
TEXTS: dict[str, bytes] = {
    "deep arrays": b"a = " + b"[" * 5_000 + b"]" * 5_000,
    "deep tables": b"a = " + b"{b = " * 5_000 + b"1" + b"}" * 5_000,
    "deep keys": b".".join([b"a"] * 20_000) + b" = 1",
    "a large number": b"[run]\nseed = " + b"9" * 10_000,
    "a key twice": b"[input]\npath = 'a'\npath = 'b'",
    "dates that are none": b"[input]\npath = 2024-99-99",
    "a zero byte": b"[input]\npath = 'a\x00.csv'",
    "no end": b'[input]\npath = "people.csv',
}
WRONG: tuple[Any, ...] = (
    -1,
    BIG,
    0.5,
    float("nan"),
    True,
    "",
    "x\x00",
    [],
    [[]],
    {},
    {"use": 7},
    ["\u202e"],
    "../" * 2000,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything within a document."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, held in inner:
        yield from places(held, (*path, key))


def with_value(whole: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at a path."""
    made = copy.deepcopy(whole)
    held = made
    for key in path[:-1]:
        held = held[key]
    held[path[-1]] = value
    return made


def cases(template: Path) -> Iterator[Case]:
    """Cases of policies, of declarations of data sets and of catalogues of inferences."""
    for file, argv in (
        ("policy.toml", ("run", "policy.toml", "--overwrite")),
        ("full.toml", ("run", "full.toml")),
        ("dataset.toml", ("query", "SELECT COUNT(*) AS n FROM people", "--explain", "--epsilon", "1")),
        ("inferences.toml", ("consent", "match", "--sql", "SELECT ill FROM people", "--catalogue", "inferences.toml")),
    ):
        whole = (template / file).read_bytes()
        for name, content in {**NONSENSE, **TEXTS, **dict(truncated(whole)), **dict(spoilt(whole))}.items():
            if file != "full.toml":  # its text is read by the same parser
                yield Case(f"text of {file}", name, argv, {file: content}, may_pass=True)
        document = tomllib.loads(whole.decode())
        for number, path in enumerate(places(document)):
            for value in (WRONG[(3 * number + i) % len(WRONG)] for i in range(4)):
                content = tomlkit.dumps(with_value(document, path, value)).encode()
                where = ".".join(map(str, path))
                yield Case(f"values of {file}", f"{where} = {str(value)[:20]!r}", argv, {file: content}, may_pass=True)
    text = (template / "policy.toml").read_text()
    for name, line in LARGE.items():
        lines = [held for held in text.splitlines() if not (held.startswith("hierarchies") and line.startswith("hier"))]
        at = lines.index("[schema]") + 1
        content = "\n".join([*lines[:at], line, *lines[at:]]).encode()
        for command in ("run", "assess"):
            argv = (command, "policy.toml", *(("--overwrite",) if command == "run" else ()))
            yield Case("large or deep policies", f"{command}: {name}", argv, {"policy.toml": content}, may_pass=True)
    for what in ("fifo", "/dev/zero", "/dev/random", "directory", "gone"):
        for file in ("policy.toml", "dataset.toml", "inferences.toml", "log.sql", "choices.csv", "inferences.xml"):
            argv = {
                "policy.toml": ("run", file),
                "dataset.toml": ("gateway", "verify"),
                "log.sql": ("gateway", "audit", file),
                "choices.csv": ("consent", "load", file, "--catalogue", "inferences.toml"),
            }.get(file, ("consent", "convert", file, "new.toml"))
            yield Case("special files as text", f"{file}: {what}", argv, made={file: what})
