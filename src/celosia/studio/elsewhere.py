"""The same run outside the studio: as a file, in Python, on the command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from celosia.studio.project import POLICY, Project


@dataclass(frozen=True)
class Elsewhere:
    """What gives the same run."""

    file: str
    python: str
    command: str


def elsewhere(project: Project) -> Elsewhere:
    """The policy, and how to run it without the studio."""
    place = project.folder / POLICY
    python = f"import celosia\n\nrelease = celosia.run({str(place)!r})\nprint(release.holds)\n"
    return Elsewhere(project.text, python, f"celosia run {shlex.quote(str(place))}")
