"""Secrets by reference: what stands for one, what it becomes, and what a command line must not hold."""

from __future__ import annotations

import pytest

from celosia.data.credentials import is_reference, key_bytes, refuse_literal, refuse_passwords, resolved
from celosia.errors import InputError, ParameterError

SECRET = "a secret of some length"


def test_a_reference_becomes_what_it_stands_for(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_TEST_KEY", f"  {SECRET}\n")
    file = tmp_path / "key"
    file.write_text(f"{SECRET}\n\n", encoding="utf-8")
    assert resolved("env:CELOSIA_TEST_KEY") == resolved(f"file:{file}") == SECRET
    assert resolved("postgresql://host/base") == "postgresql://host/base"
    assert resolved(" env:X") == " env:X", "not at the beginning: a text as any other"
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
        resolved(f"file:{file}")


@pytest.mark.parametrize(("value", "message"), [(None, "no variable 'CELOSIA_TEST_KEY'"), ("  ", "is empty")])
def test_a_variable_that_holds_no_secret_is_refused(monkeypatch, value, message):
    monkeypatch.delenv("CELOSIA_TEST_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("CELOSIA_TEST_KEY", value)
    with pytest.raises(InputError, match=message):
        resolved("env:CELOSIA_TEST_KEY")


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
