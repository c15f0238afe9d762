"""The demo's days off are where an American university has them."""

from datetime import date

from portal.calendar.timetable import Break, join_days
from portal.exchange.demo import coming_term, days_off


def breaks(today: date) -> tuple[Break, ...]:
    """Those of the term for which students would select on that day."""
    _, first, last = coming_term(today)
    return join_days(days_off(first, last))


def test_fall_has_labor_day_a_break_and_thanksgiving() -> None:
    assert breaks(date(2026, 3, 1)) == (
        Break("Labor Day", date(2026, 9, 7), date(2026, 9, 7)),
        Break("Fall break", date(2026, 10, 12), date(2026, 10, 13)),
        Break("Thanksgiving break", date(2026, 11, 25), date(2026, 11, 27)),
    )


def test_spring_has_two_mondays_and_a_week() -> None:
    assert breaks(date(2026, 11, 21)) == (
        Break("Martin Luther King Jr. Day", date(2027, 1, 18), date(2027, 1, 18)),
        Break("Presidents’ Day", date(2027, 2, 15), date(2027, 2, 15)),
        Break("Spring break", date(2027, 3, 1), date(2027, 3, 5)),
    )
