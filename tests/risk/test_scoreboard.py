"""People in sparse data: the scoreboard attack on generated ratings against loops over plain lists."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import date, timedelta
from statistics import pstdev

import numpy as np
import polars as pl
import pytest

import celosia
from celosia.errors import NotApplicable, ParameterError
from celosia.risk import Scoreboard

SCHEMA = celosia.Schema.of(person="who", insensitive=["film", "stars", "when"])


def ratings(people: int = 120, seed: int = 1) -> pl.DataFrame:
    """A dozen ratings of each person; a few films are seen by nearly everybody, most by hardly anybody."""
    rng = np.random.default_rng(seed)
    n = people * 12
    return pl.DataFrame(
        {
            "who": np.repeat(np.arange(people), 12),
            "film": [f"f{x}" for x in rng.zipf(1.25, n) % 400],
            "stars": rng.integers(1, 6, n),
            "when": [date(2006, 1, 1) + timedelta(days=int(d)) for d in rng.integers(0, 700, n)],
        }
    )


def claimed(scores: dict[int, float], eccentricity: float) -> int | None:
    """The best one, if she stands out."""
    first, second = sorted(scores, key=lambda who: -scores[who])[:2]
    spread = pstdev(scores.values())
    return first if spread and (scores[first] - scores[second]) / spread >= eccentricity else None


def slow(release: pl.DataFrame, names: list[str], attack: Scoreboard, drawn) -> tuple[int, int, int]:
    """Right and wrong claims, and claims about people who are not there."""
    held = defaultdict(list)
    for who, film, stars, when in release.select("who", "film", "stars", "when").rows():
        held[who].append((film, stars, (when - date(1970, 1, 1)).days))
    support = {film: release.filter(pl.col("film") == film)["who"].n_unique() for film in names}
    right = wrong = absent = 0
    for t, target in enumerate(drawn.target):
        scores = {}
        for who, seen in held.items():
            total = 0.0
            for at in range(drawn.begin[t], drawn.begin[t + 1]):
                film, (stars, day) = names[drawn.item[at]], drawn.values[at]
                near = [math.exp(-abs(s - stars) / 1.5) + math.exp(-abs(d - day) / 30) for f, s, d in seen if f == film]
                total += max(near, default=0.0) / math.log(max(support[film], 2))
            scores[who] = total
        told = claimed(scores, attack.eccentricity)
        right += told == target
        wrong += told is not None and told != target
        absent += claimed({who: s for who, s in scores.items() if who != target}, attack.eccentricity) is not None
    return right, wrong, absent


def test_what_loops_find():
    films = ratings()
    table = celosia.read(films, SCHEMA)
    rng = np.random.default_rng(2)
    changed = films.with_columns(
        stars=pl.Series(np.clip(films["stars"].to_numpy() + rng.integers(-1, 2, len(films)), 1, 5))
    )
    release = celosia.read(changed, SCHEMA)
    attack = Scoreboard(
        item="film",
        rating="stars",
        day="when",
        known=4,
        wrong=1,
        rating_error=1,
        day_error=14,
        eccentricity=1.0,
        attacks=60,
    )
    names = sorted({*films["film"], *changed["film"]})
    found = attack.evidence(table, release)
    right, wrong, absent = slow(changed, names, attack, attack.draw_known_items(table, release))
    assert (found["right"], found["wrong"]) == (right, wrong)
    assert found["control"] == absent / 60
    assert found["value"] == right / 60
    assert found["interval"][0] < found["value"] < found["interval"][1]
    assert 0 < right < 60, "the case must be able to fail either way"


def test_more_knowledge_finds_more_and_errors_find_less():
    table = celosia.read(ratings(300), SCHEMA)

    def rate(**given):
        return Scoreboard(item="film", rating="stars", day="when", **given).value(table, table)

    assert rate(known=8) > 0.95, "eight ratings with their dates are nearly everybody"
    assert rate(known=8) >= rate(known=2) > rate(known=2, wrong=1)
    assert rate(known=3, rating_error=0, day_error=0) >= rate(known=3, rating_error=4, day_error=300)


def test_new_ids_hide_nobody():
    table = celosia.read(ratings(), SCHEMA)
    renamed = celosia.protect(table, "pseudonymise(columns=[who])", seed=1)
    attack = Scoreboard(item="film", known=6, attacks=50)
    assert attack.value(table, renamed) == attack.value(table, table) > 0.8


def test_wide_data_say_what_long_data_say():
    films = ratings(60).unique(["who", "film"], keep="first", maintain_order=True)
    wide = films.pivot("film", index="who", values="stars").sort("who")
    items = [name for name in wide.columns if name != "who"]
    across = Scoreboard(items=items, known=30, eccentricity=0.3).evidence(celosia.read(wide), celosia.read(wide))
    long = celosia.read(films, SCHEMA)
    along = Scoreboard(item="film", rating="stars", known=30, eccentricity=0.3).evidence(long, long)
    assert across == along, "with all items known nothing is left to chance"


def test_refusals():
    table = celosia.read(ratings(10))
    with pytest.raises(NotApplicable, match="person column"):
        Scoreboard(item="film").value(table, table)
    with pytest.raises(ParameterError, match="either item"):
        Scoreboard()
    with pytest.raises(ParameterError, match="belong to long data"):
        Scoreboard(items=["a"], rating="b")
