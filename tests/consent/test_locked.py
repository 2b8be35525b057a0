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
PATIENCE = 0.5
LONG = 600.0
"""Longer than a test takes on any machine: what is answered meanwhile did not wait for the lock."""


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, tmp_path):
    return tmp_path / "choices.db" if request.param == "sqlite" else request.getfixturevalue("fresh_postgres")


@pytest.fixture
def store(where):
    with open_store(where, PATIENCE) as preferences:
        yield preferences


@contextmanager
def open_store(where, patience):
    Preferences.create(where).close()
    with closing(Preferences(where, patience=patience)) as preferences:
        preferences.add_owners(["B00001", "B00002"])
        yield preferences


def told(store, name, monkeypatch):
    """A semaphore that counts the calls of a method of the store, which goes on as it would."""
    calls, real = threading.Semaphore(0), getattr(store, name)

    def counted(*arguments, **named):
        calls.release()
        return real(*arguments, **named)

    monkeypatch.setattr(store, name, counted)
    return calls


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


def test_a_lock_delays_the_request_concerned_and_no_other(where, catalogue, serve, monkeypatch):
    with open_store(where, LONG) as store:
        site, saving = serve(create(catalogue, store)), told(store, "choose", monkeypatch)
        answers = []
        with visiting(site, store) as (client, form):
            sent = {"form": form, "choice:residence": "block"}
            with locked(where):
                waiting = threading.Thread(target=lambda: answers.append(client.post("/choices", data=sent)))
                waiting.start()
                assert saving.acquire(timeout=60)
                for path in ("/", "/style.css", "/questions", "/in/abc"):
                    assert httpx.get(site + path, timeout=60).status_code == 200, path
                guess = httpx.post(f"{site}/in", data={"token": "guessed"}, timeout=60)
                assert guess.status_code == 403, "a link that is none needs no lock"
                assert answers == [], "all of that was answered while somebody waited for the lock"
            waiting.join()
            assert answers[0].status_code in (200, 303)
            assert len(store.history("B00001")) == 1, "when the lock is gone it works"


def test_who_waits_for_a_lock_is_refused_after_a_while(where, store, catalogue, serve):
    site = serve(create(catalogue, store))
    with visiting(site, store) as (client, form), locked(where):
        refused = client.post("/choices", data={"form": form, "choice:residence": "block"})
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) > 0
        assert words("en")["refused_busy"] in refused.text
    assert store.history("B00001") == [], "nothing was saved"


def test_many_who_wait_do_not_take_the_place_of_all_others(where, catalogue, serve, monkeypatch):
    with open_store(where, LONG) as store:
        site, answering = serve(create(catalogue, store)), told(store, "transaction", monkeypatch)
        found = []

        def send():
            found.append(httpx.post(f"{site}/questions", data={"trust:0": "2"}, timeout=120).status_code)

        threads = [threading.Thread(target=send) for _ in range(60)]
        with locked(where):
            for thread in threads:
                thread.start()
            assert answering.acquire(timeout=60)
            page = httpx.get(site, timeout=60)
            assert page.status_code == 200
            assert 303 not in found, "nobody who waits was served before"
        for thread in threads:
            thread.join()
    assert set(found) <= {303, 503}
    assert 303 in found


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
        time.sleep(0.5)  # for the server to take them in: it cannot be asked whether it has
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
