"""Nothing that an analyst can read over HTTP takes longer, or shows a later time, because of one person.

Statistic: z of Mann-Whitney between what is read when a condition on the person holds and when it does not (or with the
person's rows and without), asked in random order. A channel is reported at ``|z| >= 5``: a false alarm has probability
6e-7 per comparison. With 400 readings a side, a shift of half a standard deviation is found with probability 0.95: enough
for the known channels on a machine with other work. The time grid of the test has 2 ms instead of 50, so that a difference
is 25 times as large against the random delay: 400 readings are worth 250 000 on the default grid.

Power is shown by putting the known channels back: exact times in the history, joins before rows per person are bounded,
work of a row that is skipped where a condition fails and is not bounded, and sorts whose time is not part of the grid
(that of SQLite is smaller than the noise of HTTP: ``test_sorts`` finds it in the time of the processor; DuckDB does not
sort). For joins and sorts the grid is 4 times what one person may add, not 400 times: a difference is 100 times as large.
"""

from __future__ import annotations

import http.client
import json
import re
import time
from collections import defaultdict
from contextlib import ExitStack, closing
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.gateway.neighbours.clinics import run
from tests.gateway.test_record_and_time import told_apart
from tests.trust.tried import Tried, tried

from celosia.data.io.statement import quote_name
from celosia.gateway import gateway as gateways
from celosia.gateway.gateway import Gateway
from celosia.gateway.keys import Keys
from celosia.gateway.ledger import Ledger, chain
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.web import create
from celosia.gateway.sql import build, emit, values
from celosia.gateway.sql.scope import Scope
from celosia.gateway.sql.steps import Steps

pytest.importorskip("uvicorn")
pytestmark = pytest.mark.xdist_group("times")
KINDS = ("sqlite", "duckdb", "postgresql")
CHANNELS = ("history", "work", "join", "sort")
GRID = 0.002
LIMIT = 5.0
WHOLE = {"type": "integer"}
COLUMNS = {"id": WHOLE, "income": {"type": "integer", "bounds": [0, 1000]}, "note": {"type": "text"}}
SAMPLES = 30_000
TABLES = {
    "sample": {"person": "id", "unique": True, "size": SAMPLES + 1, "columns": {"id": WHOLE, "code": {"type": "text"}}},
    "patient": {"person": "id", "unique": True, "size": 120, "columns": COLUMNS},
    "visit": {"person": "patient", "rows": 3, "size": 120, "columns": {"patient": WHOLE}},
}
JOINED = (
    "SELECT COUNT(*) FROM visit a JOIN visit b ON a.patient = b.patient JOIN visit c ON b.patient = c.patient "
    "JOIN visit d ON c.patient = d.patient"
)


SORTED = "SELECT COUNT(DISTINCT code) FROM sample"


def searching(words: int, limit: int) -> str:
    """A query whose condition on one person guards as many searches in that person's text."""
    heavy = " OR ".join(f"note LIKE '%eeeeeeeeeee{i:03}%'" for i in range(words))
    return (
        f"SELECT SUM(CASE WHEN id = 17 AND income >= {limit} THEN CASE WHEN {heavy} THEN 1 ELSE 2 END ELSE 3 END) "
        "FROM patient"
    )


def opened(kind, place, visits, databases):
    """A gateway over a hundred patients, one of whom has a long text and so many visits."""
    place.mkdir()
    url = databases() if kind == "postgresql" else f"{kind}:///{place / 'd.db'}"
    made = ["CREATE TABLE patient (id INTEGER, income INTEGER, note TEXT)", "CREATE TABLE visit (patient INTEGER)"]
    made += [f"INSERT INTO patient VALUES ({i}, 500, '{'e' * 1000 if i == 17 else 'note'}')" for i in range(100)]
    made += [f"INSERT INTO visit VALUES ({i})" for i in range(100) for _ in range(visits if i == 17 else 1)]
    made += samples(kind, out_of_order=visits > 1)
    run(url, made)
    declared = {"name": "d", "epsilon": 1000.0, "database": url, "tables": TABLES}
    declared["joins"] = [{"left": "visit.patient", "right": "visit.patient"}]
    return Gateway(DatasetFacts.of(declared), Ledger.create(place / "ledger.db"), grid=GRID)


def samples(kind, *, out_of_order):
    """Statements for samples that are stored in the order of their codes, but for one person's."""
    made = ["CREATE TABLE sample (id INTEGER, code TEXT)"]
    if out_of_order:
        made.append("INSERT INTO sample VALUES (-1, 'yyyy')")
    if kind == "sqlite":
        numbers = f"WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < {SAMPLES})"
        return [*made, f"INSERT INTO sample {numbers} SELECT i, printf('x%039d', i) FROM s"]
    numbers = f"generate_series(1, {SAMPLES}) AS s(i)"
    return [*made, f"INSERT INTO sample SELECT i, 'x' || lpad(CAST(i AS TEXT), 39, '0') FROM {numbers}"]


class Reader:
    """Asks one gateway over HTTP and notes what can be read of each query."""

    def __init__(self, address: str, key: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._key, self.bodies = key, set()

    def _call(self, method: str, path: str, body: str | None = None, **headers: str) -> str:
        self._connection.request(method, path, body, {**self._headers, **headers})
        answer = self._connection.getresponse()
        text = answer.read().decode()
        assert answer.status in (200, 303), text
        self.cookie = answer.getheader("set-cookie", "").partition(";")[0]
        return text

    def ask(self, sql: str) -> dict[str, float]:
        """Seconds of the response, and seconds between the lines of the history that belong to it."""
        start = time.perf_counter()
        text = self._call("POST", "/api/query", json.dumps({"sql": sql, "epsilon": 0.001, "fresh": True}))
        taken = time.perf_counter() - start
        history = self._call("GET", "/api/history?limit=2")
        self.bodies |= {text, history}
        answered, charged = (np.datetime64(line["at"].partition("+")[0].strip("Z")) for line in json.loads(history))
        return {"response": taken, "history": float((answered - charged) / np.timedelta64(1, "us")) / 1e6}

    def pages(self) -> None:
        """Read the page with the history, an answer and its file."""
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        self._call("POST", "/login", f"key={self._key}", **form)
        self._headers["Cookie"] = self.cookie
        page = self._call("GET", "/")
        (number, *_) = re.findall(r"/answer/(\d+)\.csv", page)
        self.bodies |= {page, self._call("GET", f"/?answer={number}"), self._call("GET", f"/answer/{number}.csv")}
        self.bodies |= {self._call("GET", "/api/budget"), self._call("GET", "/api/schema")}


def channels(pairs, readings: int) -> dict[str, float]:
    """Largest standard errors by which each field tells the two sides apart, asked in random order."""
    order = np.random.default_rng(3).permutation(np.repeat([0, 1], readings))
    read = defaultdict(lambda: ([], []))
    for reader, sql in pairs:
        reader.ask(sql)  # plans are cached
    for side in order:
        reader, sql = pairs[side]
        for field, value in reader.ask(sql).items():
            read[field][side].append(value)
    return {field: abs(told_apart(*map(np.array, sides))) for field, sides in read.items()}


def put_back(channel: str, monkeypatch) -> None:
    """Bring a known channel back."""
    if channel == "sort":
        monkeypatch.setattr(build, "SORT_SECONDS", 0.0)
        monkeypatch.setattr(build, "SORT_TEXT_SECONDS", dict.fromkeys(build.SORT_TEXT_SECONDS, 0.0))
        monkeypatch.setattr(emit, "_hash", lambda text: text)
        return
    if channel == "join":
        monkeypatch.setattr(Scope, "_relation", lambda self, table: quote_name(self._physical[table.name]))
        return
    monkeypatch.setattr(Steps, "column", lambda _, value: value)
    monkeypatch.setattr(build, "_refuse_work", lambda _: None)
    monkeypatch.setattr(values, "matches", lambda sql, pattern, _: f"({sql} LIKE '{pattern}')")
    if channel == "history":
        monkeypatch.setattr(chain, "shown_times", lambda entries: {entry.seq: entry.at for entry in entries})


def faster_sorts(channel, monkeypatch):
    """Answer on a grid that is 4 times as coarse as what one person may add to sorts, instead of 400 times."""
    if channel in ("join", "sort"):
        monkeypatch.setattr(gateways, "STEP_PER_PERSON_TIME", 4)


def measured(channel, kind, readings, known, place, serve, databases):
    """Standard errors of each field, and the bodies that were read."""
    with ExitStack() as stack:
        readers = []
        for name, visits in (("with", 12), ("without", 1)):
            gateway = stack.enter_context(closing(opened(kind, place / name, visits, databases)))
            keys = Keys.create(place / name / "keys.json")
            readers.append(Reader(serve(create(gateway, keys, per_minute=10**6)), keys.add("eve")))
        if channel in ("join", "sort"):
            pairs = [(reader, JOINED if channel == "join" else SORTED) for reader in readers]
        else:
            pairs = [(readers[0], searching(240 if known else 12, limit)) for limit in (400, 600)]
        found = channels(pairs, readings)
        if not known:
            readers[0].pages()
        return found, set().union(*(reader.bodies for reader in readers))


def cases(readings, left_out=()):
    return [
        pytest.param(channel, kind, readings, marks=pytest.mark.long, id=f"{channel}-{kind}-{readings}")
        for channel in CHANNELS
        for kind in KINDS
        if (channel, kind) not in left_out
    ]


@pytest.mark.parametrize(("channel", "kind", "readings"), cases(400, [("sort", "duckdb"), ("sort", "sqlite")]))
def test_a_known_channel_is_found(channel, kind, readings, tmp_path, serve, request, monkeypatch):
    databases = request.getfixturevalue("databases") if kind == "postgresql" else None
    faster_sorts(channel, monkeypatch)
    put_back(channel, monkeypatch)
    found, _ = measured(channel, kind, readings, True, tmp_path, serve, databases)
    assert found["history" if channel == "history" else "response"] >= LIMIT, found


@pytest.mark.parametrize(("channel", "kind", "readings"), [case for case in cases(400) if case.values[0] != "history"])
def test_no_channel_is_found(channel, kind, readings, tmp_path, serve, request, monkeypatch):
    databases = request.getfixturevalue("databases") if kind == "postgresql" else None
    faster_sorts(channel, monkeypatch)
    found, bodies = measured(channel, kind, readings, False, tmp_path, serve, databases)
    print(channel, kind, readings, {field: round(z, 2) for field, z in found.items()})
    if readings > 40:
        what = f"read over HTTP what {kind} shows of one person by time ({channel}), {len(found)} fields"
        failures = sum(z >= LIMIT for z in found.values())
        tried(f"channels-{channel}-{kind}", [Tried(what, 2 * readings, failures, "five standard errors")])
    assert max(found.values()) < LIMIT, found
    # no time with seconds is in anything that was read
    assert [re.findall(r".{20}\d\d:\d\d:\d\d.{9}", body) for body in bodies if re.search(r"\d\d:\d\d:\d\d", body)] == []
