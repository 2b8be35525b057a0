"""Elements of inline SVG: the picture with its text for screen readers, lines of text, the figure with its caption.

Colours are classes, so that a picture follows the theme of its page. Every text is escaped here.
"""

from __future__ import annotations

from html import escape


def svg(
    content: str, size: tuple[float, float], label: str, *, classes: str = "", role: str = "img", attributes: str = ""
) -> str:
    """Return a picture of a size; ``label`` is what a screen reader reads.

    >>> svg('<circle r="1"/>', (10, 20), "a < b")
    '<svg viewBox="0 0 10 20" role="img" aria-label="a &lt; b"><circle r="1"/></svg>'
    """
    opening = f'class="{classes}" ' if classes else ""
    more = f" {attributes}" if attributes else ""
    box = f'viewBox="0 0 {size[0]:g} {size[1]:g}"'
    return f'<svg {opening}{box} role="{role}" aria-label="{escape(label, quote=True)}"{more}>{content}</svg>'


def text(x: float, y: float, content: str, anchor: str = "start", *, classes: str = "", attributes: str = "") -> str:
    """Return a line of text at a place; ``anchor`` is the end of the line that lies there.

    >>> text(3.6, 7, "a & b", "end")
    '<text x="4" y="7" text-anchor="end">a &amp; b</text>'
    """
    more = (f' class="{classes}"' if classes else "") + (f" {attributes}" if attributes else "")
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{more}>{escape(content)}</text>'


def tooltip(content: str) -> str:
    """Return the text that shows while the pointer rests on an element."""
    return f"<title>{escape(content)}</title>"


def figure(picture: str, caption: str, *, legend: str = "", classes: str = "", below: bool = False) -> str:
    """Return a picture with its caption above it, or ``below``.

    >>> figure("<svg/>", "Ages")
    '<figure><figcaption>Ages</figcaption><svg/></figure>'
    """
    opening = f'<figure class="{classes}">' if classes else "<figure>"
    title = f"<figcaption>{escape(caption)}</figcaption>"
    return f"{opening}{legend}{picture}{title}</figure>" if below else f"{opening}{title}{legend}{picture}</figure>"


def turned_text(x: float, y: float, content: str, *, classes: str = "") -> str:
    """Return text that runs upwards, such as the name of a vertical axis."""
    more = f' class="{classes}"' if classes else ""
    turned = f"translate({x:.0f} {y:.0f}) rotate(-90)"
    return f'<text transform="{turned}" text-anchor="middle"{more}>{escape(content)}</text>'
