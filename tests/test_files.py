"""Documents that somebody hands over: a key that is deep is refused before a parser spends its time on it."""

from __future__ import annotations

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
