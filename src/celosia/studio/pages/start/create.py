"""Create a project from a file, a query, the demonstration data or a policy."""

from __future__ import annotations

from typing import IO

from celosia.demo import prepare
from celosia.errors import InputError
from celosia.frontier import suggested_policy
from celosia.parts import from_directory
from celosia.proposals import FirstLook, first_look
from celosia.streams import fresh_seed
from celosia.studio import toml_edit
from celosia.studio.project import POLICY, Project, version_of

PERSONS = 5_000
"""Persons in the demonstration data."""


def from_upload(project: Project, name: str, content: IO[bytes]) -> None:
    """Create a project with suggested roles from an uploaded file; an unreadable file is not kept."""
    _refuse_existing(project)
    seen: list[FirstLook] = []
    place = project.keep_upload(name, content, lambda draft: seen.append(first_look(str(draft), {})))
    _write_policy(
        project, seen[0], place.relative_to(project.folder).as_posix(), f"{place.name.split('.')[0]}.safe.csv"
    )


def from_query(project: Project, url: str, query: str) -> None:
    """Create a project from the result of a query; passwords are references (``env:`` or ``file:``)."""
    if not url.strip() or not query.strip():
        raise InputError("a database needs its address and a query.")
    _refuse_existing(project)
    project.check_reference(url.strip())
    read = from_directory(url.strip(), project.folder)
    _write_policy(project, first_look(read, {"query": query.strip()}), url.strip(), "release.csv")


def from_demonstration(project: Project) -> None:
    """Create a project from the generated population and its policy."""
    _refuse_existing(project)
    place = prepare(project.folder, PERSONS)
    text = place.read_text("utf-8")
    place.unlink()
    project.change(lambda _: add_seed(text), version_of(""))


def from_policy(project: Project, text: str) -> None:
    """Create a project from the text of a policy; its files must be in the folder."""
    _refuse_existing(project)
    project.change(lambda _: text, version_of(""))


def add_seed(text: str) -> str:
    """Add a random seed to a policy so that runs are reproducible; the policy must then be kept private."""
    if toml_edit.get(text, ("run", "seed")) is not None:
        return text
    return toml_edit.set_value(text, ("run", "seed"), f"{fresh_seed():032x}")


def _write_policy(project: Project, seen: FirstLook, written: str, output: str) -> None:
    text, _ = suggested_policy(
        seen.suggestions, written, project.folder, output=output, options=seen.options, notes=seen.notes
    )
    project.change(lambda _: add_seed(text), version_of(""))


def _refuse_existing(project: Project) -> None:
    if project.has_policy:
        raise InputError(f"the project has a {POLICY} already: start the studio in another folder for other data.")
