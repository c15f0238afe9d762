"""The week as a grid: every meeting once on each of its days, and never two in one place."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as some

from portal.calendar.timetable import STEP, Day, Week, week
from tests.calendar.makers import Slot

MON, TUE, WED, FRI, SAT, SUN = 1, 2, 4, 16, 32, 64
NINE, TEN, ELEVEN = 540, 600, 660

starts = some.integers(0, 23 * 60)
slots = some.builds(
    lambda mask, start, length: Slot(mask, start, min(start + length, 24 * 60 - 1)),
    some.integers(1, 127),
    starts,
    some.integers(1, 300),
)
weeks = some.lists(slots, max_size=8)


def cells(day: Day) -> list[set[tuple[int, int]]]:
    """The lanes and lines of the grid that each block of a day takes."""
    return [
        {
            (lane, line)
            for lane in range(block.lane, block.lane + block.across)
            for line in range(block.top // STEP, (block.top + block.length) // STEP)
        }
        for block in day.blocks
    ]


def placed(found: Week, weekday: int = 0) -> list[tuple[int, int, int, int]]:
    """The blocks of a day as numbers: top, length, lane, lanes filled."""
    [day] = [each for each in found.days if each.weekday == weekday]
    return [(each.top, each.length, each.lane, each.across) for each in day.blocks]


@given(weeks)
def test_no_two_blocks_share_a_cell(meetings: list[Slot]) -> None:
    for day in week(meetings).days:
        assert all(not one & other for one, other in combinations(cells(day), 2))


@given(weeks)
def test_every_meeting_is_shown_once_on_each_of_its_days(meetings: list[Slot]) -> None:
    shown = [
        (id(block.content), day.weekday) for day in week(meetings).days for block in day.blocks
    ]
    due = [(id(each), day) for each in meetings for day in range(7) if each.mask >> day & 1]
    assert sorted(shown) == sorted(due)


@given(weeks)
def test_a_block_covers_its_time_and_stays_in_the_grid(meetings: list[Slot]) -> None:
    found = week(meetings)
    for day in found.days:
        for block in day.blocks:
            begins = found.first_hour * 60 + block.top
            assert begins <= block.content.start < begins + STEP
            assert begins + block.length - STEP < block.content.end <= begins + block.length
            assert 0 <= block.top < block.top + block.length <= found.hours * 60
            assert block.lane + block.across - 1 <= day.lanes
            assert block.top % STEP == block.length % STEP == 0


def test_nothing_makes_an_empty_grid() -> None:
    found = week([])
    assert found.hours == 0
    assert [day.weekday for day in found.days] == [0, 1, 2, 3, 4]


def test_days_of_the_weekend_are_there_only_if_used() -> None:
    assert [day.weekday for day in week([Slot(SUN, NINE, TEN)]).days] == [0, 1, 2, 3, 4, 6]
    assert [day.weekday for day in week([Slot(SAT | MON, NINE, TEN)]).days] == [0, 1, 2, 3, 4, 5]


def test_it_goes_from_one_full_hour_to_another() -> None:
    found = week([Slot(MON, NINE + 35, TEN), Slot(FRI, NINE + 50, ELEVEN + 5)])
    assert (found.first_hour, found.last_hour) == (9, 12)


def test_what_overlaps_stands_side_by_side() -> None:
    both = [Slot(MON, NINE, TEN + 30), Slot(MON, TEN, ELEVEN)]
    assert placed(week(both)) == [(0, 90, 1, 1), (60, 60, 2, 1)]


def test_what_follows_at_once_stands_below() -> None:
    both = [Slot(MON, NINE, TEN), Slot(MON, TEN, ELEVEN)]
    assert placed(week(both)) == [(0, 60, 1, 1), (60, 60, 1, 1)]


def test_what_overlaps_with_nothing_has_the_day_for_itself() -> None:
    early, late = Slot(MON, NINE, TEN), Slot(MON, NINE, TEN)
    alone = Slot(MON, ELEVEN, ELEVEN + 50)
    assert placed(week([early, late, alone]))[-1] == (120, 50, 1, 2)


def test_a_lane_that_is_free_again_is_used_again() -> None:
    long = Slot(WED, NINE, ELEVEN)
    first, second = Slot(WED, NINE, NINE + 50), Slot(WED, TEN, TEN + 50)
    assert placed(week([long, first, second]), weekday=2) == [
        (0, 50, 1, 1),
        (0, 120, 2, 1),
        (60, 50, 1, 1),
    ]


def test_odd_minutes_are_widened_to_the_grids_lines() -> None:
    assert placed(week([Slot(TUE, 603, 652)]), weekday=1) == [(0, 55, 1, 1)]
