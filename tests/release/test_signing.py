"""A signature proves who made a certificate, to those who have the public key; keys are kept from others."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.reference.sources import FEW_SUPPRESSED

from celosia.cli.main import run as command
from celosia.errors import InputError, OutputError
from celosia.release.evidence.signature import Signer, create, public_key
from celosia.release.run import run
from celosia.release.verify.verify import verify

pytest.importorskip("cryptography")


@pytest.fixture(scope="module")
def signed(tmp_path_factory) -> Path:
    """A release that ``a.key`` signed, and another key."""
    place = tmp_path_factory.mktemp("signed")
    rng = np.random.default_rng(1)
    pl.DataFrame({"age": rng.integers(1, 9, 100), "city": rng.choice(["Ur", "Uruk"], 100)}).write_csv(
        place / "people.csv"
    )
    (place / "policy.toml").write_text(FEW_SUPPRESSED)
    (place / "out").mkdir()
    create(place / "b.key")
    assert create(place / "a.key") == public_key(place / "a.key.pub")
    run(place / "policy.toml", sign=place / "a.key")
    return place


def signature(found) -> tuple[bool | None, str]:
    return next((check.passed, check.note) for check in found if check.claim == "signature")


def test_the_author_is_known_by_the_public_key(signed):
    certificate = signed / "out" / "safe.certificate.json"
    assert signature(verify(certificate, signer=signed / "a.key.pub")) == (True, "")
    assert signature(verify(certificate, signer=signed / "b.key.pub")) == (False, "")
    valid, note = signature(verify(certificate))
    assert valid
    assert "public key that the author published" in note
    whole = verify(signed / "out", original=signed / "people.csv", signer=signed / "a.key.pub")
    assert whole.verdict == "verified", whole.sentence


def test_what_was_changed_or_stripped_is_not_signed(signed, tmp_path):
    stated = json.loads((signed / "out" / "safe.certificate.json").read_text())
    key = signed / "a.key.pub"

    def found(changed: dict) -> tuple[bool | None, str]:
        path = tmp_path / "safe.certificate.json"
        path.write_text(json.dumps(changed))
        (tmp_path / "safe.csv").write_bytes((signed / "out" / "safe.csv").read_bytes())
        return signature(verify(path, signer=key))

    assert found(stated) == (True, "")
    assert found({**stated, "created": "2020-01-01T00:00:00Z"})[0] is False
    assert found({**stated, "holds": not stated["holds"]})[0] is False
    other = Signer.load(signed / "b.key").signature({k: v for k, v in stated.items() if k != "signature"})
    assert found({**stated, "signature": other})[0] is False
    assert found({**stated, "signature": {**other, "key": stated["signature"]["key"]}})[0] is False
    bare = {name: value for name, value in stated.items() if name != "signature"}
    assert found(bare) == (False, "the certificate is not signed")


def test_commands(signed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert command(["key", "mine.key", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["key"] == public_key("mine.key.pub")
    assert command(["key", "mine.key"]) == 2, "a key is never replaced"
    said = capsys.readouterr().err
    assert "choose another path" in said
    assert "--overwrite" not in said, "there is no such option here"
    out = str(signed / "out")
    assert command(["verify", out, "--signer", str(signed / "a.key.pub")]) == 0
    assert command(["verify", out, "--signer", "mine.key.pub"]) == 3
    private = (signed / "a.key").read_text().splitlines()[1]
    assert private not in "".join(capsys.readouterr())
    for file in (signed / "out").iterdir():
        assert private not in file.read_text("utf-8", errors="replace")


def test_key_files(tmp_path):
    before = os.umask(0)
    try:
        create(tmp_path / "my.key")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "my.key").stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="exists already"):
        create(tmp_path / "my.key")
    (tmp_path / "my.key").chmod(0o640)
    with pytest.raises(InputError, match="read by other users"):
        Signer.load(tmp_path / "my.key")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "noise").write_bytes(os.urandom(3000))
    (tmp_path / "empty").touch()
    for wrong in ("my.key.pub", "pipe", "noise", "empty", ".", "none", "a\0b", "/dev/zero"):
        with pytest.raises(InputError):
            Signer.load(tmp_path / wrong)
    for wrong in ("my.key", "pipe", "noise", "."):
        with pytest.raises(InputError):
            public_key(tmp_path / wrong)


@pytest.mark.parametrize("name", ["", ".", "/"])
def test_a_key_needs_the_name_of_a_file(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="does not name a file"):
        create(name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("load", [Signer.load, public_key])
def test_what_is_no_file_is_told_as_what_it_is(tmp_path, load):
    os.mkfifo(tmp_path / "queue")
    (tmp_path / "folder").mkdir()
    for place, said in (
        (tmp_path / "queue", "not a regular file"),
        (tmp_path / "folder", "a directory"),
        ("/dev/zero", "not a regular file"),
        ("a\x00b", "no file can have this name"),
        (tmp_path / "gone", "No such file"),
    ):
        with pytest.raises(InputError, match=said):
            load(place)
