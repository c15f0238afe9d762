"""How windows cover each cohort."""

from typing import Any

import pytest

from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.windows.coverage import CoveredPeriod, GroupCoverage, coverage_by_group
from tests.cast import Cast, a_student

HOUR = 3_600_000


@pytest.fixture
def campus(cast: Cast) -> Cast:
    """Create four freshmen, two seniors (one majors in CSC), and a graduate."""
    a_student("eli", majors=("CSC",), year="Senior")
    a_student("fay", year="Senior")
    a_student("gus", level="Graduate", year="Second year")
    return cast


def window(
    number: int, opens: int, closes: int, state: str = "scheduled", **who: Any
) -> WindowView:
    return WindowView(number, "Selection", opens * HOUR, closes * HOUR, state, who)


def cover(*windows: WindowView) -> dict[str, GroupCoverage]:
    with transaction() as session:
        return {lane.year: lane for lane in coverage_by_group(session, windows)}


def test_cohorts_are_ordered_by_year(campus: Cast) -> None:
    assert list(cover()) == ["Freshman", "Senior", "Second year"]
    assert campus.ada


def test_students_without_a_window_are_counted(campus: Cast) -> None:
    found = cover(window(1, 0, 1, years=["Freshman"]), window(2, 0, 1, subjects=["CSC"]))
    assert {year: (lane.students, lane.without) for year, lane in found.items()} == {
        "Freshman": (4, 0),
        "Senior": (2, 1),
        "Second year": (1, 1),
    }
    assert campus.ada


def test_students_with_two_open_windows_are_counted(campus: Cast) -> None:
    found = cover(window(1, 0, 4), window(2, 2, 6, students=[campus.ada.number]))
    assert found["Freshman"].stretches == (
        CoveredPeriod(0, 2 * HOUR, 4, 0),
        CoveredPeriod(2 * HOUR, 4 * HOUR, 4, 1),
        CoveredPeriod(4 * HOUR, 6 * HOUR, 1, 0),
    )
    assert [lane.doubled(0) for lane in found.values()] == [1, 0, 0]


def test_consecutive_windows_leave_no_gap(campus: Cast) -> None:
    found = cover(window(1, 0, 2), window(2, 2, 4))
    assert found["Senior"].stretches == (CoveredPeriod(0, 4 * HOUR, 2, 0),)
    assert found["Senior"].gaps(0) == []
    assert campus.ada


def test_time_between_windows_is_a_gap(campus: Cast) -> None:
    found = cover(window(1, 0, 2), window(2, 3, 4, years=["Senior"]), window(3, 6, 7))
    assert found["Senior"].gaps(0) == [(2 * HOUR, 3 * HOUR), (4 * HOUR, 6 * HOUR)]
    assert found["Freshman"].gaps(0) == [(2 * HOUR, 6 * HOUR)]
    assert campus.ada


def test_canceled_window_covers_no_student(campus: Cast) -> None:
    assert cover(window(1, 0, 2, "canceled"))["Senior"].without == 2
    assert campus.ada


def test_past_periods_are_not_shown(campus: Cast) -> None:
    senior = cover(window(1, 0, 3), window(2, 1, 2), window(3, 5, 6))["Senior"]
    assert (senior.doubled(0), senior.gaps(0)) == (2, [(3 * HOUR, 5 * HOUR)])
    assert (senior.doubled(2 * HOUR), senior.gaps(5 * HOUR)) == (0, [])
    assert campus.ada
