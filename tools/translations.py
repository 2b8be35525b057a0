"""List the parts without a name or sentence in a language (shown in English): python tools/translations.py."""

from celosia.parts import parts
from celosia.release.report.texts import HOME
from celosia.show.look import LANGUAGES, texts

NAMED = ("model", "risk", "attack", "loss")
DESCRIBED = (*NAMED, "method", "mechanism")


def missing_translations() -> list[str]:
    """Return the missing translations, as ``file: kind name``."""
    wanted = [(f"names.{language}", NAMED) for language in LANGUAGES]
    wanted += [(f"parts.{language}", DESCRIBED) for language in LANGUAGES if language != "en"]
    return [
        f"{file}.toml: {kind} {name}"
        for file, kinds in wanted
        for kind in kinds
        for name, cls in parts(kind).items()
        if cls.__module__.startswith("celosia.") and name not in texts(HOME, file).get(kind, {})
    ]


if __name__ == "__main__":
    print("\n".join(missing_translations()) or "every part is translated")
