"""Every parser, on texts that nobody would write: it answers or refuses in a sentence of ours, and never fails."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trust.tried import Tried, tried

from celosia import files
from celosia.consent.rules.exchange import read_xml
from celosia.consent.rules.rules import read_toml
from celosia.consent.sql.elements import DIALECTS
from celosia.consent.sql.lineage import elements
from celosia.data.io.database import create_engine, without_password
from celosia.data.io.statement import check_reads
from celosia.errors import LONGEST, CelosiaError
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.sql.build import build
from celosia.hierarchy.level_table import LevelTable
from celosia.parts import grammar
from celosia.release.evidence.certificate import load_certificate, load_record
from celosia.release.policy.policy import Policy

POLICY = '[input]\npath = "a.csv"\n[schema]\nquasi = ["age"]\n[[require]]\nuse = "k-anonymity"\nk = 3\n[[step]]\n'
CATALOGUE = '[[inference]]\nid = "a"\ndescription = "b"\n[[inference.rule]]\ntables = {p = ["x"]}\nthreshold = 0.5\n'
XML = '<?xml version="1.0"?><catalogue><inference id="a"><description>b</description></inference></catalogue>'
QUESTION = "SELECT city, COUNT(*) AS n FROM people WHERE age > 3 AND city LIKE 'a%' GROUP BY city ORDER BY n"
CERTIFICATE = '{"format": "celosia certificate 1", "data": {"path": "a.csv"}, "requirements": [{"holds": true}]}'
FACTS = DatasetFacts.of(
    {
        "name": "d",
        "epsilon": 1,
        "tables": {"people": {"columns": {"age": {"type": "integer"}, "city": {"type": "text"}}}},
    }
)


def questioned(text: str) -> object:
    """A question to the gateway."""
    return build(text, FACTS, "sqlite", {"people": "people"})


def written(load: Callable[[Path], object], suffix: str) -> Callable[[str], object]:
    """A parser of files, for texts."""

    def parse(text: str) -> object:
        with tempfile.TemporaryDirectory() as place:
            path = Path(place, f"x{suffix}")
            path.write_text(text, encoding="utf-8", errors="surrogatepass")
            return load(path)

    return parse


def levels(path: Path) -> object:
    """A hierarchy of a file."""
    import polars as pl

    return LevelTable(path=path).levels(pl.Series(["a", "b"]))


PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "the grammar of parts": (grammar.part, "k-anonymity(k=5, by=[age, 'x y'], to={a=1, b=[2, none]})"),
    "policies": (Policy.parse, POLICY),
    "declarations of data sets": (
        written(DatasetFacts.load, ".toml"),
        'name = "d"\nepsilon = 1.0\n[tables.t]\ncolumns = {}\n',
    ),
    "catalogues in TOML": (read_toml, CATALOGUE),
    "catalogues in XML": (read_xml, XML),
    "hierarchies": (written(levels, ".csv"), "a,A,*\nb,A,*\n"),
    "certificates": (written(load_certificate, ".json"), CERTIFICATE),
    "private records": (written(load_record, ".json"), CERTIFICATE.replace("certificate", "record")),
    "questions to the gateway": (questioned, QUESTION),
    "queries of consent requests": (elements, QUESTION),
    "queries of an owner": (lambda text: check_reads(text, "postgresql"), QUESTION),
    "addresses of databases": (create_engine, "postgresql://host:5432/base?sslmode=disable"),
    "JSON documents": (files.json_document, CERTIFICATE),
    "TOML documents": (files.toml_document, POLICY),
}
PIECES = st.sampled_from(
    [
        *"()[]{}<>=,;:.'\"\\/%_*&?!#-+ \n\t\0",
        "''",
        "--",
        "/*",
        "&a;",
        "1e999",
        "9" * 30,
        "SELECT ",
        "WITH ",
        "é",
        "\u202e",
        "\ud800",
        "null",
        "[[",
        "://",
        "@",
    ]
)


@st.composite
def spoilt(draw: st.DrawFn, whole: str) -> str:
    """A text with something put into it, taken from it or repeated, some times."""
    text = whole
    for _ in range(draw(st.integers(0, 4))):
        start, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        text = draw(
            st.sampled_from(
                [text[:start] + text[end:], text[:start] + text[start:end] * 2 + text[end:], text[:start], text[start:]]
            )
        )
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES | st.text(max_size=8)) * draw(st.sampled_from([1, 1, 2, 300])) + text[at:]
    return text


def attempts(name: str, number: int) -> tuple[int, list[str]]:
    """How many texts a parser met, and on which it failed."""
    parse, whole = PARSERS[name]
    refusals: tuple[type[Exception], ...] = (CelosiaError, ValueError) if "documents" in name else (CelosiaError,)
    counted, failed = [0], []

    @settings(
        max_examples=number, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.one_of(spoilt(whole), st.text(max_size=60), st.builds("".join, st.lists(PIECES, max_size=30))))
    def attempt(text: str) -> None:
        counted[0] += 1
        try:
            parse(text)
        except refusals as error:
            if len(str(error)) > LONGEST and not isinstance(error, ValueError):
                failed.append(f"too long: {text!r}")
        except Exception as error:  # every other one is a fault: that is what is looked for
            failed.append(f"{type(error).__name__}: {text!r}")

    attempt()
    return counted[0], failed


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_answers_or_refuses(name: str) -> None:
    assert attempts(name, 25)[1] == []


@pytest.mark.long
@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_answers_or_refuses_thousands(name: str) -> None:
    times, failed = attempts(name, 3000)
    row = Tried(f"generated texts for the parser of {name}", times, len(failed), "an error that is no refusal")
    tried(f"parsers-{name.replace(' ', '-')}", [row])
    assert failed == []


@given(user=st.text("abc:/?", max_size=5), secret=st.text(min_size=12, max_size=20), dialect=st.sampled_from(DIALECTS))
@settings(max_examples=200, derandomize=True)
def test_a_shown_address_has_no_password(user: str, secret: str, dialect: str) -> None:
    secret = "".join(letter for letter in secret if letter not in "/@?&\n") + "pa55word"
    assert "pa55word" not in without_password(f"{dialect}://{user.strip('/?')}:{secret}@host/base")
    assert "pa55word" not in without_password(f"{dialect}://host/base?user={user.strip('/?')}&password={secret}")
