"""Differential privacy as the lecture on database privacy and the introduction to privacy tell it, run again.

Every number that the sources print is computed anew; the attacks (differencing, averaging, a selective count) are
carried out against plain SQL and against the gateway.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from celosia.experiments import write_report

NAME = "lecture"


def reproduce(data: Path, out: Path, progress: Callable[[str, float], None] | None = None) -> dict[str, Any]:
    """Run the demonstrations on the UCI file ``adult.data`` and write ``lecture.html`` and ``lecture.json`` into
    ``out``.
    """
    from celosia.experiments.lecture import attacks, claims
    from celosia.experiments.lecture.page import page
    from celosia.experiments.lecture.people import gateway, people

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
    files = write_report(NAME, out, page(checked, stories), report)
    tell("done", 1.0)
    return {**report, "files": files}
