"""What is wrong with a report or with the key that signs it is told before a browser is started."""

from __future__ import annotations

import os

import pytest

from celosia.errors import InputError
from celosia.release.report.export import export


@pytest.fixture
def page(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))  # no browser is there
    page = tmp_path / "report.html"
    page.write_text("<html><main>All is well.</main></html>")
    return page


def test_a_key_that_is_none_is_refused_first(page, tmp_path):
    pytest.importorskip("pyhanko")
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    os.mkfifo(tmp_path / "queue")
    for key, said in (
        ("noise", "is no key"),
        ("queue", "not a regular file"),
        ("gone", "No such file"),
        (".", "directory"),
    ):
        with pytest.raises(InputError, match=said):
            export(page, tmp_path / "report.pdf", key=tmp_path / key)
    with pytest.raises(InputError, match="a PDF is printed by a browser, and none is here"):
        export(page, tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00", "is no report"),
        (b"<html></html>", "is no report"),
        (b"<main><SCRIPT>", "is no report"),
        (None, "there is no report"),
    ],
)
def test_a_page_that_is_no_report_is_refused(page, tmp_path, content, said):
    page.unlink()
    if content is not None:
        page.write_bytes(content)
    with pytest.raises(InputError, match=said):
        export(page, tmp_path / "report.docx")


def test_a_queue_is_not_waited_for(page, tmp_path):
    page.unlink()
    os.mkfifo(page)
    with pytest.raises(InputError, match="not a regular file"):
        export(page, tmp_path / "report.docx")


def test_a_key_that_is_none_leaves_no_trace_in_the_log(page, tmp_path, caplog):
    pytest.importorskip("pyhanko")
    (tmp_path / "noise").write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match="is no key"):
        export(page, tmp_path / "report.pdf", key=tmp_path / "noise")
    assert caplog.text == ""
