"""Jobs: long work in separate processes, which survive a reload, a closed page or a killed server.

The folder of a job holds its call, progress and result; the server keeps no state. The process holds a lock on a file
in the folder while it runs, which shows whether it is alive.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from celosia.data.io.atomic import replace_file
from celosia.data.subprocesses import limit_memory, own_output, start
from celosia.errors import CelosiaError, InputError
from celosia.parts.progress import PAUSE, Progress
from celosia.studio.project import Project

Data = dict[str, Any]
"""Content of a JSON file of a job."""
State = Literal["waiting", "running", "done", "refused", "cancelled", "ended"]
HOME = "celosia.studio."
STARTING = 30.0
"""Seconds after which a job without a process counts as ended."""


@dataclass(frozen=True)
class Job:
    """Snapshot of a job."""

    id: str
    call: str
    """Function that does the work, ``celosia.studio.…:name``."""
    arguments: Data
    version: str
    """Hash of the policy that it was started for."""
    begun: float
    state: State
    what: str = ""
    share: float = 0.0
    seconds: float = 0.0
    result: Any = None
    """Return value of the function, or the error message."""

    @property
    def finished(self) -> bool:
        """Whether the job is done, refused, cancelled or ended."""
        return self.state not in ("waiting", "running")

    @property
    def remaining_seconds(self) -> float | None:
        """Estimated remaining seconds; None below 5 % of the work."""
        return self.seconds * (1 - self.share) / self.share if self.share >= 0.05 and self.seconds > 1 else None

    @property
    def name(self) -> str:
        """Name of the function."""
        return self.call.rpartition(":")[2]


class Jobs:
    """The jobs of a project."""

    def __init__(self, project: Project) -> None:
        self._project, self._folder = project, project.state_folder / "jobs"
        self._folder.mkdir(exist_ok=True)

    def start(self, call: str, **arguments: object) -> Job:
        """Start a job and return at once; ``call`` is a function ``(project, progress, **arguments)`` of the studio."""
        if not call.startswith(HOME):
            raise InputError("a job is a function of the studio.")
        # numbers increase even if the clock was set back
        number = max([time.time_ns(), *(1 + int(folder.name[:20]) for folder in self._folders()[:1])])
        name = f"{number:020}-{secrets.token_hex(4)}"
        folder = self._folder / name
        folder.mkdir()
        asked = {"call": call, "arguments": arguments, "version": self._project.version, "begun": time.time()}
        _write(folder / "asked.json", asked)
        process = start("celosia.studio.jobs:work", str(self._project.folder), name)
        _write(folder / "started.json", {"pid": process.pid, "since": _start_time(process.pid)})
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        # a child that is not waited for stays as a zombie
        import threading

        threading.Thread(target=process.wait, daemon=True).start()
        return self.find(name)

    def find(self, name: str) -> Job:
        """Return the job with an id."""
        folder = self._folder / name[:100]
        if not name.isprintable() or "/" in name or name[:1] in ("", ".") or len(name) > 100 or not folder.is_dir():
            raise InputError("there is no such job.")
        asked, progress = _read(folder / "asked.json"), _read(folder / "progress.json")
        alive = self.is_alive(name)  # read before ended.json: a job that ends in between has written that file
        ended = _read(folder / "ended.json")
        now: float = ended.get("at") or time.time()
        state: State = ended.get("state") or ("running" if alive else _state_without_lock(folder, asked))
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
        """Return all jobs, newest first."""
        return [self.find(folder.name) for folder in self._folders()]

    def _folders(self) -> list[Path]:
        """Return the folders of all jobs, newest first."""
        return [folder for folder in sorted(self._folder.iterdir(), reverse=True) if folder.is_dir()]

    def latest(self, name: str, version: str | None = None) -> Job | None:
        """Return the newest job of a function, optionally for one version of the policy."""
        return next((job for job in self.all() if job.name == name and version in (None, job.version)), None)

    def refuse_second(self, name: str) -> None:
        """Raise if a job of a function is still running."""
        latest = self.latest(name)
        if latest is not None and not latest.finished:
            raise InputError("the same job is already running: wait for it, or cancel it first.")

    def cancel(self, name: str) -> Job:
        """Kill a job; its unfinished files are removed with their temporary folders."""
        job, folder = self.find(name), self._folder / name
        if not job.finished:
            _write(folder / "ended.json", {"state": "cancelled", "at": time.time()})
            pid = self.process(name)
            if pid is not None and self.is_alive(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return self.find(name)

    def is_alive(self, name: str) -> bool:
        """Return whether the process of a job is running."""
        return _is_locked(self._folder / name / "lock")

    def process(self, name: str) -> int | None:
        """Return the process id of a job, or None before it has started."""
        pid = _read(self._folder / name / "process.json").get("pid")
        return None if pid is None else int(pid)


def nap(project: Project, progress: Progress, seconds: float) -> Data:  # noqa: ARG001
    """Wait some seconds: a job for tests."""
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds:
        progress("nap", passed / seconds)
        time.sleep(0.02)
    return {"slept": seconds}


def work(folder: str, name: str) -> None:
    """Run a job; the entry point of its process."""
    own_output()
    with contextlib.suppress(OSError):
        os.setsid()  # Ctrl-C in the terminal of the server is not meant for it
    limit_memory()
    project = Project(folder)
    place = project.state_folder / "jobs" / name
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _write(place / "process.json", {"pid": os.getpid()})
        if (place / "ended.json").exists():
            return
        asked = _read(place / "asked.json")
        ended = _call(asked, project, _progress_writer(place))
        if not (place / "ended.json").exists():
            _write(place / "ended.json", {**ended, "at": time.time()})


def _call(asked: Data, project: Project, progress: Progress) -> Data:
    module, _, function = asked["call"].partition(":")
    if not module.startswith(HOME):
        return {"state": "ended"}
    try:
        result = getattr(importlib.import_module(module), function)(project, progress, **asked["arguments"])
    except CelosiaError as problem:
        return {"state": "refused", "result": str(problem)}
    except MemoryError:
        return {"state": "refused", "result": "there is not enough memory for it on this machine."}
    except Exception as problem:
        return {"state": "refused", "result": f"an internal error ({type(problem).__name__}): please report it."}
    return {"state": "done", "result": result}


def _progress_writer(place: Path) -> Progress:
    last = 0.0

    def progress(what: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= PAUSE:
            last = now
            _write(place / "progress.json", {"what": what, "share": share})

    return progress


def _state_without_lock(folder: Path, asked: Data) -> State:
    """Return the state of a job whose lock is free: waiting to start, or ended."""
    if (folder / "process.json").exists():
        return "ended"
    started = _read(folder / "started.json")
    if started:  # starting can take long on a busy machine
        return "waiting" if started["since"] and _start_time(started["pid"]) == started["since"] else "ended"
    waited = time.time() - asked.get("begun", 0.0)
    return "waiting" if abs(waited) <= STARTING else "ended"  # the clock may be set back


def _start_time(pid: int) -> str:
    """Return the start time of a process in clock ticks since boot, or an empty text if there is no such process.

    The id alone does not identify a process: ids are reused.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return _process_marker(pid)
    return "" if stat[0] in ("Z", "X") else stat[19]


def _process_marker(pid: int) -> str:
    """Return a constant if a process exists, for systems without ``/proc``."""
    if Path("/proc/self").exists():
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    return "there"


def _is_locked(lock: Path) -> bool:
    """Whether a process that is_alive holds a lock."""
    try:
        with lock.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def _write(path: Path, value: object) -> None:
    with replace_file(path, 0o600) as draft:
        draft.write_text(json.dumps(value), encoding="utf-8")


def _read(path: Path) -> Data:
    try:
        content: Data = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return content
