"""The drawing of windows in time."""

from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from portal.admin.timeline import WIDTH, timeline
from portal.seats.answers import WindowView

ZONE = ZoneInfo("America/New_York")
NOW = 1_795_000_000_000
MINUTE = 60_000
YEAR = 365 * 24 * 60


def window(opens: int, minutes: int, state: str = "scheduled") -> WindowView:
    begin = NOW + opens * MINUTE
    return WindowView(1, "Selection", begin, begin + minutes * MINUTE, state, {})


def test_without_windows_there_is_nothing_to_draw() -> None:
    assert timeline([], NOW, ZONE) is None


@given(st.lists(st.tuples(st.integers(-YEAR, YEAR), st.integers(1, YEAR)), min_size=1, max_size=6))
def test_everything_lies_within_the_drawing(spans: list[tuple[int, int]]) -> None:
    drawing = timeline([window(*span) for span in spans], NOW, ZONE)
    assert drawing is not None
    assert drawing.now >= 0
    assert drawing.now <= WIDTH
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH + 4 for bar in drawing.bars)
    assert 1 <= len(drawing.ticks) <= 10


def test_a_canceled_window_is_drawn_as_such() -> None:
    drawing = timeline([window(10, 60, "canceled")], NOW, ZONE)
    assert drawing is not None
    assert drawing.bars[0].kind == "canceled"
