"""How Sphinx builds the documentation: `make docs`. The pages are Markdown (MyST), the look is that of the report."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tools")]

project = "Celosia"
html_title = "Celosia"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton"]
exclude_patterns = ["assets/*.md"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # "…" stands in examples where a reader puts a value
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_logo = html_favicon = "assets/celosia.svg"
html_static_path = ["assets/style"]
html_css_files = ["extra.css"]
html_extra_path = ["reference/schemas"]  # the JSON Schemas, at addresses that stay
html_show_sourcelink = html_copy_source = html_show_sphinx = False
html_math_renderer = "mathml"
pygments_style, pygments_dark_style = "a11y-high-contrast-light", "a11y-high-contrast-dark"


def colours(theme: str) -> dict[str, str]:
    """The colours and the type of the report and the studio, in the names that the theme has for them."""
    given = tomllib.loads((HERE.parent / "src/celosia/show/look/tokens.toml").read_text("utf-8"))
    token = given["same"] | given[theme]
    return {
        "font-stack": token["sans"],
        "font-stack--monospace": token["mono"],
        "color-brand-primary": token["accent"],
        "color-brand-content": token["accent"],
        "color-brand-visited": token["accent"],
        "color-background-primary": token["paper"],
        "color-background-secondary": token["panel"],
        "color-background-hover": token["wash"],
        "color-background-border": token["line"],
        "color-foreground-primary": token["ink"],
        "color-foreground-secondary": token["soft"],
        "color-foreground-muted": token["soft"],
        "color-foreground-border": token["edge"],
        "color-code-background": token["panel"],
        "color-code-foreground": token["ink"],
        "color-inline-code-background": token["panel"],
        "color-sidebar-link-text": token["ink"],
        "color-sidebar-caption-text": token["soft"],
        "color-toc-item-text": token["soft"],
        "color-api-name": token["ink"],
        "color-api-pre-name": token["soft"],
        "color-api-overall": token["soft"],
    }


html_theme_options = {"light_css_variables": colours("light"), "dark_css_variables": colours("dark")}


def _formula(self: Any, node: nodes.Element) -> None:
    display = "block" if isinstance(node, nodes.math_block) else "inline"
    markup = convert(" ".join(node.astext().split()), display=display)
    self.body.append(f'<div class="formula">{markup}</div>' if display == "block" else markup)
    raise nodes.SkipNode


def _tried(_app: Any, page: str, source: list[str]) -> None:
    if page == "promises/tried":
        from build import noticed, tried

        source[0] = source[0].replace("{{ tried }}", tried()).replace("{{ noticed }}", noticed())


def _reachable(_app: Any, _page: str, _template: str, context: dict[str, Any], _tree: Any) -> None:
    """What scrolls sideways can be reached by keyboard, and headings of the navigation have a level."""
    body = context.get("body", "")
    for start in ("<pre", '<div class="formula"', '<div class="table-wrapper'):
        body = body.replace(start, f'{start.split()[0]} tabindex="0"{start.removeprefix(start.split()[0])}')
    context["body"] = body
    navigation = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = navigation.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: Any) -> None:
    """Write the generated pages, and let formulas become MathML: nothing is fetched from elsewhere."""
    from build import build

    app.add_html_math_renderer("mathml", (_formula, None), (_formula, None))
    app.connect("source-read", _tried)
    app.connect("html-page-context", _reachable, priority=900)  # after the theme
    build()
