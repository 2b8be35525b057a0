"""Statistics of a query log for people: tables with bars in the terminal, and an HTML page with charts."""

from __future__ import annotations

from pathlib import Path

from celosia.consent.sql.query_log import LogFacts
from celosia.show.blocks import Block

WIDTH, MOST = 24, 20
"""Characters of the longest bar, and lines of a table; the rest is counted."""


def blocks(facts: LogFacts, most: int = MOST) -> list[Block]:
    """Return tables of the most used tables, fields and pairs of fields, with the number of queries of each.

    >>> from celosia.consent.sql.query_log import log_facts
    >>> shown = blocks(log_facts(["SELECT a FROM t", "SELECT a, b FROM t", "SELECT c FROM u"]))
    >>> [(block.title, block.rows[0]) for block in shown][0]
    ('Tables', ('t', '2', '67 %', '████████████████████████'))
    """
    together = tuple((f"{field} + {other}", n) for field, other, n in facts.together)
    kinds = (
        ("Tables", "table", facts.tables),
        ("Fields", "field", facts.fields),
        ("Fields published together", "fields", together),
    )
    shown = []
    for title, noun, counts in kinds:
        if counts:
            more = f" (the first {most} of {len(counts)})" if len(counts) > most else ""
            rows = [_row(name, n, facts, counts[0][1]) for name, n in counts[:most]]
            shown.append(Block(title + more, (noun, "queries", "of all", ""), rows))
    return shown


def write(facts: LogFacts, path: Path) -> None:
    """Write an HTML page with the charts and the tables; it needs no network."""
    from celosia.data.io.atomic import replace_file
    from celosia.release.report.environment import templates
    from celosia.show.charts import bars

    read = max(facts.queries - facts.unread, 1)
    charts = [
        bars(title, [name.rpartition(".")[2] if "." in name else name for name, _ in counts[:MOST]],
             [("share of the queries", [n / read for _, n in counts[:MOST]])])
        for title, counts in (("Tables that queries use", facts.tables), ("Fields that queries use", facts.fields))
        if counts
    ]  # fmt: skip
    template = templates().from_string(_PAGE)
    html = template.render(
        heading="What past queries asked for", code="en", facts=facts, charts=charts, blocks=blocks(facts, 500)
    )
    with replace_file(path) as draft:
        draft.write_text(html, encoding="utf-8")


_PAGE = """{% extends "base.html.j2" %}{% block body %}
<h1>{{ heading }}</h1>
<dl class="facts"><div><dt>queries</dt><dd>{{ facts.queries }}</dd></div><div><dt>could not be read</dt><dd>{{ facts.unread }}</dd></div><div><dt>tables</dt><dd>{{ facts.tables | length }}</dd></div><div><dt>fields</dt><dd>{{ facts.fields | length }}</dd></div></dl>
{% for chart in charts %}{{ chart | safe }}{% endfor %}
{% for block in blocks %}<h2 id="t{{ loop.index }}">{{ block.title }}</h2><div class="scroll" tabindex="0" role="region" aria-labelledby="t{{ loop.index }}"><table><thead><tr>{% for name in block.headings[:3] %}<th scope="col"{% if not loop.first %} class="n"{% endif %}>{{ name }}</th>{% endfor %}</tr></thead><tbody>{% for row in block.rows %}<tr><th scope="row">{{ row[0] }}</th><td class="n">{{ row[1] }}</td><td class="n">{{ row[2] }}</td></tr>{% endfor %}</tbody></table></div>{% endfor %}
{% endblock %}"""  # noqa: E501


def _row(name: str, n: int, facts: LogFacts, longest: int) -> tuple[str, str, str, str]:
    share = 100 * n / max(facts.queries - facts.unread, 1)
    return name, str(n), f"{share:.0f} %", "█" * max(1, round(WIDTH * n / longest))
