"""The HTML report of the experiment: one file, no script, opens offline."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from celosia.experiments.fuzzy_privacy.comparison import (
    CRITERIA,
    METHODS,
    NAMES,
    PRINTED_COUNTS,
    PRINTED_DUEL,
    PRINTED_MEANS,
    Match,
    Mismatch,
)
from celosia.experiments.fuzzy_privacy.experiment import COLUMNS, Results

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:1180px;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.6rem}h2{margin-top:2.2rem;font-size:1.25rem}
table{border-collapse:collapse;margin:.8rem 0;font-size:13px}
th,td{padding:.15rem .5rem;text-align:right;border-bottom:1px solid #e4e4e4}
th{background:#f6f6f6;position:sticky;top:0}td.l,th.l{text-align:left}td.off{background:#fde9d9}
.plots{display:grid;grid-template-columns:repeat(auto-fill,minmax(320px,1fr))}
.title{font:600 13px system-ui}.axis{font:11px system-ui;fill:#555}.note{color:#555}
.scroll{overflow:auto;max-height:70vh}
"""


def page(
    results: dict[str, dict[str, Results]],
    found: list[Match],
    wrong: list[Mismatch],
    summaries: dict[str, Any],
    artefacts: dict[str, Any],
    plots: dict[str, list[str]],
) -> str:
    """The whole report."""
    body = [
        _intro(found, wrong),
        _match_table(found),
        _artefact_table(artefacts),
        *(_summary_tables(block, summaries) for block in METHODS),
        _duel_table(summaries["duel"]),
        *(f'<h2>{escape(title)}</h2><div class="plots">{"".join(svgs)}</div>' for title, svgs in plots.items()),
        _mismatch_table(wrong),
        *(_annex(block, results[block]) for block in METHODS),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Fuzzy privacy, reproduced</title>'
        f"<style>{STYLE}</style></head><body>{''.join(body)}</body></html>"
    )


def _intro(found: list[Match], wrong: list[Mismatch]) -> str:
    compared, equal = sum(m.compared for m in found), sum(m.equal for m in found)
    return f"""<h1>Fuzzy privacy: the experiment of 2013, run again</h1>
<p>55 pairs of attributes of the census reference file, six codings each, judged by k-anonymity, records at risk,
Q-anonymity, l-diversity and t-closeness of two sensitive columns (PEARNVAL and WSALVAL; the source prints the names
PTOTVAL and TAXINC, which do not belong to these columns). Of {compared} printed numbers {equal} come out in the
compatible mode; each of the other {len(wrong)} is listed with its reason.</p>
<p><b>Compatible</b> repeats what the source ran: recoding drops the records at the minimum and pairs the shortened list
with the first entries of the full sensitive column; a class is reduced to its set of values; t is the <i>smallest</i>
distance; late cells are skipped when earlier ones are empty. k-means and Gustafson–Kessel started at random in the
source, so the compatible mode takes the local optimum (and, for independent k-means, the numbering of the clusters)
that lies nearest to the printed numbers: for these codings a match says that the printed numbers can arise, not that
they must.</p>
<p><b>Corrected</b> keeps records aligned, counts frequencies and σ-counts, takes the <i>largest</i> distance to the
whole table, and the best optimum found. The codings
are the same, the recoding still loses the records at the minimum.</p>"""


def _match_table(found: list[Match]) -> str:
    rows = [
        (
            m.block,
            f"{NAMES[m.column.split('_')[0]]}",
            m.column.split("_")[1],
            f"{m.equal}/{m.compared}",
            _shown(m.largest),
        )
        for m in found
    ]
    head = ("coding", "method", "criterion", "equal", "largest difference")
    note = "Equal: exactly; t of crisp codings within 0.000051, of fuzzy ones within 0.00006 (it has four decimals)."
    return f'<h2>Match with the printed tables</h2><p class="note">{note}</p>' + _table(head, rows, left=2)


def _artefact_table(artefacts: dict[str, Any]) -> str:
    rows = [
        (block, NAMES[method], f"{both['largest']:.4f}", f"{both['smallest']:.4f}")
        for block, methods in artefacts.items()
        for method, both in methods.items()
    ]
    text = """<h2>Why fuzzy codings looked ten times closer</h2>
<p>t-closeness is defined by the <i>worst</i> block or individual. The source takes the best one: the smallest of 1080
individual mixtures is set against the smallest of three blocks. Measured by its definition, the fuzzy codings are about
as close as the crisp ones; the gain is an artefact of the minimum. Means over the 55 pairs, PEARNVAL:</p>"""
    return text + _table(("coding", "method", "largest distance (t)", "smallest distance"), rows, left=2)


def _summary_tables(block: str, summaries: dict[str, Any]) -> str:
    methods = METHODS[block]
    number = {"independent": ("4.2", "4.3"), "joint": ("4.5", "4.6")}[block]
    versions = ("printed", "compatible", "corrected")
    counts, averages = [], []
    for criterion in CRITERIA:
        if criterion not in summaries[block]:
            continue
        facts = summaries[block][criterion]
        if criterion in PRINTED_COUNTS[block]:
            as_printed = PRINTED_COUNTS[block][criterion]
            counts.append((criterion, _trio(as_printed), *(_trio(facts[v]["best"]) for v in versions)))
        as_mean = PRINTED_MEANS[block].get(criterion)
        averages.append(
            (
                criterion,
                " · ".join(_pair(p) for p in as_mean) if as_mean else "",
                *(" · ".join(_pair(p) for p in facts[v]["mean"]) for v in versions),
            )
        )
    order = " / ".join(NAMES[m] for m in methods)
    head = ("criterion", "as printed", "from the printed annex", "compatible", "corrected")
    return (
        f"<h2>Table {number[0]}: how often each method is best ({block} coding)</h2>"
        f"<p class='note'>{order}; ties count for each.</p>"
        + _table(head, counts, left=1)
        + f"<h2>Table {number[1]}: mean and mean distance to the best ({block} coding)</h2><p class='note'>{order}</p>"
        + _table(head, averages, left=1)
    )


def _duel_table(duel: dict[str, Any]) -> str:
    rows = [
        (c, _trio(PRINTED_DUEL[c]), *(_trio(v[n]) for n in ("printed", "compatible", "corrected")))
        for c, v in duel.items()
    ]
    head = ("criterion", "as printed", "from the printed annex", "compatible", "corrected")
    return "<h2>Table 4.7: l of joint k-means / fuzzy c-means</h2>" + _table(head, rows, left=1)


def _mismatch_table(wrong: list[Mismatch]) -> str:
    rows = [
        (m.block, f"({m.pair[0]}, {m.pair[1]})", m.column, _shown(m.printed), _shown(m.got), m.reason) for m in wrong
    ]
    head = ("coding", "pair", "column", "printed", "compatible", "reason")
    return f'<h2>Every mismatch</h2><div class="scroll">{_table(head, rows, left=3, last_left=True)}</div>'


def _annex(block: str, versions: dict[str, Results]) -> str:
    columns = list(next(iter(versions["printed"].values())))
    head = ("pair", "columns", *columns)
    rows = []
    for pair, printed in versions["printed"].items():
        cells = [_annex_cell(c, printed, versions["compatible"][pair], versions["corrected"][pair]) for c in columns]
        names = f"{COLUMNS[pair[0] - 1]} × {COLUMNS[pair[1] - 1]}"
        rows.append(f'<tr><td class="l">({pair[0]}, {pair[1]})</td><td class="l">{names}</td>{"".join(cells)}</tr>')
    top = "".join(f"<th>{escape(h)}</th>" for h in head)
    return (
        f"<h2>Annex: {block} coding, printed / compatible / corrected</h2>"
        f'<div class="scroll"><table><tr>{top}</tr>{"".join(rows)}</table></div>'
    )


def _annex_cell(column: str, *versions: dict[str, float | None]) -> str:
    printed, compatible, corrected = (_shown(v[column]) for v in versions)
    off = "" if printed == compatible else ' class="off"'
    return f"<td{off}>{printed}<br>{compatible}<br><i>{corrected}</i></td>"


def _table(head: Sequence[str], rows: Iterable[Sequence[Any]], left: int, *, last_left: bool = False) -> str:
    def cell(tag: str, i: int, value: Any) -> str:
        side = ' class="l"' if i < left or (last_left and i == len(head) - 1) else ""
        return f"<{tag}{side}>{escape(str(value))}</{tag}>"

    top = "".join(cell("th", i, h) for i, h in enumerate(head))
    body = "".join("<tr>" + "".join(cell("td", i, v) for i, v in enumerate(row)) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _shown(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:g}" if float(value).is_integer() else f"{value:.4f}"


def _trio(values: Sequence[int | None]) -> str:
    return " / ".join("–" if v is None else str(v) for v in values)


def _pair(pair: tuple[float, float] | None) -> str:
    if pair is None:
        return "–"
    digits = 4 if pair[0] < 1 else 2
    return f"{pair[0]:.{digits}f} ({pair[1]:.{digits}f})"
