# SPDX-License-Identifier: BSD-3-Clause
"""Dates of times as netCDF files have them, against cftime."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.plot._times import clock_of, is_time

cftime = pytest.importorskip("cftime", reason="cftime comes with netCDF4")

UNITS = (
    "days since 1990-01-01",
    "hours since 1900-3-1 06:30",
    "seconds since 1970-01-01T00:00:00",
    "minutes since 2000-02-28 23:59:30",
)
CALENDARS = ("standard", "proleptic_gregorian", "noleap", "365_day", "360_day", "gregorian")


@pytest.mark.parametrize("calendar", CALENDARS)
@pytest.mark.parametrize("units", UNITS)
@given(value=st.integers(0, 60000))
def test_dates_are_those_of_cftime(units, calendar, value):
    clock = clock_of(units, calendar)
    assert clock is not None
    wanted = cftime.num2date(value, units, calendar)
    text = wanted.strftime("%Y-%m-%d %H:%M:%S").removesuffix(":00").removesuffix(" 00:00")
    assert clock.date(value) == text
    assert clock.number(text) == pytest.approx(value, abs=1e-9)


@given(value=st.integers(-800000, 800000))
def test_years_far_away(value):
    units = "days since 0001-01-01"
    clock = clock_of(units, "proleptic_gregorian")
    assert clock is not None
    if 0 <= value < 3000000:
        wanted = cftime.num2date(value, units, "proleptic_gregorian")
        assert clock.date(value) == wanted.strftime("%Y-%m-%d").rjust(10, "0")
    assert clock.number(clock.date(value).lstrip("+")) == value


def test_a_number_without_a_date():
    clock = clock_of("days since 1990-01-01", "")
    assert clock is not None
    assert [clock.date(v) for v in (1e300, float("inf"))] == ["1e+300", "inf"]
    assert clock.date(1e11).startswith("273792690-")


@pytest.mark.parametrize(
    ("units", "calendar"),
    [
        ("days since 0000-01-01", "standard"),  # Julian before the reform
        ("months since 1990-01-01", "standard"),  # of no fixed length
        ("days since 1990-01-01", "julian"),
        ("days since the flood", "standard"),
        ("days since 1990-13-01", "standard"),
        ("m", ""),
    ],
)
def test_what_has_no_plain_date_stays_a_number(units, calendar):
    assert clock_of(units, calendar) is None
    assert is_time(units) == ("since" in units)
