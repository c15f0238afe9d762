"""Each page checks once a minute whether its browser is there, and not all of them at once."""

from portal.live.hub import ask_to_check
from portal.live.page import CHECK_SECONDS, Page
from portal.people.visitors import Visitor

ADA = Visitor(1, "Ada", frozenset(), None, frozenset(), 0)


def a_page(came_at: float) -> Page:
    """A page that came at that second."""
    page = Page(ADA, lambda: None)
    page.check_at = came_at + CHECK_SECONDS
    return page


def checks(page: Page, *others: Page, at: float) -> bool:
    """Return whether the page is asked to check at that second."""
    page.check_due = False
    ask_to_check([page, *others], at)
    return page.check_due


def test_page_checks_once_in_each_minute() -> None:
    page = a_page(0)
    assert [at for at in range(200) if checks(page, at=at)] == [60, 120, 180]


def test_pages_that_came_in_different_seconds_check_in_different_ones() -> None:
    early, late = a_page(0), a_page(1)
    assert checks(early, late, at=60)
    assert not late.check_due
    assert checks(late, early, at=61)
