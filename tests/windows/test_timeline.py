"""The timeline of windows."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.ledger.types import WindowView
from portal.windows.coverage import CoveredPeriod, GroupCoverage
from portal.windows.timeline import LETTER, WIDTH, Bar, Row, timeline

ZONE = ZoneInfo("America/New_York")
NOW = 1_795_000_000_000
MINUTE = 60_000
YEAR = 365 * 24 * 60


def window(opens: int, minutes: int, state: str = "scheduled") -> WindowView:
    begin = NOW + opens * MINUTE
    return WindowView(1, "Selection", begin, begin + minutes * MINUTE, state, {})


def bars(rows: list[Row]) -> list[list[Bar]]:
    return [row.bars for row in rows]


def test_timeline_without_windows_is_empty() -> None:
    assert timeline([], NOW, ZONE) is None


@given(st.lists(st.tuples(st.integers(-YEAR, YEAR), st.integers(1, YEAR)), min_size=1, max_size=6))
def test_everything_is_within_the_timeline(spans: list[tuple[int, int]]) -> None:
    drawing = timeline([window(*span) for span in spans], NOW, ZONE)
    assert drawing is not None
    assert drawing.now >= 0
    assert drawing.now <= WIDTH
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH + 4 for [bar] in bars(drawing.windows))
    assert 1 <= len(drawing.ticks) <= 10
    beyond = (tick for tick in drawing.ticks if tick.x + LETTER * len(tick.label) > WIDTH)
    assert all(tick.ends for tick in beyond)


@pytest.mark.parametrize(
    ("minutes", "labels"),
    [
        (30, "6:00 am, 6:15 am, 6:30 am, 6:45 am"),
        (100, "6:00 am, 7:00 am, 8:00 am"),
        (600, "6:00 am, 9:00 am, 12:00 pm, 3:00 pm"),
        (1400, "6:00 am, 12:00 pm, 6:00 pm, Nov 19, 6:00 am"),
        (4000, "12:00 pm, Nov 19, 12:00 pm, Nov 20, 12:00 pm, Nov 21"),
        (8000, "Nov 19, Nov 20, Nov 21, Nov 22, Nov 23, Nov 24"),
    ],
)
def test_axis_has_round_local_times(minutes: int, labels: str) -> None:
    drawing = timeline([window(0, minutes)], NOW, ZONE)
    assert drawing is not None
    assert [tick.label for tick in drawing.ticks] == labels.split(", ")


def test_canceled_window_is_not_drawn() -> None:
    canceled = window(10, YEAR, "canceled")
    assert timeline([canceled], NOW, ZONE) is None
    drawing = timeline([window(0, 60), canceled], NOW, ZONE)
    assert drawing is not None
    [[bar]] = bars(drawing.windows)
    assert bar.width > WIDTH / 2


@given(st.lists(st.tuples(st.integers(-YEAR, YEAR), st.integers(1, YEAR)), min_size=1, max_size=4))
def test_cohorts_are_drawn_below_the_windows(spans: list[tuple[int, int]]) -> None:
    windows = [window(*span) for span in spans]
    cover = [CoveredPeriod(each.opens, each.closes, 4, 0) for each in windows]
    drawing = timeline(
        windows, NOW, ZONE, [GroupCoverage("Undergraduate", "Senior", 4, 0, tuple(cover))]
    )
    assert drawing is not None
    [track] = drawing.cohorts
    assert track.y > max(row.y for row in drawing.windows)
    assert track.y < drawing.height
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH + 4 for bar in track.bars)


def test_a_level_with_the_name_of_its_year_is_named_once() -> None:
    lanes = [GroupCoverage(level, "Visiting", 4, 0, ()) for level in ("Visiting", "Graduate")]
    drawing = timeline([window(0, 60)], NOW, ZONE, lanes)
    assert drawing is not None
    assert [each.name for each in drawing.cohorts] == ["Visiting", "Visiting, Graduate"]


@given(st.integers(-YEAR, YEAR), st.integers(1, YEAR), st.sampled_from(["Senior", "Freshman"]))
def test_line_of_the_current_time_crosses_no_name(opens: int, minutes: int, year: str) -> None:
    lane = GroupCoverage("Undergraduate", year, 4, 0, ())
    drawing = timeline([window(opens, minutes)], NOW, ZONE, [lane])
    assert drawing is not None
    for named in (*drawing.cohorts, *drawing.windows):
        assert named.name_ends or not named.name_x <= drawing.now <= named.name_x + 7 * len(
            named.name
        )


def test_bar_shows_how_many_of_the_cohort_are_covered() -> None:
    counts = ((4, 0), (2, 0), (4, 1))
    cover = [CoveredPeriod(NOW + at, NOW + at + 1, *each) for at, each in enumerate(counts)]
    drawing = timeline(
        [window(0, 60)], NOW, ZONE, [GroupCoverage("", "Senior", 4, 0, tuple(cover))]
    )
    assert drawing is not None
    assert [bar.kind for bar in drawing.cohorts[0].bars] == ["all", "some", "twice"]
