"""Answers of strangers never unveil a withheld group, and cannot flood the store."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from celosia.consent.owners.questionnaire import Answered, answer, tabulate
from celosia.consent.owners.tables import tables
from celosia.consent.publication.edition import FEWEST
from celosia.consent.site.overview import Overview
from celosia.consent.site.pages import words
from celosia.consent.site.signin import ADMIN, issue
from celosia.consent.site.web import MAX_ANONYMOUS, MAX_ANONYMOUS_PER_ADDRESS, create
from celosia.errors import DataError

testclient = pytest.importorskip("starlette.testclient")
ITEM = "item:grades:3"


@pytest.fixture
def store(store):
    store.add_owners([f"B{i}" for i in range(20)])
    return store


@pytest.fixture
def site(catalogue, store):
    return create(catalogue, store)


def visitor(site, store=None, owner=None, address="10.0.0.1"):
    client = testclient.TestClient(site, follow_redirects=False, client=(address, 1))
    if owner is not None:
        assert client.post("/in", data={"token": issue(store, owner)}).status_code == 303
    return client


def send(client, value="0", group="A"):
    return client.post("/questions", data={ITEM: value, "group": group})


def seen(site, store):
    return visitor(site, store, ADMIN).get("/admin/answers").text


def test_four_strangers_do_not_unveil_the_answer_of_one(site, store):
    """One real answer of 4 and fakes of 0: whoever sees the mean of a group of five would know it."""
    send(visitor(site, store, "B1"), "4")
    for i in range(FEWEST + 20):
        assert send(visitor(site, address=f"10.0.1.{i}")).status_code == 303
    page = seen(site, store)
    assert words("en")["answers_none"] in page
    assert "<svg" not in page


def test_the_same_owner_counts_once(site, store):
    for visit in range(FEWEST):
        client = visitor(site, store, "B1")
        answered = send(client)
        assert answered.status_code == (303 if visit == 0 else 403)
    assert words("en")["refused_answered"] in answered.text
    assert words("en")["answers_none"] in seen(site, store)
    assert tabulate(store).respondents == {"A": 1}


def test_the_administrator_counts_as_a_stranger(site, store):
    for _ in range(FEWEST):
        assert send(visitor(site, store, ADMIN)).status_code == 303
    assert words("en")["answers_none"] in seen(site, store)


def test_five_who_were_signed_in_are_shown_together_with_the_others(site, store):
    for i in range(FEWEST):
        send(visitor(site, store, f"B{i}"), "4")
    send(visitor(site), "0")
    page = seen(site, store)
    rows = [re.sub(r"<[^>]+>", "|", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
    assert sum("3.3" in row for row in rows) == 1, "the mean of five times 4 and one 0"
    assert page.count(words("en")["withheld"]) > 40


def test_a_question_that_few_answered_stays_withheld_in_a_group_that_is_shown(store, catalogue):
    for i in range(FEWEST):
        answer(store, {"trust:0": 1} | ({ITEM: 4} if i == 0 else {}), "A", owner=f"B{i}")
    for _ in range(10):
        answer(store, {ITEM: 0}, "A")
    found = tabulate(store).without_few(FEWEST)
    assert found.respondents == {"A": 15}
    assert found.frame["question"].to_list() == ["trust:0"]
    assert "0.4" not in Overview(catalogue, store).answers("f", "en")


def test_an_answer_does_not_name_its_owner(store):
    name = answer(store, {ITEM: 4}, "A", owner="B1")
    with store.engine.connect() as connection:
        rows = [tuple(map(str, row)) for row in connection.execute(tables().answers.select())]
    assert "B1" not in str(rows)
    assert name not in str(store.export("B1"))
    assert store.export("B1")["questionnaire"] == "answered"
    assert store.export("B2")["questionnaire"] == "not answered"
    with pytest.raises(Answered):
        answer(store, {ITEM: 4}, "B", owner="B1")
    assert tabulate(store).respondents == {"A": 1}, "nothing of the second was stored"
    store.forget("B1")
    assert tabulate(store).respondents == {"A": 1}, "what nobody's name is on stays"


def test_an_answer_that_is_refused_leaves_the_owner_free_to_answer(store):
    with pytest.raises(DataError):
        answer(store, {ITEM: 9}, "A", owner="B1")
    answer(store, {ITEM: 4}, "A", owner="B1")


def test_strangers_are_slowed_down_each_and_together(site, store, monkeypatch):
    now = [1000.0]  # by a clock of its own: a slow machine would give tokens back meanwhile
    monkeypatch.setattr("celosia.web.limits.time", SimpleNamespace(monotonic=lambda: now[0]))
    one = visitor(site)
    answered = [send(one).status_code for _ in range(MAX_ANONYMOUS_PER_ADDRESS + 5)]
    assert answered == [303] * MAX_ANONYMOUS_PER_ADDRESS + [429] * 5
    assert words("en")["refused_often"] in send(one).text
    others = [send(visitor(site, address=f"10.0.2.{i}")).status_code for i in range(MAX_ANONYMOUS)]
    assert others.count(429) >= MAX_ANONYMOUS_PER_ADDRESS
    assert others[: MAX_ANONYMOUS // 2].count(429) == 0
    assert send(visitor(site, store, "B1", address="10.0.0.1")).status_code == 303, "who is signed in is not slowed"
    now[0] += 60
    assert send(one).status_code == 303, "a minute later they may again"


def test_the_page_says_what_counts(site, store):
    assert words("en")["questions_open"].format(least=FEWEST) in visitor(site).get("/questions").text
    assert words("en")["questions_signed"] in visitor(site, store, "B1").get("/questions").text
    assert words("en")["questions_open"].format(least=FEWEST) in visitor(site, store, ADMIN).get("/questions").text
