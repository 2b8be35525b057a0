"""Processes that the package starts: they import from where their caller does, and never from the working directory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping

MOST = 64 << 30
LEAST = 8 << 30


def start(call: str, *arguments: str, variables: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a process that calls ``package.module:function``, with pipes for its input and output.

    Data lie in the working directory, not code: a relative entry of the path (a notebook has one) is left out.
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
    """Keep the pipe to the caller for answers: whatever prints must not print into them."""
    answers = os.dup(1)
    os.dup2(2, 1)
    return answers


def limit_memory() -> None:
    """Let this process fail, and it alone, when it asks for more memory than the machine has."""
    import resource

    there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    most = min(max(there, LEAST), MOST)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))
