"""Write the generated pages of the documentation: one per part, and the command line as it prints itself.

usage: python docs/build.py [--print KIND]     (mkdocs calls `build` through docs/hooks.py)
"""

from __future__ import annotations

import argparse
import inspect
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert
from pydantic_core import PydanticUndefined

from celosia.parts import Part, attacks_reading, grammar, kinds, measured_by, parts

HERE = Path(__file__).parent
REFERENCE = HERE / "reference"
TITLES = {
    "method": "Methods",
    "model": "Models",
    "risk": "Risks",
    "attack": "Attacks",
    "loss": "Losses",
    "mechanism": "Mechanisms",
    "hierarchy": "Hierarchies",
}


def pages() -> dict[str, str]:
    """Every generated page by its path below docs/reference."""
    found = {
        "benchmarks.md": benchmarks(),
        "command-line.md": command_line(),
        "glossary.md": glossary(),
        "engines.md": engines(),
        "persons.md": persons(),
        "reproductions.md": reproductions(),
        "suggestions.md": suggestions(),
        **schemas(),
    }
    for kind, title in TITLES.items():
        members = parts(kind)
        rows = "\n".join(f"| [{name}]({name}.md) | {markdown(cls.summary())} |" for name, cls in members.items())
        folder = kinds()[kind].home.rsplit(".", 1)[1]
        found[f"{folder}/index.md"] = (
            f"# {title}\n\n{markdown(intro(kind))}\n\n| name | what it is |\n|---|---|\n{rows}\n"
        )
        for name, cls in members.items():
            found[f"{folder}/{name}.md"] = page(kind, cls)
    return found


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

    from celosia.experiments.index import as_markdown

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


def benchmarks() -> str:
    """What takes how long, from the numbers that `make bench` kept."""
    import json

    sys.path.insert(0, str(HERE.parent))
    from bench.comparison.page import as_markdown

    return as_markdown(json.loads((HERE / "assets" / "benchmarks.json").read_text("utf-8")))


COUNTING = {
    "counted": "counts persons",
    "refused": "refuses a declared person column",
    "rows": "looks at rows only",
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
        folder = kinds()[kind].home.rsplit(".", 1)[1]
        rows = [f"| [{name}]({folder}/{name}.md) | {COUNTING[cls.persons]} |" for name, cls in parts(kind).items()]
        blocks.append(f"## {title}\n\n| name | persons |\n|---|---|\n" + "\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def engines() -> str:
    """What every part can do on every engine, as parts and engines declare it."""
    from celosia.data.engines import ENGINES, engine_named
    from celosia.release.fitting import support

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
        folder = kinds()[kind].home.rsplit(".", 1)[1]
        rows = [
            f"| [{name}]({folder}/{name}.md) | {' | '.join(support(cls, engine) for engine in held.values())} |"
            for name, cls in parts(kind).items()
        ]
        head = f"| name | {' | '.join(ENGINES.values())} |\n|---|{'---|' * len(ENGINES)}\n"
        blocks.append(f"## {title}\n\n{head}" + "\n".join(rows))
    return "\n\n".join(blocks) + "\n"


def glossary() -> str:
    """The words of the report in its three languages, side by side."""
    from celosia.release.report.telling import words
    from celosia.show.look import LANGUAGES

    columns = [list(words(language)["glossary_of"].items()) for language in LANGUAGES]
    head = " | ".join(words(language)["language"] for language in LANGUAGES)
    rows = "\n".join(
        "| " + " | ".join(f"**{word}**: {text}" for word, text in same) + " |" for same in zip(*columns, strict=True)
    )
    return f"# Glossary\n\n| {head} |\n|{'---|' * len(LANGUAGES)}\n{rows}\n"


SCHEMA_INTRO = """\
# Forms and schemas

What Celosia reads and writes has a form with a version. Each form is also a JSON Schema, for editors and for other
programs: {links}.

An editor that knows TOML (with Taplo, or *Even Better TOML* in VS Code) completes and checks a policy when its first
line names the schema:

```toml
#:schema ./policy-1.json
```

A field that a form does not know is refused. In Python the schemas are those of `celosia.release.schemas`:
`policy_schema()`, `certificate_schema()` and `record_schema()`. That of a policy holds every method, model, risk,
attack, loss and hierarchy that is installed.
"""


def schemas() -> dict[str, str]:
    """The JSON schemas, and the page that explains their fields."""
    import json

    from celosia.release.schemas import SCHEMAS

    made = {name: make() for name, make in SCHEMAS.items()}
    files = {name: f"{name}-{schema['title'].rsplit(' ', 1)[1]}.json" for name, schema in made.items()}
    links = ", ".join(f"[{file}]({file})" for file in files.values())
    blocks = [SCHEMA_INTRO.format(links=links)]
    for name, schema in made.items():
        blocks.append(f"## {schema['title'].removeprefix('celosia ').capitalize()}\n\n{schema['description']}")
        blocks.append(form_table(schema, schema))
        for key, inner in forms_of(schema).items():
            heading = key if name != "policy" else f"[{key}]"
            blocks.append(f"### {heading}\n\n{markdown(inner['description'])}\n\n{form_table(inner, schema)}")
    written = {f"schemas/{files[name]}": json.dumps(schema, indent=1) + "\n" for name, schema in made.items()}
    return {**written, "schemas/index.md": "\n\n".join(blocks) + "\n"}


def forms_of(schema: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The forms inside a form, by the field that holds them."""
    found = {}
    for key, info in schema["properties"].items():
        name = (info.get("$ref") or info.get("items", {}).get("$ref", "")).rpartition("/")[2]
        inner = schema.get("$defs", {}).get(name, {})
        if "properties" in inner:
            found[key] = inner
    return found


def form_table(form: dict[str, Any], schema: dict[str, Any]) -> str:
    """The fields of a form: what they hold, whether they must be there, what they mean."""
    needed = form.get("required", [])
    rows = [
        [f"`{key}`", json_type(info, schema), "yes" if key in needed else "", cell(info.get("description", ""))]
        for key, info in form["properties"].items()
    ]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"| field | holds | needed | meaning |\n|---|---|---|---|\n{lines}"


def json_type(info: dict[str, Any], schema: dict[str, Any]) -> str:
    """What a field holds, in a few words."""
    if "$ref" in info:
        name = info["$ref"].rpartition("/")[2]
        inner = schema["$defs"][name]
        return cell(_choices(inner)) if "enum" in inner else "a table" if "properties" in inner else f"a {name}"
    if "anyOf" in info:
        kinds = dict.fromkeys(json_type(each, schema) for each in info["anyOf"] if each.get("type") != "null")
        return " or ".join(kinds)
    if "const" in info or "enum" in info:
        return cell(_choices(info))
    if info.get("type") == "array":
        return f"a list: {json_type(info['items'], schema)}" if info.get("items") else "a list"
    words = {"string": "a text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    return words.get(info.get("type", ""), "a table" if info.get("type") == "object" else "anything")


def _choices(info: dict[str, Any]) -> str:
    return ", ".join(f"`{value}`" for value in info.get("enum", [info.get("const")]))


def intro(kind: str) -> str:
    """The docstring of the kind."""
    return inspect.cleandoc(kinds()[kind].__doc__ or "").split("\n\n")[0]


def page(kind: str, cls: type[Part]) -> str:
    """The page of one part: what it is, its parameters, how it is written in Python, in a policy and on a terminal."""
    blocks = [
        f"# {cls.name}",
        f"*{kind}* · `{cls.__module__}.{cls.__name__}`",
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
        facts = [("rows", rows), ("needs all rows in memory", _yes(cls.in_memory))]
        readers = [f"[{name}](../attacks/{name}.md)" for name in attacks_reading(cls.name)]
        return [*facts, ("risk measured by", ", ".join(readers) or measured_by(cls.name))]
    if kind == "attack":
        read = ", ".join(f"[{name}](../methods/{name}.md)" for name in cls.reads)
        return [("reads what is published about", read or "nothing: a general attack"), ("discloses", cls.discloses)]
    if kind == "model":
        # A property means that the fact depends on the parameters.
        return [
            ("judges", "the file as a whole" if cls.scope == "file" else "each class"),
            ("stays true under coarser values", _yes(cls.monotone_generalisation)),
            ("stays true when records join a class", _yes(cls.monotone_suppression)),
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
    folder = kinds()[kind].home.split(".")[1]
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


def cell(text: str) -> str:
    return markdown(text).replace("|", "\\|").replace("\n", " ")


def markdown(text: str) -> str:
    """A docstring as Markdown: formulas become MathML, examples code, double back-quotes single ones."""
    text = re.sub(r"^\.\. math:: *((?:.*\n?)(?:^[ ]{4,}.*\n?|^\s*\n(?=[ ]{4,}))*)", _display, text, flags=re.MULTILINE)
    text = re.sub(r":math:`([^`]+)`", lambda m: convert(_flat(m.group(1))), text)
    text = re.sub(r":(?:class|func|meth|mod|attr):`~?([^`]+)`", r"`\1`", text)
    text = text.replace("``", "`")
    out, inside = [], False
    for line in text.splitlines():
        starts = line.lstrip().startswith((">>>", "..."))
        if starts and not inside:
            out.append("\n```python")
            inside = True
        if inside and not line.strip():
            out.append("```")
            inside = False
        out.append(line.strip() if inside and starts else line)
    return "\n".join([*out, *(["```"] if inside else [])])


def _display(match: re.Match[str]) -> str:
    return f"\n<div class='formula'>{convert(_flat(match.group(1)), display='block')}</div>\n\n"


def _flat(latex: str) -> str:
    return " ".join(latex.split())


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
