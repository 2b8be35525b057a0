"""Bad certificates and private records: broken files, and values of other types at every place of a real one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated
from tests.trust.inputs.policies import places, with_value

WRONG: tuple[Any, ...] = (None, 7, "x", [], {}, [7], True, 10**40, -1, {"use": 3}, "\x00", 1e308, [None], "../" * 2000)
VERIFY = ("verify", "safe.certificate.json", "safe.csv")
OWN = (*VERIFY, "--record", "safe.private.json", "--original", "people.csv")
APPLY = ("apply", "safe.private.json", "people.csv", "--out", "new.csv")
EXPLAIN = ("explain-risk", "1", "people.csv", "safe.csv", "--private", "safe.private.json")


def cases(template: Path) -> Iterator[Case]:
    """Cases of both."""
    for file, commands in (("safe.certificate.json", (VERIFY, OWN)), ("safe.private.json", (OWN, APPLY, EXPLAIN))):
        whole = (template / file).read_bytes()
        for name, content in {**NONSENSE, **dict(truncated(whole)), **dict(spoilt(whole))}.items():
            for argv in commands:
                yield Case(f"text of {file}", f"{argv[0]}: {name}", argv, {file: content}, may_pass=True)
        document = json.loads(whole)
        for number, path in enumerate(places(document)):
            for i in range(3):
                value, argv = WRONG[(5 * number + i) % len(WRONG)], commands[(number + i) % len(commands)]
                content = json.dumps(with_value(document, path, value)).encode()
                name = f"{argv[0]}: {'.'.join(map(str, path))} = {str(value)[:20]!r}"
                yield Case(f"values of {file}", name, argv, {file: content}, may_pass=True)
        for what in ("fifo", "/dev/zero", "/dev/random", "directory", "gone", file):
            for argv in commands:
                yield Case("special files as evidence", f"{argv[0]} {file}: {what}", argv, made={file: what})
