"""The type stubs say what the catalogue holds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_the_stubs_are_up_to_date():
    script = Path(__file__).parents[2] / "tools" / "stubs.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
