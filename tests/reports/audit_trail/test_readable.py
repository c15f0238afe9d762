"""Entries are told in the words of the pages that they come from, not in codes."""

from html import unescape

from flask.testing import FlaskClient

from portal.core.db import transaction
from portal.exchange.importing.models import Import
from tests.cast import Cast
from tests.reports.audit_trail.conftest import an_entry
from tests.reports.audit_trail.test_entry import changed
from tests.web.pages import words

OPTIONS = {"layout": "semester", "term": "Fall 2030", "update": True, "past": False, "ends": None}
COUNTS = {
    "course": {"added": 3, "restored": 0, "changed": 0, "removed": 1, "unchanged": 9},
    "section": {"added": 0, "restored": 0, "changed": 0, "removed": 0, "unchanged": 2},
}


def an_import(cast: Cast) -> int:
    with transaction() as session:
        found = Import(account_id=cast.max.id, name="fall.zip", sha256="0", options=OPTIONS)
        found.state, found.expires_at = "done", "2030-01-01"
        session.add(found)
        session.flush()
        return found.id


def listed(admin: FlaskClient) -> str:
    return words(unescape(admin.get("/admin/audit").text))


def test_an_import_says_what_it_changed_and_what_was_chosen(admin: FlaskClient) -> None:
    output = changed(admin, an_entry(after={"counts": COUNTS, "options": OPTIONS}))
    assert output["Changes"] == ("–", "Courses: 3 added, 1 removed")
    settings = "Files: Semester files\nTerm: Fall 2030\nUpdate an existing term: Yes"
    assert output["Settings"] == ("–", settings)


def test_what_an_import_changed_is_in_the_readers_language(admin: FlaskClient) -> None:
    address = f"/admin/audit/{an_entry(after={'counts': COUNTS})}"
    page = unescape(admin.get(address, headers={"Accept-Language": "es"}).text)
    assert "Asignaturas: 3 añadidos" in page


def test_a_value_of_another_shape_is_shown_unchanged(admin: FlaskClient) -> None:
    output = changed(admin, an_entry(after={"counts": {"course": 3}, "queue": 7, "note": "x"}))
    assert output["Changes"] == ("–", '{"course": 3}')
    assert output["Queue"] == ("–", "7")


def test_an_import_is_named_by_its_file_and_leads_to_its_page(
    admin: FlaskClient, cast: Cast
) -> None:
    number = an_import(cast)
    entry = an_entry("import.apply", f"import:{number}")
    page = admin.get(f"/admin/audit/{entry}").text
    assert f'<a href="/admin/imports/{number}">{number}, fall.zip</a>' in page


def test_parts_of_the_portal_and_queues_have_the_names_of_operations(admin: FlaskClient) -> None:
    an_entry("flag.switched", "flag:live_push", before={"off": False}, after={"off": True})
    assert "Switch Live updates" in listed(admin)
    output = changed(admin, an_entry("job.retry", "job:x", before={"queue": "background"}))
    assert output["Queue"] == ("Background work: imports and audits", "–")


def test_a_line_shows_fields_that_were_blank(admin: FlaskClient) -> None:
    before = {"note": "", "reserves": "", "capacity": 4}
    after = {"note": "Bring a coat.", "reserves": "5 for Senior", "capacity": 4}
    an_entry("section.edit", "section:1", before=before, after=after)
    assert "Note: – → Bring a coat., Reserved seats: – → 5 for Senior" in listed(admin)


def test_a_line_shows_newly_shared_seats(admin: FlaskClient) -> None:
    shared = ["Numbers: 3 seats shared by", "CSC 1100-01", "MAT 1000-02"]
    an_entry("section.share", "section:1", before={"capacity": 4}, after={"shares": shared})
    assert "Shares seats" in listed(admin)
