"""Two sections conflict if they meet at the same time on a day that both really have."""

from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from portal.ledger.types import Meeting
from tests.ledger.brute_force import minutes
from tests.ledger.requests import Desk, codes, meets

MON, TUE, WED, SUN = 1, 2, 4, 64
A_MONDAY = 18_505  # 2020-08-31
MORNING = meets(MON | WED, 9, 11)
numbers = count(1)
meetings = some.tuples(
    some.integers(0, 127),
    some.integers(0, 4),
    some.integers(1, 5),
    some.integers(0, 9),
    some.integers(0, 20),
).filter(lambda meeting: meeting[1] < meeting[2])
any_meetings = some.lists(meetings, max_size=3).map(tuple)


@pytest.mark.parametrize(
    ("other", "clashes"),
    [
        (meets(MON | WED, 9, 11), True),
        (meets(WED, 10, 12), True),
        (meets(WED, 8, 12), True),
        (meets(WED, 11, 12), False),  # begins as the other ends
        (meets(WED, 7, 9), False),
        (meets(TUE | SUN, 9, 11), False),
        (meets(MON, 9, 11, first=18_601, last=18_700), False),  # the other half of the term
        (meets(MON, 9, 11, first=18_600, last=18_700), False),  # they share one Saturday
        (meets(MON, 9, 11, first=A_MONDAY, last=A_MONDAY), True),
        (meets(WED, 9, 11, first=A_MONDAY, last=A_MONDAY + 1), False),
        (meets(WED, 9, 11, first=A_MONDAY, last=A_MONDAY + 2), True),
        (meets(MON, 9, 11, first=A_MONDAY - 6, last=A_MONDAY - 1), False),
        (meets(MON, 9, 11, first=A_MONDAY - 6, last=A_MONDAY), True),
    ],
)
def test_meetings_conflict_only_on_shared_days(desk: Desk, other: Meeting, clashes: bool) -> None:  # noqa: FBT001
    desk.section(1, times=(MORNING,))
    desk.section(2, times=(other,))
    desk.claim(501, 1)
    assert codes(desk.claim(501, 2)) == (["time_conflict"] if clashes else [])


def test_sunday_is_the_last_day_of_the_mask(desk: Desk) -> None:
    desk.section(1, times=(meets(SUN, 9, 11),))
    desk.section(2, times=(meets(SUN, 9, 11, first=A_MONDAY - 1, last=A_MONDAY - 1),))
    desk.section(3, times=(meets(SUN, 9, 11, first=A_MONDAY, last=A_MONDAY + 5),))
    desk.claim(501, 1)
    assert codes(desk.claim(501, 2)) == ["time_conflict"]
    assert codes(desk.claim(501, 3)) == []


def test_each_conflicting_section_is_named_once_in_order(desk: Desk) -> None:
    for section in (11, 9, 10):
        desk.section(section, times=(meets(MON, section, section + 1),))
        desk.claim(501, section)
    desk.section(20, times=(meets(MON, 9, 12), meets(MON, 9, 12)))
    refused = desk.claim(501, 20)
    assert [reason.facts for reason in refused.reasons] == [
        {"section": 9},
        {"section": 10},
        {"section": 11},
    ]


def test_section_without_times_has_no_conflict(desk: Desk) -> None:
    desk.section(1, times=(MORNING,))
    desk.section(2, times=())
    desk.claim(501, 2)
    assert codes(desk.claim(501, 1)) == []


def test_waitlisted_section_has_no_conflict(desk: Desk) -> None:
    desk.section(1, capacity=0, times=(MORNING,))
    desk.section(2, times=(MORNING,))
    desk.claim(501, 1)
    assert codes(desk.claim(501, 2)) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(some.tuples(any_meetings, any_meetings))
def test_sections_conflict_exactly_if_they_share_a_minute(
    desk: Desk, both: tuple[tuple[Meeting, ...], ...]
) -> None:
    first, second, student = next(numbers), next(numbers), next(numbers)
    desk.section(first, times=both[0])
    desk.section(second, times=both[1])
    desk.claim(student, first)
    shared = minutes(both[0]) & minutes(both[1])
    assert codes(desk.claim(student, second)) == (["time_conflict"] if shared else [])
