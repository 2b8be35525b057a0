"""The command line: a thin skin over the verbs; options of parts derive from the catalogue."""

import os
import sys


def leave_directory() -> None:
    """Take the working directory off the import path: ``python -m`` puts it first, and data lie there, not code."""
    if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:  # noqa: PTH109  (pathlib could come from there)
        del sys.path[0]
