"""Mechanisms: answers with noise and a stated privacy cost."""

from __future__ import annotations

from typing import Any, ClassVar

from celosia.parts.part import Part


class Mechanism(Part):
    """A query answer with noise and a stated privacy cost."""

    kind: ClassVar[str] = "mechanism"
    home: ClassVar[str] = "celosia.mechanisms"

    def answer(self, *args: Any, **kwargs: Any) -> Any:
        """The noisy answer."""
        raise NotImplementedError
