"""What the gateway's tests share: ledgers in SQLite and PostgreSQL, and a small data set."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from celosia.gateway.ledger import Ledger

_spec = importlib.util.spec_from_file_location("celosia_tests_postgres", Path(__file__).parents[1] / "postgres.py")
assert _spec is not None
assert _spec.loader is not None
postgres = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(postgres)


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    if postgres.binaries() is None:
        pytest.skip("needs the PostgreSQL server binaries (initdb, pg_ctl), which are not installed")
    with postgres.cluster() as url:
        yield url


@pytest.fixture
def fresh_postgres(postgres_url: str) -> Iterator[str]:
    """An empty database of its own."""
    import uuid

    import sqlalchemy as sa

    name = f"t{uuid.uuid4().hex}"
    url = sa.make_url(postgres_url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def ledger_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.db'}"
    return request.getfixturevalue("fresh_postgres")


@pytest.fixture
def ledger(ledger_url: str) -> Iterator[Ledger]:
    found = Ledger(ledger_url)
    yield found
    found.close()
