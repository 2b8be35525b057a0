"""The words of the demonstration: places, occupations, diagnoses and names, all invented or common."""

from __future__ import annotations

import itertools

_PROVINCES = {
    "Ribera": {"Baixa Ribera": 7, "Alta Ribera": 6, "Delta": 5},
    "Serrania": {"Vall Fosca": 5, "Altiplà": 6},
    "Costa": {"Costa Nord": 6, "Costa Sud": 7, "Illes": 4},
}
_STEMS = ("Vila", "Torre", "Font", "Mas", "Riu", "Pont", "Castell", "Prat")
_ENDINGS = ("nova", "blanca", "fosca", "alta", "clara", "seca", "verda", "roja")


def _places() -> list[tuple[str, str, str]]:
    """(municipality, county, province)."""
    names = (stem + ending for ending, stem in itertools.product(_ENDINGS, _STEMS))
    return [
        (next(names), county, province)
        for province, counties in _PROVINCES.items()
        for county, size in counties.items()
        for _ in range(size)
    ]


PLACES = _places()

OCCUPATIONS = [
    # name, group, share of the working population, yearly income
    ("nurse", "health and education", 0.06, 24_000),
    ("physician", "health and education", 0.02, 52_000),
    ("teacher", "health and education", 0.07, 27_000),
    ("shop assistant", "services", 0.13, 17_000),
    ("cook", "services", 0.06, 18_000),
    ("cleaner", "services", 0.09, 15_000),
    ("driver", "services", 0.06, 20_000),
    ("office clerk", "office", 0.14, 22_000),
    ("accountant", "office", 0.04, 32_000),
    ("engineer", "office", 0.05, 38_000),
    ("lawyer", "office", 0.02, 44_000),
    ("farm worker", "manual", 0.05, 16_000),
    ("builder", "manual", 0.08, 19_000),
    ("mechanic", "manual", 0.05, 21_000),
    ("factory worker", "manual", 0.07, 20_000),
    ("pupil or student", "not working", 0.02, 3_000),
    ("retired", "not working", 0.01, 15_000),
]

DIAGNOSES = [
    # name, group, chapter, typical age, spread, frequency, share of women
    ("asthma", "chronic airways", "respiratory", 25, 25, 1.0, 0.55),
    ("bronchitis", "chronic airways", "respiratory", 60, 20, 1.1, 0.45),
    ("influenza", "infection of airways", "respiratory", 35, 40, 1.8, 0.50),
    ("pneumonia", "infection of airways", "respiratory", 70, 18, 0.7, 0.45),
    ("hypertension", "pressure", "circulatory", 65, 14, 2.2, 0.50),
    ("heart failure", "heart", "circulatory", 78, 10, 0.8, 0.50),
    ("infarction", "heart", "circulatory", 68, 12, 0.5, 0.30),
    ("diabetes", "endocrine", "metabolic", 60, 16, 1.3, 0.47),
    ("hypothyroidism", "endocrine", "metabolic", 50, 18, 0.7, 0.85),
    ("gastritis", "stomach", "digestive", 45, 20, 1.2, 0.52),
    ("appendicitis", "bowel", "digestive", 20, 14, 0.4, 0.48),
    ("depression", "mood", "mental", 45, 20, 1.1, 0.66),
    ("anxiety", "mood", "mental", 35, 18, 1.2, 0.63),
    ("breast cancer", "solid tumour", "cancer", 60, 14, 0.4, 0.99),
    ("lung cancer", "solid tumour", "cancer", 68, 10, 0.3, 0.28),
    ("leukaemia", "blood", "cancer", 50, 30, 0.1, 0.45),
    ("HIV infection", "viral", "infectious", 40, 13, 0.2, 0.20),
    ("hepatitis C", "viral", "infectious", 50, 13, 0.2, 0.40),
    ("fracture", "injury", "injury", 40, 35, 1.3, 0.48),
    ("back pain", "spine", "locomotor", 50, 18, 1.9, 0.55),
]

FIRST_NAMES = (
    ("Marc", "Pau", "Jordi", "Albert", "David", "Pere", "Ivan", "Josep", "Omar", "Hugo", "Martí", "Biel"),
    ("Anna", "Laia", "Marta", "Núria", "Carme", "Sara", "Elena", "Júlia", "Fàtima", "Clara", "Rosa", "Berta"),
)
LAST_NAMES = [
    "Garcia",
    "Martí",
    "Puig",
    "Serra",
    "Vidal",
    "Ferrer",
    "Soler",
    "Roca",
    "Pons",
    "López",
    "Pérez",
    "Sánchez",
    "Torres",
    "Riera",
    "Bosch",
    "Mas",
    "Costa",
    "Gil",
    "Ortiz",
    "Navarro",
    "Molina",
    "Blanco",
    "Ibáñez",
    "Vega",
    "Cano",
    "Prieto",
    "Campos",
    "Vila",
    "Font",
    "Camps",
]
