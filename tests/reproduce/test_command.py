"""``celosia reproduce``: the list, a run, and what it refuses."""

from __future__ import annotations

import json

from celosia.cli.main import run as command
from celosia_reproduce import experiments


def test_the_list_says_what_each_experiment_is_about(capsys):
    assert command(["reproduce", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)["experiments"]
    assert list(about) == experiments()
    assert all(text.endswith(".") for text in about.values())
    assert command(["reproduce"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(f"{name}: {text}" in shown for name, text in about.items())


def test_an_experiment_is_run_and_says_where_it_wrote(tmp_path, capsys):
    assert command(["reproduce", "textbook", "--out", str(tmp_path)]) == 0
    assert "Written to" in capsys.readouterr().out
    assert (tmp_path / "textbook.html").exists()
    assert json.loads((tmp_path / "textbook.json").read_text())["experiment"] == "textbook"


def test_unknown_names_and_missing_data_are_refused_in_a_sentence(tmp_path, capsys):
    assert command(["reproduce", "lectures", "--out", str(tmp_path)]) == 2
    assert "Did you mean 'lecture'" in capsys.readouterr().err
    assert command(["reproduce", "synthetic", "--out", str(tmp_path)]) == 2
    assert "--data" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_settings_are_those_of_the_experiment(tmp_path, capsys):
    out = ["--out", str(tmp_path)]
    assert command(["reproduce", "textbook", "--colums", "a", *out]) == 2
    assert "no setting of textbook named '--colums'" in capsys.readouterr().err
    assert command(["reproduce", "consent", "--blocks", "few", *out]) == 2
    assert "--blocks of consent takes numbers, got 'few'" in capsys.readouterr().err
    assert command(["reproduce", "consent", "--blocks=2", "--k", *out]) == 2
    assert command(["reproduce", "consent", *out, "--k"]) == 2
    assert "a setting is given as --name value" in capsys.readouterr().err
    assert command(["reproduce", "--all", "--blocks", "2", *out]) == 2
    assert "leave out names and settings" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
    assert command(["reproduce"]) == 0
    assert "--blocks" in capsys.readouterr().out
