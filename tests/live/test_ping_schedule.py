"""Each page looks once a minute whether its browser is there, and not all of them at once."""

from portal.live.hub import CHECK_SECONDS, HealthRounds
from portal.live.page import Page
from portal.people.visitors import Visitor

ADA = Visitor(1, "Ada", frozenset(), None, frozenset(), 0)


def test_a_page_looks_once_in_each_minute() -> None:
    looks, page = HealthRounds(), Page(ADA, lambda: None)
    looks.go_on([page])
    for _ in range(3):
        assert [_looks(looks, page) for _ in range(CHECK_SECONDS)] == [False] * (
            CHECK_SECONDS - 1
        ) + [True]


def test_pages_that_came_in_different_seconds_look_in_different_ones() -> None:
    looks, early, late = HealthRounds(), Page(ADA, lambda: None), Page(ADA, lambda: None)
    looks.go_on([early])
    looks.go_on([early, late])
    while not _looks(looks, early, late):
        assert not late.due
    assert not late.due
    assert _looks(looks, late)


def _looks(looks: HealthRounds, page: Page, *others: Page) -> bool:
    """Return whether a page is to look in the next second."""
    page.due = False
    looks.go_on([page, *others])
    return page.due
