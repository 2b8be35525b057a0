"""A lock of the store delays only who needs it, and for a bounded time."""

from __future__ import annotations

import re
import socket
import sqlite3
import threading
import time
from contextlib import ExitStack, closing, contextmanager

import httpx
import pytest

from celosia.consent.owners.store import Preferences
from celosia.consent.site.pages import words
from celosia.consent.site.signin import issue
from celosia.consent.site.web import create
from celosia.data.io.durable import Unavailable

testclient = pytest.importorskip("starlette.testclient")
PATIENCE = 3.0
SOON = 2.0
"""Seconds in which a page that needs no lock is there, also on a busy machine: less than the patience of the others."""


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    return tmp_path / "choices.db" if request.param == "sqlite" else request.getfixturevalue("fresh_postgres")


@pytest.fixture
def store(where):
    Preferences.create(where).close()
    with closing(Preferences(where, patience=PATIENCE)) as opened:
        opened.add_owners(["B00001", "B00002"])
        yield opened


@contextmanager
def locked(where):
    """Another program that writes and does not end."""
    if str(where).startswith("postgresql"):
        import psycopg

        with psycopg.connect(where) as connection:
            connection.execute("LOCK TABLE consent_owners, consent_choices, consent_answers IN ACCESS EXCLUSIVE MODE")
            yield
            connection.rollback()
    else:
        with closing(sqlite3.connect(where, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield
            connection.execute("ROLLBACK")


@contextmanager
def visiting(site, store, owner="B00001"):
    with httpx.Client(base_url=site, timeout=60) as client:
        client.post("/in", data={"token": issue(store, owner)})
        form = re.search(r'name="form" value="([^"]+)"', client.get("/").text).group(1)
        yield client, form


def taken(job):
    start = time.monotonic()
    return job(), time.monotonic() - start


def test_a_lock_delays_the_request_concerned_and_no_other(where, store, catalogue, serve):
    site = serve(create(catalogue, store))
    answers = []
    with visiting(site, store) as (client, form), locked(where):
        sent = {"form": form, "choice:residence": "block"}
        saving = threading.Thread(target=lambda: answers.append(taken(lambda: client.post("/choices", data=sent))))
        saving.start()
        time.sleep(0.5)  # it waits for the lock now
        for path in ("/", "/style.css", "/questions", "/in/abc"):
            page, seconds = taken(lambda path=path: httpx.get(site + path, timeout=60))
            assert (page.status_code, seconds < SOON) == (200, True), (path, seconds)
        guess, seconds = taken(lambda: httpx.post(f"{site}/in", data={"token": "guessed"}, timeout=60))
        assert (guess.status_code, seconds < SOON) == (403, True), "a link that is none needs no lock"
        saving.join()
        refused, seconds = answers[0]
        assert refused.status_code == 503
        assert seconds < PATIENCE + SOON
        assert int(refused.headers["retry-after"]) > 0
        assert words("en")["refused_busy"] in refused.text
    with visiting(site, store) as (client, form):
        assert store.history("B00001") == [], "nothing was saved"
        client.post("/choices", data={"form": form, "choice:residence": "block"})
        assert len(store.history("B00001")) == 1, "when the lock is gone it works"


def test_many_who_wait_do_not_take_the_place_of_all_others(where, store, catalogue, serve):
    site = serve(create(catalogue, store))
    with locked(where):
        found = []

        def send():
            found.append(httpx.post(f"{site}/questions", data={"trust:0": "2"}, timeout=60).status_code)

        threads = [threading.Thread(target=send) for _ in range(60)]
        for one in threads:
            one.start()
        time.sleep(1)
        page, seconds = taken(lambda: httpx.get(site, timeout=60))
        for one in threads:
            one.join()
    assert page.status_code == 200
    assert seconds < SOON
    assert set(found) == {503}


def test_a_server_that_ends_the_connection_is_no_internal_error(fresh_postgres, catalogue):
    import psycopg

    with closing(Preferences.create(fresh_postgres)) as store:
        client = testclient.TestClient(create(catalogue, store), raise_server_exceptions=False, follow_redirects=False)
        assert client.post("/questions", data={"trust:0": "2"}).status_code == 303
        with psycopg.connect(fresh_postgres, autocommit=True) as other:
            own = "datname = current_database() AND pid <> pg_backend_pid()"
            other.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {own}")
        assert client.post("/questions", data={"trust:0": "2"}).status_code == 503
        assert client.post("/questions", data={"trust:0": "2"}).status_code == 303


def test_who_sends_slowly_takes_nobodys_place(catalogue, tmp_path, serve):
    with closing(Preferences.create(tmp_path / "choices.db")) as store, ExitStack() as open_for_ever:
        site = serve(create(catalogue, store))
        host, port = site.removeprefix("http://").split(":")
        head = "POST /questions HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
        for _ in range(50):
            slow = open_for_ever.enter_context(socket.create_connection((host, int(port))))
            slow.sendall(f"{head}Content-Length: 100\r\n\r\n".encode())
        time.sleep(0.5)
        sent = httpx.post(f"{site}/questions", data={"trust:0": "2"}, timeout=60)
        assert sent.status_code == 303


def test_the_answer_to_a_lock_is_said_in_the_language(where, store, catalogue, serve):
    site = serve(create(catalogue, store))
    with locked(where):
        sent, headers = {"trust:0": "2"}, {"accept-language": "ca"}
        page = httpx.post(f"{site}/questions", data=sent, headers=headers, timeout=60)
    assert words("ca")["refused_busy"].split(".")[0] in page.text.replace("&#39;", "'")


def test_a_lock_is_an_error_with_a_sentence(where, store):
    with locked(where), pytest.raises(Unavailable, match="in use by another program; nothing was changed"):
        store.choose("B00001", {"residence": True}, ["residence"])
    assert store.history("B00001") == []
    store.choose("B00001", {"residence": True}, ["residence"])
