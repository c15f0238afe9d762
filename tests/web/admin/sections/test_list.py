"""GET /admin/terms/<t>/sections, …/deleted."""

from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.sections.forms import change, do, place, said
from tests.web.pages import press
from tests.web.visitors import browser_of


def listed(admin: FlaskClient, term: Term, query: str = "") -> str:
    return admin.get(f"/admin/terms/{term.id}/sections{query}").text


def test_a_canceled_section_says_so_once(admin: FlaskClient, section: Section, term: Term) -> None:
    do(admin, section, "cancel")
    page = listed(admin, term)
    row = page[page.index('class="section-row"') :].partition("</li>")[0]
    assert row.count("Canceled") == 1


def test_other_terms_are_a_link_away(admin: FlaskClient, section: Section) -> None:
    spring = builders.a_term("Spring 2031")
    page = admin.get(f"/admin/terms/{section.term_id}/sections").text
    assert f'href="/admin/terms/{spring.id}/sections">Spring 2031</a>' in page


def test_what_is_no_number_is_told(admin: FlaskClient, section: Section) -> None:
    address = f"/admin/terms/{section.term_id}/sections?fewer="
    assert "Enter a whole number." in admin.get(address + "abc").text
    assert "Enter a whole number." not in admin.get(address + "9").text


def test_sections_are_sifted_by_status(admin: FlaskClient, term: Term, section: Section) -> None:
    draft = builders.a_section(builders.a_course("MAT-1000"), term, status="NEW")
    page = listed(admin, term, "?status=NEW")
    assert place(draft) in page
    assert place(section) not in page


def test_sections_are_sifted_by_subject(admin: FlaskClient, term: Term, section: Section) -> None:
    other = builders.a_section(builders.a_course("MAT-1000"), term)
    page = listed(admin, term, "?subject=mat")
    assert place(other) in page
    assert place(section) not in page


def test_sections_that_few_have_taken_are_found(
    app: Flask, admin: FlaskClient, term: Term, section: Section
) -> None:
    empty = builders.a_section(builders.a_course("MAT-1000"), term)
    builders.a_section(builders.a_course("MAT-2000"), term, capacity=0)
    gone = builders.a_section(builders.a_course("MAT-3000"), term, status="CANCELED")
    press(browser_of(app, "ada"), section, "pick")
    page = listed(admin, term, "?fewer=1")
    assert place(empty) in page
    assert place(section) not in page
    assert place(gone) not in page
    assert "1 in Fall 2030" in page


def test_the_head_sums_up_seats_taken_and_waiting(
    app: Flask, admin: FlaskClient, term: Term, section: Section
) -> None:
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    assert "2 of 2 seats taken, 1 on waitlists" in listed(admin, term)


def test_what_is_asked_for_stays_from_page_to_page(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("MAT-1000")
    for _ in range(101):
        builders.a_section(course, term)
    page = listed(admin, term, "?q=mat&status=OPEN&fewer=5")
    assert "Page 1 of 2" in page
    assert "?q=mat&amp;status=OPEN&amp;fewer=5&amp;page=2" in page
    assert "MAT 1000-99" in listed(admin, term, "?q=mat&status=OPEN&fewer=5&page=2")


def test_nonsense_in_the_address_is_ignored(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    page = listed(admin, term, "?status=LOST&fewer=-1&page=99&subject=%00")
    assert place(section) in page


def test_who_has_a_part_in_a_confirmed_section_is_still_counted(
    app: Flask, admin: FlaskClient, term: Term, section: Section
) -> None:
    press(browser_of(app, "ada"), section, "pick")
    do(admin, section, "confirm")
    assert "1 taken, 0 on the waitlist" in listed(admin, term)


def test_a_deleted_section_is_listed_apart(admin: FlaskClient, term: Term) -> None:
    draft = builders.a_section(builders.a_course("MAT-1000"), term, status="NEW")
    apart = f"/admin/terms/{term.id}/sections/deleted"
    assert "No deleted sections." in admin.get(apart).text
    do(admin, draft, "delete")
    assert place(draft) not in listed(admin, term)
    assert place(draft) in admin.get(apart).text
    assert "Deleted" in said(admin.get(place(draft)))


def test_the_page_of_a_section_tells_what_has_been_done_and_by_whom(
    admin: FlaskClient, section: Section
) -> None:
    assert "No changes yet." in admin.get(place(section)).text
    change(admin, section, capacity=1, reason="The room is smaller.")
    told = said(admin.get(place(section)))
    assert "Changed" in told
    assert "· Max The room is smaller." in told


def test_the_page_of_a_section_shows_its_live_seats(
    app: Flask, admin: FlaskClient, section: Section, cast: Cast
) -> None:
    assert press(browser_of(app, "ada"), section, "pick").status_code == 303
    page = admin.get(place(section)).text
    assert f'id="seats-{section.id}"' in page
    assert f'data-live-term="{section.term_id}"' in page
    assert "1 of 2 seats taken, 0 on the waitlist." in said(admin.get(place(section)))
    assert cast.ada
