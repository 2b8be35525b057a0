"""The sessions of the two pages for people who come from ARX and sdcMicro: what they start from, and the numbers beside.

``python -m tests.migration.sessions`` writes anew what the pages print. It needs the reference files.
"""

from __future__ import annotations

import csv
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from tests.migration.projects import QUASI, SENSITIVE, entries, packed

import celosia
from celosia.migration import translate, write

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
PAGES = {name: ROOT / "docs" / "how-to" / f"coming-from-{name}.md" for name in ("arx", "sdcmicro")}
NEEDED = {
    "arx": ("data/adult/adult.csv", "golden/arx/scenarios.json"),
    "sdcmicro": ("data/testdata.csv", "golden/sdcmicro/kAnon_summary.json"),
}
BESIDE = re.compile(r"(<!-- beside: python -m tests.migration.sessions -->\n).*?(<!-- end -->)", re.DOTALL)
LOSS = "Loss (0.5/1.0/1.0)"
SCENARIOS = {
    "adult9_k5_s0.0_loss": ("5-anonymity", LOSS),
    "adult9_k5_s0.05_loss": ("5-anonymity", LOSS),
    "adult9_k5_s1.0_loss": ("5-anonymity", LOSS),
    "adult9_k5_s0.05_precision": ("5-anonymity", "Non-monotonic precision"),
    "adult9_k5_s0.05_aecs": ("5-anonymity", "Average equivalence class size"),
    "adult8_k5_ldist2_s0.05": ("5-anonymity", "distinct-2-diversity for attribute 'occupation'", LOSS),
    "adult8_k5_lent5_s0.05": ("5-anonymity", "shannon-entropy-5.0-diversity for attribute 'occupation'", LOSS),
    "adult8_k5_teq02_s0.05": (
        "5-anonymity",
        "0.2-closeness with equal ground-distance for attribute 'occupation'",
        LOSS,
    ),
    "adult8_k5_thier02_s0.0": (
        "5-anonymity",
        "0.2-closeness with hierarchical ground-distance for attribute 'occupation'",
        LOSS,
    ),
}
"""Sentences of projects, the quality model last, under the names of the reference results."""


def rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, delimiter=";"))


def adult_project(path: Path, criteria: tuple[str, ...], limit: float, metric: str, sensitive: str = "") -> Path:
    """A project over the adult table, in the form that ARX writes."""
    data = rows(SHARED / "data/adult/adult.csv")
    columns = {
        name: {"type": SENSITIVE if name == sensitive else QUASI, "datatype": "Integer" if name == "age" else "String"}
        for name in data[0]
    }
    hierarchies = {name: rows(SHARED / f"data/adult/adult_hierarchy_{name}.csv") for name in data[0]}
    return packed(
        path, entries(columns, data, hierarchies, criteria=criteria, limit=limit, metric=metric, title="Adult")
    )


def golden_scenarios() -> dict[str, dict[str, Any]]:
    listed = json.loads((SHARED / NEEDED["arx"][1]).read_text("utf-8"))
    return {row["name"]: row for row in listed if row["name"] in SCENARIOS}


def imported_and_protected(name: str, place: Path) -> dict[str, Any]:
    """What the policy of an imported project does: levels, score, suppressed records, classes."""
    row = golden_scenarios()[name]
    *criteria, metric = SCENARIOS[name]
    sensitive = "occupation" if name.startswith("adult8") else ""
    path = adult_project(place / f"{name}.deid", tuple(criteria), float(row["supp"]), metric, sensitive)
    written = write(translate(path), place / f"{name}.toml", source=path)
    policy = celosia.Policy.load(written[0])
    safe = celosia.protect(policy.table(), *(step.method for step in policy.steps), seed=1)
    done = safe.history[-1]
    return {
        "levels": done["levels"],
        "score": done["score"],
        "suppressed": done["suppressed"],
        "classes": _classes(safe),
    }


def _classes(table: celosia.Table) -> int:
    """Equivalence classes without that of the suppressed records, as ARX counts them."""
    classes = celosia.models.KAnonymity(k=2).classes(table)
    quasi = pl.all_horizontal(pl.col(table.schema.quasi).cast(pl.String) == "*")
    return len(classes.filter(~quasi.fill_null(value=False)))


def arx_table() -> str:
    """The reference results of ARX beside those of the imported projects."""
    heads = ("levels", "score", "suppressed")
    head = " | ".join(f"{what}, {who}" for what in heads for who in ("ARX", "here"))
    lines = [f"| privacy models in the project | limit | quality model | {head} |", f"|{'---|' * 9}"]
    with tempfile.TemporaryDirectory() as place:
        for name, row in golden_scenarios().items():
            lines.append(arx_line(name, row, imported_and_protected(name, Path(place))))
    return "\n".join(lines)


def arx_line(name: str, row: dict[str, Any], ours: dict[str, Any]) -> str:
    *criteria, metric = SCENARIOS[name]
    theirs, mine = ("".join(str(level) for level in levels.values()) for levels in (row["levels"], ours["levels"]))
    models = ", ".join(f"`{criterion}`" for criterion in criteria)
    scores = f"{float(row['score']):.5f} | {ours['score']:.5f}"
    suppressed = f"{row['suppressed']:,} | {ours['suppressed']:,}"
    return f"| {models} | {float(row['supp']):.0%} | `{metric}` | {theirs} | {mine} | {scores} | {suppressed} |"


def testdata_numbers(policy: Path) -> dict[str, tuple[float | None, float]]:
    """The numbers of the introduction: theirs, from the reference results, and ours, from the imported policy."""
    golden = {
        name: json.loads((SHARED / "golden/sdcmicro" / name).read_text("utf-8"))
        for name in ("measure_risk.json", "suda2_summary.json", "kAnon_summary.json")
    }
    risk, households = (golden["measure_risk.json"][key] for key in ("testdata_k7_w", "testdata_k7_w_hid"))
    suda, cells = golden["suda2_summary.json"]["testdata_k7_d001"], golden["kAnon_summary.json"]
    table = celosia.Policy.load(policy).table()
    counts, n = table.frequencies(), len(table)
    scored = celosia.risk.Suda(sampling_fraction=0.01).records(table)
    individual, household = celosia.risk.IndividualRisk(), celosia.risk.HouseholdRisk()
    blanked = {
        (k, reading): celosia.protect(table, f"local-suppress(k={k}, missing={reading})", seed=1)
        for k, reading in ((2, "wildcard"), (3, "wildcard"), (5, "wildcard"), (3, "category"))
    }
    kept = {key: safe.history[-1]["cells"] for key, safe in blanked.items()}
    # counted here, not by frequencies(): a table that was blanked under a reading keeps it
    below = {
        key: int(safe.polars().group_by(table.schema.quasi).len().filter(pl.col("len") < 3)["len"].sum())
        for key, safe in blanked.items()
    }
    return {
        "records that nobody shares the keys with": (suda["n_unique"], int((counts == 1).sum())),
        "expected re-identifications (global risk)": (risk["global_risk_ER"], individual.value(table) * n),
        "the same, with household members": (households["hier_risk_ER"], household.value(table) * n),
        "SUDA: records with a score": (suda["n_score_gt0"], int((scored["score"] > 0).sum())),
        "SUDA: sum of the scores": (suda["sum_score"], float(scored["score"].sum())),
        "SUDA: largest DIS": (suda["max_dis"], float(scored["dis"].max())),
        "cells blanked for k = 2, a blank is any value": (cells["testdata_k7_2"]["total"], kept[2, "wildcard"]),
        "cells blanked for k = 3, a blank is any value": (cells["testdata_k7_3"]["total"], kept[3, "wildcard"]),
        "cells blanked for k = 5, a blank is any value": (cells["testdata_k7_5"]["total"], kept[5, "wildcard"]),
        "k = 3, a blank is any value: records below 3 if a blank is a value of its own": (
            cells["testdata_k7_3"]["n_viol_NA_own_category"],
            below[3, "wildcard"],
        ),
        "k = 3 as in the imported policy, a blank is a value of its own: cells blanked": (None, kept[3, "category"]),
        "the same: records below 3": (None, below[3, "category"]),
    }


def sdcmicro_table() -> str:
    with tempfile.TemporaryDirectory() as place:
        script = prepared("sdcmicro", Path(place)) / "intro.R"
        write(translate(script), Path(place) / "policy.toml", source=script)
        numbers = testdata_numbers(Path(place) / "policy.toml")
    return as_table(numbers)


def as_table(numbers: dict[str, tuple[float | None, float]]) -> str:
    lines = ["| what | sdcMicro 5.8.1 | Celosia |", "|---|---|---|"]
    lines += [f"| {what} | {as_number(theirs)} | {as_number(ours)} |" for what, (theirs, ours) in numbers.items()]
    return "\n".join(lines)


def as_number(value: float | None) -> str:
    return "—" if value is None else f"{value:,.6g}"


def prepared(name: str, place: Path) -> Path:
    """A folder with what a session starts from."""
    if name == "arx":
        adult_project(place / "adult.deid", ("5-anonymity",), 0.05, LOSS)
    else:
        shutil.copyfile(SHARED / "data/testdata.csv", place / "testdata.csv")
        script = re.search(r"```r\n(.*?)```", PAGES[name].read_text("utf-8"), flags=re.DOTALL)
        assert script is not None, "the page shows the script"
        (place / "intro.R").write_text(script.group(1), encoding="utf-8")
    return place


def session(name: str, place: Path) -> str:
    """The page after its session was run, with what was printed. The blocks are marked with skip elsewhere."""
    sys.path[:0] = [str(ROOT / "tools")]
    from console import run_page

    text = PAGES[name].read_text("utf-8")
    page = prepared(name, place) / "page.md"
    page.write_text(re.sub(r"^(```\w+[^\n]*?) skip$", r"\1", text, flags=re.MULTILINE), encoding="utf-8")
    printed = iter(
        re.findall(r"^```(?:python|console|text)[^\n]*\n.*?^```", run_page(page, place), re.MULTILINE | re.DOTALL)
    )

    def put_back(block: re.Match[str]) -> str:
        first, rest = next(printed).split("\n", 1)
        return f"{block.group(1)}\n{rest}" if block.group(1).startswith(first) else block.group()

    return re.sub(r"^(```(?:python|console|text)[^\n]*)\n.*?^```", put_back, text, flags=re.MULTILINE | re.DOTALL)


def with_table(name: str, text: str, table: str | None = None) -> str:
    """The page with the numbers beside each other between its marks."""
    table = table or {"arx": arx_table, "sdcmicro": sdcmicro_table}[name]()
    return BESIDE.sub(lambda marks: f"{marks.group(1)}\n{table}\n\n{marks.group(2)}", text)


if __name__ == "__main__":
    for name, page in PAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            page.write_text(with_table(name, session(name, Path(folder))), "utf-8")
