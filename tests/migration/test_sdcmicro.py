"""Scripts for sdcMicro become policies that load; every line that is not translated is listed with its number."""

from __future__ import annotations

import tomllib

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.cli.main import run as command
from celosia.errors import DataError
from celosia.migration import translate
from celosia.migration.sdcmicro_calls import SIGNATURES
from celosia.migration.sdcmicro_steps import MEASURES, STEPS
from celosia.release.policy.policy import Policy

START = """data(testdata)
sdc <- createSdcObj(testdata, keyVars = c("urbrur", "water", "sex"), numVars = c("income", "savings"),
  weightVar = "sampling_weight", hhId = "ori_hid")
"""


@pytest.fixture
def script(tmp_path):
    """The policy and the notes of a script; the policy is loaded once."""

    def read(text: str, start: str = START) -> tuple[dict, list[str]]:
        path = tmp_path / "script.R"
        path.write_text(start + text, encoding="utf-8")
        translation = translate(path)
        policy = translation.policy()
        Policy.parse(policy, tmp_path)
        return tomllib.loads(policy), list(map(str, translation.notes))

    return read


def test_roles_come_from_the_object(script):
    policy, notes = script("")
    assert policy["schema"] == {
        "quasi": ["urbrur", "water", "sex"],
        "insensitive": ["income", "savings"],
        "weight": "sampling_weight",
        "household": "ori_hid",
        "kinds": {"income": "numeric", "savings": "numeric"},
    }
    assert policy["input"] == {"path": "testdata.csv"}
    assert policy["measure"]["risks"] == ["household-risk", "individual-risk"]
    assert any(note.startswith("line 1: testdata is a data set of R") for note in notes)


CALLS = {
    "kAnon(sdc, k = 3)": {"use": "local-suppress", "k": 3},
    "localSuppression(sdc)": {"use": "local-suppress", "k": 2},
    "kAnon(sdc, k = 5, importance = c(3, 1, 2))": {
        "use": "local-suppress",
        "k": 5,
        "importance": {"urbrur": 1, "water": 3, "sex": 2},
    },
    "kAnon(sdc, k = 4, combs = 2)": {"use": "local-suppress", "k": 4, "subsets": 2},
    'globalRecode(sdc, column = "income", breaks = c(0, 10, 20))': {
        "use": "recode",
        "column": "income",
        "right": True,
        "breaks": [0, 10, 20],
        "outside": "missing",
    },
    'globalRecode(sdc, "income", c(-Inf, 10, 20, Inf), labels = c("a", "b", "c"))': {
        "use": "recode",
        "column": "income",
        "right": True,
        "labels": ["a", "b", "c"],
        "breaks": [10, 20],
    },
    'globalRecode(sdc, "income", breaks = 4, method = "logEqui")': {
        "use": "recode",
        "column": "income",
        "right": True,
        "bins": 4,
        "spacing": "log",
        "whole": True,
        "margin": 1,
    },
    'groupAndRename(sdc, var = "water", before = c("1", "2"), after = c("low"))': {
        "use": "recode",
        "column": "water",
        "mapping": {"1": "low", "2": "low"},
    },
    'topBotCoding(sdc, value = 100, replacement = 90, column = "income")': {
        "use": "top-code",
        "columns": ["income"],
        "value": 100,
        "replacement": 90,
    },
    'topBotCoding(sdc, value = -1, replacement = 0, kind = "bottom", column = "income")': {
        "use": "bottom-code",
        "columns": ["income"],
        "value": -1,
        "replacement": 0,
    },
    "microaggregation(sdc, aggr = 4)": {"use": "microaggregate", "columns": ["income", "savings"], "k": 4},
    'microaggregation(sdc, variables = "income", method = "onedims", strata_variables = "sex")': {
        "use": "individual-ranking",
        "optimal": False,
        "columns": ["income"],
        "k": 3,
        "within": ["sex"],
    },
    'microaggregation(sdc, method = "pca")': {
        "use": "projection-microaggregate",
        "columns": ["income", "savings"],
        "k": 3,
    },
    'microaggregation(sdc, measure = "median")': {
        "use": "microaggregate",
        "columns": ["income", "savings"],
        "k": 3,
        "aggregate": "median",
    },
    # a standard deviation of 20 % of the column's is a variance of 4 % of its variance
    "addNoise(sdc, noise = 20)": {"use": "noise", "p": 0.04, "columns": ["income", "savings"]},
    'addNoise(sdc, noise = 20, method = "correlated")': {
        "use": "correlated-noise",
        "p": 0.2,
        "columns": ["income", "savings"],
    },
    'addNoise(sdc, method = "correlated2", delta = 0.3)': {
        "use": "correlated-noise",
        "p": 0.09,
        "keep_variance": True,
        "columns": ["income", "savings"],
    },
    'addNoise(sdc, noise = 10, method = "outdect")': {
        "use": "noise",
        "p": 0.01,
        "scope": "outliers",
        "columns": ["income", "savings"],
    },
    'addNoise(sdc, method = "ROMM", p = 0.1)': {
        "use": "orthogonal-mask",
        "columns": ["income", "savings"],
        "p": 0.1,
    },
    "rankSwap(sdc, P = 0.1)": {"use": "rank-swap", "columns": ["income", "savings"], "window": 0.1},
    "rankSwap(sdc, P = 10)": {"use": "rank-swap", "columns": ["income", "savings"], "window": 0.1},
    "rankSwap(sdc, R0 = 0.95)": {
        "use": "rank-swap",
        "columns": ["income", "savings"],
        "correlation": 0.95,
        "window": 1.0,
    },
    # with alpha 0.5 half of the matrix is the identity: 1 - 0.5 * (1 - 0.8)
    'pram(sdc, variables = "water")': {"use": "pram", "columns": ["water"], "diagonal": 0.9},
    "shuffle(sdc, form = income + savings ~ sex + water)": {
        "use": "shuffle",
        "columns": ["income", "savings"],
        "given": ["sex", "water"],
    },
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_becomes_a_step(script, call):
    policy, _ = script(f"sdc <- {call}\n")
    assert policy["step"] == [CALLS[call]]


def test_k_anonymity_is_required_where_it_is_made_on_all_keys(script):
    assert script("sdc <- kAnon(sdc, k = 3)")[0]["require"] == [{"use": "k-anonymity", "k": 3}]
    assert "require" not in script("sdc <- kAnon(sdc, k = c(3, 4), combs = c(1, 2))")[0]
    both = script("sdc <- kAnon(sdc, k = 3)\nsdc <- kAnon(sdc, k = 5)")[0]
    assert both["require"] == [{"use": "k-anonymity", "k": 5}]


@pytest.mark.parametrize(
    ("call", "kind", "part"),
    [
        ("sdc <- suda2(sdc, DisFraction = 0.1)", "risks", {"use": "suda", "sampling_fraction": 0.1}),
        ("modRisk(sdc)", "risks", "log-linear-risk"),
        (
            "dRisk(sdc, k = 0.1)",
            "risks",
            {"use": "interval-disclosure", "window": "joint", "k": 0.1, "columns": ["income", "savings"]},
        ),
        ("dUtility(sdc)", "losses", {"use": "scaled-error", "columns": ["income", "savings"]}),
        ('sdc <- ldiversity(sdc, ldiv_index = "water")', "risks", "homogeneity"),
        ('freqCalc(testdata, keyVars = c("urbrur"), w = "sampling_weight")', "risks", "individual-risk"),
        ('indivRisk(sdc, method = "exact")', "risks", {"use": "individual-risk", "exact": True}),
    ],
)
def test_a_measure_is_measured(script, call, kind, part):
    assert part in script(call)[0]["measure"][kind]


def test_every_function_with_a_counterpart_has_its_arguments_listed():
    assert set(STEPS) | set(MEASURES) <= set(SIGNATURES)


def test_versions_of_the_object_are_kept_apart(script):
    undone, _ = script("sdc <- kAnon(sdc, k = 3)\nsdc <- addNoise(sdc, noise = 10)\nsdc <- undolast(sdc)")
    assert [step["use"] for step in undone["step"]] == ["local-suppress"]
    nothing, _ = script("sdc <- kAnon(sdc, k = 3)\nsdc <- undolast(sdc)")
    assert "step" not in nothing
    assert "require" not in nothing
    branch, notes = script("a <- kAnon(sdc, k = 3)\na <- pram(a, variables = 'water')\nb <- addNoise(sdc, noise = 10)")
    assert [step["use"] for step in branch["step"]] == ["noise"]
    assert any("several versions" in note for note in notes)
    piped, _ = script("sdc |> kAnon(k = 3) |> addNoise(noise = 10) -> sdc")
    assert [step["use"] for step in piped["step"]] == ["local-suppress", "noise"]
    lost, notes = script("kAnon(sdc, k = 3)\nprint(kAnon(sdc, k = 4))")
    assert "step" not in lost
    assert "line 4: kAnon: its result is not assigned to anything, so it changes nothing" in notes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sdc <- kAnon(sdc, k = wanted())", "line 4: kAnon: 'wanted' is only known when the script runs"),
        ("sdc <- kAnon(sdc, k = 'three')", "line 4: kAnon: 'whole numbers'"),
        ("sdc <- kAnon(sdc, k = 1)", "line 4: kAnon: local-suppress: k must be"),
        ("sdc <- pram(sdc, variables = 'water', pd = 7)", "line 4: pram: pram: diagonal must be"),
        ("sdc <- microaggregation(sdc, method = 'rmd')", "line 4: microaggregation by 'rmd'"),
        ("sdc <- addNoise(sdc, method = 'restr')", "line 4: addNoise by 'restr'"),
        ("\nmine(sdc)", "line 5: mine is not translated"),
        ("for (i in 1:3) sdc <- kAnon(sdc, k = i)", "line 4: for: what it does"),
        ("f <- function(x) kAnon(x, k = 3)", "line 4: function: what it does"),
        ("testdata$age <- testdata$age + 1", "line 4: a change of the data in R"),
        ("set.seed(1)", "line 4: set.seed"),
        ("x <- createSdcObj(testdata, keyVars = 'sex')", "line 4: createSdcObj: a second object"),
        ("sdc <- kAnon(other, k = 3)", "line 4: kAnon: it is not of the object"),
        ("print(sdc)\nhead(testdata)", "lines 4, 5 only show or load something"),
    ],
)
def test_what_is_not_translated_is_told_with_its_line(script, text, said):
    policy, notes = script(text)
    assert any(note.startswith(said) for note in notes), notes
    assert "step" not in policy


def test_columns_by_number_are_told(script):
    _, notes = script("", "data(francdat)\nsdc <- createSdcObj(francdat, keyVars = c(2, 4), weightVar = 8)\n")
    assert any("which columns the numbers stand for" in note for note in notes)


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ('read.csv("a.csv")', {"path": "a.csv"}),
        ('read.csv2("a.csv")', {"path": "a.csv", "separator": ";", "decimal": ","}),
        (
            'read.table("a.txt", header = TRUE, sep = "\\t", dec = ",")',
            {"path": "a.txt", "separator": "\t", "decimal": ","},
        ),
        ('readMicrodata(path = "a.dta", type = "stata")', {"path": "a.dta"}),
        ('haven::read_sav("d/a.sav")', {"path": "d/a.sav"}),
        ('data.table::fread("a.csv")', {"path": "a.csv"}),
        ('readMicrodata("a.RData", type = "rdf")', {"path": "a.csv"}),
    ],
)
def test_the_data_are_where_the_script_reads_them(script, call, wanted):
    policy, _ = script("", f"dat <- {call}\nd2 <- dat\nsdc <- createSdcObj(d2, keyVars = c('a'))\n")
    assert policy["input"] == wanted
    nested, _ = script("", f"sdc <- createSdcObj({call}, keyVars = c('a'))\n")
    assert nested["input"] == wanted


def test_functions_on_a_data_frame_need_no_object(script):
    text = "dat <- read.csv('a.csv')\nkAnon(dat, keyVars = c('a', 'b'), k = 2) -> x\nwriteSafeFile(x, fileOut = 'safe.csv')\n"
    policy, _ = script("", text)
    assert policy["schema"]["quasi"] == ["a", "b"]
    assert policy["step"] == [{"use": "local-suppress", "k": 2}]
    assert policy["input"] == {"path": "a.csv"}
    assert policy["output"] == {"path": "safe.csv"}


def test_ghosts_strata_and_sensitive_columns(script):
    start = (
        "sdc <- createSdcObj(dat, keyVars = c('a', 'b'), strataVar = 's', sensibleVar = 'ill', pramVars = 'p',\n"
        "  ghostVars = list(list('a', c('a2', 'a3'))), excludeVars = 'name')\nsdc <- kAnon(sdc, k = 3)\n"
    )
    policy, notes = script("", start)
    assert policy["schema"]["sensitive"] == ["ill"]
    assert policy["schema"]["stratum"] == "s"
    assert policy["schema"]["insensitive"] == ["p", "a2", "a3"]
    assert policy["step"][0]["linked"] == [["a", "a2", "a3"]]
    assert policy["step"][0]["within"] == "s"
    assert any("expected in dat.csv" in note for note in notes)


def test_bad_scripts_are_one_sentence(tmp_path, capsys):
    for content, said in (
        (b"x <- (1", "line 1"),
        (b"\x00\x01", "zero bytes"),
        (b"a <- 'never", "does not end"),
        (b"(" * 5000, "nested"),
    ):
        path = tmp_path / "s.R"
        path.write_bytes(content)
        assert command(["import", str(path), "--out", str(tmp_path / "p.toml")]) == 2
        message = capsys.readouterr().err
        assert said in message
        assert len(message.strip().splitlines()) == 1
    assert not (tmp_path / "p.toml").exists()


def test_a_long_chain_is_no_deep_one(script):
    script("x <- " + " + ".join(["1"] * 5000))


def test_an_old_encoding_is_read(tmp_path):
    path = tmp_path / "s.R"
    path.write_bytes("sdc <- createSdcObj(dat, keyVars = c('any', 'població'))".encode("latin-1"))
    assert translate(path).roles["quasi"] == ["any", "població"]


WORDS = st.sampled_from(
    [
        *SIGNATURES,
        "sdc",
        "<-",
        "(",
        ")",
        ",",
        "c(",
        "'a'",
        "3",
        "k =",
        "variables =",
        "method =",
        "NULL",
        "~",
        "\n",
        "NA",
        "-",
    ]
)


@settings(max_examples=150)
@given(st.lists(WORDS, max_size=25))
def test_any_row_of_words_is_a_policy_or_one_sentence(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("fuzz") / "s.R"
    path.write_text(START + " ".join(words))
    message = "line"
    try:
        Policy.parse(translate(path).policy(), path.parent)
    except DataError as error:
        message = str(error)
    assert "line" in message


def test_a_script_becomes_a_policy_that_runs(tmp_path):
    n = 80
    pl.DataFrame(
        {"age": [20 + i % 4 for i in range(n)], "sex": [i % 2 for i in range(n)], "pay": [1.5 * i for i in range(n)]}
    ).write_csv(tmp_path / "d.csv")
    (tmp_path / "s.R").write_text(
        "d <- read.csv('d.csv')\nsdc <- createSdcObj(d, keyVars = c('age', 'sex'), numVars = 'pay')\n"
        "sdc <- kAnon(sdc, k = 3) |> microaggregation(aggr = 4)\n"
    )
    assert command(["import", str(tmp_path / "s.R"), "--out", str(tmp_path / "p.toml")]) == 0
    assert command(["run", str(tmp_path / "p.toml")]) == 0
    safe = pl.read_csv(tmp_path / "p.safe.csv")
    assert safe.group_by("pay").len()["len"].min() >= 4
