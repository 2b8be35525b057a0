"""Differential privacy as the lecture on database privacy and the introduction to privacy tell it, run again.

Every number that the sources print is computed anew; the attacks (differencing, averaging, a selective count) are
carried out against plain SQL and against the gateway.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

NAME = "lecture"
SUMMARY = (
    "Differential privacy: neighbours, Laplace counts, differencing, averaging, the histogram, randomised response."
)


def reproduce(data: Path, out: Path, progress: Callable[[str, float], None] | None = None) -> dict[str, Any]:
    """Run the demonstrations on the UCI file ``adult.data`` and write ``lecture.html`` and ``lecture.json`` into
    ``out``.
    """
    from celosia.io.atomic import replaced
    from celosia.reproduce.lecture import attacks, claims
    from celosia.reproduce.lecture.page import page
    from celosia.reproduce.lecture.people import gateway, people

    tell = progress or (lambda *_: None)
    tell("small examples", 0.0)
    checked = claims.small_examples()
    with tempfile.TemporaryDirectory() as place:
        table = people(Path(data), Path(place))
        tell("counts", 0.2)
        checked += claims.on_adult(table)
        with closing(gateway(table, Path(place))) as opened:
            checked += claims.through_the_gateway(opened)
            tell("attacks", 0.5)
            stories = [
                attacks.differencing(table, opened),
                attacks.selective(opened),
                attacks.averaging(opened),
                attacks.quixote(),
            ]
    report = {
        "experiment": NAME,
        "printed numbers": len(checked),
        "come out": sum(claim.agrees for claim in checked),
        "claims": [claim.data() for claim in checked],
        "attacks": stories,
    }
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    files = {"html": out / f"{NAME}.html", "json": out / f"{NAME}.json"}
    with replaced(files["html"]) as draft:
        draft.write_text(page(checked, stories), encoding="utf-8")
    with replaced(files["json"]) as draft:
        draft.write_text(json.dumps(report, indent=1), encoding="utf-8")
    tell("done", 1.0)
    return {**report, "files": {kind: str(path) for kind, path in files.items()}}
