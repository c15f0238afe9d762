"""The portal finds the same time conflicts as the ledger."""

from collections.abc import Iterator
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.backend import Backend
from portal.catalog.time_conflicts import clash, clash_in_words
from portal.catalog.views import MeetingView
from portal.windows.warmup import days_since
from tests.ledger.requests import Desk
from tests.registration.makers import a_meeting, a_view

FIRST = date(2030, 8, 26)
days = st.integers(0, 20).map(lambda number: FIRST + timedelta(number))
spans = st.tuples(days, days).map(sorted)
hours = st.tuples(st.integers(0, 5), st.integers(1, 3))


@st.composite
def meetings(draw: st.DrawFn) -> MeetingView:
    """Draw a meeting on some days and hours in three weeks."""
    (first, last), (start, length) = draw(spans), draw(hours)
    mask = draw(st.integers(1, 127))
    return a_meeting(mask, start, start + length, first=first, last=last)


def both_meet(one: MeetingView, other: MeetingView) -> bool:
    """Compare every minute of every day."""

    def times(meeting: MeetingView) -> set[tuple[date, int]]:
        length = (meeting.last - meeting.first).days + 1
        dates = (meeting.first + timedelta(number) for number in range(length))
        held = [day for day in dates if meeting.mask >> day.weekday() & 1]
        return {(day, at) for day in held for at in range(meeting.start or 0, meeting.end or 0)}

    return bool(times(one) & times(other))


def sections(one: MeetingView, other: MeetingView) -> bool:
    return clash(a_view("A-1", meetings=(one,)), a_view("B-1", meetings=(other,)))


@given(meetings(), meetings())
def test_sections_conflict_exactly_if_both_meet_in_one_minute(
    one: MeetingView, other: MeetingView
) -> None:
    assert sections(one, other) == both_meet(one, other)


@pytest.fixture
def desk(backend: Backend) -> Iterator[Desk]:
    desk = Desk(backend.settings.redis_url)
    desk.open_window()
    yield desk
    desk.redis.close()


@given(one=meetings(), other=meetings())
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_ledger_finds_the_same_conflicts(desk: Desk, one: MeetingView, other: MeetingView) -> None:
    desk.redis.flushall()
    desk.open_window()
    for section, meeting in ((1, one), (2, other)):
        desk.section(section, times=(as_the_ledger_has_it(meeting),))
    desk.claim(501, 1)
    codes = [reason.code for reason in desk.claim(501, 2).reasons]
    assert (codes == ["time_conflict"]) == sections(one, other)


def as_the_ledger_has_it(meeting: MeetingView) -> tuple[int, int, int, int, int]:
    dates = days_since(meeting.first), days_since(meeting.last)
    return (meeting.mask, meeting.start or 0, meeting.end or 0, *dates)


def test_meeting_without_a_time_has_no_conflict() -> None:
    assert not sections(a_meeting(start=None, end=None), a_meeting())


def test_all_conflicting_meetings_are_named() -> None:
    view = a_view("A-1", meetings=(a_meeting(1), a_meeting(2)))
    held = a_view("B-1", meetings=(a_meeting(3, 600, 780),))
    assert clash_in_words(view, held, "B 1-01") == (
        "It meets Mon 10:00–11:50 am and Tue 10:00–11:50 am, at the same time"
        " as your B 1-01 (Mon Tue 10:00 am–1:00 pm)."
    )
