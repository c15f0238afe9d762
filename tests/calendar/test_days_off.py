"""Days without classes: days in a row under one name are one break."""

from datetime import date

from portal.backend import Backend
from portal.calendar.models import DayOff
from portal.calendar.timetable import Break, breaks, join_days
from portal.core.db import transaction
from tests import cast as builders

NOV = {day: date(2030, 11, day) for day in range(1, 31)}


def test_days_in_a_row_are_one_break() -> None:
    days = [(NOV[28], "Thanksgiving"), (NOV[27], "Thanksgiving"), (NOV[29], "Thanksgiving")]
    assert join_days(days) == (Break("Thanksgiving", NOV[27], NOV[29]),)


def test_a_gap_or_another_name_begins_another_break() -> None:
    days = [(NOV[1], "Rest"), (NOV[3], "Rest"), (NOV[4], "Feast")]
    assert join_days(days) == (
        Break("Rest", NOV[1], NOV[1]),
        Break("Rest", NOV[3], NOV[3]),
        Break("Feast", NOV[4], NOV[4]),
    )


def test_they_are_those_of_the_term(backend: Backend) -> None:  # noqa: ARG001
    fall, spring = builders.a_term(), builders.a_term("Spring 2031")
    with transaction() as session:
        session.add(DayOff(term_id=fall.id, day=NOV[11], name="Veterans Day"))
    assert breaks(fall.id) == (Break("Veterans Day", NOV[11], NOV[11]),)
    assert breaks(spring.id) == ()
