"""Conversion of inferences, rules and requests to form fields and back; errors state the rule and the line."""

from __future__ import annotations

import re
from collections.abc import Mapping

from celosia.consent.publication.stored_requests import StoredRequest
from celosia.consent.rules.rules import LANGUAGES, Inference, Rule
from celosia.errors import CelosiaError

Fields = Mapping[str, str]
LISTS = ("quasi", "tree", "identifiers", "sensitive")
_VALUE = re.compile(r"(data:)?\s*(?:(.+)\.)?([^.=!<>\s]+)\s*(!=|<=|>=|=|<|>)\s*(.*)")
_SCOPE = "data:"


class Unreadable(CelosiaError):
    """Raised for a field that cannot be read, with the key and the values of its translated message."""

    def __init__(self, key: str, **values: str | int) -> None:
        super().__init__(key)
        self.key, self.values = key, values


def inference_fields(inference: Inference) -> dict[str, str]:
    """Return the fields of an inference, with an empty rule after the last."""
    fields = {
        "id": inference.id,
        "category": inference.category or "",
        "extra": str(inference.extra),
        "query": "",
        "dialect": "postgres",
    }
    for name in ("description", "example"):
        fields |= {f"{name}:{code}": getattr(inference, name).get(code, "") for code in LANGUAGES}
    for number, rule in enumerate(inference.rules):
        fields |= _rule_fields(number, rule)
    return fields | _rule_fields(len(inference.rules), None)


def inference_data(sent: Fields, stored: Inference | None) -> dict[str, object]:
    """Return the inference of a form as plain data to validate, with its other languages and queries unchanged.

    >>> inference_data({"id": "home", "description:en": "My home", "rule:0:tables": "student: town"}, None)["rules"]
    [{'tables': {'student': ['town']}, 'values': [], 'active': False, 'threshold': None, 'minimum': 1, 'note': ''}]
    """
    name = stored.id if stored else sent.get("id", "").strip()
    data: dict[str, object] = {"id": name, "category": sent.get("category") or None}
    try:
        data["extra"] = int(sent.get("extra", "").strip() or 30)
    except ValueError:
        raise Unreadable("problem_extra", given=sent["extra"][:20]) from None
    for field in ("description", "example"):
        others = {k: v for k, v in getattr(stored, field).items() if k not in LANGUAGES} if stored else {}
        said = {code: sent.get(f"{field}:{code}", "").strip() for code in LANGUAGES}
        data[field] = {**{code: text for code, text in said.items() if text}, **others}
    queries = [query.model_dump() for query in stored.realisations] if stored else []
    if sent.get("query", "").strip():
        queries.append({"sql": sent["query"].replace("\r\n", "\n").strip(), "dialect": sent.get("dialect", "postgres")})
    data["realisations"] = queries
    data["rules"] = [rule for rule in (_rule_data(sent, number) for number in range(_rules(sent))) if rule]
    return data


def with_proposal(sent: Fields) -> dict[str, str]:
    """Return the fields with an additional rule, proposed from their query."""
    from celosia.consent.rules.rules import derive_rule

    proposal = derive_rule(sent.get("query", ""), sent.get("dialect", "postgres"))
    number = next(n for n in range(_rules(sent) + 1) if not _has_content(sent, n))
    return {**sent, **_rule_fields(number, proposal), **_rule_fields(number + 1, None)}


def numbers(fields: Fields) -> list[int]:
    """Return the numbers of the rules in a form."""
    return list(range(_rules(fields)))


def asked_fields(asked: StoredRequest) -> dict[str, str]:
    """Return the fields of a request."""
    fields = {name: getattr(asked, name) for name in ("requester", "purpose", "sql", "owner", "rule")}
    fields |= {name: ", ".join(getattr(asked, name)) for name in LISTS}
    lines = "\n".join(f"{column} = {reason}" for column, reason in asked.acknowledge.items())
    return {**fields, "k": str(asked.k), "key": asked.key or "", "acknowledge": lines}


def asked_data(sent: Fields) -> dict[str, object]:
    """Return the request of a form as plain data to validate."""
    texts = ("requester", "purpose", "sql", "owner", "rule")
    data: dict[str, object] = {name: sent.get(name, "").replace("\r\n", "\n").strip() for name in texts}
    for name in ("requester", "sql", "owner", "quasi"):
        if not sent.get(name, "").strip():
            raise Unreadable("problem_missing", field=name)
    data |= {name: tuple(part.strip() for part in sent.get(name, "").split(",") if part.strip()) for name in LISTS}
    try:
        data["k"] = int(sent.get("k", ""))
    except ValueError:
        raise Unreadable("problem_k", given=sent.get("k", "")[:20]) from None
    reasons = {}
    for at, line in enumerate(_lines(sent.get("acknowledge", "")), 1):
        column, equals, reason = line.partition("=")
        if not equals or not reason.strip():
            raise Unreadable("problem_acknowledge", line=at)
        reasons[column.strip()] = reason.strip()
    return {**data, "key": sent.get("key", "").strip() or None, "acknowledge": reasons}


def _rule_fields(number: int, rule: Rule | None) -> dict[str, str]:
    if rule is None:
        return {f"rule:{number}:{name}": "" for name in ("tables", "values", "note")} | {
            f"rule:{number}:active": "yes",
            f"rule:{number}:needs": "1",
        }
    values = [
        f"{_SCOPE + ' ' if v.scope == 'data' else ''}{f'{v.table}.' if v.table else ''}{v.field} {v.op} {v.literal}"
        for v in rule.values
    ]
    return {
        f"rule:{number}:tables": "\n".join(f"{table}: {', '.join(names)}" for table, names in rule.tables.items()),
        f"rule:{number}:values": "\n".join(values),
        f"rule:{number}:active": "yes" if rule.active else "",
        f"rule:{number}:needs": str(rule.minimum) if rule.threshold is None else f"{100 * rule.threshold:g} %",
        f"rule:{number}:note": rule.note,
    }


def _rules(sent: Fields) -> int:
    rule_numbers = [int(key.split(":")[1]) for key in sent if re.fullmatch(r"rule:\d{1,3}:tables", key)]
    return 1 + max(rule_numbers, default=-1)


def _has_content(sent: Fields, number: int) -> bool:
    return any(sent.get(f"rule:{number}:{name}", "").strip() for name in ("tables", "values"))


def _rule_data(sent: Fields, number: int) -> dict[str, object] | None:
    """Return a rule as plain data, or None if it has no table and no value, which removes it."""
    if not _has_content(sent, number):
        return None
    tables: dict[str, list[str]] = {}
    for at, line in enumerate(_lines(sent.get(f"rule:{number}:tables", "")), 1):
        table, _, names = line.partition(":")
        if not table.strip() or " " in table.strip():
            raise Unreadable("problem_tables", rule=number + 1, line=at)
        tables.setdefault(table.strip(), []).extend(name.strip() for name in names.split(",") if name.strip())
    values = []
    for at, line in enumerate(_lines(sent.get(f"rule:{number}:values", "")), 1):
        read = _VALUE.fullmatch(line)
        if read is None:
            raise Unreadable("problem_values", rule=number + 1, line=at)
        scope, of, field, op, literal = read.groups()
        value = {"field": field, "op": op, "literal": literal.strip(), "scope": "data" if scope else "predicate"}
        values.append({**value, "table": of.strip() if of else None})
    needs = sent.get(f"rule:{number}:needs", "").strip() or "1"
    share = re.fullmatch(r"(\d+(?:[.,]\d+)?)\s*%", needs)
    if not share and not re.fullmatch(r"[1-9]\d{0,3}", needs):
        raise Unreadable("problem_needs", rule=number + 1, given=needs[:20])
    return {
        "tables": tables,
        "values": values,
        "active": sent.get(f"rule:{number}:active") == "yes",
        "threshold": float(share[1].replace(",", ".")) / 100 if share else None,
        "minimum": 1 if share else int(needs),
        "note": sent.get(f"rule:{number}:note", "").strip(),
    }


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
