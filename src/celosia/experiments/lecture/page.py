"""The page of the demonstrations: one table of printed numbers, one section per attack; it opens offline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celosia.experiments.lecture.claims import Claim

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Differential privacy, run again</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem; color-scheme: light
dark; }
table { border-collapse: collapse; } th, td { border: 1px solid #777; padding: .25rem .5rem; text-align: left;
vertical-align: top; }
caption { text-align: left; padding: .3rem 0; }
</style></head><body><main>
<h1>Differential privacy, run again</h1>
<p>{{ claims|length }} printed numbers were computed again, {{ claims|selectattr("agrees")|list|length }} come out;
the others are explained. Noise is new in every run.</p>
<table><caption>What the sources print, and what comes out</caption>
<thead><tr><th scope="col">What</th><th scope="col">Printed</th><th scope="col">Found</th><th scope="col">Agrees</th>
<th scope="col">Note</th></tr></thead>
<tbody>{% for c in claims %}<tr><td>{{ c.what }}</td><td>{{ c.printed }}</td><td>{{ c.found }}</td>
<td>{{ "yes" if c.agrees else "no" }}</td><td>{{ c.note }}</td></tr>{% endfor %}</tbody></table>
{% for story in stories %}<section aria-labelledby="s{{ loop.index }}">
<h2 id="s{{ loop.index }}">{{ story.name|capitalize }}</h2>
<p>{{ story.story }}</p><dl>{% for key, value in story.items() if key not in ("name", "story", "why") %}
<dt><strong>{{ key }}</strong></dt><dd>{{ value }}</dd>{% endfor %}</dl><p>Why: {{ story.why }}.</p></section>
{% endfor %}</main></body></html>
"""


def page(claims: Sequence[Claim], stories: Sequence[dict[str, Any]]) -> str:
    """Render the page."""
    import jinja2

    return str(jinja2.Environment(autoescape=True).from_string(_PAGE).render(claims=claims, stories=stories))
