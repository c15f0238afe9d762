"""People, classes and teachers out of OneRoster files, whole or as changes."""

import os
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import select, text

from portal.catalog.models import Course, Department, Instructor, Section, Term
from portal.core.db import transaction
from portal.core.settings import ROOT
from portal.exchange.importing.failures import ImportFailedError
from portal.people.models import Account, Student
from tests import cast as builders
from tests.exchange.campus import kinds
from tests.exchange.enrolled import the_account, the_term
from tests.exchange.makers import change_rows
from tests.exchange.oneroster import School, imported, moved

pytestmark = pytest.mark.usefixtures("backend")

DATA = Path(os.environ.get("FAIRSEAT_DATA") or ROOT.parent / "shared" / "data") / "oneroster"
TAUGHT = """
    SELECT crn, instructors.name FROM section_instructors
    JOIN sections ON sections.id = section_id JOIN instructors ON instructors.id = instructor_id
"""


def taught() -> list[tuple[str, str]]:
    with transaction() as session:
        return [(crn, name) for crn, name in session.execute(text(TAUGHT))]


@pytest.mark.parametrize("version", ["1.1", "1.2", "1.2.1"])
def test_everyone_and_everything_of_both_versions_is_there(tmp_path: Path, version: str) -> None:
    _counts, report = imported(School(version).write(tmp_path))
    assert kinds(report) == {"no_term": 1}
    with transaction() as session:
        assert session.execute(select(Department.code, Department.school)).all() == [
            ("CSCI", "Sample University")
        ]
        assert session.execute(select(Term.name)).all() == [("Fall 2030",)]
        assert session.execute(select(Course.code, Course.title)).all() == [
            ("CSCI-1200", "Data Structures")
        ]
        found = session.execute(select(Section.crn, Section.number, Section.status)).all()
        assert found == [("90001", "01", "NEW")]
        student = select(Student.number, Account.username, Account.name).join(Student.account)
        assert session.execute(student).all() == [("S-1", "spark", "Sam Park")]
    assert taught() == [("90001", "Terry Lee")]


@pytest.mark.parametrize("version", ["1.1", "1.2"])
def test_the_same_again_changes_nothing(tmp_path: Path, version: str) -> None:
    path = School(version).write(tmp_path)
    imported(path)
    counts, _report = imported(path)
    assert moved(counts) == {}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the samples are not at {DATA}")
@pytest.mark.parametrize("sample", ["sample_v1p1", "sample_v1p2"])
def test_the_samples_are_imported(sample: str) -> None:
    counts, report = imported(DATA / sample, past=True)
    assert moved(counts)["student"] == {"added": 1}
    assert moved(counts)["teaching"] == {"added": 1}
    assert moved(counts)["enrollment"] == {"added": 1}
    assert kinds(report) == {"no_term": 1}


def test_an_instructor_with_an_account_is_the_same_person(tmp_path: Path) -> None:
    builders.an_instructor("tlee")
    imported(School().write(tmp_path))
    with transaction() as session:
        assert session.scalars(select(Instructor.name)).all() == ["Terry Lee"]


def test_an_account_of_an_admin_is_left_alone(tmp_path: Path) -> None:
    builders.an_account("tlee", is_admin=True)
    _counts, report = imported(School().write(tmp_path))
    assert kinds(report)["admin"] == 1
    assert the_account("tlee").name == "Tlee"


ENROLLED = {"classSourcedId": "90001", "userSourcedId": "u-t", "role": "teacher"}
PERSON = {"username": "x", "givenName": "A", "familyName": "B"}
FAR = {
    "title": "Fall 9999",
    "type": "semester",
    "startDate": "2031-08-31",
    "endDate": "2031-12-18",
    "metadata.fairseat": '{"add_deadline": "9999-12-31"}',
}
MIXED = FAR | {"metadata.fairseat": '{"add_deadline": "2031-10-01", "drop_deadline": "2031-09-12"}'}
AFTER = FAR | {"metadata.fairseat": '{"withdraw_deadline": "2031-12-19"}'}
CLASS = {"courseSourcedId": "crs", "termSourcedIds": "fall"}


@pytest.mark.parametrize(
    ("file", "fields", "kind"),
    [
        ("academicSessions", FAR, "unreadable"),
        ("academicSessions", MIXED, "unreadable"),
        ("academicSessions", AFTER, "unreadable"),
        ("courses", {"courseCode": "???", "orgSourcedId": "org-cs"}, "unreadable"),
        ("classes", CLASS | {"courseSourcedId": "nope"}, "no_such"),
        ("classes", CLASS | {"termSourcedIds": "nope"}, "no_such"),
        ("classes", CLASS | {"metadata.fairseat": '{"capacity": -1}'}, "unreadable"),
        ("classes", CLASS | {"metadata.fairseat": '{"meetings": [[1]]}'}, "unreadable"),
        ("classes", CLASS | {"metadata.fairseat": '{"prerequisites": {"all": []}}'}, "unreadable"),
        ("users", PERSON | {"givenName": "", "familyName": ""}, "unreadable"),
        ("users", PERSON, "other_role"),
        ("users", PERSON | {"sourcedId": ""}, "no_key"),
        ("roles", {"userSourcedId": "u-s", "role": "guardian"}, "other_role"),
        ("enrollments", ENROLLED | {"userSourcedId": "?"}, "no_such"),
        ("enrollments", ENROLLED | {"classSourcedId": "?"}, "no_such"),
        ("enrollments", ENROLLED | {"userSourcedId": "u-s"}, "no_such"),
        ("enrollments", ENROLLED, "duplicate"),
        ("orgs", {"name": "N", "type": "department", "dateLastModified": "soon"}, "unreadable"),
    ],
)
def test_what_can_not_be_is_refused_and_the_rest_is_imported(
    tmp_path: Path, file: str, fields: dict[str, str], kind: str
) -> None:
    _counts, report = imported(School().add(file, **fields).write(tmp_path))
    [note] = [each for each in report.of(kind) if each.file == f"{file}.csv"]
    assert note.line == len(School().rows[file]) + 2
    assert taught() == [("90001", "Terry Lee")]


def test_a_term_does_not_end_before_its_deadlines(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    change_rows(Term, withdraw_deadline=date(2030, 12, 10))
    for last, refused in (("2030-12-09", 1), ("2030-12-10", 0)):
        school = School()
        school.rows["academicSessions"][1]["endDate"] = last
        _counts, report = imported(school.write(tmp_path))
        assert kinds(report).get("late_deadline", 0) == refused
        assert (the_term().ends_on == date.fromisoformat(last)) != bool(refused)


def test_a_delta_changes_only_the_fields_that_differ(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    change = {
        "sourcedId": "u-s",
        "status": "active",
        "dateLastModified": "2030-09-01T00:00:00Z",
        "enabledUser": "true",
        "username": "spark",
        "givenName": "Sammy",
        "familyName": "Park",
        "identifier": "S-1",
    }
    counts, _report = imported(School().only("users", change).write(tmp_path))
    assert moved(counts)["account"] == {"changed": 1}
    assert the_account("spark").name == "Sammy Park"


def test_a_change_that_is_older_than_what_is_known_is_refused(tmp_path: Path) -> None:
    row = School().rows["users"][1] | {"dateLastModified": "2030-09-02T00:00:00Z"}
    imported(School().write(tmp_path))
    imported(School().only("users", row).write(tmp_path))
    old = row | {"givenName": "Old", "dateLastModified": "2030-09-01T12:00:00+00:00"}
    counts, report = imported(School().only("users", old).write(tmp_path))
    assert kinds(report) == {"older": 1}
    assert moved(counts) == {}


def test_a_file_that_is_sent_twice_is_accepted_twice(tmp_path: Path) -> None:
    stamped = School()
    for rows in stamped.rows.values():
        for row in rows:
            row["dateLastModified"] = "2030-09-01T12:00:00Z"
    imported(stamped.write(tmp_path))
    counts, report = imported(stamped.write(tmp_path))
    assert "older" not in kinds(report)
    assert moved(counts) == {}


def test_changes_refer_to_what_earlier_files_named(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    row = {
        "sourcedId": "90002",
        "status": "active",
        "title": "Data Structures 02",
        "courseSourcedId": "crs",
        "termSourcedIds": "fall",
    }
    imported(School().only("classes", row).write(tmp_path))
    instructor = {"sourcedId": "e-9", "classSourcedId": "90002", "userSourcedId": "u-t"}
    imported(School().only("enrollments", instructor | {"role": "teacher"}).write(tmp_path))
    assert sorted(taught()) == [("90001", "Terry Lee"), ("90002", "Terry Lee")]


def test_what_is_to_be_deleted_goes_and_comes_back(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    gone = {"status": "tobedeleted", "dateLastModified": "2030-09-01T00:00:00Z"}
    for file, number in (("enrollments", 0), ("users", 1), ("classes", 0)):
        row = School().rows[file][number] | gone
        imported(School().only(file, row).write(tmp_path), cancels=True)
    assert taught() == []
    with transaction() as session:
        assert session.scalars(select(Section.status)).all() == ["CANCELED"]
    assert the_account("spark").deleted_at
    imported(School().only("users", School().rows["users"][1]).write(tmp_path))
    assert the_account("spark").deleted_at is None


def test_a_disabled_user_can_not_log_in(tmp_path: Path) -> None:
    school = School()
    imported(school.write(tmp_path))
    school.rows["users"][1]["enabledUser"] = "false"
    imported(school.write(tmp_path))
    gone = the_account("spark")
    assert gone.deleted_at
    assert gone.session_epoch == 2


def test_a_student_missing_from_the_files_stays_unless_removal_is_chosen(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    school = School()
    for file in ("users", "roles"):
        school.rows[file].pop()
    counts, _report = imported(school.write(tmp_path))
    assert moved(counts) == {}
    counts, _report = imported(school.write(tmp_path), remove=True)
    assert moved(counts) == {"account": {"removed": 1}}


def test_another_user_name_for_the_same_person_is_refused(tmp_path: Path) -> None:
    imported(School().write(tmp_path))
    school = School()
    school.rows["users"][1]["username"] = "sammy"
    _counts, report = imported(school.write(tmp_path))
    assert kinds(report)["renamed"] == 1
    with transaction() as session:
        assert session.scalars(select(Account.username).order_by(Account.username)).all() == [
            "spark",
            "tlee",
        ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"oneroster.version": "2.0"}, "version “2.0” is not one of"),
        ({"file.users": "some"}, "“some” is not bulk, delta or absent"),
        ({"file.users": "bulk"}, "users.csv is missing"),
    ],
)
def test_a_manifest_must_fit_the_files(
    tmp_path: Path, change: dict[str, str], message: str
) -> None:
    output = {"oneroster.version": "1.2"} | change
    lines = "".join(f"{name},{value}\n" for name, value in output.items())
    (tmp_path / "manifest.csv").write_text(f"propertyName,value\n{lines}", "utf-8")
    with pytest.raises(ImportFailedError, match=message):
        imported(tmp_path)


def test_without_a_manifest_nothing_is_read(tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("a\n", "utf-8")
    with pytest.raises(ImportFailedError, match=r"manifest.csv is missing"):
        imported(tmp_path)


def test_headers_are_read_as_real_files_spell_them(tmp_path: Path) -> None:
    files = School().files()
    written = str(files["users.csv"]).replace("preferredGivenName", "prefferedGivenName")
    files["users.csv"] = ("\ufeff" + written.replace("sourcedId", "SourcedID")).encode()
    for name, content in files.items():
        raw = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(raw.rstrip(b"\r\n"))
    _counts, report = imported(tmp_path)
    assert kinds(report) == {"no_term": 1}
