"""What is learnt of a number: the internal edition tells the interval, nothing that leaves does."""

from __future__ import annotations

import polars as pl
import pytest
from markupsafe import escape

from celosia.release.report import LANGUAGES, render
from celosia.release.report.texts import words
from celosia.release.run import run

POLICY = """
[input]
path = "people.csv"

[schema]
quasi = ["job", "zip"]
sensitive = ["income"]

[[require]]
use = "k-anonymity"
k = 3

[[step]]
use = "round"
columns = ["income"]
base = 10

[measure]
risks = [{use = "attacker-knows", known = {zip = "97222"}}]

[output]
path = "safe.csv"
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    place = tmp_path_factory.mktemp("learnt")
    frame = pl.DataFrame(
        {
            "job": ["Teacher"] * 3 + ["Writer"] * 3,
            "zip": ["80100"] * 3 + ["97222"] * 3,
            "income": [10_040, 10_040, 10_040, 28_040, 25_040, 23_040],
        }
    )
    frame.write_csv(place / "people.csv")
    (place / "policy.toml").write_text(POLICY)
    return run(place / "policy.toml")


INTERVAL = ("23040.0", "28040.0")
"""As numbers: the released column itself, which every edition draws, has whole ones."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_owner_sees_the_interval_and_nobody_else(release, language):
    heading = str(escape(words(language)["internal_learnt"]))
    told = render(release, edition="internal", language=language).partition(heading)[2]
    assert all(bound in told for bound in INTERVAL)
    outside = render(release, edition="external", language=language)
    assert heading not in outside
    assert not any(bound in outside for bound in INTERVAL)


def test_the_evidence_and_the_certificate_have_the_share_only(release):
    (finding,) = (f for f in release.assessment.risks if f.part.name == "attacker-knows")
    assert finding.evidence["narrowed"] == {"income": pytest.approx(5 / 18)}
    assert "28040" not in str(finding.evidence)
    written = release.paths["certificate"].read_text()
    assert "narrowed" in written
    assert not any(bound.partition(".")[0] in written for bound in INTERVAL)
