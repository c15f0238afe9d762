"""Students in classes, as OneRoster files have them: seats that the ledger gives and takes."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from portal.backend import Backend
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.exchange.importing.failures import ImportFailedError
from tests.exchange.enrolled import roster, the_term, wait_in_line
from tests.exchange.oneroster import School, imported, moved

pytestmark = pytest.mark.usefixtures("backend")


def put_in(folder: Path, school: School, **choices: bool) -> dict[str, dict[str, int]]:
    """What such files have moved; the class has two seats."""
    return moved(imported(school.write(folder), **choices)[0])


def test_students_are_in_their_classes_by_the_ledger(tmp_path: Path, backend: Backend) -> None:
    found = put_in(tmp_path, School().student(2).seats(2).enroll().enroll("u-2"))
    assert found["enrollment"] == {"added": 2}
    assert roster() == [("90001", "S-1"), ("90001", "S-2")]
    [seats] = backend.ledger.seats(the_term().id).values()
    assert (seats.taken, seats.capacity) == (2, 2)
    with transaction() as session:
        noted = session.scalars(select(AuditEntry).where(AuditEntry.action == "import.seat")).one()
    assert noted.after == {"added": 2, "removed": 0, "refused": 0}


def test_the_same_again_changes_nothing(tmp_path: Path) -> None:
    school = School().seats(2).enroll()
    put_in(tmp_path, school)
    roster()
    assert put_in(tmp_path, school) == {}


def test_a_refused_student_blocks_the_whole_import(tmp_path: Path) -> None:
    school = School().student(2).seats(1).enroll().enroll("u-2")
    with pytest.raises(ImportFailedError, match="Some students would be refused"):
        imported(school.write(tmp_path))
    with transaction() as session:
        assert session.scalars(select(Section.crn)).all() == []


def test_a_dry_run_names_the_refused_student_and_the_reason(tmp_path: Path) -> None:
    school = School().student(2).seats(1).enroll().enroll("u-2")
    counts, report = imported(school.write(tmp_path), dry=True)
    [note] = report.of("seat")
    assert (note.file, note.line, note.key) == ("enrollments.csv", 4, "Fall 2030 · 90001 · S-2")
    assert note.why.endswith("Full.")
    assert counts["enrollment"]["added"] == 1


def test_leave_out_applies_the_rest_without_refused_students(tmp_path: Path) -> None:
    put_in(tmp_path, School().student(2).seats(1).enroll().enroll("u-2"), leave_out=True)
    assert roster() == [("90001", "S-1")]


def test_past_rules_and_capacity_everyone_is_in(tmp_path: Path) -> None:
    put_in(tmp_path, School().student(2).seats(1).enroll().enroll("u-2"), past=True)
    assert roster() == [("90001", "S-1"), ("90001", "S-2")]


def test_a_new_class_without_seats_has_those_of_its_students(
    tmp_path: Path, backend: Backend
) -> None:
    put_in(tmp_path, School().student(2).enroll().enroll("u-2"), past=True)
    [seats] = backend.ledger.seats(the_term().id).values()
    assert (seats.status, seats.taken, seats.capacity) == ("OPEN", 2, 2)


# By section number: the values that differ from usual, and why the student is refused.
RULES: dict[str, tuple[dict[str, Any], str]] = {
    "1": ({"status": "NEW"}, "Section not published"),
    "2": ({"status": "CANCELED"}, "Section canceled"),
    "3": ({"prerequisites": {"course": "MAT-1"}}, "Prerequisite missing"),
    "4": ({"corequisites": {"course": "MAT-1"}}, "Corequisite not offered"),
    "5": ({"restrictions": [["must_be", "level", "Graduate"]]}, "Restricted section"),
    "6": ({"credits": [2400, 2400]}, "Over the credit limit"),
    "7": ({"credits": [100, 300]}, "Credits out of range"),
}


def test_the_preview_checks_every_rule(tmp_path: Path) -> None:
    school = School()
    school.rows["classes"] = []
    for number, (facts, why) in RULES.items():
        [made] = School().seats(2, **facts).rows["classes"]
        school.rows["classes"].append(made | {"sourcedId": number})
        credits_ = {} if "Over" in why else {"metadata.fairseat": '{"credits": 400}'}
        school.student(int(number) + 1).enroll(f"u-{int(number) + 1}", number, **credits_)
    _counts, report = imported(school.write(tmp_path), dry=True)
    found = {note.key.split(" · ")[1]: note.why for note in report.of("seat")}
    assert found.keys() == RULES.keys()
    for number, (_facts, why) in RULES.items():
        assert why in found[number]
    _counts, report = imported(school.write(tmp_path), dry=True, past=True)
    assert [note.key.split(" · ")[1] for note in report.of("seat")] == ["1", "2"]


def test_the_preview_checks_all_enrollments_of_a_student_together(tmp_path: Path) -> None:
    school = School().seats(2, corequisites={"course": "CSCI-1201"})
    lab = {"title": "Lab", "courseCode": "CSCI-1201", "orgSourcedId": "org-cs"}
    school.add("courses", **lab | {"sourcedId": "lab"})
    more = '{"capacity": 2, "status": "OPEN", "corequisites": {"course": "CSCI-1200"}}'
    school.add(
        "classes",
        sourcedId="90002",
        title="Lab",
        courseSourcedId="lab",
        termSourcedIds="fall",
        **{"metadata.fairseat": more},
    )
    put_in(tmp_path, school.enroll().enroll(section="90002"))
    assert roster() == [("90001", "S-1"), ("90002", "S-1")]


def test_a_change_takes_one_out_and_gives_the_seat_to_another(tmp_path: Path) -> None:
    school = School().student(2).seats(1).enroll()
    put_in(tmp_path, school)
    roster()
    gone = school.rows["enrollments"][-1] | {"status": "tobedeleted"}
    gone["dateLastModified"] = "2030-09-01T00:00:00Z"
    come = school.rows["enrollments"][-1] | {"sourcedId": "e-2", "userSourcedId": "u-2"}
    found = put_in(tmp_path, School().only("enrollments", come, gone))
    assert found["enrollment"] == {"added": 1, "removed": 1}
    assert roster() == [("90001", "S-2")]


def test_a_move_within_a_course_leaves_one_seat(tmp_path: Path) -> None:
    school = (
        School()
        .seats(1)
        .add(
            "classes",
            sourcedId="90002",
            title="Data Structures 02",
            courseSourcedId="crs",
            termSourcedIds="fall",
            **{"metadata.fairseat": '{"capacity": 1, "status": "OPEN"}'},
        )
    )
    put_in(tmp_path, school.enroll())
    roster()
    school.rows["enrollments"][-1]["classSourcedId"] = "90002"
    assert put_in(tmp_path, school, remove=True) == {"enrollment": {"added": 1, "removed": 1}}
    assert roster() == [("90002", "S-1")]


def test_a_free_seat_belongs_to_the_waitlist(tmp_path: Path) -> None:
    school = School().student(2).student(3).seats(1, waitlist=5).enroll()
    put_in(tmp_path, school)
    wait_in_line("S-2", "90001")
    roster()
    school.rows["enrollments"][-1]["userSourcedId"] = "u-3"
    _counts, report = imported(school.write(tmp_path), dry=True, remove=True)
    assert [note.key for note in report.of("seat")] == ["Fall 2030 · 90001 · S-3"]
    school.rows["enrollments"][-1]["userSourcedId"] = "u-2"
    put_in(tmp_path, school, remove=True)
    assert roster() == [("90001", "S-2")]


def test_a_student_missing_from_the_files_stays_unless_removal_is_chosen(tmp_path: Path) -> None:
    put_in(tmp_path, School().student(2).seats(2).enroll().enroll("u-2"))
    roster()
    fewer = School().student(2).seats(2).enroll()
    assert put_in(tmp_path, fewer) == {}
    assert put_in(tmp_path, fewer, remove=True) == {"enrollment": {"removed": 1}}
    assert roster() == [("90001", "S-1")]


def test_files_that_name_no_student_take_none_out(tmp_path: Path) -> None:
    put_in(tmp_path, School().seats(2).enroll())
    roster()
    assert put_in(tmp_path, School().seats(2), remove=True) == {}


def test_hostile_rows_are_named_and_the_others_are_seated(tmp_path: Path) -> None:
    hostile: list[tuple[dict[str, str], str]] = [
        ({"userSourcedId": "nobody"}, "no_such"),
        ({"userSourcedId": "u-t"}, "no_such"),
        ({"classSourcedId": "=1+1"}, "no_such"),
        ({"metadata.fairseat": '{"credits": -1}'}, "unreadable"),
        ({"metadata.fairseat": "[" * 9999}, "unreadable"),
        ({}, "duplicate"),
    ]
    school = School().seats(2).enroll()
    for fields, _kind in hostile:
        row = {"classSourcedId": "90001", "userSourcedId": "u-s", "role": "student"} | fields
        school.add("enrollments", **row)
    _counts, report = imported(school.write(tmp_path))
    named = {each.line: each.kind for each in report.notes if each.file == "enrollments.csv"}
    assert named == {line: kind for line, (_fields, kind) in enumerate(hostile, 4)}
    assert roster() == [("90001", "S-1")]
