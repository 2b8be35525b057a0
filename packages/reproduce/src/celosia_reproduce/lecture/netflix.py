"""The prize for better recommendations: ratings without names, linked with ratings that people published themselves.

The columns of the lecture's picture are lost, so ratings are generated: few films that many have seen, many that few
have, and for each person a list that nobody else has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import celosia
from celosia.risk import Scoreboard
from celosia_reproduce.statements import Grid, Section, Statement, derived

if TYPE_CHECKING:
    from celosia.table import Table

NAMED = ("Alice", "Bob", "Caty", "Tim")
ABSENT = "Caty"
PICTURE = ("Alice", "Bob", "–", "Tim")
"""Who is recognised in the lecture's picture; the third published ratings too, and is not among the released."""
KNOWN = (2, 4, 6, 8)
STANDS_OUT = 2.0
"""How far the best one must stand out to be claimed; at 1.5 a fifth of the people who are not there are claimed too."""


def ratings(people: int = 3000, films: int = 1200, seed: int = 2007) -> Table:
    """Generate ratings, one per row: person, film, stars, day. The first four persons have names."""
    import polars as pl

    rng = np.random.default_rng(seed)
    popular = 1 / (np.arange(films) + 10.0)
    number = np.clip(rng.lognormal(3.2, 0.6, people), 8, films / 4).astype(int)
    person = np.repeat(np.arange(people), number)
    # the order of exponential times with these rates is a draw without replacement
    film = np.concatenate([np.argsort(rng.exponential(1 / popular))[:n] for n in number])
    stars = np.clip(np.round(rng.normal(3.6, 1.0, people)[person] + rng.normal(0, 0.8, len(film))), 1, 5)
    frame = pl.DataFrame(
        {
            "who": [NAMED[i] if i < len(NAMED) else f"person {i}" for i in person],
            "film": film,
            "stars": stars.astype(int),
            "day": rng.integers(0, 2000, len(film)),
        }
    )
    return celosia.read(frame, celosia.Schema.of(person="who"))


def released(table: Table) -> Table:
    """Return the training set: everyone except the absent person, with names replaced by random numbers."""
    import polars as pl

    there = table.take(table.ids()[(table.column("who") != ABSENT).to_numpy()])
    codes = there.column("who").cast(pl.Categorical).to_physical().cast(pl.Int64)
    shuffled = np.random.default_rng(1).permutation(int(codes.max()) + 1)  # type: ignore[arg-type]
    return there.replace({"who": shuffled[codes.to_numpy()]})


def attack(ratings_known: int, **more: Any) -> Scoreboard:
    """Return an intruder who knows some ratings of a named person, within one star and two weeks."""
    given: dict[str, Any] = {"rating": "stars", "day": "day", "rating_error": 1.0, "day_error": 14.0, "attacks": 600}
    return Scoreboard(item="film", known=ratings_known, eccentricity=STANDS_OUT, **{**given, **more})


def recognised(original: Table, release: Table) -> tuple[str, ...]:
    """Of each named person her name when she is claimed rightly, nobody when nobody is, somebody else when wrongly."""
    everybody = attack(8, attacks=len(original)).records(original, release)
    who = original.column("who")
    claimed = []
    for name in NAMED:
        right, stands = everybody.filter(who == name).row(0)
        claimed.append(name if right else "somebody else" if stands >= STANDS_OUT else "–")
    return tuple(claimed)


def netflix(table: Table | None = None) -> Section:
    """Run the attack on generated ratings, and find the number of ratings that it needs."""
    original = ratings() if table is None else table
    release = released(original)
    claimed = recognised(original, release)
    evidence = attack(8).evidence(original, release)
    ways: dict[str, dict[str, Any]] = {
        "stars and days": {},
        "stars and days, 2 of them wrong": {"wrong": 2},
        "stars without days": {"day": None},
        "films only": {"rating": None, "day": None},
    }
    shares = {
        name: [attack(number, **more).value(original, release) for number in KNOWN] for name, more in ways.items()
    }
    story = (
        "A company publishes ratings for a competition; names are removed and numbers are random. People rate films on "
        "public pages under their names. The intruder knows some of these ratings, a star and two weeks off, scores "
        "everybody in the release by them and claims the best one only when it stands out."
    )
    facts = {
        "persons in the release": len(release.column("who").unique()),
        "ratings": len(release),
        "recognised by 8 ratings": f"{evidence['value']:.1%}",
        "claimed wrongly": f"{evidence['wrong'] / evidence['attacks']:.1%}",
        "claims about people who are not there": f"{evidence['control']:.1%}",
        "a guess": f"{evidence['baseline']:.2%}",
    }
    rows = [(f"{number} ratings", *(100 * shares[name][at] for name in ways)) for at, number in enumerate(KNOWN)]
    return Section(
        "Netflix: ratings without names",
        story,
        (_figure(shares),),
        facts,
        "a list of a few dozen films is as good as a name: nobody else has it, and a few entries of it suffice",
        (_picture(claimed),),
        (Grid("per cent recognised, by what is known of a person", ("known", *ways), rows, digits=1),),
    )


def _picture(claimed: tuple[str, ...]) -> Statement:
    why = "on generated ratings: the columns of the picture are lost"
    return derived("Netflix", f"who is recognised of {', '.join(NAMED)}", PICTURE, claimed, why=why)


def _figure(shares: dict[str, list[float]]) -> str:
    from celosia.show.charts import bars

    labels = [f"{number} ratings known" for number in KNOWN]
    return bars("Share of people recognised", labels, [(name, list(values)) for name, values in shares.items()])
