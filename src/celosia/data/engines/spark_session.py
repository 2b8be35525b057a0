"""Spark session: that of the program if it has one, else a local one that logs nothing and is reproducible."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.spill import spill_folder
from celosia.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
RESULT = "256m"
"""Largest result of a job on the driver, which stops the collection of a whole table."""
DRIVER = "2g"
_REPRODUCIBLE = {
    "spark.sql.adaptive.enabled": "false",  # plans that change while they run number rows differently
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.rangeExchange.sampleSizePerPartition": "100",
    "spark.sql.execution.arrow.compression.codec": "zstd",  # counts are small numbers: a fifth of the bytes
}
_QUIET = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # logs of a failure can contain cells; the failure itself is raised
}


def session(master: str | None = None, further: Mapping[str, str] | None = None) -> SparkSession:
    """Return the session of this process, or start one: ``local[2]``, ``spark://host:7077``, ``sc://host:15002``.

    ``further`` are settings of a session that is started.
    """
    from pyspark.sql import SparkSession

    with _ignore_warnings():
        running = SparkSession.getActiveSession()
        if running is not None:
            return _check_master(running, master)
        chosen = master or os.environ.get("SPARK_REMOTE") or os.environ.get("MASTER") or LOCAL
        started = _remote(chosen) if chosen.startswith("sc://") else _start(chosen, further or {})
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # they log queries with their literals
    atexit.register(_stop, started, os.getpid())
    return started


def configure(running: SparkSession) -> SparkSession:
    """Set the options of a session without which results are not reproducible."""
    for name, value in _REPRODUCIBLE.items():
        running.conf.set(name, value)
    return running


def settings(master: str) -> dict[str, str]:
    """Options of a session that Celosia starts."""
    folder = spill_folder() / "spark"
    folder.mkdir(exist_ok=True)
    shared = {
        **_REPRODUCIBLE,
        **_QUIET,
        "spark.driver.maxResultSize": RESULT,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    if not master.startswith("local"):
        return shared
    cores = master.partition("[")[2].rstrip("]").split(",")[0]
    parts = 2 * (int(cores) if cores.isdigit() else os.cpu_count() or 1)
    log = folder / "log4j2.properties"
    log.write_text("rootLogger.level = off\n", encoding="utf-8")
    # a local session listens on this machine only, and its files are deleted with the process
    return shared | {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": DRIVER,
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log} -Dderby.system.home={folder}",
        "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": str(parts),
    }


def _start(master: str, further: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("celosia").master(master)
    for name, value in {**settings(master), **further}.items():
        builder = builder.config(name, value)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    log = spill_folder() / "spark" / "start.log"
    try:
        with _redirect_stderr(log):
            return builder.getOrCreate()
    except Exception as error:
        raise DataError(f"Spark did not start on {master!r}: {_reason(error, log)}") from error


def _remote(address: str) -> SparkSession:
    from pyspark.sql import SparkSession

    try:
        return configure(SparkSession.builder.remote(address).getOrCreate())
    except ImportError as error:
        raise DataError(f"Spark Connect needs a package: {error.name}. Install pyspark[connect].") from error
    except Exception as error:
        raise DataError(f"no Spark Connect server answers at {address.partition(';')[0]!r}.") from error


def _check_master(running: SparkSession, master: str | None) -> SparkSession:
    """Return the running session; raise if another master is asked for, since a process has one session."""
    own = _master(running)
    if master is not None and own is not None and own != master:
        raise DataError(f"this process already runs Spark on {own!r}: stop that session to use {master!r}.")
    return running


def _master(running: SparkSession) -> str | None:
    return None if is_remote(running) else str(running.sparkContext.master)


def is_remote(running: SparkSession) -> bool:
    """Return whether a session is one of Spark Connect."""
    return ".connect." in type(running).__module__


def _stop(started: SparkSession, process: int) -> None:
    if os.getpid() == process:
        with contextlib.suppress(Exception):
            started.stop()


def _reason(error: Exception, log: Path) -> str:
    if "JAVA_GATEWAY" in str(error) or "Java gateway" in str(error):
        return "is a Java 17 or later installed (JAVA_HOME)?"
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return (lines[-1] if lines else f"{type(error).__name__}.")[:300]


@contextlib.contextmanager
def _redirect_stderr(log: Path) -> Iterator[None]:
    """Redirect the standard error to a file, also for the Java process, which inherits it."""
    sys.stderr.flush()
    original = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(original, 2)
        os.close(original)


@contextlib.contextmanager
def _ignore_warnings() -> Iterator[None]:
    """Ignore PySpark's warnings about pandas, which is not used: frames are converted by Arrow."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


__all__ = ["configure", "session", "settings"]
