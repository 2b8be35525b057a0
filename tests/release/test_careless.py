"""Ten files as careless people have them: ``init``, then ``run``, and nothing that matters leaves."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia.cli.main import run as command

N = 300
GIVEN = ["María", "José", "Núria", "Jordi", "Carmen", "Antonio", "Laia", "Pau", "Lucía", "Manuel"]
FAMILY = ["García", "Puig", "Fernández", "Ferrer", "Martínez", "Vidal", "López", "Serra", "Sánchez", "Roca"]
LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"


@dataclass
class Careless:
    """A file, the column with the trap, and what must be seen nowhere."""

    columns: dict[str, list]
    trap: str
    canaries: list[str]
    separator: str = ","
    encoding: str = "utf-8"
    comma: bool = False
    also: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        frame = pl.DataFrame(self.columns, strict=False)
        text = frame.write_csv(separator=self.separator, decimal_comma=self.comma)
        path.write_bytes(text.encode(self.encoding))


def people(rng: np.random.Generator) -> dict[str, list]:
    """What is harmless once it is generalised."""
    return {
        "sexo": rng.choice(["H", "M"], N).tolist(),
        "edad": rng.integers(18, 90, N).tolist(),
        "provincia": rng.choice(["Barcelona", "Girona", "Lleida", "Tarragona"], N).tolist(),
    }


def full_name(rng: np.random.Generator, i: int) -> str:
    return f"{rng.choice(GIVEN)} {rng.choice(FAMILY)} Canary{i}"


def dni(i: int) -> str:
    number = 41_000_000 + 7919 * i
    return f"{number:08d}{LETTERS[number % 23]}"


def names_in_notes(rng: np.random.Generator) -> Careless:
    """The file of a hospital: latin-1, semicolons, decimal commas, notes that are empty for seven of ten."""
    names = [full_name(rng, i) for i in range(N)]
    notes = [f"Acude con {n}, refiere dolor desde ayer" if rng.random() < 0.3 else None for n in names]
    columns = {
        "Paciente": [full_name(rng, 1000 + i) for i in range(N)],
        "DNI": [dni(i) for i in range(N)],
        **people(rng),
        "Visitas": rng.integers(1, 9, N).tolist(),
        "Peso": rng.normal(70, 12, N).round(0).tolist(),
        "Observaciones": notes,
    }
    canaries = [*columns["DNI"], *(name for name, note in zip(names, notes, strict=True) if note), *columns["Paciente"]]
    return Careless(columns, "Observaciones", canaries, ";", "latin-1", comma=True)


def ids_in_comments(rng: np.random.Generator) -> Careless:
    plain = ["sin incidencias", "pendiente", "revisado", "ver expediente"]
    held = rng.random(N) < 0.1
    comments = [f"ver también {dni(i)}" if h else str(rng.choice(plain)) for i, h in enumerate(held)]
    return Careless({**people(rng), "comentarios": comments}, "comentarios", [dni(i) for i in np.flatnonzero(held)])


def job_titles(rng: np.random.Generator) -> Careless:
    """Half of the people share a few jobs, the others have one that nobody else has."""
    what, where = ["Jefa", "Técnico", "Asesora", "Vocal"], ["archivo", "museo", "puerto", "observatorio", "faro"]
    rare = [f"{rng.choice(what)} de {rng.choice(where)} {i}" for i in range(N)]
    jobs = [str(rng.choice(["Docente", "Administrativo", "Comercial"])) if i % 2 else rare[i] for i in range(N)]
    return Careless({**people(rng), "puesto": jobs}, "puesto", rare[::2])


def exact_dates(rng: np.random.Generator) -> Careless:
    days = [dt.date(1935, 1, 1) + dt.timedelta(days=int(d)) for d in rng.choice(25_000, N, replace=False)]
    columns = {
        **people(rng),
        "fecha_nacimiento": [f"{d:%d/%m/%Y}" for d in days],
        "ingreso": [d.isoformat() for d in days],
    }
    return Careless(columns, "fecha_nacimiento", [*columns["fecha_nacimiento"], *columns["ingreso"]], also=["ingreso"])


def coordinates(rng: np.random.Generator) -> Careless:
    columns = {
        **people(rng),
        "lat": rng.uniform(41.30, 41.45, N).round(5).tolist(),
        "lon": rng.uniform(2.05, 2.25, N).round(5).tolist(),
    }
    return Careless(columns, "lat", [*map(str, columns["lat"]), *map(str, columns["lon"])], also=["lon"])


def incomes(rng: np.random.Generator) -> Careless:
    pay = rng.lognormal(10, 0.6, N).round(2)
    return Careless({**people(rng), "renta": pay.tolist()}, "renta", [f"{x:.2f}" for x in pay])


def rare_diagnosis(rng: np.random.Generator) -> Careless:
    ill = rng.choice(["Asma", "Diabetes", "Gripe", "Hipertensión", "Ninguno"], N).tolist()
    ill[17], ill[201] = "Enfermedad de Fabry", "Zigomicosis"
    return Careless({**people(rng), "diagnostico": ill}, "diagnostico", ["Fabry", "Zigomicosis"])


def hashed_ids(rng: np.random.Generator) -> Careless:
    who = rng.integers(0, N // 2, N)
    hashes = [hashlib.sha256(dni(int(i)).encode()).hexdigest() for i in who]
    return Careless({**people(rng), "ref": hashes}, "ref", sorted(set(hashes)))


def mail_in_address(rng: np.random.Generator) -> Careless:
    mails = [f"canary{i}@example.org" for i in range(N)]
    pages = [f"https://portal.example.org/baja?u={m if i % 2 else m.replace('@', '%40')}" for i, m in enumerate(mails)]
    return Careless({**people(rng), "enlace": pages}, "enlace", [f"canary{i}" for i in range(N)])


def small_villages(rng: np.random.Generator) -> Careless:
    villages = [
        "Arres",
        "Bausen",
        "Canejan",
        "Fígols",
        "Gisclareny",
        "Quar",
        "Sant Jaume",
        "Savallà",
        "Senan",
        "Zorita",
    ]
    towns = rng.choice(["Reus", "Vic", "Olot", "Valls"], N).astype(object)
    places = rng.choice(N, 15, replace=False)
    towns[places] = [villages[i % len(villages)] for i in range(15)]
    return Careless({**people(rng), "municipio": towns.tolist()}, "municipio", villages)


FILES: list[Callable[[np.random.Generator], Careless]] = [
    names_in_notes,
    ids_in_comments,
    job_titles,
    exact_dates,
    coordinates,
    incomes,
    rare_diagnosis,
    hashed_ids,
    mail_in_address,
    small_villages,
]


def carried_out(careless: Careless, place: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, dict[str, str]]:
    """``init`` and ``run`` with nothing edited: the exit code, what was printed, and the files that may be published."""
    data, policy = place / "file.csv", place / "policy.toml"
    careless.write(data)
    assert command(["init", str(data), "--out", str(policy)]) == 0
    code = command(["run", str(policy)])
    printed = capsys.readouterr()
    kept = {data.name, policy.name}
    public = [
        p for p in place.iterdir() if p.name not in kept and not p.name.endswith((".private.json", ".internal.html"))
    ]
    return code, printed.out + printed.err, {p.name: p.read_text("utf-8") for p in public}


@pytest.mark.filterwarnings("ignore:identifier .* repeats:UserWarning")
@pytest.mark.parametrize("generator", FILES, ids=lambda one: one.__name__)
def test_a_careless_file_gives_nothing_away(generator, tmp_path, capsys):
    careless = generator(np.random.default_rng(1))
    code, printed, public = carried_out(careless, tmp_path, capsys)
    assert code in (0, 3)
    for name, text in {"messages": printed, **public}.items():
        told = [canary for canary in careless.canaries if canary in text]
        assert not told, f"{len(told)} of {len(careless.canaries)} in {name}"
    if code == 3:
        assert any(repr(column) in printed for column in [careless.trap, *careless.also])
        assert not public
    else:
        certificate = json.loads(public["file.safe.certificate.json"])
        changed = json.dumps([certificate["schema"]["quasi"], certificate["steps"]])
        left = certificate["release"]["columns"]
        kept = [column for column in [careless.trap, *careless.also] if column in left and f'"{column}"' not in changed]
        assert not kept, "left out or overwritten"


@pytest.mark.parametrize("role", ["insensitive", "sensitive"])
@pytest.mark.parametrize("generator", FILES, ids=lambda one: one.__name__)
def test_whatever_role_the_column_is_given_it_does_not_leave_as_it_is(generator, role, tmp_path, capsys):
    careless = generator(np.random.default_rng(3))
    careless.write(tmp_path / "file.csv")
    roles = {"insensitive": [], "sensitive": [], role: [careless.trap, *careless.also]}
    options = 'encoding = "latin-1"\nseparator = ";"\ndecimal = ","' if careless.comma else ""
    (tmp_path / "policy.toml").write_text(
        f"""
[input]
path = "file.csv"
{options}
[schema]
quasi = ["sexo", "provincia"]
insensitive = {roles["insensitive"]}
sensitive = {roles["sensitive"]}
[output]
path = "safe.csv"
"""
    )
    assert command(["run", str(tmp_path / "policy.toml")]) == 3
    told = capsys.readouterr().err
    assert repr(careless.trap) in told
    assert not any(canary in told for canary in careless.canaries)
    assert not (tmp_path / "safe.csv").exists()


def test_a_careful_file_passes(tmp_path, capsys):
    rng = np.random.default_rng(1)
    columns = {**people(rng), "visitas": rng.integers(1, 9, N).tolist()}
    columns["alta"] = rng.choice(["domicilio", "traslado", "residencia"], N).tolist()
    code, printed, public = carried_out(Careless(columns, "", []), tmp_path, capsys)
    assert code == 0
    assert "guard" not in printed
    assert json.loads(public["file.safe.certificate.json"])["guard"] == []
