"""The error of the answer, told before it is asked: by hand, against drawn noise, and where it cannot be told."""

from __future__ import annotations

import pytest

from celosia.gateway.forecast import SIZES, _groups
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import NoLedger
from celosia.gateway.metadata import DatasetFacts


@pytest.fixture(scope="module")
def gateway(tmp_path_factory):
    place = tmp_path_factory.mktemp("forecast") / "t.csv"
    place.write_text("age,sex,w\n30,F,1.5\n40,M,2.5\n")
    columns = {
        "age": {"type": "integer", "bounds": [0, 100]},
        "sex": {"type": "text", "categories": ["F", "M"]},
        "w": {"type": "number", "bounds": [0, 8]},
    }
    declared = {"name": "t", "epsilon": 100.0, "tables": {"t": {"source": str(place), "columns": columns}}}
    opened = Gateway(DatasetFacts.of(declared), NoLedger(), grid=0)
    yield opened
    opened.close()


def columns(gateway, sql, epsilon=1.0):
    return {column.name: column for column in gateway.explain(sql, epsilon=epsilon).columns}


def test_a_count_and_a_sum_have_an_error_that_is_known(gateway):
    told = gateway.explain("SELECT COUNT(*) AS n, SUM(age) AS s, 2 * COUNT(*) AS twice FROM t", epsilon=1.0)
    n, s, twice = told.columns
    assert (n.kind, s.kind, twice.kind) == ("fixed", "fixed", "fixed")
    assert n.sizes[0].half == told.numbers[0]["half width"]
    assert s.sizes[0].half == told.numbers[1]["half width"]
    assert twice.sizes[0].half == 2 * n.sizes[0].half


def test_the_larger_side_of_an_interval_is_told(gateway):
    """One divided by a count that is too small is further off than by one that is too large."""
    told = gateway.explain("SELECT 1000 / GREATEST(COUNT(*), 1) AS part FROM t", epsilon=1.0)
    (part,) = told.columns
    by_size, half = {at.size: at.half for at in part.sizes}, told.noise_plan.numbers[0].half_width(0.95)
    assert by_size[1_000] == pytest.approx(1000 / (1_000 - half) - 1)


def test_the_error_of_a_mean_by_hand(gateway):
    told = gateway.explain("SELECT AVG(age) AS mean FROM t", epsilon=1.0)
    (mean,) = told.columns
    assert mean.kind == "sized"
    # both numbers at once with 95 %: each inside its interval of 97.5 %
    count, total = sorted(share.half_width(0.975) for share in told.noise_plan.numbers)
    by_size = {at.size: at.half for at in mean.sizes}
    assert list(by_size) == list(SIZES)
    # a mean at 90 (40 from the centre of 50): the sum is off by h_s and the count by h_n,
    # (40 n + h_s) / (n - h_n) - 40, unless the bound of 100 is nearer; at 100 itself the mean can only fall
    for n in (1_000, 10_000):
        upward = min((40 * n + total) / (n - count) - 40, 10)
        downward = 50 - (50 * n - total) / (n + count)
        assert by_size[n] == pytest.approx(max(upward, downward))
    lost = columns(gateway, "SELECT AVG(age) AS mean FROM t", 0.2)["mean"]
    assert lost.sizes[0].half == 100, "ten records are lost in this noise: only the bounds are known"


def test_with_95_percent_no_mean_is_further_off_and_the_bound_is_not_idle(gateway):
    """Noise is drawn for a group whose mean is at a bound; the share of answers inside must be at least 95 %."""
    told = gateway.explain("SELECT AVG(age) AS mean FROM t", epsilon=0.5)
    half = {at.size: at.half for at in told.columns[0].sizes}[1_000]
    count, total = sorted(told.noise_plan.numbers, key=lambda share: share.variance)
    for place in (-50, 0, 40):  # distance of the mean from the centre
        counts, totals = count.add([1_000] * 4_000), total.add([place * 1_000] * 4_000)
        off = [abs(min(max(s / n, -50), 50) - place) for n, s in zip(counts, totals, strict=True)]
        assert sum(each <= half for each in off) / 4_000 >= 0.95
    assert sum(each <= 0.4 * half for each in off) / 4_000 < 0.95, "a bound that is far too wide tells nothing"


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT MEDIAN(age) AS x FROM t", "ranks"),
        ("SELECT VARIANCE(w) AS x FROM t", "sized"),
        ("SELECT STDDEV(age) AS x FROM t", "sized"),
        ("SELECT SUM(age) / COUNT(*) AS x FROM t", "sized"),
        ("SELECT COUNT(*) > 5 AS x FROM t", "open"),
        ("SELECT age + COUNT(*) AS x FROM t GROUP BY age", "open"),
    ],
)
def test_what_can_be_told_of_each_kind_of_column(gateway, sql, kind):
    assert columns(gateway, sql)["x"].kind == kind


def test_more_records_never_make_it_worse_and_more_budget_makes_it_better(gateway):
    for sql in ("SELECT AVG(age) AS x FROM t", "SELECT VARIANCE(w) AS x FROM t", "SELECT STDDEV(w) AS x FROM t"):
        small, large = (columns(gateway, sql, epsilon)["x"] for epsilon in (0.5, 5.0))
        widths = [at.half for at in small.sizes]
        assert widths == sorted(widths, reverse=True)
        assert all(a.half <= b.half for a, b in zip(large.sizes, small.sizes, strict=True))
        assert large.sizes[-1].half < small.sizes[-1].half / 2, "a deviation grows with the root of the noise"


def test_a_ratio_has_no_bound_where_the_noise_may_make_the_divisor_zero(gateway):
    ratio = columns(gateway, "SELECT SUM(age) / COUNT(*) AS x FROM t", 0.5)["x"]
    assert ratio.sizes[0].half is None
    assert ratio.sizes[-1].half is not None


def test_keys_have_no_error_and_large_questions_no_forecast(gateway):
    assert list(columns(gateway, "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex")) == ["n"]
    doubled = "".join(f", c{i} + c{i} AS c{i + 1}" for i in range(9))
    kinds = [column.kind for column in columns(gateway, f"SELECT COUNT(*) AS c0{doubled} FROM t").values()]
    assert kinds[0] == "fixed"
    assert kinds[-1] == "open"


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("en", ["costs epsilon 0.3", "The answer has one row.", "one row at most", "Laplace noise", "±", "10,000"]),
        ("es", ["cuesta épsilon 0,3", "La respuesta tiene una fila.", "una fila", "ruido de Laplace", "10.000"]),
        ("ca", ["costa èpsilon 0,3", "La resposta té una fila.", "una fila", "soroll de Laplace", "10.000"]),
    ],
)
def test_it_is_told_in_sentences(gateway, language, sentences):
    text = gateway.explain("SELECT AVG(age) AS mean, COUNT(*) AS n FROM t", epsilon=0.3).text(language)
    for sentence in sentences:
        assert sentence in text
    for wrong in ("(s)", "1 cells", "1 rows", "laplace", "{", "None"):
        assert wrong not in text


def test_the_groups_are_those_of_which_it_tells_and_their_numbers_are_exact(gateway):
    """Each group is written out: ten values of w, between 0 and 8, all at one place or split between the two ends."""
    told = gateway.explain("SELECT VARIANCE(w) AS x FROM t", epsilon=1.0)
    plan = gateway.plan("SELECT VARIANCE(w) AS x FROM t")
    groups = list(_groups(10, plan))
    assert f" {len(groups)} " in told.size_note()
    written = []
    for place in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0):
        high = round(10 * place, 9)
        written += [[(10, 8 * place)], [(high, 8.0), (10 - high, 0.0)]]
    for group, values in zip(groups, written, strict=True):
        for number, found in zip(plan.numbers, group, strict=True):
            power = {"rows": 0, "sum": 1, "square": 2}.get(number.kind, 0)
            exact = sum(times * (value - number.centre) ** power for times, value in values) / number.unit
            assert found == pytest.approx(exact)


def test_plain_data_name_the_error_of_the_answer(gateway):
    told = gateway.explain("SELECT sex, AVG(age) AS mean, MAX(age) AS most FROM t GROUP BY sex", epsilon=1).data()
    mean, most = told["columns"]
    assert mean["kind"] == "sized"
    assert [at["records"] for at in mean["by records"]] == list(SIZES)
    assert most == {"column": "most", "kind": "ranks", "ranks": most["ranks"]}
