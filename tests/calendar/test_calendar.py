"""Classes as an iCalendar: what a program that reads it shows."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as some
from icalendar import Calendar

from portal.calendar.ical import render_calendar
from tests.calendar.makers import FALL, NEW_YORK, STAMP, a_class, occurrences, only, read

MONDAY = date(2030, 8, 26)


def test_a_class_has_its_name_room_instructor_and_number() -> None:
    event = only(read(a_class()))
    assert event["SUMMARY"] == "CSC 1100-01 Data Structures"
    assert event["LOCATION"] == "Alder Hall 1"
    assert event["DESCRIPTION"] == "Lecture\nWith Iris\nCRN 1001"
    assert event["STATUS"] == "CONFIRMED"


def test_it_begins_on_a_day_that_the_meeting_has() -> None:
    first, *_ = occurrences(only(read(a_class("TF"))))
    assert first == datetime(2030, 8, 27, 10, tzinfo=NEW_YORK)


def test_it_repeats_every_week_until_its_last_day() -> None:
    shown = occurrences(only(read(a_class("MR"))))
    assert {each.weekday() for each in shown} == {0, 3}
    assert shown[-1].date() == date(2030, 12, 19)
    assert len(shown) == 34


def test_half_a_term_has_its_own_dates() -> None:
    half = a_class("M", first=date(2030, 10, 21), last=date(2030, 12, 20))
    shown = [each.date() for each in occurrences(only(read(half)))]
    assert (shown[0], shown[-1]) == (date(2030, 10, 21), date(2030, 12, 16))


def test_days_off_are_left_out() -> None:
    labor_day, thanksgiving = date(2030, 9, 2), date(2030, 11, 28)
    event = only(read(a_class("MR", off=frozenset({labor_day, thanksgiving}))))
    shown = {each.date() for each in occurrences(event)}
    assert not shown & {labor_day, thanksgiving}
    assert len(shown) == 32
    assert event["EXDATE"].dts[0].dt == datetime(2030, 9, 2, 10, tzinfo=NEW_YORK)


def test_a_day_off_at_either_end_moves_the_end() -> None:
    event = only(read(a_class("M", off=frozenset({MONDAY, date(2030, 12, 16)}))))
    assert event["DTSTART"].dt.date() == date(2030, 9, 2)
    assert occurrences(event)[-1].date() == date(2030, 12, 9)
    assert "EXDATE" not in event


def test_a_class_with_nothing_but_days_off_is_not_there() -> None:
    gone = a_class("M", first=MONDAY, last=MONDAY, off=frozenset({MONDAY}))
    assert read(gone).walk("VEVENT") == []


def test_a_class_stays_at_its_hour_when_clocks_go_back() -> None:
    shown = occurrences(only(read(a_class("M"))))
    assert {(each.hour, each.minute) for each in shown} == {(10, 0)}
    before, after = (next(each for each in shown if each.month == month) for month in (10, 12))
    assert before.utcoffset() == timedelta(hours=-4)
    assert after.utcoffset() == timedelta(hours=-5)


def test_a_class_stays_at_its_hour_when_clocks_go_forward() -> None:
    spring = a_class("M", first=date(2030, 1, 14), last=date(2030, 5, 3))
    shown = occurrences(only(read(spring)))
    assert {(each.hour, each.minute) for each in shown} == {(10, 0)}
    utc = [each.astimezone(UTC).hour for each in shown]
    assert (utc[0], utc[-1]) == (15, 14)


def test_the_last_day_is_there_even_late_in_the_evening_after_a_change() -> None:
    late = a_class("F", "21:00", "22:50", last=date(2030, 11, 8))
    assert occurrences(only(read(late)))[-1] == datetime(2030, 11, 8, 21, tzinfo=NEW_YORK)


def test_a_reader_elsewhere_sees_the_same_moments() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    shown = [each.astimezone(berlin) for each in occurrences(only(read(a_class("W"))))]
    hours = {each.date(): each.hour for each in shown}
    assert hours[date(2030, 10, 23)] == 16
    assert hours[date(2030, 10, 30)] == 15  # Europe's clocks go back a week before America's
    assert hours[date(2030, 11, 6)] == 16


def test_its_zone_is_described_with_its_changes() -> None:
    [zone] = read(a_class()).walk("VTIMEZONE")
    assert zone["TZID"] == "America/New_York"
    built = zone.to_tz()
    for day, offset in ((date(2030, 8, 26), -4), (date(2030, 12, 2), -5)):
        assert datetime.combine(day, time(10), built).utcoffset() == timedelta(hours=offset)


def test_an_exam_is_an_event_of_its_own_with_its_name() -> None:
    day = date(2030, 12, 18)
    final = a_class("W", "18:00", "19:50", exam=True, kind="TES", first=day, last=day)
    event = only(read(final))
    assert event["SUMMARY"] == "CSC 1100-01 Test block"
    assert occurrences(event) == [datetime(2030, 12, 18, 18, tzinfo=NEW_YORK)]


def test_an_exam_is_held_even_on_a_day_without_classes() -> None:
    day = date(2030, 12, 18)
    final = a_class("W", exam=True, first=day, last=day, off=frozenset({day}))
    assert len(occurrences(only(read(final)))) == 1


def test_an_exam_block_is_described_and_blocks_no_day() -> None:
    kept = a_class("W", "18:00", "19:50", position=1, exam=True, kind="TES")
    event = only(read(a_class(), kept))
    assert "Reserved for exams: Wed 6:00–7:50 pm" in event["DESCRIPTION"]


def test_a_canceled_section_says_so() -> None:
    event = only(read(a_class(canceled=True)))
    assert event["STATUS"] == "CANCELLED"
    assert event["SUMMARY"] == "Canceled: CSC 1100-01 Data Structures"


def test_ids_stay_and_a_change_counts_up() -> None:
    before, after = only(read(a_class())), only(read(a_class("W", version=4, room="Birch Hall 2")))
    assert before["UID"] == after["UID"] == "section-12-meeting-0@fairseat"
    assert (before["SEQUENCE"], after["SEQUENCE"]) == (3, 4)


def test_every_meeting_has_an_id_of_its_own() -> None:
    events = read(a_class(), a_class("F", position=1), a_class(section=13)).walk("VEVENT")
    assert len({event["UID"] for event in events}) == 3


def test_it_is_the_same_however_often_it_is_written() -> None:
    classes = [a_class(), a_class("F", position=1)]
    texts = {render_calendar(classes, "Classes", NEW_YORK, STAMP) for _ in range(3)}
    assert len(texts) == 1
    assert b"DTSTAMP:20300501T120000Z" in texts.pop()


def test_nothing_makes_an_empty_calendar() -> None:
    empty = read()
    assert isinstance(empty, Calendar)
    assert empty.walk("VEVENT") == []
    assert empty["X-WR-CALNAME"] == "Classes"


spans = some.tuples(some.integers(0, 120), some.integers(0, 60))


@given(
    some.text("MTWRFSU", min_size=1, max_size=4).map(lambda days: "".join(sorted(set(days)))),
    spans,
    some.frozensets(some.integers(0, 180), max_size=20),
)
def test_a_reader_shows_exactly_the_days_that_are_held(
    days: str, span: tuple[int, int], off: frozenset[int]
) -> None:
    first = FALL["first"] + timedelta(days=span[0])
    last = first + timedelta(days=span[1])
    free = frozenset(FALL["first"] + timedelta(days=number) for number in off)
    every = [first + timedelta(days=number) for number in range(span[1] + 1)]
    due = [day for day in every if "MTWRFSU"[day.weekday()] in days and day not in free]
    events = read(a_class(days, first=first, last=last, off=free)).walk("VEVENT")
    shown = [each.date() for event in events for each in occurrences(event)]
    assert shown == due
