"""Bad words on the command line, places that cannot be written, and odd environments."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs.case import Case

BIG = str(10**30)
ODD = (
    "",
    "-1",
    "0",
    BIG,
    "-" + BIG,
    "1e999",
    "nan",
    "inf",
    "x",
    "0x10",
    "1_000",
    "٣",
    "\u202e",
    "a,b",
    "[",
    "x" * 20_000,
)
OPTIONS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("explore", "people.csv", "--quasi", "age,city", "--candidate", "drop(columns=[name])", "--seeds", "1"),
        (
            "--seed",
            "--seeds",
            "--workers",
            "--budget-seconds",
            "--max-risk",
            "--max-loss",
            "--risk",
            "--loss",
            "--engine",
        ),
    ),
    (
        ("assess", "people.csv"),
        ("--quasi", "--person", "--weight", "--require", "--risk", "--engine", "--memory", "--query"),
    ),
    (
        ("protect", "noise", "people.csv", "--columns", "age", "--out", "new.csv"),
        ("--p", "--seed", "--scope", "--share", "--keep-columns"),
    ),
    (("protect", "microaggregate", "people.csv", "--columns", "age", "--out", "new.csv"), ("--k",)),
    (("protect", "top-code", "people.csv", "--column", "age", "--out", "new.csv"), ("--at", "--label")),
    (("protect", "sample", "people.csv", "--out", "new.csv"), ("--size", "--share", "--by")),
    (
        ("query", "SELECT COUNT(*) AS n FROM people", "--explain"),
        ("--epsilon", "--rho", "--delta", "--announce", "--analyst"),
    ),
    (("gateway", "serve"), ("--port", "--grid", "--per-minute")),
    (("consent", "serve", "--catalogue", "inferences.toml"), ("--port",)),
    (("studio", "project", "--no-browser"), ("--port",)),
    (("consent", "link"), ("--hours", "--base")),
    (("consent", "default"), ("",)),
    (("demo",), ("--persons",)),
    (("explain-risk",), ("",)),
    (("compare", "people.csv", "safe.csv"), ("--key", "--loss", "--risk", "--quasi")),
    (("run", "policy.toml"), ("--until", "--without", "--engine", "--memory")),
    (("parts",), ("",)),
    (("reproduce",), ("",)),
)
"""Options that take any word; those that would start a server are given none that it could listen on."""
ENDS: dict[tuple[str, ...], str] = {("explain-risk",): "people.csv safe.csv --key name"}
SERVING = {"gateway", "studio"}
PLACES: dict[str, str] = {
    "empty": "",
    "a directory": "folder",
    "the working directory": ".",
    "the root": "/",
    "too long": "x" * 300 + ".csv",
    "far too long": "x/" * 3000 + "y.csv",
    "in no directory": "gone/deep/new.csv",
    "below a file": "people.csv/new.csv",
    "the input": "people.csv",
    "a device": "device.csv",
    "a device that takes all": "sink.csv",
    "read-only": "/proc/new.csv",
    "read-only, too": "/sys/new.csv",
    "no suffix": "new",
    "an unknown suffix": "new.klingon",
    "a web address": "http://127.0.0.1:1/new.csv",
    "a database that is none": "nothing://x/y",
    "a queue": "queue.csv",
    "half a character": "n\udcc3.csv",
    "a link to itself": "loop.csv",
}
WRITERS: tuple[tuple[str, ...], ...] = (
    ("protect", "drop", "people.csv", "--columns", "name", "--quasi", "city", "--out"),
    ("apply", "safe.private.json", "people.csv", "--out"),
    ("init", "people.csv", "--out"),
    ("compare", "people.csv", "safe.csv", "--key", "ill", "--html"),
    ("verify", "safe.certificate.json", "safe.csv", "--html"),
    ("consent", "convert", "inferences.toml"),
    ("consent", "log", "log.sql", "--page"),
)
READERS: tuple[tuple[str, ...], ...] = (("assess",), ("init",), ("run",), ("verify",), ("apply",), ("gateway", "audit"))
VARIABLES: dict[str, dict[str, str]] = {
    "no home": {"HOME": "/nonexistent"},
    "no place for drafts": {"TMPDIR": "/nonexistent"},
    "a terminal that is none": {"TERM": "klingon", "COLUMNS": "x", "LINES": "-1"},
    "a width of nothing": {"COLUMNS": "0"},
    "a language that is none": {"LC_ALL": "klingon", "LANG": "x"},
    "a plain language": {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    "threads that are none": {"POLARS_MAX_THREADS": "2", "NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "-1"},
    "no place for settings": {"XDG_CACHE_HOME": "/proc", "XDG_CONFIG_HOME": "/proc", "MPLCONFIGDIR": "/proc"},
    "a date that is none": {"SOURCE_DATE_EPOCH": "x", "TZ": "klingon"},
}


def cases(template: Path) -> Iterator[Case]:
    """Cases of words, places and environments."""
    for argv, options in OPTIONS:
        behind = tuple(ENDS.get(argv, "").split())
        for option in options:
            for word in ODD:
                if (argv[0] in SERVING or argv[:2] == ("consent", "serve")) and word in {"0", "٣", "1_000"}:
                    continue  # a port that there is, or a limit that is allowed: it would serve
                given = (option, word) if option else (word,)
                serving = ("--port", "999999") if argv[:2] == ("gateway", "serve") and option != "--port" else ()
                name = f"{' '.join(argv[:2])} {option} {word[:20]!r}"
                yield Case("words on the command line", name, (*argv, *given, *serving, *behind), may_pass=True)
    for number in ("-1", "65536", "999999", BIG):
        for argv in (
            ("gateway", "serve"),
            ("consent", "serve", "--catalogue", "inferences.toml"),
            ("studio", "project", "--no-browser"),
        ):
            yield Case("ports", f"{argv[0]} {number[:9]}", (*argv, "--port", number))
    for host in ("", "nobody.invalid", "999.1.1.1", "x" * 5000, "192.0.2.1"):
        for argv in (("gateway", "serve"), ("consent", "serve", "--catalogue", "inferences.toml")):
            yield Case("ports", f"{argv[0]} on {host[:20]!r}", (*argv, "--host", host, "--port", "1"))
    yield from _places(template)
    for name, variables in VARIABLES.items():
        for argv in (
            ("assess", "people.csv"),
            ("run", "policy.toml", "--overwrite"),
            ("query", "SELECT 1", "--epsilon", "1"),
            ("assess", "people.xlsx"),
        ):
            yield Case("environments", f"{argv[0]}: {name}", argv, variables=variables, may_pass=True)


def _places(template: Path) -> Iterator[Case]:
    # Links of the case's own: were a device itself the target, a fault could put a file in its place.
    made = {"folder": "directory", "queue.csv": "fifo", "loop.csv": "loop.csv"}
    made |= {"device.csv": "/dev/full", "sink.csv": "/dev/null"}
    for argv in WRITERS:
        for name, place in PLACES.items():
            fine = name in {
                "no suffix",
                "an unknown suffix",
                "in no directory",
            }  # where the form is not told by the name
            allowed = fine or (name in {"the input", "half a character"})
            yield Case(
                "places to write to", f"{' '.join(argv[:2])}: {name}", (*argv, place), made=made, may_pass=allowed
            )
        for overwrite in ((*argv, "taken.csv"),):
            if argv[0] not in {"compare", "verify"} and "--page" not in argv:
                yield Case(
                    "places to write to",
                    f"{' '.join(argv[:2])}: taken",
                    overwrite,
                    {"taken.csv": b"Qanary"},
                    may_pass=argv[:2] == ("consent", "convert"),
                )
    policy = (template / "policy.toml").read_text()
    for name, place in PLACES.items():
        text = policy.replace('path = "safe.csv"', f"path = '{place}'").encode(errors="surrogateescape")
        yield Case(
            "places to write to",
            f"run: {name}",
            ("run", "policy.toml"),
            {"policy.toml": text},
            made=made,
            may_pass=True,
        )
    for argv in READERS:
        behind = ("people.csv", "--out", "new.csv") if argv == ("apply",) else ()
        for name, place in {**PLACES, "an option": "-"}.items():
            if name != "the input":
                yield Case(
                    "places to read from",
                    f"{' '.join(argv)}: {name}",
                    (*argv, place, *behind),
                    made=made,
                    may_pass=True,
                )
    for argv in (("run", "policy.toml", "--overwrite"), *((*w, "new.csv") for w in WRITERS)):
        for most in (0, 100, 4096):
            yield Case("full disks", f"{' '.join(argv[:2])}: {most} bytes", argv, largest_file=most, may_pass=True)
