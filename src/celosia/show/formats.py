"""Formats of numbers, shares, dates and durations in each language."""

from __future__ import annotations

import datetime as dt
import functools
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel import Locale

LOCALES = {"en": "en_GB", "es": "es_ES", "ca": "ca_ES"}


class Formats:
    """Formats of a language for templates: ``num``, ``share``, ``moment``, ``duration``, ``plural``."""

    def __init__(self, language: str) -> None:
        self.language = language

    @functools.cached_property
    def _locale(self) -> Locale:
        from babel import Locale

        return Locale.parse(LOCALES[self.language])

    def num(self, value: object, digits: int = 3) -> str:
        """Format a number: whole numbers in full, others with ``digits`` significant digits.

        >>> Formats("es").num(1234567), Formats("ca").num(0.123456), Formats("en").num(None)
        ('1.234.567', '0,123', '—')
        """
        from babel.numbers import format_decimal

        if not isinstance(value, int | float) or value != value:
            return "—"
        if value in (float("inf"), float("-inf")):
            return "∞" if value > 0 else "−∞"
        short = value if isinstance(value, int) or float(value).is_integer() else float(f"{value:.{digits}g}")
        return str(format_decimal(short, format="#,##0.##########", locale=self._locale))

    def share(self, value: object) -> str:
        """Format a share as a percentage, as :func:`number` does.

        >>> Formats("en").share(0.0512), Formats("es").share(0.0512), Formats("ca").share(None)
        ('5.1 %', '5,1 %', '—')
        """
        if not isinstance(value, int | float) or value != value:
            return "—"
        return number(value, percent=True, language=self.language)

    def moment(self, seconds: float) -> str:
        """Format a moment (seconds since 1970) in the local time of the machine."""
        from babel.dates import format_datetime

        return str(format_datetime(dt.datetime.fromtimestamp(seconds), "d MMM y, HH:mm", locale=self._locale))

    def duration(self, seconds: float | None) -> str:
        """Format a duration.

        >>> Formats("en").duration(90), Formats("ca").duration(2)
        ('2 minutes', '2 segons')
        """
        from babel.dates import format_timedelta

        return (
            ""
            if seconds is None
            else str(format_timedelta(dt.timedelta(seconds=seconds), threshold=1.2, locale=self._locale))
        )

    def plural(self, forms: dict[str, str], n: int, **more: object) -> str:
        """Return the form of a sentence for a number: ``{one = "{n} column", other = "{n} columns"}``."""
        form = forms.get(self._locale.plural_form(n)) or forms["other"]
        return form.format(n=self.num(n), **more)


@functools.cache
def formats(language: str) -> Formats:
    """Return the formats of a language."""
    return Formats(language)


def number(value: float, *, percent: bool = False, language: str = "en") -> str:
    """Format a number of a chart or a report: three significant digits, percentages with at most one decimal.

    Nothing that is more than nothing is shown as 0 %, and nothing that is less than everything as 100 %.

    >>> number(0.1234, percent=True), number(12918200.0), number(0.000123), number(5.0)
    ('12.3 %', '12,918,200', '0.000123', '5')
    >>> number(0.1234, percent=True, language="es"), number(12918200.0, language="ca"), number(0.5, language="es")
    ('12,3 %', '12.918.200', '0,5')
    >>> [number(share, percent=True) for share in (0.0, 0.00001, 0.2, 0.99999, 1.0)]
    ['0 %', '< 0.1 %', '20 %', '> 99.9 %', '100 %']
    """
    from babel.numbers import format_decimal

    if not math.isfinite(value):
        return formats(language).num(value)
    locale = LOCALES[language]
    if percent:
        sign, shown = "", 100 * value
        if 0 < value < 0.001:
            sign, shown = "< ", 0.1
        elif 0.9995 <= value < 1:
            sign, shown = "> ", 99.9
        return f"{sign}{format_decimal(shown, '#,##0.#', locale=locale)} %"
    if value == int(value) and abs(value) <= 1e15:
        return str(format_decimal(int(value), "#,##0", locale=locale))
    short = float(f"{value:.3g}") if abs(value) < 1000 else round(value)
    if not 1e-4 <= abs(short) <= 1e15:
        return f"{short:g}".replace(".", format_decimal(0.5, "0.0", locale=locale)[1])
    return str(format_decimal(short, "#,##0.##########", locale=locale))
