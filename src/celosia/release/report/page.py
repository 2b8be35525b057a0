"""HTML page of a report."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from celosia.parts import describe, is_share
from celosia.release.evidence.certificate import ReleasedFile
from celosia.release.evidence.public import Disclosure, public_requirement
from celosia.release.output.columns import formal_columns
from celosia.release.policy.sections import MEASURED_RISKS
from celosia.release.report.board import board, day, verdict_notes
from celosia.release.report.columns import dependence_maps, pictures
from celosia.release.report.environment import templates
from celosia.release.report.facts import (
    BINS,
    SMALLEST,
    THRESHOLDS,
    Classes,
    ColumnFacts,
    changes_of,
    classes_of,
    columns_of,
    internal_of,
    share,
    unreleased_columns,
)
from celosia.release.report.grids import Cell, Grid, grid
from celosia.release.report.ru_map import ru_map
from celosia.release.report.texts import description, title, words
from celosia.release.report.work import lattice_facts, searches, step_facts
from celosia.show.charts import bars
from celosia.show.formats import number

if TYPE_CHECKING:
    import polars as pl

    from celosia.frontier import Frontier
    from celosia.release.evidence.certificate import About, CertificateDraft
    from celosia.release.evidence.findings import Finding
    from celosia.release.evidence.release import Release
    from celosia.table.changes import ColumnChange

Edition = Literal["external", "internal"]


def render(release: Release, *, edition: Edition, language: str = "en", exploration: Frontier | None = None) -> str:
    """Render the report of a release. The external edition contains no value of the original data.

    ``exploration`` is a frontier of other candidates; the internal edition draws its map of risk and utility.
    """
    return _Page(release, edition, language).html(exploration)


class _Page:
    """Builder of the page of a release, for an edition and a language."""

    def __init__(self, release: Release, edition: Edition, language: str) -> None:
        self.release, self.language, self.w = release, language, words(language)
        self.internal = edition == "internal"
        self.formal = bool(release.public.formal) and not self.internal
        self.public = Disclosure.between(release.original, release.comparison.protected)
        self.before = classes_of(release.original) if self.internal else None
        self.after = classes_of(release.comparison.protected)

    def html(self, exploration: Frontier | None) -> str:
        """Return the page as text."""
        from markupsafe import Markup

        release, w = self.release, self.w
        columns = columns_of(release, internal=self.internal)
        verdict, style = _verdict(release, w)
        about, name = release.public.about, _file_name(release)
        first = board(release, self.before, self.after, w, self.public, internal=self.internal, language=self.language)
        values: dict[str, Any] = {
            "w": w,
            "code": self.language,
            "heading": about.title or ": ".join(part for part in (w["title"], name) if part),
            "c": release.public,
            "about": about,
            "internal": self.internal,
            "formal": self.formal,
            "verdict": verdict,
            "verdict_class": style,
            "verdict_notes": verdict_notes(release, w, internal=self.internal),
            "board": first,
            "board_picture": Markup(first.picture),  # noqa: S704
            "facts": self.file_facts(about, name),
            "requirements": self.requirements(),
            "schema": release.table.schema,
            "changes": self.changes(columns),
            "left_out": self.left_out(),
            "guard": self.guard(),
            "size_chart": Markup(self.size_chart()),  # noqa: S704
            "risks": self.risks(),
            "further": self.further(),
            "losses": self.losses(),
            "searches": searches(release, w, self.language) if self.internal else [],
            "pictures": pictures(release, columns, w, internal=self.internal, language=self.language),
            "steps": [step_facts(step, w, self.language) for step in self.steps()],
            "limits": _limits(release, w),
            "checking": _verification_texts(release.public, w) if name else [],
            "stem": name.split(".")[0],
            "mark": Markup,  # for charts, in which every text is escaped already
        }
        return templates().get_template("report.html.j2").render(**values, **self.internal_values(exploration))

    def steps(self) -> Sequence[Mapping[str, Any]]:
        """Return the steps; the internal edition has all of their evidence."""
        public = [step.spec() for step in self.release.public.steps]
        if not self.internal:
            return public
        return [{**step, "evidence": entry} for step, entry in zip(public, self.release.table.history, strict=True)]

    def internal_values(self, exploration: Frontier | None) -> dict[str, Any]:
        """Return the values of the sections for the data owner; empty in the external edition."""
        if not self.internal:
            return {"dependences": (), "lattices": (), "map": "", "owner": None}
        release, w = self.release, self.w
        searched = [step["lattice"] for step in release.table.private_history if step.get("lattice") is not None]
        facts = internal_of(release)
        return {
            "dependences": dependence_maps(release, w, language=self.language),
            "lattices": [lattice_facts(nodes, w, self.language) for nodes in searched],
            "map": "" if exploration is None else ru_map(exploration, language=self.language),
            "owner": [_frame(frame) for frame in (facts.smallest, facts.homogeneous, facts.risky, facts.learnt)],
        }

    def num(self, value: float, *, percent: bool = False) -> str:
        return number(value, percent=percent, language=self.language)

    def number_or_dash(self, value: object, *, percent: bool = False) -> str:
        """Format a number that may be missing or infinite."""
        if not isinstance(value, int | float):
            return "—"
        return "∞" if value == float("inf") else self.num(float(value), percent=percent)

    def count(self, n: int) -> str:
        """Format a count of records as the edition may show it."""
        return _format_count(n, internal=self.internal, language=self.language)

    def value(self, finding: Finding) -> float | None:
        """Value of a finding on both tables; in the external edition rounded as in the certificate."""
        return finding.value if self.internal else self.public.value(finding)

    def file_facts(self, about: About, name: str) -> list[tuple[str, str]]:
        """Labels and texts that describe the file."""
        w, certificate = self.w, self.release.public
        suppressed, rows = certificate.release.suppressed, certificate.release.rows
        part = f" ({self.num(suppressed / max(1, rows), percent=True)})" if suppressed else ""
        facts = [
            (w["file"], name),
            (w["rows"], self.num(rows)),
            (w["suppressed"], self.num(suppressed) + part),
            (w["created"], day(certificate.created[:10], self.language)),
            (w["approver"], about.approver),
            (w["review"], day(about.review, self.language) if about.review else ""),
            (w["contact"], about.contact),
            (w["version"], certificate.celosia),
        ]
        return [(label, text) for label, text in facts if text]

    def requirements(self) -> Grid | None:
        w = self.w
        rows: list[list[str | Cell]] = []
        for earlier, now in zip(self.release.before.models, self.release.assessment.models, strict=True):
            wish = describe(now.part, w["wishes"], self.num)
            verdict = Cell(w["yes"], style="good") if now.holds else Cell(w["no"], style="bad")
            before = self.number_or_dash(earlier.value) if self.internal else "—"
            value = now.value if self.internal else public_requirement(now, self.release.comparison.protected).value
            explained = description(now.part, w) + ("" if value is not None else f" {w['withheld_exact']}")
            rows.append([Cell(title(now.part, w), explained), wish, before, self.number_or_dash(value), verdict])
        return (
            grid([w["requirement"], w["wanted"], w["before"], w["after"], w["holds"]], rows, {2, 3}) if rows else None
        )

    def changes(self, columns: Sequence[ColumnFacts]) -> Grid:
        """Build the table of changes, one column of the original per row."""
        w, facts = self.w, {column.name: column for column in columns}
        heads = [
            "column",
            "role",
            "from_detail",
            "to_detail",
            "example",
            "distinct_before",
            "distinct_after",
            "altered",
        ]
        changes = changes_of(self.release, formal=self.formal)
        rows = [self.change(c, facts.get(c.name)) for c in changes if self.internal or c.name in facts]
        return grid([w[head] for head in heads], rows, {5, 6, 7})

    def left_out(self) -> list[str]:
        """Return the names of the columns that are not released; in the external edition their number."""
        names = unreleased_columns(self.release)
        return names if self.internal or not names else [self.num(len(names))]

    def change(self, change: ColumnChange, facts: ColumnFacts | None) -> list[str | Cell]:
        w = self.w
        before = None if facts is None or not self.internal else facts.before
        altered = change.altered if self.internal else None if self.formal else self.public.share(change.altered)
        return [
            Cell(change.name),
            w["roles"][facts.role] if facts else "—",
            change.before.sentence(w["detail"], w["units"]),
            change.after.sentence(w["detail"], w["units"]),
            change.shown_example(raw=self.internal),
            self.number_or_dash(before),
            self.number_or_dash(facts.after if facts else None),
            self.number_or_dash(altered, percent=True),
        ]

    def guard(self) -> Grid | None:
        w = self.w
        rows = [
            [
                entry.column,
                w["guard_of"].get(entry.what, entry.what),
                "—" if entry.cells is None else f"{self.count(entry.cells)} / {self.num(entry.of)}",
                Cell(entry.acknowledged or w["guard_open"], style="" if entry.acknowledged else "bad"),
            ]
            for entry in self.release.public.guard
        ]
        return grid([w["column"], w["guard_what"], w["guard_cells"], w["guard_reason"]], rows, {2}) if rows else None

    def size_chart(self) -> str:
        """Draw the records by the size of their class, before and after."""
        w = self.w
        labels = [str(low) if low == high else (f"{low}–{high}" if high else f"{low}+") for low, high in BINS]
        series = [
            (name, [share(n, classes.records, internal=self.internal) for n in classes.sizes])
            for name, classes in ((w["before"], self.before), (w["after"], self.after))
            if classes is not None
        ]
        coarse = "" if self.internal else f" ({w['withheld'].format(n=SMALLEST)})"
        return bars(w["class_sizes"] + coarse, labels, series, language=self.language)

    def risks(self) -> Grid:
        w = self.w

        def above(classes: Classes, k: int) -> str:
            part = share(classes.above[k], classes.records, internal=self.internal)
            if part is None:  # fewer than SMALLEST records: show the bound, unless it is trivial
                few = SMALLEST / classes.records
                return f"< {self.num(few, percent=True)}" if few < 1 else "—"
            return self.num(part, percent=True)

        measures: list[tuple[str, str, Callable[[Classes], str]]] = [
            (w["highest"], w["highest_meaning"], lambda c: self.num(c.highest, percent=True)),
            (w["average"], w["average_meaning"], lambda c: self.num(c.average, percent=True)),
            (w["unique"], w["unique_meaning"], lambda c: self.count(c.unique)),
        ]
        measures += [(w["above"].format(k=k), w[f"above_{k}"], functools.partial(above, k=k)) for k in THRESHOLDS]
        rows: list[list[str | Cell]] = [
            [Cell(name, text), "—" if self.before is None else show(self.before), show(self.after)]
            for name, text, show in measures
        ]
        return grid([w["measure"], w["before"], w["after"]], rows, {1, 2})

    def further(self) -> Grid | None:
        """Build the table of the measured risks and attacks that are not in every report."""
        w, release = self.w, self.release
        earlier = {id(now): before for before, now in zip(release.before.risks, release.assessment.risks, strict=False)}
        findings = [
            f for f in (*release.assessment.risks, *release.comparison.risks) if f.part.name not in MEASURED_RISKS
        ]
        rows = [self.further_row(f, earlier.get(id(f))) for f in findings]
        heads = [w["measure"], w["before"], w["after"], w["interval"], w["baseline"]]
        return grid(heads, rows, {1, 2, 3, 4}) if rows else None

    def further_row(self, finding: Finding, earlier: Finding | None) -> list[str | Cell]:
        w, percent = self.w, is_share(finding.part)
        against = finding in self.release.comparison.risks
        evidence = finding.evidence if self.internal or not against else {}
        interval, guess = evidence.get("interval"), evidence.get("baseline")
        value = self.value(finding) if against else finding.value
        explained = description(finding.part, w)
        if "decided" in finding.evidence:
            explained += " " + w["decided_by"].format(attacks=", ".join(finding.evidence["decided"]))
        reason = self.reason(finding)
        ends = interval if isinstance(interval, list | tuple) and len(interval) == 2 else ()
        before = earlier.value if earlier is not None and self.internal else None
        return [
            Cell(title(finding.part, w), reason if value is None else explained),
            self.number_or_dash(before, percent=percent),
            self.number_or_dash(value, percent=percent),
            " – ".join(self.number_or_dash(end, percent=percent) for end in ends),
            self.number_or_dash(guess, percent=percent),
        ]

    def reason(self, finding: Finding) -> str:
        """Reason why a number is not shown: it was not measured, or only the internal edition has it."""
        return str(self.w["withheld_exact"]) if finding.value is not None else f"{self.w['why_not']}: {finding.reason}"

    def losses(self) -> Grid:
        w = self.w
        rows: list[list[str | Cell]] = []
        for finding in self.release.comparison.losses:
            value = self.value(finding)
            text = self.reason(finding) if value is None else f"{description(finding.part, w)} {w['direction']}"
            shown = self.number_or_dash(value, percent=is_share(finding.part))
            rows.append([Cell(title(finding.part, w), text), shown])
        return grid([w["measure"], w["value"]], rows, {1})


def tables_page(
    heading: str,
    tables: Sequence[Mapping[str, Any]],
    *,
    verdict: str = "",
    good: bool = True,
    language: str = "en",
) -> str:
    """Render a page of tables: a comparison, a verification or a certificate."""
    template = templates().get_template("table.html.j2")
    style = "met" if good else "unmet"
    return template.render(
        heading=heading, tables=tables, verdict=verdict, verdict_class=style, code=language, w=words(language)
    )


def _file_name(release: Release) -> str:
    """Return the name of the released file; empty while it is not written."""
    stated = release.public.release
    return stated.file if isinstance(stated, ReleasedFile) else ""


def _verdict(release: Release, w: Mapping[str, Any]) -> tuple[str, str]:
    if not release.assessment.models:
        return w["verdict_none"], "neutral"
    if release.holds and release.is_empty:
        return w["verdict_empty"], "unmet"
    return (w["verdict_met"], "met") if release.holds else (w["verdict_unmet"], "unmet")


def _limits(release: Release, w: Mapping[str, Any]) -> list[str]:
    texts = []
    for finding in release.assessment.models:
        text = w["limits_of"].get(finding.part.name) or w["limits_of"]["other"].format(name=finding.part.name)
        texts.append(text)
    methods = [secret["method"] for secret in release.table.private_history if "method" in secret]
    if set(release.table.names) <= formal_columns(release.original, release.table, methods):
        texts.append(w["limits_of"]["differential-privacy"])
    return [*dict.fromkeys(texts), w["limits_of"]["unmeasured"], w["limits_of"]["general"]]


def _verification_texts(certificate: CertificateDraft, w: Mapping[str, Any]) -> list[str]:
    """Sentences on which parts of the certificate can be verified, and what that needs."""
    from celosia.release.verify.claims import parts_by_need

    needs = parts_by_need(certificate)
    texts = [w["checking_of"][need].format(parts=", ".join(parts)) for need, parts in needs.items() if parts]
    whole = w["checking_of"]["formal" if certificate.formal else "owner"]
    return [w["checking_of"]["always"], *texts, whole]


def _frame(frame: pl.DataFrame | None) -> Grid | None:
    """Build a table of values, for the internal edition."""
    if frame is None or frame.height == 0:
        return None
    rows = [["—" if value is None else str(value) for value in row] for row in frame.iter_rows()]
    return grid(frame.columns, rows, {j for j, kind in enumerate(frame.dtypes) if kind.is_numeric()})


def _format_count(n: int, *, internal: bool, language: str = "en") -> str:
    """Format a count of records; the external edition withholds small ones that are not zero."""
    return f"< {SMALLEST}" if not internal and 0 < n < SMALLEST else number(n, language=language)
