"""Turns the facts of a release into a page."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from celosia.parts import grammar
from celosia.release.report.facts import BINS, SMALLEST, THRESHOLDS, Classes, classes_of, columns_of, internal_of, share
from celosia.show.charts import bars, number
from celosia.show.look import LANGUAGES, texts, tokens

if TYPE_CHECKING:
    import jinja2
    import polars as pl

    from celosia.release.evidence import Release
    from celosia.release.measuring import Finding
    from celosia.table.changes import ColumnChange

HOME = "celosia.release.report"
Edition = Literal["external", "internal"]


@functools.cache
def words(language: str) -> dict[str, Any]:
    """The texts of a language, with what each part is (``meanings``, by kind and name) where that is not English."""
    if language not in LANGUAGES:
        from celosia.errors import UnknownName

        raise UnknownName.of("language", language, LANGUAGES)
    meanings = {} if language == "en" else texts(HOME, f"parts.{language}")  # English stands in the docstrings
    return texts(HOME, language) | {"meanings": meanings}


@functools.cache
def templates() -> jinja2.Environment:
    """The page templates; everything is escaped unless it is marked as markup."""
    import jinja2
    from markupsafe import Markup

    loader = jinja2.PackageLoader(HOME, "templates")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined)
    environment.globals["tokens"] = Markup(tokens())  # noqa: S704 - a style sheet of ours
    return environment


def render(release: Release, *, edition: Edition, language: str = "en") -> str:
    """The report of a release. The external edition holds no value of the original data."""
    from markupsafe import Markup

    w = words(language)
    internal = edition == "internal"
    formal = "formal" in release.certificate and not internal
    columns = columns_of(release, internal=internal)
    before = None if formal else classes_of(release.original)
    after = classes_of(release.comparison.protected)
    verdict, style = _verdict(release, w)
    inside = internal_of(release) if internal else None
    return (
        templates()
        .get_template("report.html.j2")
        .render(
            w=w,
            code=language,
            heading=f"{w['title']}: {release.certificate['release']['file']}",
            c=release.certificate,
            internal=internal,
            formal=formal,
            verdict=verdict,
            verdict_class=style,
            requirements=_requirements(release, w, formal=formal),
            quasi=release.table.schema.quasi,
            sensitive=release.table.schema.sensitive,
            size_chart=Markup(_size_chart(before, after, w, internal=internal)),  # noqa: S704
            risk_rows=_risk_rows(before, after, w, internal=internal),
            further=[
                _further(f, w)
                for f in (*release.assessment.risks, *release.comparison.risks)
                if f.part.name != "prosecutor"
            ],
            losses=[_loss(f, w) for f in release.comparison.losses],
            columns=columns,
            changes=[_change(change, w, internal=internal) for change in release.changes],
            searches=_searches(release, w),
            column_charts=[Markup(chart) for col in columns for chart in _column_charts(col, w, internal=internal)],  # noqa: S704
            steps=[_step(step, w) for step in release.certificate["steps"]],
            limits=_limits(release, w),
            checking=_checking(release.certificate, w),
            stem=release.certificate["release"]["file"].split(".")[0],
            share=lambda x: number(x, percent=True),
            counted=functools.partial(_counted, internal=internal),
            lattices=[_lattice(nodes) for s in release.table.secrets if (nodes := s["method"].searched(s)) is not None],
            smallest=Markup(_frame(inside.smallest, w)) if inside else "",  # noqa: S704
            homogeneous=Markup(_frame(inside.homogeneous, w)) if inside else "",  # noqa: S704
            risky=Markup(_frame(inside.risky, w)) if inside else "",  # noqa: S704
        )
    )


def tables_page(
    heading: str,
    tables: Sequence[Mapping[str, Any]],
    *,
    verdict: str = "",
    good: bool = True,
    language: str = "en",
) -> str:
    """A page of tables: comparisons, verifications, certificates."""
    template = templates().get_template("table.html.j2")
    style = "met" if good else "unmet"
    return template.render(
        heading=heading, tables=tables, verdict=verdict, verdict_class=style, code=language, w=words(language)
    )


def meaning(part: Any, w: Mapping[str, Any]) -> str:
    """What a part is, in the language of the report; a part of another package is told in English."""
    translated: str | None = w["meanings"].get(part.kind, {}).get(part.name)
    return translated or part.summary().replace("``", "")


def _verdict(release: Release, w: Mapping[str, Any]) -> tuple[str, str]:
    if not release.assessment.models:
        return w["verdict_none"], "neutral"
    return (w["verdict_met"], "met") if release.holds else (w["verdict_unmet"], "unmet")


def _requirements(release: Release, w: Mapping[str, Any], *, formal: bool) -> list[dict[str, Any]]:
    rows = []
    for earlier, now in zip(release.before.models, release.assessment.models, strict=True):
        bound = number(now.part.bound())
        rows.append(
            {
                "name": now.part.name,
                "meaning": meaning(now.part, w),
                "wish": f"{now.part.symbol or now.part.name} {w[now.part.direction.replace(' ', '_')]} {bound}",
                "before": "—" if formal else _shown_number(earlier.value),
                "after": _shown_number(now.value),
                "holds": now.holds,
            }
        )
    return rows


def _size_chart(before: Classes | None, after: Classes, w: Mapping[str, Any], *, internal: bool) -> str:
    labels = [str(low) if low == high else (f"{low}–{high}" if high else f"{low}+") for low, high in BINS]
    series = [
        (name, [share(n, classes.records, internal=internal) for n in classes.sizes])
        for name, classes in ((w["before"], before), (w["after"], after))
        if classes is not None
    ]
    return bars(w["class_sizes"] + ("" if internal else _coarse(w)), labels, series)


def _coarse(w: Mapping[str, Any]) -> str:
    """How the external edition counts, for the title of a chart."""
    return f" ({w['withheld'].format(n=SMALLEST)})"


def _risk_rows(before: Classes | None, after: Classes, w: Mapping[str, Any], *, internal: bool) -> list[dict[str, str]]:
    def row(name: str, text: str, get: Any, show: Any) -> dict[str, str]:
        return {
            "name": name,
            "meaning": text,
            "before": "—" if before is None else show(get(before)),
            "after": show(get(after)),
        }

    percent = functools.partial(number, percent=True)

    def part(classes: Classes, k: int) -> str:
        shown = share(classes.above[k], classes.records, internal=internal)
        return f"< {percent(SMALLEST / classes.records)}" if shown is None else percent(shown)

    rows = [
        row(w["highest"], w["highest_meaning"], lambda c: c.highest, percent),
        row(w["average"], w["average_meaning"], lambda c: c.average, percent),
        row(w["unique"], w["unique_meaning"], lambda c: c.unique, lambda n: _counted(n, internal=internal)),
    ]
    return rows + [row(w["above"].format(k=k), w[f"above_{k}"], lambda c, k=k: part(c, k), str) for k in THRESHOLDS]


def _further(finding: Finding, w: Mapping[str, Any]) -> dict[str, str]:
    interval = finding.evidence.get("interval")
    pair = isinstance(interval, list | tuple) and len(interval) == 2
    guess = finding.evidence.get("baseline")
    explained = meaning(finding.part, w)
    if "decided" in finding.evidence:
        explained += " " + w["decided_by"].format(attacks=", ".join(finding.evidence["decided"]))
    return {
        "name": finding.part.name,
        "meaning": f"{w['why_not']}: {finding.reason}" if finding.value is None else explained,
        "value": _shown_number(finding.value),
        "interval": f"{_shown_number(interval[0])} – {_shown_number(interval[1])}" if pair and interval else "—",
        "baseline": _shown_number(guess) if isinstance(guess, int | float) else "—",
    }


def _loss(finding: Finding, w: Mapping[str, Any]) -> dict[str, str]:
    share = finding.part.bounded
    return {
        "name": finding.part.name,
        "meaning": f"{w['why_not']}: {finding.reason}"
        if finding.value is None
        else f"{meaning(finding.part, w)} {w['direction']}",
        "value": "—" if finding.value is None else number(finding.value, percent=share),
    }


def _change(change: ColumnChange, w: Mapping[str, Any], *, internal: bool) -> dict[str, Any]:
    """What happened to a column, in the language of the report; outside an example has no value of the original."""
    return {
        "name": change.name,
        "before": change.before.sentence(w["detail"], w["units"]),
        "after": change.after.sentence(w["detail"], w["units"]),
        "example": change.shown_example(raw=internal),
        "altered": change.altered,
    }


def _searches(release: Release, w: Mapping[str, Any]) -> list[str]:
    """A sentence for each search that stopped early: how good its result is, and what would help."""
    texts = []
    for entry in release.table.history:
        search = entry.get("search")
        if not search or search["complete"]:
            continue
        distance = w["search_unknown"]
        if search["gap"] is not None:
            distance = w["search_gap"].format(bound=number(search["bound"]), gap=number(search["gap"]))
        helps = "; ".join(w["advice"][name] for name in search["advice"])
        counts = {"judged": f"{search['judged']:,}", "nodes": f"{search['nodes']:,}"}
        score = _shown_number(search["score"])
        texts.append(
            w["search_stopped"].format(step=entry["step"], score=score, distance=distance, helps=helps, **counts)
        )
    return texts


def _column_charts(column: Any, w: Mapping[str, Any], *, internal: bool) -> list[str]:
    charts = []
    if column.originals:
        charts.append(
            bars(w["distribution_before"].format(column=column.name), *_labelled(column.originals, w["before"]))
        )
    if column.values:
        title = w["distribution_of"].format(column=column.name)
        if column.others:
            title += ", " + w["others"].format(n=column.others)
        charts.append(bars(title + ("" if internal else _coarse(w)), *_labelled(column.values, w["after"])))
    return charts


def _labelled(
    values: Sequence[tuple[str, float | None]], name: str
) -> tuple[list[str], list[tuple[str, list[float | None]]]]:
    return [label for label, _ in values], [(name, [part for _, part in values])]


def _step(step: Mapping[str, Any], w: Mapping[str, Any]) -> dict[str, str]:
    from celosia.parts import attacks_reading, find

    readers = ", ".join(attacks_reading(step["use"]))
    spec = {k: v for k, v in step.items() if k not in {"name", "withheld", "evidence"}}
    plain = {k: v for k, v in step["evidence"].items() if isinstance(v, int | float | str | bool)}
    facts = ", ".join(f"{k} {_shown_number(v) if isinstance(v, float) else v}" for k, v in plain.items())
    return {
        "name": str(step["name"]),
        "written": grammar.show(spec),
        "meaning": meaning(find("method", step["use"]), w),
        "found": facts,
        "read": w["read_by"].format(attacks=readers) if readers else w["general_only"],
    }


def _lattice(lattice: Mapping[str, Any]) -> dict[str, Any]:
    """The explored lattice as a picture, and the best loss for each number of suppressed records."""
    from markupsafe import Markup

    from celosia.search.lattice.drawing import lattice_svg
    from celosia.search.lattice.explanation import suppression_curve

    curve = [(int(point[0]), _shown_number(point[1])) for point in suppression_curve(lattice)]
    return {"svg": Markup(lattice_svg(lattice)), "curve": curve[:20]}  # noqa: S704


def _limits(release: Release, w: Mapping[str, Any]) -> list[str]:
    texts = []
    for finding in release.assessment.models:
        text = w["limits_of"].get(finding.part.name) or w["limits_of"]["other"].format(name=finding.part.name)
        texts.append(text)
    if "formal" in release.certificate:
        texts.append(w["limits_of"]["differential-privacy"])
    return [*dict.fromkeys(texts), w["limits_of"]["unmeasured"], w["limits_of"]["general"]]


def _checking(certificate: Mapping[str, Any], w: Mapping[str, Any]) -> list[str]:
    """Who can check what of this release."""
    from celosia.release.verifying import outlook

    takes = outlook(certificate)
    texts = [w["checking_of"][what].format(parts=", ".join(parts)) for what, parts in takes.items() if parts]
    whole = w["checking_of"]["formal" if "formal" in certificate else "owner"]
    return [w["checking_of"]["always"], *texts, whole]


def _frame(frame: pl.DataFrame | None, w: Mapping[str, Any]) -> str:
    """A table of values, for the internal edition."""
    from markupsafe import escape

    if frame is None or frame.height == 0:
        return f"<p>{escape(w['none'])}</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in frame.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape('—' if value is None else value)}</td>" for value in row) + "</tr>"
        for row in frame.iter_rows()
    )
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _shown_number(value: Any) -> str:
    return "—" if not isinstance(value, int | float) else ("∞" if value == float("inf") else number(float(value)))


def _counted(n: int, *, internal: bool) -> str:
    """A count of records; the external edition withholds small ones that are not zero."""
    return f"< {SMALLEST}" if not internal and 0 < n < SMALLEST else f"{n:,}"
