"""Days of the week as universities write them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog import formatting
from portal.catalog.spellings import Unreadable, days_of

NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MTWRF", "Mon Tue Wed Thu Fri"),
        ("MTWRFSU", "Mon Tue Wed Thu Fri Sat Sun"),
        ("S", "Sat"),
        ("U", "Sun"),
        ("SU", "Sat Sun"),
        ("Su", "Sun"),
        ("SaSu", "Sat Sun"),
        ("R", "Thu"),
        ("TR", "Tue Thu"),
        ("TTh", "Tue Thu"),
        ("TTH", "Tue Thu"),
        ("tth", "Tue Thu"),
        ("Tu Th", "Tue Thu"),
        ("TuTh", "Tue Thu"),
        ("TUTH", "Tue Thu"),
        ("TU", "Tue"),
        ("MTuWThF", "Mon Tue Wed Thu Fri"),
        ("M-W-F", "Mon Wed Fri"),
        ("M/W/F", "Mon Wed Fri"),
        ("M, W", "Mon Wed"),
        ("M W", "Mon Wed"),
        ("Mon Wed", "Mon Wed"),
        ("Mon, Wed & Fri", "Mon Wed Fri"),
        ("Monday and Wednesday", "Mon Wed"),
        ("Tues/Thurs", "Tue Thu"),
        ("MoWeFr", "Mon Wed Fri"),
        ("THU", "Thu"),
        ("WM", "Mon Wed"),
        ("M-F", "Mon Tue Wed Thu Fri"),
        ("Mon-Fri", "Mon Tue Wed Thu Fri"),
        ("Daily", "Mon Tue Wed Thu Fri"),
    ],
)
def test_days_are_read(text: str, expected: str) -> None:
    assert formatting.days(days_of(text)) == expected


@pytest.mark.parametrize("text", ["", " ", "TBA", "ARR", "online", "-"])
def test_no_days_are_none(text: str) -> None:
    assert days_of(text) == 0


@pytest.mark.parametrize("text", ["X", "MTWHF", "Someday", "12", "M9", "WEEK"])
def test_what_are_no_days_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable, match="is not a list of days"):
        days_of(text)


@given(st.integers(1, 127))
def test_every_week_is_read_in_every_spelling(mask: int) -> None:
    chosen = [day for day in range(7) if mask >> day & 1]
    spellings = [
        "".join("MTWRFSU"[day] for day in chosen),
        " ".join(NAMES[day] for day in chosen),
        "/".join(NAMES[day][:3].upper() for day in chosen),
        "".join(NAMES[day][:2] for day in chosen),
        formatting.days(mask),
    ]
    # "TU" alone is Tuesday, not Tuesday and Sunday.
    assert [days_of(each) for each in spellings if each != "TU"].count(mask) >= len(spellings) - 1


@given(st.text(max_size=80))
def test_no_text_crashes_it(text: str) -> None:
    with contextlib.suppress(Unreadable):
        assert 0 <= days_of(text) <= 127


def test_a_long_riddle_is_solved_at_once() -> None:
    assert days_of("TU" * 29) == 0b10
