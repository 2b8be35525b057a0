"""The worked examples of chapters 4, 5 and 7: elements of queries, rules, matches, marks, classes along a tree.

Each takes the texts that the thesis prints and gives statements; nothing is known beforehand but what is printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from celosia.table.derive import with_record_ids
from celosia_reproduce.statements import Statement, derived, printed

Texts = Mapping[str, str]
DIALECT = "oracle"
TREE = ("province", "canton", "district")
LEAVES = (
    ("Guanacaste", "Nicoya", "Nicoya", 5, 0),
    ("Guanacaste", "Liberia", "Nacascolo", 2, 0),
    ("Guanacaste", "Liberia", "Mayorga", 3, 0),
    ("Heredia", "Flores", "Barrantes", 2, 0),
    ("Heredia", "Flores", "Llorente", 1, 0),
    ("Heredia", "Barva", "San Pablo", 3, 1),
    ("Heredia", "Barva", "San Roque", 2, 1),
)
"""The tree of figure 5.1: province, canton, district, rows, and how many of them block.

It prints which leaves are large enough; the numbers of rows are ours, chosen to fit.
"""


def printed_texts() -> dict[str, str]:
    """Return the queries (figures 4.3, 4.9, 7.3, 7.5) and rules (4.4, 7.4) of the thesis, by name."""
    folder = resources.files(__package__) / "printed"
    return {file.name.rpartition(".")[0]: file.read_text("utf-8").strip() for file in folder.iterdir()}


def statements(texts: Texts) -> list[Statement]:
    """All worked examples that need no private data."""
    return [*_timetable(texts), *_residence(texts), *_marks(texts), *_tree(), *_questionnaire()]


def _timetable(texts: Texts) -> list[Statement]:
    """Section 4.2: what the query of figure 4.3 touches, and the rule of figure 4.4 against the query of figure 4.9."""
    from celosia.consent.rules.exchange import read_xml
    from celosia.consent.rules.matches import match
    from celosia.consent.sql.lineage import elements

    touched = elements(texts["query_4_3"], DIALECT)
    fields = {field for _, field in touched.fields}
    rule = read_xml(texts["rule_4_4"]).inferences[0].rules[0]
    hit = match(rule, elements(texts["query_4_9"], DIALECT))
    where = "Section 4.2"
    named = {"sigla", "grupo", "hora_inicio", "hora_final", "aula", "edificio"}
    fixed = sorted(c.field for c in touched.constants if c.field in ("anno", "periodo"))
    return [
        printed(where, "tables of the query", True, {"ma_matricula", "ho_horarios"} <= set(touched.tables)),
        printed(
            where,
            "attributes that the query uses",
            sorted(named),
            sorted(named & fields),
            why="figure 4.3 calls it HORA_FIN; the text and the rule of figure 4.4 HORA_FINAL",
        ),
        printed(where, "values that all rows share", ["anno", "periodo"], fixed),
        printed("Figure 4.4", "tables of the rule", 2, len(rule.tables)),
        printed("Figure 4.4", "the rule is active", True, rule.active),
        printed("Figure 4.4", "values of the rule", {"PERIODO": "1", "ANNO": "2019"}, _values(rule)),
        derived("Figure 4.4", "fields of the rule", 13, sum(map(len, rule.tables.values()))),
        printed(
            "Section 4.3", "tables in which rule and query agree", ["ma_matricula"], [t.lower() for t in hit.tables]
        ),
        printed(
            "Section 4.3",
            "fields in which they agree",
            ["ANNO", "PERIODO", "SIGLA", "GRUPO"],
            [field for _, field in hit.fields],
        ),
        printed("Section 4.3", "all values agree", True, len(hit.values) == len(rule.values)),
        printed("Section 4.3", "one agreement is enough: the block is active", True, hit.active),
        derived("Section 4.3", "share of the rule's elements", 7 / 17, float(hit.score), within=1e-9),
    ]


def _residence(texts: Texts) -> list[Statement]:
    """Sections 7.4 and 7.5: the rule follows from three queries and is activated by the query to publish."""
    from celosia.consent.rules.exchange import read_xml
    from celosia.consent.rules.matches import match
    from celosia.consent.rules.rules import derive_rule as rule_of
    from celosia.consent.sql.lineage import elements

    rule = read_xml(texts["rule_7_4"]).inferences[0].rules[0]
    queries = [texts[f"query_7_3_{n}"] for n in (1, 2, 3)]
    proposal = {f"{t}.{f}".casefold() for t, names in rule_of(queries, DIALECT).tables.items() for f in names}
    own = [f"{t}.{f}".casefold() for t, names in rule.tables.items() for f in names]
    hit = match(rule, elements(texts["query_7_5"], DIALECT))
    other = match(rule, elements(texts["query_4_9"], DIALECT))
    return [
        printed(
            "Figure 7.4",
            "fields of the rule that the three queries of figure 7.3 use",
            own,
            [name for name in own if name in proposal],
            why="no printed query uses the street address: the expert added it",
        ),
        printed("Section 7.5", "the query to publish activates the rule", True, hit.active),
        derived("Section 7.5", "share of the rule's elements", 5 / 10, float(hit.score), within=1e-9),
        derived(
            "Figure 4.9", "the same rule against the example of chapter 4", 2 / 10, float(other.score), within=1e-9
        ),
    ]


def _marks(texts: Texts) -> list[Statement]:
    """Table 4.2: of six rows one owner blocks; four of her cells are marked."""
    import polars as pl

    from celosia.consent.protection.marks import mark
    from celosia.consent.rules.exchange import read_xml
    from celosia.consent.rules.matches import active, matches
    from celosia.consent.sql.lineage import elements

    catalogue = read_xml(texts["rule_4_4"])
    query = elements(texts["query_4_9"], DIALECT)
    owners = pl.Series("owner", [f"student {n}" for n in range(1, 7)])
    marks = mark(owners, query, active(matches(catalogue, query)), catalogue, _Blocking({owners[3]}), keys=["carne"])  # type: ignore[arg-type]
    cells = [output.name for output in query.outputs if marks.cells(output.name)[3]]
    return [
        printed("Table 4.2", "marked rows, of six", 1, int(marks.blocked.sum())),
        printed(
            "Table 4.2", "marked cells of that row", ["ANNO", "PERIODO", "SIGLA", "GRUPO"], [c.upper() for c in cells]
        ),
    ]


class _Blocking:
    """Choices of a few owners, without a store."""

    default = False

    def __init__(self, owners: set[str]) -> None:
        self._owners = owners

    def exceptions(self, inference: str) -> set[str]:  # noqa: ARG002
        """Return the owners who block."""
        return self._owners


def _tree() -> list[Statement]:
    """Figure 5.1: k = 2, X = 1, seven leaves."""
    import numpy as np
    import polars as pl

    import celosia
    from celosia.consent.protection.measures import losses
    from celosia.consent.protection.protection import Design, honour
    from celosia.streams import Stream

    rows = [leaf[:3] for leaf in LEAVES for _ in range(leaf[3])]
    extra = np.array([int(i < leaf[4]) for leaf in LEAVES for i in range(leaf[3])])
    frame = pl.DataFrame(rows, schema=list(TREE), orient="row")
    table = with_record_ids(celosia.read(frame, celosia.Schema.of(quasi=list(TREE))))
    protected = honour(table, extra, Design(k=2, rule="class", tree=TREE), Stream(1))
    shown = protected.table.polars().with_columns(private=pl.Series(extra > 0))
    groups = shown.group_by(list(TREE)).agg(n=pl.len(), private=pl.col("private").any()).sort(TREE)
    merged = groups.filter(pl.col("district") == "*")
    altered = losses(table, protected, extra > 0, TREE)["all"]["altered"]
    return [
        printed("Figure 5.1", "classes", 5, len(groups)),
        printed("Figure 5.1", "classes at k + X", 1, int(groups["private"].sum())),
        printed(
            "Figure 5.1", "places that stand for joined districts", ["Barva", "Flores"], merged["canton"].to_list()
        ),
        derived("Figure 5.1", "their rows", [5, 3], merged["n"].to_list()),
        derived("Figure 5.1", "altered rows (CM of the thesis)", 8 / 18, altered, within=1e-9),
    ]


def _questionnaire() -> list[Statement]:
    """Appendix A and Table 7.3."""
    from celosia.consent.owners.questionnaire import class_names, questions

    asked = questions().values()
    return [
        printed("Table 7.3", "classes of the taxonomy", 10, len(class_names())),
        derived("Appendix A", "items of the questionnaire", 44, sum(bool(q.category) for q in asked)),
        printed("Appendix A", "entities whose trust is asked for", 5, sum(not q.category for q in asked)),
    ]


def _values(rule: Any) -> dict[str, str]:
    return {value.field: value.literal for value in rule.values}
