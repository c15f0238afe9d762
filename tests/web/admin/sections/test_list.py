"""GET /admin/terms/<t>/sections, …/deleted."""

from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast, a_course, a_section, a_term
from tests.web.admin.sections.forms import address, change, do, text_of
from tests.web.pages import press
from tests.web.visitors import browser_of


def listed(admin: FlaskClient, term: Term, query: str = "") -> str:
    return admin.get(f"/admin/terms/{term.id}/sections{query}").text


def test_canceled_section_is_marked_once(admin: FlaskClient, section: Section, term: Term) -> None:
    do(admin, section, "cancel")
    page = listed(admin, term)
    row = page.partition("<tbody>")[2].partition("</tr>")[0]
    assert row.count("Canceled") == 1


def test_list_links_to_other_terms(admin: FlaskClient, section: Section) -> None:
    spring = builders.a_term("Spring 2031")
    page = admin.get(f"/admin/terms/{section.term_id}/sections").text
    assert f'href="/admin/terms/{spring.id}/sections">Spring 2031</a>' in page


def test_invalid_number_is_reported(admin: FlaskClient, section: Section) -> None:
    url = f"/admin/terms/{section.term_id}/sections?fewer="
    assert "Enter a whole number." in admin.get(url + "abc").text
    assert "Enter a whole number." not in admin.get(url + "9").text


def test_sections_are_filtered_by_status(admin: FlaskClient, term: Term, section: Section) -> None:
    draft = builders.a_section(builders.a_course("MAT-1000"), term, status="NEW")
    page = listed(admin, term, "?status=NEW")
    assert address(draft) in page
    assert address(section) not in page


def test_sections_are_filtered_by_subject(admin: FlaskClient, term: Term, section: Section) -> None:
    other = builders.a_section(builders.a_course("MAT-1000"), term)
    page = listed(admin, term, "?subject=mat")
    assert address(other) in page
    assert address(section) not in page


def test_underfilled_sections_are_found(
    app: Flask, admin: FlaskClient, term: Term, section: Section
) -> None:
    empty = builders.a_section(builders.a_course("MAT-1000"), term)
    builders.a_section(builders.a_course("MAT-2000"), term, capacity=0)
    gone = builders.a_section(builders.a_course("MAT-3000"), term, status="CANCELED")
    press(browser_of(app, "ada"), section, "pick")
    page = listed(admin, term, "?fewer=1")
    assert address(empty) in page
    assert address(section) not in page
    assert address(gone) not in page
    assert "1 in Fall 2030" in page


def test_heading_sums_up_seats_taken_and_waiting(
    app: Flask, admin: FlaskClient, term: Term, section: Section
) -> None:
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    page = text_of(admin.get(f"/admin/terms/{term.id}/sections"))
    assert "2 taken + 0 free + 0 reserved = 2 seats 1 on waitlists" in page


def test_filters_stay_from_page_to_page(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("MAT-1000")
    for _ in range(101):
        builders.a_section(course, term)
    page = listed(admin, term, "?q=mat&status=OPEN&fewer=5")
    assert "Page 1 of 2" in page
    assert "?page=2&amp;q=mat&amp;status=OPEN&amp;fewer=5" in page
    assert "MAT 1000-99" in listed(admin, term, "?q=mat&status=OPEN&fewer=5&page=2")


def test_invalid_filters_are_ignored(admin: FlaskClient, term: Term, section: Section) -> None:
    page = listed(admin, term, "?status=LOST&fewer=-1&page=99&subject=%00")
    assert address(section) in page


def test_students_of_a_confirmed_section_are_counted(
    app: Flask, admin: FlaskClient, term: Term, section: Section
) -> None:
    press(browser_of(app, "ada"), section, "pick")
    do(admin, section, "confirm")
    assert "1 taken, 0 on the waitlist" in listed(admin, term)


def test_deleted_section_is_listed_separately(admin: FlaskClient, term: Term) -> None:
    draft = builders.a_section(builders.a_course("MAT-1000"), term, status="NEW")
    apart = f"/admin/terms/{term.id}/sections/deleted"
    assert "No deleted sections." in admin.get(apart).text
    do(admin, draft, "delete")
    assert address(draft) not in listed(admin, term)
    assert address(draft) in admin.get(apart).text
    assert "Deleted" in text_of(admin.get(address(draft)))


def test_section_page_shows_its_audit_trail(admin: FlaskClient, section: Section) -> None:
    assert "No changes yet." in admin.get(address(section)).text
    change(admin, section, capacity=1, reason="The room is smaller.")
    answer = text_of(admin.get(address(section)))
    assert "Changed" in answer
    assert "· Max The room is smaller." in answer


def test_section_page_shows_live_seats(
    app: Flask, admin: FlaskClient, section: Section, cast: Cast
) -> None:
    assert press(browser_of(app, "ada"), section, "pick").status_code == 303
    page = admin.get(address(section)).text
    assert f'id="seats-{section.id}"' in page
    assert f'data-live-term="{section.term_id}"' in page
    shown = text_of(admin.get(address(section)))
    assert "1 taken + 1 free + 0 reserved = 2 seats 0 on the waitlist" in shown
    assert cast.ada


def test_every_section_is_listed_with_its_live_seats(app: Flask, cast: Cast) -> None:
    term = a_term()
    draft = a_section(a_course("CSC-1100"), term, capacity=30, status="NEW")
    page = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections").text
    assert "CSC-1100" in page
    assert "Draft" in page
    assert f'id="seats-{draft.id}"' in page
    assert f'data-live-term="{term.id}"' in page
    assert cast.max


def test_sections_are_searched(app: Flask, cast: Cast) -> None:
    term = a_term()
    for code in ("CSC-1100", "MTH-2000"):
        a_section(a_course(code), term)
    page = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections?q=mth").text
    assert "MTH-2000" in page
    assert "CSC-1100" not in page
    assert cast.max


def test_search_without_results_says_so(app: Flask, cast: Cast) -> None:
    term = a_term()
    page = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections?q=zzz&page=x").text
    assert "No section matches." in page
    assert cast.max
