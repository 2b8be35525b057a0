"""Code books: descriptions of columns and labels of codes, from a statistical file or a table of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.data.io.filetypes import collect_frame
from celosia.errors import DataError
from celosia.proposals.recognition.normal_form import fold_text

if TYPE_CHECKING:
    from celosia.data.io.facts import FileFacts

#: Headings of the columns of a code book, without accents and case.
HEADINGS = {
    "name": (
        "variable", "variable name", "variablename", "var", "varname", "name", "column", "column name", "field",
        "field name", "item", "nombre", "nom", "columna", "campo", "nombre variable", "nome", "variavel", "spalte",
    ),
    "description": (
        "description", "label", "variable label", "variablelabel", "question", "text", "definition", "meaning", "title",
        "descripcion", "descripcio", "etiqueta", "pregunta", "descricao", "beschreibung", "libelle", "question text",
        "variable description", "field label", "details",
    ),
    "value": (
        "value", "values", "code", "codes", "valor", "codi", "codigo", "wert", "valeur", "category code", "level",
    ),
    "label": (
        "value label", "valuelabel", "value labels", "code label", "category", "value description", "etiqueta valor",
        "etiqueta de valor", "categoria", "meaning of code", "value meaning", "code description", "answer", "choices",
        "response options", "options", "levels", "value text",
    ),
}  # fmt: skip
#: A code and its label in a list of them.
PAIR = re.compile(r"(?:^|[;|\n,(]\s*)(-?\d+|[A-Za-z]\b)\s*[=:,]\s*([^;|\n,=]+?)(?=\s*(?:[;|\n)]|,\s*-?\w+\s*=|$))")


@dataclass(frozen=True)
class CodeBook:
    """Descriptions of columns, and the labels of their codes."""

    descriptions: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[float | str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: FileFacts | None) -> CodeBook:
        """Return the code book that a file contains itself: its variable and value labels."""
        return cls() if facts is None else cls(facts.descriptions, facts.labels)

    def __or__(self, other: CodeBook) -> CodeBook:
        """Return both; the entries of the other code book replace those of this one."""
        return CodeBook({**self.descriptions, **other.descriptions}, {**self.labels, **other.labels})


def code_text(code: float | str) -> str:
    """Write a code as the cells of a column of whole numbers are written.

    >>> code_text(1.0), code_text("A"), code_text(2.5)
    ('1', 'A', '2.5')
    """
    return str(int(code)) if isinstance(code, float) and code.is_integer() else str(code).strip()


def read_code_book(path: str | Path) -> CodeBook:
    """Read a code book from a table with one row per column, or one per code.

    Its headings are recognised in several languages: the name of the column, its description, a code, the label of
    the code. A name is repeated or left empty in the rows of further codes. Labels may also be in one cell, as
    ``1 = Male; 2 = Female`` or ``1, Male | 2, Female`` (REDCap).

    Raises ``DataError`` if no heading is that of the names, or none that of a description or label.
    """
    from celosia.data.io import scan
    from celosia.data.io.filetypes import type_of

    opened = scan(path, text=True, missing=[]) if type_of(path).name == "csv" else scan(path)
    frame = collect_frame(opened.frame)
    places = _places(frame.columns)
    lists = [cell for cell in frame[places["value"]].to_list() if cell] if "value" in places else []
    if (
        lists
        and {"label", "description"} - {*places} == {"label"}
        and not any(len(PAIR.findall(cell)) > 1 for cell in lists)
    ):
        places["label"] = places.pop("description")  # beside codes a label is that of the code
    if "name" not in places or len(places) < 2:
        raise DataError(
            f"{Path(path).name} is no code book: it needs a column 'name' and one of 'label', 'value' and 'value"
            f" label'; its columns are {', '.join(map(repr, frame.columns[:12]))}."
        )
    descriptions: dict[str, str] = {}
    labels: dict[str, dict[float | str, str]] = {}
    name = ""
    for row in frame.iter_rows(named=True):
        cells = {what: str("" if row[heading] is None else row[heading]).strip() for what, heading in places.items()}
        name = cells["name"] or name
        if cells.get("description"):
            descriptions.setdefault(name, cells["description"])
        if cells.get("value") and cells.get("label"):
            labels.setdefault(name, {})[cells["value"]] = cells["label"]
            continue
        for what in ("label", "value", "description"):
            pairs = PAIR.findall(cells.get(what, ""))
            if len(pairs) >= 2:
                labels.setdefault(name, {}).update({code: label.strip() for code, label in pairs})
                break
    return CodeBook(descriptions, labels)


def _places(headings: Sequence[str]) -> dict[str, str]:
    """Return the headings of the name, the description, the code and its label, as far as there are any.

    >>> _places(["Variable", "Code", "Value label"])
    {'name': 'Variable', 'value': 'Code', 'label': 'Value label'}
    """
    places: dict[str, str] = {}
    for heading in headings:
        folded = " ".join(re.findall(r"[^\W_]+", fold_text(heading)))
        what = next((what for what, names in HEADINGS.items() if folded in names and what not in places), None)
        if what is not None:
            places[what] = heading
    return places
