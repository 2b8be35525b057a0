"""The README as a package index shows it: relative links become absolute, or plain text without an address.

An index shows pictures and follows links only with an absolute address. ``CELOSIA_FILES`` states where the files of the
released version are served; nothing in the repository knows that address.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PICTURE = re.compile(r"!\[[^\]]*\]\((?!https?:)([^)]+)\) ?")
LINK = re.compile(r"(!?\[([^\]]*)\])\((?!https?:|#)([^)]+)\)")


def index_readme(text: str, address: str = "") -> str:
    """Return the README with absolute links, or without pictures and links when there is no address.

    >>> index_readme("![a](docs/a.png) see [b](docs/b.md)", "https://files.example/v1/")
    '![a](https://files.example/v1/docs/a.png) see [b](https://files.example/v1/docs/b.md)'
    >>> index_readme("![a](docs/a.png) see [b](docs/b.md)")
    'see b'
    """
    if address:
        return LINK.sub(rf"\1({address.rstrip('/')}/\3)", text)
    return LINK.sub(r"\2", PICTURE.sub("", text))


class IndexReadme(MetadataHookInterface):
    """Hatch calls it for every build."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the long description."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": index_readme(text, os.environ.get("CELOSIA_FILES", "")),
        }
