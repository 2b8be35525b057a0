"""Long work in a process of its own: it goes on when the page is reloaded, closed, or the server is killed.

All that is known of a job lies in its folder: what was asked, how far it is, how it ended. The process holds a lock on
a file there while it lives, so whoever looks knows whether it does; nothing about jobs is kept in the server.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib
import json
import os
import secrets
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from celosia.data.io.atomic import replaced
from celosia.data.isolated import limit_memory, own_output, start
from celosia.errors import CelosiaError, InputError
from celosia.parts.progress import PAUSE, Progress
from celosia.studio.project import Project

State = Literal["waiting", "running", "done", "refused", "cancelled", "ended"]
HOME = "celosia.studio."
STARTING = 30.0
"""Seconds within which a process is started, after the job was asked for."""


@dataclass(frozen=True)
class Job:
    """A job as it is now."""

    id: str
    call: str
    """The function that does it, ``celosia.studio.…:name``."""
    arguments: dict[str, Any]
    version: str
    """The hash of the policy that it was started for."""
    begun: float
    state: State
    what: str = ""
    share: float = 0.0
    seconds: float = 0.0
    result: Any = None
    """What the function returned; the sentence of a refusal."""

    @property
    def over(self) -> bool:
        """Whether it has ended, in whatever way."""
        return self.state not in ("waiting", "running")

    @property
    def left(self) -> float | None:
        """Seconds that it will still take, by what is done; None while there is too little to say."""
        return self.seconds * (1 - self.share) / self.share if self.share >= 0.05 and self.seconds > 1 else None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.call.rpartition(":")[2]


class Jobs:
    """The jobs of a project."""

    def __init__(self, project: Project) -> None:
        self._project, self._folder = project, project.own / "jobs"
        self._folder.mkdir(exist_ok=True)

    def start(self, call: str, **arguments: Any) -> Job:
        """Start a job: ``call`` names a function ``(project, tell, **arguments)`` of the studio. Returns at once."""
        if not call.startswith(HOME):
            raise InputError("a job is a function of the studio.")
        # the latest has the highest number, also when the clock was set back
        number = max([time.time_ns(), *(1 + int(folder.name[:20]) for folder in self._folders()[:1])])
        name = f"{number:020}-{secrets.token_hex(4)}"
        folder = self._folder / name
        folder.mkdir()
        asked = {"call": call, "arguments": arguments, "version": self._project.version, "begun": time.time()}
        _write(folder / "asked.json", asked)
        process = start("celosia.studio.jobs:work", str(self._project.folder), name)
        _write(folder / "started.json", {"pid": process.pid, "since": _since(process.pid)})
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        # a child that nobody waits for stays in the table of processes
        import threading

        threading.Thread(target=process.wait, daemon=True).start()
        return self.find(name)

    def find(self, name: str) -> Job:
        """The job of that id."""
        folder = self._folder / name[:100]
        if not name.isprintable() or "/" in name or name[:1] in ("", ".") or len(name) > 100 or not folder.is_dir():
            raise InputError("there is no such job.")
        asked, progress = _read(folder / "asked.json"), _read(folder / "progress.json")
        lives = self.lives(name)  # before the end is looked for: a job that ends meanwhile has written it
        ended = _read(folder / "ended.json")
        now = ended.get("at") or time.time()
        state: State = ended.get("state") or ("running" if lives else _gone(folder, asked))
        return Job(
            id=name,
            call=asked.get("call", ""),
            arguments=asked.get("arguments", {}),
            version=asked.get("version", ""),
            begun=asked.get("begun", now),
            state=state,
            what=progress.get("what", ""),
            share=1.0 if state == "done" else float(progress.get("share", 0.0)),
            seconds=max(0.0, now - asked.get("begun", now)),
            result=ended.get("result"),
        )

    def all(self) -> list[Job]:
        """Every job, the latest first."""
        return [self.find(folder.name) for folder in self._folders()]

    def _folders(self) -> list[Path]:
        """Those of the jobs, the latest first."""
        return [folder for folder in sorted(self._folder.iterdir(), reverse=True) if folder.is_dir()]

    def latest(self, name: str, version: str | None = None) -> Job | None:
        """The latest job of a function, for a policy or for any."""
        return next((job for job in self.all() if job.name == name and version in (None, job.version)), None)

    def refuse_second(self, name: str) -> None:
        """Refuse to start a job of a function while another of it is on its way."""
        latest = self.latest(name)
        if latest is not None and not latest.over:
            raise InputError("the same is on its way already: wait for it, or cancel it first.")

    def cancel(self, name: str) -> Job:
        """End a job; what it has written so far is removed with its drafts."""
        job, folder = self.find(name), self._folder / name
        if not job.over:
            _write(folder / "ended.json", {"state": "cancelled", "at": time.time()})
            pid = self.process(name)
            if pid is not None and self.lives(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return self.find(name)

    def lives(self, name: str) -> bool:
        """Whether the process of a job is there."""
        return _held(self._folder / name / "lock")

    def process(self, name: str) -> int | None:
        """The id of the process of a job, once it has taken it."""
        pid = _read(self._folder / name / "process.json").get("pid")
        return None if pid is None else int(pid)


def nap(project: Project, tell: Progress, seconds: float) -> dict[str, Any]:  # noqa: ARG001
    """A job that only takes time: for tests."""
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds:
        tell("nap", passed / seconds)
        time.sleep(0.02)
    return {"slept": seconds}


def work(folder: str, name: str) -> None:
    """What the process of a job does."""
    own_output()
    with contextlib.suppress(OSError):
        os.setsid()  # Ctrl-C in the terminal of the server is not meant for it
    limit_memory()
    project = Project(folder)
    place = project.own / "jobs" / name
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _write(place / "process.json", {"pid": os.getpid()})
        if (place / "ended.json").exists():
            return
        asked = _read(place / "asked.json")
        ended = _done(asked, project, _teller(place))
        if not (place / "ended.json").exists():
            _write(place / "ended.json", {**ended, "at": time.time()})


def _done(asked: dict[str, Any], project: Project, tell: Callable[[str, float], None]) -> dict[str, Any]:
    module, _, function = asked["call"].partition(":")
    if not module.startswith(HOME):
        return {"state": "ended"}
    try:
        result = getattr(importlib.import_module(module), function)(project, tell, **asked["arguments"])
    except CelosiaError as problem:
        return {"state": "refused", "result": str(problem)}
    except MemoryError:
        return {"state": "refused", "result": "there is not enough memory for it on this machine."}
    except Exception as problem:
        return {"state": "refused", "result": f"an internal error ({type(problem).__name__}): please report it."}
    return {"state": "done", "result": result}


def _teller(place: Path) -> Callable[[str, float], None]:
    last = 0.0

    def tell(what: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PAUSE:
            last = now
            _write(place / "progress.json", {"what": what, "share": share})

    return tell


def _gone(folder: Path, asked: dict[str, Any]) -> State:
    """The state of a job that no process holds: not yet, or no longer."""
    if (folder / "process.json").exists():
        return "ended"
    started = _read(folder / "started.json")
    if started:  # on a busy machine a process takes its time to come
        return "waiting" if started["since"] and _since(started["pid"]) == started["since"] else "ended"
    waited = time.time() - asked.get("begun", 0.0)
    return "waiting" if abs(waited) <= STARTING else "ended"  # a clock may be set back


def _since(pid: int) -> str:
    """When a process began, by the clock of the system since it was switched on; empty where there is none.

    The id alone does not tell: it may have gone to another process.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return _seen(pid)
    return "" if stat[0] in ("Z", "X") else stat[19]


def _seen(pid: int) -> str:
    """The same on a system without ``/proc``: whether there is such a process."""
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    return "there"


def _held(lock: Path) -> bool:
    """Whether a process that lives holds a lock."""
    try:
        with lock.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _write(path: Path, value: Any) -> None:
    with replaced(path, 0o600) as draft:
        draft.write_text(json.dumps(value), encoding="utf-8")


def _read(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return content
