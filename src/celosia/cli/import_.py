"""``celosia import``: a policy from a project of ARX or a script for sdcMicro."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from celosia.cli.bases.options import Json

if TYPE_CHECKING:
    from celosia.migration import Translation

#: Lines of what was not translated that a terminal shows; the policy has all.
SHOWN = 40


def import_(
    source: Annotated[Path, typer.Argument(help="A project of ARX (.deid) or a script for sdcMicro (.R).")],
    out: Annotated[Path, typer.Option(help="Where the policy goes; the files of a project go next to it.")] = Path(
        "policy.toml"
    ),
    overwrite: Annotated[bool, typer.Option(help="Replace a policy that is there already.")] = False,
    json: Json = False,
) -> None:
    """Translate a project of ARX or a script for sdcMicro into a policy; nothing in it is executed."""
    from celosia.cli.bases.show import print_json
    from celosia.migration import translate, write

    translation = translate(source)
    written = write(translation, out, source=source, overwrite=overwrite)
    if json:
        print_json(_as_data(translation, written))
    else:
        _print(translation, written)


def _as_data(translation: Translation, written: list[Path]) -> dict[str, object]:
    """Return what was translated and what was not, as plain data."""
    return {
        "policy": str(written[0]),
        "files": [str(path) for path in written[1:]],
        "roles": {role: names for role, names in translation.roles.items() if names} | translation.singles,
        "require": [dict(entry.part) for entry in translation.require],
        "steps": [dict(entry.part) for entry in translation.steps],
        "notes": [{"line": note.line, "text": note.text} for note in translation.notes],
    }


def _print(translation: Translation, written: list[Path]) -> None:
    """Print the sections of the policy, what was not translated, and what to do next."""
    from celosia.cli.bases.show import console

    terminal = console()
    terminal.print(f"{translation.source}, a {translation.tool}:")
    for role, names in translation.roles.items():
        if names:
            terminal.print(f"  {role}: {', '.join(names)}")
    for role, name in translation.singles.items():
        terminal.print(f"  {role}: {name}")
    for what, entries in (("require", translation.require), ("step", translation.steps)):
        for entry in entries:
            terminal.print(f"  {what}: {entry.part['use']}")
    if translation.notes:
        terminal.print("Not translated, or not exactly:")
        for note in translation.notes[:SHOWN]:
            terminal.print(f"  - {note}")
        if len(translation.notes) > SHOWN:
            terminal.print(f"  … and {len(translation.notes) - SHOWN} more: see the policy.")
    terminal.print(f"Written to {written[0]}.")
    if len(written) > 1:
        beside = written[0].with_name(f"{written[0].stem}.*.csv")
        terminal.print(
            f"Next to it, readable only by you: the data and the hierarchies, {len(written) - 1} files ({beside})."
        )
    terminal.print(f"Read it, change what is wrong, then: celosia run {written[0]}")
