"""Projects of ARX (``.deid``): data, roles, hierarchies, and models as far as its XML states them.

The form is that of the writer in ARX's published sources (``WorkerSave`` with vocabulary 2.0, as of 2015 and of 2018):
a zip file of XML and CSV with serialised Java objects beside them, which are never opened.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celosia.errors import DataError
from celosia.migration.archive import LARGEST_TABLE, Archive, Element, open_archive
from celosia.migration.arx_models import AGGREGATES, objective, requirement
from celosia.migration.translation import Entry, Translation, file_end, refusal

VOCABULARIES = ("1.0", "2.0")
DATA = "data/input.csv"
CONFIG, DEFINITION, HIERARCHIES = "input/config.xml", "input/definition.xml", "input/hierarchies/"
"""The settings that ARX would run with next; those of its last result lie under output/."""
ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifiers",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
KINDS = {
    "integer": "numeric",
    "decimal": "numeric",
    "date/time": "date",
    "ordinal": "ordinal",
    "orderedstring": "ordinal",
}
"""The kind of each type of ARX; a string has none, since hierarchies and models do not ask for it."""
UNTOLD = (
    "only its Java objects say whether it recoded locally, which records are the research subset, how large the "
    "population is and how long the search may take: set these yourself"
)


@dataclass
class _Project:
    """State of a project while it is read."""

    translation: Translation
    archive: Archive
    path: Path
    separator: str = ";"
    levels: dict[str, Any] = field(default_factory=dict)
    aggregate: dict[str, str] = field(default_factory=dict)


def read_project(path: Path) -> Translation:
    """Translate a project; raise ``DataError`` for a damaged or hostile file."""
    with open_archive(path) as archive:
        for entry in ("metadata.xml", DEFINITION, CONFIG, DATA):
            if entry not in archive:
                raise DataError(f"{path.name} has no {entry}: it is not a project of ARX, or one without data.")
        version = _version(archive)
        translation = Translation(path.name, f"project of ARX {version}" if version else "project of ARX")
        project = _Project(translation, archive, path)
        _read_description(project)
        _read_columns(project)
        _read_data(project)
        _read_models(project)
    translation.note(UNTOLD)
    return translation


def _version(archive: Archive) -> str:
    metadata = archive.document("metadata.xml")
    vocabulary = (metadata.value("vocabulary") or "1.0").strip()
    if vocabulary not in VOCABULARIES:
        raise DataError(
            f"{archive.name} is written in vocabulary {vocabulary[:20]!r}; those that can be read are "
            f"{' and '.join(VOCABULARIES)}."
        )
    version = re.match(r"[0-9A-Za-z.-]{1,20}", (metadata.value("version") or "").strip())
    return version.group() if version else ""


def _read_description(project: _Project) -> None:
    if "project.xml" not in project.archive:
        return
    described = project.archive.document("project.xml")
    separator = described.value("separator")
    if separator and len(separator) == 1:
        project.separator = separator
    title = (described.value("name") or "").strip()
    if title:
        project.translation.about["title"] = title[:200]


def _read_columns(project: _Project) -> None:
    translation = project.translation
    attributes = project.archive.document(DEFINITION).all("assigment")  # so it is spelt there
    if not attributes:
        raise DataError(f"{project.path.name} describes no column in {DEFINITION}.")
    for attribute in attributes:
        name = attribute.value("name")
        role = ROLES.get((attribute.value("type") or "").strip())
        if not name or role is None:
            raise DataError(f"{project.path.name}: a column in {DEFINITION} has no name, or a type that is unknown.")
        translation.give_role(role, name)
        if role != "identifiers":
            _read_kind(translation, name, attribute)
            _read_hierarchy(project, name, role, attribute)
        if attribute.value("response") == "true":
            translation.note(f"{name!r} is a response variable; measure model-disagreement or majority-loss for it")


def _read_kind(translation: Translation, name: str, attribute: Element) -> None:
    label = (attribute.value("datatype") or "String").strip().lower()
    form = attribute.value("format")
    kind = KINDS.get(label)
    if kind is None:
        if label != "string":
            translation.note(f"the type of {name!r} is not known; it is read as its values are")
        return
    translation.kinds[name] = kind
    if kind == "ordinal":
        values = [] if form in (None, "", "Default") else [line for line in str(form).splitlines() if line]
        if len(values) > 1:
            translation.orders[name] = values
        else:
            del translation.kinds[name]  # in the order of the alphabet, which is no order of its own
    elif form and kind == "date":
        dates = _notation(form)
        if dates is None:
            translation.note(f"the notation of the dates in {name!r} is not translated; see dates under [input]")
        elif dates != "%Y-%m-%d":
            translation.input.setdefault("dates", {})[name] = dates
    elif form:
        translation.note(f"{name!r} has a format of numbers; if it is read as text, set decimal under [input]")


def _notation(pattern: str) -> str | None:
    """Return the strftime notation of a Java date pattern that has day, month and year in figures only.

    >>> _notation("dd.MM.yyyy"), _notation("EEE, MMM d")
    ('%d.%m.%Y', None)
    """
    words = {"yyyy": "%Y", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d"}
    pieces = re.findall(r"[A-Za-z]+|[^A-Za-z]+", pattern)
    written = [words.get(piece, "" if piece[0].isalpha() else piece) for piece in pieces]
    whole = "".join(written)
    return whole if all(written) and "%Y" in whole and "'" not in whole and whole.count("%") == 3 else None


def _read_hierarchy(project: _Project, name: str, role: str, attribute: Element) -> None:
    function = (attribute.value("microaggregationFunction") or "").strip().lower()
    if function and role == "quasi":
        if function in AGGREGATES:
            project.aggregate[name] = AGGREGATES[function]
        else:
            project.translation.note(f"{name!r} was microaggregated by a function that is not known here")
        return
    entry = f"{HIERARCHIES}{name}.csv"
    rows = _rows(project, entry) if entry in project.archive else []
    height = len(rows[0]) - 1 if rows else 0
    if height:
        end = file_end("hierarchy", name, project.translation.files)
        project.translation.files[end] = _table_writer(rows)
        project.translation.hierarchies[name] = end
    if role == "quasi" and not height:
        project.levels[name] = 0  # ARX leaves a column without a hierarchy as it is
        if attribute.value("ref") and not rows:
            project.translation.note(f"the hierarchy of {name!r} is not in the file; it stays as it is")
    elif role == "quasi":
        lowest, highest = (_level(attribute.value(key), other) for key, other in (("min", 0), ("max", height)))
        if not 0 <= lowest <= highest <= height:
            raise DataError(f"{project.path.name}: a column has levels 0 to {height}, not {lowest} to {highest}.")
        if (lowest, highest) != (0, height):
            project.levels[name] = [lowest, highest] if lowest < highest else lowest


def _level(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch(r"[0-9]{1,4}", text.strip()) else otherwise


def _rows(project: _Project, entry: str) -> list[list[str]]:
    """Return the rows of a hierarchy, all of one length."""
    text = _decode(project.archive.content(entry, LARGEST_TABLE), "a hierarchy", project.translation)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=project.separator) if row]
    except csv.Error:
        rows = []
    if not rows or {len(row) for row in rows} != {len(rows[0])}:
        raise DataError(f"{project.path.name}: a hierarchy in {HIERARCHIES} has rows of different lengths, or none.")
    return rows


def _decode(content: bytes, what: str, translation: Translation) -> str:
    """Return text decoded from UTF-8; early versions used the encoding of the machine, which no file names."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        translation.note(f"{what} is not in UTF-8 and was taken for Windows-1252: look at its accents")
        return content.decode("cp1252", errors="replace")


def _table_writer(rows: list[list[str]]) -> Callable[[Path], None]:
    def fill(draft: Path) -> None:
        with draft.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)

    return fill


def _read_data(project: _Project) -> None:
    """Copy the data next to the policy as they are; their header must name the described columns."""
    head = next(project.archive.blocks(DATA), b"")
    line = _decode(head.splitlines()[0], "the header", project.translation) if head.strip() else ""
    try:
        names = next(csv.reader([line], delimiter=project.separator), [])
    except csv.Error:
        names = []
    described = [name for names in project.translation.roles.values() for name in names]
    if sorted(names) != sorted(described):
        raise DataError(
            f"{project.path.name}: the header of {DATA} has {len(names)} columns and {DEFINITION} {len(described)}, "
            "or they have other names."
        )
    project.translation.input = {"path": ".data.csv", "separator": project.separator, **project.translation.input}
    project.translation.files[".data.csv"] = _copier(project.path)


def _copier(path: Path) -> Callable[[Path], None]:
    def fill(draft: Path) -> None:
        with open_archive(path) as archive, draft.open("wb") as file:
            for block in archive.blocks(DATA):
                file.write(block)

    return fill


def _read_models(project: _Project) -> None:
    translation, config = project.translation, project.archive.document(CONFIG)
    for criteria in config.all("criteria"):
        for criterion in criteria.all("criterion"):
            part = requirement(criterion.text)
            if isinstance(part, str):
                translation.note(f"the privacy model {_quote(criterion.text)}: {part}")
            elif reason := refusal("model", part):
                translation.note(f"the privacy model {_quote(criterion.text)}: {reason}")
            elif part.get("column", "") and part["column"] not in translation.roles["sensitive"]:
                translation.note(f"the privacy model {_quote(criterion.text)}: its column is not a sensitive one")
            else:
                translation.require.append(Entry(part))
    if not translation.roles["quasi"]:
        translation.note("there is no quasi-identifier, so there is no step")
    elif not translation.require:
        translation.note("no privacy model could be translated, so there is no step: add [[require]] and [[step]]")
    else:
        translation.steps.append(Entry(_step(project, config)))
    translation.risks = [{"use": "prosecutor"}]
    translation.losses = [{"use": "domain-loss", "aggregate": "arithmetic"}, {"use": "altered-records"}]


def _step(project: _Project, config: Element) -> Mapping[str, Any]:
    translation = project.translation
    loss, remark = objective(config.value("metric") or "Loss")
    if remark:
        translation.note(remark)
    emptied = [kind.text.strip() for types in config.all("suppressedAttributeTypes") for kind in types.all("type")]
    if "INSENSITIVE_ATTRIBUTE" in emptied:
        translation.note("the insensitive columns of suppressed records were emptied too; here they stay")
    parts: dict[str, Any] = {
        "use": "generalise",
        "suppress": _share(config.value("relativeMaxOutliers"), translation),
        "objective": loss if loss is None or len(loss) > 1 else loss["use"],
        "levels": project.levels,
        "weights": _weights(config, translation.roles["quasi"]),
        "aggregate": project.aggregate,
        "blank": "SENSITIVE_ATTRIBUTE" in emptied,
    }
    return {key: value for key, value in parts.items() if value not in (None, {}, False)}


def _share(text: str | None, translation: Translation) -> float:
    try:
        share = float(text or "")
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        translation.note("the suppression limit could not be read; 0 is taken")
        return 0.0
    return share


def _weights(config: Element, quasi: list[str]) -> dict[str, float]:
    """Return the weights of the columns as shares of the largest, as ARX uses them; none where all are equal."""
    listed: dict[str, float] = {}
    for weights in config.all("attributeWeights"):
        for weight in weights.all("attributeWeight"):
            name, value = weight.value("attribute") or "", weight.value("weight") or ""
            if name in quasi and re.fullmatch(r"[0-9]*\.?[0-9]+(?:[eE]-?[0-9]+)?", value.strip()):
                listed[name] = float(value)
    largest = max(listed.values(), default=0.0)
    if len(listed) < len(quasi) or not largest or len(set(listed.values())) == 1:
        return {}
    return {name: value / largest for name, value in listed.items()}


def _quote(text: str) -> str:
    return repr(re.sub(r"\s+", " ", text.strip())[:120])


__all__ = ["read_project"]
