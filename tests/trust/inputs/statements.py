"""Bad SQL, XML and addresses of databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.trust.inputs.case import NONSENSE, Case, spoilt, truncated

DEEP = 3_000
SQL: tuple[str, ...] = (
    "",
    ";",
    "SELECT",
    "SELECT * FROM",
    "SELECT COUNT(*) AS n FROM people;" * 2,
    "SELECT COUNT(*) AS n FROM nobody",
    "SELECT COUNT(*) AS n FROM people WHERE nothing = 1",
    "DROP TABLE people",
    "PRAGMA table_info(people)",
    "ATTACH 'x.db' AS x",
    "COPY people TO 'x.csv'",
    "SELECT COUNT(*) AS n FROM read_csv('/etc/passwd')",
    "SELECT COUNT(*) AS n FROM people WHERE age = " + "(" * DEEP + "1" + ")" * DEEP,
    "SELECT COUNT(*) AS n FROM people WHERE " + " AND ".join(["age = 1"] * DEEP),
    "SELECT COUNT(*) AS n FROM people WHERE " + "NOT " * DEEP + "age = 1",
    "SELECT COUNT(*) AS n FROM people WHERE age = " + "-" * DEEP + "1",
    "SELECT " + "(SELECT " * 500 + "1" + ")" * 500,
    "SELECT COUNT(*) AS n FROM " + "(SELECT * FROM " * 500 + "people" + ")" * 500,
    "SELECT " + "CASE WHEN age = 1 THEN " * 1000 + "1" + " END" * 1000 + " FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE age IN (" + ",".join(map(str, range(100_000))) + ")",
    "SELECT COUNT(*) AS n FROM people WHERE age = " + "9" * 10_000,
    "SELECT COUNT(*) AS n FROM people WHERE age = 1e99999",
    "SELECT COUNT(*) AS n FROM people WHERE city = '" + "x" * 1_000_000 + "'",
    "SELECT COUNT(*) AS n FROM people WHERE city = 'a",
    'SELECT COUNT(*) AS n FROM "people',
    "SELECT COUNT(*) AS n FROM people /* ",
    "SELECT COUNT(*) AS n FROM people WHERE city LIKE '" + "%e" * 40 + "'",
    "SELECT COUNT(*) AS n FROM people WHERE city LIKE '%" + "_" * 10_000 + "'",
    "SELECT COUNT(*) AS n FROM people WHERE city SIMILAR TO '(a*)*b'",
    "SELECT COUNT(*) AS n FROM people WHERE city ~ '(a*)*b'",
    "SELECT " + ", ".join(f"COUNT(*) AS n{i}" for i in range(5_000)) + " FROM people",
    "SELECT COUNT(*) AS " + "n" * 100_000 + " FROM people",
    "SELECT SUM(age * " + "age * " * 2_000 + "1) AS n FROM people",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT COUNT(*) AS n FROM r",
    "SELECT COUNT(*) AS n FROM people GROUP BY " + "city, " * 3_000 + "city",
    "\ufeffSELECT COUNT(*) AS n FROM people",
    "SELECT COUNT(*) AS n FROM people WHERE city = '\u202e\x1b[31m'",
    "SELECT COUNT(*) AS n FROM people WHERE \U0001f600 = 1",
    "{{ 7 }} ${x} %s ? :a @b",
    "][",
    "SELECT CAST('2024-99-99' AS DATE) AS d FROM people",
    "SELECT SUM(age / 0) AS n FROM people",
    "SELECT COUNT(*) AS n FROM people p JOIN people q ON p.age = q.age",
    "SELECT COUNT(*) AS n FROM people UNION ALL SELECT COUNT(*) FROM people",
    "VALUES (1)",
    "1",
)
URLS: tuple[str, ...] = (
    "sqlite://",
    "sqlite:///",
    "sqlite:///gone.db",
    "sqlite:///people.csv",
    "sqlite:////",
    "sqlite:///" + "x" * 5000,
    "sqlite:///a%00b",
    "sqlite:///people.db?mode=rwc&nothing=1",
    "sqlite:///:memory:",
    "duckdb:///gone.db",
    "duckdb:///people.csv",
    "postgresql://",
    "postgresql://localhost:1/x",
    "postgresql://localhost:999999/x",
    "postgresql://localhost:port/x",
    "postgresql://localhost:-1/x",
    "postgresql://[::1/x",
    "postgresql://[zz]:5432/x",
    "postgresql://127.0.0.1:1/x?sslmode=nonsense",
    "postgresql://127.0.0.1:1/x?connect_timeout=never",
    "postgresql://127.0.0.1:1/" + "x" * 10_000,
    "postgresql://" + "a" * 300 + ".invalid/x",
    "postgresql://nobody.invalid/x",
    "postgresql+nothing://localhost/x",
    "mysql://127.0.0.1:1/x",
    "oracle://127.0.0.1:1/x",
    "mssql+pyodbc://127.0.0.1:1/x",
    "http://127.0.0.1:1/people.csv",
    "https://127.0.0.1:1/people.csv",
    "file:///etc/passwd",
    "s3://nobody/x.csv",
    "://",
    "x://",
    "a b://c d",
    "\u202e://x",
    "env:NOBODY",
    "env:",
    "file:gone",
    "file:",
    "file:/dev/zero",
    "file:/",
    "file:people.parquet",
)
SECRET_URLS = (
    "postgresql://ana:pa55word@127.0.0.1:1/x",
    "postgresql://ana:pa55word@127.0.0.1:999999/x",
    "postgresql://ana:pa55word@localhost:port/x",
    "postgresql://ana:pa55word@[::1/x",
    "postgresql://ana:pa55word@nobody.invalid/x?sslmode=nonsense",
    "mysql://ana:pa55word@127.0.0.1:1/x",
    "nothing://ana:pa55word@127.0.0.1:1/x",
    "postgresql://ana:pa55word@x@y:1/z",
    "postgresql://127.0.0.1:1/x?user=ana&password=pa55word",
)
XML: dict[str, bytes] = {
    "entities": b'<!DOCTYPE x [<!ENTITY a "Qanary001">]><inferences>&a;</inferences>',
    "a bomb": b'<!DOCTYPE x [<!ENTITY a "ha">'
    + b"".join(b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10 if i else b"&a;" * 10) for i in range(12))
    + b"]><x>&a11;</x>",
    "an outside file": b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>',
    "deep": b"<a>" * 100_000 + b"</a>" * 100_000,
    "no end": b"<inferences><inference>",
    "two roots": b"<a/><b/>",
    "another root": b"<html/>",
    "an unknown prefix": b"<x:a/>",
    "attributes twice": b'<a b="1" b="2"/>',
    "a zero byte": b"<a>\x00</a>",
    "an unknown encoding": b'<?xml version="1.0" encoding="klingon"?><a/>',
    "attributes without end": b"<a " + b" ".join(b'b%d="1"' % i for i in range(50_000)) + b"/>",
}


def cases(template: Path) -> Iterator[Case]:
    """Cases of all three."""
    for number, text in enumerate(SQL):
        name = f"{number}: {text[:50]}"
        yield Case("questions in SQL", name, ("query", text, "--explain", "--epsilon", "1"), may_pass=True)
        file = {"query.sql": text.encode()}
        yield Case(
            "queries in SQL", f"elements {name}", ("consent", "elements", "--sql", "@query.sql"), file, may_pass=True
        )
        source = ("assess", "sqlite:///people.db", "--query", text) if len(text) < 100_000 else None
        if source and "x.csv" not in text and "RECURSIVE" not in text:  # an owner's own question may take for ever
            yield Case("queries in SQL", f"assess {name}", source, may_pass=True)
        yield Case("logs of SQL", f"{name}", ("gateway", "audit", "log.sql"), {"log.sql": text.encode()}, may_pass=True)
    for name, content in NONSENSE.items():
        argv = ("consent", "elements", "--sql", "@query.sql")
        yield Case("queries in SQL", f"elements: {name}", argv, {"query.sql": content}, may_pass=True)
        yield Case(
            "logs of SQL", f"consent: {name}", ("consent", "log", "log.sql"), {"log.sql": content}, may_pass=True
        )
    for dialect in ("", "klingon", "x" * 10_000, "postgres,sqlite", "\u202e"):
        argv = ("consent", "elements", "--sql", "SELECT 1", "--dialect", dialect)
        yield Case("dialects", dialect[:20], argv, may_pass=True)
    for url in URLS:
        yield Case(
            "addresses of databases",
            url[:60],
            ("assess", url, "--query", "SELECT * FROM people"),
            may_pass=url == "sqlite:///people.db?mode=rwc&nothing=1",
        )
        yield Case(
            "addresses of databases",
            f"init {url[:60]}",
            ("init", url, "--query", "SELECT 1 AS a"),
            may_pass="sqlite" in url,
        )
    for number, url in enumerate(SECRET_URLS):
        hidden = {"variables": {"PLACE": url}}
        for argv in (
            ("assess", "env:PLACE", "--query", "SELECT 1"),
            ("consent", "record", "x", "--store", "env:PLACE"),
            ("gateway", "verify", "--ledger", "env:PLACE"),
            ("consent", "elements", "--sql", "SELECT a FROM b", "--database", "env:PLACE"),
        ):
            yield Case(
                "addresses with a password", f"{number} {' '.join(argv[:2])}", argv, **hidden, may_pass=number < 0
            )
        yield Case("addresses with a password", f"{number} on the command line", ("assess", url, "--query", "SELECT 1"))
        policy = (
            (template / "policy.toml").read_text().replace('path = "people.csv"', f'path = "{url}"\nquery = "SELECT 1"')
        )
        yield Case(
            "addresses with a password",
            f"{number} in a policy",
            ("run", "policy.toml"),
            {"policy.toml": policy.encode()},
        )
        dataset = f'database = "{url}"\n' + (template / "dataset.toml").read_text()
        argv = ("query", "SELECT COUNT(*) AS n FROM people", "--epsilon", "1")
        yield Case("addresses with a password", f"{number} in a data set", argv, {"dataset.toml": dataset.encode()})
    whole = (template / "inferences.xml").read_bytes()
    for name, content in {**NONSENSE, **XML, **dict(truncated(whole)), **dict(spoilt(whole))}.items():
        argv = ("consent", "convert", "inferences.xml", "new.toml")
        yield Case("catalogues in XML", name, argv, {"inferences.xml": content}, may_pass=True)
