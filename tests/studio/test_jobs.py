"""Long work: it goes on without its server, says how far it is, and ends when it is told to."""

from __future__ import annotations

import pytest
from tests.studio.conftest import until

from celosia.errors import CelosiaError
from celosia.studio.jobs import Jobs
from celosia.studio.project import Project

pytestmark = pytest.mark.xdist_group("studio-jobs")
NAP = "celosia.studio.jobs:nap"


@pytest.fixture
def jobs(tmp_path):
    return Jobs(Project(tmp_path / "p"))


def test_a_job_says_how_far_it_is_and_is_known_by_its_folder_alone(jobs, tmp_path):
    job = jobs.start(NAP, seconds=600)
    assert not job.finished
    other = Jobs(Project(tmp_path / "p"))
    running = until(lambda: (now := other.find(job.id)).share > 0 and now)
    assert running.state == "running"
    assert other.latest("nap").id == job.id
    assert other.latest("nap", "another policy") is None
    assert other.cancel(job.id).finished


def test_a_job_that_is_done_says_what_it_gave(jobs, tmp_path):
    job = jobs.start(NAP, seconds=0.1)
    ended = until(lambda: (now := Jobs(Project(tmp_path / "p")).find(job.id)).finished and now)
    assert (ended.state, ended.result, ended.share) == ("done", {"slept": 0.1}, 1.0)


def test_a_job_that_is_cancelled_ends_at_once(jobs):
    job = jobs.start(NAP, seconds=600)
    until(lambda: jobs.find(job.id).share > 0)
    assert jobs.cancel(job.id).state == "cancelled"
    until(lambda: not jobs.is_alive(job.id))


def test_a_job_whose_process_is_killed_is_told_as_ended(jobs):
    import os
    import signal

    job = jobs.start(NAP, seconds=600)
    until(lambda: jobs.find(job.id).share > 0)
    os.kill(jobs.process(job.id), signal.SIGKILL)
    until(lambda: not jobs.is_alive(job.id))
    assert jobs.find(job.id).state == "ended"


def test_a_process_that_takes_long_to_come_is_waited_for(jobs, monkeypatch):
    import subprocess
    import sys

    slow = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    monkeypatch.setattr("celosia.studio.jobs.start", lambda *_: slow)
    held = slow.stdin  # it ends when this is closed
    monkeypatch.setattr(slow, "stdin", None)
    monkeypatch.setattr("celosia.studio.jobs.STARTING", 0.0)
    job = jobs.start(NAP, seconds=1)
    assert jobs.find(job.id).state == "waiting", "it is there, though it has not taken its job"
    slow.kill()
    until(lambda: jobs.find(job.id).state == "ended")
    held.close()


def test_a_refusal_is_the_sentence_of_the_library(jobs):
    job = jobs.start("celosia.studio.runs:run_policy", version="0" * 16)
    ended = until(lambda: (now := jobs.find(job.id)).finished and now)
    assert ended.state == "refused"
    assert ended.result.startswith("an internal error (FileNotFoundError)")


def test_only_functions_of_the_studio_are_jobs(jobs):
    with pytest.raises(CelosiaError):
        jobs.start("os:system", command="true")
    with pytest.raises(CelosiaError):
        jobs.find("../past")
