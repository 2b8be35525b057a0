"""Bad hierarchies: files and builders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated

FILES: dict[str, bytes] = {
    "ragged": b"Ctown0,a,*\nCtown1,*\nCtown2\n",
    "a value twice": b"Ctown0,a,*\nCtown0,b,*\n",
    "no common top": b"Ctown0,a\nCtown1,b\nCtown2,c\n",
    "levels that part again": b"Ctown0,a,x\nCtown1,a,y\nCtown2,a,x\n",
    "values that lack": b"Ctown0,*\n",
    "a value that is empty": b",a,*\nCtown0,a,*\n",
    "2 000 levels": b"".join(b"Ctown%d" % i + b",*" * 2000 + b"\n" for i in range(3)),
    "20 000 levels": b"".join(b"Ctown%d" % i + b",*" * 20_000 + b"\n" for i in range(3)),
    "a label of a megabyte": b"Ctown0," + b"x" * 1_000_000 + b"\nCtown1,y\nCtown2,z\n",
    "zero bytes": b"Ctown0,\x00,*\nCtown1,\x00,*\nCtown2,\x00,*\n",
    "a quote that never ends": b'"Ctown0,a,*\nCtown1,a,*\n',
    "semicolons": b"Ctown0;a;*\nCtown1;a;*\nCtown2;a;*\n",
}
BUILDERS = (
    "intervals(bins=1000000000)",
    "intervals(width=0)",
    "intervals(width=-1)",
    "intervals(width=1e-300)",
    "intervals(width=1e308)",
    "intervals(width=nan)",
    "intervals(width=99999999999999999999999999999999)",
    "intervals(widths=[])",
    f"intervals(widths=[{','.join(map(str, range(1, 2001)))}])",
    "balanced(bins=1000000000)",
    "balanced(fanout=0)",
    "order(fanout=1)",
    "prefixes(length=1000000000)",
    "prefixes(digits=-1)",
    "levels(rows=[])",
    "levels(rows=7)",
    "levels(rows=" + "[" * 2000 + "]" * 2000 + ")",
    "dates()",
    "dates(levels=[century,century])",
    "intervals(",
    "intervals)",
    "intervals(width=10)(",
    "(" * 5000,
    "nobody(x=1)",
    "intervals(width=10, width=10)",
    "intervals(=)",
    "x" * 100_000,
    "\x00",
    "",
    "/dev/zero",
    "/dev/random",
    "/dev/stdin",
    "/",
    "a/" * 3000,
    "people.parquet",
    "people.xlsx",
    "gone.csv",
)


def cases(template: Path) -> Iterator[Case]:
    """Cases of hierarchies."""
    whole = (template / "city.csv").read_bytes()
    argv = ("run", "policy.toml", "--overwrite")
    for name, content in {**NONSENSE, **FILES, **dict(truncated(whole, 4)), **dict(spoilt(whole, 4))}.items():
        yield Case("files of hierarchies", name, argv, {"city.csv": content}, may_pass=True)
    for what in ("fifo", "/dev/zero", "/dev/random", "directory", "gone", "city.csv"):
        yield Case("files of hierarchies", what, argv, made={"city.csv": what})
    for text in BUILDERS:
        for column in ("age", "city"):
            given = ("--hierarchy", f"{column}={text}".replace("\x00", "\\0"))
            argv = ("protect", "generalise", "people.csv", "--require", "k-anonymity(k=2)", "--quasi", "age,city")
            yield Case(
                "builders of hierarchies", f"{column}: {text[:40]}", (*argv, "--out", "new.csv", *given), may_pass=True
            )
