"""What mkdocs runs before it builds: the generated pages, and the navigation from the files that are there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SECTIONS = {
    "Tutorial": "tutorial.md",
    "How to": "how-to",
    "The studio": "studio",
    "Reference": "reference",
    "What is not promised": "promises",
    "For developers": "developers",
}


def on_config(config: Any) -> Any:
    """Generate the reference and lay out the navigation."""
    sys.path.insert(0, str(HERE))
    from build import build

    build()
    config["nav"] = [
        {"Celosia": "index.md"},
        *({title: entry} for title, place in SECTIONS.items() if (entry := _entry(HERE / place))),
        *(
            {_title(page): page.name}
            for page in sorted(HERE.glob("*.md"))
            if page.name not in {"index.md", "tutorial.md"}
        ),
    ]
    return config


def on_page_markdown(markdown: str, page: Any, **_others: Any) -> str:
    """Put the counts of the tests into the page that shows them."""
    if page.file.src_uri != "promises/tried.md":
        return markdown
    from build import tried

    return markdown.replace("{{ tried }}", tried())


def _entry(place: Path) -> Any:
    if place.is_file():
        return place.relative_to(HERE).as_posix()
    pages = sorted(place.glob("*.md"), key=lambda page: (page.name != "index.md", page.name))
    folders = sorted(folder for folder in place.glob("*") if folder.is_dir())
    return [
        *({_title(page): page.relative_to(HERE).as_posix()} for page in pages),
        *({_title(folder / "index.md"): _entry(folder)} for folder in folders),
    ]


def _title(page: Path) -> str:
    heading = re.search(r"^# (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return heading.group(1) if heading else page.stem
