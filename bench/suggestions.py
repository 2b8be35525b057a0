"""How often suggested roles are right on labelled registers; what a large and a wide table cost."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.proposals.registers import HELD, SEEN
from tests.proposals.registers.scoring import table

from celosia.proposals import first_look


def large(rows: int = 1_000_000) -> pl.DataFrame:
    """A million records of twenty columns."""
    rng = np.random.default_rng(1)
    frame = {
        "patient_id": [f"P{i:07d}" for i in rng.integers(0, rows // 2, rows)],
        "birth_date": pl.Series(rng.integers(-14_000, 18_000, rows)).cast(pl.Date),
        "sexo": rng.choice(["H", "M"], rows),
        "cp": [f"{code:05d}" for code in rng.integers(8001, 8999, rows)],
        "fecha_ingreso": pl.Series(rng.integers(18_000, 20_000, rows)).cast(pl.Date).dt.strftime("%d/%m/%Y"),
        "importe": rng.lognormal(6, 1, rows).round(2),
        "diagnostico": rng.choice([f"C{i}" for i in range(300)], rows),
        "municipio": rng.choice([f"Vila {i}" for i in range(900)], rows),
    }
    return pl.DataFrame(frame | {f"v{j}": rng.integers(0, 9 + 50 * j, rows) for j in range(12)})


def wide(columns: int = 5_000, rows: int = 300) -> pl.DataFrame:
    """Three hundred records of five thousand columns."""
    rng = np.random.default_rng(1)
    return pl.DataFrame({f"c{j}": rng.integers(0, 5 + j % 400, rows) for j in range(columns)})


def main() -> None:
    print(table({"tuned on": SEEN, "set apart": HELD}))
    with tempfile.TemporaryDirectory() as place:
        for name, frame in (("large", large()), ("wide", wide())):
            path = Path(place) / f"{name}.csv"
            frame.write_csv(path)
            rows, columns = frame.shape
            del frame
            start = time.process_time()
            first_look(str(path))
            spent = time.process_time() - start
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{rows} records x {columns} columns: {spent:.1f} s of CPU, {peak:.0f} MB at most so far")


if __name__ == "__main__":
    main()
