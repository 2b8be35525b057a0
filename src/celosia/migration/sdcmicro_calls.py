"""Arguments of calls of sdcMicro: matched to their names as R does, and their values where they are constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from celosia.migration.r_script import Call, Constant, Node, Symbol

LONGEST = 10_000
"""Elements of a vector."""
SIGNATURES: dict[str, tuple[str, ...]] = {
    name: tuple(arguments.split())
    for name, arguments in {
        "createSdcObj": "dat keyVars numVars pramVars ghostVars weightVar hhId strataVar sensibleVar excludeVars "
        "options seed randomizeRecords alpha",
        "freqCalc": "x keyVars w alpha",
        "indivRisk": "x method qual survey",
        "measure_risk": "obj data keyVars w missing hid max_global_risk fast_hier",
        "modRisk": "obj method weights formulaM bound",
        "localSuppression": "obj k importance combs",
        "kAnon": "obj k importance combs",
        "localSupp": "obj threshold keyVar",
        "globalRecode": "obj column breaks labels method",
        "groupAndRename": "obj var before after addNA",
        "groupVars": "obj var before after",
        "renameVars": "obj var before after",
        "topBotCoding": "obj value replacement kind column",
        "mvTopCoding": "x maha center cov alpha",
        "microaggregation": "obj variables aggr strata_variables method weights nc clustermethod measure trim varsort "
        "transf",
        "addNoise": "obj variables noise method p delta",
        "rankSwap": "obj variables TopPercent BottomPercent K0 R0 P missing seed",
        "pram": "obj variables strata_variables pd alpha",
        "shuffle": "obj form method weights covmethod regmethod gadp",
        "suda2": "obj variables missing DisFraction",
        "ldiversity": "obj ldiv_index l_recurs_c missing",
        "dRisk": "obj xm k",
        "dRiskRMD": "obj xm k k2",
        "dUtility": "obj xm method",
        "removeDirectID": "obj var",
        "varToFactor": "obj var",
        "varToNumeric": "obj var",
        "undolast": "object",
        "calcRisks": "object",
        "report": "obj outdir filename title internal verbose",
        "extractManipData": "obj ignoreKeyVars ignorePramVars",
        "writeSafeFile": "obj format randomizeRecords fileOut",
        "readMicrodata": "path type convertCharToFactor drop_all_missings",
        "read.csv": "file header sep quote dec",
        "read.csv2": "file header sep quote dec",
        "read.table": "file header sep quote dec",
        "read.delim": "file header sep quote dec",
        "read_csv": "file",
        "read_csv2": "file",
        "read_delim": "file delim",
        "fread": "input file text cmd sep",
        "read_sav": "file",
        "read_dta": "file",
        "read_sas": "data_file",
        "read_excel": "path sheet",
        "write.csv": "x file",
        "write.csv2": "x file",
        "write.table": "x file",
        "write_csv": "x file",
        "fwrite": "x file",
    }.items()
}
"""The arguments of each function in their order, as version 5 declares them."""

RValue = Any
"""Value of an R constant: number, text, truth value, None, or a list of them."""


class NotConstant(Exception):
    """A value that only running the script would reveal."""


def arguments(call: Call) -> dict[str, Node]:
    """Return the arguments of a call by name: exact names first, then abbreviations, then positions.

    >>> from celosia.migration.r_script import statements
    >>> sorted(arguments(statements("kAnon(sdc, 3, imp = c(1, 2))")[0]))
    ['importance', 'k', 'obj']
    """
    names = SIGNATURES.get(call.function, ())
    matched: dict[str, Node] = {}
    places: list[Node] = []
    for name, node in call.arguments:
        beginning = [each for each in names if name and each.startswith(name)]
        if name is None:
            places.append(node)
        elif name in names or len(beginning) != 1:
            matched[name] = node
        else:
            matched[beginning[0]] = node
    free = [name for name in names if name not in matched]
    return {**dict(zip(free, places, strict=False)), **matched}


def value(node: Node, constants: Mapping[str, RValue]) -> RValue:
    """Return the value of a constant: a number, a text, a truth value, None, or a list of them."""
    if isinstance(node, Constant):
        return node.value
    if isinstance(node, Symbol):
        if node.name not in constants:
            raise NotConstant(node.name)
        return constants[node.name]
    inner = [each for _, each in node.arguments]
    if node.function == "c":
        items: list[Any] = []
        for each in inner:
            part = value(each, constants)
            items += part if isinstance(part, list) else [] if part is None and _is_null(each) else [part]
        return _short(items)
    if node.function in ("as.integer", "as.numeric", "as.character", "factor") and len(inner) == 1:
        return value(inner[0], constants)
    if node.function == "-" and len(inner) == 1:
        number = value(inner[0], constants)
        return -number if isinstance(number, int | float) and not isinstance(number, bool) else _unknown(node)
    if node.function == ":":
        return _range(value(inner[0], constants), value(inner[1], constants), node)
    return _unknown(node)


def _is_null(node: Node) -> bool:
    return isinstance(node, Constant) and node.value is None


def _unknown(node: Call) -> NoReturn:
    raise NotConstant(node.function)


def _short(values: list[Any]) -> list[Any]:
    if len(values) > LONGEST:
        raise NotConstant("a long vector")
    return values


def _range(first: object, last: object, node: Call) -> list[int]:
    if not isinstance(first, int) or not isinstance(last, int) or abs(last - first) > LONGEST:
        _unknown(node)
    step = 1 if last >= first else -1
    return list(range(first, last + step, step))


def as_list(given: object) -> list[Any]:
    """Return a value as a list: R has no scalars."""
    return given if isinstance(given, list) else [] if given is None else [given]


def names_in(node: Node) -> list[str]:
    """Return the names in one side of a formula, such as ``a + b``."""
    if isinstance(node, Symbol):
        return [node.name]
    if isinstance(node, Call) and node.function in ("+", "*", ":"):
        return [name for _, each in node.arguments for name in names_in(each)]
    raise NotConstant("a term of the formula")
