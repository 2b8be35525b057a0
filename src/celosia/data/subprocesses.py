"""Python processes that import from the path of their caller, but never from the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

LARGEST = 64 << 30
SMALLEST = 8 << 30


def start(call: str, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a process that calls ``package.module:function``, with pipes for its input and output.

    The working directory contains data, not code: relative entries of the path (a notebook has one) are left out.
    """
    module, _, function = call.partition(":")
    path = [entry for entry in sys.path if os.path.isabs(entry)]  # noqa: PTH117
    code = f"import sys; sys.path[:] = {path!r}; from {module} import {function}; {function}(*sys.argv[1:])"
    return subprocess.Popen(
        [sys.executable, "-I", "-c", code, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(variables or {})},
    )


def own_output() -> int:
    """Return the pipe to the caller, and redirect the standard output, so that nothing else is printed into it."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def limit_memory() -> None:
    """Limit the memory of this process to that of the machine, so that only this process fails."""
    import resource

    installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = min(max(installed, SMALLEST), LARGEST)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
