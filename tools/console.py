"""Run the blocks of a page of documentation in order, in one folder, and insert their output into the page.

A ```console block is run line by line. With `console output` it shows the output of the commands, with `output=12` the
first twelve lines of each, with `output=-1` the last. A ```python block is executed; a ```text output block after it
shows its output. A block with `skip` is not run: a command that serves until it is stopped, or installs something.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```(python|console|text)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
PLAIN = {"ls", "head", "cat", "mkdir", "cp"}
"""Commands of the system that a page may use."""
WIDTH = "100"


class Wrong(AssertionError):
    """A block with another result than the page states."""


def run_page(page: Path, folder: Path) -> str:
    """Return the text of a page with the output of its blocks, which are run in a folder."""
    names: dict[str, Any] = {"__name__": "example"}
    printed = ""

    def run(block: re.Match[str]) -> str:
        nonlocal printed
        language, info, code = block.groups()
        if "skip" in info:
            return block.group()
        if language == "console":
            code = _console(code, info, page)
        elif language == "python":
            printed = _python(code, names, page)
        elif "output" in info:
            code = _cut(printed, info)
        return f"```{language}{info}\n{code}```"

    home = Path.cwd()
    before = {key: os.environ.get(key) for key in ("COLUMNS", "NO_COLOR", "TERM")}
    os.environ |= {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}
    os.chdir(folder)
    try:
        return BLOCK.sub(run, page.read_text("utf-8"))
    finally:
        os.chdir(home)
        for key, value in before.items():
            os.environ.pop(key) if value is None else os.environ.__setitem__(key, value)


def _console(code: str, info: str, page: Path) -> str:
    shown = []
    for line in re.findall(r"^\$ (?:.*\\\n)*.*$", code, flags=re.MULTILINE):
        output = _command(line[2:].replace("\\\n", " "), page)
        shown.append(f"{line}\n{_cut(output, info) if 'output' in info else ''}")
    return "".join(shown) if "output" in info else code


def _cut(output: str, info: str) -> str:
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    most = int((re.findall(r"output=(-?\d+)", info) or [len(lines)])[0])
    if abs(most) < len(lines):
        lines = [*lines[:most], "…"] if most > 0 else ["…", *lines[most:]]
    return "".join(f"{line}\n" for line in lines)


def _command(line: str, page: Path) -> str:
    text, _, comment = line.partition("  #")
    words = shlex.split(text)
    if words[0] == "cd":
        os.chdir(words[1])
        return ""
    if words[0] in PLAIN:
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout
    if words[0] != "celosia" or {"studio", "serve"} & set(words[1:3]):
        raise Wrong(f"{page.name}: {line}: it cannot be run here; mark the block with skip")
    from celosia.cli.main import run

    wanted = 3 if "exit code 3" in comment else 0
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        code = run(words[1:])
    if code != wanted:
        raise Wrong(f"{page.name}: {line}: exit code {code}\n{err.getvalue()}")
    return out.getvalue()


def _python(code: str, names: dict[str, Any], page: Path) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        if ">>>" not in code:
            exec(compile(code, str(page), "exec"), names)
            return out.getvalue()
        test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        runner.run(test, clear_globs=False)
        names.update(test.globs)
    if runner.summarize(verbose=False).failed:
        raise Wrong(out.getvalue())
    return out.getvalue()
