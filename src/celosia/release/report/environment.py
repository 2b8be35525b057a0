"""Jinja environment of all pages and reports."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from celosia.release.report.texts import HOME
from celosia.show.look import light, tokens

if TYPE_CHECKING:
    import jinja2


@functools.cache
def templates() -> jinja2.Environment:
    """Return the environment of the page templates, which escapes everything that is not marked as markup."""
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader(HOME, "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.globals["tokens"] = Markup(tokens())  # noqa: S704 - a style sheet of ours
    environment.globals["light"] = Markup(light())  # noqa: S704
    return environment
