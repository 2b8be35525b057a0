"""Small tables by hand, for tests of one thing each."""

from __future__ import annotations

import polars as pl

from celosia import Schema, read
from celosia.parts import build
from celosia.release.policy.policy import Output, Policy, Step
from celosia.release.run import run


def levels(*rows):
    """A hierarchy by its rows."""
    return {"use": "levels", "rows": list(rows)}


def table(columns, **roles):
    return read(pl.DataFrame(columns), Schema.of(**roles))


def released(columns, place, *, steps=(), require=(), kept=(), **roles):
    """The written release of a small table; ``kept`` names columns that leave though nothing asks for them."""
    pl.DataFrame(columns).write_csv(place / "input.csv")
    return run(
        Policy(
            input={"path": place / "input.csv"},
            schema=Schema.of(**roles),
            require=tuple(build("model", model) for model in require),
            step=tuple(Step(str(i), build("method", step)) for i, step in enumerate(steps)),
            output=Output(path=place / "safe.csv", report=False, columns=tuple(kept)),
            run={"seed": 1 << 70},
        ),
        overwrite=True,
    )
