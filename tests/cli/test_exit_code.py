"""Exit codes of commands that follow one another in one process."""

from __future__ import annotations

import pytest

from celosia.cli.bases.options import end_with
from celosia.cli.main import run


@pytest.mark.parametrize("command", [["--help"], ["--version"], ["run", "--help"], ["parts"]])
def test_the_code_of_the_last_command_is_not_returned(command, capsys):
    end_with(3)
    assert run(command) == 0
    assert capsys.readouterr().out
