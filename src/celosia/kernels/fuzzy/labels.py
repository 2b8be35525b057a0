"""Linguistic labels for the cells of a partition, from low to high, in English, Spanish and Catalan."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "es", "ca"]

# very low, low, medium, high, very high, and the word for a numbered level
_WORDS = {
    "en": ("very low", "low", "medium", "high", "very high", "level"),
    "es": ("muy bajo", "bajo", "medio", "alto", "muy alto", "nivel"),
    "ca": ("molt baix", "baix", "mitjà", "alt", "molt alt", "nivell"),
}
_PLACES = {1: (2,), 2: (1, 3), 3: (1, 2, 3), 4: (1, 2, 3, 4), 5: (0, 1, 2, 3, 4)}


def linguistic_labels(count: int, language: Language = "en") -> tuple[str, ...]:
    """Names for ``count`` cells in increasing order; above five they are numbered.

    >>> linguistic_labels(4)
    ('low', 'medium', 'high', 'very high')
    >>> linguistic_labels(3, "es"), linguistic_labels(5, "ca")
    (('bajo', 'medio', 'alto'), ('molt baix', 'baix', 'mitjà', 'alt', 'molt alt'))
    >>> linguistic_labels(6)[-1]
    'level 6'
    """
    words = _WORDS[language]
    if count in _PLACES:
        return tuple(words[place] for place in _PLACES[count])
    return tuple(f"{words[5]} {i + 1}" for i in range(count))
