"""Scripts for sdcMicro: the usual calls in the words of a policy. The script is read, never run."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celosia import files
from celosia.errors import DataError
from celosia.migration.r_script import Call, Constant, Node, Symbol, statements
from celosia.migration.sdcmicro_calls import SIGNATURES, NotConstant, RValue, arguments, as_list, value
from celosia.migration.sdcmicro_steps import MEASURES, STEPS
from celosia.migration.translation import Entry, Translation

LARGEST = 1 << 22
"""Bytes of a script."""
ONLY_SHOW = frozenset(
    (
        *("barplot", "boxplot", "cat", "colnames", "dim", "freq", "head", "hist", "install.packages", "invisible"),
        *("library", "message", "names", "ncol", "nrow", "options", "par", "plot", "print", "require"),
        *(
            "requireNamespace",
            "rm",
            "show",
            "str",
            "summary",
            "suppressPackageStartupMessages",
            "table",
            "tail",
            "View",
        ),
    )
)
"""Calls that change nothing of the data and nothing of the result."""
READERS = frozenset(name for name in SIGNATURES if name.startswith("read") or name == "fread")
WRITERS = frozenset(("write.csv", "write.csv2", "write.table", "write_csv", "fwrite"))
SEPARATORS = {"read.csv2": ";", "read_csv2": ";", "read.delim": "\t", "read.table": " "}
RELEASED = "the columns that the script does not name are left out of the release; name those that shall leave"
WEAK = (
    "sdcMicro counts a missing value as any value; here a missing value is a value of its own, which is stricter. "
    'For its reading write "wildcard" for each quasi-identifier under [schema.missing]'
)


def read_script(path: Path) -> Translation:
    """Translate a script; raise with the line where it is not R."""
    try:
        text = files.text(path, "utf-8-sig", LARGEST)
    except UnicodeDecodeError:
        text = files.text(path, "latin-1", LARGEST)
    except OSError as error:
        raise DataError(f"cannot read {path.name!r}: {error.strerror}.") from None
    if "\0" in text:
        raise DataError(f"{path.name} is not a text: it holds zero bytes.")
    script = Script(Translation(path.name, "script for sdcMicro"))
    try:
        for statement in statements(text.replace("\r\n", "\n").replace("\r", "\n"), path.name):
            script.read(statement)
    except RecursionError:
        raise DataError(f"{path.name}: calls are nested too often.") from None
    return script.finish()


@dataclass(frozen=True)
class State:
    """Steps and requirements applied to an object so far; a variable of R stands for one state."""

    steps: tuple[Entry, ...] = ()
    require: tuple[Entry, ...] = ()


class Script:
    """State of the translation of a script: constants, tables, and the protected object."""

    def __init__(self, translation: Translation) -> None:
        self.translation = translation
        self.constants: dict[str, Any] = {}
        self.tables: dict[str, dict[str, Any]] = {}
        self.states: dict[str, State] = {}
        self.last = State()
        self.numeric: list[str] = []
        self.randomised: list[str] = []
        self.linked: list[list[str]] = []
        self.created = False
        """Whether ``createSdcObj`` was called."""
        self.table: str | None = None
        self.shown: list[int] = []

    def read(self, node: Node) -> None:
        """Translate a statement."""
        if isinstance(node, Constant | Symbol):
            return  # it shows something
        if node.function == "<-":
            self._assign(node.inner(0), node.inner(1))
        elif node.function in ("$", "@", "[", "[["):
            self.shown.append(node.line)
        elif node.function == "{":
            for _, inner in node.arguments:
                self.read(inner)
        else:
            self.call(node)
            if node.function in STEPS:
                self.note(node, f"{node.function}: its result is not assigned to anything, so it changes nothing")

    def call(self, node: Call) -> State | str | None:
        """Translate a call; return the new state of the object, the name of a table, or None."""
        name = node.function
        first = node.arguments[0][1] if node.arguments else None
        inside: State | str | None = None
        if isinstance(first, Call) and first.function in TRANSLATED:
            inside = self.call(first)
        elif isinstance(first, Symbol):
            inside = self.states.get(first.name)
        if name in TRANSLATED:
            try:
                return self._counterpart(node, inside)
            except NotConstant as unknown:
                self.note(node, f"{name}: {str(unknown)!r} is only known when the script runs")
                return inside if isinstance(inside, State) else None
        if name in ONLY_SHOW:
            self.shown.append(node.line)
        elif name == "data":
            self._data(node)
        elif name == "set.seed":
            self.note(node, "set.seed: the seed is drawn here; one of at least 65 bits may stand under [run]")
        elif name in ("function", "if", "for", "while", "repeat"):
            self.note(node, f"{name}: what it does is only known when the script runs")
        else:
            self.note(node, f"{name or 'a call'} is not translated")
        return None

    def _counterpart(self, node: Call, inside: State | str | None) -> State | str | None:
        """Translate a call that has a counterpart."""
        name, given = node.function, arguments(node)
        if name in OWN:
            result: State | str | None = OWN[name](self, node, given)
            return result if result is not None else inside
        if name in MEASURES:
            MEASURES[name](self, node, given)
            return inside
        if not isinstance(inside, State):
            if self.created:
                self.note(node, f"{name}: it is not of the object that createSdcObj made")
                return None
            inside = self.last
            self.remember(given.get("obj", given.get("x")))
        self.translation.steps, self.translation.require = list(inside.steps), list(inside.require)
        STEPS[name](self, node, given)
        return State(tuple(self.translation.steps), tuple(self.translation.require))

    def remember(self, source: Node | None) -> None:
        """Remember the table that a function without an object is used on."""
        if isinstance(source, Symbol) and source.name in self.tables and self.table is None:
            self.table = source.name

    def constant(self, node: Node | None, otherwise: RValue = None) -> RValue:
        """Return the value of an argument, or the default."""
        return otherwise if node is None else value(node, self.constants)

    def columns(self, node: Node | None, otherwise: list[str] | None = None) -> list[str]:
        """Return the columns that an argument names; positions of columns are not translated."""
        if node is None:
            return list(otherwise or [])
        names = as_list(self.constant(node))
        if not all(isinstance(name, str) for name in names):
            raise NotConstant("which columns the numbers stand for")
        return list(dict.fromkeys(names))

    def note(self, node: Call, text: str) -> None:
        """Record what is not translated in a line."""
        self.translation.note(text, node.line)

    def keys(self, names: list[str]) -> None:
        """Declare quasi-identifiers."""
        self.translation.give_role("quasi", *names)

    def finish(self) -> Translation:
        """Return the translation with its final notes."""
        translation = self.translation
        translation.steps, translation.require = list(self.last.steps), list(self.last.require)
        if any(len(state.steps) > len(self.last.steps) for state in self.states.values()):
            translation.note("several versions of the object are kept; the steps are those of the last one")
        if self.shown:
            lines = ", ".join(map(str, sorted(set(self.shown))))
            translation.note(f"lines {lines} only show or load something; a run writes a report by itself")
        if not translation.input:
            name = self.table or next(iter(self.tables), "data")
            translation.input = self.tables.get(name) or {"path": f"{name}.csv"}
            if name not in self.tables:
                translation.note(f"where the data come from is not said; they are expected in {name}.csv")
        roles = translation.roles
        roles["insensitive"] = [n for n in roles["insensitive"] if n not in roles["quasi"] + roles["sensitive"]]
        translation.note(RELEASED)
        if any(entry.part["use"] == "local-suppress" for entry in translation.steps):
            translation.note(WEAK)
        translation.measure("risk", {"use": "individual-risk"})
        translation.measure("loss", {"use": "altered-records"})
        return translation

    def _assign(self, target: Node, source: Node) -> None:
        if isinstance(target, Constant) and isinstance(target.value, str):
            target = Symbol(target.value, target.line)
        if not isinstance(target, Symbol):
            self._change(target, source)
            return
        if isinstance(source, Symbol) and source.name in self.tables:
            self.tables[target.name] = self.tables[source.name]
            return
        try:
            constant = value(source, self.constants)
        except NotConstant:
            self.constants.pop(target.name, None)
        else:
            self.constants[target.name] = constant
            return
        if isinstance(source, Symbol) and source.name in self.states:
            self.states[target.name] = self.states[source.name]
        elif isinstance(source, Call):
            result = self.call(source)
            if isinstance(result, State) and source.function not in MEASURES:
                self.states[target.name] = self.last = result
            elif isinstance(result, str):
                self.tables[target.name] = self.tables[result]

    def _change(self, target: Node, source: Node) -> None:
        """Record the kind of a column that is converted to a factor or a number; note other changes of the data."""
        line = target.line
        if isinstance(target, Call) and isinstance(source, Call) and target.function == "$":
            column = target.inner(1)
            kinds = {"as.factor": "nominal", "factor": "nominal", "as.numeric": "numeric", "ordered": "ordinal"}
            if isinstance(column, Symbol) and source.function in kinds and source.function != "ordered":
                self.translation.kinds[column.name] = kinds[source.function]
                return
        self.translation.note("a change of the data in R is not translated; do it before, or by a step", line)

    def _data(self, node: Call) -> None:
        for named, each in node.arguments:
            name = (
                None
                if named
                else each.name
                if isinstance(each, Symbol)
                else each.value
                if isinstance(each, Constant)
                else None
            )
            if isinstance(name, str) and re.fullmatch(r"[\w.-]{1,60}", name):
                self.tables[name] = {"path": f"{name}.csv"}
                self.note(node, f"{name} is a data set of R: write.csv({name}, '{name}.csv', row.names = FALSE)")


def _read_table(script: Script, node: Call, given: dict[str, Node]) -> str:
    """Record the file that a call reads; return a name for it that no variable has."""
    place = script.constant(next((given[key] for key in ("file", "path", "input", "data_file") if key in given), None))
    if not isinstance(place, str) or not place or "\0" in place:
        raise NotConstant("the file")
    options: dict[str, Any] = {"path": place}
    separator = script.constant(given.get("sep", given.get("delim")), SEPARATORS.get(node.function))
    text = Path(place).suffix.lower() in (".csv", ".txt", ".tsv", ".dat")
    if text and isinstance(separator, str) and len(separator) == 1 and separator != ",":
        options["separator"] = separator
    mark = script.constant(given.get("dec"), "," if node.function in ("read.csv2", "read_csv2") else None)
    if text and mark in (".", ","):
        options["decimal"] = mark
    if text and script.constant(given.get("header"), node.function != "read.table") is False:
        options["header"] = False
        script.note(node, f"{node.function}: the file has no header; name its columns under [input]")
    if Path(place).suffix.lower() not in (
        ".csv",
        ".tsv",
        ".txt",
        ".sav",
        ".dta",
        ".sas7bdat",
        ".xpt",
        ".xlsx",
        ".parquet",
    ):
        options = {"path": f"{Path(place).stem or 'data'}.csv"}
        script.note(node, f"{node.function}: a file of this kind is not read here; write it as CSV")
    key = f"\0{node.line}"
    script.tables[key] = options
    return key


def _create(script: Script, node: Call, given: dict[str, Node]) -> State | None:
    """Take over the roles of ``createSdcObj``."""
    translation = script.translation
    if script.created:
        script.note(node, "createSdcObj: a second object; a policy describes one, the first")
        return None
    script.created = True
    source = given.get("dat")
    if isinstance(source, Symbol):
        script.table = source.name
    elif isinstance(source, Call) and source.function in READERS:
        translation.input = script.tables.get(f"\0{source.line}", {})
    script.keys(script.columns(given.get("keyVars")))
    script.numeric = script.columns(given.get("numVars"))
    script.randomised = script.columns(given.get("pramVars"))
    for name in [*script.numeric, *script.randomised]:
        translation.give_role("insensitive", name)
    translation.kinds |= dict.fromkeys(script.numeric, "numeric")
    translation.give_role("sensitive", *script.columns(given.get("sensibleVar")))
    for argument, role in (("weightVar", "weight"), ("hhId", "household"), ("strataVar", "stratum")):
        for name in script.columns(given.get(argument))[:1]:
            translation.singles[role] = name
    if "household" in translation.singles:
        translation.measure("risk", {"use": "household-risk"})
    _ghosts(script, given)
    if script.columns(given.get("excludeVars")):
        script.note(node, "createSdcObj: excludeVars are columns without a role, which are left out anyhow")
    if script.constant(given.get("alpha"), 1) != 1:
        script.note(node, "createSdcObj: alpha between 0 and 1 is a parameter of individual-risk")
    return State()


def _ghosts(script: Script, given: dict[str, Node]) -> None:
    """Ghost variables are blanked together with their key variable."""
    ghosts = given.get("ghostVars")
    if not isinstance(ghosts, Call):
        return
    for _, pair in ghosts.arguments:
        names = [name for _, each in getattr(pair, "arguments", ()) for name in script.columns(each)]
        if len(names) > 1:
            script.linked.append(names)
            script.translation.give_role("insensitive", *names[1:])


def _roles_of_frame(script: Script, node: Call, given: dict[str, Node]) -> None:
    """Functions that take a data frame name the key variables themselves."""
    script.remember(given.get("x", given.get("obj")))
    if "keyVars" in given:
        script.keys(script.columns(given["keyVars"]))
    if "w" in given:
        script.translation.singles["weight"] = script.columns(given["w"])[0]
    if "hid" in given:
        script.translation.singles["household"] = script.columns(given["hid"])[0]
        script.translation.measure("risk", {"use": "household-risk"})
    exact = node.function == "indivRisk" and script.constant(given.get("method"), "approx") == "exact"
    script.translation.measure(
        "risk", {"use": "individual-risk", "exact": True} if exact else {"use": "individual-risk"}
    )


def _write(script: Script, node: Call, given: dict[str, Node]) -> None:
    place = script.constant(given.get("file", given.get("fileOut")))
    if isinstance(place, str) and Path(place).suffix.lower() == ".csv":
        script.translation.output["path"] = place
    else:
        script.note(node, f"{node.function}: name the file of the release under [output]")


def _no_step(_: Script, __: Call, ___: dict[str, Node]) -> None:
    """Translate a call that needs no translation, because a run does the same."""


OWN: dict[str, Callable[[Script, Call, dict[str, Node]], Any]] = {
    **dict.fromkeys(READERS, _read_table),
    **dict.fromkeys((*WRITERS, "writeSafeFile"), _write),
    "createSdcObj": _create,
    **dict.fromkeys(("freqCalc", "indivRisk", "measure_risk"), _roles_of_frame),
    **dict.fromkeys(("report", "calcRisks", "extractManipData"), _no_step),
}
TRANSLATED = frozenset((*OWN, *STEPS, *MEASURES))
