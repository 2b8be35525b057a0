"""Run the README and the tutorials from an empty folder and write what they print: python tools/outputs.py [PAGE …]."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "docs")]

import comparison
from console import refreshed

FROM_NOTHING = [ROOT / "README.md", ROOT / "docs" / "install.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
"""The pages that begin in an empty folder."""
COMPARED = re.compile(r"(<!-- compared: make outputs -->\n).*?(<!-- end -->)", re.DOTALL)


def compared(text: str) -> str:
    """A text with the table beside ARX and sdcMicro between its marks."""
    return COMPARED.sub(lambda marks: f"{marks.group(1)}\n{comparison.table()}\n\n{marks.group(2)}", text)


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or FROM_NOTHING:
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(compared(refreshed(page, Path(folder))), "utf-8")
