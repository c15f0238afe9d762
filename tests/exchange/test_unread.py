"""Values that an import could not read are named until someone has entered them."""

from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog.models import Section, Term
from portal.catalog.sections import SeenSection, change_status
from portal.core.db import transaction
from tests.cast import Cast
from tests.exchange.campus import Campus
from tests.exchange.semester_files import exported, set_section, updated
from tests.exchange.semester_files import section as the
from tests.web import pages
from tests.web.admin.sections.forms import change, text_of

pytestmark = pytest.mark.usefixtures("backend")
SENTENCE = "Special permission of the Dean"
SAID = f"could not read: restrictions: “{SENTENCE}”."


def put_in(folder: Path, campus: Campus) -> None:
    updated(campus.write(folder))


def campus(restrictions: str = SENTENCE, **section: str) -> Campus:
    found = Campus(restrictions=restrictions, **section)
    found.columns["sections.csv"] += " restrictions"
    return found


def at(boss: FlaskClient, page: str = "", crn: str = "10001") -> str:
    """A page of the section."""
    found = the(crn)
    return text_of(boss.get(f"/admin/terms/{found.term_id}/sections/{found.id}{page}"))


def test_a_drafts_page_and_its_publishing_name_what_was_not_read(
    boss: FlaskClient, tmp_path: Path
) -> None:
    put_in(tmp_path, campus().section("10002"))
    assert the().status == "NEW"
    for page in ("", "/publish"):
        assert SAID in at(boss, page)
        assert "The import of " in at(boss, page)
        assert "could not read" not in at(boss, page, "10002")


def test_days_times_and_dates_are_named(boss: FlaskClient, tmp_path: Path) -> None:
    wrong = {
        "meetings: “XX”.": {"days": "XX"},
        "meetings: “soon”.": {"date_start": "soon"},
        "meetings: “noonish”.": {"start_time": "noonish"},
        "meetings: One of the two times is missing. start_time: 2:00PM, end_time: (blank).": {
            "end_time": ""
        },
        "meetings: It ends before it starts: 2:00PM to 1:00PM.": {"end_time": "1:00PM"},
        "meetings: There is a time but no days: 2:00PM to 3:50PM.": {"days": ""},
    }
    files = Campus()
    for crn, meeting in enumerate(wrong.values(), 10002):
        files.section(f"{crn}", meeting)
    put_in(tmp_path, files)
    for crn, said in enumerate(wrong, 10002):
        assert said in at(boss, crn=f"{crn}")


def test_numbers_are_named_before_a_draft_is_published(boss: FlaskClient, tmp_path: Path) -> None:
    wrong = {
        "10002": ({"credits": "four"}, "credits: “four”."),
        "10003": ({"enrolled": "x", "remaining": ""}, "seats taken: “x”."),
        "10004": ({"wait_capacity": "many"}, "waitlist capacity: “many”."),
    }
    files = Campus()
    for crn, (section, _said) in wrong.items():
        files.section(crn, **section)
    put_in(tmp_path, files)
    assert the().status == "OPEN"
    for crn, (_section, said) in wrong.items():
        assert the(crn).status == "NEW"
        for page in ("", "/publish"):
            assert f"could not read: {said}" in at(boss, page, crn)
    put_in(tmp_path, files)
    for crn, (_section, said) in wrong.items():
        assert the(crn).status == "NEW"
        assert said in at(boss, crn=crn)


def test_prerequisites_and_rows_of_restrictions_are_named(
    boss: FlaskClient, tmp_path: Path
) -> None:
    campus = Campus().restriction("must_be", "mood", "X")
    campus.prerequisites = {"10001": {"prerequisites": ["CSC ???"]}}
    put_in(tmp_path, campus)
    assert "restrictions: “mood”" in at(boss)
    assert "prerequisites: " in at(boss)


def test_a_doubtful_list_is_named_at_each_section_that_has_it(
    boss: FlaskClient, tmp_path: Path
) -> None:
    sentence = "Must be enrolled in one of the following Majors: Biology, Chemistry"
    put_in(tmp_path, campus(sentence).section("10002", restrictions=sentence))
    for crn in ("10001", "10002"):
        assert the(crn).status == "NEW"
        assert "restrictions: “Biology, Chemistry”." in at(boss, crn=crn)


def test_what_a_later_file_says_is_settled(boss: FlaskClient, tmp_path: Path) -> None:
    put_in(tmp_path, campus())
    put_in(tmp_path, campus(capacity="45"))
    assert SAID in at(boss)
    levels = "Must be enrolled in one of the following Levels: Graduate"
    put_in(tmp_path, campus(levels))
    assert "could not read" not in at(boss)


READ = "have been read or entered since. You can publish the section."


def test_the_same_value_with_a_code_is_settled(boss: FlaskClient, tmp_path: Path) -> None:
    sentence = "Must be enrolled in one of the following Majors: Biology, Applied"
    put_in(tmp_path, campus(sentence))
    put_in(tmp_path, campus(f"{sentence} (BIA)"))
    assert "could not read" not in at(boss)
    assert READ in at(boss)
    assert the().status == "NEW"
    section = the()
    page = boss.get(f"/admin/terms/{section.term_id}/sections/{section.id}").text
    assert page.count('href="/admin/imports/') == 1  # the second import changed nothing


GUESSED = {
    "10002": ({"credits": "four"}, {"credits": "4"}),
    "10003": ({"wait_capacity": "many"}, {"wait_capacity": "10"}),
    "10004": ({"status": "Tentative"}, {"status": "Active"}),
}


def guessed(files: Campus, *, right: bool) -> Campus:
    """Add sections with values that are guessed, or with the right ones instead."""
    for crn, values in GUESSED.items():
        files.section(crn, **values[right])
    return files


def test_the_value_that_was_guessed_is_settled(boss: FlaskClient, tmp_path: Path) -> None:
    put_in(tmp_path, guessed(Campus(), right=False))
    for crn in GUESSED:
        assert "could not read" in at(boss, crn=crn)
        assert READ not in at(boss, crn=crn)
    put_in(tmp_path, guessed(Campus(), right=True))
    for crn in GUESSED:
        assert "could not read" not in at(boss, crn=crn)
        assert READ in at(boss, crn=crn)


def test_what_is_as_the_portal_exported_it_settles_nothing(
    boss: FlaskClient, tmp_path: Path
) -> None:
    doubtful = campus("Must be enrolled in one of the following Majors: Biology, Applied")
    put_in(tmp_path, guessed(doubtful, right=False))
    changes, report = updated(exported(tmp_path / "exported"))
    assert changes == {}
    assert not report.of("major_added")
    for crn in ("10001", *GUESSED):
        assert "could not read" in at(boss, crn=crn)
        assert READ not in at(boss, crn=crn)


def test_an_edited_cell_of_an_export_is_settled(boss: FlaskClient, tmp_path: Path) -> None:
    put_in(tmp_path, Campus(credits="four"))
    files = exported(tmp_path / "exported")
    set_section(files, "credits", "3")
    updated(files)
    assert READ in at(boss)


def test_a_meeting_is_settled_once_its_row_is_read(boss: FlaskClient, tmp_path: Path) -> None:
    wrong = Campus().meets(days="XX", location="Hall 1")
    put_in(tmp_path, wrong)
    put_in(tmp_path, wrong)
    assert "meetings: “XX”" in at(boss)
    put_in(tmp_path, Campus().meets(location="Hall 1"))
    assert READ in at(boss)


def test_seats_taken_are_not_settled_by_a_file_that_can_not_change_them(
    boss: FlaskClient, tmp_path: Path
) -> None:
    put_in(tmp_path, Campus(enrolled="x", remaining=""))
    put_in(tmp_path, Campus())
    assert "seats taken: “x”" in at(boss)


def test_what_an_admin_enters_is_settled(boss: FlaskClient, tmp_path: Path) -> None:
    put_in(tmp_path, campus())
    change(boss, the(), note="Soon")
    assert SAID in at(boss)
    change(boss, the(), restrictions="must be level: Graduate")
    assert "could not read" not in at(boss)


def test_what_was_published_is_settled(boss: FlaskClient, tmp_path: Path, cast: Cast) -> None:
    put_in(tmp_path, campus())
    for action in ("publish", "unpublish"):
        found = the()
        change_status(action, [SeenSection(found.term_id, found.id, found.version)], cast.max.id)
    assert the().status == "NEW"
    assert "could not read" not in at(boss)


def test_several_and_the_term_count_and_name_them(boss: FlaskClient, tmp_path: Path) -> None:
    put_in(tmp_path, campus().section("10002"))
    with transaction() as session:
        session.execute(update(Section).values(status="NEW"))
        session.execute(update(Term).values(state="draft"))
    term, said = the().term_id, "1 draft has values that an import could not read: CSC 225-01."
    assert said in text_of(boss.get(f"/admin/terms/{term}/publish"))
    form = {"section": [str(the(crn).id) for crn in ("10001", "10002")], "change": "publish"}
    page = text_of(pages.send(boss, f"/admin/terms/{term}/sections/several", form))
    assert said in page
    assert page.count(SAID) == 1
