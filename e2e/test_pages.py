"""Every page loads without a word of complaint from the browser."""

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders


@pytest.mark.parametrize("who", ["ada", "iris", "max"])
def test_no_page_breaks_its_own_rules(
    meet: Meet, term: Term, section: Section, last_seat: Section, who: str
) -> None:
    builders.an_open_window(term)
    a_section = f"/terms/{term.id}/sections/{section.id}"
    pages = {
        "ada": ["/", f"/terms/{term.id}", f"/terms/{term.id}/mine", f"{a_section}/pick"],
        "iris": ["/", "/teaching", f"/teaching/sections/{last_seat.id}"],
        "max": ["/", "/admin", f"/admin/terms/{term.id}/windows/new"],
    }
    person = meet(who)
    for address in pages[who]:
        answer = person.go(address)
        assert answer
        assert answer.ok
        assert "unsafe" not in answer.headers["content-security-policy"]
        person.page.wait_for_load_state("networkidle")
        expect(person.page.locator("h1").first).to_be_attached()


def test_a_page_that_does_not_exist_says_so(meet: Meet) -> None:
    ada = meet("ada")
    answer = ada.page.request.get("/no/such/page")
    assert answer.status == 404
    assert "Fairseat" in answer.text()
