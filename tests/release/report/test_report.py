"""The report as a browser shows it: no script, no request, readable, accessible, and without a value of the original."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from markupsafe import escape

from celosia.demo import prepare
from celosia.release.report import LANGUAGES, certificate_page, comparison_page, render, verification_page
from celosia.release.report.columns import pictures
from celosia.release.report.facts import columns_of
from celosia.release.report.grids import grid
from celosia.release.report.texts import words
from celosia.release.run import run
from celosia.release.verify.verify import verify
from celosia.show.charts import bars
from celosia.show.formats import number

ABOUT = {
    "title": "Visits of 2025",
    "organisation": "Hospital of the Valley",
    "purpose": "For research on care",
    "contact": "data@hospital.example",
    "approver": "The ethics board",
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    policy = prepare(tmp_path_factory.mktemp("report"), persons=1500)
    about = "".join(f"{key} = {json.dumps(text)}\n" for key, text in ABOUT.items())
    told = policy.read_text().partition("[input]")[2]
    policy.write_text(f"[about]\n{about}review = 2031-01-31\n[input]{told}")
    return run(policy)


def test_the_languages_say_the_same_things():
    def shape(value):
        return {
            k: shape(v) if isinstance(v, dict) and k not in {"glossary_of", "meanings", "guard_of"} else None
            for k, v in value.items()
        }

    english = shape(words("en"))
    for language in LANGUAGES:
        assert shape(words(language)) == english
        assert len(words(language)["glossary_of"]) == len(words("en")["glossary_of"])
        if language != "en":  # what the guard sees is said in English as it stands
            assert list(words(language)["guard_of"]) == list(words("es")["guard_of"])


def test_every_column_that_stayed_is_drawn_before_and_after_for_its_owner(release):
    drawn = pictures(release, columns_of(release, internal=True), words("en"), internal=True, language="en")
    assert {"sex", "diagnosis", "income"} <= {picture.name for picture in drawn}
    sex = next(picture for picture in drawn if picture.name == "sex")
    assert (words("en")["before"] in sex.chart, words("en")["after"] in sex.chart) == (True, True)


def test_the_page_is_one_file_without_scripts_or_addresses(release):
    for edition in ("external", "internal"):
        for language in LANGUAGES:
            text = render(release, edition=edition, language=language)
            assert "<script" not in text
            assert "http://" not in text.replace("http://www.w3.org", "")
            assert "https://" not in text
            assert len(text.encode()) < 2_000_000
            assert words(language)["verdict_met"] in text


def test_planted_values_reach_no_external_artefact(release):
    """Names, ids, rare places and dates of the original: in the internal edition perhaps, outside never."""
    original = release.original.polars()
    secrets = set()
    for column in ("name", "national_id", "person", "household", "birth_date", "municipality"):
        secrets |= {str(value) for value in original[column].unique().to_list()}
    secrets |= {release.record["seed"], release.record["key"]}
    outside = release.paths["report"].read_text() + release.paths["certificate"].read_text()
    found = [secret for secret in secrets if secret in outside]
    assert found == []
    assert any(secret in release.paths["internal"].read_text() for secret in secrets), "the test can fail"


def test_a_small_count_is_withheld_outside():
    from celosia.release.report.page import _format_count

    assert _format_count(3, internal=False) == "< 5"
    assert _format_count(3, internal=True) == "3"
    assert _format_count(0, internal=False) == "0"


MARKUP = "<script>alert('x')</script>&\"<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("edition", ["external", "internal"])
def test_names_and_values_are_text_on_every_page(tmp_path, edition):
    """A column, a category, a step and a file that are written as markup: the page shows them and runs nothing."""
    frame = pl.DataFrame({MARKUP: ["1", MARKUP] * 10, "s": [MARKUP, "y"] * 10})
    frame.write_csv(tmp_path / "people.csv")
    name = json.dumps(MARKUP)
    (tmp_path / "policy.toml").write_text(
        f"[input]\npath = 'people.csv'\nheader = true\n[schema]\nquasi = [{name}]\nsensitive = ['s']\n"
        "[[require]]\nuse = 'k-anonymity'\nk = 2\n"
        f"[[step]]\nname = {name}\nuse = 'suppress-records'\nrequire = ['k-anonymity(k=2)']\n"
        "[output]\npath = '<b>safe.csv'\n"
    )
    release = run(tmp_path / "policy.toml")
    comparison_page(release.comparison, tmp_path / "comparison.html")
    certificate_page(json.loads(release.paths["certificate"].read_text()), tmp_path / "certificate.html")
    verification_page(verify(release.paths["certificate"]), release.paths["certificate"], tmp_path / "verified.html")
    pages = [render(release, edition=edition, language=language) for language in LANGUAGES]
    for text in [*pages, *((tmp_path / f"{p}.html").read_text() for p in ("comparison", "certificate", "verified"))]:
        assert "<script" not in text
        assert "<img" not in text
        assert "<b>" not in text
    assert "&lt;script&gt;" in pages[0], "it is there, as text"
    assert "&lt;script&gt;" in release._repr_html_()
    assert "<script" not in release._repr_html_()


COUNTED = """
[input]
path = "people.csv"
[schema]
quasi = ["age"]
sensitive = ["disease"]
[[step]]
use = "permute"
columns = ["disease"]
[guard]
acknowledge = { disease = "what a test needs" }
[output]
path = "safe.csv"
"""


@pytest.mark.parametrize("small", [1, 3, 4])
def test_no_number_beside_a_withheld_one_gives_it_away(tmp_path, small):
    """Records that are alone, pairs, and a rare disease, each fewer than five of 200: no chart and no row tells how many."""
    ages = [*range(small), *(age for age in range(100, 100 + (200 - small) // 2) for _ in "ab")]
    ages += [100] * (200 - len(ages))
    sick = ["rare"] * small + ["flu"] * 90
    frame = pl.DataFrame({"age": ages, "disease": sick + ["cold"] * (200 - len(sick))})
    frame.write_csv(tmp_path / "people.csv")
    (tmp_path / "policy.toml").write_text(COUNTED)
    release = run(tmp_path / "policy.toml")
    page = render(release, edition="external")
    assert "&lt; 5" in page
    charts = re.findall(r'aria-label="([^"]*)"', page)
    charts = [chart for chart in charts if chart != "Contents"]
    assert len(charts) == 4, "risk, class sizes, ages and diseases"
    shown = [float(number) * 2 for chart in charts for number in re.findall(r"([\d.]+) %", chart)]
    shown = [n for n in shown if n not in {5.3 * 2, 9.1 * 2}]  # ends of bands of risk
    assert len(shown) > 5
    assert "after: certain …" in charts[0]
    assert "1: after …" in charts[1]
    assert "before" not in charts[0] + charts[1], "numbers of the original are for its owner"
    assert "rare: after …" in charts[3]
    assert [n for n in shown if n % 5] == [], "counts of records are multiples of five"
    rows = re.findall(r'class="n">([^<]*) %</td>', page[page.index('id="risk"') : page.index('id="lost"')])
    assert len(rows) >= 5
    exact = {
        release.comparison.protected.classes.sizes[0].size / 2,
        100.0,
    }  # the mean and the highest risk are no counts
    rest = [float(n.replace("&lt; ", "")) for n in rows]
    assert [n for n in rest if n not in exact and (n * 2) % 5] == []
    inside = render(release, edition="internal")
    if small == 1:
        assert "1 / 200" not in page + inside, "a step wrote the column: the original decides what the guard counts"
    assert re.search(rf"(?<![\d.]){small / 2:g} %", inside), "the test can fail"


def test_the_first_page_answers_what_a_board_asks(release):
    """Verdict, who could be found, what was lost, what to watch; who stands behind it; each in the reader's language."""
    assert json.loads(release.paths["certificate"].read_text())["about"] == ABOUT | {"review": "2031-01-31"}
    for language, review in (("en", "31 January 2031"), ("es", "31 de enero de 2031"), ("ca", "31 de gener del 2031")):
        page = render(release, edition="external", language=language)
        first = page[page.index("<header>") : page.index('id="requirements"')]
        w = words(language)
        texts = [*ABOUT.values(), review, w["verdict_met"], w["short_found"], w["short_lost"], w["short_watch"]]
        assert [text for text in texts if str(escape(text)) not in first] == []
        assert (w["watch_guard"].split("{")[0] in first) == any(
            not seen.get("acknowledged") for seen in release.certificate["guard"]
        )
        assert w["one_in"].format(n=5) in first
        assert first.count("<svg") == 1, "risk before and after in one picture"
    assert re.search(r"\d,\d %", page)
    assert not re.search(r"\d\.\d %", page), "numbers of the reader's language, in charts too"


def test_a_due_review_is_said(release):
    about = release.public.about.model_copy(update={"review": "2020-01-31"})
    late = replace(release, public=release.public.model_copy(update={"about": about}))
    assert "was due on 31 January 2020" in render(late, edition="external")


def test_the_owner_sees_before_and_after_and_nobody_else_does(release):
    inside = release.paths["internal"].read_text()
    outside = release.paths["report"].read_text()
    for text in ("standard deviation", "<h2>How columns depend on each other", "The best alternatives", ">median<"):
        assert text in inside
        assert text not in outside
    income = release.original.polars()["income"]
    assert number(float(income.mean())) in inside
    assert number(float(income.mean())) not in outside


def test_measures_have_names_for_people_and_no_column_is_empty(release):
    page = release.paths["report"].read_text()
    assert "Share of the file that is re-identified" in page
    assert "guessing would reach" not in page, "nothing was guessed: the column is not there"
    attacked = grid(["measure", "value", "interval"], [["a", "1", "—"], ["b", "2", "0 – 3"]])
    assert attacked.headings == ("measure", "value", "interval")


def test_names_are_those_of_measures():
    from celosia.parts import parts

    for language in LANGUAGES:
        names = words(language)["names"]
        for kind in ("model", "risk", "attack", "loss"):
            own = {name for name, part in parts(kind).items() if part.__module__.startswith("celosia.")}
            assert set(names[kind]) <= own, "names of parts that are gone"


def test_numbers_read_well():
    assert number(1.0, percent=True) == "100 %"
    assert number(0.0001, percent=True) == "< 0.1 %"
    assert number(1234567.0) == "1,234,567"


def test_a_chart_describes_itself():
    svg = bars("Ages", ["<young>"], [("before", [0.5]), ("after", [None])])
    assert 'role="img"' in svg
    assert "&lt;young&gt;: before 50 %, after …" in svg
    assert "<young>" not in svg


def test_an_unmet_requirement_is_said_first(tmp_path):
    path = prepare(tmp_path, persons=300)
    text = path.read_text()
    start, end = text.index("# The least coarse"), text.index("[measure]")
    names = ("birth_date", "municipality", "occupation", "income", "diagnosis")
    guard = "".join(f'{name} = "it stays here"\n' for name in names)
    path.write_text(f"{text[:start]}{text[end:]}[guard.acknowledge]\n{guard}")
    release = run(path)
    assert not release.holds
    assert words("en")["verdict_unmet"] in release.paths["report"].read_text()


def test_pages_of_certificate_and_verification(release, tmp_path):
    certificate_page(json.loads(release.paths["certificate"].read_text()), tmp_path / "c.html")
    assert "Every requirement holds." in (tmp_path / "c.html").read_text()
    checks = verify(release.paths["certificate"], release.paths["data"])
    verification_page(checks, release.paths["certificate"], tmp_path / "v.html")
    assert "Verified in part: " in (tmp_path / "v.html").read_text()


LOOKS = [*(("external", language, "light") for language in LANGUAGES), ("external", "en", "dark")]
LOOKS += [("internal", "es", "light"), ("internal", "ca", "dark")]


@pytest.mark.parametrize(("edition", "language", "scheme"), LOOKS)
@pytest.mark.sampled(3)
def test_in_a_browser(release, browser, tmp_path, edition, language, scheme):
    from axe_playwright_python.sync_playwright import Axe

    path = tmp_path / f"{edition}.html"
    path.write_text(render(release, edition=edition, language=language), "utf-8")
    page = browser.new_page(viewport={"width": 375, "height": 800}, color_scheme=scheme)
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(path.as_uri())
    assert errors == []
    assert requests == [path.as_uri()]
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 375, "nothing hangs over the edge of a phone"
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    assert [violation["id"] for violation in found] == []
    page.close()


def test_it_prints(release, browser, tmp_path):
    page = browser.new_page()
    page.goto(Path(release.paths["report"]).as_uri())
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000
    page.close()
