"""The publisher's pages: edit the catalogue, look at what a request would do, answer it."""

from __future__ import annotations

import html
import json
import re

import polars as pl
import pytest

from celosia.consent.publication.stored_requests import requests
from celosia.consent.rules.exchange import load
from celosia.consent.rules.rules import read_toml
from celosia.consent.site.pages import words
from celosia.consent.site.signin import ADMIN, issue
from celosia.consent.site.web import create

testclient = pytest.importorskip("starlette.testclient")
TREE = "province, canton, district"
ASKED = {
    "requester": "A newspaper",
    "purpose": "Scores of 2015",
    "owner": "student.card",
    "quasi": TREE,
    "tree": TREE,
    "identifiers": "name",
    "sensitive": "score",
    "k": "15",
    "rule": "coarser",
    "key": "",
    "acknowledge": "",
}


class Publisher:
    """A signed-in administrator with the files of a small registry."""

    def __init__(self, place, students, store, n=300):
        self.place, self.store = place, store
        self.path, self.out = place / "inferences.toml", place / "out"
        self.path.write_text(students.CATALOGUE, "utf-8")
        self.url = students.fill(f"duckdb:///{place / 'registry.duckdb'}", n)
        owners = [f"B{i:05d}" for i in range(n)]
        store.add_owners(owners)
        blocks = pl.DataFrame({"owner": owners[:80], "inference": "residence", "block": True})
        store.load(blocks, load(self.path).ids())
        self.asked = ASKED | {"sql": students.SQL}
        self.app = self.server()
        self.client = testclient.TestClient(self.app, follow_redirects=False)
        self.form = self.signed_in(self.client)

    def server(self, **changes):
        given = {"path": self.path, "database": self.url, "out": self.out, **changes}
        return create(load(self.path), self.store, **given)

    def signed_in(self, client, who=ADMIN):
        assert client.post("/in", data={"token": issue(self.store, who)}).status_code == 303
        return re.search(r'name="form" value="([^"]+)"', client.get("/", follow_redirects=True).text).group(1)

    def send(self, place, fields, **changes):
        return self.client.post(place, data={"form": self.form, **fields, **changes})

    def fields(self, place):
        """The fields of the first form of a page, as a browser would send them."""
        page = self.client.get(place).text
        form = page[page.index(f'<form method="post" action="{place}"') :]
        form = form[: form.index("</form>")]
        sent = dict(re.findall(r'<input (?:type="hidden" )?(?:id="[^"]*" )?name="([^"]+)" value="([^"]*)"', form))
        sent |= dict(re.findall(r'<textarea id="[^"]*" name="([^"]+)"[^>]*>\n(.*?)</textarea>', form, flags=re.DOTALL))
        sent |= dict(re.findall(r'<input type="checkbox" id="[^"]*" name="([^"]+)" value="([^"]+)" checked', form))
        for name, options in re.findall(r'<select id="[^"]*" name="([^"]+)">(.*?)</select>', form):
            sent[name] = re.search(r'value="([^"]*)" selected', options + 'value="" selected').group(1)
        return {key: html.unescape(value) for key, value in sent.items()}


@pytest.fixture
def publisher(tmp_path, students, store):
    return Publisher(tmp_path, students, store)


def said(answer):
    found = re.search(r'role="alert">(.*?)</div>', answer.text, flags=re.DOTALL)
    return "" if found is None else html.unescape(re.sub(r"<[^>]+>", " ", found.group(1)))


def entered(publisher, **changes):
    answer = publisher.send("/admin/request/new", publisher.asked | changes, action="save")
    assert answer.status_code == 303, said(answer)
    return answer.headers["location"].partition("?")[0]


def test_only_an_administrator_sees_and_changes_anything(publisher):
    place, before = entered(publisher), publisher.path.read_text("utf-8")
    places = ("/admin/inference/residence", "/admin/inference/new", "/admin/requests", place)
    stranger = testclient.TestClient(publisher.app, follow_redirects=False)
    assert [stranger.get(where).status_code for where in places] == [403] * 4
    form = publisher.signed_in(stranger, "B00001")
    for where in places:
        assert words("en")["refused_admin"] in stranger.get(where).text
        sent = {"form": form, "action": "save", **publisher.asked}
        assert stranger.post(where, data=sent).status_code in (403, 405)
    for changes in ({"form": "forged"}, {"form": ""}):
        for where in places[:2] + places[3:]:
            assert (
                publisher.client.post(where, data={**publisher.asked, **changes, "action": "save"}).status_code == 403
            )
    evil = {"origin": "http://evil.example"}
    assert (
        publisher.client.post(place, data={"form": publisher.form, "action": "refuse"}, headers=evil).status_code == 403
    )
    assert publisher.path.read_text("utf-8") == before
    assert [one.status for one in requests(publisher.store).values()] == ["open"]


def test_an_inference_is_edited_and_applies_at_once(publisher):
    place = "/admin/inference/residence"
    fields = publisher.fields(place)
    assert fields["rule:0:needs"] == "50 %"
    assert fields["rule:0:tables"].splitlines()[0] == "personal: province, canton, district, street"
    before = load(publisher.path)
    unchanged = publisher.send(place, fields, action="save")
    assert unchanged.headers["location"] == f"{place}?saved=1"
    assert load(publisher.path) == before, "what was not changed stays"
    fields |= {"description:en": "Learn my address", "extra": "7", "rule:0:needs": "2", "category": "personal"}
    fields |= {
        "rule:1:tables": "enrolment: school\nstudent",
        "rule:1:values": "enrolment.year = 2015\ndata: benefit != 3",
    }
    fields |= {"rule:1:needs": "1", "rule:1:active": "yes", "seen": publisher.fields(place)["seen"]}
    assert publisher.send(place, fields, action="save").status_code == 303
    one = load(publisher.path)["residence"]
    assert (one.description["en"], one.extra, one.category) == ("Learn my address", 7, "personal")
    assert one.description["ca"] == before["residence"].description["ca"]
    assert (one.rules[0].minimum, one.rules[0].threshold) == (2, None)
    assert one.rules[1].tables == {"enrolment": ("school",), "student": ()}
    assert [(v.table, v.field, v.op, v.literal, v.scope) for v in one.rules[1].values] == [
        ("enrolment", "year", "=", "2015", "predicate"),
        (None, "benefit", "!=", "3", "data"),
    ]
    owner = testclient.TestClient(publisher.app, follow_redirects=False)
    publisher.signed_in(owner, "B00001")
    assert "Learn my address" in owner.get("/").text, "owners see it without a restart"
    assert publisher.store.trail(1)[0]["what"] == "catalogue"


WRONG = [
    ({"rule:0:tables": "personal: a\n: b"}, "Rule 1, tables, line 2"),
    ({"rule:0:values": "year"}, "Rule 1, values, line 1"),
    ({"rule:0:needs": "many"}, "“many”"),
    ({"rule:0:needs": "0"}, "“0”"),
    ({"extra": "-3"}, "greater than or equal to 1"),
    ({"extra": "0"}, "greater than or equal to 1"),
    ({"extra": "some"}, "“some”"),
    ({"description:en": " ", "description:es": "", "description:ca": ""}, "at least one language"),
    ({"category": "planets"}, "planets"),
    ({"rule:0:tables": "personal: a, A"}, "names a field twice"),
    ({"seen": "0" * 64}, "Somebody changed the catalogue"),
]


def test_a_wrong_inference_is_told_and_not_written(publisher):
    place, before = "/admin/inference/residence", publisher.path.read_bytes()
    fields = publisher.fields(place)
    for changes, told in WRONG:
        answer = publisher.send(place, fields | changes, action="save")
        assert (answer.status_code, told in said(answer)) == (422, True), (changes, said(answer))
        assert words("en")["not_done"] in said(answer)
        for key, value in changes.items():
            if key.startswith("rule"):
                assert html.escape(value.splitlines()[-1], quote=False) in answer.text, "what was typed stays"
        sent = {"form": publisher.form, **fields, **changes, "action": "save"}
        spanish = publisher.client.post(place, data=sent, headers={"accept-language": "es"})
        assert words("es")["not_done"] in said(spanish)
        if "“" in told:
            assert told.strip("“”") in said(spanish)
    assert publisher.path.read_bytes() == before


def test_a_check_tells_what_would_change_and_writes_nothing(publisher):
    request, before = entered(publisher), publisher.path.read_bytes()
    place = "/admin/inference/timetable"
    fields = publisher.fields(place) | {
        "rule:1:tables": "enrolment: score",
        "rule:1:needs": "100 %",
        "rule:1:active": "yes",
    }
    answer = publisher.send(place, fields, action="check")
    assert answer.status_code == 200
    assert words("en")["consequences_none"] in answer.text, "its first rule fires already: one element is enough"
    fields |= {"rule:0:active": "", "rule:1:tables": ""}
    shown = publisher.send(place, fields, action="check").text
    assert f'href="{request}"' in shown
    assert "residence, timetable → residence" in html.unescape(shown)
    assert publisher.path.read_bytes() == before


def test_a_rule_is_proposed_from_a_query_and_a_new_inference_added(publisher):
    fields = publisher.fields("/admin/inference/new")
    fields |= {
        "id": "benefits",
        "description:en": "My benefits",
        "query": "SELECT benefit FROM personal WHERE card = 'x'",
    }
    page = publisher.send("/admin/inference/new", fields, action="propose").text
    assert "personal: benefit, card" in page
    fields |= {"rule:0:tables": "personal: benefit", "seen": re.search(r'name="seen" value="([^"]+)"', page).group(1)}
    assert publisher.send("/admin/inference/new", fields, action="save").status_code == 303
    one = load(publisher.path)["benefits"]
    assert one.realisations[0].sql.startswith("SELECT benefit")
    again = publisher.send("/admin/inference/new", publisher.fields("/admin/inference/new") | fields, action="save")
    assert again.status_code == 422, "seen before it was added"
    fields["seen"] = publisher.fields("/admin/inference/new")["seen"]
    assert "occurs twice" in said(publisher.send("/admin/inference/new", fields, action="save"))
    bad = publisher.send("/admin/inference/new", fields | {"query": "DROP TABLE personal"}, action="propose")
    assert bad.status_code == 422
    assert said(bad)


def test_an_inference_that_somebody_blocks_is_not_removed(publisher):
    place = "/admin/inference/residence"
    fields = publisher.fields(place)
    answer = publisher.send(place, fields, action="remove", sure="yes")
    assert "80 blocks of 80 owners would be ignored" in said(answer)
    assert words("en")["problem_sure"] in said(publisher.send("/admin/inference/grant", {}, action="remove"))
    assert load(publisher.path).ids() == ["residence", "timetable", "grant"]
    seen = {"seen": fields["seen"]}
    assert publisher.send("/admin/inference/grant", seen, action="remove", sure="yes").status_code == 303
    assert load(publisher.path).ids() == ["residence", "timetable"]
    assert publisher.client.get("/admin/inference/grant").status_code == 404


def test_a_file_that_was_changed_by_hand_is_not_overwritten(publisher):
    place = "/admin/inference/residence"
    fields = publisher.fields(place)
    publisher.path.write_text(publisher.path.read_text("utf-8").replace("extra = 20", "extra = 25"), "utf-8")
    assert publisher.send(place, fields, action="save").status_code == 422
    assert load(publisher.path)["timetable"].extra == 25


def test_a_request_is_looked_at_before_it_is_published(publisher):
    place = entered(publisher, sql=publisher.asked["sql"].replace("\n", "\r\n"))  # as browsers send lines
    assert requests(publisher.store)[1].sql == publisher.asked["sql"]
    trail, listed = len(publisher.store.trail()), publisher.client.get("/admin/requests").text
    assert "A newspaper" in listed
    page = publisher.client.get(place).text
    assert "Find out where I live" in page, "the query is read without running it"
    blind = publisher.send(place, {}, action="publish", sure="yes")
    assert words("en")["problem_unseen"] in said(blind)
    looked = publisher.send(place, publisher.asked, action="look")
    assert looked.status_code == 200, said(looked)
    shown = re.sub(r"<[^>]+>", " ", html.unescape(looked.text))
    assert "80–84" not in shown, "no count of those who block"
    assert publisher.store.trail()[0]["what"] == "look", "a look leaves a line in the audit trail"
    assert publisher.asked["sql"] not in publisher.store.trail()[0]["detail"]
    assert re.search(r"k = 15 for everybody; up to 35 for those whose wishes apply", shown)
    rows = re.findall(
        r'<th scope="row">(class|coarser|standard|control):.*?</th><td>(\d+) %</td><td>(\d+)</td>', looked.text
    )
    altered = {name: int(share) for name, share, _ in rows}
    assert set(altered) == {"standard", "control"}
    assert altered["standard"] <= altered["control"]
    assert {name: int(size) >= 15 for name, _, size in rows} == dict.fromkeys(altered, True)
    assert not publisher.out.exists(), "nothing is written by looking"
    other = publisher.send(place, publisher.asked | {"k": "20"}, action="look")
    assert "k = 20 for everybody" in other.text
    assert requests(publisher.store)[1].k == 15, "nor is the request changed"
    mixed = publisher.asked | {"k": "20", "seen": re.search(r'name="seen" value="([^"]+)"', looked.text).group(1)}
    assert words("en")["problem_unseen"] in said(publisher.send(place, mixed, action="publish", sure="yes"))
    assert len(publisher.store.trail()) == trail + 2
    seen = re.search(r'name="seen" value="([^"]+)"', looked.text).group(1)
    unsure = publisher.send(place, {"seen": seen}, action="publish")
    assert words("en")["problem_sure"] in said(unsure)
    done = publisher.send(place, publisher.asked | {"seen": seen}, action="publish", sure="yes")
    assert done.status_code == 303, said(done)
    release = publisher.out / "request-0001"
    assert {path.name for path in release.iterdir()} >= {"data.csv", "certificate.json", "private.json", "report.html"}
    certificate = json.loads((release / "certificate.json").read_text())
    assert certificate["holds"]
    assert certificate["commitments"]
    assert "request-0001" in publisher.client.get(place).text
    assert publisher.send(place, {"reason": "too late"}, action="refuse").status_code == 422
    assert publisher.send(place, {"seen": seen}, action="publish", sure="yes").status_code == 422
    assert requests(publisher.store)[1].status == "published"
    assert [row["what"] for row in publisher.store.trail(2)] == ["published", "publication"]


def test_what_stops_a_publication_is_told_before(publisher):
    place = entered(publisher)
    strange = publisher.send(place, publisher.asked | {"k": "5000"}, action="look")
    assert strange.status_code in (200, 422)
    for changes, told in (
        ({"sql": "DROP TABLE student"}, "SELECT"),
        ({"owner": "nobody"}, "nobody"),
        ({"quasi": "planet", "tree": "", "rule": "class"}, "planet"),
        ({"tree": "", "rule": "coarser"}, "needs a tree"),
        ({"identifiers": ""}, "name"),
        ({"k": "x"}, "“x”"),
        ({"k": "1"}, "greater than or equal to 2"),
        ({"requester": ""}, "Who asks"),
        ({"acknowledge": "score"}, "line 1"),
        ({"rule": "magic"}, "magic"),
    ):
        answer = publisher.send(place, publisher.asked | changes, action="look")
        assert (answer.status_code, told in said(answer)) == (422, True), (changes, said(answer))
        assert 'value="publish"' not in answer.text
    assert not publisher.out.exists()
    assert requests(publisher.store)[1].sql == publisher.asked["sql"], "a request that fails is not kept instead"


def test_a_changed_catalogue_asks_for_another_look(publisher):
    place = entered(publisher)
    seen = re.search(r'name="seen" value="([^"]+)"', publisher.send(place, publisher.asked, action="look").text).group(
        1
    )
    edited = "/admin/inference/residence"
    assert publisher.send(edited, publisher.fields(edited) | {"extra": "40"}, action="save").status_code == 303
    answer = publisher.send(place, publisher.asked | {"seen": seen}, action="publish", sure="yes")
    assert words("en")["problem_unseen"] in said(answer)
    assert not publisher.out.exists()


def test_a_request_is_refused_with_a_reason(publisher):
    place = entered(publisher)
    assert words("en")["problem_reason"] in said(publisher.send(place, {"reason": " "}, action="refuse"))
    assert publisher.send(place, {"reason": "no <purpose>"}, action="refuse").status_code == 303
    page = publisher.client.get(place).text
    assert "no &lt;purpose&gt;" in page
    assert 'name="sql"' not in page, "what was answered cannot be changed"
    assert publisher.send(place, publisher.asked, action="save").status_code == 422
    assert publisher.client.get("/admin/request/2").status_code == 404
    assert publisher.client.get("/admin/request/x").status_code == 404


def test_without_a_file_or_a_database_it_is_said(publisher, students):
    bare = create(read_toml(students.CATALOGUE), publisher.store)
    client = testclient.TestClient(bare, follow_redirects=False)
    form = publisher.signed_in(client)
    assert words("en")["requests_none"] in client.get("/admin/requests").text
    assert words("en")["catalogue_fixed"] in client.get("/admin/inference/residence").text
    assert words("en")["no_database"] in client.get("/admin/request/new").text
    sent = {"form": form, **publisher.asked}
    assert client.post("/admin/request/new", data={**sent, "action": "save"}).status_code == 303
    looked = client.post("/admin/request/1", data={**sent, "action": "look"})
    assert (looked.status_code, "--database" in said(looked)) == (422, True)


# In a browser.


@pytest.mark.parametrize(("scheme", "language", "width"), [("light", "ca", 1100), ("dark", "es", 360)])
@pytest.mark.sampled
def test_the_publisher_works_by_keyboard_and_on_a_phone(browser, serve, publisher, accessible, scheme, language, width):
    w = words(language)
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, java_script_enabled=True
    )
    page = context.new_page()
    site = serve(publisher.server())

    def fine():
        accessible(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    page.goto(f"{site}/in/{issue(publisher.store, ADMIN)}?lang={language}")
    page.locator("main button").click()
    page.wait_for_url(f"{site}/admin")
    fine()
    page.get_by_role("link", name=w["requests"]).click()
    page.wait_for_url("**/admin/requests")
    assert w["requests_none"] in page.inner_text("main")
    fine()
    page.get_by_role("link", name=w["request_new"]).click()
    for name, value in publisher.asked.items():
        if name != "rule":
            page.fill(f"#{name}", value)
    page.get_by_role("button", name=w["save_request"], exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/request/1?saved=1")
    fine()
    page.get_by_role("button", name=w["look"]).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#outlook")
    assert w["outlook_text"] in page.inner_text("main")
    page.locator("summary").first.click()
    fine()
    page.locator("#sure").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name=w["publish"], exact=True).focus()
    page.keyboard.press("Enter")
    page.get_by_text(w["statuses"]["published"]).first.wait_for()
    assert page.url == f"{site}/admin/request/1"
    fine()
    page.goto(f"{site}/admin/inference/residence")
    page.fill("[name='rule:0:needs']", "?")
    page.get_by_role("button", name=w["save_catalogue"], exact=True).click()
    page.wait_for_selector("[role=alert]")
    assert w["not_done"] in page.inner_text("[role=alert]")
    fine()
    page.fill("[name='rule:0:needs']", "60 %")
    page.get_by_role("button", name=w["check"]).click()
    page.wait_for_selector("#effect")
    page.get_by_role("button", name=w["save_catalogue"], exact=True).click()
    page.wait_for_url("**?saved=1")
    fine()
    assert load(publisher.path)["residence"].rules[0].threshold == 0.6
    context.close()
