"""Linkage and interval disclosure as parts: the tables of the sources, sdcMicro's dRisk, the census experiment."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable, ParameterError, UnknownName
from celosia.risk.attacks.classical_disclosure_risk import ClassicalDisclosureRisk
from celosia.risk.attacks.interval_disclosure import IntervalDisclosure
from celosia.risk.attacks.linking.distance_linkage import DistanceLinkage
from celosia.risk.attacks.linking.probabilistic_linkage import ProbabilisticLinkage

NAMES = ["V1", "V2", "V3"]
X = [[10, 33.4, 1000], [0, 28.9, 1010], [30, 10.3, 922], [20, 80, 20200], [30, 59, 15320]]
X1 = [[0, 30.2, 1000], [0, 31.2, 1000], [20, 12, 1000], [30, 82.1, 20000], [20, 55.2, 15000]]
X2 = [[0, 20, 900]] * 3 + [[20, 70, 20000]] * 2


def table(rows, names=NAMES, **facts):
    return celosia.read(pl.DataFrame(rows, schema=names, orient="row", strict=False), celosia.Schema.of(**facts))


@pytest.fixture
def noisy():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(300, 4)) * [1, 10, 100, 1]
    y = x + 0.3 * rng.normal(size=x.shape) * x.std(axis=0)
    return table(x.tolist(), list("abcd")), table(y.tolist(), list("abcd"))


def ipso_a(shared, dependent, independent):
    """The regression of some census columns on others: a deterministic synthetic file."""
    data = pl.read_csv(shared("data/census.csv"))
    x = np.column_stack([np.ones(len(data)), data[:, [i - 1 for i in independent]].to_numpy()])
    y = data[:, [i - 1 for i in dependent]]
    scaled = x / np.maximum(x.std(axis=0), x.std(axis=0) == 0)
    fitted = scaled @ np.linalg.lstsq(scaled, y.to_numpy().astype(float), rcond=1e-12)[0]
    return celosia.read(y), celosia.read(pl.DataFrame(fitted, schema=y.columns))


S1 = ([1, 3, 4, 6, 7, 9, 11, 12, 13], [2, 5, 8, 10])
S2 = ([4, 7, 12, 13], [1, 2, 3, 5, 6, 8, 9, 10, 11])


def test_tables_9_and_10():
    raw = DistanceLinkage(scale="none")
    found = raw.records(table(X), table(X1))
    assert (found["linked"] + 1).to_list() == [2, 1, 3, 4, 5]
    assert raw.value(table(X), table(X1)) == pytest.approx(0.6)
    assert (raw.records(table(X), table(X2))["linked"] + 1).to_list() == [1, 1, 1, 4, 4]
    assert raw.value(table(X), table(X2)) == pytest.approx(0.4)
    first = DistanceLinkage(scale="none", ties="first")
    assert first.value(table(X), table(X2)) == pytest.approx(0.4)
    known = DistanceLinkage(scale="none", columns=["V1", "V3"], ties="first")
    assert known.value(table(X), table(X1)) == pytest.approx(0.8)
    assert DistanceLinkage(scale="none", columns=["V1", "V3"]).value(table(X), table(X1)) == pytest.approx(
        0.766667, abs=1e-6
    )
    assert DistanceLinkage(scale="none", one_to_one=True).value(table(X), table(X1)) == pytest.approx(0.6)


def test_a_profile_of_known_columns(noisy):
    profile = DistanceLinkage(known=(1, 2, 4))
    evidence = profile.evidence(*noisy)
    singles = [DistanceLinkage(columns=list("abcd")[:k]).value(*noisy) for k in (1, 2, 4)]
    assert list(evidence["known"].values()) == pytest.approx(singles)
    assert evidence["value"] == pytest.approx(np.mean(singles))
    assert evidence["interval"][0] < evidence["value"] < evidence["interval"][1]
    assert evidence["baseline"] == pytest.approx(1 / 300)
    assert evidence["two_nearest"] >= DistanceLinkage().value(*noisy)


@pytest.mark.parametrize("scale", ["sd", "own-sd", "none", "mahalanobis", "gower"])
@pytest.mark.parametrize("direction", ["original", "protected"])
def test_an_unchanged_file_is_linked_whole(noisy, scale, direction):
    original, _ = noisy
    assert DistanceLinkage(scale=scale, direction=direction).value(original, original) == 1.0


def test_weights_leave_columns_out(noisy):
    without = DistanceLinkage(weights={"c": 0.0, "d": 0.0}).value(*noisy)
    assert without == pytest.approx(DistanceLinkage(columns=["a", "b"]).value(*noisy))


def test_gower_compares_categories():
    before = table([["x", 1], ["y", 2], ["z", 9]], ["c", "v"])
    after = table([["x", 3], ["y", 3], ["x", 8]], ["c", "v"])
    found = DistanceLinkage(scale="gower").records(before, after)
    # ranges 8: (z, 9) is at 1 + 1/8 from (x, 8); (x, 1) at 2/8 from (x, 3); (y, 2) at 1/8 from (y, 3)
    assert found["linked"].to_list() == [0, 1, 2]
    assert found["distance"].to_list() == pytest.approx([0.25, 0.125, 1.125])
    with pytest.raises(NotApplicable, match="does not hold numbers"):
        DistanceLinkage(columns=["c"]).value(before, after)


def test_records_that_were_left_out_cannot_be_linked(noisy):
    original, _ = noisy
    some = original.take(original.ids()[::2])
    assert DistanceLinkage().value(original, some) == pytest.approx(0.5)
    assert DistanceLinkage(direction="protected").value(original, some) == 1.0


def test_tables_that_cannot_be_paired(tmp_path):
    path = tmp_path / "x.csv"
    pl.DataFrame({"v": [1.0, 2.0]}).write_csv(path)
    with pytest.raises(NotApplicable, match="cannot be paired"):
        DistanceLinkage().value(celosia.read(path), celosia.read(path))
    with pytest.raises(UnknownName, match="no column named 'w'"):
        DistanceLinkage(columns=["w"]).value(table(X), table(X1))


def test_ipso_a_of_the_census(shared):
    for split, expected in ((S1, (0.31208, 0.18699, 0.12991, 0.03333)), (S2, (0.47588, 0.24958, 0.15685, 0.08981))):
        original, protected = ipso_a(shared, *split)
        for window, value in zip(("rank", "relative", "sd"), expected, strict=False):
            assert IntervalDisclosure(window=window).value(original, protected) == pytest.approx(value, abs=5e-6)
        linkage = DistanceLinkage(scale="own-sd", direction="protected")
        assert linkage.value(original, protected) == pytest.approx(expected[3], abs=5e-6)
    original, protected = ipso_a(shared, *S1)
    back = DistanceLinkage(scale="own-sd", direction="original").value(original, protected)
    assert back == pytest.approx(0.021, abs=5e-4)


@pytest.mark.parametrize(("split", "expected"), [(S1, 0.998), (S2, 0.422)])
def test_probabilistic_linkage_of_the_census_with_itself(shared, split, expected):
    original, _ = ipso_a(shared, *split)
    assert ProbabilisticLinkage().value(original, original) == pytest.approx(expected, abs=5e-4)


def test_probabilistic_linkage(noisy):
    part = ProbabilisticLinkage(tolerance=0.5)
    evidence = part.evidence(*noisy)
    assert evidence["value"] > 20 * evidence["baseline"]
    assert all(evidence["m"][name] > evidence["u"][name] for name in "abcd")
    records = part.records(*noisy)
    assert records["risk"].mean() == pytest.approx(evidence["value"])
    strict = ProbabilisticLinkage(tolerance=0.5, false_link=1e-3)
    assert strict.value(*noisy) <= evidence["value"]
    assert strict.evidence(*noisy)["links"] <= 1
    one = ProbabilisticLinkage(tolerance=0.5, one_to_one=True).value(*noisy)
    assert one > evidence["value"]  # knowing that each record is used once helps the intruder


def test_probabilistic_linkage_of_categories():
    rng = np.random.default_rng(4)
    before = pl.DataFrame({name: rng.integers(0, 9, 200).astype(str) for name in "abcde"})
    # a value is kept with probability 0.8
    after = before.with_columns(
        pl.when(pl.Series(rng.random(200) < 0.8)).then(pl.col(name)).otherwise(pl.lit("0")).alias(name)
        for name in "abcde"
    )
    assert ProbabilisticLinkage().value(celosia.read(before), celosia.read(after)) > 0.75
    assert ProbabilisticLinkage(known=(2,)).value(celosia.read(before), celosia.read(after)) < 0.5


@pytest.mark.parametrize("source", ["perturb_summary", "perturb_summary2", "microaggregation_summary"])
def test_joint_intervals_of_sdcmicro(shared, source):
    golden = json.loads(shared(f"golden/sdcmicro/{source}.json").read_text())
    prefix = "microagg" if source.startswith("micro") else "prot"
    checked = 0
    for name, measures in golden.items():
        data, method = name.split("_", 1)
        files = {"Tarragona": "tarragona", "CASC": "census", "testdata": "testdata"}
        original = shared(f"data/{files[data]}.csv")
        path = original.parents[1] / "golden" / "sdcmicro" / f"{prefix}_{name}.csv.gz"
        if not path.exists():
            continue
        before, after = pl.read_csv(original), pl.read_csv(path, infer_schema_length=None)
        columns = [column for column in after.columns if column in before.columns]
        pair = celosia.read(before[columns]), celosia.read(after[columns])
        for key, k in (("dRisk_k001", 0.01), ("dRisk_k005", 0.05), ("dRisk_k01", 0.1)):
            if key in measures:
                found = IntervalDisclosure(window="joint", k=k, columns=columns).value(*pair)
                assert found == pytest.approx(measures[key], abs=1e-12), (name, method, key)
                checked += 1
    assert checked >= 3


def test_interval_disclosure(noisy):
    original, protected = noisy
    assert IntervalDisclosure().value(original, original) == 1.0
    evidence = IntervalDisclosure().evidence(original, protected)
    assert evidence["value"] == pytest.approx(np.mean(list(evidence["columns"].values())))
    assert evidence["baseline"] < evidence["value"]
    wide = IntervalDisclosure(widths=(20,)).value(original, protected)
    assert wide > IntervalDisclosure(widths=(1,)).value(original, protected)
    holes = celosia.read(pl.DataFrame({"a": [1.0, None, 3.0]}))
    assert IntervalDisclosure().value(holes, holes) == pytest.approx(2 / 3)


def test_combined_risk(noisy):
    part = ClassicalDisclosureRisk(known=(2, 4))
    evidence = part.evidence(*noisy)
    parts = {name: found["value"] for name, found in evidence["parts"].items()}
    assert evidence["value"] == pytest.approx(0.25 * parts["dbrl"] + 0.25 * parts["prl"] + 0.5 * parts["id"])
    assert part.value(*noisy) == pytest.approx(evidence["value"])
    assert evidence["baseline"] < evidence["value"]
    records = part.records(*noisy)
    assert records.columns == ["risk", "dbrl", "prl", "id"]
    assert len(records) == 300
    assert part == celosia.parts.build("attack", str(part))


def test_an_attack_on_pure_noise_does_not_beat_its_baseline():
    rng = np.random.default_rng(8)
    x, y = (table(rng.normal(size=(400, 3)).tolist()) for _ in range(2))
    for part in (DistanceLinkage(), ProbabilisticLinkage(), IntervalDisclosure()):
        evidence = part.evidence(x, y)
        low, high = evidence["interval"]
        assert low <= evidence["baseline"] * 1.02 + 0.01, part
        assert high - low < 0.1


def test_parameters():
    with pytest.raises(ParameterError, match="scale must be"):
        DistanceLinkage(scale="furlong")
    with pytest.raises(ParameterError, match="tolerance must be at least 0"):
        ProbabilisticLinkage(tolerance=-1)
