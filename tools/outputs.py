"""Run the README and the tutorials from an empty folder and write what they print: python tools/outputs.py [PAGE …]."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "docs")]

import comparison
from console import run_page

FROM_NOTHING = [ROOT / "README.md", ROOT / "docs" / "install.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
"""Pages that start from an empty folder."""
TABLES = {"compared": comparison.table, "counted": comparison.capabilities}
"""Tables by the name of their marks."""


def insert_tables(text: str) -> str:
    """Insert the generated tables (comparison with ARX and sdcMicro, capabilities) between their marks."""
    for name, table in TABLES.items():
        marks = re.compile(rf"(<!-- {name}: make outputs -->\n).*?(<!-- end -->)", re.DOTALL)
        text = marks.sub(lambda found, table=table: f"{found.group(1)}\n{table()}\n\n{found.group(2)}", text)
    return text


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or FROM_NOTHING:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(insert_tables(run_page(page, Path(folder))), "utf-8")
