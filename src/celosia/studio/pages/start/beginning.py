"""How a project begins: with a file, a query, the demonstration, or a policy that was written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celosia.demo import prepare
from celosia.errors import InputError
from celosia.proposals import first_look, policy_text
from celosia.streams import fresh_seed
from celosia.studio import editing
from celosia.studio.project import POLICY, Project

PERSONS = 5_000
"""People in the demonstration: enough to be real, few enough for a first look."""


def from_file(project: Project, path: Path) -> None:
    """Begin with a file that lies in the project: a policy with suggestions, each with its reason."""
    _begin(project, str(path), path.relative_to(project.folder).as_posix(), {}, f"{path.name.split('.')[0]}.safe.csv")


def from_query(project: Project, url: str, query: str) -> None:
    """Begin with the result of a query; a password is named by ``env:`` or ``file:``, never written down."""
    if not url.strip() or not query.strip():
        raise InputError("a database needs its address and a query.")
    _begin(project, url.strip(), url.strip(), {"query": query.strip()}, "release.csv")


def from_demonstration(project: Project) -> None:
    """Begin with the generated population and its policy."""
    _need_none(project)
    place = prepare(project.folder, PERSONS)
    text = place.read_text("utf-8")
    place.unlink()
    project.change(lambda _: seeded(text))


def from_policy(project: Project, text: str) -> None:
    """Begin with a policy that was written elsewhere; the files that it names lie in the folder."""
    _need_none(project)
    project.change(lambda _: text)


def seeded(text: str) -> str:
    """The policy with a seed, so that a run outside gives the same bytes; it makes the file a secret of its owner."""
    if editing.get(text, ("run", "seed")) is not None:
        return text
    return editing.put(text, ("run", "seed"), f"{fresh_seed():032x}")


def _begin(project: Project, source: str, written: str, options: dict[str, Any], output: str) -> None:
    _need_none(project)
    seen = first_look(source, options)
    text = policy_text(seen.suggestions, written, output=output, options=seen.options, notes=seen.notes)
    project.change(lambda _: seeded(text))


def _need_none(project: Project) -> None:
    if project.ready:
        raise InputError(f"the project has a {POLICY} already: start the studio in another folder for other data.")
