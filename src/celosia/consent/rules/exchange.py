"""Catalogues as XML: a canonical form, and the form that the thesis prints, which is not well-formed XML.

The reader is lenient: attributes without quotes or with typographic ones, a space after ``<``, a ``DESCRIPTION``
closed by another opening tag, under the inference or under the rule. It expands no entities and reads no document
types, so a hostile file can do no harm beyond its size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr, unescape

from celosia import files
from celosia.consent.rules.rules import Catalogue, Rule, catalogue_of, read_toml, write_toml
from celosia.errors import DataError

LONGEST = 2_000_000
# A value is quoted, opened by a straight and closed by a typographic quotation mark, or bare.
_VALUE = r"(?:\"([^\"<]*)\"|'([^'<]*)'|[\"“]([^\"“”<>]*)[\"”]|([^\s\"'<>]+))"
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*" + _VALUE)
_BARE = re.sub(r"\((?=\[)|(?<=[*+])\)", "", _VALUE)
_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z_][\w.-]*)((?:\s+[\w:-]+\s*=\s*" + _BARE + r")*)\s*(/?)\s*>")
_SKIP = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)
_QUOTED = {"&quot;": '"', "&apos;": "'", "&#10;": "\n", "&#9;": "\t", "&#13;": "\r"}
_PREFIX = "inference_"


class _Node:
    """Element with its attributes, text and children."""

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.name, self.attributes = name, attributes
        self.text = ""
        self.children: list[_Node] = []

    def all(self, name: str) -> Iterator[_Node]:
        """Iterate over the children with a name."""
        return (child for child in self.children if child.name == name)


def load(path: str | Path) -> Catalogue:
    """Read a catalogue from a file in TOML (``.toml``) or XML (``.xml``)."""
    path = Path(path)
    try:
        text = files.text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the catalogue {str(path)!r} ({type(error).__name__}).") from None
    if path.suffix.lower() == ".xml":
        return read_xml(text)
    return read_toml(text)


def read_xml(text: str) -> Catalogue:
    """Read a catalogue from the canonical form or from that of the thesis.

    >>> catalogue = read_xml('''<INFERENCE_RESIDENCE> <RULE behavior="active"> <DESCRIPTION> Where I live <DESCRIPTION>
    ... <TABLE name = STUDENT> <FIELD>TOWN< /FIELD> < /TABLE> </RULE> </INFERENCE_RESIDENCE>''')
    >>> catalogue["residence"].rules[0].tables
    {'STUDENT': ('TOWN',)}
    """
    if len(text) > LONGEST:
        raise DataError(f"the file has {len(text)} characters; at most {LONGEST} are read.")
    root = _tree(text)
    inferences = [node for node in _walk(root) if node.name == "inference" or node.name.startswith(_PREFIX)]
    if not inferences:
        raise DataError("the file has no inference: an element <inference id=…> or <INFERENCE_…>.")
    data: dict[str, object] = {"inferences": [_inference(node) for node in inferences]}
    classes = {n.attributes.get("id", ""): n.text.strip() for n in _walk(root) if n.name == "category"}
    if classes:
        data["taxonomy"] = classes
    return catalogue_of(data)


def write_xml(catalogue: Catalogue) -> str:
    """Return the catalogue in the canonical form."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<catalogue>"]
    lines += [f"  <category id={_quote(k)}>{escape(v)}</category>" for k, v in catalogue.taxonomy.items()]
    for inference in catalogue.inferences:
        category = f" category={_quote(inference.category)}" if inference.category is not None else ""
        lines.append(f'  <inference id={_quote(inference.id)}{category} extra="{inference.extra}">')
        for tag, sentences in (("description", inference.description), ("example", inference.example)):
            lines += [f"    <{tag} lang={_quote(k)}>{escape(v)}</{tag}>" for k, v in sentences.items()]
        for query in inference.realisations:
            note = f" note={_quote(query.note)}" if query.note else ""
            lines.append(f"    <realisation dialect={_quote(query.dialect)}{note}>{escape(query.sql)}</realisation>")
        for rule in inference.rules:
            lines += _rule_lines(rule)
        lines.append("  </inference>")
    return "\n".join([*lines, "</catalogue>", ""])


def save(catalogue: Catalogue, path: Path) -> None:
    """Write a catalogue atomically as XML (``.xml``) or TOML (any other name)."""
    from celosia.data.io.atomic import replace_file

    text = write_xml(catalogue) if path.suffix.lower() == ".xml" else write_toml(catalogue)
    with replace_file(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_thesis_xml(catalogue: Catalogue, language: str = "es") -> str:
    """Return the catalogue in the form of the thesis, well formed; it has no thresholds."""
    lines = []
    for inference in catalogue.inferences:
        tag = "INFERENCE_" + re.sub(r"[^A-Z0-9_]", "_", inference.id.upper())
        lines += [f"<{tag}>", f"  <DESCRIPTION>{escape(inference.sentence(language))}</DESCRIPTION>"]
        for rule in inference.rules:
            lines.append(f'  <RULE behavior="{"active" if rule.active else "inactive"}">')
            for name, fields in rule.tables.items():
                lines.append(f"    <TABLE name={_quote(name)}>")
                lines += [f"      <FIELD>{escape(field)}</FIELD>" for field in fields]
                lines.append("    </TABLE>")
            if rule.values:
                inner = "".join(f"<{v.field}>{escape(v.literal)}</{v.field}>" for v in rule.values)
                lines.append(f"    <VALUE>{inner}</VALUE>")
            lines.append("  </RULE>")
        lines.append(f"</{tag}>")
    return "\n".join([*lines, ""])


def _rule_lines(rule: Rule) -> list[str]:
    head = f'behavior="{"active" if rule.active else "inactive"}" minimum="{rule.minimum}"'
    head += f' threshold="{rule.threshold}"' if rule.threshold is not None else ""
    head += f" note={_quote(rule.note)}" if rule.note else ""
    lines = [f"    <rule {head}>"]
    for name, fields in rule.tables.items():
        inner = "".join(f"<field>{escape(field)}</field>" for field in fields)
        lines.append(f"      <table name={_quote(name)}>{inner}</table>")
    for v in rule.values:
        table = f" table={_quote(v.table)}" if v.table is not None else ""
        lines.append(
            f"      <value field={_quote(v.field)}{table} op={_quote(v.op)} scope={_quote(v.scope)}>"
            f"{escape(v.literal)}</value>"
        )
    return [*lines, "    </rule>"]


def _quote(text: str) -> str:
    return quoteattr(text, {'"': "&quot;"})


def _tree(text: str) -> _Node:
    """Parse a text; an element that is not closed ends with its parent."""
    text = _SKIP.sub("", text)
    root = _Node("", {})
    stack = [root]
    at = 0
    for tag in _TAG.finditer(text):
        stack[-1].text += unescape(text[at : tag.start()], _QUOTED)
        at = tag.end()
        closing, name, rest, empty = tag.group(1), tag.group(2).lower(), tag.group(3), tag.group(4)
        if closing:
            names = [node.name for node in stack]
            if name in names[1:]:
                del stack[len(names) - 1 - names[::-1].index(name) :]
        elif name == "description" and stack[-1].name == "description":
            stack.pop()  # the printed samples close a description by opening it again
        else:
            attributes = _ATTRIBUTE.findall(rest)
            node = _Node(name, {key.lower(): unescape("".join(parts), _QUOTED) for key, *parts in attributes})
            node.attributes["_spelled"] = tag.group(2)
            stack[-1].children.append(node)
            if not empty:
                stack.append(node)
        if len(stack) > 64:
            raise DataError("the file is nested deeper than 64 levels: it is no catalogue of inferences.")
    return root


def _walk(node: _Node) -> Iterator[_Node]:
    for child in node.children:
        yield child
        yield from _walk(child)


def _inference(node: _Node) -> dict[str, object]:
    name = node.attributes.get("id") or node.name.removeprefix(_PREFIX)
    rules = list(node.all("rule"))
    described = [*node.all("description"), *(d for rule in rules for d in rule.all("description"))]
    out: dict[str, object] = {
        "id": name,
        "description": {d.attributes.get("lang", "es"): d.text.strip() for d in reversed(described)},
        "example": {e.attributes.get("lang", "es"): e.text.strip() for e in node.all("example")},
        "realisations": [
            {
                "sql": r.text.strip(),
                "dialect": r.attributes.get("dialect", "postgres"),
                "note": r.attributes.get("note", ""),
            }
            for r in node.all("realisation")
        ],
        "rules": [_rule(rule) for rule in rules],
    }
    return out | {key: node.attributes[key] for key in ("category", "extra") if key in node.attributes}


def _rule(node: _Node) -> dict[str, object]:
    tables: dict[str, list[str]] = {}
    for table in node.all("table"):
        tables.setdefault(table.attributes.get("name", ""), []).extend(f.text.strip() for f in table.all("field"))
    values = []
    for value in node.all("value"):
        if "field" in value.attributes:
            kept = ("field", "table", "op", "scope")
            spec = {key: value.attributes[key] for key in kept if key in value.attributes}
            values.append({**spec, "literal": value.text})
        else:  # the thesis: the field names are the tags
            values += [{"field": c.attributes["_spelled"], "literal": c.text.strip()} for c in value.children]
    out: dict[str, object] = {"tables": tables, "values": values}
    out["active"] = node.attributes.get("behavior", "active").strip().lower() != "inactive"
    return out | {key: node.attributes[key] for key in ("threshold", "minimum", "note") if key in node.attributes}
