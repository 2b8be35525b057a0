"""What is done while it is killed, and what must be found afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

POLICY = """
[input]
path = "people.csv"
[schema]
quasi = ["age", "city"]
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "round"
columns = ["age"]
base = 10
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[output]
path = "out/safe.csv"
"""
ROUNDED = POLICY[: POLICY.index("[[require]]")] + POLICY[POLICY.index("[[step]]") : POLICY.rindex("[[step]]")]
EXPLORE = [
    *("explore", "people.csv", "--quasi", "age,city", "--seeds", "2", "--seed", "7", "--workers", "1", "--json"),
    *("--candidate", "noise(columns=[age], p=0.1)", "--candidate", "rank-swap(columns=[age], window=0.3)"),
    *("--risk", "distance-linkage(columns=[age])", "--loss", "probabilistic-loss(columns=[age])"),
    *("--store", "kept.jsonl", "--html", "map.html"),
]
INFERENCES = ("x", "y", "z")
CHOSEN = [{}, {"x": True, "y": True, "z": False}, {"x": False, "y": False, "z": True}]


@dataclass(frozen=True)
class Scene:
    """``template`` lays out a folder, ``act`` is killed in a copy of it, ``harm`` tells what is wrong there, or nothing."""

    template: Callable[[Path], None]
    act: Callable[[Path], int]
    harm: Callable[[Path], str]


def command(words: list[str], place: Path) -> tuple[int, str]:
    """Run a command in a folder: its exit code, and what it said."""
    from celosia.cli.main import run

    before, said = Path.cwd(), io.StringIO()
    os.chdir(place)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return run(words), said.getvalue()
    finally:
        os.chdir(before)


def acting(words: list[str]) -> Callable[[Path], int]:
    def act(place: Path) -> int:
        from celosia.cli.main import run

        return run(words)

    return act


def files(place: Path) -> dict[str, str]:
    """The hash of each file that is not hidden."""
    seen = [path for path in place.iterdir() if path.is_file() and not path.name.startswith(".")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in seen}


def people(place: Path) -> None:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"age": rng.integers(1, 60, 100), "city": rng.choice(["Ur", "Uruk"], 100)})
    frame.write_csv(place / "people.csv")
    frame.head(20).write_csv(place / "new.csv")
    (place / "out").mkdir()


def old(place: Path) -> dict[str, str]:
    """The hashes of the release that was there before."""
    known: dict[str, str] = json.loads((place / "before.json").read_text())
    return known


# A release.


def released(place: Path) -> None:
    people(place)
    (place / "policy.toml").write_text(POLICY)
    assert command(["run", "policy.toml"], place)[0] == 0
    (place / "before.json").write_text(json.dumps(files(place / "out")))


def without_report(place: Path) -> None:
    released(place)
    (place / "policy.toml").write_text(f"{POLICY}report = false\n")


def unreleased(place: Path) -> None:
    people(place)
    (place / "policy.toml").write_text(POLICY)
    (place / "before.json").write_text("{}")


def mixed_release(place: Path) -> str:
    """All files are old, or all are new and belong together; a reader finishes what was begun, and nothing stays."""
    out, before = place / "out", old(place)
    code, said = command(["verify", "out"], place)
    now = files(out)
    if not now and not before:
        return _left(place)
    if code != 0:
        return f"verify: {said}"
    same = [name for name in now if now[name] == before.get(name)]
    report = any(name.endswith(".html") for name in now)
    expected = set(before) if same else {name for name in ALL if report or not name.endswith(".html")}
    whole = set(now) == expected and len(same) in (0, len(now))
    return _left(place) if whole else f"mixture: {len(same)} of {len(now)} are old: {sorted(now)}"


ALL = {f"safe.{end}" for end in ("csv", "certificate.json", "private.json", "report.html", "internal.html")}


def _left(place: Path) -> str:
    """What a later run finds that a killed one left."""
    from celosia.release.evidence.seal import draft_files
    from celosia.release.policy.policy import Policy
    from celosia.release.run import release_paths

    paths = release_paths(Policy.load(place / "policy.toml").output)
    with contextlib.suppress(LookupError), draft_files(paths, overwrite=True):
        raise LookupError
    hidden = [path.name for path in (place / "out").iterdir() if path.name.startswith(".")]
    hidden = [name for name in hidden if not name.startswith(".part-lock")]  # of no content; the next writer takes it
    return f"left over: {hidden}" if hidden else ""


# New records.


def reusable(place: Path) -> None:
    people(place)
    (place / "policy.toml").write_text(f'{ROUNDED}[output]\npath = "out/safe.csv"\norder = "kept"\n')
    assert command(["run", "policy.toml"], place)[0] == 0
    assert command(APPLY, place)[0] == 0
    (place / "wanted.csv").write_bytes((place / "more.csv").read_bytes())
    (place / "more.csv").write_text("age,city\n10,Ur\n")
    (place / "before.json").write_text(json.dumps(files(place / "out")))


APPLY = ["apply", "out/safe.private.json", "new.csv", "--out", "more.csv", "--overwrite"]


def mixed_records(place: Path) -> str:
    text = (place / "more.csv").read_text()
    whole = text in ((place / "wanted.csv").read_text(), "age,city\n10,Ur\n")
    if files(place / "out") != old(place):
        return "the release itself was changed"
    command(APPLY, place)
    left = [path.name for path in place.iterdir() if path.name.startswith(".part-")]
    return f"left over: {left}" if left else "" if whole else "a part of the new records"


# An exploration.


def explorable(place: Path) -> None:
    people(place)
    aside = place.with_name("aside")
    aside.mkdir()
    (aside / "people.csv").write_bytes((place / "people.csv").read_bytes())
    (place / "wanted.json").write_text(json.dumps(_points(aside)))


def _points(place: Path) -> list[Any]:
    code, said = command(EXPLORE, place)
    assert code == 0, said
    return [[p["candidate"], p["risk"], p["loss"]] for p in json.loads(said[said.index("{") :])["points"]]


def lost_exploration(place: Path) -> str:
    page = place / "map.html"
    if page.exists() and not page.read_text("utf-8").rstrip().endswith("</html>"):
        return "a part of the page"
    same = _points(place) == json.loads((place / "wanted.json").read_text())
    return "" if same else "another result than without the kill"


# A budget.


def funded(place: Path) -> None:
    from celosia.gateway.ledger import Ledger
    from celosia.kernels.budget.cost import Cost

    ledger = Ledger.create(place / "ledger.db")
    ledger.open("d", Cost.pure(1.0))
    ledger.close()


def spend(place: Path) -> int:
    from celosia.gateway.ledger import Granted, Ledger
    from celosia.kernels.budget.cost import Cost

    ledger = Ledger(place / "ledger.db")
    told = os.open(place / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(3):
        granted = ledger.charge("d", "ana", f"q{number}", "", Cost.pure(0.1))
        os.write(told, f"charge q{number}\n".encode())
        assert isinstance(granted, Granted)
        ledger.answer(granted, {"value": number})
        os.write(told, f"answer q{number}\n".encode())
    return 0


def lost_budget(place: Path) -> str:
    from celosia.gateway.ledger import Ledger

    ledger = Ledger(place / "ledger.db")
    try:
        report = ledger.verify("d")
        booked = [f"{entry.kind} {entry.question}" for entry in ledger.history("d")]
        spent = ledger.balance("d").lifetime.spent.loss_units
    finally:
        ledger.close()
    told = (place / "told").read_text().split("\n")[:-1] if (place / "told").exists() else []
    charges = [line for line in booked if line.startswith("charge")]
    if not report.holds or report.loss_units != spent or report.charges != len(charges):
        return f"the books do not agree: {report.problem}"
    return "" if set(told) <= set(booked) else "an answer was told that nobody paid for"


# Choices of owners.


def asked(place: Path) -> None:
    from celosia.consent.owners.store import Preferences

    Preferences.create(place / "consent.db")


def choose(place: Path) -> int:
    from celosia.consent.owners.store import Preferences

    store = Preferences(place / "consent.db")
    for choices in CHOSEN[1:]:
        store.choose("ana", choices, INFERENCES)
    return 0


def mixed_choices(place: Path) -> str:
    from celosia.consent.owners.store import Preferences

    store = Preferences(place / "consent.db")
    now = {choice.inference: choice.block for choice in store.choices("ana", INFERENCES) if choice.at}
    told = len(store.history("ana"))
    store.engine.dispose()
    return "" if now in CHOSEN and told == 3 * CHOSEN.index(now) else f"a part of the choices: {now}, {told} told"


# A project of the studio.


def project(place: Path) -> None:
    from celosia.studio.project import Project

    people(place)
    Project(place).change(lambda _: POLICY)


def edit(place: Path) -> int:
    from celosia.studio.project import Project

    studio = Project(place)
    for k in (4, 5):
        studio.change(lambda text, k=k: text.replace(f"k={k - 1}", f"k={k}").replace(f"k = {k - 1}", f"k = {k}"))
    studio.undo()
    studio.undo()
    studio.redo()
    studio.keep_upload("more.csv", io.BytesIO(b"a,b\n" + b"1,2\n" * 1000))
    return 0


def lost_policy(place: Path) -> str:
    from celosia.studio.project import Project

    studio = Project(place)
    kept = [path.read_text() for path in (studio.state_folder / "past").rglob("*.toml")]
    levels = {text.split("k = ")[1][0] for text in [*kept, studio.text] if text}
    studio.policy()
    if levels not in ({"3"}, {"3", "4"}, {"3", "4", "5"}):
        return f"lost policies: {sorted(levels)} are left"
    for path in (place / "inputs").rglob("*.csv") if (place / "inputs").exists() else ():
        if hashlib.sha256(path.read_bytes()).hexdigest()[:16] != path.parent.name:
            return "a part of an upload"
    studio.keep_upload("again.csv", io.BytesIO(b"a\n1\n"))
    studio.change(lambda text: f"{text}\n")
    left = [path.name for path in studio.state_folder.rglob("*") if path.name.startswith((".part-", "upload-"))]
    return f"left over: {left}" if left else ""


SCENES = {
    "run over a release": Scene(released, acting(["run", "policy.toml", "--overwrite"]), mixed_release),
    "run without a report over one with it": Scene(
        without_report, acting(["run", "policy.toml", "--overwrite"]), mixed_release
    ),
    "first run": Scene(unreleased, acting(["run", "policy.toml"]), mixed_release),
    "apply": Scene(reusable, acting(APPLY), mixed_records),
    "explore": Scene(explorable, acting(EXPLORE), lost_exploration),
    "budget of the gateway": Scene(funded, spend, lost_budget),
    "choices of owners": Scene(asked, choose, mixed_choices),
    "project of the studio": Scene(project, edit, lost_policy),
}
"""By what is done."""
