"""Translation of other tools' projects and scripts into a policy."""

from __future__ import annotations

from pathlib import Path

from celosia.errors import DataError
from celosia.files import regular_file
from celosia.migration.arx import read_project
from celosia.migration.sdcmicro import read_script
from celosia.migration.translation import Translation, write


def translate(source: str | Path) -> Translation:
    """Translate a project of ARX (``.deid``) or a script for sdcMicro (``.R``); nothing in it is executed."""
    path = Path(source)
    try:
        regular_file(path)
    except OSError as error:
        raise DataError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    if path.suffix.lower() == ".deid":
        return read_project(path)
    if path.suffix.lower() == ".r":
        return read_script(path)
    raise DataError(
        f"{path.name!r} is neither a project of ARX nor a script of R: its name must end in .deid or in .R."
    )


__all__ = ["Translation", "translate", "write"]
