"""Times of day as universities write them."""

from datetime import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.spellings import Unreadable, start_of, time_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4:00PM", time(16)),
        ("2:30 pm", time(14, 30)),
        ("2:30 p.m.", time(14, 30)),
        ("2.30pm", time(14, 30)),
        ("2:30p", time(14, 30)),
        ("2 PM", time(14)),
        ("14:30", time(14, 30)),
        ("14:30:00", time(14, 30)),
        ("1430", time(14, 30)),
        ("0930", time(9, 30)),
        ("930", time(9, 30)),
        ("230pm", time(14, 30)),
        ("13:00 PM", time(13)),
        ("12:00AM", time(0)),
        ("12:00PM", time(12)),
        ("noon", time(12)),
        ("  9:05   am ", time(9, 5)),
        ("\uff19:\uff13\uff10", time(9, 30)),  # full-width digits
        ("9\u00a0am", time(9)),
    ],
)
def test_a_time_is_read(text: str, expected: time) -> None:
    assert time_of(text) == expected


@pytest.mark.parametrize("text", ["", "  ", "TBA", "tba", "** TBA **", "TBD", "ARR", "n/a", "—"])
def test_a_time_to_be_announced_is_none(text: str) -> None:
    assert time_of(text) is None


@pytest.mark.parametrize(
    "text", ["24:00", "25:00", "14", "2:60pm", "13:00AM", "0:30am", "4pmm", "soon", "4:0", "-4:00"]
)
def test_what_is_no_time_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable, match="not a time"):
        time_of(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("8:00", time(8)), ("0800", time(8)), ("7:00", time(7)), ("13:00", time(13))),
        *(("1:00 am", time(1)), ("6:59a", time(6, 59)), ("noon", time(12)), ("00:00", time(0))),
        ("TBA", None),
    ],
)
def test_a_class_starts_at_any_hour_that_leaves_no_doubt(text: str, expected: time | None) -> None:
    assert start_of(text) == expected


@pytest.mark.parametrize("text", ["1:00", "01:00", "0659", "6:30"])
def test_a_start_that_may_be_in_the_afternoon_is_refused_by_name(text: str) -> None:
    with pytest.raises(Unreadable, match="lacks am or pm"):
        start_of(text)


@given(st.times())
def test_every_time_is_read_in_every_spelling(moment: time) -> None:
    moment = moment.replace(second=0, microsecond=0)
    for spelling in ("%H:%M", "%H%M", "%I:%M%p", "%I:%M %p", "%H:%M:00"):
        assert time_of(moment.strftime(spelling)) == moment


@given(st.text(max_size=80))
def test_no_text_crashes_it(text: str) -> None:
    try:
        found = time_of(text)
    except Unreadable:
        return
    assert found is None or found.second == 0
