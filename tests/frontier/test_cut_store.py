"""Results of an exploration on a full disk, or cut off while the first line was written: told, and gone on with."""

from __future__ import annotations

import resource

import pytest

from celosia.errors import OutputError
from celosia.frontier.store import FORMAT, Store


def begun(store: Store) -> None:
    store.begin(7)
    store.add("k", {"risk": 1.0}, "x" * 300)


def test_what_does_not_fit_is_told_and_leaves_no_part(tmp_path):
    path = tmp_path / "kept.jsonl"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    for most, whole in ((5, 0), (200, 1)):
        store = Store(path)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            with pytest.raises(OutputError, match="cannot write"):
                begun(store)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert path.exists() == bool(whole), "a store that could not be begun is not there"
        assert not whole or len(path.read_text().splitlines()) == whole
    assert Store(path).seed == 7


@pytest.mark.parametrize("end", [1, 12, 30, 40])
def test_a_first_line_that_was_cut_off(tmp_path, end):
    path = tmp_path / "kept.jsonl"
    path.write_text(('{"format": "' + FORMAT + '", "seed": "7"}')[:end])
    store = Store(path)
    assert store.seed is None
    store.begin(9)
    store.add("k", {"risk": 1.0}, "x")
    again = Store(path)
    assert (again.seed, again.results) == (9, {"k": {"risk": 1.0}})


@pytest.mark.parametrize("text", ["a,b\n1,2\n", '{"format": "another"', "x"])
def test_any_other_file_is_refused(tmp_path, text):
    path = tmp_path / "kept.jsonl"
    path.write_text(text)
    with pytest.raises(OutputError, match="does not hold"):
        Store(path)
    assert path.read_text() == text
