"""Write the type stubs of the lazy packages from the catalogue: python tools/stubs.py [--check]."""

import sys
from pathlib import Path

import celosia
from celosia.parts import home, kinds, parts

SOURCE = Path(celosia.__file__).parent


def stubs() -> dict[Path, str]:
    """Every stub with its text."""
    found = {SOURCE / "__init__.pyi": _top()}
    lines: dict[str, list[str]] = {}
    for kind in kinds():
        if kind == "hierarchy":
            continue  # that package has names of its own besides its parts
        classes = sorted(parts(kind).values(), key=lambda cls: cls.__name__)
        own = [cls for cls in classes if cls.__module__.startswith("celosia.")]
        public = lines.setdefault(home(kind).split(".")[1], [])
        public += [f"from {cls.__module__} import {cls.__name__} as {cls.__name__}" for cls in own]
    return found | {SOURCE / room / "__init__.pyi": "\n".join(sorted(of)) + "\n" for room, of in lines.items()}


def _top() -> str:
    homes = "\n".join(f"from celosia.{home} import {name} as {name}" for name, home in sorted(celosia._HOMES.items()))
    packages = "\n".join(f"from celosia import {name} as {name}" for name in sorted(celosia._PACKAGES))
    return f"{packages}\n{homes}\n\n__version__: str\n"


def wrong(path: Path, text: str) -> list[str]:
    """Lines of a stub that are not so; what is new may lack until the next release."""
    return sorted(set(path.read_text().splitlines()) - set(text.splitlines()))


if __name__ == "__main__":
    if "--check" in sys.argv:
        stale = [f"{path.relative_to(SOURCE)}: {line}" for path, text in stubs().items() for line in wrong(path, text)]
        sys.exit(f"stale stubs: {stale}; run: python tools/stubs.py" if stale else 0)
    for path, text in stubs().items():
        path.write_text(text)
