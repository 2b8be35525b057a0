"""Formulas of the documentation as plain text for a terminal."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text
    from pylatexenc.latexwalker import LatexMacroNode
    from pylatexenc.macrospec import LatexContextDb

_DIGITS = "0123456789+-=()"
_LOW = dict(zip(_DIGITS + "aehijklmnoprstuvxβγρφχ", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ", strict=True))
_HIGH = dict(zip(_DIGITS + "nimTc", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱᵐᵀᶜ", strict=True))
_SPOKEN = {
    "Pr": "Pr",
    "arg": "arg ",
    "ne": " ≠ ",
    "mid": " | ",
    "ln": "ln ",
    "log": "log ",
    "exp": "exp ",
    "sup": "sup ",
}
_BLOCK = re.compile(r"\.\. math::(?P<tex>.*?)(?=\n\S|\Z)", re.DOTALL)
_INLINE = re.compile(r":math:`(?P<tex>[^`]*)`")


def unicode_formula(tex: str) -> str:
    r"""Return a formula as Unicode text: fractions in one line, subscripts and superscripts where Unicode has the
    signs.

    >>> unicode_formula(r"\varepsilon = \ln\frac{1 + q}{1 - q}, \quad \hat p = \frac1n \sum_{i} x_i^2")
    'ε = ln (1 + q)/(1 - q), p̂ = 1/n ∑ᵢ xᵢ²'
    >>> unicode_formula(r"|G_i| \ge k, \qquad h_{ij} \ne x_{v \in T}")
    '|Gᵢ| ≥ k, hᵢⱼ ≠ x_(v ∈ T)'
    """
    text = str(_reader().latex_to_text(f"${' '.join(tex.split())}$"))
    text = re.sub(r"([_^])(\{[^{}]*\}|\S)", _script, text)
    text = text.replace("{", "").replace("}", "").replace("⟦", "{").replace("⟧", "}")
    text = re.sub(r"(?<=[\w)])(?=[∑∏⋂⋃])", " ", text)
    return re.sub(r" +([,;)}])", r"\1", " ".join(text.split()))


def plain_docs(text: str) -> str:
    r"""Return a docstring for a terminal: formulas as text, code without its marks.

    >>> plain_docs("Groups of ``k``.\n\n.. math:: |G_i| \\ge k\n\nAs :class:`~celosia.methods.Noise` and :math:`x^2`.")
    'Groups of k.\n\n    |Gᵢ| ≥ k\n\nAs Noise and x².'
    """
    text = _BLOCK.sub(lambda match: f"    {unicode_formula(match['tex'])}\n", text)
    text = _INLINE.sub(lambda match: unicode_formula(match["tex"]), text)
    text = re.sub(r":\w+:`~?([^`]*)`", lambda match: match[1].rpartition(".")[2], text)
    return re.sub(r"\n{3,}", "\n\n", text.replace("``", ""))


def _script(match: re.Match[str]) -> str:
    """Return a subscript or superscript, in small signs where Unicode has them."""
    sign, inner = match[1], match[2].strip("{}").strip()
    small = _LOW if sign == "_" else _HIGH
    if inner in {"'", "*", "∗"}:
        return inner
    if inner and all(letter in small for letter in inner.replace(" ", "")):
        return "".join(small[letter] for letter in inner.replace(" ", ""))
    return f"{sign}{inner}" if len(inner) == 1 else f"{sign}({inner})"


@functools.cache
def _reader() -> _Formula:
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db
    from pylatexenc.latexwalker import get_default_latex_context_db as known_macros
    from pylatexenc.macrospec import std_macro

    fractions = ["frac", "tfrac", "dfrac"]
    walker = known_macros()
    shapes = {**dict.fromkeys([*fractions, "binom"], "{{"), "operatorname": "{"}
    walker.add_context_category("ours", [std_macro(name, shape) for name, shape in shapes.items()], prepend=True)
    own = [MacroTextSpec(name, simplify_repl=_fraction) for name in fractions]
    own += [MacroTextSpec(name, simplify_repl=text) for name, text in _SPOKEN.items()]
    own += [
        MacroTextSpec("binom", simplify_repl="C(%s, %s)"),
        MacroTextSpec("operatorname", simplify_repl="%s "),
        MacroTextSpec("{", simplify_repl="⟦"),
        MacroTextSpec("}", simplify_repl="⟧"),
        MacroTextSpec("lVert", simplify_repl="‖"),
        MacroTextSpec("rVert", simplify_repl="‖"),
    ]
    context = get_default_latex_context_db()
    context.add_context_category("ours", own, prepend=True)
    reader = LatexNodes2Text(latex_context=context, keep_braced_groups=True, keep_braced_groups_minlen=1)
    return _Formula(reader, walker)


class _Formula:
    """Reads a formula with the macros of both sides."""

    def __init__(self, reader: LatexNodes2Text, walker: LatexContextDb) -> None:
        self.reader, self.walker = reader, walker

    def latex_to_text(self, tex: str) -> str:
        from pylatexenc.latexwalker import LatexWalker

        nodes = LatexWalker(tex, latex_context=self.walker).get_latex_nodes()[0]
        return str(self.reader.nodelist_to_text(nodes))


def _fraction(node: LatexMacroNode, l2tobj: LatexNodes2Text) -> str:
    """Return a fraction in one line, with brackets around parts of more than one term."""
    above, below = (l2tobj.nodelist_to_text([part]).strip() for part in node.nodeargd.argnlist)
    return f" {_in_brackets(above)}/{_in_brackets(below)} "


def _in_brackets(text: str) -> str:
    inner = text.removeprefix("{").removesuffix("}").strip() if text.startswith("{") else text
    simple = re.fullmatch(r"[\w'̄̂̃]+([_^](\{[^{}]*\}|\S))*|\|[^|]*\||\d+", inner)
    return inner if simple else f"({inner})"
