"""A first look at the section picker takes few bytes, and nothing moves while counts stream in."""

import pytest

from e2e.contrast import PHONE
from e2e.courses import a_course
from e2e.page_speed import Phone, others_register
from e2e.person import Meet
from e2e.test_steady_pages import MOVES, WATCH
from portal.catalog.models import Term
from tests import cast as builders
from tests.cast import Meets

FIRST = 70_000  # bytes on the wire, headers included
AGAIN = 20_000
COUNTS = "[...document.querySelectorAll('.seats-text b')].map((it) => it.textContent).join()"
DAYS = ("MR", "TF", "W", "MTWR")


@pytest.fixture
def full_list(term: Term) -> Term:
    """A term whose picker shows a whole page of sections."""
    teacher = builders.an_instructor(f"teacher{term.id}")
    for number in range(60):
        course = a_course("LST")
        meets = Meets(DAYS[number % 4], f"{8 + number % 9:02}:00", f"{8 + number % 9:02}:50")
        builders.a_section(course, term, capacity=30, meetings=(meets,), instructor=teacher)
    builders.an_open_window(term, minutes=3000)
    return term


def test_picker_is_light_and_holds_still_while_others_register(meet: Meet, full_list: Term) -> None:
    ada, page = meet("ada", viewport=PHONE, has_touch=True), f"/terms/{full_list.id}"
    ada.page.add_init_script(WATCH)
    phone = Phone(ada.page, ada.page.context.new_cdp_session(ada.page))
    assert AGAIN < phone.visit(page) <= FIRST
    assert 0 < phone.visit(page) <= AGAIN
    ada.page.evaluate("moves.length = 0")  # a slow link may paint a row before all of it is here
    before = ada.page.evaluate(COUNTS)
    with others_register(full_list.id):
        ada.until(f"{COUNTS} !== {before!r}")
        ada.page.wait_for_timeout(2000)
    assert ada.page.evaluate(MOVES) == []
