"""What all tests share: where the reference data lie, and the engines."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import socket
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes depends on the machine and on what else it does.
settings.register_profile("celosia", deadline=None)
settings.load_profile("celosia")

NOT_INSTALLED = re.compile("could not import|PostgreSQL|PySpark|chromium")
"""Reasons of skips that an installation would mend."""
SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return not_excused((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return not_excused((yield))


def not_excused(report: Any) -> Any:
    """Fail, in CI, what would be skipped because something is not installed."""
    reason = skip_reason(report)
    if os.environ.get("CI") == "true" and NOT_INSTALLED.search(reason):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {reason}"
    return report


def skip_reason(report: Any) -> str:
    """Why a test was skipped; nothing for any other."""
    told = report.longrepr if report.skipped and not hasattr(report, "wasxfail") else ()
    return str(told[2]).removeprefix("Skipped: ") if isinstance(told, tuple) and len(told) == 3 else ""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with the mark ``sampled(n)``, n cases stay among the short tests; all others are ``long``.

    The names of the cases draw them: the same ones everywhere, whichever tests were asked for.
    """
    cases: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sampled") is not None:
            cases[item.path, item.nodeid.partition("[")[0]].append(item)
    for found in cases.values():
        mark = found[0].get_closest_marker("sampled")
        kept = int(mark.args[0]) if mark is not None and mark.args else 1
        for item in sorted(found, key=_drawn)[kept:]:
            item.add_marker(pytest.mark.long)


def _drawn(item: pytest.Item) -> bytes:
    return hashlib.sha256(item.name.encode()).digest()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """List what was skipped, by reason."""
    reasons = Counter(filter(None, map(skip_reason, terminalreporter.stats.get("skipped", []))))
    if reasons:
        terminalreporter.section(f"{reasons.total()} skipped, and why")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5}  {reason}")


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """Path of a reference file, or skip the test with the reason when it is not there."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs the reference file {name}, which is not part of the project")
        return path

    return find


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium; ended with the module, since two of Playwright cannot run at once.

    Its shell paints the same pixels as the browser with windows, with half the work.
    """
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        pytest.skip("needs Debian's chromium-headless-shell")
    from playwright.sync_api import sync_playwright

    quiet = ("background-networking", "component-update", "sync", "gpu")
    with sync_playwright() as play:
        flags = ["--no-sandbox", *(f"--disable-{what}" for what in quiet)]
        opened = play.chromium.launch(executable_path=found, args=flags)
        yield opened
        opened.close()


ENGINES = ["polars", "duckdb"]
# One worker runs all that needs Spark: each worker would start a Java of its own.
SPARK = pytest.param("spark", marks=pytest.mark.xdist_group("spark"))
LONG_SPARK = pytest.param("spark", marks=[pytest.mark.xdist_group("spark"), pytest.mark.long])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with the mark ``on_spark`` runs on Spark too; the others are left out for their time alone.

    With ``long=True`` it does so among the long tests.
    """
    named = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "engine" in metafunc.fixturenames and not any("engine" in names for names in named):
        mark = metafunc.definition.get_closest_marker("on_spark")
        further = [] if mark is None else [LONG_SPARK if mark.kwargs.get("long") else SPARK]
        metafunc.parametrize("engine", [*ENGINES, *further], indirect=True)


@pytest.fixture
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each engine in turn."""
    if request.param == "spark":
        request.getfixturevalue("spark")
    return str(request.param)


@pytest.fixture(scope="session")
def spark() -> Any:
    """The one Spark session of the tests, on two cores of this machine."""
    if shutil.which("java") is None or importlib.util.find_spec("pyspark") is None:
        pytest.skip("needs PySpark and Debian's default-jre-headless")
    from celosia.data.engines.spark_session import session

    os.environ["JAVA_TOOL_OPTIONS"] = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # short work: half the time
    return session(
        "local[2]",
        {
            "spark.driver.maxResultSize": "4m",  # no test brings more than that to the driver
            "spark.sql.shuffle.partitions": "1",
            "spark.sql.codegen.wholeStage": "false",  # tables of ten rows are not worth a compiler
            "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",  # a server in the same Java
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": "0",
        },
    )


@pytest.fixture(scope="session")
def connect(spark: Any) -> str:
    """The address of a Spark Connect server: the session of the tests serves it too."""
    service = getattr(spark._jvm.org.apache.spark.sql.connect.service, "SparkConnectService$")
    return f"sc://127.0.0.1:{getattr(service, 'MODULE$').localPort()}"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of a throwaway PostgreSQL server."""
    spec = importlib.util.spec_from_file_location("celosia_tests_postgres", Path(__file__).parent / "postgres.py")
    assert spec is not None
    assert spec.loader is not None
    postgres = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(postgres)
    if postgres.binaries() is None:
        pytest.skip("needs the binaries of a PostgreSQL server")
    with postgres.cluster() as url:
        yield url


def _database(postgres_url: str) -> Iterator[str]:
    import sqlalchemy as sa

    name = f"t{uuid.uuid4().hex}"
    url = sa.make_url(postgres_url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    yield url.set(drivername="postgresql", database=name).render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
    engine.dispose()


@pytest.fixture(scope="session")
def databases(postgres_url: str) -> Iterator[Callable[[], str]]:
    """Makes empty databases that stay until the end; each call gives the URL of another."""
    with ExitStack() as made:
        yield lambda: made.enter_context(contextmanager(_database)(postgres_url))


@pytest.fixture
def fresh_postgres(postgres_url: str) -> Iterator[str]:
    """An empty database of its own."""
    yield from _database(postgres_url)


@pytest.fixture
def other_postgres(postgres_url: str) -> Iterator[str]:
    """A second empty database beside ``fresh_postgres``."""
    yield from _database(postgres_url)


def _serving() -> Iterator[Callable[[Any], str]]:
    import uvicorn

    running = []

    def start(app: Any) -> str:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="critical"))
        thread = threading.Thread(target=server.run)
        thread.start()
        running.append((server, thread))
        while not server.started:
            time.sleep(0.02)
        return f"http://127.0.0.1:{port}"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join()


@pytest.fixture
def serve() -> Iterator[Callable[[Any], str]]:
    """Serve an application until the test ends; returns its address."""
    yield from _serving()


@pytest.fixture(scope="module")
def serve_long() -> Iterator[Callable[[Any], str]]:
    """Serve an application until the tests of a module end; returns its address."""
    yield from _serving()


@pytest.fixture
def watch(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page at an address; at the end no page may have had an error on its console or asked another site."""
    from tests.web.watching import watched

    pages = []

    def open_page(address: str, **look: Any) -> Any:
        pages.append(watched(browser, address, **look))
        return pages[-1]

    yield open_page
    for page in pages:
        page.context.close()
    assert [said for page in pages for said in page.wrong] == []


@pytest.fixture
def accessible() -> Callable[[Any], None]:
    """Checks that axe finds nothing against WCAG 2.2 AA on a page."""
    from tests.web.watching import violations

    pytest.importorskip("axe_playwright_python.sync_playwright")

    def check(page: Any) -> None:
        assert violations(page) == []

    return check
