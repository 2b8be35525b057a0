"""From the description of a register to its file and the roles its columns have."""

from __future__ import annotations

import csv
import random
import zlib
from dataclasses import dataclass
from pathlib import Path

from tests.proposals.registers.cells import CELLS, Draw

ROWS = 300
#: Roles that a description writes with one letter; several letters mean that each of them is defensible.
ROLES = {
    "I": "identifier",
    "P": "person",
    "X": "identifier",  # free text: left out like an identifier
    "Q": "quasi",
    "S": "sensitive",
    "N": "insensitive",
    "W": "weight",
    "H": "household",
    "T": "stratum",
}


@dataclass(frozen=True)
class Register:
    """A table with the roles that a steward would give its columns."""

    name: str
    language: str
    separator: str
    encoding: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    roles: dict[str, frozenset[str]]
    text: frozenset[str]

    def write(self, directory: Path) -> Path:
        """Write the register as its office would export it."""
        path = directory / f"{self.name}.csv"
        with path.open("w", encoding=self.encoding, errors="replace", newline="") as file:
            writer = csv.writer(file, delimiter=self.separator)
            writer.writerow(self.header)
            writer.writerows(self.rows)
        return path


def register(name: str, description: str, rows: int = ROWS) -> Register:
    """Make the register that a description gives.

    The first line holds language, separator and encoding; each further line one column: name, cells, role. Cells may
    end in ``~30`` (30 % are empty) and in ``!-99,NS/NC`` (one cell in fifteen is one of these codes).
    """
    first, *lines = [line.strip() for line in description.strip().splitlines() if line.strip()]
    language, separator, encoding = first.split()
    separator = {"tab": "\t"}.get(separator, separator)
    rng = random.Random(zlib.crc32(name.encode()))
    draw = Draw(rng, rows)
    header, columns, roles, text = [], [], {}, set()
    for line in lines:
        column, cells, role = (part.strip() for part in line.rsplit("|", 2))
        cells, _, codes = cells.partition("!")
        cells, _, empty = cells.partition("~")
        values = CELLS[cells.strip()](draw)
        if codes:
            listed = codes.split(",")
            values = [rng.choice(listed) if rng.random() < 1 / 15 else value for value in values]
        if empty:
            values = ["" if rng.random() < int(empty) / 100 else value for value in values]
        header.append(column)
        columns.append(values)
        roles[column] = frozenset(ROLES[letter] for letter in role)
        if "X" in role:
            text.add(column)
    records = tuple(zip(*columns, strict=True))
    return Register(name, language, separator, encoding, tuple(header), records, roles, frozenset(text))
