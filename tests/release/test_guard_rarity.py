"""The guard decides on the released cells: neither a hidden cell nor a step that changes next to nothing counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import GuardError
from celosia.release.output.columns import select_output

N = 300
RNG = np.random.default_rng(3)
KNOWN = {"sex": RNG.choice(["F", "M"], N), "age": RNG.integers(20, 23, N)}
NICKNAMES = [f"zorro{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(N)]


def release(folder: Path, frame: pl.DataFrame, schema: dict[str, Any], steps: list[Any], **more: Any) -> dict[str, Any]:
    """Run a policy and return the certificate without what differs between any two runs."""
    frame.write_parquet(folder / "in.parquet")
    facts = {"input": {"path": str(folder / "in.parquet")}, "schema": schema, "step": steps}
    output = {"output": {"path": str(folder / "out.csv"), "overwrite": True, "report": False}}
    certificate = celosia.run(celosia.Policy.of(facts | output | more)).certificate
    return dict(certificate)


HIDING = {
    "blanked, persons": ({"use": "suppress-records", "require": ["k-anonymity(k=2)"]}, "who"),
    "dropped": ({"use": "suppress-records", "require": ["k-anonymity(k=2)"], "drop": True}, None),
    "dropped, persons": ({"use": "suppress-records", "require": ["k-anonymity(k=2)"], "drop": True}, "who"),
    "emptied": ({"use": "suppress-cells", "columns": ["sex", "age", "ill"], "where": "sex = 'X'"}, None),
}


@pytest.mark.parametrize("case", HIDING)
def test_the_evidence_does_not_show_what_a_hidden_cell_held(tmp_path, case):
    """Two persons with a rare disease are visible; the hidden one may have it too, a common one, or one of her own."""
    step, person = HIDING[case]
    guards = set()
    for hidden in ("TB", "flu", "lupus"):
        rows = [("FM"[i % 2], 30, ill) for ill, n in (("TB", 2), ("flu", 40), ("cold", 40)) for i in range(n)]
        frame = pl.DataFrame([*rows, ("X", 99, hidden)], schema=["sex", "age", "ill"], orient="row")
        frame = frame.with_row_index("who")
        schema = {"quasi": ["sex", "age"], "sensitive": ["ill"], **({"person": "who"} if person else {})}
        require = [{"use": "l-diversity", "l": 2, "column": "ill"}]
        reason = {"guard": {"acknowledge": {"ill": "public"}}}
        certificate = release(tmp_path, frame, schema, [step], require=require, **reason)
        assert hidden not in pl.read_csv(tmp_path / "out.csv").filter(pl.col("sex") == "X")["ill"]
        guards.add(json.dumps([entry for entry in certificate["guard"] if entry["column"] == "ill"]))
    (guard,) = guards
    (entry,) = json.loads(guard)
    assert entry["cells"] in (2, None)
    assert entry["of"] in (82, 83)


def test_no_more_cells_are_counted_than_are_released(tmp_path):
    """Persons have two rows each; one row of the only rare value is blanked."""
    rows = [(i // 2, "FM"[i // 2 % 2], 30, "flu") for i in range(80)] + [(40, "F", 30, "lupus"), (40, "X", 99, "lupus")]
    frame = pl.DataFrame(rows, schema=["who", "sex", "age", "ill"], orient="row")
    schema = {"person": "who", "quasi": ["sex", "age"], "sensitive": ["ill"]}
    step = {"use": "suppress-records", "require": ["k-anonymity(k=2)"]}
    with pytest.raises(GuardError, match="column 'ill': 1 of 81 cells hold"):
        release(tmp_path, frame, schema, [step], require=[{"use": "l-diversity", "l": 2, "column": "ill"}])


@pytest.mark.parametrize(
    "step",
    [
        {"use": "recode", "column": "x", "mapping": {NICKNAMES[0]: NICKNAMES[1]}},
        {"use": "pram", "columns": ["x"], "diagonal": 0.95},
        {"use": "suppress-cells", "columns": ["x"], "where": f"x = '{NICKNAMES[0]}'"},
    ],
)
def test_a_step_that_changes_few_texts_protects_nothing(tmp_path, step):
    with pytest.raises(GuardError, match=r"column 'x': .* cells hold values that fewer than 3 persons hold"):
        release(
            tmp_path, pl.DataFrame({**KNOWN, "x": NICKNAMES}), {"quasi": ["sex", "age"], "insensitive": ["x"]}, [step]
        )


def test_a_rare_category_that_a_step_moves_is_reported_and_released(tmp_path):
    ills = ["flu", "cold", "none"] * (N // 3 - 1) + ["flu", "cold", "Fabry"]
    schema = {"quasi": ["sex", "age"], "sensitive": ["ill"]}
    step = {"use": "pram", "columns": ["ill"], "diagonal": 0.7}
    release(tmp_path, pl.DataFrame({**KNOWN, "ill": ills}), schema, [step])


def test_free_text_is_released_if_it_is_redacted_or_nothing_of_it_is_left(tmp_path):
    notes = [f"came with the dog called Rex{i}, works at the mill" for i in range(N)]
    frame = pl.DataFrame({**KNOWN, "x": notes})
    schema = {"quasi": ["sex", "age"], "insensitive": ["x"], "kinds": {"x": "text"}}
    steps = {
        "recode": ({"use": "recode", "column": "x", "mapping": {notes[0]: "blank"}}, False),
        "mask": ({"use": "mask", "columns": ["x"], "keep": 4}, True),
        "redact": ({"use": "redact-text", "columns": ["x"]}, True),
    }
    for step, released in steps.values():
        assert ("x" in release(tmp_path, frame, schema, [step])["release"]["columns"]) == released


@pytest.mark.parametrize("step", ["noise", "correlated-noise", "orthogonal-mask"])
@pytest.mark.parametrize("p", [1e-11, 1e-9])
def test_a_negligible_change_of_amounts_protects_nothing(tmp_path, step, p):
    frame = pl.DataFrame({**KNOWN, "pay": RNG.lognormal(10, 0.8, N).round(2)})
    schema = {"quasi": ["sex", "age"], "sensitive": ["pay"]}
    with pytest.raises(GuardError, match="column 'pay': 300 of 300 cells hold values that fewer than 3"):
        release(tmp_path, frame, schema, [{"use": step, "columns": ["pay"], "p": p}])
    release(tmp_path, frame, schema, [{"use": step, "columns": ["pay"], "p": 0.05}])


def test_amounts_that_many_share_may_be_changed_a_little(tmp_path):
    frame = pl.DataFrame({**KNOWN, "pay": [1000.0 * (1 + i % 10) for i in range(N)]})
    guard = release(
        tmp_path,
        frame,
        {"quasi": ["sex", "age"], "sensitive": ["pay"]},
        [{"use": "noise", "columns": ["pay"], "p": 1e-9}],
    )["guard"]
    assert not [entry for entry in guard if "fewer than" in entry["what"]]


@pytest.mark.parametrize(
    "after", [[], [{"use": "noise", "columns": ["pay"], "p": 0.01}], [{"use": "anatomise", "l": 2}]]
)
def test_a_synthesis_that_repeats_its_input_is_found_beside_continuous_amounts(tmp_path, after):
    rng = np.random.default_rng(2)
    n = 400
    frame = pl.DataFrame(
        {
            "sex": rng.choice(["F", "M"], n),
            "age": rng.integers(20, 80, n),
            "town": rng.choice([f"t{i}" for i in range(30)], n),
            "ill": rng.choice(["flu", "cold", "none", "cough", "fever"], n),
            "pay": rng.lognormal(10, 0.8, n).round(2),
        }
    )
    schema = {"quasi": ["sex", "age", "town"], "sensitive": ["ill"], "insensitive": ["pay"]}
    with pytest.raises(GuardError, match="records hold together with the other columns a record that only one person"):
        release(tmp_path, frame, schema, [{"use": "sequential-trees", "leaf": 1}, *after])
    for method in ({"use": "sequential-trees"}, {"use": "gaussian-copula"}):
        release(tmp_path, frame, schema, [method, *after])


WHOLE_NOISE = {"use": "noise", "columns": ["age", "hours"], "p": 0.2}


@pytest.mark.parametrize("after", [True, False])
@pytest.mark.parametrize("step", [WHOLE_NOISE, {"use": "rank-swap", "columns": ["age"], "window": 0.1}])
def test_noise_on_whole_numbers_does_not_hide_a_synthesis_that_repeats_its_input(tmp_path, step, after):
    rng = np.random.default_rng(3)
    n = 600
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 90, n),
            "sex": rng.choice(["F", "M"], n),
            "town": rng.choice(list("abcdefgh"), n),
            "hours": rng.integers(0, 60, n),
            "ill": rng.choice(["flu", "cold", "none", "cough", "fever"], n),
        }
    )
    schema = {"quasi": ["age", "sex", "town"], "sensitive": ["ill"], "insensitive": ["hours"]}
    for leaf in (1, 20):
        steps = [{"use": "sequential-trees", "leaf": leaf}, step]
        steps = steps if after else steps[::-1]
        if leaf == 1:
            with pytest.raises(GuardError, match="a record that only one person"):
                release(tmp_path, frame, schema, steps)
        else:
            release(tmp_path, frame, schema, steps)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_one_number_that_is_not_finite_does_not_hide_unchanged_numbers(odd, engine):
    rng = np.random.default_rng(8)
    pay = rng.lognormal(10, 0.8, 200).round(4)
    pay[7] = odd
    frame = pl.DataFrame({"age": rng.integers(20, 24, 200), "height": rng.normal(170, 9, 200).round(1), "pay": pay})
    schema = celosia.Schema.of(quasi=["age", "height"], insensitive=["pay"])
    table = celosia.read(frame, schema, engine=engine)
    protected = celosia.protect(table, "round(columns=pay, base=0.01)", "round(columns=height, base=5)", seed=1)
    with pytest.raises(GuardError, match=r"column 'pay': .* cells hold values that fewer than 3"):
        select_output(table, protected, [each["method"] for each in protected.private_history])
