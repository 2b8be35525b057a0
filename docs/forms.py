"""The files that Celosia reads and writes: what each field holds, and the JSON Schemas for editors and programs."""

from __future__ import annotations

import json
from typing import Any

from markup import cell, markdown

POLICY = """\
# The policy file

A policy says in one TOML file what is read, what each column is, what must hold, what is done, what is measured and where the result
goes. `celosia init data.csv` writes one to start from; [Write a policy](../how-to/policy.md) goes through an example.

An editor that knows TOML (with Taplo, or *Even Better TOML* in VS Code) completes and checks a policy when its first line names the schema;
`celosia init` writes that line:

```toml
#:schema ./{file}
```

The schema is {link}, or, with every method, model, risk, attack, loss and hierarchy that is installed, your own plug-ins too:

```console
$ celosia parts --schema --out {file}
```

A key that a section does not know is refused, and the message says which is meant.
"""

EVIDENCE = """\
# Certificate and private record

What `celosia run` writes beside the data: a certificate for everybody, and a private record for its owner alone. Both have a form with a
version and a JSON Schema for other programs: {links}. In Python they are `certificate_schema()` and `record_schema()` of
`celosia.release.evidence.schemas`.
"""


def schemas() -> dict[str, str]:
    """The JSON schemas, and the pages that explain their fields."""
    from celosia.release.evidence.schemas import SCHEMAS

    forms = {name: make() for name, make in SCHEMAS.items()}
    files = {name: f"{name}-{schema['title'].rsplit(' ', 1)[1]}.json" for name, schema in forms.items()}
    links = {name: f'<a href="../{file}">{file}</a>' for name, file in files.items()}
    policy = forms["policy"]
    blocks = [POLICY.format(file=files["policy"], link=links["policy"]), "## The sections", form_table(policy, policy)]
    blocks += [_section(f"[{key}]", inner, policy) for key, inner in forms_of(policy).items()]
    others = [name for name in forms if name != "policy"]
    evidence = [EVIDENCE.format(links=", ".join(links[name] for name in others))]
    for name in others:
        schema = forms[name]
        evidence.append(f"## {schema['title'].removeprefix('celosia ').capitalize()}\n\n{schema['description']}")
        evidence.append(form_table(schema, schema))
        evidence += [_section(key, inner, schema) for key, inner in forms_of(schema).items()]
    written = {f"schemas/{files[name]}": json.dumps(schema, indent=1) + "\n" for name, schema in forms.items()}
    return {
        **written,
        "policy-file.md": "\n\n".join(blocks) + "\n",
        "evidence-files.md": "\n\n".join(evidence) + "\n",
    }


def _section(heading: str, form: dict[str, Any], schema: dict[str, Any]) -> str:
    return f"### {heading}\n\n{markdown(form['description'])}\n\n{form_table(form, schema)}"


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
