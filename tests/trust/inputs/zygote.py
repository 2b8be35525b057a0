"""Runs cases: each in a child of a process that has imported everything and done nothing, so that hundreds take little.

usage: python -m tests.trust.inputs.zygote RESULTS [--sample N] [--entrance TEXT] [--part I --parts N]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs import evidence, hierarchies, keys, options, policies, readers, statements, stores, values
from tests.trust.inputs.case import Case

ENTRANCES = (readers, options, policies, hierarchies, evidence, stores, keys, statements, values)
SEED = 20_231
SECONDS = 60.0
"""Of computing: a case that takes more hangs. Not by the clock, which others who use the machine slow down."""
STILL = 60.0
"""Seconds by the clock in which a case has not computed at all: it waits for something that does not come."""
ADDRESSES = 12 << 30
"""Bytes of addresses: threads and libraries reserve some gigabytes that they never touch."""
WARM = ("celosia.release.run", "celosia.release.verify.verify", "celosia.gateway.commands", "celosia.consent.commands",
        "celosia.proposals", "celosia.frontier", "celosia.methods", "celosia.models", "celosia.risk", "celosia.loss",
        "celosia.release.apply", "celosia.release.report", "celosia.cli.main", "polars", "sqlalchemy")  # fmt: skip


def all_cases(template: Path) -> Iterator[Case]:
    """Every case there is."""
    for entrance in ENTRANCES:
        yield from entrance.cases(template)


def drawn(cases: list[Case], number: int) -> list[Case]:
    """A sample with each entrance in it, the same in every run."""
    shuffled = random.Random(SEED).sample(cases, len(cases))
    first = list({case.entrance: case for case in shuffled}.values())
    return (first + [case for case in shuffled if case not in first])[:number]


def attempt(case: Case, template: Path, folder: Path) -> dict[str, object]:
    """Run one case and tell what came of it."""
    case.place(template, folder)
    before = _listing(folder)
    out, err = folder.with_suffix(".out"), folder.with_suffix(".err")
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        _child(case, folder, out, err)
    hung, used, moved, looked = False, 0.0, started, started
    while True:
        ended, status, usage = os.wait4(child, os.WNOHANG)
        if ended:
            break
        now = time.monotonic()
        if now - looked > 1:
            looked, earlier, used = now, used, _computed(child)
            moved = now if used > earlier else moved
        if used > SECONDS or now - moved > STILL:
            hung = True
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.005)
    if case.largest_file is not None:
        _drained(child)
    _end_group(child)
    after = _listing(folder)
    answer = {
        "entrance": case.entrance,
        "name": case.name,
        "argv": [word[:200] for word in case.argv],
        "may_pass": case.may_pass,
        "code": os.waitstatus_to_exitcode(status),
        "hung": hung,
        "seconds": round(usage.ru_utime + usage.ru_stime, 2),
        "megabytes": usage.ru_maxrss // 1024,
        "out": out.read_text("utf-8", "replace")[:200_000],
        "err": err.read_text("utf-8", "replace")[:200_000],
        "new": sorted(name for name in after if name not in before),
        "changed": sorted(name for name in after if name in before and after[name] != before[name]),
    }
    shutil.rmtree(folder, ignore_errors=True)
    out.unlink()
    err.unlink()
    return answer


def _child(case: Case, folder: Path, out: Path, err: Path) -> None:
    """What the child does: it never returns."""
    code = 70
    try:
        os.setpgid(0, 0)
        for number, target in ((1, out), (2, err)):
            os.dup2(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        os.environ.update(case.variables)
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if case.largest_file is not None:
            # What is printed goes to a pipe: it shall not count as a file.
            for number, target in ((1, out), (2, err)):
                _through_pipe(number, target)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (case.largest_file, case.largest_file))
        from celosia.cli.main import run

        code = run(list(case.argv))
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _computed(group: int) -> float:
    """Seconds of computing of the processes of a group, and of those of them that have ended."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields = stat.read_text("ascii", "replace").rpartition(")")[2].split()
            if int(fields[2]) == group:
                ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _through_pipe(number: int, target: Path) -> None:
    reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=os.open(target, os.O_WRONLY | os.O_APPEND))
    assert reader.stdin is not None
    os.dup2(reader.stdin.fileno(), number)


def _drained(leader: int) -> None:
    """Wait until what was said has come through the pipes: their readers end after the case."""
    end = time.monotonic() + STILL
    with contextlib.suppress(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(leader, 0)
            time.sleep(0.01)


def _end_group(leader: int) -> None:
    """End what the case has left running."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def _devices_are_there() -> None:
    """Stop at once when a case has put something in the place of a device: root can."""
    for name in ("null", "zero", "full", "random"):
        if not Path("/dev", name).is_char_device():
            raise SystemExit(f"/dev/{name} is no device any more")


def _listing(folder: Path) -> dict[str, str]:
    """Files below a directory with what tells that they changed; those beside a database are part of it."""
    import hashlib

    found = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if name.endswith(("-wal", "-shm", "-journal")):
            continue
        whole = path.is_file() and not path.is_symlink()
        found[name] = hashlib.sha256(path.read_bytes()).hexdigest() if whole else str(path.lstat().st_mode)
    return found


def main() -> None:
    """Make the template, run the cases, write what came of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("results", type=Path)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--entrance", default="")
    parser.add_argument("--part", type=int, default=0, help="which of the parts into which the entrances fall")
    parser.add_argument("--parts", type=int, default=1)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        template = Path(place) / "template"
        template.mkdir()
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-m", "tests.trust.inputs.template", str(template)]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        for module in WARM:
            importlib.import_module(module)
        cases = [case for case in all_cases(template) if wanted.entrance in case.entrance]
        chosen = cases if wanted.sample is None else drawn(cases, wanted.sample)
        entrances = sorted({case.entrance for case in cases})[wanted.part :: wanted.parts]
        chosen = [case for case in chosen if case.entrance in entrances]
        with wanted.results.open("w", encoding="ascii") as results:
            for number, case in enumerate(chosen):
                _devices_are_there()
                answer = attempt(case, template, Path(place) / f"case{number}")
                results.write(json.dumps(answer) + "\n")
                results.flush()


if __name__ == "__main__":
    main()
