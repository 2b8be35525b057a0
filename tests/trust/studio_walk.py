"""A walk through every address of the studio, as the owner of some data, with good and with bad forms."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.trust.canaries import original
from tests.trust.walking import Walk

PAGES = (
    *("/", "/data", "/data/guard", "/hierarchies", "/hierarchies?column=town", "/risk", "/risk/overview"),
    *("/risk/columns", "/protect", "/lattice", "/lattice/look", "/lattice/look?judge=true", "/compare"),
    *("/compare/pair", "/compare/map", "/compare/candidate?index=0", "/release", "/fuzzy", "/fuzzy?column=region"),
    *("/fcrm", "/query", "/consent", "/show", "/jobs/none", "/nowhere", "/assets/x/studio.css"),
)
READING = (
    "/data",
    "/data/guard",
    "/hierarchies?column=town",
    "/risk",
    "/risk/overview",
    "/lattice/look",
    "/compare/pair",
)
"""Pages that read the data."""
ENDED = ("/", "/protect", "/release", "/show")
"""Pages that show how a job ended."""
POLICY = """
[input]
path = "{place}"
[schema]
identifiers = ["name"]
quasi = ["town", "region"]
sensitive = ["pay"]
[schema.hierarchies]
town = {{use = "prefixes", masked = [3, 20]}}
[[require]]
use = "k-anonymity"
k = 3
[[step]]
use = "round"
columns = ["pay"]
base = 100000
[[step]]
use = "suppress-records"
require = ["k-anonymity(k=3)"]
[output]
path = "people.safe.csv"
[run]
seed = "{seed}"
"""
BAD_FILES = {
    "other.csv": b"a,b\nZuleika-7731,Canarytown\n",
    "broken.parquet": b"PAR1 Zuleika-7731 Canarytown PAR1",
    "ragged.csv": b'name,town,region,pay\nZuleika-7731,Canarytown\nZuleika-7732,"Kanaryville\n',
    "people.xlsx": b"PK\x03\x04 Zuleika-7731",
}
"""What cannot take the place of the data, with values in it."""
SPOILT = {
    "a kind that the values are not": {"column": "town", "kind": "numeric"},
    "a date that the values are not": {"column": "town", "kind": "date"},
    "bounds that do not hold": {"column": "pay", "kind": "numeric", "low": "0", "high": "10"},
    "an order without the values": {"column": "town", "kind": "ordinal", "order": "Vic, Olot"},
}
"""What a card may say of a column that its values contradict: pages tell it."""
FITTED = {"c": "2", "m": "2", "independent": "1", "dependent": "2", "max_iterations": "5", "constraints": ""}


class Owner(Walk):
    """The owner at the studio: forms are made for the policy as it is now."""

    def __init__(self, client: Any, project: Any, here: str) -> None:
        super().__init__(client)
        self.project, self.here, self.start = project, here, ""

    def send(self, address: str, files: Any = None, **fields: Any) -> Any:
        """Send a form of a page."""
        sent = {"version": self.project.version, "here": "/", **fields}
        return self.post(address, data=sent, files=files, headers={"origin": self.here})

    def look_around(self, pages: Sequence[str] = PAGES) -> None:
        """Pages as they are now."""
        for address in pages:
            self.get(address)

    def done(self, name: str, seconds: float = 120.0) -> Any:
        """The latest job of a function, once it has ended; it is looked at meanwhile."""
        from celosia.studio.jobs import Jobs

        jobs, end = Jobs(self.project), time.monotonic() + seconds
        while time.monotonic() < end:
            job = jobs.latest(name)
            assert job is not None
            self.get(f"/jobs/{job.id}")
            if job.finished:
                return job
            time.sleep(0.5)
        raise AssertionError(f"{name} does not end")


def begun(walk: Owner, place: Path) -> None:
    """Begin with a file after some that are none, and write a policy."""
    walk.look_around()
    for name, content in BAD_FILES.items():
        if name != "other.csv":
            walk.send("/begin/upload", files={"file": (name, content)})
    walk.send("/begin/query", url=f"sqlite:///{place / 'none.db'}", query="SELECT * FROM people")
    walk.send("/begin/policy", text="[input]\npath = 3")
    content = original().write_csv().encode()
    assert walk.send("/begin/upload", files={"file": ("people.csv", content)}).status_code == 303
    walk.send("/begin/demonstration")
    walk.look_around()
    kept = next(walk.project.folder.glob("inputs/*/people.csv")).relative_to(walk.project.folder)
    text = POLICY.format(place=kept.as_posix(), seed="5eed" * 8)
    assert walk.send("/show", text=text).status_code == 303
    walk.send("/show", text=text.replace("round", "ruond"))
    walk.get("/show")
    walk.project.path.write_text(text.replace("round", "ruond"))  # by hand
    walk.get("/data")
    assert walk.send("/restore").status_code == 303
    walk.start = text


def described(walk: Owner) -> None:
    """The columns, also with what their values contradict."""
    walk.send("/data/role", column="town", role="sensitive")
    walk.send("/undo")
    walk.send("/redo")
    walk.send("/undo")
    walk.send("/data/role", column="town", role="king")
    walk.send("/data/rest", rest="error")
    walk.send("/undo")
    walk.send("/data/clean", column="town", key="strip")
    walk.send("/data/unclean")
    for name, content in BAD_FILES.items():
        walk.send("/data/upload", files={"file": (name, content)})
    for fields in SPOILT.values():
        if walk.send("/data/column", **fields).status_code == 303:
            walk.look_around(READING)
            walk.send("/undo")


def coarsened(walk: Owner) -> None:
    """Hierarchies: by a builder, by hand, by a file with and without the values; then the lattice."""
    walk.send("/hierarchies/preview", column="town", use="prefixes", **{"masked[]": ["2", "4"]})
    walk.send("/hierarchies/preview", column="town", use="intervals", **{"breaks[]": ["2", "x"]})
    walk.send("/hierarchies/save", column="town", use="intervals", **{"breaks[]": ["2", "4"]})
    walk.send("/hierarchies/upload", column="town", files={"file": ("towns.csv", b"Vic;Osona;*\nOlot;Garrotxa;*\n")})
    walk.send("/hierarchies/builder", column="town", use="tree")
    walk.get("/hierarchies?column=town")
    walk.send("/hierarchies/tree", column="town", do="group", name="Some", **{"place[]": ["0", "1"]})
    walk.send("/hierarchies/tree", column="town", do="rename", name="Some")
    walk.look_around(READING)
    walk.send("/hierarchies/remove", column="town")
    walk.send("/undo")
    walk.send("/hierarchies/save", column="town", use="prefixes", **{"masked[]": ["3", "20"]})
    page = walk.get("/lattice/look").text
    for node in sorted(set(re.findall(r'value="(\d+(?:-\d+)+)"', page)))[-2:]:
        walk.send("/lattice/choose", node=node)
    walk.send("/lattice/choose", node="0-0")
    walk.send("/lattice/free")
    walk.send("/show", text=walk.start)


def looked_for(walk: Owner) -> None:
    """The page of the risk: what an intruder knows, and a file of an intruder."""
    walk.send("/risk/known", **{"known.town": "Vic", "not.region": "1"})
    walk.send("/risk/known", **{"known.pay": "much"})
    walk.send("/risk/require", k="x")
    walk.send("/risk/require", k="4")
    walk.send("/risk/require", k="3")
    known = original().select("name", "town", "region").write_csv().encode()
    walk.send("/risk/link/upload", key="name", files={"file": ("known.csv", known)})
    walk.send("/risk/link/upload", files={"file": ("other.csv", BAD_FILES["other.csv"])})
    place = next(walk.project.folder.glob("inputs/*/known.csv")).relative_to(walk.project.folder)
    walk.send("/risk/link/keep", place=place.as_posix(), key="name")
    walk.send("/undo")


def protected(walk: Owner) -> None:
    """The lists of parts: forms, previews of what fits and of what does not."""
    walk.get("/protect?add=step.noise")
    walk.get("/protect?change=step.0")
    step = {"list": "step", "position": "0", "use": "round", "columns[]": ["pay"], "base": "100000"}
    walk.send("/protect/form", **step)
    walk.send("/protect/preview", **step)
    walk.send("/protect/preview", **{**step, "columns[]": ["town"]})
    walk.send("/protect/preview", list="step", use="top-code", column="town", at="3")
    walk.send("/protect/preview", list="require", use="k-anonymity", k="100")
    walk.send("/protect/save", **step)
    walk.send("/protect/save", **{**step, "columns[]": ["nmae"]})
    walk.send("/protect/move", list="step", position="0", to="1")
    walk.send("/protect/move", list="step", position="1", to="0")
    walk.send("/protect/switch", list="step", position="0")
    walk.send("/protect/switch", list="step", position="0")
    walk.send("/protect/save", list="losses", use="discernibility")
    walk.send("/protect/remove", list="losses", position="0")


def compared(walk: Owner) -> None:
    """An exploration, one of its candidates that cannot be, and two tables side by side."""
    plan = '\n[explore]\nworkers = 1\ncandidate = ["noise(columns=[pay], p=0.1)", "round(columns=[town], base=3)"]\n'
    walk.send("/show", text=walk.start + plan)
    fields = {"risk": "distance-linkage", "loss": "kolmogorov-smirnov", "seeds": "1"}
    walk.send("/compare/explore", **{**fields, "seeds": "many"})
    assert walk.send("/compare/explore", **fields).status_code == 303
    assert walk.done("explore_policy").state == "done"
    walk.look_around(("/compare", "/compare/map", "/compare/candidate?index=0"))
    walk.get("/compare/pair?a=original&b=0")
    walk.send("/compare/apply", index="0")
    walk.send("/compare/apply", index="99")


def released(walk: Owner) -> None:
    """A run that the guard stops, one that is refused, one that is cancelled, and one that is done and verified."""
    text = walk.start
    for other in (
        text.replace('identifiers = ["name"]', 'insensitive = ["name"]'),
        text.replace('columns = ["pay"]', 'columns = ["town"]'),
    ):
        assert other != text
        walk.send("/show", text=other)
        walk.send("/protect/run")
        walk.done("run_policy")
        walk.look_around(ENDED)
    walk.send("/show", text=text)
    walk.send("/release/settings", section="about", **{"about.title": "People"})
    walk.send("/release/acknowledge", column="pay", reason="")
    walk.send("/release/acknowledge", column="pay", reason="rounded")
    walk.send("/release/leave-out", column="pay")
    walk.send("/undo")
    walk.send("/release/take-back", column="pay")
    walk.send("/undo")
    walk.send("/release/run")
    job = max((walk.project.state_folder / "jobs").iterdir())
    walk.send(f"/jobs/{job.name}/cancel")
    walk.send("/release/run")
    job = walk.done("run_policy")
    assert (job.state, "files" in (job.result or {})) == ("done", True), job.result
    walk.send("/release/verify")
    assert walk.done("verify_release").state == "done"
    walk.look_around(ENDED)
    for name in (*job.result["files"], "nothing"):
        walk.get(f"/release/file/{name}")
    for name in ("report", "internal", "nothing"):
        walk.get(f"/release/report/{name}")


def benches(walk: Owner) -> None:
    """The workbenches beside the way: fuzzy sets, FCRM, questions with noise, consent."""
    walk.send("/fuzzy/begin", column="town")
    walk.send("/fuzzy/begin", column="region", count="3")
    walk.get("/fuzzy?column=region&everything=true")
    walk.send("/fuzzy/preview", column="region", points="1 2 3 4")
    walk.send("/fuzzy/preview", column="region", points="x")
    for address, fields in {
        "points": {"points": "1 2 3 4"},
        "move": {"position": "0", "value": "1"},
        "rename": {"old": "low", "new": "small"},
        "split": {"set": "small"},
        "remove": {"set": "small 2"},
        "write": {"text": "low = x\nhigh"},
        "labels": {},
        "require": {"q": "3", "possibility": "0.5", "aggregate": "mean"},
        "forget": {},
    }.items():
        walk.send(f"/fuzzy/{address}", column="region", **fields)
        walk.send("/undo")
    walk.send("/fuzzy/role", column="pay")
    for address in ("example", "clear", "columns", "last", "again", "stop", "save"):
        walk.send(f"/fcrm/{address}", across="region", up="pay")
    walk.send("/fcrm/point", x="1", y="2")
    walk.send("/fcrm/upload", files={"file": ("points.csv", b"x,y\nZuleika-7731,2\n")})
    walk.send("/fcrm/columns", across="region", up="pay")
    for address in ("settings", "step", "run", "tick"):
        walk.send(f"/fcrm/{address}", **FITTED)
    walk.send("/fcrm/settings", **{**FITTED, "c": "many"})
    walk.send("/fcrm/use")
    walk.send("/undo")
    for name in ("points.csv", "synthetic.csv", "readings.csv", "picture.svg", "none"):
        walk.get(f"/fcrm/export/{name}")


def asked(walk: Owner) -> None:
    """Questions with noise, and the console of consent."""
    declared = {"name": "people", "epsilon": "10", "column-0": "town", "use-0": "on", "type-0": "text"}
    declared |= {"categories-0": "Vic, Olot", "column-1": "pay", "use-1": "on", "type-1": "number"}
    declared |= {"low-1": "0", "high-1": "100000"}
    walk.send("/query/declare", **{**declared, "type-0": "integer", "categories-0": ""})
    assert walk.send("/query/declare", **declared).status_code == 303
    sql = "SELECT town, COUNT(*) AS n, MAX(pay) AS most FROM data GROUP BY town"
    walk.send("/query/explain", sql=sql, cost="1")
    paid = walk.send("/query/ask", sql=sql, cost="1").headers["location"]
    walk.get(paid)
    walk.get(f"/query/answer/{re.findall('answer=([0-9]+)', paid)[0]}.csv")
    for wrong in ("SELECT name FROM data", "SELECT town FROM data", "SELECT COUNT(*) FROM data WHERE town = 3", ""):
        walk.send("/query/ask", sql=wrong, cost="1")
    walk.send("/query/verify")
    walk.send("/consent/begin")
    walk.send("/consent/open")
    walk.look_around()
    walk.send("/look", lang="ca", theme="dark")
