"""The report of two tables, without a policy: what was done, who could still be found, what was lost."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from celosia.data.io.atomic import refuse_existing, replace_file
from celosia.errors import GuardError
from celosia.parts import Loss, Model, Threat, build_all, requirements
from celosia.release.assess import PartsLike
from celosia.release.compare import opened_pair
from celosia.release.evidence.release import Release
from celosia.release.policy.policy import Policy, Step
from celosia.release.run import finish
from celosia.streams import fresh_seed
from celosia.table.pairing import by_key

UNSAID = "nobody has given one: it must not leave like this"
"""What stands on the page in the place of a reason."""


def report(
    original: Any,
    protected: Any,
    path: str | Path,
    require: PartsLike[Model] | None = None,
    *,
    schema: Any = None,
    risks: PartsLike[Threat] | None = None,
    losses: PartsLike[Loss] | None = None,
    key: str | None = None,
    about: Mapping[str, Any] | None = None,
    acknowledge: Mapping[str, str] | None = None,
    edition: Literal["external", "internal"] = "external",
    language: str = "en",
    overwrite: bool = False,
) -> Path:
    """Write a page about an original and what was made of it, and give its path.

    Each is a table, or a frame or file that ``schema`` describes. ``require`` is what must hold: unless given, what
    the steps of the protected table promise. ``about`` says what the release is, as the section of that name in a
    policy does. What the guard sees stops no report, as it would stop a release: the page lists it, and a warning tells
    it. The external edition holds no value of the original; the internal one does. Nothing but the page is written:
    :func:`celosia.run` writes data, certificate and record as well. A path that ends in ``.pdf`` or ``.docx`` gives a
    PDF (printed by Chromium) or a Word document.

    >>> import polars as pl, celosia, tempfile
    >>> table = celosia.read(pl.DataFrame({"age": [31, 31, 47, 47]}), celosia.Schema.of(quasi=["age"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(table, table.protect("round(base=10)"), f"{folder}/report.html").read_text()
    >>> page.startswith("<!doctype html>")
    True
    """
    from celosia.release.report import render
    from celosia.release.report.export import FORMS, exported

    page = Path(path)
    if not overwrite:
        refuse_existing([page])
    before, after = opened_pair(original, protected, schema)
    after = by_key(before, after, key) if key else after
    methods = [secret["method"] for secret in after.secrets if "method" in secret]
    promised = [model for method in methods for model in requirements(method)]
    measures = {
        name: build_all(kind, given)
        for name, kind, given in (("risks", "risk or attack", risks), ("losses", "loss", losses))
        if given is not None
    }
    sections = {
        "about": dict(about or {}),
        "input": {"path": f"{page.stem}.csv"},
        "schema": before.schema,
        "require": promised if require is None else build_all("model", require),
        "step": [Step(method.name, method) for method in methods],
        "measure": measures,
    }

    def finished(reasons: Mapping[str, str]) -> Release:
        policy = Policy.of({**sections, "guard": {"acknowledge": dict(reasons)}})
        return finish(before.identified(), after.identified(), policy, fresh_seed())

    try:
        release = finished(acknowledge or {})
    except GuardError as refusal:
        if not refusal.sightings:
            raise
        warnings.warn(f"the page says what the guard has seen; a release would stop here: {refusal}", stacklevel=2)
        release = finished({sighting.column: UNSAID for sighting in refusal.sightings} | dict(acknowledge or {}))
    text = render(release, edition=edition, language=language)
    if page.suffix.lower() in FORMS:
        return exported(text, page, overwrite=overwrite)
    with replace_file(page) as draft:
        draft.write_text(text, encoding="utf-8")
    return page
