"""A student's pages look alike."""

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Term
from tests import cast as builders


def test_a_students_pages_have_one_kind_of_head_and_of_empty_list(meet: Meet, term: Term) -> None:
    builders.an_open_window(term)
    name = f"new{term.id}"
    builders.a_student(name)
    new = meet(name)
    here, sizes = f"/terms/{term.id}", set()
    pages = {"/mine": "My classes", "/plan": "My plan", "/schedule": "My schedule"}
    for address, title in pages.items():
        new.go(here + address)
        head = new.page.get_by_role("heading", level=1)
        expect(head).to_have_text(title)
        box = head.bounding_box()
        assert box
        sizes.add((box["x"], box["y"], box["height"]))
        empty = new.page.locator("main .empty:has(.empty-seat:visible)")
        empty.get_by_role("link").click()
        expect(new.page).to_have_url(here)
    assert len(sizes) == 1
    new.go("/inbox")
    new.page.get_by_role("link", name="Settings").click()
    expect(new.page.get_by_role("heading", level=1)).to_have_text("Email notifications")
