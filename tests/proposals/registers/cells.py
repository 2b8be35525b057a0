"""Cells of many kinds, in the notations of three languages; all invented."""

from __future__ import annotations

import datetime as dt
import random
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Cells = Callable[["Draw"], list[str]]

FIRST = {
    "es": [
        "Ana",
        "María",
        "José",
        "Antonio",
        "Lucía",
        "Manuel",
        "Carmen",
        "Javier",
        "Laura",
        "Pablo",
        "Elena",
        "Sergio",
        "Marta",
        "Raúl",
        "Rocío",
        "Iván",
    ],
    "ca": [
        "Núria",
        "Pau",
        "Montserrat",
        "Jordi",
        "Laia",
        "Martí",
        "Mercè",
        "Oriol",
        "Aina",
        "Biel",
        "Roser",
        "Quim",
        "Mireia",
        "Pol",
        "Neus",
        "Arnau",
    ],
    "en": [
        "James",
        "Mary",
        "Robert",
        "Patricia",
        "John",
        "Jennifer",
        "Michael",
        "Linda",
        "David",
        "Susan",
        "William",
        "Emma",
        "Oliver",
        "Grace",
    ],
    "fr": ["Camille", "Léa", "Hugo", "Chloé", "Louis", "Manon", "Jules", "Inès", "Gabriel", "Élise"],
    "de": ["Anna", "Lukas", "Mia", "Jonas", "Lena", "Felix", "Hannah", "Paul", "Jürgen", "Käthe"],
}
LAST = {
    "es": [
        "García",
        "Martínez",
        "López",
        "Sánchez",
        "Pérez",
        "Gómez",
        "Fernández",
        "Ruiz",
        "Díaz",
        "Muñoz",
        "Álvarez",
        "Romero",
        "Núñez",
        "Peña",
    ],
    "ca": [
        "Puig",
        "Serra",
        "Vila",
        "Ferrer",
        "Soler",
        "Bosch",
        "Roca",
        "Pujol",
        "Casals",
        "Molins",
        "Oller",
        "Tarrés",
        "Riera",
        "Balaguer",
    ],
    "en": [
        "Smith",
        "Johnson",
        "Williams",
        "Brown",
        "Jones",
        "Miller",
        "Davis",
        "Wilson",
        "Taylor",
        "Clark",
        "Lewis",
        "Walker",
        "Hall",
        "Young",
    ],
    "fr": ["Martin", "Bernard", "Dubois", "Thomas", "Robert", "Petit", "Durand", "Leroy", "Moreau", "Lefèvre"],
    "de": ["Müller", "Schmidt", "Schneider", "Fischer", "Weber", "Meyer", "Wagner", "Becker", "Schäfer", "Koch"],
}
PLACES = {
    "es": [
        "Madrid",
        "Sevilla",
        "Zaragoza",
        "Málaga",
        "Murcia",
        "Getafe",
        "Alcorcón",
        "Utrera",
        "Lorca",
        "Huesca",
        "Ávila",
        "Cáceres",
        "Ronda",
        "Baza",
    ],
    "ca": [
        "Barcelona",
        "Sabadell",
        "Reus",
        "Vic",
        "Olot",
        "Manresa",
        "Lleida",
        "Girona",
        "Mataró",
        "Berga",
        "Tremp",
        "Falset",
        "Valls",
        "Igualada",
    ],
    "en": [
        "Springfield",
        "Dayton",
        "Austin",
        "Boston",
        "Salem",
        "Fargo",
        "Tulsa",
        "Reno",
        "Leeds",
        "Luton",
        "Derby",
        "Bath",
        "York",
        "Hull",
    ],
    "fr": ["Paris", "Lyon", "Nantes", "Rennes", "Lille", "Brest", "Dijon", "Nancy", "Tours", "Nîmes"],
    "de": ["Berlin", "Köln", "Bremen", "Kiel", "Mainz", "Ulm", "Jena", "Trier", "Hof", "Celle"],
}
STREETS = {
    "es": "C/ {} {}, {}º B",
    "ca": "Carrer {} {}, {}r",
    "en": "{1} {0} St Apt {2}",
    "fr": "{1} rue {0}",
    "de": "{0}str. {1}",
}
NOTES = {
    "es": [
        "paciente refiere dolor en el pecho desde ayer",
        "llamar a la hija antes del alta",
        "vive sola, la cuida su vecina",
        "no acude a la cita, se le llama al móvil",
        "alérgico a la penicilina según su médico de cabecera",
        "trabaja de noche en la panadería del pueblo",
    ],
    "ca": [
        "viu sola i la cuida la seva veïna del tercer",
        "el pacient explica mal de cap des de dilluns",
        "cal trucar a la filla abans de l'alta",
        "treballa al forn del poble, torn de nit",
        "no es presenta a la visita, avisat per telèfon",
    ],
    "en": [
        "lives alone, daughter to be called before discharge",
        "patient says the pain began last Monday at work",
        "works nights at the bakery on the corner",
        "did not attend, left a message with his wife",
        "neighbour brought him in after a fall",
    ],
    "fr": [
        "vit seule, appeler la fille avant la sortie",
        "se plaint de douleurs depuis lundi",
        "absent au rendez-vous, message laissé",
    ],
    "de": [
        "wohnt allein, Tochter vor Entlassung anrufen",
        "klagt seit Montag über Schmerzen im Rücken",
        "nicht erschienen, Nachricht hinterlassen",
    ],
}


@dataclass
class Draw:
    """What a column is drawn with: random numbers, the number of rows, and whose rows they are."""

    rng: random.Random
    rows: int

    def __post_init__(self) -> None:
        # Two rows in five repeat a person: registers of visits have them.
        self.owner = sorted(self.rng.randrange(int(self.rows * 0.6)) for _ in range(self.rows))

    def each(self, make: Callable[[], str]) -> list[str]:
        """One drawn value per row."""
        return [make() for _ in range(self.rows)]

    def owned(self, make: Callable[[], str]) -> list[str]:
        """One drawn value per person, on all of their rows."""
        values: dict[int, str] = {}
        return [values.setdefault(person, make()) for person in self.owner]

    def digits(self, count: int) -> str:
        return "".join(self.rng.choice("0123456789") for _ in range(count))

    def day(self, first: int, last: int) -> dt.date:
        return dt.date(first, 1, 1) + dt.timedelta(days=self.rng.randrange((last - first + 1) * 365))


def choice(*values: str, weights: Sequence[float] | None = None) -> Cells:
    """One of these values, the first more often than the last unless weights are given."""
    share = weights or [1 / (1 + i) ** 0.7 for i in range(len(values))]
    return lambda draw: draw.rng.choices(values, share, k=draw.rows)


def days(notation: str, first: int = 2023, last: int = 2025) -> Cells:
    def make(draw: Draw) -> str:
        moment = dt.datetime.combine(draw.day(first, last), dt.time(draw.rng.randrange(24), draw.rng.randrange(60)))
        return moment.strftime(notation)

    return lambda draw: draw.each(lambda: make(draw))


def born(notation: str) -> Cells:
    return days(notation, 1930, 2015)


def numbers(low: float, high: float, places: int = 0, comma: bool = False) -> Cells:
    def make(draw: Draw) -> str:
        text = f"{draw.rng.uniform(low, high):.{places}f}"
        return text.replace(".", ",") if comma else text

    return lambda draw: draw.each(lambda: make(draw))


def money(low: float, high: float, mark: str = ".,", places: int = 2) -> Cells:
    """Skewed amounts with a thousands sign and a decimal sign, or with none (``mark=""``)."""

    def make(draw: Draw) -> str:
        text = f"{low + (high - low) * draw.rng.random() ** 3:,.{places}f}"
        if not mark:
            return text.replace(",", "")
        return text.translate(str.maketrans({",": mark[0], ".": mark[1]}))

    return lambda draw: draw.each(lambda: make(draw))


def form(pattern: str, owned: bool = False) -> Cells:
    """A code: ``9`` stands for a digit, ``A`` for a capital."""

    def make(draw: Draw) -> str:
        return "".join({"9": draw.digits(1), "A": draw.rng.choice("BCDFGHJKLMNP")}.get(sign, sign) for sign in pattern)

    return lambda draw: (draw.owned if owned else draw.each)(lambda: make(draw))


def checked(length: int, fits: Callable[[str], str], prefix: str = "") -> Cells:
    """Digits and the check sign that ``fits`` works out from them; digits without one are drawn again."""

    def make(draw: Draw) -> str:
        while True:
            digits = prefix + draw.digits(length - len(prefix))
            if sign := fits(digits):
                return digits + sign

    return lambda draw: draw.owned(lambda: make(draw))


def luhn(digits: str) -> str:
    doubled = [int(d) * 2 - 9 * (int(d) > 4) if i % 2 == 0 else int(d) for i, d in enumerate(reversed(digits))]
    return str(-sum(doubled) % 10)


def nhs(digits: str) -> str:
    rest = 11 - sum(int(d) * (10 - i) for i, d in enumerate(digits)) % 11
    return {11: "0", 10: ""}.get(rest, str(rest))


def iban(draw: Draw) -> list[str]:
    def make() -> str:
        account = "2100" + draw.digits(16)
        return f"ES{98 - int(account + '142800') % 97:02d}{account}"

    return draw.owned(make)


def people(language: str, shape: str) -> Cells:
    def make(draw: Draw) -> str:
        first, last = draw.rng.choice(FIRST[language]), draw.rng.choice(LAST[language])
        second = draw.rng.choice(LAST[language])
        return shape.format(first=first, last=last, second=second, LAST=f"{last} {second}".upper(), FIRST=first.upper())

    return lambda draw: draw.owned(lambda: make(draw))


def mail(draw: Draw) -> list[str]:
    return draw.owned(
        lambda: (
            f"{draw.rng.choice('abcdefgh')}.{draw.digits(4)}@{draw.rng.choice(['gmail.com', 'correo.es', 'uab.cat'])}"
        )
    )


def street(language: str) -> Cells:
    def make(draw: Draw) -> str:
        return STREETS[language].format(
            draw.rng.choice(LAST[language]), draw.rng.randrange(1, 180), draw.rng.randrange(1, 9)
        )

    return lambda draw: draw.owned(lambda: make(draw))


def place(language: str) -> Cells:
    return choice(*PLACES[language])


def notes(language: str) -> Cells:
    """Sentences that are put together, so that few are equal."""
    return lambda draw: draw.each(
        lambda: f"{draw.rng.choice(NOTES[language])}; {draw.rng.choice(NOTES[language])}"[: draw.rng.randrange(30, 90)]
    )


def dirty(values: dict[str, Sequence[str]]) -> Cells:
    """Each value in several spellings, the first of them in most cells."""
    spelt = [(word, 12 if i == 0 else 2) for words in values.values() for i, word in enumerate(words)]
    return choice(*(word for word, _ in spelt), weights=[weight for _, weight in spelt])


def households(draw: Draw) -> list[str]:
    return [str(4000 + person // 2) for person in draw.owner]


def running(draw: Draw) -> list[str]:
    return [str(i + 1) for i in range(draw.rows)]


ICD = choice("I10", "E11.9", "J44.1", "C50.9", "F32.1", "K21.0", "M54.5", "N39.0", "S72.0", "Z38.0")

CELLS: dict[str, Cells] = {
    "dni": checked(8, lambda d: "TRWAGMYFPDXBNJZSQVHLCKE"[int(d) % 23]),
    "nss": checked(10, lambda d: f"{int(d) % 97:02d}", "28"),
    "cip": form("AAAA1850203999", owned=True),
    "card": checked(15, luhn, "4"),
    "nhs": checked(9, nhs, "4"),
    "iban": iban,
    "ssn": form("512-99-9999", owned=True),
    "record": form("1999999", owned=True),
    "record8": form("29999999"),
    "prefixed": form("P-99999", owned=True),
    "hashed": lambda draw: draw.owned(lambda: f"{draw.rng.getrandbits(64):016x}"),
    "uuid": lambda draw: draw.each(lambda: str(uuid.UUID(int=draw.rng.getrandbits(128), version=4))),
    "running": running,
    "case": form("2024/99999"),
    "mail": mail,
    "mobile": form("699999999", owned=True),
    "phone": form("93 999 99 99", owned=True),
    "usphone": form("(555) 999-9999", owned=True),
    "intphone": form("+44 7999 999999", owned=True),
    "frphone": form("06 99 99 99 99", owned=True),
    "ip": lambda draw: draw.each(lambda: ".".join(str(draw.rng.randrange(1, 255)) for _ in range(4))),
    "plate": form("9999 AAA"),
    "vinlike": form("VSSZZZ1AZ9A999999"),
    "passport": form("AAA999999", owned=True),
    "url": lambda draw: draw.each(lambda: f"https://example.org/u/{draw.digits(6)}"),
    "picture": lambda draw: draw.each(lambda: f"scan_{draw.digits(5)}.jpg"),
    "latitude": numbers(40.1, 41.9, 5),
    "longitude": numbers(-4.1, 2.2, 5),
    "household": households,
    **{f"first.{x}": people(x, "{first}") for x in FIRST},
    **{f"last.{x}": people(x, "{last}") for x in FIRST},
    **{f"full.{x}": people(x, "{first} {last}") for x in FIRST},
    **{f"comma.{x}": people(x, "{LAST}, {FIRST}") for x in FIRST},
    **{f"street.{x}": street(x) for x in FIRST},
    **{f"place.{x}": place(x) for x in FIRST},
    **{f"notes.{x}": notes(x) for x in FIRST},
    "born.iso": born("%Y-%m-%d"),
    "born.es": born("%d/%m/%Y"),
    "born.us": born("%m/%d/%Y"),
    "born.de": born("%d.%m.%Y"),
    "born.dash": born("%d-%m-%Y"),
    "born.compact": born("%Y%m%d"),
    "year": born("%Y"),
    "day.iso": days("%Y-%m-%d"),
    "day.es": days("%d/%m/%Y"),
    "day.us": days("%m/%d/%Y"),
    "day.de": days("%d.%m.%Y"),
    "day.dash": days("%d-%m-%Y"),
    "day.compact": days("%Y%m%d"),
    "moment": days("%Y-%m-%d %H:%M:%S"),
    "moment.es": days("%d/%m/%Y %H:%M"),
    "clock": days("%H:%M"),
    "month": days("%Y-%m"),
    "wave": choice("2022", "2023", "2024"),
    "age": numbers(0, 96),
    "adult": numbers(18, 80),
    "ageband": choice("40-49", "30-39", "50-59", "60-69", "20-29", "70-79"),
    "HM": choice("H", "M", weights=[1, 1]),
    "MF": choice("M", "F", weights=[1, 1]),
    "12": choice("1", "2", weights=[1, 1]),
    "sex.es": choice("Mujer", "Hombre", weights=[1, 1]),
    "sex.ca": choice("Dona", "Home", weights=[1, 1]),
    "sex.en": choice("Female", "Male", weights=[1, 1]),
    "sex.dirty": dirty({"h": ["Hombre", "H", "hombre ", "HOMBRE"], "m": ["Mujer", "M", "mujer"]}),
    "cp": form("28099"),
    "cpca": form("08299"),
    "zip": form("02199"),
    "zip9": form("02199-9999"),
    "ukpost": form("LS1 9AA"),
    "frpost": form("75099"),
    "depost": form("10199"),
    "section": form("2807901999"),
    "lsoa": form("E01000099"),
    "province": choice("28", "41", "08", "46", "30", "50", "29", "03", "15", "48"),
    "province.es": choice("Madrid", "Sevilla", "Zaragoza", "Málaga", "Murcia", "Huesca", "Ávila"),
    "county": choice("Osona", "Bages", "Maresme", "Segrià", "Garrotxa", "Priorat", "Berguedà"),
    "state": choice("CA", "TX", "NY", "FL", "OH", "MA", "NV", "VT"),
    "fips": choice("06", "48", "36", "12", "39", "25"),
    "country.es": choice(
        "España", "Marruecos", "Rumanía", "Colombia", "Ecuador", "China", "Italia", weights=[30, 5, 4, 3, 2, 1, 1]
    ),
    "country.ca": choice("Espanya", "Marroc", "Romania", "Itàlia", "Xina", weights=[30, 5, 4, 3, 2]),
    "country.en": choice("United States", "Mexico", "India", "Cuba", "Haiti", weights=[30, 5, 3, 2, 1]),
    "country.iso": choice("ESP", "MAR", "ROU", "FRA", "USA", weights=[30, 5, 4, 3, 2]),
    "marital.es": choice("Casado/a", "Soltero/a", "Viudo/a", "Divorciado/a"),
    "marital.ca": choice("Casat/ada", "Solter/a", "Vidu/vídua", "Divorciat/ada"),
    "marital.en": choice("Married", "Never married", "Divorced", "Widowed"),
    "marital.de": choice("verheiratet", "ledig", "geschieden", "verwitwet"),
    "study.es": choice("Secundaria", "Primaria", "Universitaria", "Sin estudios"),
    "study.ca": choice("Secundària", "Primària", "Universitària", "Sense estudis"),
    "study.en": choice("High school", "Bachelor", "Some college", "Master", "None"),
    "degree": choice("Derecho", "Medicina", "Física", "Historia", "Economía", "Enfermería"),
    "job.es": choice("administrativo", "camarero", "enfermera", "albañil", "profesora", "conductor", "comercial"),
    "job.ca": choice("administrativa", "cambrer", "infermera", "paleta", "mestra", "conductor"),
    "job.en": choice("Clerk", "Teacher", "Nurse", "Driver", "Engineer", "Cook", "Sales"),
    "race": choice("White", "Black", "Asian", "Hispanic", "Other"),
    "ethnos": choice("A", "H", "M", "Z", "J"),
    "tongue": choice("ENGLISH", "SPAN", "PORT", "RUSS"),
    "icd": ICD,
    "disease.es": choice("hipertensión", "diabetes", "asma", "neumonía", "depresión", "fractura"),
    "disease.ca": choice("hipertensió", "diabetis", "asma", "pneumònia", "depressió", "fractura"),
    "disease.en": choice("hypertension", "diabetes", "asthma", "pneumonia", "depression"),
    "drug": choice("omeprazol", "paracetamol", "enalapril", "metformina", "sertralina", "insulina"),
    "atc": choice("A02BC01", "N02BE01", "C09AA02", "A10BA02", "N06AB06"),
    "topography": choice("C50.9", "C34.1", "C18.7", "C61.9", "C67.9"),
    "stage": choice("I", "II", "III", "IV"),
    "drg": choice("194", "139", "560", "720", "403", "301"),
    "ward": choice("MIR", "CIR", "TRA", "PED", "GIN", "URG"),
    "ward.es": choice("Medicina interna", "Cirugía", "Traumatología", "Pediatría", "Ginecología"),
    "discharge": choice("1", "2", "3", "4", weights=[20, 3, 1, 1]),
    "triage": choice("1", "2", "3", "4", "5", weights=[1, 4, 9, 8, 3]),
    "yesno": choice("No", "Sí"),
    "yesno.en": choice("No", "Yes"),
    "flag": choice("0", "1"),
    "scale5": choice("1", "2", "3", "4", "5"),
    "scale10": numbers(0, 10),
    "codes9": choice("1", "2", "3", "4", "9"),
    "bmi": numbers(17, 41, 1),
    "bmi.comma": numbers(17, 41, 1, comma=True),
    "pressure": numbers(95, 180),
    "glucose": numbers(60, 260),
    "bodyweight": numbers(42, 120, 1),
    "height": numbers(145, 199),
    "stay": numbers(1, 30),
    "count": numbers(0, 6),
    "hours": numbers(10, 60),
    "mark": numbers(0, 10, 1, comma=True),
    "gpa": numbers(1, 4, 2),
    "wage": money(12000, 90000, "", 0),
    "wage.es": money(12000, 90000, ".,", 2),
    "wage.en": money(12000, 90000, ",.", 2),
    "cost.es": money(40, 9000, ".,", 2),
    "cost": money(40, 9000, "", 2),
    "weight": numbers(150, 3200, 2),
    "weight.comma": numbers(150, 3200, 2, comma=True),
    "stratum": choice("11", "12", "21", "22", "31"),
    "party": choice("DEM", "REP", "UNA", "LIB"),
    "crime": choice("theft", "assault", "fraud", "drug possession"),
    "centre": choice("IES Goya", "IES Cervantes", "CEIP Lorca", "IES Azahar", "CEIP Giner"),
    "hospital": choice("H001", "H002", "H003", "H004"),
    "dept": choice("Finance", "Sales", "IT", "Legal", "Operations"),
    "vaccine": choice("Pfizer", "Moderna", "AstraZeneca", "Janssen"),
    "lot": choice("EX3510", "FE4721", "ET9096", "FA5833"),
    "arm": choice("PLACEBO", "TREATMENT"),
    "kind3": choice("A", "B", "C"),
    "admission": choice("EMERGENCY", "ELECTIVE", "URGENT", "NEWBORN"),
    "insurer": choice("Medicare", "Private", "Medicaid", "Self Pay"),
    "one": choice("1"),
}
