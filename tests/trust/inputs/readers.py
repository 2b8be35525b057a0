"""Bad data files, in every form that is read."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated

FORMS = ("csv", "csv.gz", "parquet", "jsonl", "xlsx", "ods", "sav", "dta", "xpt")
OTHER_FORMS = ("zsav", "por", "sas7bdat", "tsv", "txt", "data", "csv.zst", "csv.bz2", "zip", "json", "xls", "toml", "")
DEVICES = ("fifo", "/dev/zero", "/dev/random", "/dev/null", "/dev/full", "directory", "gone", "people.loop")
"""Things of a file system that are no files; the last is a link to itself."""
HEAD = b"name,age,city,ill\n"
ROW = b"Qanary001,34,Ctown0,Sick1\n"
TEXTS: dict[str, bytes] = {
    "header only": HEAD,
    "no header": ROW * 5,
    "repeated names": b"a,a,b\n1,2,3\n4,5,6\n",
    "names that are empty": b",,\n1,2,3\n",
    "ragged": HEAD + ROW * 3 + b"Qanary,1\n" + ROW,
    "a quote that never ends": HEAD + b'"Qanary001,34,Ctown0,Sick1\n' * 50,
    "quotes within": HEAD + b'Qan"ary"001,34,"Ctown0"x,Sick1\n' * 5,
    "zero bytes": HEAD + ROW.replace(b"3", b"\x00") * 5,
    "zero bytes in names": b"na\x00me,a\x00ge\n" + b"1,2\n" * 5,
    "carriage returns": (HEAD + ROW * 4).replace(b"\n", b"\r"),
    "whole numbers beyond 64 bits": b"n,x\n" + b"99999999999999999999999999,1\n-99999999999999999999999,2\n" * 20,
    "numbers beyond doubles": b"n,x\n" + b"1e999,nan\n-1e999,inf\n" * 20,
    "a number of a million digits": b"n,x\n" + b"9" * 1_000_000 + b",1\n2,3\n",
    "years that are none": b"d,x\n" + b"99999-12-31,1\n0000-00-00,2\n2020-02-31,3\n" * 20,
    "a cell of five megabytes": HEAD + b"Qanary001" * 550_000 + b",1,2,3\n" + ROW,
    "a name of a megabyte": b"Qanary" * 170_000 + b",b\n1,2\n3,4\n",
    "control characters": b"\x1b[31mname\x1b[0m,b\x07\n1,2\n3,4\n",
    "directions of writing": "na\u202eme,b\n1,2\n3,4\n".encode(),
    "half a character": HEAD + ROW * 3 + b"Qanary\xc3,1,2,3\n",
    "surrogates": HEAD + b"\xed\xa0\x80,1,2,3\n" * 3,
    "UTF-16 cut in half": ("name,age\nQanary001,4\n" * 9).encode("utf-16")[:-1],
    "UTF-32": ("name,age\nQanary001,4\n" * 9).encode("utf-32"),
    "names as values of a script": b"=1+1,@SUM(1)\n1,2\n3,4\n",
}


def cases(template: Path) -> Iterator[Case]:
    """Cases of all readers."""
    for form in FORMS:
        file, whole = f"people.{form}", (template / f"people.{form}").read_bytes()
        broken = dict(NONSENSE) | dict(truncated(whole)) | dict(spoilt(whole))
        for name, content in broken.items():
            yield Case(f"reader of {form}", name, ("assess", file), {file: content}, may_pass=True)
    for form in OTHER_FORMS:
        file = f"other.{form}" if form else "other"
        for name in ("empty", "all bytes", "deep brackets"):
            yield Case("readers by name", f".{form}: {name}", ("assess", file), {file: NONSENSE[name]}, may_pass=True)
    for command in ("assess", "init", "explore"):
        for name, content in TEXTS.items():
            argv = (command, "people.csv", *(("--budget-seconds", "1") if command == "explore" else ()))
            if command != "explore" or name in {"header only", "zero bytes", "ragged"}:
                yield Case("delimited text", f"{command}: {name}", argv, {"people.csv": content}, may_pass=True)
    yield from _devices()
    yield from _compressed()
    yield from _lines()
    yield from _wide()


def _devices() -> Iterator[Case]:
    for what in DEVICES:
        for form in ("csv", "csv.gz", "parquet", "jsonl", "xlsx", "sav"):
            file = f"people.{form}"
            yield Case(
                "special files as data",
                f"{form}: {what}",
                ("assess", file),
                made={file: what.replace("people.loop", file)},
            )
        for argv in (
            ("init", "people.csv"),
            ("run", "policy.toml", "--overwrite"),
            ("compare", "people.csv", "safe.csv"),
            ("compare", "safe.csv", "people.csv"),
            ("apply", "safe.private.json", "people.csv", "--out", "new.csv"),
            ("protect", "drop", "people.csv", "--columns", "name", "--out", "new.csv"),
            ("explain-risk", "1", "people.csv", "safe.csv", "--private", "safe.private.json"),
            (
                "verify",
                "safe.certificate.json",
                "safe.csv",
                "--record",
                "safe.private.json",
                "--original",
                "people.csv",
            ),
            ("consent", "owners", "people.csv"),
            ("consent", "suggest", "people.csv"),
            ("query", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1"),
        ):
            made = {"people.csv": what.replace("people.loop", "people.csv")}
            yield Case("special files as data", f"{' '.join(argv[:2])}: {what}", argv, made=made)
    for what in ("/dev/zero", "/dev/random", "/dev/stdin", "/proc/self/mem", "/dev/tty", "/", "/proc"):
        for argv in (("assess", what), ("init", what), ("run", what), ("verify", what), ("compare", what, "safe.csv")):
            yield Case("special files as data", " ".join(argv), argv)


def _compressed() -> Iterator[Case]:
    text = HEAD + ROW * 50
    packed = gzip.compress(text, mtime=0)
    made = {
        "plain text": text,
        "a wrong checksum": packed[:-8] + b"\x00" * 8,
        "a wrong length": packed[:-4] + b"\xff\xff\xff\xff",
        "rubbish behind": packed + b"Qanary001" * 9,
        "two members, the second cut": packed + packed[:20],
        "a gzip within a gzip": gzip.compress(packed, mtime=0),
        "a bomb": gzip.compress(HEAD + b"0" * 300_000_000, 1, mtime=0),
        "flags that nobody knows": packed[:3] + b"\xff" + packed[4:],
    }
    for name, content in made.items():
        for command in ("assess", "init"):
            yield Case(
                "compressed text",
                f"{command}: {name}",
                (command, "people.csv.gz"),
                {"people.csv.gz": content},
                may_pass=True,
            )
            # what is compressed, under a name that does not say so
            yield Case(
                "compressed text",
                f"{command}: {name} as text",
                (command, "people.csv"),
                {"people.csv": content},
                may_pass=True,
            )


def _lines() -> Iterator[Case]:
    made = {
        "a list": b"[1,2]\n" * 3,
        "numbers": b"1\n2\n",
        "nested": b'{"a": {"b": [1, {"c": 2}]}}\n' * 3,
        "deep": b'{"a": ' + b"[" * 5_000 + b"]" * 5_000 + b"}\n",
        "types that change": b'{"a": 1}\n{"a": "Qanary001"}\n{"a": [1]}\n{"a": null}\n',
        "large numbers": b'{"a": 1}\n{"a": 99999999999999999999999999999}\n',
        "numbers too large for a double": b'{"a": 1e999}\n{"a": -1e999}\n',
        "no end": b'{"a": "Qanary001',
        "keys twice": b'{"a": 1, "a": 2}\n' * 3,
        "an empty key": b'{"": 1}\n' * 3,
        "other keys in every line": b"".join(b'{"k%d": 1}\n' % i for i in range(3000)),
        "not a number": b'{"a": NaN}\n{"a": Infinity}\n',
        "half a pair of surrogates": b'{"a": "\\ud800"}\n' * 3,
        "an array of records": json.dumps([{"a": 1}, {"a": 2}]).encode(),
    }
    for name, content in made.items():
        for command in ("assess", "init"):
            yield Case(
                "lines of JSON",
                f"{command}: {name}",
                (command, "people.jsonl"),
                {"people.jsonl": content},
                may_pass=True,
            )


def _wide() -> Iterator[Case]:
    for width in (5_000, 50_000):
        head = b",".join(b"c%d" % i for i in range(width)) + b"\n"
        text = head + b"".join(b",".join(b"%d" % ((i * r) % 7) for i in range(width)) + b"\n" for r in range(6))
        for command in ("init", "assess"):
            yield Case(
                "wide tables", f"{command}: {width} columns", (command, "wide.csv"), {"wide.csv": text}, may_pass=True
            )
