"""A throwaway PostgreSQL cluster for tests: `with cluster(directory) as url`. Needs only the server's binaries.

Test directories load it by path (see ``tests/gateway/conftest.py``), because tests are not a package.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def binaries() -> Path | None:
    """Directory of ``initdb`` and ``pg_ctl``, or nothing when the server is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), reverse=True)
    on_path = shutil.which("pg_ctl")
    return found[0].parent if found else Path(on_path).parent if on_path else None


@contextmanager
def cluster() -> Iterator[str]:
    """Start a server on a socket in a temporary directory and give its URL; stop and delete it afterwards."""
    where = binaries()
    assert where is not None
    root = Path(tempfile.mkdtemp(prefix="celosia-pg-"))
    account = _account()
    if account is not None:  # the server refuses to run as root
        os.chown(root, account.pw_uid, account.pw_gid)
    data, socket = root / "data", root

    def run(*command: str) -> None:
        kwargs = {"user": account.pw_uid, "group": account.pw_gid} if account is not None else {}
        env = {**os.environ, "HOME": str(root), "LC_ALL": "C.UTF-8"}
        subprocess.run(
            command, check=True, cwd=root, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **kwargs
        )

    try:
        run(str(where / "initdb"), "-D", str(data), "-U", "celosia", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-k {socket} -c listen_addresses='' -c max_connections=120 -c shared_buffers=16MB"
        run(str(where / "pg_ctl"), "-D", str(data), "-o", options, "-l", str(root / "log"), "-w", "start")
        try:
            yield f"postgresql://celosia@/postgres?host={socket}"
        finally:
            run(str(where / "pg_ctl"), "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _account() -> pwd.struct_passwd | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None
