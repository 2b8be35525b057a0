"""Documents that somebody hands over: a key that is deep is refused before a parser spends its time on it."""

from __future__ import annotations

import tracemalloc

import pytest

from celosia import files


@pytest.mark.parametrize(
    "written",
    [
        ".".join(["a"] * 1_000_000) + " = 1",
        "[" + ".".join(["a"] * 100_000) + "]",
        '"a" . ' * 100_000 + "a = 1",
        "[[" + " . ".join(["a"] * 100_000) + "]]",
    ],
    ids=["bare", "table", "quoted", "list"],
)
def test_a_deep_key_is_refused_at_once(written):
    with pytest.raises(ValueError, match="nested more than 100 times"):
        files.toml_document(written)


def test_full_stops_of_a_text_are_none_of_a_key():
    prose = "One two. " * 300
    document = files.toml_document(f'a = "{"b." * 500}"\nb = """\n{prose}\n"""\n# {prose}\n')
    assert document == {"a": "b." * 500, "b": f"{prose}\n"}


def test_a_text_takes_the_memory_of_what_it_holds_and_not_of_what_it_may(tmp_path, monkeypatch):
    """16 GiB are allowed for a record: a machine that has less must still be able to read a small one."""
    monkeypatch.setattr(files, "BLOCK", 1000)
    (tmp_path / "a.txt").write_bytes(b"ab" * 5000)
    tracemalloc.start()
    try:
        assert files.text(tmp_path / "a.txt", largest=1 << 34) == "ab" * 5000
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert files.text(tmp_path / "a.txt", largest=10_000) == "ab" * 5000
    with pytest.raises(OSError, match="larger than 9999 bytes"):
        files.text(tmp_path / "a.txt", largest=9_999)
