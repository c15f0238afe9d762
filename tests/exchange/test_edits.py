"""Edits that admins made since the last import stay, unless the files are to win."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import delete, func, select, update

from portal.catalog.models import (
    Course,
    Department,
    Instructor,
    Restriction,
    Room,
    Section,
    Subject,
    Term,
    section_instructors,
)
from portal.core.db import transaction
from portal.exchange.importing import runs
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import ImportedRecord
from portal.exchange.importing.report import Note, Report
from portal.people.models import Student, StudentSubject
from tests.cast import Cast
from tests.exchange.campus import Campus, section
from tests.exchange.class_schedules import ALGORITHMS, write_csv
from tests.exchange.makers import TERM, as_zip, change_rows, page, press, sent
from tests.exchange.oneroster import School
from tests.exchange.oneroster import imported as oneroster_imported
from tests.exchange.semester_files import exported, set_section, updated
from tests.web.pages import hidden

pytestmark = pytest.mark.usefixtures("backend")


def run(folder: Path, campus: Campus, **options: Any) -> tuple[int, list[Note]]:
    """Import; return the term and what was said of edits."""
    _, report = updated(campus.write(folder), **options)
    with transaction() as session:
        term = session.scalars(select(Term.id).filter_by(name=options.get("term", TERM))).one()
    kinds = {"edited", "removed_here", "overwritten", "deleted_here"}
    return term, [note for note in report.notes if note.kind in kinds]


def edit(**values: Any) -> None:
    change_rows(Section, **values)


def campus(**section: str) -> Campus:
    return Campus(note="From the file", **section).meets(instructors="Okafor/Lindqvist")


def test_a_section_that_was_made_on_a_page_keeps_what_it_says(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    with transaction() as session:  # as if no file had ever had it
        forget = "DELETE FROM imported_records WHERE kind = 'section'"
        session.connection().exec_driver_sql(forget)
    edit(note="By hand", capacity=12)
    for _ in range(2):
        _, notes = run(tmp_path, campus(capacity="45"))
        assert {(each.kind, each.column, each.value) for each in notes} == {
            ("edited", "note", "From the file"),
            ("edited", "capacity", "45"),
        }
        assert (section(term).note, section(term).capacity) == ("By hand", 12)
    run(tmp_path, campus(capacity="45"), overwrite=True)
    assert (section(term).note, section(term).capacity) == ("From the file", 45)


def copied(boss: FlaskClient, name: str) -> int:
    """Copy the term on its page; return the id of the copy."""
    with transaction() as session:
        source = session.scalars(select(Term.id).filter_by(name=TERM)).one()
    form = {"name": name, "starts_on": "2022-01-10", "ends_on": "2022-05-06"}
    more = {"source": source, "reason": "The same again"}
    address = "/admin/terms/new"
    boss.post(address, data=hidden(boss.get(address).text) | form | more)
    with transaction() as session:
        return session.scalars(select(Term.id).filter_by(name=name)).one()


def test_only_edits_of_a_copied_term_stay(boss: FlaskClient, tmp_path: Path) -> None:
    run(tmp_path, campus())
    copy = copied(boss, "Spring 2022")
    with transaction() as session:
        changed = update(Section).where(Section.term_id == copy)
        session.execute(changed.values(note="Edited here"))
    _, [note] = run(tmp_path, campus(capacity="45", term="Spring 2022"), term="Spring 2022")
    assert (note.kind, note.column) == ("edited", "note")
    assert (section(copy).note, section(copy).capacity) == ("Edited here", 45)


def without(column: str) -> Campus:
    """Files that lack a column of sections."""
    made = campus()
    made.columns["sections.csv"] = made.columns["sections.csv"].replace(f" {column}", "")
    return made


def test_what_the_first_files_left_out_is_an_edit_only_where_an_admin_wrote_it(
    tmp_path: Path,
) -> None:
    term, _ = run(tmp_path, without("note"))
    assert run(tmp_path, campus())[1] == []
    assert section(term).note == "From the file"


def test_an_edit_of_what_the_first_files_left_out_stays(tmp_path: Path) -> None:
    term, _ = run(tmp_path, without("note"))
    edit(note="By hand")
    for _ in range(2):
        _, [note] = run(tmp_path, campus())
        assert (note.kind, note.column) == ("edited", "note")
        assert section(term).note == "By hand"


def test_older_files_do_not_undo_an_edit_that_was_exported_and_imported(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus(capacity="30"))
    edit(capacity=40)
    folder = exported(tmp_path / "export")
    set_section(folder, "note", "In the spreadsheet")
    updated(folder)
    for _ in range(2):
        _, notes = run(tmp_path, campus(capacity="30"))
        assert {(each.kind, each.column) for each in notes} == {
            ("edited", "note"),
            ("edited", "capacity"),
        }
        assert (section(term).note, section(term).capacity) == ("In the spreadsheet", 40)


def test_an_instructor_removed_in_an_export_is_not_given_back(tmp_path: Path) -> None:
    run(tmp_path, campus())
    folder = exported(tmp_path / "export")
    set_section(folder, "instructors", "Okafor")
    updated(folder)
    _, [note] = run(tmp_path, campus())
    assert (note.kind, "Lindqvist" in note.key) == ("removed_here", True)


@pytest.mark.parametrize(("status", "said"), [("NEW", "Draft"), ("CANCELED", "Canceled")])
def test_a_section_that_the_files_offer_and_the_portal_does_not_is_named(
    tmp_path: Path, status: str, said: str
) -> None:
    term, _ = run(tmp_path, campus(status="A"))
    edit(status=status)
    for written in ("A", ""):
        _, report = updated(campus(status=written, capacity="45").write(tmp_path))
        [note] = report.of("draft_here" if status == "NEW" else "canceled_here")
        assert said in str(note.why)
        assert ("Offer again" in str(note.todo)) == (status == "CANCELED")
        assert (section(term).status, section(term).capacity) == (status, 45)


def forget(crn: str) -> None:
    """Make a section look as if an admin had made it."""
    with transaction() as session:
        session.execute(delete(ImportedRecord).where(ImportedRecord.key.endswith(crn)))


def leave_out_rows(file: Path, *crns: str) -> None:
    lines = file.read_text("utf-8-sig").splitlines(keepends=True)
    file.write_text("".join(each for each in lines if not any(crn in each for crn in crns)))


def statuses(term: int) -> dict[str, str]:
    with transaction() as session:
        of_term = select(Section.crn, Section.status).where(Section.term_id == term)
        return dict(session.execute(of_term).all())


def test_sections_that_no_file_has_named_are_not_removed(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus().section("10002").section("10003"))
    forget("10003")
    run(tmp_path, campus(), remove=True, cancels=True)
    assert statuses(term) == {"10001": "OPEN", "10002": "CANCELED", "10003": "OPEN"}


def test_sections_are_removed_only_if_that_is_ticked(boss: FlaskClient, tmp_path: Path) -> None:
    files = campus()
    for number in range(10002, 10014):
        files.section(str(number), section=str(number)[-2:])
    term, _ = run(tmp_path, files)
    before = statuses(term)
    change_rows(Section, Section.crn == "10013", status="CONFIRMED")
    before["10013"] = "CONFIRMED"
    import_id = sent(boss, as_zip(campus()), term=TERM, remove="y")
    shown = page(boss, import_id)
    assert "12 sections are canceled." in shown
    assert "0 students lose a seat. 0 students lose a waitlist position." in shown
    assert "Cancel 12 sections. Students don’t get their seats back." in shown
    assert "Sections: Canceled, 12" in shown
    assert "12 canceled" in shown
    for number in range(2, 14):
        assert f"CSC 225-{number:02}</span></a>" in shown
    press(boss, import_id, "apply")
    assert "Tick the box to confirm that sections are canceled." in page(boss, import_id)
    assert statuses(term) == before
    boss.post(f"/admin/imports/{import_id}/apply", data={"cancels": "yes"})
    runs.continue_import(import_id)
    assert statuses(term) == dict.fromkeys(before, "CANCELED") | {"10001": "OPEN"}


def test_a_command_that_removes_sections_needs_the_option(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus().section("10002"))
    with pytest.raises(ImportFailedError, match="These files cancel sections"):
        run(tmp_path, campus(), remove=True)
    assert statuses(term) == {"10001": "OPEN", "10002": "OPEN"}
    run(tmp_path, campus(), remove=True, cancels=True)
    assert statuses(term)["10002"] == "CANCELED"


def remove(folder: Path, files: Campus, **options: Any) -> Report:
    """Import, and remove what the files do not name."""
    return updated(files.write(folder), remove=True, cancels=True, **options)[1]


def test_sections_that_stay_although_no_file_names_them_are_named(tmp_path: Path) -> None:
    run(tmp_path, campus().section("10002").section("10003"))
    forget("10003")
    [note] = remove(tmp_path, campus()).of("not_removed")
    assert (note.action, note.key) == ("not changed", f"{TERM} · 10003")


def test_copied_sections_are_removed_only_after_files_have_named_them(
    boss: FlaskClient, tmp_path: Path
) -> None:
    run(tmp_path, campus().section("10002"))
    term = copied(boss, "Spring 2022")
    only_first, both = (campus(term="Spring 2022") for _ in range(2))
    both.section("10002", term="Spring 2022")
    [note] = remove(tmp_path, only_first, term="Spring 2022").of("not_removed")
    assert note.key == "Spring 2022 · 10002"
    assert statuses(term) == {"10001": "OPEN", "10002": "OPEN"}
    run(tmp_path, both, term="Spring 2022")
    assert remove(tmp_path, only_first, term="Spring 2022").of("not_removed") == []
    assert statuses(term) == {"10001": "OPEN", "10002": "CANCELED"}


def taught_by() -> set[str]:
    with transaction() as session:
        names = select(Instructor.name).join(section_instructors)
        return set(session.scalars(names))


def test_instructors_that_no_file_names_are_removed_and_named(tmp_path: Path) -> None:
    run(tmp_path, campus())
    files = campus().meets(instructors="Okafor")
    [note] = remove(tmp_path, files).of("instructor_removed")
    assert "10001 · Lindqvist" in note.key
    assert taught_by() == {"Okafor"}


def test_files_without_instructors_remove_none(tmp_path: Path) -> None:
    run(tmp_path, campus())
    files = campus(capacity="45")
    files.columns = {"sections.csv": "crn capacity"}
    (tmp_path / "meetings.csv").unlink()
    assert remove(tmp_path / "seats", files).of("instructor_removed") == []
    assert taught_by() == {"Okafor", "Lindqvist"}


@pytest.mark.parametrize("options", [{}, {"remove": True}])
def test_an_archived_term_is_not_updated(tmp_path: Path, options: dict[str, Any]) -> None:
    term, _ = run(tmp_path, campus())
    change_rows(Term, state="archived")
    with pytest.raises(ImportFailedError, match="“Spring 2021” is archived"):
        run(tmp_path, campus(capacity="45"), **options)
    assert section(term).capacity == 30


def test_a_term_archived_after_the_preview_is_not_updated(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(campus())), "apply")
    import_id = sent(boss, as_zip(campus(capacity="45")), update="y")
    change_rows(Term, state="archived")
    press(boss, import_id, "apply")
    assert "is archived" in page(boss, import_id)
    with transaction() as session:
        assert session.scalars(select(Section.capacity)).one() == 30


def test_an_export_does_not_remove_what_was_made_after_it(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus().section("10002").section("10003"))
    folder = exported(tmp_path / "export")
    forget("10003")
    for name in ("sections.csv", "meetings.csv"):
        leave_out_rows(folder / name, "10002", "10003")
    updated(folder, remove=True, cancels=True)
    assert statuses(term) == {"10001": "OPEN", "10002": "CANCELED", "10003": "OPEN"}


def test_a_registration_number_of_another_course_is_refused(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    edit(note="Edited here")
    other = campus(course_id="MAT-100", capacity="5").meets(instructors="Nobody").section("10002")
    files = other.course("MAT-100").write(tmp_path)
    for overwrite in (False, True):
        _, report = updated(files, overwrite=overwrite, remove=True)
        [note] = report.of("other_course")
        assert (note.column, note.value) == ("course_id", "MAT-100")
        assert "CSC-225" in note.why
        found = section(term)
        assert (found.note, found.capacity, found.status) == ("Edited here", 30, "OPEN")
        with transaction() as session:
            taught = session.execute(select(section_instructors)).all()
        assert len(taught) == 2


def test_values_of_restrictions_that_no_student_has_are_named(tmp_path: Path, cast: Cast) -> None:
    change_rows(Student, level="Graduate")
    assert cast
    files = campus().section("10002").restriction("must_be", "level", "Graduat")
    files.restriction("must_be", "level", "Graduat", crn="10002")
    files.restriction("may_not_be", "level", "graduate")
    _, report = updated(files.write(tmp_path))
    [note] = report.of("value_unknown")
    assert note.why.endswith("“Graduat” (level). Sections: 2. Student records have: Graduate.")


def test_majors_that_only_restrictions_have_are_named(tmp_path: Path, cast: Cast) -> None:
    with transaction() as session:
        student = session.scalars(select(Student).limit(1)).one()
        subject = Subject(code="HIST", name="History")
        session.add_all([subject, Subject(code="OLD", name="Alchemy")])
        session.flush()
        session.add(StudentSubject(student_id=student.id, subject_id=subject.id, kind="major"))
    assert cast
    files = campus().restriction("must_be", "major", "Histroy")
    files.restriction("must_be", "field_of_study", "Alchemy")
    files.restriction("may_not_be", "program", "BS-BIO")
    files.restriction("must_be", "major", "history").restriction("must_be", "major", "Computing")
    _, report = updated(files.write(tmp_path))
    named = {note.more.partition(".")[0] for note in report.of("value_unknown")}
    assert named == {"“Histroy” (major)", "“Alchemy” (field of study)", "“BS-BIO” (program)"}


def test_a_line_with_commas_is_asked_about_until_its_values_are_known(tmp_path: Path) -> None:
    sentence = "Must be enrolled in one of the following Majors:\nBiology, Chemistry"
    write_csv(tmp_path, [ALGORITHMS | {"Restrictions": sentence}])
    for _ in range(2):
        _, report = updated(tmp_path)
        assert len(report.of("restriction_commas")) == 1
    with transaction() as session:
        names = {"BIOL": "Biology", "CHEM": "Chemistry"}
        session.add_all(Subject(code=code, name=name) for code, name in names.items())
    _, report = updated(tmp_path)
    assert report.of("restriction_commas") == []
    with transaction() as session:
        values = set(session.scalars(select(Restriction.value)))
    assert values == {"Biology", "Chemistry"}


@pytest.mark.parametrize(
    ("text", "consent"),
    [
        ("Biology/Law", False),
        ("Biology\nApproval of the dean required", False),
        ("Biology\nInstructor permission required.", True),
    ],
)
def test_a_restriction_in_doubt_changes_no_existing_section(
    tmp_path: Path, text: str, *, consent: bool
) -> None:
    sentence = "Must be enrolled in one of the following Majors:\n"
    for each in ("Biology", text):
        updated(write_csv(tmp_path, [ALGORITHMS | {"Restrictions": f"{sentence}{each}"}]))
    with transaction() as session:
        assert session.scalars(select(Restriction.value)).all() == ["Biology"]
        assert session.scalars(select(Section.consent).filter_by(crn="20551")).all() == [consent]
        assert session.scalars(select(Subject).filter(Subject.name.like("Biology_%"))).all() == []


def test_a_name_with_commas_that_a_department_has_is_one_value(tmp_path: Path) -> None:
    name = "Ecology, Evolution and Behavior"
    sentence = f"Must be enrolled in one of the following Majors:\n{name}"
    write_csv(tmp_path, [ALGORITHMS | {"Restrictions": sentence}])
    with transaction() as session:
        department = Department(code="EEB", name=name, school="")
        session.add_all([department, Subject(code="EEB", name=name)])
        session.flush()
        session.execute(update(Subject).values(department_id=department.id))
    _, report = updated(tmp_path)
    assert report.of("restriction_commas") == []
    with transaction() as session:
        assert session.scalars(select(Restriction.value)).all() == [name]


def test_a_refused_number_does_not_make_an_admins_section_one_of_the_files(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus().section("10002"))
    forget("10002")
    run(tmp_path, campus().course("MAT-100").section("10002", course_id="MAT-100"))
    run(tmp_path, campus(), remove=True)
    assert statuses(term)["10002"] == "OPEN"


def test_what_an_earlier_version_did_not_remember_is_no_edit(tmp_path: Path) -> None:
    term, _ = run(tmp_path, without("note"))
    with transaction() as session:
        partly = "UPDATE imported_records SET fields = fields - 'note'"
        session.connection().exec_driver_sql(partly)
    assert run(tmp_path, campus())[1] == []
    assert section(term).note == "From the file"


def test_a_second_section_of_a_number_is_named(tmp_path: Path) -> None:
    run(tmp_path, campus(section="01"))
    _, report = updated(campus(section="01").section("10002", section="1").write(tmp_path))
    [note] = report.of("number_taken")
    assert (note.key, note.column, note.more) == ("10002", "section", "The other is CRN 10001.")


def test_new_instructors_are_named_once(tmp_path: Path) -> None:
    for names, expected in (
        ("Okafor/Lindqvist", []),  # the portal has none yet
        ("Okafor/Lindqvist", []),
        ("Okafor/Lindkvist/Roe", ["2: Lindkvist · CSC; Roe · CSC."]),
        ("Okafor/Lindkvist", []),
    ):
        _, report = updated(campus().meets(instructors=names).write(tmp_path))
        assert [note.more for note in report.of("instructors_new")] == expected


def test_a_kept_value_is_shown_beside_the_files(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(campus(section_title="Algorithms"))), "apply")
    edit(title="Algorithms II")
    shown = page(boss, sent(boss, as_zip(campus(section_title="Algorithms"))))
    assert "Here: “Algorithms II”. The file has “Algorithms”." in shown


def test_a_department_that_the_portal_has_is_not_called_added(tmp_path: Path) -> None:
    run(tmp_path, campus())
    files = campus().course("MAT-100", dept_code="CSC").section("10002", course_id="MAT-100")
    files.rows["departments.csv"] = []
    assert updated(files.write(tmp_path))[1].of("department_added") == []


def test_columns_of_another_system_come_in_afterwards(tmp_path: Path) -> None:
    path = School().write(tmp_path)
    oneroster_imported(path)
    files = campus(term="Fall 2030", crn="90001", course_id="CSCI-1200", section="01")
    files.rows["meetings.csv"], files.rows["courses.csv"] = [], []
    _, notes = run(tmp_path / "semester", files, term="Fall 2030")
    assert notes == []


def test_an_edit_stays_is_shown_and_the_rest_is_imported(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    edit(note="Edited here")
    _, [note] = run(tmp_path, campus(capacity="45", campus="North"))
    found = section(term)
    assert (found.note, found.capacity, found.campus) == ("Edited here", 45, "North")
    assert (note.kind, note.column, note.value) == ("edited", "note", "From the file")
    assert "Here: “Edited here”." in note.why


def test_it_stays_through_every_further_import(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    edit(note="Edited here")
    for _ in range(2):
        _, [note] = run(tmp_path, campus())
        assert note.kind == "edited"
    assert section(term).note == "Edited here"


def test_the_files_win_where_that_is_chosen(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    edit(note="Edited here")
    _, [note] = run(tmp_path, campus(), overwrite=True)
    assert note.kind == "overwritten"
    assert section(term).note == "From the file"
    assert run(tmp_path, campus())[1] == []


def test_an_edit_that_the_file_has_too_is_no_matter(tmp_path: Path) -> None:
    run(tmp_path, campus())
    edit(note="The same")
    changed = campus()
    changed.rows["sections.csv"][0]["note"] = "The same"
    assert run(tmp_path, changed)[1] == []


def test_a_removed_instructor_is_not_given_back(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    with transaction() as session:
        session.execute(delete(section_instructors))
    _, notes = run(tmp_path, campus())
    assert [note.kind for note in notes] == ["removed_here"] * 2
    assert section(term).instructors == ()
    run(tmp_path, campus(), overwrite=True)
    assert section(term).instructors == ("Lindqvist", "Okafor")


def deleted(*tables: Any) -> None:
    with transaction() as session:
        for table in tables:
            session.execute(update(table).values(deleted_at=func.now()))


@pytest.mark.parametrize("name", [TERM, "Fall 2021"])
def test_a_deleted_course_stays_deleted_also_with_files_of_another_system(
    tmp_path: Path, name: str
) -> None:
    run(tmp_path, campus())
    deleted(Section, Course)
    full = campus().course("MAT-100").section("10002", course_id="MAT-100")
    changes, report = updated(full.write(tmp_path), term=name)
    keys = {(note.key, note.line) for note in report.of("deleted_here")}
    assert keys == {("CSC-225", 2), (f"{name} · 10001", 2)}
    assert changes["section"] == {"added": 1}
    with transaction() as session:
        assert session.scalars(select(Section.crn).where(Section.deleted_at.is_(None))).all() == [
            "10002"
        ]
        of_course = select(Course.deleted_at).where(Course.code == "CSC-225")
        assert session.scalar(of_course)


def test_sections_of_a_deleted_term_come_back_with_it(tmp_path: Path) -> None:
    run(tmp_path, campus())
    deleted(Term)
    assert not updated(campus().write(tmp_path))[1].of("deleted_here")


def test_the_page_offers_to_restore_what_was_deleted(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(campus())), "apply")
    deleted(Section, Course)
    second = sent(boss, as_zip(campus()), update="1")
    assert "This was deleted in the portal, so it is not imported." in page(boss, second)
    press(boss, second, "overwrite")
    assert "Courses: Restored, 1" in page(boss, second)


def test_what_no_one_edited_is_no_edit(tmp_path: Path) -> None:
    full = campus(levels="Graduate", attributes="Science", section_title="").cross_list("MAT-100")
    full.course("MAT-100", credits="1-3", title="")
    for capacity in ("30", "31", "32"):
        full.rows["sections.csv"][0]["capacity"] = capacity
        assert run(tmp_path, full)[1] == []


def test_the_page_offers_to_use_the_files_values(boss: FlaskClient) -> None:
    first = sent(boss, as_zip(campus()))
    press(boss, first, "apply")
    edit(note="Edited here")
    second = sent(boss, as_zip(campus(capacity="45")))
    shown = page(boss, second)
    assert "It stays." in shown
    assert "Use the files’ values" in shown
    press(boss, second, "overwrite")
    shown = page(boss, second)
    assert "The file’s value replaces it." in shown
    assert "Use the files’ values" not in shown


def test_the_history_of_a_section_names_each_import_and_its_changes(boss: FlaskClient) -> None:
    first = sent(boss, as_zip(campus()))
    press(boss, first, "apply")
    with transaction() as session:
        found = session.scalars(select(Section)).one()
    address = f"/admin/terms/{found.term_id}/sections/{found.id}"
    assert f"/admin/imports/{first}" in boss.get(address).text
    other = campus(capacity="45").meets(instructors="Okafor/Roe")
    second = sent(boss, as_zip(other))
    press(boss, second, "apply")
    shown = boss.get(address).text
    assert shown.index(f"/admin/imports/{second}") < shown.index(f"/admin/imports/{first}")
    for text in ("spring.zip", "Max", "seats: 30 → 45", "instructors: Lindqvist → Roe", "Added"):
        assert text in shown


def live(table: Any, column: Any) -> set[str]:
    with transaction() as session:
        return set(session.scalars(select(column).where(table.deleted_at.is_(None))))


def test_deleted_departments_and_subjects_stay_out_and_what_needs_them(tmp_path: Path) -> None:
    run(tmp_path, campus())
    deleted(Section, Course, Subject, Department)
    full = campus().course("MAT-100", dept_code="MAT").section("10002", course_id="MAT-100")
    full.course("CSC-999").section("10003", course_id="CSC-999")  # new, of the deleted department
    _, report = updated(full.write(tmp_path))
    assert live(Department, Department.code) == {"MAT"}
    assert live(Subject, Subject.code) == {"MAT"}
    assert live(Course, Course.code) == {"MAT-100"}
    assert live(Section, Section.crn) == {"10002"}
    notes = {note.key: note.why for note in report.of("deleted_here")}
    assert {"CSC", "CSC-225", "CSC-999", f"{TERM} · 10001", f"{TERM} · 10003"} == notes.keys()
    assert "Its department is deleted." in notes["CSC-999"]
    assert "Its course is not imported." in notes[f"{TERM} · 10003"]
    updated(full.write(tmp_path), overwrite=True)
    assert live(Department, Department.code) == {"CSC", "MAT"}
    assert live(Section, Section.crn) == {"10001", "10002", "10003"}


def test_a_deleted_room_stays_deleted_unless_the_files_are_to_win(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus())
    with transaction() as session:
        session.add(Room(name="Old hall", deleted_at=datetime.now(UTC)))
    moved_there = campus().meets(location="Old hall")
    _, notes = run(tmp_path, moved_there)
    assert [(note.kind, note.value) for note in notes] == [("deleted_here", "Old hall")]
    assert [each.room for each in section(term).meetings] == [""]
    assert "Old hall" not in live(Room, Room.name)
    run(tmp_path, moved_there, overwrite=True)
    assert [each.room for each in section(term).meetings] == ["Old hall"]
    assert "Old hall" in live(Room, Room.name)


def test_a_section_that_met_in_a_room_deleted_since_keeps_it(tmp_path: Path) -> None:
    term, _ = run(tmp_path, campus().meets(location="Old hall"))
    deleted(Room)
    assert run(tmp_path, campus().meets(location="Old hall"))[1] == []
    assert [each.room for each in section(term).meetings] == ["Old hall"]


def test_a_room_deleted_after_the_preview_is_not_restored(boss: FlaskClient) -> None:
    press(boss, sent(boss, as_zip(campus())), "apply")
    with transaction() as session:
        session.add(Room(name="Old hall"))
    second = sent(boss, as_zip(campus().meets(location="Old hall")), update="1")
    deleted(Room)
    press(boss, second, "apply")
    assert "The data in the portal has changed since the preview." in page(boss, second)
    assert live(Room, Room.name) == set()
