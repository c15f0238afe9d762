"""Dates as universities write them; month first where only numbers are given."""

import contextlib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.spellings import Unreadable, date_of

SIXTH = date(2021, 1, 6)


@pytest.mark.parametrize(
    "text",
    [
        "2021-01-06",
        "2021/1/6",
        "20210106",
        "Jan 06, 2021",
        "January 6, 2021",
        "Jan. 6 2021",
        "6 January 2021",
        "06-JAN-2021",
        "06-JAN-21",
        "6th Jan 2021",
        "01/06/2021",
        "1/6/21",
        "1-6-2021",
        "Wed, Jan 6, 2021",
        "2021-01-06T00:00:00",
        "2021-01-06 00:00",
    ],
)
def test_a_date_is_read(text: str) -> None:
    assert date_of(text) == SIXTH


@pytest.mark.parametrize("text", ["", "TBA", "n/a"])
def test_no_date_is_none(text: str) -> None:
    assert date_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "13/01/2021",
        "2021-02-30",
        "Janx 6, 2021",
        "Smarch 13, 2021",
        "2021",
        "0001-01-01",
        "soon",
        "2021-01-06T10:00",
    ],
)
def test_what_is_no_date_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable, match=r"not a date|not a year"):
        date_of(text)


@given(st.dates(date(1950, 1, 1), date(2150, 1, 1)))
def test_every_date_is_read_in_every_spelling(day: date) -> None:
    for spelling in ("%Y-%m-%d", "%b %d, %Y", "%d %B %Y", "%m/%d/%Y", "%a %B %d, %Y", "%d-%b-%Y"):
        assert date_of(day.strftime(spelling)) == day


@given(st.text(max_size=80))
def test_no_text_crashes_it(text: str) -> None:
    with contextlib.suppress(Unreadable):
        date_of(text)
