"""Every method writes releases that the second implementation agrees with, claim by claim."""

from __future__ import annotations

import itertools

import pytest
from tests.reference.people import EXAMPLES, ROLES, SORTS, people
from tests.trust.tried import Tried, tried

import celosia
from celosia.errors import CelosiaError, Contradiction
from celosia.parts import build
from celosia.release.policy.policy import Output, Policy, Step
from celosia.release.run import run

MODELS = (
    *("k-anonymity(k=1)", "l-diversity(l=1)", "t-closeness(t=1)", "alpha-k(alpha=1.0, k=1)", "average-risk(risk=1)"),
    *("sample-uniqueness(share=1)", "k-map(k=1, size=1000)", "beta-likeness(beta=1000)"),
)
RISKS = ("prosecutor", "uniqueness", "k-advice", "homogeneity")
FILES = {"rows": "safe.csv", "persons": "safe.parquet", "gaps": "safe.csv"}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_the_second_implementation_agrees_with_every_release(tmp_path):
    confirmed, releases, wrong = 0, 0, []
    for sort, (name, examples) in itertools.product(SORTS, EXAMPLES.items()):
        people(sort).write_parquet(tmp_path / "people.parquet")
        roles = {**ROLES, **({"person": "i"} if sort == "persons" else {})}
        for example in examples:
            policy = Policy(
                input={"path": tmp_path / "people.parquet"},
                schema=celosia.Schema.of(**roles),
                require=tuple(build("model", model) for model in MODELS),
                step=(Step("only", build("method", {"use": name, **example})),),
                measure={"risks": RISKS, "losses": []},
                output=Output(path=tmp_path / FILES[sort], report=False),
                guard={"acknowledge": dict.fromkeys(people(sort).columns, "a test")},
                run={"seed": 1 << 70},
            )
            try:
                release = run(policy, overwrite=True)
            except Contradiction as error:
                wrong.append(f"{name} on {sort}: {error}")
            except CelosiaError:  # a method that refuses such a table
                continue
            else:
                releases += 1
                confirmed += len(release.certificate["checked"]["confirmed"])
    what = "claim of a release, computed again from its file by a second implementation"
    tried("checker", [Tried(what, confirmed + len(wrong), len(wrong), "another number")])
    assert wrong == []
    assert releases > 180
    assert confirmed > 2000
