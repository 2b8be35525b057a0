"""The verbs are the same in Python and on the command line."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

import celosia
from celosia.cli.main import COMMANDS as UNDER_HEADINGS
from celosia.cli.main import run

COMMANDS = [command for commands in UNDER_HEADINGS.values() for command in commands]
CLI = Path(inspect.getfile(importlib.import_module("celosia.cli"))).parent
VERBS = {
    "read": ["source", "schema"],
    "assess": ["table"],
    "protect": ["table", "methods"],
    "compare": ["original", "protected"],
    "explore": ["table", "candidates"],
    "run": ["policy"],
    "verify": ["certificate", "data"],
    "apply": ["record", "source"],
    "suggest": ["table"],
    "write": ["table", "out"],
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_at_the_root_with_its_arguments_and_a_docstring(verb):
    function = getattr(celosia, verb)
    assert list(inspect.signature(function).parameters)[: len(VERBS[verb])] == VERBS[verb]
    assert inspect.getdoc(function)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.__name__)
def test_a_command_has_a_file_of_its_name(command):
    assert command.__module__ in {f"celosia.cli.{command.__name__}", "celosia_reproduce.command"}
    assert inspect.getdoc(command)
    assert "json" in inspect.signature(command).parameters


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"read", "protect", "suggest", "write"}))
def test_a_verb_is_a_command(verb):
    assert verb in {command.__name__ for command in COMMANDS}


def test_the_files_are_short():
    long = {path.name: n for path in CLI.rglob("*.py") if (n := len(path.read_text("utf-8").splitlines())) > 200}
    assert long == {}


def test_parts_finds_a_part_by_its_name_alone(capsys):
    assert run(["parts", "ipso"]) == 0
    assert "dependent" in capsys.readouterr().out
    assert run(["parts", "ipsso"]) == 2
    assert "ipso" in capsys.readouterr().err
