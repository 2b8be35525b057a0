"""Worker processes for evaluations; they get the data through a pipe, never through a file.

The pools of the standard library and of loky do not fit: the first runs the main script of the caller again in each
process, and in both a process that dies (too little memory) breaks the pool with all pending jobs. Here only its own
job fails, and the point states it. When the time is over, unfinished jobs are cancelled at once.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from celosia.data.subprocesses import own_output, start
from celosia.frontier.candidates import Candidate
from celosia.frontier.trial import Measured, Task, evaluate

POLL = 0.2  # seconds between checks of the clock

Message = Any
"""Any object that can be pickled."""
Job = tuple[int, Candidate, int]
"""Number of the result, candidate and seed."""


def results(task: Task, jobs: Sequence[Job], workers: int, expired: Callable[[], bool]) -> Iterator[tuple[int, Any]]:
    """Yield the results of jobs from worker processes, in any order; cancel unfinished jobs when the time is over."""
    waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, Any] | None] = queue.SimpleQueue()
    for job in jobs:
        waiting.put(job)
    processes = [_start() for _ in range(min(workers, len(jobs)))]

    def serve(process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        job: Job | None = None
        try:
            _send(process.stdin, task)
            while not expired():
                try:
                    job = waiting.get_nowait()
                except queue.Empty:
                    break
                assert job is not None
                _send(process.stdin, (job[1], job[2]))
                done.put((job[0], _receive(process.stdout)))
                job = None
        except (OSError, EOFError):
            if job is not None:
                done.put((job[0], {"reason": "the process that measured it ended (too little memory?)", "again": True}))
        finally:
            done.put(None)

    threads = [threading.Thread(target=serve, args=(process,), daemon=True) for process in processes]
    try:
        for thread in threads:
            thread.start()
        ended = 0
        while ended < len(threads):
            try:
                answer = done.get(timeout=POLL)
            except queue.Empty:
                if expired():
                    return
                continue
            if answer is None:
                ended += 1
            else:
                yield answer
    finally:
        for process in processes:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _start() -> subprocess.Popen[bytes]:
    single = dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS"), "1")
    return start("celosia.frontier.workers:serve", variables=single)


def _send(pipe: IO[bytes], value: object) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(struct.pack("<Q", len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Message:
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    (size,) = struct.unpack("<Q", head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - from the process at the other end of our own pipe


def serve() -> None:
    """Run a worker process: read the task, then answer jobs until the pipe closes."""
    answers = os.fdopen(own_output(), "wb")
    questions = sys.stdin.buffer
    try:
        task: Task = _receive(questions)
        table, memory = task.table(), Measured()
        while True:
            try:
                candidate, seed = _receive(questions)
                answer = evaluate(task, table, candidate, seed, memory)
            except ModuleNotFoundError as error:
                answer = {"reason": f"worker processes find no module {error.name!r}: install it, or set workers=1"}
            _send(answers, answer)
    except (EOFError, BrokenPipeError):
        return
