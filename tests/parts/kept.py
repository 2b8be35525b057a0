"""What every part says of its parameters: defaults, ranges, choices, and the facts that others rely on.

A policy leaves out most parameters. A default or a limit that moves changes what it means, and nobody sees it. So what
was published is kept in ``kept.json``, and ``test_kept.py`` compares.

usage: python -m tests.parts.kept    (after a change that is meant; look at the difference)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from celosia.parts import CountsRows, Formal, Method, Model, Part, explored_values, find, parts

KEPT = Path(__file__).with_name("kept.json")
KINDS = ("method", "model", "risk", "loss", "mechanism")
FACTS = ("rows", "memory", "persons", "bounded", "direction", "scope")
HINTS = ("monotone_generalisation", "monotone_suppression")
FOR_PEOPLE = {"title", "description", "examples"}


def said(cls: type[Part]) -> dict[str, Any]:
    """The parameters of a part with their defaults and limits, then its facts; as JSON holds them."""
    schema = cls.model_json_schema()
    told = {name: _limits(field) for name, field in schema.get("properties", {}).items()}
    facts = {f"({name})": getattr(cls, name, None) for name in FACTS}
    if issubclass(cls, Method):
        facts |= {"(formal)": issubclass(cls, Formal), "(explored)": explored_values(cls)}
    if issubclass(cls, Model):
        facts |= {f"({name})": getattr(cls, name, False) for name in HINTS}
    if isinstance(facts["(persons)"], CountsRows):
        facts["(persons)"] = "rows"
    plain = {name: fact for name, fact in facts.items() if fact is not None and not isinstance(fact, property)}
    return json.loads(json.dumps({**told, **plain}, default=str))


def _limits(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _limits(value) for key, value in schema.items() if key not in FOR_PEOPLE}
    return [_limits(value) for value in schema] if isinstance(schema, list) else schema


if __name__ == "__main__":
    every = {f"{kind} {name}": said(find(kind, name)) for kind in KINDS for name in sorted(parts(kind))}
    lines = [
        f"{json.dumps(part)}: {{\n  " + ",\n  ".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in entries.items())
        for part, entries in every.items()
    ]
    KEPT.write_text("{\n" + " },\n".join(lines) + " }\n}\n", encoding="utf-8")
