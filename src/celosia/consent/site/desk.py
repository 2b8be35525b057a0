"""State behind the pages of the publisher: the catalogue with its file, and the requests for data.

All checks run before anything is written.
"""

from __future__ import annotations

import threading
from pathlib import Path

from celosia.consent.owners.block_checks import refuse_unknown
from celosia.consent.owners.store import Preferences
from celosia.consent.publication.stored_requests import StoredRequest, answer, requests
from celosia.consent.rules.exchange import load
from celosia.consent.rules.matches import active
from celosia.consent.rules.rules import Catalogue, Inference, catalogue_of
from celosia.consent.site.pages import NO_CONTACT, About
from celosia.errors import DataError


class Desk:
    """Current catalogue with its file, the database that answers requests, and the folder of releases."""

    def __init__(
        self,
        catalogue: Catalogue,
        store: Preferences,
        *,
        path: str | Path | None = None,
        database: str | None = None,
        out: str | Path = "publications",
        about: About = NO_CONTACT,
    ) -> None:
        self.catalogue, self.store, self.about = catalogue, store, about
        self.database, self.out = database, Path(out)
        self._path = None if path is None else Path(path)
        self._lock = threading.Lock()

    @property
    def editable(self) -> bool:
        """Whether the catalogue can be changed, that is, has a file."""
        return self._path is not None

    def with_inference(self, data: dict[str, object], stored: Inference | None) -> Catalogue:
        """Return the catalogue with an inference changed or added; nothing is written."""
        others = [inference.model_dump() for inference in self.catalogue.inferences]
        if stored is None:
            others.append(data)
        else:
            others[[inference.id for inference in self.catalogue.inferences].index(stored.id)] = data
        return catalogue_of({"inferences": others, "taxonomy": dict(self.catalogue.taxonomy)})

    def without_inference(self, name: str) -> Catalogue:
        """Return the catalogue without an inference; raise if a data subject blocks it."""
        kept = tuple(inference for inference in self.catalogue.inferences if inference.id != name)
        smaller = self.catalogue.model_copy(update={"inferences": kept})
        refuse_unknown(self.store, smaller)
        return smaller

    def save(self, catalogue: Catalogue, seen: str, what: str) -> bool:
        """Write the catalogue to its file; return False if it has changed since the digest ``seen``, here or there."""
        from celosia.consent.rules.exchange import save

        if self._path is None:
            raise DataError("the catalogue was given without its file: it cannot be changed here.")
        refuse_unknown(self.store, catalogue)
        with self._lock:
            if seen != self.catalogue.digest() or load(self._path).digest() != seen:
                return False
            save(catalogue, self._path)
            self.catalogue = catalogue
        self.store.note("catalogue", "publisher", what)
        return True

    def active_inferences(self, asked: StoredRequest, catalogue: Catalogue | None = None) -> list[str]:
        """Return the inferences that a request makes possible; its query is parsed, not run."""
        from celosia.consent.publication.request import analyse
        from celosia.consent.publication.result import dialect_of, known_columns

        dialect = dialect_of(self.database) if self.database else "postgres"
        columns = known_columns(self.database, asked.sql, dialect)
        return list(active(analyse(asked.sql, catalogue or self.catalogue, dialect, columns)[1]))

    def consequences(self, catalogue: Catalogue) -> list[tuple[int, list[str], list[str]]]:
        """Return number, inferences before and after of the open requests for which a catalogue changes them."""
        from celosia.errors import CelosiaError

        out = []
        for number, asked in requests(self.store).items():
            if asked.status != "open":
                continue
            try:
                before, after = self.active_inferences(asked), self.active_inferences(asked, catalogue)
            except CelosiaError:  # the page of the request shows the error
                continue
            if before != after:
                out.append((number, before, after))
        return out

    def outlook(self, asked: StoredRequest) -> dict[str, object]:
        """Return the preview of a request."""
        from celosia.consent.publication.outlook import outlook

        return outlook(asked.request(), self._source(), self.catalogue, self.store)

    def publish(self, number: int) -> StoredRequest:
        """Carry out a stored request, and write the release into a directory of its own."""
        from dataclasses import replace

        from celosia.consent.publication.request import publish, write

        asked = requests(self.store)[number]
        if asked.status != "open":
            raise DataError(f"request {number} has been answered already.")
        place = self.out / f"request-{number:04d}"
        publication = publish(replace(asked.request(), measure=True), self._source(), self.catalogue, self.store)
        write(publication, place)
        return answer(self.store, number, "published", place.name)

    def _source(self) -> str:
        if self.database is None:
            raise DataError("no database was given to the server: start it with --database to answer requests.")
        return self.database
