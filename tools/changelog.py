"""Build CHANGELOG.md from the fragments of changelog.d: python tools/changelog.py [--release VERSION].

The fragments become the section "not yet released"; released sections stay as they are. With --release the section
gets the version and the date, and the fragments are taken away.
"""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = "# What has changed\n"
COMING = "## Not yet released"


def fragments(root: Path = ROOT) -> list[Path]:
    """Return the files with one change each."""
    return sorted(path for path in (root / "changelog.d").glob("*.md") if path.name != "README.md")


def built(root: Path = ROOT, title: str = COMING) -> str:
    """Return the whole changelog: the fragments first, then the released sections."""
    file = root / "CHANGELOG.md"
    released = file.read_text("utf-8").removeprefix(HEAD).strip() if file.exists() else ""
    if released.startswith(COMING):
        _, _, released = released.partition("\n## ")
        released = f"## {released}" if released else ""
    entries = [f"### {path.stem.replace('-', ' ').capitalize()}\n\n{_text(path)}" for path in fragments(root)]
    blocks = [HEAD.strip(), *([title, *entries] if entries else []), released]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _text(path: Path) -> str:
    return path.read_text("utf-8").strip()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--release", metavar="VERSION")
    version = parser.parse_args().release
    title = f"## {version} ({dt.datetime.now(dt.UTC).date()})" if version else COMING
    (ROOT / "CHANGELOG.md").write_text(built(title=title), "utf-8")
    for path in fragments() if version else ():
        path.unlink()
