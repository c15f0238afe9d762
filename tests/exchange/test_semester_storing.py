"""What an import leaves in the database: a whole term, or nothing at all."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import func, select, text

from portal.backend import Backend
from portal.catalog.models import Course, Instructor, Section, Subject, Term
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.exchange.importing.failures import ImportFailedError
from portal.models import Base
from tests import cast
from tests.exchange.campus import Campus, imported, kinds
from tests.exchange.oneroster import moved

pytestmark = pytest.mark.usefixtures("backend")


def rows() -> dict[str, int]:
    """How many rows every table has, but for those about imports themselves."""
    with transaction() as session:
        return {
            name: session.scalar(select(func.count()).select_from(table)) or 0
            for name, table in Base.metadata.tables.items()
            if not name.startswith("import")
        }


def test_the_term_has_its_dates_from_the_meetings_and_its_limit(tmp_path: Path) -> None:
    campus = Campus().section("10002", {"date_start": "2020-12-30", "date_end": "2021-02-01"})
    made = imported(campus.write(tmp_path), "Spring  2021", credit_limit=18)
    with transaction() as session:
        term = session.get_one(Term, made.term)
    assert (term.name, term.credit_limit) == ("Spring 2021", Decimal(18))
    assert (term.starts_on, term.ends_on) == (date(2020, 12, 30), date(2021, 4, 30))


def test_meetings_without_any_dates_need_those_of_the_term(tmp_path: Path) -> None:
    folder = Campus().meets(date_start="", date_end="").write(tmp_path)
    with pytest.raises(ImportFailedError, match="No meeting has dates"):
        imported(folder)
    made = imported(folder, starts=date(2021, 1, 6), ends=date(2021, 5, 1))
    assert catalog_of(made.term).term.ends_on == date(2021, 5, 1)


def test_all_sections_are_open(tmp_path: Path) -> None:
    made = imported(Campus().section("10002").write(tmp_path))
    assert [view.status for view in catalog_of(made.term).sections] == ["OPEN", "OPEN"]


def test_a_name_that_is_taken_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    folder = Campus().write(tmp_path)
    imported(folder)
    before = rows()
    with pytest.raises(ImportFailedError, match="The term “Spring 2021” already exists"):
        imported(folder)
    assert rows() == before


@pytest.mark.parametrize("name", ["", "  ", "x" * 81, "a\0b"])
def test_a_term_needs_a_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ImportFailedError, match="name"):
        imported(Campus().write(tmp_path), name)


@pytest.mark.usefixtures("nobody_may_teach")
def test_an_import_that_fails_at_its_last_step_leaves_no_row(tmp_path: Path) -> None:
    folder = Campus().meets(instructors="Okafor").write(tmp_path)
    before = rows()
    with pytest.raises(ImportFailedError, match="Instructors of sections"):
        imported(folder)
    assert rows() == before


def test_a_file_that_fails_leaves_no_row(tmp_path: Path) -> None:
    folder = Campus().write(tmp_path)
    (folder / "prerequisites.json").write_text("{", "utf-8")
    before = rows()
    with pytest.raises(ImportFailedError):
        imported(folder)
    assert rows() == before


def test_a_second_term_shares_courses_rooms_and_instructors(tmp_path: Path) -> None:
    campus = Campus().meets(instructors="Okafor/Lindqvist", location="Hall 1")
    first = imported(campus.write(tmp_path))
    before = rows()
    campus.rows["courses.csv"][0]["title"] = "Algorithms, revised"
    second = imported(campus.write(tmp_path), "Fall 2021")
    after = rows()
    for table in ("departments", "subjects", "courses", "rooms", "instructors"):
        assert after[table] == before[table]
    assert (second.courses, "course" in moved(second.counts)) == (1, False)
    for term in (first.term, second.term):
        assert {view.course_title for view in catalog_of(term).sections} == {"Algorithms"}
    with transaction() as session:
        version = session.scalar(select(Term.catalog_version).where(Term.id == first.term))
    assert version == 2  # so that the first term's catalog is read anew


def test_an_instructor_with_an_account_is_not_taken_for_a_namesake(tmp_path: Path) -> None:
    cast.a_department("CSC")
    iris = cast.an_instructor("iris")
    with transaction() as session:
        session.execute(text("UPDATE instructors SET department_id = (SELECT id FROM departments)"))
    imported(Campus().meets(instructors="Iris").write(tmp_path))
    with transaction() as session:
        assert session.scalar(select(func.count()).where(Instructor.name == "Iris")) == 2
        assert session.get_one(Instructor, iris.id).sections == []


def test_a_instructor_is_one_row_for_each_department(tmp_path: Path) -> None:
    campus = Campus().meets(instructors="Kim").section("10002", {"instructors": "Kim"})
    campus.course("MAT-1", dept_code="MAT").section(
        "10003", {"instructors": "Kim"}, course_id="MAT 1"
    )
    imported(campus.write(tmp_path))
    with transaction() as session:
        assert session.scalar(select(func.count()).where(Instructor.name == "Kim")) == 2


def test_majors_of_restrictions_become_subjects_unless_known(tmp_path: Path) -> None:
    campus = Campus().restriction("must_be", "major", "Computing")
    campus.restriction("must_be", "major", "Computer & Systems Engineering")
    campus.restriction("may_not_be", "field_of_study", "Computer & Systems Design")
    made = imported(campus.write(tmp_path))
    with transaction() as session:
        subjects = dict(session.execute(select(Subject.name, Subject.code)).all())
    assert subjects == {
        "Computing": "CSC",
        "Computer & Systems Engineering": "COMPUTER-SYSTEMS",
        "Computer & Systems Design": "COMPUTER-SYSTE-2",
    }
    assert kinds(made.report)["major_added"] == 2


def test_course_credits_span_those_of_the_sections(tmp_path: Path) -> None:
    campus = Campus(credits="1-3").course("MAT-1", dept_code="CSC", credits="")
    made = imported(campus.section("10002", course_id="MAT-1", credits="2").write(tmp_path))
    with transaction() as session:
        found = session.execute(select(Course.code, Course.credits_min, Course.credits_max)).all()
    assert {tuple(row) for row in found} == {("CSC-225", 1, 4), ("MAT-1", 2, 2)}
    assert made.sections == 2


def test_nothing_is_a_json_null(tmp_path: Path) -> None:
    imported(Campus().write(tmp_path))
    with transaction() as session:
        assert session.scalar(select(Section.id).where(Section.prerequisites.is_(None)))


def test_the_catalog_of_an_import_needs_few_queries(
    tmp_path: Path, backend: Backend, count_queries: list[str]
) -> None:
    assert backend
    campus = Campus()
    for number in range(50):
        campus.section(f"2{number:04}").restriction("must_be", "level", "x", f"2{number:04}")
    made = imported(campus.write(tmp_path))
    count_queries.clear()
    assert len(catalog_of(made.term).sections) == 51
    assert len(count_queries) < 12
