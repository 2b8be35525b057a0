"""Visits: none is lost, and each ends."""

from __future__ import annotations

import sys
import threading

import pytest

from celosia.web.sessions import Sessions


def test_no_visitor_is_lost_when_many_come_at_once():
    sessions, names = Sessions(60), []
    switch, started = sys.getswitchinterval(), threading.Barrier(8)

    def come():
        started.wait()
        for i in range(200):
            names.append((sessions.start(f"X{i}"), f"X{i}"))
            sessions.end_all("nobody")

    threads = [threading.Thread(target=come) for _ in range(8)]
    sys.setswitchinterval(1e-6)
    try:
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    finally:
        sys.setswitchinterval(switch)
    assert len(names) == 1600
    assert all((found := sessions.find(name)) and found.who == owner for name, owner in names)


@pytest.mark.parametrize(("prolonged", "left"), [(True, True), (False, False)])
def test_a_request_prolongs_a_visit_only_where_asked(prolonged, left):
    now = [100.0]
    sessions = Sessions(60, prolonged=prolonged, clock=lambda: now[0])
    name = sessions.start("ana")
    for _ in range(3):
        now[0] += 40
        found = sessions.find(name)
    assert (found is not None) == left
    now[0] += 59
    assert (sessions.find(name) is not None) == left
    now[0] += 60
    assert sessions.find(name) is None
