"""An answer as a CSV file and as numbers with error bars, and the past of an analyst."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest

from celosia.errors import BudgetError
from celosia.gateway.answer import Answer, answer_csv, error_bars
from celosia.gateway.gateway import Gateway
from celosia.gateway.ledger import Ledger
from celosia.gateway.metadata import DatasetFacts
from celosia.gateway.site.view import limits, past_queries, price
from celosia.kernels.budget.cost import Cost

GROUPED = "SELECT sex, COUNT(*) AS people, AVG(age) AS mean_age, MEDIAN(age) AS middle FROM person GROUP BY sex"


@pytest.fixture
def gateway(tmp_path):
    frame = pl.DataFrame({"age": [20 + i % 60 for i in range(200)], "sex": ["F", "M"] * 100})
    frame.write_csv(tmp_path / "person.csv")
    columns = {"age": {"type": "integer", "bounds": [0, 100]}, "sex": {"type": "text", "categories": ["F", "M"]}}
    source = str(tmp_path / "person.csv")
    facts = DatasetFacts.of(
        {"name": "people", "epsilon": 12, "tables": {"person": {"source": source, "columns": columns}}}
    )
    opened = Gateway(facts, Ledger.create(tmp_path / "ledger.db"), grid=0)
    yield opened
    opened.close()


def test_the_file_has_each_value_with_its_error_and_interval(gateway):
    answer = gateway.ask(GROUPED, epsilon=8.0)
    rows = list(csv.DictReader(io.StringIO(answer_csv(answer))))
    assert list(rows[0]) == ["sex", "people", "people error", "people low", "people high", "mean_age",
                             *([f"mean_age {k}" for k in ("error", "low", "high") if k in answer.rows[0]["mean_age"]]),
                             "middle", "middle ranks"]  # fmt: skip
    for line, row in zip(rows, answer.rows, strict=True):
        assert line["sex"] == row["sex"]
        assert float(line["people"]) == row["people"]["value"]
        assert float(line["people low"]) <= float(line["people"]) <= float(line["people high"])
        assert float(line["people high"]) == row["people"]["high"]
        assert int(line["middle ranks"]) == row["middle"]["ranks"]


def test_bars_are_the_intervals_of_each_column_of_numbers(gateway):
    answer = gateway.ask(GROUPED, epsilon=8.0)
    bars = error_bars(answer.columns, answer.rows)
    assert [bar.label for bar in bars["people"]] == ["F", "M"]
    assert [(bar.value, bar.low, bar.high) for bar in bars["people"]] == [
        (row["people"]["value"], row["people"]["low"], row["people"]["high"]) for row in answer.rows
    ]
    assert "middle" not in bars  # its error is in ranks
    assert "sex" not in bars
    one = gateway.ask("SELECT COUNT(*) AS people FROM person", epsilon=1.0)
    alone = error_bars(one.columns, one.rows)
    assert [bar.label for bar in alone["people"]] == ["people"]


def test_a_text_that_begins_like_a_formula_is_no_formula_in_a_spreadsheet():
    cells = {"value": None, "status": "unanswerable"}
    answer = Answer(
        ("key", "n"), ({"key": "=1+1", "n": cells}, {"key": "plain", "n": {"value": -3}}), Cost.pure(1), Cost.pure(1)
    )
    assert answer_csv(answer) == "key,n\n'=1+1,\nplain,-3\n"


def test_the_past_names_the_charge_that_paid_for_each_answer(gateway):
    first = gateway.ask("SELECT COUNT(*) FROM person", epsilon=8.0)
    again = gateway.ask("SELECT COUNT(*) FROM person", epsilon=8.0)
    assert again.stored
    assert again.charge == first.charge > 0
    with pytest.raises(BudgetError):
        gateway.ask("SELECT COUNT(*) FROM person WHERE age > 30", epsilon=8.0)
    past = past_queries(gateway, "owner")
    assert [(one.kind, one.charge, one.loss) for one in past] == [
        ("refusal", 0, 0.0),
        ("repeat", first.charge, 0.0),
        ("charge", first.charge, 8.0),
    ]
    assert gateway.ledger.stored_answer("people", past[1].charge) == first.body()
    assert [(x.total, x.left, x.spent) for x in limits(gateway, "owner")] == [(12.0, 4.0, 8.0)]
    assert price(gateway, "0.5", "") == {"epsilon": 0.5, "delta": 0.0}
