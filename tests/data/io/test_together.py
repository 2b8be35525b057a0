"""Several files appear in one step: a process killed at any moment leaves the old ones or the new ones, never a mixture."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.data.io.atomic import PART, finish_journal, replace_file, replace_files
from celosia.errors import DataError, OutputError

NAMES = ("a.csv", "b.json", "c.html")
# Processes that die before their n-th call of the system that changes something, for every n, each in its own directory.
DYING = """
import os, signal, sys
from pathlib import Path
from celosia.data.io import atomic

def write(place):
    paths = {n: place / n for n in ("a.csv", "b.json", "c.html")}
    with atomic.replace_files(paths, place / ".release.json", {"b.json": 0o600}) as drafts:
        for draft in drafts.values():
            draft.write_text("new")

def settle(place):
    atomic.finish_journal(place / ".release.json")

def die_before(n):
    calls = 0
    def dying(real):
        def call(*given, **named):
            nonlocal calls
            calls += 1
            if calls == n:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **named)
        return call
    for name in ("open", "replace", "fsync", "unlink", "chmod"):
        setattr(os, name, dying(getattr(os, name)))

for place in sorted(Path(sys.argv[2]).iterdir(), key=lambda place: int(place.name)):
    child = os.fork()
    if child == 0:
        die_before(int(place.name))
        {"write": write, "settle": settle}[sys.argv[1]](place)
        os._exit(0)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != -signal.SIGKILL:
        print(place.name)
        break
"""


def lived(what: str, root: Path) -> int:
    """Let processes die in the directories 1, 2, 3 …; tells the number of calls after which one came to its end."""
    done = subprocess.run([sys.executable, "-c", DYING, what, str(root)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def old_files(place: Path) -> dict[str, Path]:
    place.mkdir()
    for name in NAMES:
        (place / name).write_text("old")
    return {name: place / name for name in NAMES}


def contents(place: Path) -> set[str]:
    return {(place / name).read_text() for name in NAMES}


def test_a_writer_killed_at_any_moment(tmp_path):
    for n in range(1, 80):
        old_files(tmp_path / str(n))
    last = lived("write", tmp_path)
    seen = []
    for n in range(1, last + 1):
        place = tmp_path / str(n)
        finish_journal(place / ".release.json")
        assert len(contents(place)) == 1, f"killed before call {n}: a mixture"
        seen.append(contents(place).pop())
        assert not (place / ".release.json").exists()
        with replace_files({name: place / name for name in NAMES}, place / ".release.json") as drafts:
            for draft in drafts.values():
                draft.write_text("later")
        assert sorted(p.name for p in place.iterdir()) == sorted(NAMES), "what was left over is swept"
        assert contents(place) == {"later"}
    assert seen == sorted(seen, reverse=True), "old before the journal, new after it"
    assert seen.count("old") > 10
    assert seen.count("new") > 5


def test_a_command_killed_while_it_finishes_the_release_of_another(tmp_path):
    """The writer died right after its journal; then whoever finishes it dies at any moment."""
    for n in range(1, 30):
        old_files(tmp_path / str(n))
        (tmp_path / str(n) / ".release.json").write_text(json.dumps(pending(tmp_path / str(n))))
    last = lived("settle", tmp_path)
    assert last > 5
    for n in range(1, last + 1):
        finish_journal(tmp_path / str(n) / ".release.json")
        assert contents(tmp_path / str(n)) == {"new"}


def pending(place: Path, names: tuple[str, ...] = NAMES) -> list[dict[str, object]]:
    """Drafts as a killed writer leaves them, and what its journal says."""
    entries = []
    for name in names:
        draft = place / f"{PART}x-{name}"
        draft.write_text("new")
        entries.append({"draft": draft.name, "file": name, "inode": draft.stat().st_ino})
    return entries


def test_what_is_written_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """A power cut after a rename must find the content there: the file is synced before, the directory after."""
    events: list[tuple[str, object]] = []
    real = {name: getattr(os, name) for name in ("fsync", "replace", "unlink")}

    def fsync(descriptor):
        events.append(("sync", os.fstat(descriptor).st_ino))
        real["fsync"](descriptor)

    def replace(source, target, **named):
        events.append(("rename", (Path(source).stat().st_ino, os.fspath(target))))
        real["replace"](source, target, **named)

    def unlink(path, **named):
        events.append(("unlink", os.fspath(path)))
        real["unlink"](path, **named)

    for name, new in (("fsync", fsync), ("replace", replace), ("unlink", unlink)):
        monkeypatch.setattr(os, name, new)

    def check(files: int) -> None:
        renames = [i for i, (what, _) in enumerate(events) if what == "rename"]
        assert len(renames) == files
        for i in renames:
            assert ("sync", events[i][1][0]) in events[:i], "the content comes before the name"
        assert ("sync", tmp_path.stat().st_ino) in events[renames[-1] :], "the names are synced after the last"

    with replace_file(tmp_path / "one.txt") as draft:
        draft.write_text("x")
    check(1)
    events.clear()
    with replace_files({n: tmp_path / n for n in NAMES}, tmp_path / ".release.json") as drafts:
        for draft in drafts.values():
            draft.write_text("x")
    check(4)
    order = [event for event in events if event[0] != "sync"]
    assert order[0][1][1].endswith(".release.json"), "the journal comes before every name"
    journal = [
        i for i, (what, path) in enumerate(events) if (what, path) == ("unlink", str(tmp_path / ".release.json"))
    ]
    last = max(i for i, (what, _) in enumerate(events) if what == "rename")
    assert ("sync", tmp_path.stat().st_ino) in events[last : journal[0]], "the names stay before the journal goes"


def test_an_error_leaves_the_old_files_and_no_trace(tmp_path):
    paths = old_files(tmp_path / "d")

    def fail(draft):
        draft.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError), replace_files(paths, tmp_path / "d" / ".release.json") as drafts:
        fail(drafts["a.csv"])
    assert contents(tmp_path / "d") == {"old"}
    assert len(list((tmp_path / "d").iterdir())) == 3
    (tmp_path / "d" / "b.json").unlink()
    (tmp_path / "d" / "b.json").mkdir()
    with pytest.raises(OutputError, match="is a directory"), replace_files(paths, tmp_path / "d" / ".release.json"):
        pass
    assert (tmp_path / "d" / "a.csv").read_text() == "old"


def test_modes(tmp_path):
    paths = old_files(tmp_path / "d")
    with replace_files(paths, tmp_path / "d" / ".release.json", {"b.json": 0o600}) as drafts:
        for draft in drafts.values():
            draft.write_text("new")
    assert stat.S_IMODE(paths["b.json"].stat().st_mode) == 0o600
    assert stat.S_IMODE(paths["a.csv"].stat().st_mode) != 0o600


def test_drafts_of_a_process_that_lives_are_left_alone(tmp_path):
    paths = {name: tmp_path / name for name in NAMES}
    with replace_files(paths, tmp_path / ".release.json") as first:
        for draft in first.values():
            draft.write_text("first")
        with replace_files(paths, tmp_path / ".release.json") as second:
            for draft in second.values():
                draft.write_text("second")
        with replace_file(tmp_path / "a.csv") as draft:
            draft.write_text("third")
        assert all(draft.exists() for draft in first.values())
    assert contents(tmp_path) == {"first"}
    assert len(list(tmp_path.iterdir())) == 3


def test_drafts_that_a_journal_names_are_left_alone(tmp_path):
    (tmp_path / ".release.json").write_text(json.dumps(pending(tmp_path)))
    with replace_file(tmp_path / "a.csv") as draft:
        draft.write_text("another")
    finish_journal(tmp_path / ".release.json")
    assert contents(tmp_path) == {"new"}


@pytest.mark.parametrize(
    "changed",
    [
        lambda e: {**e, "file": "../victim.txt"},
        lambda e: {**e, "file": "/etc/hostname"},
        lambda e: {**e, "draft": "own.txt"},
        lambda e: {**e, "inode": e["inode"] + 1},
        lambda e: {**e, "inode": "x"},
        lambda e: {"draft": e["draft"]},
        lambda e: 7,
    ],
)
def test_a_journal_from_elsewhere_moves_nothing(tmp_path, changed):
    """A directory that somebody sent holds a journal: it cannot know the inodes, and cannot leave its directory."""
    place = tmp_path / "sent"
    place.mkdir()
    (tmp_path / "victim.txt").write_text("mine")
    (place / "own.txt").write_text("mine too")
    entries = pending(place)
    entries[-1] = changed(entries[-1])
    for content in (json.dumps(entries), "[", "[]", "{}"):
        (place / ".release.json").write_text(content)
        before = sorted(p.name for p in place.iterdir())
        with pytest.raises(DataError, match="Remove it"):
            finish_journal(place / ".release.json")
        assert sorted(p.name for p in place.iterdir()) == before
    assert (tmp_path / "victim.txt").read_text() == "mine"


def test_a_link_is_no_draft(tmp_path):
    (tmp_path / "victim.txt").write_text("mine")
    entries = pending(tmp_path, ("a.csv",))
    draft = tmp_path / str(entries[0]["draft"])
    draft.unlink()
    draft.symlink_to(tmp_path / "victim.txt")
    entries[0]["inode"] = draft.lstat().st_ino
    (tmp_path / ".release.json").write_text(json.dumps(entries))
    with pytest.raises(DataError):
        finish_journal(tmp_path / ".release.json")


# Two processes write the same files again and again; the third looks after each journal, as a reader does.
RACING = """
import sys
from pathlib import Path
from celosia.data.io import atomic
place, word = Path(sys.argv[1]), sys.argv[2]
names = ["a.csv", "b.json", *(["c.html"] if word == "one" else [])]
for n in range(60):
    if word == "reader":
        atomic.finish_journal(place / ".release.json")
        continue
    paths = {name: place / name for name in names}
    with atomic.replace_files(paths, place / ".release.json", stale=lambda: {place / "c.html"} - {*paths.values()}) as drafts:
        for draft in drafts.values():
            draft.write_text(f"{word} {n}")
"""


def test_two_writers_and_a_reader_on_one_place(tmp_path):
    words = ("one", "two", "reader")
    racing = [subprocess.Popen([sys.executable, "-c", RACING, str(tmp_path), word]) for word in words]
    assert [process.wait() for process in racing] == [0, 0, 0]
    held = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert len(set(held.values())) == 1, "both files are of one writer"
    assert set(held) == set(NAMES if held["a.csv"].startswith("one") else NAMES[:2]), "nothing is left over"


def test_what_goes_with_the_old_files_goes_in_the_same_step(tmp_path):
    paths = old_files(tmp_path / "d")
    journal = tmp_path / "d" / ".release.json"
    gone = paths.pop("c.html")
    with replace_files(paths, journal, stale=lambda: [gone, tmp_path / "d" / "none"]) as drafts:
        for draft in drafts.values():
            draft.write_text("new")
        assert gone.read_text() == "old", "until the others are there"
    assert sorted(p.name for p in (tmp_path / "d").iterdir()) == ["a.csv", "b.json"]


def test_a_journal_removes_only_the_file_it_was_written_about(tmp_path):
    entries = pending(tmp_path, ("a.csv",))
    (tmp_path / "mine.txt").write_text("mine")
    entries.append({"draft": None, "file": "mine.txt", "inode": (tmp_path / "mine.txt").stat().st_ino + 1})
    (tmp_path / ".release.json").write_text(json.dumps(entries))
    with pytest.raises(DataError, match="Remove it"):
        finish_journal(tmp_path / ".release.json")
    (tmp_path / ".release.json").write_text(json.dumps(entries[1:]))
    with pytest.raises(DataError, match="Remove it"):
        finish_journal(tmp_path / ".release.json")
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_what_another_process_wrote_meanwhile_is_not_replaced(tmp_path):
    paths = {name: tmp_path / name for name in NAMES}

    def write(word: str, **how: bool) -> None:
        with replace_files(paths, tmp_path / ".release.json", **how) as drafts:
            for draft in drafts.values():
                draft.write_text(word)
            if word == "second":
                write("first")

    with pytest.raises(OutputError, match="there already"):
        write("second", fresh=True)
    assert contents(tmp_path) == {"first"}
    assert len(list(tmp_path.iterdir())) == 3
