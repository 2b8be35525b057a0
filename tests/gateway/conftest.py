"""What the gateway's tests share: ledgers in SQLite and PostgreSQL, and a small data set."""

from __future__ import annotations

import contextlib
import copy
import sqlite3
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.gateway.neighbours.clinics import run

from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return request.getfixturevalue("fresh_postgres")


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    found = Ledger.create(ledger_url)
    yield found
    found.close()


PATIENT_COLUMNS = {
    "id": {"type": "integer"},
    "name": {"type": "text"},
    "age": {"type": "integer", "bounds": [0, 120]},
    "weight": {"type": "number", "bounds": [0, 300]},
    "sex": {"type": "text", "categories": ["F", "M"]},
    "smoker": {"type": "boolean"},
    "seen": {"type": "date"},
    "region": {"type": "text"},
    "debt": {"type": "number"},
}
DECLARATION = {
    "name": "clinic",
    "epsilon": 900_000.0,
    "tables": {
        "patient": {"person": "id", "unique": True, "columns": PATIENT_COLUMNS},
        "visit": {
            "person": "patient",
            "rows": 3,
            "columns": {
                "patient": {"type": "integer"},
                "ward": {"type": "text", "categories": ["A", "B", "C"]},
                "cost": {"type": "number", "bounds": [0, 1000]},
                "region": {"type": "text"},
            },
        },
        "area": {
            "public": True,
            "keys": ["code"],
            "columns": {
                "code": {"type": "text"},
                "size": {"type": "integer", "bounds": [0, 100]},
                "kind": {"type": "text", "categories": ["town", "land"]},
            },
        },
    },
    "joins": [
        {"left": "patient.id", "right": "visit.patient"},
        {"left": "patient.region", "right": "area.code"},
        {"left": "visit.region", "right": "area.code"},
    ],
}
CANARY = "Zuleika Canary-7731"


def clinic_frames(target: bool = True) -> dict[str, pl.DataFrame]:
    """Patients, visits and areas with unpleasant values; the target is a person nobody may find."""
    rng = np.random.default_rng(7)
    size = 400
    weight = rng.normal(75, 15, size).round(2)
    weight[:6] = [np.nan, np.inf, -np.inf, 1e300, -5.0, 1e-200]
    frame = pl.DataFrame(
        {
            "id": np.arange(1, size + 1),
            "name": [f"Name {i}" for i in range(size)],
            "age": rng.integers(0, 100, size),
            "weight": weight,
            "sex": rng.choice(["F", "M", "X"], size, p=[0.5, 0.45, 0.05]),
            "smoker": rng.random(size) < 0.3,
            "seen": [date(2026, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 300, size)],
            "region": [f"R{i}" for i in rng.integers(0, 5, size)],
            "debt": rng.normal(0, 1e6, size).round(3),
        }
    ).with_columns(
        age=pl.when(pl.col("id") % 40 == 7).then(None).otherwise("age"),
        sex=pl.when(pl.col("id") % 50 == 9).then(None).otherwise("sex"),
        smoker=pl.when(pl.col("id") % 60 == 11).then(None).otherwise("smoker"),
    )
    frame = frame.with_columns(age=pl.when(pl.col("id") == 20).then(999).otherwise("age"))
    visits = pl.DataFrame(
        {
            "patient": np.concatenate([rng.integers(1, size + 1, 700), np.full(60, 33)]),
            "ward": rng.choice(["A", "B", "C"], 760),
            "cost": rng.uniform(0, 900, 760).round(2),
            "region": [f"R{i}" for i in rng.integers(0, 5, 760)],
        }
    )
    if target:
        person = {"id": 9001, "name": CANARY, "age": 41, "weight": 61.7731, "sex": "F", "smoker": True}
        person |= {"seen": date(2026, 7, 7), "region": "R-secret-7731", "debt": 7731.7731}
        frame = pl.concat([frame, pl.DataFrame([person], schema=frame.schema)])
        many = {"patient": [9001] * 50, "ward": ["C"] * 50, "cost": [773.1] * 50, "region": ["R-secret-7731"] * 50}
        visits = pl.concat([visits, pl.DataFrame(many, schema=visits.schema)])
    area = pl.DataFrame(
        {"code": [f"R{i}" for i in range(5)], "size": [10, 20, 30, 40, 50], "kind": ["town", "land"] * 2 + ["town"]}
    )
    return {"patient": frame, "visit": visits, "area": area}


def clinic(kind: str, where: Path, frames: dict[str, pl.DataFrame], url: str = "", **more: Any) -> DatasetFacts:
    """Put the frames into a database of that kind and declare them."""
    declared = copy.deepcopy({**DECLARATION, **more})
    if kind == "duckdb":
        for name, frame in frames.items():
            path = where / f"{name}.{'csv' if name == 'visit' else 'parquet'}"
            frame.write_csv(path) if name == "visit" else frame.write_parquet(path)
            declared["tables"][name]["source"] = str(path)
    elif kind == "sqlite":
        path = where / "clinic.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            for name, frame in frames.items():
                columns = ", ".join(f'"{column}"' for column in frame.columns)
                connection.execute(f"CREATE TABLE {name} ({columns})")
                rows = [[v.isoformat() if isinstance(v, date) else v for v in row] for row in frame.iter_rows()]
                connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * frame.width)})", rows)
            connection.commit()
        declared["database"] = f"sqlite:///{path}"
    else:
        _fill_postgres(url, frames)
        declared["database"] = url
    return DatasetFacts.of(declared)


def _fill_postgres(url: str, frames: dict[str, pl.DataFrame]) -> None:
    import psycopg

    names = {
        pl.Int64: "BIGINT",
        pl.String: "TEXT",
        pl.Float64: "DOUBLE PRECISION",
        pl.Boolean: "BOOLEAN",
        pl.Date: "DATE",
    }
    with psycopg.connect(url) as connection:
        for name, frame in frames.items():
            columns = ", ".join(f'"{c}" {names[type(t)]}' for c, t in frame.schema.items())
            connection.execute(f"CREATE TABLE {name} ({columns})")
            with connection.cursor().copy(f"COPY {name} FROM STDIN") as copying:
                for row in frame.iter_rows():
                    copying.write_row(row)


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def clinic_facts(request: pytest.FixtureRequest, tmp_path: Path) -> DatasetFacts:
    url = request.getfixturevalue("fresh_postgres") if request.param == "postgresql" else ""
    return clinic(request.param, tmp_path, clinic_frames(), url)


@pytest.fixture
def clinic_gateway(clinic_facts: DatasetFacts, tmp_path: Path) -> Iterator[Gateway]:
    gateway = Gateway(clinic_facts, Ledger.create(tmp_path / "ledger.db"), grid=0)
    yield gateway
    gateway.close()


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database of each kind in turn."""
    if request.param == "postgresql":
        return request.getfixturevalue("fresh_postgres")
    return f"{request.param}:///{tmp_path / 'data.db'}"


@pytest.fixture
def ask_over(tmp_path: Path) -> Iterator[Callable[..., Gateway]]:
    """Opens a gateway over one declared table ``t`` that plain SQL makes; closed after the test."""
    opened: list[Gateway] = []

    def over(
        url: str, columns: dict[str, Any], *statements: str, table: dict[str, Any] | None = None, **more: Any
    ) -> Gateway:
        run(url, list(statements))
        declared = {"name": "t", "epsilon": 900_000.0, "tables": {"t": {"columns": columns, **(table or {})}}}
        facts = DatasetFacts.of({**declared, "database": url, **more})
        opened.append(Gateway(facts, Ledger.create(tmp_path / f"ledger{len(opened)}.db"), grid=0))
        return opened[-1]

    yield over
    for gateway in opened:
        gateway.close()
