"""Moments and the clocks on the wall."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.catalog.local_time import AmbiguousTime, LocalClock, SkippedTime
from portal.core.i18n import in_language

CLOCK = LocalClock(ZoneInfo("America/New_York"))


def ms(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> int:
    return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp() * 1000)


def test_a_local_time_is_read_in_the_zone_of_that_day() -> None:
    assert CLOCK.moment("2026-07-01T09:00") == ms(2026, 7, 1, 13)
    assert CLOCK.moment("2026-12-01T09:00") == ms(2026, 12, 1, 14)


def test_a_moment_is_written_with_its_day_and_zone() -> None:
    assert CLOCK.full(ms(2026, 11, 23, 14)) == "Mon, Nov 23, 2026, 9:00 am EST"
    assert CLOCK.full(ms(2026, 7, 4, 16, 5)) == "Sat, Jul 4, 2026, 12:05 pm EDT"
    assert CLOCK.full(ms(2026, 7, 4, 4, 5)) == "Sat, Jul 4, 2026, 12:05 am EDT"


def test_seconds_are_written_only_where_there_are_some() -> None:
    assert CLOCK.clock(ms(2026, 7, 4, 16, 5) + 7000) == "12:05:07 pm"
    assert CLOCK.field(ms(2026, 7, 4, 16, 5) + 7000) == "2026-07-04T12:05:07"


def test_a_time_that_was_skipped_is_refused() -> None:
    with pytest.raises(SkippedTime):
        CLOCK.moment("2026-03-08T02:30")


def test_it_says_between_what_a_time_was_skipped() -> None:
    before, after = CLOCK.jump("2026-03-08T02:30")
    assert CLOCK.full(before) == "Sun, Mar 8, 2026, 1:59 am EST"
    assert CLOCK.full(after) == "Sun, Mar 8, 2026, 3:00 am EDT"


def test_a_time_that_comes_twice_has_to_be_chosen() -> None:
    with pytest.raises(AmbiguousTime) as twice:
        CLOCK.moment("2026-11-01T01:30")
    first, second = twice.value.choices
    assert second - first == 60 * 60 * 1000
    assert CLOCK.moment("2026-11-01T01:30", second=False) == first
    assert CLOCK.moment("2026-11-01T01:30", second=True) == second


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01T00:00", "2026-01-01T00:00Z"])
def test_what_is_no_local_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        CLOCK.moment(text)


@given(st.integers(ms(2020, 1, 1) // 60_000, ms(2035, 1, 1) // 60_000))
def test_what_is_written_into_a_form_reads_back_as_the_same_moment(minute: int) -> None:
    moment = minute * 60_000
    choices = {CLOCK.moment(CLOCK.field(moment), second=which) for which in (False, True)}
    assert moment in choices


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("en", ["Mon, Nov 23, 2026, 9:00 am EST", "Nov 23", "on Mon, Nov 23, 9:00 am"]),
        ("es", ["lun, 23 nov 2026, 9:00 EST", "23 nov", "el lun, 23 nov, a las 9:00"]),
    ],
)
def test_a_moment_is_shown_in_the_readers_language(language: str, told: list[str]) -> None:
    moment, now = ms(2026, 11, 23, 14), ms(2026, 11, 20)
    with in_language(language):
        assert [CLOCK.full(moment), CLOCK.soon(moment, now), CLOCK.when(moment, now)] == told


def test_today_needs_no_day() -> None:
    moment, now = ms(2026, 11, 23, 14), ms(2026, 11, 23, 6)
    assert CLOCK.when(moment, now) == "at 9:00 am"
    assert CLOCK.moment_at(moment, now) == CLOCK.soon(moment, now) == "9:00 am"
    assert CLOCK.moment_at(moment, ms(2026, 11, 23, 4)) == "Mon, Nov 23, 9:00 am"


@pytest.mark.parametrize(
    ("language", "spoken"),
    [
        ("en", "9:00 am EST on Monday, November 23"),
        ("es", "9:00 EST del lunes, 23 de noviembre de 2026"),
    ],
)
def test_a_moment_is_spoken_in_full(language: str, spoken: str) -> None:
    with in_language(language):
        assert CLOCK.spoken(ms(2026, 11, 23, 14)) == spoken


def test_times_below_one_another_all_have_their_seconds() -> None:
    whole = datetime(2026, 11, 23, 14, tzinfo=UTC)
    assert CLOCK.short(whole) == "Nov 23, 9:00 am"
    assert CLOCK.exact(whole) == "Nov 23, 9:00:00 am"
