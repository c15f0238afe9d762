"""A semester comes out as files that an import reads, to edit in a spreadsheet and import again."""

import io
import json
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete, func, select, update

from portal.catalog.models import Course, Meeting, Section, Term, section_instructors
from portal.catalog.spellings import days_of
from portal.core.db import transaction
from portal.exchange.exporting.semester import semester_files, write_days, write_semester
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.report import summary
from portal.people.models import Instructor
from tests import cast as builders
from tests import commands
from tests.exchange.campus import Campus, Made, imported, kinds
from tests.exchange.makers import TERM, change_rows, page, press, sent, zip_of
from tests.exchange.semester_files import (
    DATES,
    campus,
    edit,
    exported,
    section,
    set_cell,
    set_section,
    updated,
)

pytestmark = pytest.mark.usefixtures("backend")


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return imported(campus().write(tmp_path / "in"), TERM)


@pytest.fixture
def files(tmp_path: Path, made: Made) -> Path:
    assert made
    return exported(tmp_path / "out")


def teaching(crn: str = "10001") -> list[str]:
    with transaction() as session:
        found = select(Instructor.name).join(section_instructors).join(Section)
        return sorted(session.scalars(found.where(Section.crn == crn)))


def test_an_export_imported_again_changes_nothing(files: Path) -> None:
    for options in ({}, {"remove": True}, {"erase": True}):
        changes, report = updated(files, **options)
        assert changes == {}
        assert not {"edited", "stale"} & {*kinds(report)}


def test_an_empty_portal_gives_the_same_files(
    tmp_path: Path, files: Path, empty_portal: Callable[[], None]
) -> None:
    with (tmp_path / "first.zip").open("wb") as out:
        write_semester(TERM, out)
    empty_portal()
    imported(tmp_path / "first.zip", TERM)
    with (tmp_path / "second.zip").open("wb") as out:
        write_semester(TERM, out)
    assert (tmp_path / "second.zip").read_bytes() == (tmp_path / "first.zip").read_bytes()
    stored = section()
    assert (stored.capacity, stored.prior_enrolled, stored.note) == (30, 33, "=1+1\nTwo lines")
    assert files


def test_what_an_admin_made_comes_back_in_an_empty_portal(
    tmp_path: Path, files: Path, empty_portal: Callable[[], None]
) -> None:
    assert files
    with transaction() as session:
        session.execute(update(Meeting).where(Meeting.position == 1).values(clashes=False))
        session.execute(update(Section).where(Section.crn == "10002").values(status="NEW"))
        session.execute(update(Course).values(categories=["Humanities, Arts"]))
        tree = {"all": [{"any": [{"course": "A-1"}, {"course": "A-2"}]}, {"course": "B-1"}]}
        session.execute(update(Section).values(prerequisites=tree))
    before = exported(tmp_path / "before")
    assert updated(before)[0] == {}
    empty_portal()
    imported(before, TERM)
    after = semester_files(TERM)
    assert {name: (before / name).read_bytes() for name in after} == after
    assert section("10002").status == "NEW"
    assert section().prerequisites == tree
    assert "10001" in json.loads(after["prerequisites.json"])


def test_a_canceled_section_is_not_in_the_files(tmp_path: Path, made: Made) -> None:
    assert made
    change_rows(Section, Section.crn == "10002", status="CANCELED")
    written = (exported(tmp_path / "out") / "sections.csv").read_text("utf-8-sig")
    assert "10001" in written
    assert "10002" not in written


def test_an_edited_cell_wins_over_what_was_edited_here_before_the_export(
    tmp_path: Path, made: Made
) -> None:
    assert made
    change_rows(Section, note="Edited here")
    files = exported(tmp_path / "out")
    set_section(files, "note", "Edited in the file")
    changes, report = updated(files)
    assert changes == {"section": {"changed": 1}}, report.notes
    assert "edited" not in kinds(report)
    assert section().note == "Edited in the file"


def test_what_changed_here_after_the_export_stays_and_is_shown(files: Path) -> None:
    change_rows(Section, Section.crn == "10001", campus="South")
    set_section(files, "capacity", "44", "10002")
    changes, report = updated(files)
    assert changes == {"section": {"changed": 1}}  # the other one
    [note] = report.of("stale")
    assert (note.column, note.value) == ("campus", "North")
    assert "Here: “South”." in note.why
    assert (section().campus, section("10002").capacity) == ("South", 44)
    updated(files, overwrite=True)
    assert section().campus == "North"


def test_a_section_deleted_here_after_the_export_stays_deleted(files: Path) -> None:
    with transaction() as session:
        deleted = update(Section).where(Section.crn == "10002")
        session.execute(deleted.values(deleted_at=func.now()))
    changes, report = updated(files)
    assert changes == {}
    [note] = report.of("deleted_here")
    assert note.key == f"{TERM} · 10002"
    assert section("10002").deleted_at
    assert updated(files, overwrite=True)[0] == {"section": {"restored": 1}}
    assert not section("10002").deleted_at


@pytest.mark.parametrize(
    "name", ["A|B", "A | B", "A|", "C\\D", "C\\|D", "E; F, G", "H\\", "Staff", "tba"]
)
def test_names_with_a_separator_come_back_whole(
    tmp_path: Path, name: str, empty_portal: Callable[[], None]
) -> None:
    """Alone in a cell, and beside another one."""
    written = (
        campus()
        .course("CSC-226", title="Compilers")
        .section("10003", {"instructors": "Okafor"}, course_id="CSC-226")
    )
    imported(written.write(tmp_path / "in"), TERM)
    with transaction() as session:
        for code, names in (("CSC-225", [name, "Zoe, Ann"]), ("CSC-226", [name])):
            session.execute(
                update(Course).where(Course.code == code).values(categories=sorted(names))
            )
        session.execute(update(Instructor).where(Instructor.name == "Okafor").values(name=name))
    before = exported(tmp_path / "before")
    for options in ({}, {"remove": True, "erase": True}):
        assert updated(before, **options)[0] == {}
    empty_portal()
    imported(before, TERM)
    assert teaching() == sorted([name, "Byron, Ada"])
    assert teaching("10003") == [name]
    after = semester_files(TERM)
    assert {file: (before / file).read_bytes() for file in after} == after


def test_blank_titles_stay_blank_where_blank_cells_erase(tmp_path: Path, made: Made) -> None:
    assert made
    change_rows(Section, title="", kind="")
    assert updated(exported(tmp_path / "out"), erase=True)[0] == {}


def test_a_deleted_course_comes_back_only_if_that_is_chosen(files: Path) -> None:
    with transaction() as session:
        for table in (Section, Course):
            session.execute(update(table).values(deleted_at=func.now()))
    changes, report = updated(files)
    assert changes == {}
    deleted = {"CSC-225", f"{TERM} · 10001", f"{TERM} · 10002"}
    assert {note.key for note in report.of("deleted_here")} == deleted
    changes, report = updated(files, overwrite=True)
    sections, teachings = {"restored": 2}, {"added": 2}
    assert changes == {"course": {"restored": 1}, "section": sections, "teaching": teachings}
    assert "deleted_here" not in kinds(report)
    assert semester_files(TERM) == {each.name: each.read_bytes() for each in files.iterdir()}


def test_a_semester_without_meetings_is_imported_again(
    tmp_path: Path, made: Made, empty_portal: Callable[[], None]
) -> None:
    assert made
    with transaction() as session:
        session.execute(delete(Meeting))
    before = exported(tmp_path / "before")
    assert updated(before)[0] == {}
    empty_portal()
    with pytest.raises(ImportFailedError, match="Give the first and last day of the term"):
        imported(before, TERM)
    imported(before, TERM, **DATES)
    after = semester_files(TERM)
    assert {name: (before / name).read_bytes() for name in after} == after


def test_a_semester_without_sections_is_imported_again(
    tmp_path: Path, made: Made, empty_portal: Callable[[], None]
) -> None:
    assert made
    change_rows(Section, deleted_at=func.now())
    before = exported(tmp_path / "before")
    changes, report = updated(before, remove=True, erase=True)
    assert changes == {}
    assert [note.file for note in report.of("no_rows")] == ["sections.csv"]
    empty_portal()
    with pytest.raises(ImportFailedError, match="give its first and last day"):
        imported(before, TERM)
    changes, _report = updated(before, **DATES)
    assert changes == {"term": {"added": 1}}
    assert {name: (before / name).read_bytes() for name in semester_files(TERM)} == (
        semester_files(TERM)
    )


def test_the_edited_list_of_instructors_is_who_teaches(files: Path) -> None:
    assert teaching() == ["Byron, Ada", "Okafor"]
    set_section(files, "instructors", "Byron, Ada|Ben Roe")
    changes, _report = updated(files)
    assert changes["teaching"] == {"added": 1, "removed": 1}
    assert teaching() == ["Ben Roe", "Byron, Ada"]


def test_an_instructor_of_another_department_stays_the_same_person(
    tmp_path: Path, made: Made
) -> None:
    physics = builders.a_department("PHY")
    with transaction() as session:
        values = {"department_id": physics.id}
        session.execute(update(Instructor).where(Instructor.name == "Okafor").values(values))
    assert updated(exported(tmp_path / "out"), remove=True)[0] == {}
    assert made


def test_blank_instructors_are_removed_if_blank_cells_erase(files: Path) -> None:
    set_section(files, "instructors", "")
    assert updated(files)[0] == {}
    changes, _report = updated(files, erase=True)
    assert changes == {"teaching": {"removed": 2}}
    assert teaching() == []


def test_instructors_that_changed_here_after_the_export_stay(files: Path) -> None:
    change_rows(Instructor, Instructor.name == "Okafor", name="Ben")
    changes, report = updated(files)
    assert changes == {}
    assert [note.column for note in report.of("stale")] == ["instructors"]
    assert teaching() == ["Ben", "Byron, Ada"]


def test_a_spreadsheet_may_drop_the_zeros_of_a_section(files: Path) -> None:
    set_section(files, "section", "2", "10002")
    assert updated(files)[0] == {}
    assert section("10002").number == "002"


def test_all_days_are_read_as_they_are_written() -> None:
    assert [days_of(write_days(mask)) for mask in range(128)] == list(range(128))


def test_an_admin_downloads_the_files_of_a_semester(boss: FlaskClient, made: Made) -> None:
    assert f"/admin/terms/{made.term}/semester.zip" in boss.get("/admin/imports").text
    answer = boss.get(f"/admin/terms/{made.term}/semester.zip")
    with zipfile.ZipFile(io.BytesIO(answer.data)) as packed:
        assert {name: packed.read(name) for name in packed.namelist()} == semester_files(TERM)
    assert "Semester exported" in boss.get("/admin/audit").text


@pytest.mark.parametrize("ending", ["zip", "xlsx"])
def test_the_command_writes_a_semester(tmp_path: Path, made: Made, ending: str) -> None:
    assert made
    path = tmp_path / f"semester.{ending}"
    done = commands.run("export", str(path), "--term", TERM)
    assert done.returncode == 0, done.stderr
    assert updated(path)[0] == {}


def test_the_command_names_an_unknown_semester(tmp_path: Path, made: Made) -> None:
    assert made
    refused = commands.run("export", str(tmp_path / "other.zip"), "--term", "Spring 1999")
    assert refused.returncode == 1
    assert "Spring 1999" in refused.stderr
    assert not (tmp_path / "other.zip").exists()


def test_a_number_that_no_import_changes_is_named_if_edited(files: Path) -> None:
    set_section(files, "enrolled", "12")
    changes, report = updated(files)
    assert changes == {}
    [enrolled] = report.of("enrolled_unchanged")
    assert (enrolled.value, enrolled.more) == ("12", "The export had “33”.")
    assert ("not changed", 1) in summary(report.found)


def test_what_changed_here_after_the_export_is_no_edit_of_the_file(files: Path) -> None:
    change_rows(Section, status="CONFIRMED", prior_enrolled=20)
    changes, report = updated(files)
    assert changes == {}
    assert not {"status_unchanged", "enrolled_unchanged", "stale"} & {*kinds(report)}


def test_blank_cells_and_missing_rows_are_named_unless_they_erase(files: Path) -> None:
    for column in ("instructors", "campus", "capacity", "status"):
        set_section(files, column, "")
    set_cell(files, "courses.csv", "title", "")
    set_cell(files, "courses.csv", "attributes", "")
    edit(files, "restrictions.csv", list.clear)
    changes, report = updated(files)
    assert changes == {}
    blank = [(note.column, note.more) for note in report.of("blank_unchanged")]
    assert blank == [
        ("attributes", "Here: “A, B”."),
        ("campus", "Here: “North”."),
        ("instructors", "Here: “Byron, Ada, Okafor”."),
    ]
    [rows] = report.of("rows_unchanged")
    assert (rows.file, rows.key) == ("restrictions.csv", "10001")
    assert "Graduate" in rows.more
    assert [note.column for note in report.of("never_blank")] == ["title", "capacity", "status"]
    changes, report = updated(files, erase=True)
    assert changes["section"] == {"changed": 1}
    assert not {"blank_unchanged", "rows_unchanged"} & {*kinds(report)}


def test_a_new_section_of_unknown_status_is_a_draft(tmp_path: Path, made: Made) -> None:
    assert made
    for crn, status in (("10002", "Pending"), ("10003", "Tentative")):
        with transaction() as session:
            known = session.scalar(select(Section.status).where(Section.crn == crn))
        folder = Campus(crn=crn, section=crn[-2:], status=status).write(tmp_path / crn)
        _changes, report = updated(folder)
        [note] = report.of("status")
        assert (note.key, note.value, note.action) == (crn, status, "guessed")
        assert section(crn).status == (known or "NEW")
    assert section("10002").status == "OPEN"


def test_the_preview_does_not_say_that_all_is_here_if_an_edit_is_not_imported(
    files: Path, boss: FlaskClient
) -> None:
    set_section(files, "enrolled", "12")
    import_id = sent(boss, zip_of(files))
    shown = page(boss, import_id)
    assert "These files change nothing." in shown
    assert "already has all this data" not in shown
    assert "<strong>1</strong> not changed" in shown
    assert "Imports don’t change how many students are enrolled." in shown


def test_files_of_another_term_do_not_update_the_chosen_one(tmp_path: Path, made: Made) -> None:
    assert made
    change_rows(Term, name="R20 Fall 2027")
    builders.a_term("Spring 2027")
    files = exported(tmp_path / "out", "R20 Fall 2027")
    with pytest.raises(ImportFailedError) as error:
        updated(files, term="Spring 2027", remove=True)
    assert "These files say that they are of “R20 Fall 2027”" in str(error.value)
    change_rows(Term, Term.name == "R20 Fall 2027", name="Gone")
    with pytest.raises(ImportFailedError, match="would update “Spring 2027”"):
        updated(files, term="Spring 2027")
    days = {"starts": date(2021, 1, 6), "ends": date(2021, 4, 30)}
    _changes, report = updated(files, term="Spring 2028", **days)  # a new term
    [note] = report.of("term_named")
    assert (note.value, note.more) == ("R20 Fall 2027", "The sections go into “Spring 2028”.")


def test_other_spellings_and_codes_of_the_term_are_no_other_term(files: Path) -> None:
    for spelling in ("SPRING  2021", "202101", "Spring Semester 2021", ""):
        for crn in ("10001", "10002"):
            set_section(files, "term", spelling, crn)
        assert "term_named" not in kinds(updated(files)[1])


def test_the_preview_shows_which_of_many_meetings_change(files: Path, boss: FlaskClient) -> None:
    path = files / "meetings.csv"
    header, row, *others = path.read_text("utf-8-sig").splitlines()
    days = ("T", "W", "F", "S", "U")
    more = [
        row.replace(",MR,", f",{day},").replace(",1,", f",{at},", 1)
        for at, day in enumerate(days, 2)
    ]
    path.write_text("\n".join((header, row, *more, *others)))
    updated(files)
    more[2] = more[2].replace("2:00PM", "2:30PM")
    path.write_text("\n".join((header, row, *more, *others)))
    import_id = sent(boss, zip_of(files))
    press(boss, import_id, "overwrite")
    dates = "Jan 6, 2021 – Apr 30, 2021"
    before, after = (f"Lecture, Fri {at}–3:50 pm, {dates}" for at in ("2:00", "2:30"))
    assert f"<del>… {before}</del> → <ins>… {after}</ins>" in page(boss, import_id)


def test_the_preview_says_that_the_term_is_published_and_shows_meetings_in_words(
    files: Path, boss: FlaskClient
) -> None:
    change_rows(Term, state="published")
    set_cell(files, "meetings.csv", "start_time", "12:30PM")
    set_cell(files, "meetings.csv", "location", "Hall 2")
    set_section(files, "credits", "2")
    set_cell(files, "restrictions.csv", "value", "Undergraduate")
    import_id = sent(boss, zip_of(files))
    shown = page(boss, import_id)
    assert "They make no new term. Students see the changes as soon as you apply them." in shown
    assert "credits: <del>4 credits</del> → <ins>2 credits</ins>" in shown
    output = boss.get(f"/admin/imports/{import_id}/report.csv").get_data(as_text=True)
    for text_ in (shown, output):
        assert "Lecture, Mon Thu 2:00–3:50 pm, Jan 6, 2021 – Apr 30, 2021" in text_
        assert "Lecture, Mon Thu 12:30–3:50 pm, Jan 6, 2021 – Apr 30, 2021, Hall 2" in text_
        assert "may not be major: Undergraduate; must be level: Graduate" in text_
    assert "4 credits → 2 credits" in output
