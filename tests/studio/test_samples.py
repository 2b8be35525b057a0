"""What is kept in memory: what the input alone decides is not computed again when the policy says something else."""

from __future__ import annotations

import pytest

from celosia.demo import prepare
from celosia.studio import toml_edit
from celosia.studio.project import Project
from celosia.studio.samples import Samples


def test_proposals_and_values_outlive_a_change_of_the_columns(tmp_path, desk, monkeypatch):
    project = Project(prepare(tmp_path / "clinic", 60).parent)
    client = desk(project)
    for address in ("/data", "/hierarchies?column=sex"):
        assert client.get(address).status_code == 200
    project.change(lambda text: toml_edit.set_role(text, "income", "sensitive"))
    monkeypatch.setattr("celosia.proposals.suggest", lambda *_: pytest.fail("the input is the same"))
    for address in ("/data", "/hierarchies?column=sex"):
        assert client.get(address).status_code == 200


def test_another_file_has_other_proposals(tmp_path):
    project = Project(prepare(tmp_path / "clinic", 60).parent)
    samples = Samples(project)
    before = samples.proposals(project.policy())
    lines = (project.folder / "original.csv").read_text().splitlines()
    (project.folder / "original.csv").write_text("\n".join(line + ",1" for line in lines).replace(",1\n", ",more\n", 1))
    after = samples.proposals(project.policy())
    assert set(after) - set(before) == {"more"}
