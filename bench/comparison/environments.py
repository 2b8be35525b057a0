"""One virtual environment per peer, made when it is first needed."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

BUILD = Path(__file__).resolve().parents[2] / "build" / "bench"
NEEDED = {
    "pycanon": ("pycanon",),
    "anjana": ("anjana",),
    "anonypy": ("anonypy", "pandas"),
    "openmed": ("openmed",),
    "synthpop-py": ("synthpop-py",),
    "python-synthpop": ("python-synthpop", "scikit-learn<1.4"),
    "smartnoise-sql": ("smartnoise-sql",),
    "smartnoise-synth": ("smartnoise-synth",),
    "sdv": ("sdv",),
}
"""What is installed for a peer; a package that it needs and does not declare is named too."""
PATIENCE = 1200


class NotThere(Exception):
    """A peer that cannot be had here, with the reason."""


@cache
def interpreter(peer: str) -> Path:
    """The Python of a peer's environment."""
    place = BUILD / peer
    python, done = place / "bin" / "python", place / ".installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *NEEDED[peer]]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        except subprocess.TimeoutExpired as error:
            raise NotThere(f"not installed within {PATIENCE // 60} minutes") from error
        if said.returncode:
            lines = [line for line in said.stderr.splitlines() if line.startswith("ERROR")]
            raise NotThere(f"cannot be installed: {(lines or ['no reason was given'])[0][:200]}")
        done.touch()
    return python
