"""Scripts of R are cut into words and calls; what is no R is refused with its line, and nothing else happens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.errors import DataError
from celosia.migration.r_script import Call, Constant, Symbol, statements
from celosia.migration.sdcmicro_calls import NotConstant, arguments, value


def shape(node) -> object:
    """A node without its line: a constant, a name, or a list that begins with the function."""
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Symbol):
        return f"`{node.name}"
    return [node.function, *((name, shape(each)) if name else shape(each) for name, each in node.arguments)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x <- 5L", ["<-", "`x", 5]),
        ("5 -> x", ["<-", "`x", 5]),
        ("x = 1e-3", ["<-", "`x", 0.001]),
        ("f('a', \"b\\n\", k = TRUE)", ["f", "a", "b\n", ("k", True)]),
        ("-1:3", [":", ["-", 1], 3]),
        ("-2^2", ["-", ["^", 2, 2]]),
        ("2^3^4", ["^", 2, ["^", 3, 4]]),
        ("a - b - c", ["-", ["-", "`a", "`b"], "`c"]),
        ("a %>% f(1) |> g(k = 2)", ["g", ["f", "`a", 1], ("k", 2)]),
        ("y ~ a + b", ["~", "`y", ["+", "`a", "`b"]]),
        ("d$a[[1]]", ["[[", ["$", "`d", "`a"], 1]),
        ("d[, c('a')]", ["[", "`d", ["c", "a"]]),
        ("d[d$x[1] > 2, ]", ["[", "`d", [">", ["[", ["$", "`d", "`x"], 1], 2]]),
        ("p::f(NULL)", ["f", None]),
        ("`a b` <- 'it'", ["<-", "`a b", "it"]),
        ('r"(a\\b)"', "a\\b"),
        ("if (a) b else c", ["if", "`a", "`b", "`c"]),
        ("function(x, y = 2) x + y", ["function", ["+", "`x", "`y"]]),
        ("s@risk$global", ["$", ["@", "`s", "`risk"], "`global"]),
        ("!a & b | c", ["|", ["&", ["!", "`a"], "`b"], "`c"]),
        ("f(\n  a, # so\n\n  b\n)", ["f", "`a", "`b"]),
        ("x <-\n  2", ["<-", "`x", 2]),
        ("f(x,)", ["f", "`x"]),
    ],
)
def test_an_expression_is_read_as_r_reads_it(text, wanted):
    (node,) = statements(text)
    assert shape(node) == wanted


def test_lines_and_semicolons_end_a_statement_and_every_call_has_its_line():
    listed = statements("a <- 1; b <- 2\n\n# nothing\nf(\n  g(3)\n)\r\n".replace("\r", ""))
    assert [node.line for node in listed] == [1, 1, 4]
    assert listed[2].inner().line == 5


def test_braces_hold_statements():
    (node,) = statements("for (i in 1:3) {\n  a <- i\n  if (a) {\n    b\n  } else {\n    c\n  }\n}\n")
    assert shape(node) == ["for", "`i", ["{", ["<-", "`a", "`i"], ["if", "`a", ["{", "`b"], ["{", "`c"]]]]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x <- (1", "line 1"),
        ("f(1 2)", "a comma or"),
        ("'never ends", "does not end"),
        ("a\nb )", "line 2: this is not understood"),
        ("{ a", "a brace is opened"),
        ("x <- §", "a character"),
        ("(" * 200, "nested more than"),
        ("-" * 2000 + "1", "nested more than"),
        ("a <-", "in the middle"),
        ("a" + "\n" * 3 + "]", "line 4"),
    ],
)
def test_what_is_not_r_is_refused_with_its_line(text, said):
    with pytest.raises(DataError, match=said):
        statements(text, "s.R")


@given(st.text(alphabet="abk13 ()[]{}<-=,'\"\\`~$@:|>%+*^!&#\n;.", max_size=60))
def test_any_text_is_read_or_refused(text):
    message = "line"
    try:
        listed = statements(text)
    except DataError as error:
        listed, message = [], str(error)
    assert "line" in message
    assert all(isinstance(node, Call | Constant | Symbol) for node in listed)


def test_arguments_find_their_names():
    (call,) = statements("createSdcObj(d, c('a'), w = 'p', num = 'x', 'q')")
    matched = arguments(call)
    assert {name: shape(node) for name, node in matched.items()} == {
        "dat": "`d",
        "keyVars": ["c", "a"],
        "weightVar": "p",
        "numVars": "x",
        "pramVars": "q",
    }


def test_constants_are_known_and_nothing_else_is():
    constants = {"keys": ["a", "b"]}
    for text, wanted in (
        ("c(keys, 'c', NULL)", ["a", "b", "c"]),
        ("2:4", [2, 3, 4]),
        ("4:2", [4, 3, 2]),
        ("-0.5", -0.5),
        ("as.integer(3)", 3),
    ):
        assert value(statements(text)[0], constants) == wanted
    for text in ("f(1)", "unknown", "1:99999999", "-'a'", "c(f())"):
        with pytest.raises(NotConstant):
            value(statements(text)[0], constants)
