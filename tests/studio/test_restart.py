"""The server as people start it: reload in the middle of a run, killed and started again, cancelled; nothing is lost."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.studio.conftest import PATIENCE, until

from celosia.demo import prepare
from celosia.studio.jobs import Jobs
from celosia.studio.project import Project

pytest.importorskip("babel")
pytestmark = pytest.mark.xdist_group("studio-restart")


def serve(folder, port):
    command = [sys.executable, "-m", "celosia", "studio", str(folder), "--port", str(port), "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    link = re.search(r"http://\S+", process.stdout.readline())
    assert link, "it says where it is"
    return process, link.group()


@pytest.fixture
def folder(tmp_path):
    return prepare(tmp_path / "clinic", 300).parent


@pytest.fixture
def server(folder):
    """A studio in a process of its own; ``start`` starts it again on the same port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    running = []

    def start():
        process, link = serve(folder, port)
        running.append(process)
        return process, link

    yield start
    for process in running:
        process.kill()
        process.wait()
        process.stdout.close()
    jobs = Jobs(Project(folder))
    for job in jobs.all():
        jobs.cancel(job.id)


def test_it_listens_on_the_loopback_address_alone(server):
    _, link = server()
    port = int(re.search(r":(\d+)/", link).group(1))
    with socket.create_connection(("127.0.0.1", port), 5):
        pass
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", port), 2)  # a server of all addresses answers here


def test_the_browser_is_started_without_the_token(folder, tmp_path, browser):
    """Another account of the machine can read the arguments of every process."""
    seen, fake = tmp_path / "arguments", tmp_path / "browser"
    fake.write_text(f'#!/bin/sh\necho "$@" > {seen}.part && mv {seen}.part {seen}\n')
    fake.chmod(0o755)
    command = [sys.executable, "-m", "celosia", "studio", str(folder), "--port", "0"]
    environment = {**os.environ, "BROWSER": f"{fake} %s"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        link = re.search(r"http://\S+", process.stdout.readline()).group()
        until(seen.exists)
        token = link.partition("token=")[2]
        assert token not in seen.read_text()
        place = seen.read_text().strip()
        assert place.startswith("file://")
        assert Path(place.removeprefix("file://")).stat().st_mode & 0o077 == 0
        page = browser.new_page()
        page.goto(place)
        page.wait_for_url(f"{link.split('/?')[0]}/")
        assert page.locator("#main").is_visible(), "the file opens the studio"
        assert all(token not in cookie["value"] for cookie in page.context.cookies())
        page.context.close()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_a_run_goes_on_through_reload_kill_and_restart(server, folder, browser):
    process, link = server()
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(link)
    base = link.split("/?")[0]
    page.wait_for_url(f"{base}/")
    page.goto(f"{base}/protect")
    jobs = Jobs(Project(folder))
    job = jobs.start("celosia.studio.jobs:nap", seconds=600)
    page.get_by_role("button", name="Run on all records").click()
    page.locator("#job").wait_for()
    page.reload()
    page.locator("#job, .run .box").first.wait_for()
    run = jobs.latest("run_policy")
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert jobs.find(job.id).state in ("waiting", "running"), "a job does not end with its server"
    _, link = server()
    page.close()  # it asks for the run as soon as there is a server again, and would cross the next request
    page = context.new_page()
    assert page.goto(f"{base}/protect").status == 421, "host and session ended with their server"
    base = link.split("/?")[0]
    page.goto(link)
    page.wait_for_url(f"{base}/")
    page.goto(f"{base}/protect")
    page.locator(".run .box").wait_for(timeout=120_000)
    assert jobs.find(run.id).state == "done"
    assert "The guard has stopped" in page.locator(".run .box").inner_text(), "so few people have rare incomes"
    context.close()


def test_a_run_is_cancelled_by_its_button_and_leaves_nothing(server, folder, browser):
    _, link = server()
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(link)
    page.wait_for_url(f"{link.split('/?')[0]}/")
    page.goto(f"{link.split('/?')[0]}/protect")
    page.get_by_role("button", name="Run on all records").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("The last run was cancelled.").or_(page.locator(".run .box")).first.wait_for()
    jobs = Jobs(Project(folder))
    run = jobs.latest("run_policy")
    end = time.monotonic() + 60
    while jobs.is_alive(run.id) and time.monotonic() < end:
        time.sleep(0.05)
    assert not jobs.is_alive(run.id)
    if run.state == "cancelled":
        assert not list((folder / "results").rglob("*.csv"))
    page.close()
