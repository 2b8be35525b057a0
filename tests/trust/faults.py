"""A process that fails at a chosen moment: killed before its n-th call that changes something, or refused it.

What counts as a call: a file of the place opened for writing, renamed, removed, given a mode; a folder made; ``os.write``
and ``os.fsync``; a connection to SQLite and a statement of it. One process imports everything and forks a child for each moment.

usage: python -m tests.trust.faults PLANS
"""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CHANGES = {"os.rename", "os.remove", "os.chmod", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
REMOVALS = {"os.remove", "os.rmdir"}
"""What a full disk does not refuse."""
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
MODULES = (
    *(
        "polars",
        "numba",
        "numpy",
        "sqlalchemy",
        "celosia.cli.main",
        "celosia.release.run",
        "celosia.release.report",
    ),
    *(
        "celosia.release.apply",
        "celosia.release.output.write",
        "celosia.frontier.exploration",
        "celosia.gateway.ledger",
    ),
    *("celosia.consent.owners.store", "celosia.studio.project", "tests.trust.scenes"),
)
"""What the children use."""


class Moment:
    """Counts calls, and fails at the n-th; 0 only counts."""

    def __init__(self, place: Path, n: int, fault: str) -> None:
        self.place, self.n, self.fault, self.calls = str(place), n, fault, 0

    def call(self, *_: object) -> None:
        self.calls += 1
        if self.calls != self.n:
            return
        if self.fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def watch(self) -> None:
        changes = CHANGES if self.fault == "kill" else CHANGES - REMOVALS

        def audit(event: str, given: tuple[Any, ...]) -> None:
            if event in changes or (event == "open" and isinstance(given[2], int) and given[2] & WRITING):
                path = given[0]
                if isinstance(path, str | bytes | os.PathLike) and self._here(path):
                    self.call()

        sys.addaudithook(audit)
        if self.fault == "kill":  # a callback of SQLite cannot refuse a statement
            sqlite3.connect = self._traced(sqlite3.connect)
        for name in ("write", "fsync"):
            setattr(os, name, self._counted(getattr(os, name)))

    def _traced(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def connect(*given: Any, **named: Any) -> Any:
            self.call()
            connection = real(*given, **named)
            connection.set_trace_callback(self.call)
            return connection

        return connect

    def _here(self, path: Any) -> bool:
        return os.path.join(os.getcwd(), os.fsdecode(path)).startswith(self.place)  # noqa: PTH109, PTH118

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(descriptor: int, *given: Any) -> Any:
            if descriptor > 2:
                self.call()
            return real(descriptor, *given)

        return call


def child(act: Callable[[Path], int], place: Path, n: int, fault: str, said: int) -> None:
    """Act in a place; ends this process."""
    code = 1
    try:
        os.chdir(place)
        (place / "tmp").mkdir()
        os.environ["TMPDIR"] = str(place / "tmp")
        os.dup2(said, 1)  # a pipe, which no limit of files holds back
        os.dup2(said, 2)
        moment = Moment(place, n, fault)
        if fault == "small" and n:
            resource.setrlimit(resource.RLIMIT_FSIZE, (n, n))
        else:
            moment.watch()
        code = act(place)
        if n == 0:
            Path(f"{place}.calls").write_text(str(moment.calls))
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        os._exit(code)


@dataclass(frozen=True)
class Plan:
    """What is tried in a folder that holds a ``template``: the scene, the fault and at how many moments (all if None).

    A process that is *killed*, one that is *refused* a call because the disk is full, or one whose files may not grow
    beyond so many bytes (*small*), from none to the largest that there is.
    """

    scene: str
    fault: str
    root: str
    most: int | None = None

    def moments(self) -> list[int]:
        """Which calls, or how many bytes; a child that comes to its end has counted them."""
        _tried(self, 0, self.fault)
        if self.fault == "small":
            largest = max(path.stat().st_size for path in Path(self.root, "0").rglob("*") if path.is_file())
            few = self.most or 12
            return [1 + largest * i // few for i in range(few)]
        every = range(1, int(Path(self.root, "0.calls").read_text()) + 1)
        return [*every] if self.most is None else sorted(random.Random(1).sample(every, self.most))


def _tried(plan: Plan, n: int, fault: str) -> int:
    from tests.trust.scenes import SCENES

    place = Path(plan.root, str(n))
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(place.with_name("template"), place, symlinks=True)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        child(SCENES[plan.scene].act, place, n, fault, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        Path(f"{place}.said").write_bytes(pipe.read())
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main(plans: Iterable[Plan]) -> None:
    """Try everything; prints how each child ended."""
    for name in MODULES:
        importlib.import_module(name)
    gc.freeze()
    for number, plan in enumerate(plans):
        for n in plan.moments():
            print(json.dumps([number, n, _tried(plan, n, plan.fault)]), flush=True)


def happened(plans: list[Plan]) -> list[list[tuple[int, int]]]:
    """How each child ended, plan by plan: its moment, and its exit code (negative for a signal)."""
    words = [sys.executable, "-m", "tests.trust.faults", json.dumps([asdict(plan) for plan in plans])]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ended: list[list[tuple[int, int]]] = [[] for _ in plans]
    for line in done.stdout.splitlines():
        number, n, code = json.loads(line)
        ended[number].append((n, code))
    return ended


if __name__ == "__main__":
    main(Plan(**plan) for plan in json.loads(sys.argv[1]))
