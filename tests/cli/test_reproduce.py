"""``celosia reproduce`` without the package that has the experiments."""

from __future__ import annotations

import importlib.metadata

import pytest

from celosia.cli import reproduce
from celosia.errors import MissingExtra


def test_the_command_comes_from_the_installed_package():
    assert reproduce.find_command().__module__ == "celosia_reproduce.command"


def test_without_the_package_the_command_states_how_to_install_it(monkeypatch):
    def absent(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", absent)
    command = reproduce.find_command()
    with pytest.raises(MissingExtra, match=r"celosia-reproduce\. Install it .* pip install -e packages/reproduce"):
        command()
