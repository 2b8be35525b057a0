"""Report of two tables without a policy: ``celosia.report``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from celosia.data.io.atomic import refuse_existing, replace_file
from celosia.data.schema import Schema
from celosia.errors import GuardError
from celosia.parts import Loss, Model, Threat, build_all, requirements
from celosia.release.assess import PartsLike
from celosia.release.compare import read_pair
from celosia.release.evidence.release import Release
from celosia.release.policy.policy import Policy, Step
from celosia.release.run import finish
from celosia.streams import fresh_seed
from celosia.table.derive import with_record_ids
from celosia.table.pairing import by_key

NO_REASON = "nobody has given one: it must not leave like this"
"""Text on the page instead of a reason."""


def report(
    original: object,
    protected: object,
    path: str | Path,
    require: PartsLike[Model] | None = None,
    *,
    schema: Schema | None = None,
    risks: PartsLike[Threat] | None = None,
    losses: PartsLike[Loss] | None = None,
    key: str | None = None,
    about: Mapping[str, Any] | None = None,
    acknowledge: Mapping[str, str] | None = None,
    edition: Literal["external", "internal"] = "external",
    language: str = "en",
    overwrite: bool = False,
) -> Path:
    """Write a report page about an original and its protected table; return the path.

    Each is a table, or a frame or file that ``schema`` describes. ``require`` lists the requirements; by default those
    that the steps of the protected table guarantee. ``about`` describes the release, like the section ``[about]`` of a
    policy. A finding of the guard that would stop a release is listed on the page, with a warning. The external
    edition contains no value of the original; the internal one does. Nothing but the page is written:
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
    from celosia.release.report.export import FORMS, export_text

    page = Path(path)
    if not overwrite:
        refuse_existing([page])
    before, after = read_pair(original, protected, schema)
    after = by_key(before, after, key) if key else after
    methods = [secret["method"] for secret in after.private_history if "method" in secret]
    guaranteed = [model for method in methods for model in requirements(method)]
    measures = {
        name: build_all(kind, wanted)
        for name, kind, wanted in (("risks", "risk or attack", risks), ("losses", "loss", losses))
        if wanted is not None
    }
    sections = {
        "about": dict(about or {}),
        "input": {"path": f"{page.stem}.csv"},
        "schema": before.schema,
        "require": guaranteed if require is None else build_all("model", require),
        "step": [Step(method.name, method) for method in methods],
        "measure": measures,
    }

    def build_release(reasons: Mapping[str, str]) -> Release:
        policy = Policy.of({**sections, "guard": {"acknowledge": dict(reasons)}})
        return finish(with_record_ids(before), with_record_ids(after), policy, fresh_seed())

    try:
        release = build_release(acknowledge or {})
    except GuardError as refusal:
        if not refusal.sightings:
            raise
        warnings.warn(f"the page says what the guard has seen; a release would stop here: {refusal}", stacklevel=2)
        reasons = {sighting.column: NO_REASON for sighting in refusal.sightings}
        release = build_release(reasons | dict(acknowledge or {}))
    text = render(release, edition=edition, language=language)
    if page.suffix.lower() in FORMS:
        return export_text(text, page, overwrite=overwrite)
    with replace_file(page) as draft:
        draft.write_text(text, encoding="utf-8")
    return page
