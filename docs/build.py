"""Write the generated pages of the documentation: one per part, and the command line as it prints itself.

usage: python docs/build.py [--print KIND]     (Sphinx calls `build` through docs/conf.py)
"""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "tools")]

import catalogue
import changelog
from catalogue import TITLES
from forms import schemas
from markup import cell, markdown
from pydantic_core import PydanticUndefined

from celosia.parts import (
    CountsRows,
    DisclosesValue,
    Part,
    attacks_reading,
    grammar,
    home,
    kinds,
    measured_by,
    methods_read,
    parts,
)

HERE = Path(__file__).parent
REFERENCE = HERE / "reference"


def pages() -> dict[str, str]:
    """Every generated page by its path below docs/reference."""
    found = {
        "catalogue.md": catalogue.page(),
        "changes.md": changelog.built(),
        "command-line.md": command_line(),
        "benchmarks.md": benchmarks(),
        "glossary.md": glossary(),
        "engines.md": engines(),
        "persons.md": persons(),
        "python.md": python(),
        "reproductions.md": reproductions(),
        "suggestions.md": suggestions(),
        **schemas(),
    }
    for kind, title in TITLES.items():
        folder = catalogue.folder(kind)
        found[f"{folder}/index.md"] = f"# {title}\n\n{markdown(intro(kind))}\n\n{catalogue.grouped(kind)}\n"
        for name, cls in parts(kind).items():
            found[f"{folder}/{name}.md"] = page(kind, cls)
    return {"index.md": contents(), **found}


CONTENTS = """\
# Reference

Written by the program about itself: none of these pages can be out of date.

## In Python, in a file, on a terminal

- [Python](python.md): `read`, `Schema`, `Table` and the verbs
- [The policy file](policy-file.md), with the JSON Schema that editors use
- [The command line](command-line.md), every command with its options
- [Certificate and private record](evidence-files.md)

## The parts

- [The catalogue](catalogue.md): everything by what it is for, on one page
- {kinds}

## What is measured

- [How fast it is, beside ARX, sdcMicro and others](benchmarks.md)
- [What runs on which engine](engines.md), [what counts persons](persons.md)
- [How often suggestions are right](suggestions.md), [the source documents, run again](reproductions.md)
- [The words of the report in three languages](glossary.md), [what has changed](changes.md)

```{{toctree}}
:hidden:
:glob:

python
policy-file
command-line
evidence-files
catalogue
{folders}
benchmarks
*
```
"""


def contents() -> str:
    """The first page of the reference."""
    linked = ", ".join(f"[{title.lower()}]({catalogue.folder(kind)}/index.md)" for kind, title in TITLES.items())
    folders = "\n".join(f"{catalogue.folder(kind)}/index" for kind in TITLES)
    return CONTENTS.format(kinds=linked, folders=folders)


PYTHON = """\
# Python

Everything is imported from `celosia`, and loaded when it is first used. The parts are in `celosia.methods`, `celosia.models`,
`celosia.risk`, `celosia.loss`, `celosia.mechanisms` and `celosia.hierarchy`: [the catalogue](catalogue.md) has them all.
"""


def python() -> str:
    """The public names, as their own docstrings explain them."""
    import celosia
    from celosia.table.verbs import PEOPLE

    public = {name: getattr(celosia, name) for name in celosia._HOMES}
    groups = {
        "The verbs": [name for name, value in public.items() if not inspect.isclass(value)],
        "The nouns": [
            name for name, value in public.items() if inspect.isclass(value) and not issubclass(value, Exception)
        ],
        "Errors": [name for name, value in public.items() if inspect.isclass(value) and issubclass(value, Exception)],
    }
    blocks = [PYTHON]
    for title, names in groups.items():
        blocks.append(f"## {title}")
        for name in names:
            listed = "\n   :members:\n   :exclude-members: model_config, model_post_init"
            if name == "Table":  # what a person calls; what parts call besides is in docs/developers/parts.md
                listed = f"\n   :members: {', '.join(PEOPLE)}\n   :member-order: groupwise"
            members = "" if title == "The verbs" else listed
            directive = "autofunction" if title == "The verbs" else "autoclass"
            blocks.append(f"### {name}\n\n```{{eval-rst}}\n.. {directive}:: celosia.{name}{members}\n```")
    return "\n\n".join(blocks) + "\n"


def suggestions() -> str:
    """How often the suggestions are right, measured while the page is written."""
    sys.path.insert(0, str(HERE.parent))
    from tests.proposals.registers import HELD, SEEN
    from tests.proposals.registers.scoring import table

    text = """\
# How often suggestions are right

`celosia init` on {number} tables made for it: column names and notations of registers as offices publish and export
them (hospital discharges, population registers, surveys, schools, police, banks), cells that are generated, and for
every column the roles that a steward would give. The tables *set apart* were written before the rules and words were
tuned on the others; when their misses had been counted, two general rules were added. The same people wrote both
halves, so a register of yours can do worse: read every reason.

*Identifiers found* is the share of the columns that name somebody, or hold free text, that are left out;
*rightly called identifiers* the share of the columns called so that are.

{table}
"""
    return text.format(number=len(SEEN) + len(HELD), table=table({"tuned on": SEEN, "set apart": HELD}))


def reproductions() -> str:
    """What of the source documents comes out, from the index that `make reproduce` wrote."""
    import json

    from celosia_reproduce.index import as_markdown

    return as_markdown(json.loads((HERE / "assets" / "reproduced.json").read_text("utf-8"))["experiments"])


def tried() -> str:
    """What the tests tried against Celosia, as they counted it (`make trust`)."""
    import json

    suites = json.loads((HERE / "assets" / "trust.json").read_text("utf-8"))
    rows = "\n".join(
        f"| {row['what']} | {row['times']:,} | {row['failures']:,} | {row['harm']} |"
        for suite in suites.values()
        for row in suite
    )
    return f"| fault or attack | times tried | failures | what would be a failure |\n|---|---|---|---|\n{rows}\n"


def noticed() -> str:
    """How many small faults the tests notice, by package, as `tools/mutate.py --keep` wrote it."""
    import json

    rows = json.loads((HERE / "assets" / "mutants.json").read_text("utf-8"))
    head = "| package | faults put in | noticed | share | set aside | lines that tests reach |\n|---|---|---|---|---|---|\n"
    return head + "\n".join(
        f"| {row['package']} | {row['faults']} | {row['noticed']} | {row['noticed'] / row['faults']:.1%} | "
        f"{row['set aside']} | "
        + (f"{row['lines'][0] / row['lines'][1]:.1%} of {row['lines'][1]:,} |" if row["lines"] else "|")
        for row in rows
    )


def benchmarks() -> str:
    """What takes how long, from the numbers that `make bench` kept."""
    import json

    sys.path.insert(0, str(HERE.parent))
    from bench.comparison.page import as_markdown

    return as_markdown(json.loads((HERE / "assets" / "benchmarks.json").read_text("utf-8")))


COUNTING = {
    "counted": "counts persons",
    "refused": "refuses a declared person column",
    "given": "a parameter states how far one person moves the answer",
}


def persons() -> str:
    """What every part does where a person owns several rows, as it declares it."""
    told = (
        "What each part does where a person column is declared and a person owns several rows. The parts declare it, "
        "and `tests/test_every_part_and_persons.py` tries each with the column declared and without. What it means is "
        "under [Persons with many rows](../how-to/persons.md)."
    )
    blocks = ["# Persons, part by part", told]
    for kind, title in TITLES.items():
        if kind == "hierarchy":
            continue
        folder = catalogue.folder(kind)
        rows = [f"| [{name}]({folder}/{name}.md) | {_counting(cls)} |" for name, cls in parts(kind).items()]
        blocks.append(f"## {title}\n\n| name | persons |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def _counting(part: type) -> str:
    """What a part does, and why where it looks at rows."""
    persons = part.persons
    return f"counts rows: {persons.reason}" if isinstance(persons, CountsRows) else COUNTING[persons]


def support(part: type, engine: type) -> str:
    """The table sizes for which a part runs on an engine."""
    from celosia.parts import Part
    from celosia.release.policy.feasibility import is_always_in_memory

    bound = f"up to {engine._column_limit / 1e6:g} million rows"
    if not is_always_in_memory(part):
        sure = part.needs_memory is Part.needs_memory
        return "any size" if sure else f"any size, or {bound}, by its parameters and the schema"
    return f"{bound}; any size in blocks" if part.memory == "blocks" else bound


def engines() -> str:
    """What every part can do on every engine, as parts and engines declare it."""
    from celosia.data.engines import ENGINES, engine_named

    text = (
        "What runs where. Parts declare whether they need whole columns in memory, engines how much they bring there; "
        "what does not fit is refused before the work starts, with the nearest thing that works. "
        "`tests/test_every_part_and_memory.py` counts what each part brings into memory. *Any size*: only combinations "
        "of values, sums or single rows are looked at. How Spark is set up is under "
        "[On a cluster](../how-to/cluster.md)."
    )
    blocks = ["# Engines, part by part", text]
    held = {name: type(engine_named(name)) for name in ENGINES}
    for kind, title in TITLES.items():
        if kind in {"hierarchy", "mechanism"}:
            continue
        folder = catalogue.folder(kind)
        rows = [
            f"| [{name}]({folder}/{name}.md) | {' | '.join(support(cls, engine) for engine in held.values())} |"
            for name, cls in parts(kind).items()
        ]
        head = f"| name | {' | '.join(ENGINES.values())} |\n|---|{'---|' * len(ENGINES)}\n"
        blocks.append(f"## {title}\n\n{head}" + "\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def glossary() -> str:
    """The words of the report in its three languages, side by side."""
    from celosia.release.report.texts import words
    from celosia.show.look import LANGUAGES

    columns = [list(words(language)["glossary_of"].items()) for language in LANGUAGES]
    head = " | ".join(words(language)["language"] for language in LANGUAGES)
    rows = "\n".join(
        "| " + " | ".join(f"**{word}**: {text}" for word, text in same) + " |" for same in zip(*columns, strict=True)
    )
    return f"# Glossary\n\n| {head} |\n|{'---|' * len(LANGUAGES)}\n{rows}\n"


def intro(kind: str) -> str:
    """The docstring of the kind."""
    return inspect.cleandoc(kinds()[kind].__doc__ or "").split("\n\n")[0]


def page(kind: str, cls: type[Part]) -> str:
    """The page of one part: what it is, its parameters, how it is written in Python, in a policy and on a terminal."""
    blocks = [
        f"---\norphan: true\n---\n\n# {cls.name}",  # two hundred entries would drown the navigation
        f"[{TITLES[kind]}](index.md) · `{cls.__module__}.{cls.__name__}`",
        markdown(inspect.cleandoc(cls.__doc__ or "")),
    ]
    facts = declared(kind, cls)
    if facts:
        blocks.append("| fact | value |\n|---|---|\n" + "\n".join(f"| {a} | {b} |" for a, b in facts))
    if cls.model_fields:
        rows = [
            f"| `{name}` | "
            + " | ".join(cell(text) for text in (type_of(info.annotation), default_of(info), info.description or ""))
            + " |"
            for name, info in cls.model_fields.items()
        ]
        blocks.append("## Parameters\n\n| name | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows))
    blocks.append("## How it is written\n\n" + written(kind, cls))
    return "\n\n".join(blocks) + "\n"


def declared(kind: str, cls: Any) -> list[tuple[str, str]]:
    """What the part declares about itself."""
    if kind == "method":
        rows = "depends on the parameters" if isinstance(cls.rows, property) else cls.rows
        fixed = cls.needs_memory is Part.needs_memory
        needs = _yes(cls.memory != "none") if fixed else "depends on the parameters and the schema"
        facts = [("rows", rows), ("needs all rows in memory", needs)]
        readers = [f"[{name}](../attacks/{name}.md)" for name in attacks_reading(cls.name)]
        return [*facts, ("risk measured by", ", ".join(readers) or measured_by(cls.name))]
    if kind == "attack":
        read = ", ".join(f"[{name}](../methods/{name}.md)" for name in methods_read(cls))
        return [
            ("reads what is published about", read or "nothing: a general attack"),
            ("discloses", "value" if issubclass(cls, DisclosesValue) else "identity"),
        ]
    if kind == "model":
        # A property means that the fact depends on the parameters.
        return [
            ("judges", "the file as a whole" if cls.scope == "file" else "each class"),
            ("stays true under coarser values", _yes(getattr(cls, "monotone_generalisation", False))),
            ("stays true when records join a class", _yes(getattr(cls, "monotone_suppression", False))),
        ]
    if kind == "loss":
        return [("unit", "a share in [0, 1]" if cls.bounded else "its own")]
    return []


def _yes(fact: Any) -> str:
    return "depends on the parameters" if isinstance(fact, property) else ("yes" if fact else "no")


def written(kind: str, cls: type[Part]) -> str:
    """The three ways to write a part."""
    required = [name for name, info in cls.model_fields.items() if info.is_required()]
    dots = ", ".join(f"{name}=…" for name in required)
    folder = home(kind).split(".")[1]
    lines = "".join(f"\n{name} = …" for name in required)
    table = {"method": "[[step]]", "model": "[[require]]"}.get(kind)
    python = f"```text\ncelosia.{folder}.{cls.__name__}({dots})\n```"
    toml = f'\n\n```toml\n{table}\nuse = "{cls.name}"{lines}\n```' if table else ""
    options = " ".join(f"--{name.replace('_', '-')} …" for name in required)
    shell = (
        f"\n\n```text\ncelosia protect {cls.name} data.csv --out safe.csv {options}\n```" if kind == "method" else ""
    )
    nested = f"\n\nInside another part: `{cls.name}({dots})`."
    return python + toml + shell + nested


def type_of(annotation: Any) -> str:
    text = inspect.formatannotation(annotation)
    text = re.sub(r"Annotated\[(.+?), .*\]", r"\1", text)
    return re.sub(r"(celosia|typing|collections|numpy|pydantic)\.[a-z_.]*", "", text).replace("NoneType", "None")


def default_of(info: Any) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True, validated_data={})
    if value is PydanticUndefined:
        return ""
    return f"`{value if isinstance(value, Part) else grammar.show(value)}`" if value not in (None, ()) else "—"


def command_line() -> str:
    """What each command prints as its help."""
    import os

    os.environ |= {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"}
    from typer.testing import CliRunner

    from celosia.cli.main import app

    runner = CliRunner()
    blocks = ["# The command line\n\nPrinted by the commands themselves."]
    names = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    calls = [[], *([name.replace("_", "-")] for name in names)]
    for group in app.registered_groups:
        inner = group.typer_instance.registered_commands if group.name != "protect" and group.typer_instance else []
        calls += [
            [str(group.name)],
            *([str(group.name), str(c.name or c.callback.__name__)] for c in inner if c.callback),
        ]
    for words in sorted(calls):
        shown = runner.invoke(app, [*words, "--help"], prog_name="celosia").output
        text = "\n".join(line.rstrip() for line in shown.strip().splitlines())
        blocks.append(f"## celosia {' '.join(words)}\n\n```text\n{text}\n```")
    return "\n\n".join(blocks) + "\n"


def build() -> None:
    """Write all generated pages."""
    shutil.rmtree(REFERENCE, ignore_errors=True)
    for path, text in pages().items():
        target = REFERENCE / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--print", dest="kind", choices=list(TITLES))
    wanted = parser.parse_args().kind
    if wanted:
        print("\n".join(page(wanted, cls) for cls in parts(wanted).values()))
    else:
        build()
