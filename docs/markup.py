"""Docstrings as Markdown: formulas become MathML, examples code."""

from __future__ import annotations

import re

from latex2mathml.converter import convert


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
    return f'\n<div class="formula">{convert(_flat(match.group(1)), display="block")}</div>\n\n'


def _flat(latex: str) -> str:
    return " ".join(latex.split())
