"""What is exported and imported again changes nothing, here or in an empty portal."""

import csv
import io
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete, func, select, update

from portal.catalog.models import Course, Pool, Reserve, Section, Term
from portal.core.db import transaction
from portal.exchange.exporting.oneroster import write_oneroster
from portal.people.models import Account, CompletedCourse, Student
from portal.recorder.recorder import drain
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from tests import cast as builders
from tests import register
from tests.cast import Cast, Meets
from tests.exchange.campus import Campus, kinds
from tests.exchange.campus import imported as semester
from tests.exchange.enrolled import roster
from tests.exchange.oneroster import School, imported, moved


def exported(folder: Path) -> Path:
    """Everything, in a zip."""
    path = folder / "export.zip"
    with path.open("wb") as out:
        write_oneroster(out)
    return path


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.fixture
def university(tmp_path: Path, cast: Cast) -> Section:
    """A semester out of files, people and classes out of others, and some made by hand."""
    campus = Campus(capacity="40", enrolled="3", remaining="37").meets(
        instructors="Okafor/Lindqvist", location="Hall 1, East", meeting_type="LAB"
    )
    campus.restriction("must_be", "major", "Physics").cross_list("MAT-1")
    campus.prerequisites = {"10001": {"prerequisites": ["MAT-1 with C-", "MAT-2"]}}
    semester(campus.write(tmp_path / "in"), "Spring, 2021")
    imported(School().write(tmp_path))
    rules = {"drops_per_day": 7, "skip_limit": 2, "skip_reasons": ["hold"]}
    deadlines = {"add_deadline": date(2030, 9, 6), "drop_deadline": date(2030, 10, 4)}
    term = builders.a_term("Fall 2031", **rules, **deadlines)
    zoe = builders.a_student(
        "zoe", ("CSC", "MAT"), year="Senior", college="Arts", private=True, credit_limit=Decimal(18)
    )
    passed = CompletedCourse(student_id=zoe.id, course_code="CSC-1", grade="A", credits=Decimal(4))
    builders.added(passed)
    return builders.a_section(
        builders.a_course("CSC-9000"),
        term,
        meetings=(Meets("MR", room="Hall 2"), Meets("F", None, None)),
        instructor=cast.iris,
        note="Bring a coat, “now”",
    )


@pytest.fixture
def shared(university: Section) -> Section:
    """It shares its seats with another section, and keeps some for some."""
    until = datetime(2031, 11, 1, 12, 30, tzinfo=UTC)
    with transaction() as session:
        pool = Pool(term_id=university.term_id, name="Robotics, both", capacity=25, version=3)
        session.add(pool)
        session.flush()
        term = session.get_one(Term, university.term_id)
    partner = builders.a_section(builders.a_course("MAT-9000"), term, consent=True)
    for position, kept in enumerate(({"years": ["Senior"]}, {"students": ["N-1", "N-2"]}), 1):
        end = until if position == 1 else None
        builders.added(
            Reserve(
                section_id=university.id, position=position, seats=position, cohort=kept, until=end
            )
        )
    with transaction() as session:
        both = Section.id.in_((university.id, partner.id))
        session.execute(update(Section).where(both).values(pool_id=pool.id))
    return university


def kept_seats() -> list[tuple[int, int, object]]:
    with transaction() as session:
        found = select(Reserve.id, Reserve.seats, Reserve.cohort).order_by(Reserve.position)
        return [tuple(row) for row in session.execute(found)]


@pytest.mark.usefixtures("shared")
def test_shared_and_reserved_seats_come_back_as_they_were(
    tmp_path: Path, empty_portal: Callable[[], None]
) -> None:
    before = contents(exported(tmp_path))
    assert b"Robotics, both" in before["classes.csv"]
    counts, report = imported(tmp_path / "export.zip")
    assert (moved(counts), kinds(report)) == ({}, {})
    empty_portal()
    _counts, report = imported(tmp_path / "export.zip")
    assert kinds(report) == {}
    assert contents(exported(tmp_path)) == before
    with transaction() as session:
        found = select(Pool.name, Pool.capacity, func.count()).join(Section).group_by(Pool.id)
        assert session.execute(found).all() == [("Robotics, both", 25, 2)]
        assert set(session.scalars(select(Reserve.until))) == {
            datetime(2031, 11, 1, 12, 30, tzinfo=UTC),
            None,
        }


def test_what_is_kept_for_the_same_students_keeps_its_number(
    tmp_path: Path, shared: Section
) -> None:
    exported(tmp_path)
    before = kept_seats()
    with transaction() as session:
        session.execute(delete(Reserve).where(Reserve.id == before[0][0]))
        session.execute(update(Reserve).values(seats=9, position=1))
        session.execute(update(Pool).values(capacity=99))
        was = session.scalar(select(Section.version).where(Section.id == shared.id)) or 0
    counts, _report = imported(tmp_path / "export.zip", overwrite=True)
    assert moved(counts) == {"pool": {"changed": 1}, "section": {"changed": 1}}
    after = kept_seats()
    assert [each[1:] for each in after] == [each[1:] for each in before]
    assert after[1][0] == before[1][0]
    with transaction() as session:
        assert session.scalar(select(Pool.capacity)) == 25
        assert session.get_one(Section, shared.id).version > was


@pytest.mark.usefixtures("backend")
def test_shared_or_reserved_seats_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    facts: list[dict[str, Any]] = [
        {"pool": ["", 3]},
        {"pool": ["a\tb", 3]},
        {"pool": ["Both", -1]},
        {"reserves": [[3, {}, None]]},
        {"reserves": [[3, {"list": {"id": 1}}, None]]},
        {"reserves": [[-1, {"years": ["Senior"]}, None]]},
        {"reserves": [[1, {"years": ["Senior"]}, "2030-13-01T00:00:00.000000Z"]]},
    ]
    school = School()
    school.rows["classes"] = [
        School().seats(2, **each).rows["classes"][0] | {"sourcedId": f"{90001 + number}"}
        for number, each in enumerate(facts)
    ]
    _counts, report = imported(school.write(tmp_path))
    refused = [(note.file, note.line) for note in report.of("unreadable")]
    assert refused == [("classes.csv", line) for line in range(2, 2 + len(facts))]


@pytest.mark.usefixtures("university")
def test_what_was_exported_changes_nothing_when_it_comes_back(tmp_path: Path) -> None:
    counts, report = imported(exported(tmp_path))
    assert moved(counts) == {}
    assert kinds(report) == {}
    assert counts["section"]["unchanged"] == 3
    assert counts["student"]["unchanged"] == 6


def test_a_formula_does_nothing_in_a_spreadsheet_and_comes_back_as_it_was(
    tmp_path: Path, university: Section
) -> None:
    link, name = '=HYPERLINK("https://evil.example","Click")', "\uff20SUM(1)"
    with transaction() as session:
        session.execute(update(Course).values(title=link))
        session.execute(update(Account).where(Account.username == "zoe").values(name=name))
    before = contents(exported(tmp_path))
    tables = [csv.reader(io.StringIO(text.decode())) for text in before.values()]
    cells = {cell for table in tables for row in table for cell in row}
    assert {f"'{link}", f"'{name}"} <= cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\uff20"))]
    counts, report = imported(tmp_path / "export.zip")
    assert (moved(counts), kinds(report)) == ({}, {})
    assert contents(exported(tmp_path)) == before
    assert university


@pytest.mark.usefixtures("university")
def test_an_empty_portal_becomes_the_same(tmp_path: Path, empty_portal: Callable[[], None]) -> None:
    before = contents(exported(tmp_path))
    empty_portal()
    _counts, report = imported(tmp_path / "export.zip")
    assert kinds(report) == {}
    assert contents(exported(tmp_path)) == before
    with transaction() as session:
        zoe = (
            select(Student).join(Student.account).where(Account.username == "zoe", Student.private)
        )
        (passed,) = session.scalars(zoe).one().completed
        assert (passed.course_code, passed.grade) == ("CSC-1", "A")
        tree = session.scalars(select(Section.prerequisites).where(Section.crn == "10001")).one()
        assert tree == {"all": [{"course": "MAT-1", "grade": "C-"}, {"course": "MAT-2"}]}


def test_enrolled_students_are_exported_and_stay(
    tmp_path: Path, university: Section, cast: Cast
) -> None:
    with transaction() as session:
        builders.an_open_window(session.get_one(Term, university.term_id))
    register.claim(cast.ada.id, university.term_id, university.id)
    drain(university.term_id)
    path = exported(tmp_path)
    assert b",student,," in contents(path)["enrollments.csv"]
    counts, report = imported(path)
    assert moved(counts) == {}
    assert kinds(report) == {}


@pytest.mark.usefixtures("university")
def test_to_be_exported_is_not_to_be_named_by_a_file(tmp_path: Path) -> None:
    exported(tmp_path)
    school = School()
    for file in ("users", "roles"):
        school.rows[file].pop()
    counts, _report = imported(school.write(tmp_path), remove=True)
    assert moved(counts)["account"] == {"removed": 1}  # not Ada and others, made by hand


def test_an_empty_portal_has_the_same_rosters(
    tmp_path: Path, university: Section, cast: Cast, empty_portal: Callable[[], None]
) -> None:
    for student, worth in ((cast.ada, 3), (cast.ben, 4)):
        change = Adjustment(
            university.term_id,
            student.id,
            add=university.id,
            credits=Decimal(worth),
            overrides=("window_unscheduled", "credit_range", "full"),
        )
        adjustments.adjust(
            change, why="tests", by=cast.max.id, idempotency_key=None, correlation="tests"
        )
    before, exported_before = roster(), contents(exported(tmp_path))
    assert len(before) == 2
    empty_portal()
    _counts, report = imported(tmp_path / "export.zip", past=True)
    assert kinds(report) == {}
    assert roster() == before
    assert contents(exported(tmp_path)) == exported_before


def test_nothing_in_it_is_a_password(tmp_path: Path, university: Section) -> None:
    assert university
    with zipfile.ZipFile(exported(tmp_path)) as packed:
        output = io.BytesIO(b"".join(packed.read(name) for name in packed.namelist())).getvalue()
    assert b"argon2" not in output
