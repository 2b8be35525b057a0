"""Pictures of web pages that are kept, small, and compared with what the pages look like now."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

SCALE = 0.5
LOCALES = {"en": "en-GB", "es": "es-ES", "ca": "ca-ES"}
DESKTOP, PHONE = 1100, 390


def look(width: int, scheme: str, language: str) -> dict[str, Any]:
    """How a browser shows a page: its width, the theme of the system, the language."""
    size = {"width": width, "height": 480}
    return {"viewport": size, "color_scheme": scheme, "locale": LOCALES[language], "device_scale_factor": SCALE}


def picture(page: Any) -> bytes:
    """The whole page as PNG."""
    page.wait_for_load_state("load")
    return bytes(page.screenshot(full_page=True, animations="disabled", caret="hide"))


def keep(place: Path, taken: dict[str, bytes]) -> None:
    """Write the pictures anew after a change that was meant: where ``CELOSIA_LOOKS=write`` asks for it."""
    if os.environ.get("CELOSIA_LOOKS") == "write":
        place.mkdir(exist_ok=True)
        for old in place.glob("*.png"):
            old.unlink()
        for name, content in taken.items():
            (place / f"{name}.png").write_bytes(content)
