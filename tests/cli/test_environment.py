"""What libraries read from the environment by themselves is looked at before they do."""

from __future__ import annotations

import pytest

from celosia.cli.bases.environment import check_environment
from celosia.cli.main import run
from celosia.errors import InputError


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SOURCE_DATE_EPOCH", "x"),
        ("SOURCE_DATE_EPOCH", ""),
        ("SOURCE_DATE_EPOCH", "-1"),
        ("SOURCE_DATE_EPOCH", "٣"),
        ("POLARS_MAX_THREADS", "0"),
        ("NUMBA_NUM_THREADS", "-3"),
    ],
)
def test_what_would_stop_a_library_is_refused(monkeypatch, capsys, name, value):
    monkeypatch.setenv(name, value)
    assert run(["doctor"]) == 2
    assert f"celosia: the variable {name} must be a whole number of at least" in capsys.readouterr().err
    with pytest.raises(InputError, match=name):
        check_environment({name: value})


@pytest.mark.parametrize(("name", "value"), [("SOURCE_DATE_EPOCH", "0"), ("POLARS_MAX_THREADS", "x"), ("TZ", "x")])
def test_the_rest_is_left_to_them(name, value):
    assert check_environment({name: value}) is None
