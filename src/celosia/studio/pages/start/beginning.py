"""How a project begins: with a file, a query, the demonstration, or a policy that was written by hand."""

from __future__ import annotations

from typing import IO

from celosia.demo import prepare
from celosia.errors import InputError
from celosia.parts import from_directory
from celosia.proposals import FirstLook, first_look, policy_text
from celosia.streams import fresh_seed
from celosia.studio import editing
from celosia.studio.project import POLICY, Project, version_of

PERSONS = 5_000
"""People in the demonstration: enough to be real, few enough for a first look."""


def from_upload(project: Project, name: str, content: IO[bytes]) -> None:
    """Begin with a file: a policy with suggestions, each with its reason. A file that cannot be read is not kept."""
    _need_none(project)
    seen: list[FirstLook] = []
    place = project.keep(name, content, lambda draft: seen.append(first_look(str(draft), {})))
    _begin(project, seen[0], place.relative_to(project.folder).as_posix(), f"{place.name.split('.')[0]}.safe.csv")


def from_query(project: Project, url: str, query: str) -> None:
    """Begin with the result of a query; a password is named by ``env:`` or ``file:``, never written down."""
    if not url.strip() or not query.strip():
        raise InputError("a database needs its address and a query.")
    _need_none(project)
    read = from_directory(url.strip(), project.folder)
    _begin(project, first_look(read, {"query": query.strip()}), url.strip(), "release.csv")


def from_demonstration(project: Project) -> None:
    """Begin with the generated population and its policy."""
    _need_none(project)
    place = prepare(project.folder, PERSONS)
    text = place.read_text("utf-8")
    place.unlink()
    project.change(lambda _: seeded(text), version_of(""))


def from_policy(project: Project, text: str) -> None:
    """Begin with a policy that was written elsewhere; the files that it names lie in the folder."""
    _need_none(project)
    project.change(lambda _: text, version_of(""))


def seeded(text: str) -> str:
    """The policy with a seed, so that a run outside gives the same bytes; it makes the file a secret of its owner."""
    if editing.get(text, ("run", "seed")) is not None:
        return text
    return editing.put(text, ("run", "seed"), f"{fresh_seed():032x}")


def _begin(project: Project, seen: FirstLook, written: str, output: str) -> None:
    text = policy_text(seen.suggestions, written, output=output, options=seen.options, notes=seen.notes)
    project.change(lambda _: seeded(text), version_of(""))


def _need_none(project: Project) -> None:
    if project.ready:
        raise InputError(f"the project has a {POLICY} already: start the studio in another folder for other data.")
