"""Other accounts of the machine may serve other ports: what a browser sends them does not open the studio."""

from __future__ import annotations

import http.server
import os
import pty
import re
import select
import socket
import subprocess
import sys
import threading
import time

import pytest
from tests.studio.conftest import until

from celosia.errors import InputError
from celosia.web import sockets
from celosia.web.sockets import loopback

pytestmark = pytest.mark.xdist_group("studio-other-servers")


class Recorder(http.server.BaseHTTPRequestHandler):
    """Answers with a page that calls the studio's port in every way, and keeps what it receives."""

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        port = self.server.studio_port
        hosts = ("127.0.0.1", "localhost")
        body = "".join(f'<img src="http://{host}:{port}/data">' for host in hosts) + '<a id="on" href="/next">on</a>'
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Set-Cookie", "celosia-studio=forged; Path=/")
        self.end_headers()
        self.wfile.write(f"<!doctype html>{body}".encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def other(begun):
    """A server of another account on a port of its own."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.seen, server.studio_port = [], begun.port
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_server_on_another_port_receives_nothing_that_opens_the_studio(begun, other, browser):
    context = browser.new_context()
    page = context.new_page()
    page.goto(begun.link)
    page.wait_for_url(f"{begun.address}/")
    page.goto(f"{begun.address}/data")
    session = {cookie["name"]: cookie["value"] for cookie in context.cookies()}["celosia-studio"]
    secret = begun.address.removeprefix("http://").partition(".")[0]
    port = other.server_address[1]
    for host in ("127.0.0.1", "localhost", "x.localhost"):
        page.evaluate(f"() => {{ location.href = 'http://{host}:{port}/from-the-studio' }}")  # as a link would
        page.wait_for_url(f"http://{host}:{port}/from-the-studio")
        page.locator("#on").click()
        page.wait_for_url(f"http://{host}:{port}/next")
        popup = context.new_page()
        popup.goto(f"http://{host}:{port}/typed")
        popup.close()
        page.goto(f"{begun.address}/data")
    assert len([path for path, _ in other.seen if path != "/favicon.ico"]) == 9
    for path, headers in other.seen:
        assert session not in str(headers), path
        assert secret not in str(headers), f"{path}: the name of the host would make the browser send its cookies"
    assert page.goto(f"{begun.address}/data").status == 200, "forged cookies of other hosts do not end the session"
    assert page.goto(f"http://127.0.0.1:{begun.port}/data").status == 421
    context.close()


def test_a_server_under_the_same_name_would_receive_the_cookie(begun, other, browser):
    """The test above can fail: whoever knows the name receives the session."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(begun.link)
    page.wait_for_url(f"{begun.address}/")
    page.goto(f"{begun.address.rpartition(':')[0]}:{other.server_address[1]}/typed")
    assert "celosia-studio=" in str(other.seen[0])
    context.close()


def test_the_port_is_taken_on_both_loopback_addresses():
    opened = loopback(0)
    try:
        port = opened[0].getsockname()[1]
        assert len({each.getsockname()[1] for each in opened}) == 1
        assert [each.getsockname()[0] for each in opened] == ["127.0.0.1", "::1"]
        for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::")):
            with socket.socket(family) as second:
                second.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                with pytest.raises(OSError, match="in use"):
                    second.bind((host, port))
    finally:
        for each in opened:
            each.close()


def test_a_port_that_another_program_has_on_ipv6_is_not_used():
    with socket.socket(socket.AF_INET6) as first:
        first.bind(("::1", 0))
        first.listen()
        with pytest.raises(InputError, match=f"port {first.getsockname()[1]} is taken"):
            loopback(first.getsockname()[1])


def test_a_machine_without_ipv6_has_one_socket(monkeypatch):
    bound = sockets._listen

    def without(opened, address):
        if opened.family == socket.AF_INET6:
            opened.close()
            raise OSError(min(sockets.NO_IPV6), "no such address")
        return bound(opened, address)

    monkeypatch.setattr(sockets, "_listen", without)
    (only,) = loopback(0)
    only.close()


def test_the_studio_answers_on_both_addresses(tmp_path, browser):
    """A browser may try ::1 first for a name below localhost."""
    with Started(tmp_path) as studio:
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, studio.port), 5) as line:
                line.sendall(f"GET / HTTP/1.0\r\nHost: {studio.host}\r\n\r\n".encode())
                assert b" 403 " in line.recv(100)


def test_enter_in_the_terminal_prints_a_new_link(tmp_path, browser):
    with Started(tmp_path) as studio:
        first = browser.new_page()
        first.goto(studio.link)
        first.wait_for_url(f"http://{studio.host}/")
        second = browser.new_page()
        assert second.goto(studio.link).status == 403, "the link is spent"
        studio.press_enter()
        fresh = until(lambda: studio.links()[1:2])[0]
        assert fresh != studio.link
        second.goto(fresh)
        second.wait_for_url(f"http://{studio.host}/")
        assert first.goto(f"http://{studio.host}/show").status == 200, "the first session goes on"
        for page in (first, second):
            page.context.close()


class Started:
    """A studio that is started in a terminal."""

    def __init__(self, folder):
        self._master, slave = pty.openpty()
        command = [sys.executable, "-m", "celosia", "studio", str(folder / "clinic"), "--port", "0", "--no-browser"]
        self._process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env={**os.environ})
        os.close(slave)
        self._text = ""

    def __enter__(self):
        self.link = until(self.links)[0]
        self.host = self.link.removeprefix("http://").partition("/")[0]
        self.port = int(self.host.partition(":")[2])
        time.sleep(0.1)
        return self

    def links(self):
        while select.select([self._master], [], [], 0.05)[0]:
            self._text += os.read(self._master, 4096).decode()
        return re.findall(r"http://\S+?token=\S+(?=\s)", self._text)

    def press_enter(self):
        os.write(self._master, b"\n")

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait()
        os.close(self._master)
