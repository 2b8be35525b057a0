"""A studio that runs: one server and one browser per module, and a page that nothing foreign or broken passes."""

from __future__ import annotations

import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.web.watching import PATIENCE, watched

from celosia.studio.project import Project
from celosia.studio.security import Gate

uvicorn = pytest.importorskip("uvicorn")
testclient = pytest.importorskip("starlette.testclient")
pytest.importorskip("babel")
__all__ = ["PATIENCE"]


@dataclass
class Running:
    """A studio on a port of this machine."""

    project: Project
    port: int
    gate: Gate

    @property
    def address(self) -> str:
        return self.gate.address

    @property
    def link(self) -> str:
        """A new link for one browser."""
        return self.gate.link()


def until(check, seconds=60.0):
    """What a check gives once it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = check()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it did not come to pass")


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def running(folder: Path):
    from celosia.studio.app import create

    project, port = Project(folder), free_port()
    gate = create(project, port)
    server = uvicorn.Server(uvicorn.Config(gate, host="127.0.0.1", port=port, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield Running(project, port, gate)
    server.should_exit = True
    thread.join()


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A studio on an empty folder."""
    yield from running(tmp_path_factory.mktemp("studio") / "clinic")


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A studio on a folder with the demonstration of 300 persons and its policy."""
    from celosia.demo import prepare
    from celosia.studio.pages.start.create import add_seed

    folder = tmp_path_factory.mktemp("begun") / "clinic"
    place = prepare(folder, 300)
    place.write_text(add_seed(place.read_text("utf-8")), "utf-8")
    yield from running(folder)


class Desk:
    """A studio without a browser and without a port: pages as text, and forms that are sent."""

    def __init__(self, project: Project) -> None:
        from celosia.studio.app import create

        gate = create(project, 8360)
        self.project, self.here = project, gate.address
        self._client = testclient.TestClient(
            gate, base_url=self.here, follow_redirects=False, raise_server_exceptions=False
        )
        self._client.get(gate.link())

    def get(self, address, language="en"):
        return self._client.get(address, headers={"accept-language": language})

    def post(self, address, files=None, language="en", **sent):
        """Send a form that was made for the policy as it is now, unless it says another version."""
        given = {"version": self.project.version, "here": "/", **sent}
        headers = {"origin": self.here, "accept-language": language}
        return self._client.post(address, data=given, files=files, headers=headers)


@pytest.fixture
def desk():
    """Opens a project as a desk."""
    return Desk


def opened(browser, studio, **look):
    """A page that was entered by the link; at the end it must have no error on the console and no foreign request."""
    page = watched(browser, studio.address, studio.link, **look)
    page.wait_for_url(f"{studio.address}/")
    return page


@pytest.fixture
def visit(browser):
    """Opens pages of a studio; each must stay without errors and foreign requests."""
    pages = []

    def open_page(studio, **look):
        pages.append(opened(browser, studio, **look))
        return pages[-1]

    yield open_page
    for page in pages:
        page.context.close()
    assert [said for page in pages for said in page.wrong] == []
