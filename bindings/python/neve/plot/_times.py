# SPDX-License-Identifier: BSD-3-Clause
"""Times as netCDF files have them: numbers in "days since 1990-01-01" and a calendar."""

from __future__ import annotations

import re
from dataclasses import dataclass

_UNITS = re.compile(r"\s*(\w+?)s?\s+since\s+(.+)", re.IGNORECASE)
_DATE = re.compile(
    r"\s*(-?\d{1,6})-(\d{1,2})-(\d{1,2})(?:[T\s]+(\d{1,2})(?::(\d{1,2}))?(?::([\d.]+))?)?"
)
_SECONDS = {
    **dict.fromkeys(("second", "sec", "s"), 1),
    **dict.fromkeys(("minute", "min"), 60),
    **dict.fromkeys(("hour", "hr", "h"), 3600),
    **dict.fromkeys(("day", "d"), 86400),
}
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY = 86400
_LATEST = 1e16  # seconds that have a date; a float holds no later ones exactly


@dataclass(frozen=True)
class Clock:
    """What a number in these units means. Only calendars whose rule is plain are known."""

    seconds: int  # of one unit
    origin: float  # seconds since the calendar's year 0
    calendar: str

    def date(self, value: float) -> str:
        """ "1990-06-15 12:00", without the time of day where it is midnight."""
        seconds = self.origin + value * self.seconds
        if not abs(seconds) < _LATEST:
            return f"{value:g}"
        total = round(seconds)
        days, second = divmod(total, _DAY)
        year, month, day = _date_of(days, self.calendar)
        text = f"{year:04d}-{month:02d}-{day:02d}"
        hours, second = divmod(second, 3600)
        minutes, second = divmod(second, 60)
        if hours or minutes or second:
            text += f" {hours:02d}:{minutes:02d}" + (f":{second:02d}" if second else "")
        return text

    def number(self, date: str) -> float | None:
        """In the clock's units; None where the text is no date."""
        seconds = _seconds_of(date, self.calendar)
        return None if seconds is None else (seconds - self.origin) / self.seconds


def clock_of(units: str, given: str) -> Clock | None:
    """None where the units are not of time, or the calendar `given` is not known here."""
    match = _UNITS.match(units)
    calendar = _plain_name(given)
    if match is None or not calendar:
        return None
    seconds = _SECONDS.get(match[1].lower())
    origin = _seconds_of(match[2], calendar)
    if seconds is None or origin is None:
        return None
    is_mixed = calendar == "gregorian" and "proleptic" not in given.lower()
    if is_mixed and origin < _REFORM:
        return None  # Julian before the reform, Gregorian after it
    return Clock(seconds, origin, calendar)


def is_time(units: str) -> bool:
    return _UNITS.match(units) is not None


def _plain_name(calendar: str) -> str:
    calendar = calendar.lower()
    same = {
        **dict.fromkeys(("", "standard", "gregorian", "proleptic_gregorian"), "gregorian"),
        **dict.fromkeys(("noleap", "365_day"), "365_day"),
        "360_day": "360_day",
    }
    return same.get(calendar, "")


def _seconds_of(date: str, calendar: str) -> float | None:
    match = _DATE.match(date)
    if match is None:
        return None
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    hours, minutes, second = (float(text or 0) for text in match.groups()[3:])
    return _days_of(year, month, day, calendar) * _DAY + hours * 3600 + minutes * 60 + second


def _days_of(year: int, month: int, day: int, calendar: str) -> int:
    """Since the first of January of year 0."""
    if calendar == "360_day":
        return year * 360 + (month - 1) * 30 + day - 1
    days = year * 365 + sum(_MONTHS[: month - 1]) + day - 1
    if calendar == "gregorian":
        before = year if month > 2 else year - 1  # leap days of the years up to this one
        days += before // 4 - before // 100 + before // 400
    return days


def _date_of(days: int, calendar: str) -> tuple[int, int, int]:
    if calendar == "360_day":
        year, rest = divmod(days, 360)
        return year, rest // 30 + 1, rest % 30 + 1
    year = days // 366 if days >= 0 else days // 365 - 1  # at most the right one
    while _days_of(year + 1, 1, 1, calendar) <= days:
        year += max(1, (days - _days_of(year + 1, 1, 1, calendar)) // 366)
    month = 12
    while _days_of(year, month, 1, calendar) > days:
        month -= 1
    return year, month, days - _days_of(year, month, 1, calendar) + 1


_REFORM = _days_of(1582, 10, 15, "gregorian") * _DAY
