"""Bad keys, reports that are none, and tables that the consent store takes in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated

SPECIAL = ("fifo", "/dev/zero", "/dev/random", "/dev/null", "directory", "gone", "itself")
SIGN = ("run", "policy.toml", "--overwrite", "--sign", "mine.key")
SIGNER = ("verify", "safe.certificate.json", "safe.csv", "--signer", "mine.key.pub")
PDF = ("report", "paged.report.html", "--out", "new.pdf", "--sign", "mine.key")
WORD = ("report", "paged.report.html", "--out", "new.docx")
PLACES = {
    "empty": "",
    "the working directory": ".",
    "the root": "/",
    "the directory above": "..",
    "a directory": "folder",
    "taken": "people.csv",
    "too long": "x" * 300,
    "far too long": "x/" * 3000 + "y",
    "in no directory": "gone/deep/new.key",
    "below a file": "people.csv/new.key",
    "read-only": "/proc/new.key",
    "a queue": "queue",
    "a device": "device",
    "a link to itself": "loop",
    "half a character": "n\udcc3",
    "a web address": "http://127.0.0.1:1/new",
    "an option": "-",
}
PAGES: dict[str, bytes] = {
    "a script": b"<html><main><script>alert(1)</script></main></html>",
    "no end": b"<html><main><table><tr><td>",
    "deep": b"<main>" + b"<div>" * 20_000,
    "entities": b"<main>&#xFFFFFFFF;&nothing;&#0;</main>",
    "tables in tables": b"<main>" + b"<table><tr><td>" * 300 + b"</main>",
    "control characters": b"<main>\x01\x02\x0b\x1b</main>",
    "a picture from elsewhere": b"<main><img src='file:///etc/passwd'><img src='data:image/png;base64,x'></main>",
    "spans of cells": b"<main><table><tr><td colspan='99999999'>a</td></tr><tr><td colspan='-1'>b</td></tr></table></main>",
}
KEYS: dict[str, bytes] = {
    "no end": b"-----BEGIN PRIVATE KEY-----\n",
    "no base64": b"-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n",
    "another kind": b"-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----\n",
    "with a password": b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n",
    "a certificate": b"-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n",
}
TABLES: dict[str, bytes] = {
    "header only": b"owner,inference,block\n",
    "no header": b"Qanary001,illness,yes\n",
    "other columns": b"a,b,c\n1,2,3\n",
    "columns twice": b"owner,owner,block\nQanary001,illness,yes\n",
    "an inference that there is not": b"owner,inference,block\nQanary001,nothing,yes\n",
    "a choice that is none": b"owner,inference,block\nQanary001,illness,perhaps\n",
    "no owner": b"owner,inference,block\n,illness,yes\n",
    "an owner of a megabyte": b"owner,inference,block\n" + b"Qanary" * 200_000 + b",illness,yes\n",
    "zero bytes": b"owner,inference,block\nQan\x00ary,illness,yes\n",
    "ragged": b"owner,inference,block\nQanary001,illness\nQanary002,illness,yes,no\n",
    "a quote that never ends": b'owner,inference,block\n"Qanary001,illness,yes\n',
    "choices that contradict": b"owner,inference,block\nQanary001,illness,yes\nQanary001,illness,no\n",
}
REQUEST = ("consent", "request", "sqlite:///people.db", "--sql", "SELECT name, age, city, ill FROM people",
           "--catalogue", "inferences.toml", "--owner", "name", "--quasi", "age,city", "--k", "2", "--no-measure")  # fmt: skip
ODD = ("", "-1", "0", "1e999", "nan", "x", "\u202e", "x" * 20_000, "nothing", "people.age", "a,b")


def cases(template: Path) -> Iterator[Case]:
    """Cases of keys, reports and tables that are taken in."""
    made = {"folder": "directory", "queue": "fifo", "loop": "loop", "device": "/dev/full"}
    for name, place in PLACES.items():
        written = name in {"half a character", "an option"}
        yield Case("places of keys", f"key: {name}", ("key", place), made=made, may_pass=written)
        for argv in (SIGN, SIGNER):
            yield Case("places of keys", f"{argv[0]}: {name}", (*argv[:-1], place), made=made, may_pass=argv == SIGNER)
        for end in (".pdf", ".docx", ""):
            out = ("report", "paged.report.html", "--out", f"{place}{end}")
            if end != ".pdf" or not place.startswith(("n", "-", "http")):  # those a browser would print
                yield Case("reports to forward", f"out: {name}{end}", out, made=made, may_pass=True)
    for file, argv in (("mine.key", SIGN), ("mine.key.pub", SIGNER), ("mine.key", PDF)):
        whole = (template / file).read_bytes()
        for name, content in {**NONSENSE, **KEYS, **dict(truncated(whole)), **dict(spoilt(whole))}.items():
            yield Case("content of keys", f"{argv[0]}: {name}", argv, {file: content}, may_pass=argv[0] != "report")
        for what in SPECIAL:
            special = {file: file if what == "itself" else what}
            yield Case("content of keys", f"{argv[0]}: {what}", argv, made=special)
    for word in ("literal", "env:NOBODY", "env:", "file:gone", "file:/dev/zero", "file:people.parquet", ""):
        yield Case("content of keys", f"password {word}", (*PDF, "--password", word))
    whole = (template / "paged.report.html").read_bytes()
    for name, content in {**NONSENSE, **PAGES, **dict(truncated(whole)), **dict(spoilt(whole))}.items():
        yield Case("reports to forward", f"page: {name}", WORD, {"paged.report.html": content}, may_pass=True)
    for what in SPECIAL:
        special = {"paged.report.html": "paged.report.html" if what == "itself" else what}
        yield Case("reports to forward", f"page: {what}", WORD, made=special)
    yield from _taken_in()


def _taken_in() -> Iterator[Case]:
    for file, argv in (
        ("choices.csv", ("consent", "load", "choices.csv", "--catalogue", "inferences.toml")),
        ("owners.csv", ("consent", "owners", "owners.csv")),
    ):
        for name, content in {**NONSENSE, **TABLES}.items():
            yield Case("tables of owners", f"{argv[1]}: {name}", argv, {file: content}, may_pass=True)
        for what in SPECIAL:
            special = {file: file if what == "itself" else what}
            yield Case("tables of owners", f"{argv[1]}: {what}", argv, made=special)
    for option in ("--owner", "--quasi", "--k", "--rule", "--tree", "--sensitive", "--key", "--camouflage",
                   "--strengthen", "--acknowledge", "--out", "--seed", "--dialect", "--identifiers"):  # fmt: skip
        for word in ODD:
            yield Case("requests of consent", f"{option} {word[:20]!r}", (*REQUEST, option, word), may_pass=True)
