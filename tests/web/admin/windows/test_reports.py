"""GET /admin/terms/<t>/windows/<w>/report, fairness, and both as CSV."""

import csv
import re
from html import unescape
from io import StringIO

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func

from portal.catalog.models import Section, Term
from portal.catalog.term_catalog import forget
from portal.ledger.types import WindowView
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim
from tests.notifications.stories import set_section
from tests.web.admin.windows.windows import address, closes
from tests.web.student.test_reserved_seats import changed

FILES = ("report.csv", "fairness.csv")
PAGES = ("report", "fairness")


@pytest.fixture
def section(term: Term) -> Section:
    """Return a section with one seat and a waitlist of one."""
    return builders.a_section(builders.a_course("CSC-1"), term, capacity=1, waitlist=1)


@pytest.fixture
def window(term: Term, section: Section, cast: Cast) -> WindowView:
    """Return a window in which Ada got the seat, Ben waits, and Cleo was refused."""
    found = builders.an_open_window(term)
    for student in (cast.ada, cast.ben, cast.cleo):
        claim(student, section, found)
    closes(term, found)
    return found


def words(client: FlaskClient, path: str) -> str:
    page = re.sub("<[^>]+>", " ", client.get(path).text.partition("<main")[2])
    return " ".join(unescape(page).split())


def rows(client: FlaskClient, path: str) -> list[list[str]]:
    answer = client.get(path)
    assert answer.mimetype == "text/csv"
    assert "attachment" in answer.headers["Content-Disposition"]
    return list(csv.reader(StringIO(answer.text.removeprefix("\ufeff"))))


def test_result_shows_sections_reasons_and_waiting_students(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    page = words(admin, address(window, term, "report"))
    assert "With a seat 1 33% of those who tried" in page
    assert "Waitlist full 1 1" in page
    assert "CSC 1-01" in page
    assert "Ben" in page


def test_result_names_a_deleted_section(
    admin: FlaskClient, term: Term, section: Section, window: WindowView
) -> None:
    set_section(section, status="CANCELED", deleted_at=func.now())
    forget()
    page = words(admin, address(window, term, "report"))
    assert "CSC 1-01" in page
    assert f"#{section.id}" not in page


def test_parts_of_a_bar_have_a_legend(admin: FlaskClient, term: Term, window: WindowView) -> None:
    page = words(admin, address(window, term, "fairness"))
    assert "Got their first choice Got another choice A full bar is all" in page


def test_report_shows_overfull_sections(
    admin: FlaskClient, term: Term, section: Section, window: WindowView
) -> None:
    assert "Over-enrolled" not in words(admin, address(window, term, "report"))
    found = builders.an_open_window(term)
    changed(section, capacity=0)
    closes(term, found)
    assert "Over-enrolled by 1" in words(admin, address(found, term, "report"))


def test_courses_are_written_as_elsewhere(admin: FlaskClient, term: Term, cast: Cast) -> None:
    section = builders.a_section(builders.a_course("ED-D-301"), term, capacity=1)
    found = builders.an_open_window(term)
    claim(cast.ada, section, found)
    closes(term, found)
    assert "ED-D 301-01" in words(admin, address(found, term, "report"))


def test_refusals_have_the_labels_of_opening_day(
    admin: FlaskClient, term: Term, cast: Cast, section: Section
) -> None:
    found = builders.an_open_window(term)
    for _again in range(2):
        claim(cast.ada, section, found)
    closes(term, found)
    for position in (address(found, term, "room"), address(found, term, "report")):
        assert "Already enrolled 1" in words(admin, position)


def test_underfilled_sections_are_listed_by_a_chosen_share(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    found = builders.an_open_window(term)
    wide = builders.a_section(builders.a_course("CSC-2"), term, capacity=4)
    claim(cast.ada, wide, found)
    closes(term, found)
    position = address(found, term, "report")
    assert "1 section CSC 2-01" in re.sub(
        r" (Section Seats .*?Refused)", "", words(admin, position)
    )
    assert "0 sections" in words(admin, f"{position}?under=25")


def test_report_of_one_student_works(admin: FlaskClient, term: Term, cast: Cast) -> None:
    found = builders.an_open_window(term, cohort={"students": [cast.ada.number]})
    claim(cast.ada, builders.a_section(builders.a_course("CSC-2"), term), found)
    closes(term, found)
    page = words(admin, address(found, term, "report"))
    assert "With a seat 1 100% of those who tried" in page
    assert "No refusals in this window." in page


def test_result_can_be_downloaded(
    admin: FlaskClient, term: Term, window: WindowView, section: Section
) -> None:
    found = rows(admin, address(window, term, "report.csv"))
    assert found[1] == ["CSC-1-01", section.crn, "1", "1", "1", "1", "1"]
    assert ["Waitlist full", "1", "1"] in found
    assert found[-1][-3:] == ["Ben", "1", ""]


def test_file_has_no_spreadsheet_formulas(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    odd = builders.an_open_window(term)
    course = builders.a_course("=1+1")
    claim(builders.a_student("eve"), builders.a_section(course, term), odd)
    closes(term, odd)
    cells = [cell for row in rows(admin, address(odd, term, "report.csv")) for cell in row]
    assert "'=1+1-02" in cells
    assert not any(cell.startswith("=") for cell in cells)
    assert window


def test_small_groups_are_hidden(admin: FlaskClient, term: Term, window: WindowView) -> None:
    page = words(admin, address(window, term, "fairness"))
    assert "Hidden (small groups): Freshman" in page
    found = rows(admin, address(window, term, "fairness.csv"))
    assert ["By class year", "Freshman", "hidden (small group)"] in found


def test_small_groups_are_hidden_in_the_result(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    page = words(admin, address(window, term, "report"))
    assert "Freshman, Undergraduate 4 hidden (small group)" in page
    found = rows(admin, address(window, term, "report.csv"))
    assert ["Freshman", "Undergraduate", "4", "hidden (small group)"] in found


def test_a_cohort_whose_year_is_its_level_is_named_once(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    found = builders.an_open_window(term)
    claim(builders.a_student("viv", year="Visiting", level="Visiting"), section, found)
    closes(term, found)
    page = words(admin, address(found, term, "report"))
    assert "Visiting 1 hidden (small group)" in page
    assert "Visiting, Visiting" not in page


def test_larger_groups_are_shown_with_numbers(admin: FlaskClient, term: Term) -> None:
    found = builders.an_open_window(term)
    section = builders.a_section(builders.a_course("CSC-2"), term, capacity=4, waitlist=0)
    for number in range(6):
        claim(builders.a_student(f"s{number}", year="Senior"), section, found)
    closes(term, found)
    assert "Senior, Undergraduate 6 6 4 4 0" in words(admin, address(found, term, "report"))
    position = address(found, term, "fairness")
    assert "Senior 6 67% 67% under 1 s –" in words(admin, position)
    assert '<rect class="bar-part" width="66.7"' in admin.get(position).text
    assert "style=" not in admin.get(position).text
    row = next(each for each in rows(admin, f"{position}.csv") if each[1] == "Senior")
    assert row == ["By class year", "Senior", "6", "4", "4", "0.0", "0.0", ""]


def test_majors_are_shown_by_name(admin: FlaskClient, term: Term) -> None:
    found = builders.an_open_window(term)
    section = builders.a_section(builders.a_course("CSC-2"), term, capacity=5)
    for number in range(5):
        claim(builders.a_student(f"m{number}", majors=("CSC",)), section, found)
    closes(term, found)
    assert "Field of CSC (CSC) 5 100%" in words(admin, address(found, term, "fairness"))


@pytest.mark.parametrize("page", PAGES)
def test_open_window_has_no_report(admin: FlaskClient, term: Term, page: str) -> None:
    window = builders.an_open_window(term)
    assert "No report yet." in words(admin, address(window, term, page))
    assert admin.get(address(window, term, f"{page}.csv")).status_code == 404


def test_canceled_window_says_so(admin: FlaskClient, term: Term) -> None:
    window = builders.a_coming_window(term)
    builders.backend().ledger.cancel_window(term.id, window.id, "tests")
    assert "canceled before it began" in words(admin, address(window, term, "report"))


@pytest.mark.parametrize("page", [*PAGES, *FILES])
def test_window_of_another_term_has_no_report(
    admin: FlaskClient, window: WindowView, page: str
) -> None:
    other = builders.a_term("Another")
    assert admin.get(address(window, other, page)).status_code == 404
