"""Check the installed dependencies offline; `make lint` runs it.

An installed package must have the version that constraints.txt pins, come from a registry, and meet the requirements
of the others. Packages without a pin are printed: other projects may need them. Known vulnerabilities need the
internet: `pip-audit -r constraints.txt`.
"""

import importlib.metadata
import json
import re
import sys
from pathlib import Path

from packaging.requirements import Requirement

OWN = {"celosia", "celosia-reproduce", "pip", "setuptools", "wheel"}
ROOT = Path(__file__).resolve().parents[1]


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def problems() -> list[str]:
    found: list[str] = []
    pinned = dict(line.split("==") for line in (ROOT / "constraints.txt").read_text("utf-8").split())
    there = {plain(d.metadata["Name"]): d for d in importlib.metadata.distributions()}
    for name, package in sorted(there.items()):
        if name in OWN:
            continue
        if pinned.get(name, package.version) != package.version:
            found.append(f"{name} {package.version} is installed, constraints.txt has {pinned[name]}")
        if name not in pinned:
            print(f"not pinned: {name} {package.version}")
        address = json.loads(package.read_text("direct_url.json") or "{}").get("url")
        if address:
            found.append(f"{name} comes from an address or a folder, not from a registry")
        for text in package.requires or ():
            needed = Requirement(text)
            other = there.get(plain(needed.name))
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            if other is None:
                found.append(f"{name} needs {needed.name}, which is not installed")
            elif not needed.specifier.contains(other.version, prereleases=True):
                found.append(f"{name} needs {needed.name}{needed.specifier}, and {other.version} is installed")
    return found


if __name__ == "__main__":
    found = problems()
    print("\n".join(found) or "every package is the pinned one, from a registry, and fits the others")
    sys.exit(bool(found))
