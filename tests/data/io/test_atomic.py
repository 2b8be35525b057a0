"""Written whole or not at all, and never over an original."""

from __future__ import annotations

import os
import stat

import polars as pl
import pytest

from celosia.data import io as cio
from celosia.errors import OutputError, ParameterError, UnknownName

FRAME = pl.DataFrame({"a": [1, 2], "b": ["x", None]})


def test_failure_leaves_the_old_file_and_no_trace(tmp_path):
    target = tmp_path / "a.csv"
    target.write_text("old")

    def fail(draft):
        draft.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError), cio.replace_file(target) as draft:
        fail(draft)
    assert target.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


def test_failing_writer_leaves_nothing(tmp_path):
    lazy = FRAME.lazy().with_columns(pl.col("b").cast(pl.Int64, strict=True))
    with pytest.raises(pl.exceptions.PolarsError):
        cio.write(lazy, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_modes(tmp_path):
    cio.write(FRAME, tmp_path / "public.csv")
    cio.write(FRAME, tmp_path / "private.csv", mode=0o600)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "public.csv").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((tmp_path / "private.csv").stat().st_mode) == 0o600


def test_originals_are_never_overwritten(tmp_path):
    original = tmp_path / "a.csv"
    original.write_text("a,b\n1,x\n")
    opened = cio.scan(original)
    (tmp_path / "link.csv").symlink_to(original)
    os.link(original, tmp_path / "hard.csv")
    for name in ("a.csv", "link.csv", "hard.csv"):
        with pytest.raises(OutputError, match="never overwritten"):
            cio.write(opened.frame, tmp_path / name, opened.facts, overwrite=True)
    with pytest.raises(OutputError, match="never overwritten"):
        cio.write(FRAME, original, originals=[original], overwrite=True)
    assert original.read_text() == "a,b\n1,x\n"


def test_existing_results_are_replaced_only_when_told(tmp_path):
    cio.write(FRAME, tmp_path / "a.csv")
    with pytest.raises(OutputError, match="there already"):
        cio.write(FRAME, tmp_path / "a.csv")
    cio.write(FRAME.head(1), tmp_path / "a.csv", overwrite=True)
    assert (tmp_path / "a.csv").read_text() == "a,b\n1,x\n"


def test_bad_targets(tmp_path):
    with pytest.raises(OutputError, match="No such file or directory"):
        cio.write(FRAME, tmp_path / "nowhere" / "a.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(OutputError, match="it is a directory"):
        cio.write(FRAME, tmp_path / "d.csv", overwrite=True)
    with pytest.raises(OutputError, match=r"SAS files ending in .sas7bdat are only read: name the output .xpt"):
        cio.write(FRAME, tmp_path / "a.sas7bdat")
    with pytest.raises(UnknownName, match="no file type"):
        cio.write(FRAME, tmp_path / "a.xyz")
    with pytest.raises(ParameterError, match="no option 'sep'"):
        cio.write(FRAME, tmp_path / "a.csv", sep=";")
    with pytest.raises(ParameterError, match="both ','"):
        cio.write(FRAME, tmp_path / "a.csv", separator=",", decimal=",")


def test_same_bytes_twice(tmp_path):
    frame = pl.DataFrame({"a": range(5000), "b": [f"v{i % 7}" for i in range(5000)]})
    for suffix in (".csv", ".parquet"):
        paths = [tmp_path / f"{name}{suffix}" for name in "xy"]
        for path in paths:
            cio.write(frame, path)
        assert paths[0].read_bytes() == paths[1].read_bytes()
