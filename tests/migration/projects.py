"""Projects in the form that ARX's published writer gives them: names of entries and elements, order, separators."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

JAVA = b"\xac\xed\x00\x05sr\x00\x00"
"""How a serialised Java object begins; nobody may need what comes after it."""
QUASI, SENSITIVE, IDENTIFYING, INSENSITIVE = (
    f"{kind}_ATTRIBUTE" for kind in ("QUASI_IDENTIFYING", "SENSITIVE", "IDENTIFYING", "INSENSITIVE")
)


def leaf(name: str, value: object) -> str:
    return f"<{name}>{escape(str(value))}</{name}>\n"


def as_csv(rows: Sequence[Sequence[str]], separator: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def definition(columns: Mapping[str, Mapping[str, Any]], hierarchies: Mapping[str, Any]) -> str:
    """The columns, as ``input/definition.xml`` describes them."""
    text = ""
    for name, facts in columns.items():
        inner = leaf("name", name) + leaf("type", facts["type"]) + leaf("datatype", facts.get("datatype", "String"))
        inner += "".join(leaf(key, facts[key]) for key in ("format", "locale", "response") if key in facts)
        if name in hierarchies:
            inner += leaf("ref", f"hierarchies/{name}.csv")
            inner += leaf("min", facts.get("min", "All")) + leaf("max", facts.get("max", "All"))
        if "function" in facts:
            inner += leaf("microaggregationFunction", facts["function"])
            inner += leaf("microaggregationIgnoreMissingData", "true")
        text += f"<assigment>\n{inner}</assigment>\n"
    return f"<definition>\n{text}</definition>\n"


def config(
    criteria: Sequence[str], limit: object, metric: str, weights: Mapping[str, float], emptied: Sequence[str]
) -> str:
    """The settings, as ``input/config.xml`` has them."""
    weighted = "".join(
        f"<attributeWeight>\n{leaf('attribute', name)}{leaf('weight', weight)}</attributeWeight>\n"
        for name, weight in weights.items()
    )
    return (
        "<config>\n"
        + leaf("suppressTuplesInNonAnonymousOutput", "false")
        + f"<suppressedAttributeTypes>\n{''.join(leaf('type', kind) for kind in emptied)}</suppressedAttributeTypes>\n"
        + leaf("practicalMonotonicity", "false")
        + leaf("relativeMaxOutliers", limit)
        + leaf("metric", metric)
        + f"<attributeWeights>\n{weighted}</attributeWeights>\n"
        + f"<criteria>\n{''.join(leaf('criterion', criterion) for criterion in criteria)}</criteria>\n"
        + "</config>\n"
    )


COLUMNS = {
    "name": {"type": IDENTIFYING},
    "age": {"type": QUASI, "datatype": "Integer"},
    "zip": {"type": QUASI},
    "disease": {"type": SENSITIVE},
    "visits": {"type": INSENSITIVE, "datatype": "Integer"},
}
ROWS = [
    ["name", "age", "zip", "disease", "visits"],
    *(
        [f"P{i}", str(30 + i % 4), ["13053", "13068", "14850"][i % 3], ["flu", "none"][i % 2], str(i % 5)]
        for i in range(60)
    ),
]
HIERARCHIES = {
    "age": [[str(age), f"{age - age % 2}-{age - age % 2 + 1}", "*"] for age in range(30, 34)],
    "zip": [[code, f"{code[:3]}**", "*"] for code in ("13053", "13068", "14850")],
}


def entries(
    columns: Mapping[str, Mapping[str, Any]] = COLUMNS,
    rows: Sequence[Sequence[str]] = ROWS,
    hierarchies: Mapping[str, Sequence[Sequence[str]]] = HIERARCHIES,
    *,
    criteria: Sequence[str] = ("5-anonymity",),
    limit: object = 0.05,
    metric: str = "Loss (0.5/1.0/1.0)",
    weights: Mapping[str, float] | None = None,
    emptied: Sequence[str] = (QUASI,),
    separator: str = ";",
    version: str = "3.8.0",
    title: str = "Patients",
    vocabulary: str = "2.0",
) -> dict[str, bytes]:
    """The entries of a project in the order of the writer."""
    project = leaf("name", title) + leaf("separator", separator) + leaf("escape", '"') + leaf("quote", '"')
    return {
        "metadata.xml": f"<metadata>\n{leaf('version', version)}{leaf('vocabulary', vocabulary)}</metadata>\n".encode(),
        "project.dat": JAVA,
        "project.xml": f"<project>\n{project}{leaf('linebreak', 'UNIX')}</project>\n".encode(),
        "data/input.csv": as_csv(rows, separator),
        "input/config.dat": JAVA,
        "input/config.xml": config(criteria, limit, metric, weights or {}, emptied).encode(),
        "input/definition.xml": definition(columns, hierarchies).encode(),
        **{f"input/hierarchies/{name}.csv": as_csv(levels, separator) for name, levels in hierarchies.items()},
        "filter.dat": JAVA,
    }


def packed(path: Path, content: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file:
        for name, data in content.items():
            file.writestr(name, data)
    return path
