"""Secrets by reference: what stands for one, what it becomes, and what a command line must not hold."""

from __future__ import annotations

import pytest

import celosia
from celosia.data.credentials import is_reference, key_bytes, refuse_literal, refuse_passwords, resolve_reference
from celosia.errors import CelosiaError, InputError, ParameterError

SECRET = "a secret of some length"


def test_a_reference_becomes_what_it_stands_for(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_TEST_KEY", f"  {SECRET}\n")
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n\n", encoding="utf-8")
    assert resolve_reference("env:CELOSIA_TEST_KEY") == resolve_reference(f"file:{file}") == SECRET
    assert resolve_reference("postgresql://host/base") == "postgresql://host/base"
    assert resolve_reference(" env:X") == " env:X", "not at the beginning: a text as any other"
    assert key_bytes("env:CELOSIA_TEST_KEY", "x") == SECRET.encode()


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), (b"", "is empty"), (b" \n", "is empty"), (b"\xff\xfe\xfa", "no UTF-8 text")],
)
def test_a_file_that_holds_no_secret_is_refused_without_its_content(tmp_path, content, message):
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        resolve_reference(f"file:{file}")


@pytest.mark.parametrize(("value", "message"), [(None, "no variable 'CELOSIA_TEST_KEY'"), ("  ", "is empty")])
def test_a_variable_that_holds_no_secret_is_refused(monkeypatch, value, message):
    monkeypatch.delenv("CELOSIA_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("CELOSIA_TEST_KEY", value)
    with pytest.raises(InputError, match=message):
        resolve_reference("env:CELOSIA_TEST_KEY")


@pytest.mark.parametrize(
    ("key", "long_enough"), [("x" * 15, False), ("x" * 16, True), ("ñ" * 8, True), ("ñ" * 7, False)]
)
def test_keys_are_measured_in_bytes(key, long_enough):
    if long_enough:
        assert key_bytes(key, "pseudonymise") == key.encode()
    else:
        with pytest.raises(ParameterError, match=r"pseudonymise: key must have at least 16 bytes, got 1[45]") as caught:
            key_bytes(key, "pseudonymise")
        assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "fine"), [(None, True), ("env:KEY", True), ("file:/k", True), ("literal", False), ("", False), (5, False)]
)
def test_a_secret_on_the_command_line_is_refused(value, fine):
    assert is_reference(value) == (fine and value is not None)
    if fine:
        refuse_literal(value, "key")
    else:
        with pytest.raises(ParameterError, match="key on the command line") as caught:
            refuse_literal(value, "key")
        assert "literal" not in str(caught.value)


@pytest.mark.parametrize(
    "word",
    [
        "postgresql://ana:hidden@host/base",
        "postgresql://:hidden@host/base",
        "mysql+pymysql://ana:hid/den@host:3306/base",
        "--url=postgresql://ana:hidden@host",
        '{url = "postgresql://ana:hidden@host"}',
        "postgresql://host/base?user=ana&password=hidden",
        "postgresql://host/base?sslpassword=hidden",
        "mysql://host/base?passwd=hidden",
        "mssql://host/base?x=1&pwd=hidden",
    ],
)
def test_an_address_with_a_password_is_refused(word):
    with pytest.raises(InputError, match="a password on the command line") as caught:
        refuse_passwords(["assess", word])
    assert "hid" not in str(caught.value)


@pytest.mark.parametrize(
    "word",
    [
        "postgresql://ana@host:5432/base", "postgresql://host:5432/base", "sqlite:///a:b@c.db", "people.csv", "ana:hidden@host",
        "postgresql://host/base?password=", "postgresql://host/base?application=pwd", "select ':x' || '@'",
    ],
)  # fmt: skip
def test_an_address_without_one_is_taken(word):
    assert refuse_passwords([word]) is None, "nothing is refused"


ADDRESSES = [
    "host=db.clinic.example user=steward password=hunter2secret dbname=clinic",
    "postgresql://steward:hunter2secret@127.0.0.1:nonsense/clinic",
    "postgresql://steward:hunter2secret@127.0.0.1:1/clinic",
    "steward:hunter2secret@clinic",
    "oracle://steward:hunter2secret@clinic/base",
    "sqlite:////hunter2secret/clinic.db",
    "duckdb:////hunter2secret/clinic.db",
    "/hunter2secret/bin:/clinic/bin",
    "hunter2secret",
]


def _uses(reference, tmp_path):
    """Every way by which a reference becomes the address of a database."""
    import polars as pl

    from celosia.consent.owners.store import Preferences
    from celosia.consent.publication.result import dialect_of
    from celosia.data.io.database import scan, table_columns, write
    from celosia.gateway.databases import open_database
    from celosia.gateway.ledger import Ledger
    from celosia.gateway.metadata import DatasetFacts

    columns = {"v": {"person": "who", "unique": True, "columns": {"who": {"type": "integer"}}}}
    yield "scan", lambda: scan(reference, query="SELECT 1 AS a")
    yield "scan a table", lambda: scan(reference, table="people")
    yield "write", lambda: write(pl.LazyFrame({"a": [1]}), reference, table="people")
    yield "described", lambda: table_columns(reference, ["people"])
    yield "dialect", lambda: (dialect_of(reference), scan(reference, query="SELECT 1 AS a"))
    yield "store", lambda: Preferences(reference)
    yield "new store", lambda: Preferences.create(reference)
    yield "ledger", lambda: Ledger(reference)
    facts = {"name": "d", "database": reference, "epsilon": 1, "tables": columns}
    yield "gateway", lambda: open_database(DatasetFacts.of(facts))
    policy = tmp_path / "policy.toml"
    policy.write_text(f'[input]\nurl = "{reference}"\nquery = "SELECT 1 AS a"\n[schema]\nquasi = ["a"]\n')
    yield "policy", lambda: celosia.run(policy)


@pytest.mark.parametrize("secret", ADDRESSES)
@pytest.mark.parametrize("kind", ["env", "file"])
def test_no_message_quotes_what_a_reference_stands_for(secret, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLINIC_ADDRESS", secret)
    (tmp_path / "address").write_text(secret)
    reference = "env:CLINIC_ADDRESS" if kind == "env" else "file:address"
    for name, use in _uses(reference, tmp_path):
        try:
            use()
        except CelosiaError as problem:
            message = str(problem)
        else:
            assert name == "new store", "a new store may be made where the secret is a path"
            continue
        for part in ("hunter2", "steward", "clinic.example", "clinic/", "/bin"):
            assert part not in message, f"{name}: {message}"
        assert "\n" not in message.strip()


def test_a_message_that_quotes_no_part_of_the_address_is_kept(tmp_path, monkeypatch):
    import sqlite3

    from celosia.data.io.database import scan

    sqlite3.connect(tmp_path / "people.db").close()
    monkeypatch.setenv("CLINIC_ADDRESS", f"sqlite:///{tmp_path}/people.db")
    with pytest.raises(CelosiaError, match="visits"):
        scan("env:CLINIC_ADDRESS", table="visits")
    assert scan("env:CLINIC_ADDRESS", query="SELECT 1 AS a").origin == "env:CLINIC_ADDRESS"
