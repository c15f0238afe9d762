"""Courses: created and edited by admins, along with the sections of the terms that they choose.

Pages of all terms show a course's title, description, department and students. Each section has
credits, prerequisites, corequisites and a title of its own. A new one begins with those of the
course. Existing ones follow a change only in the chosen terms.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog import sections
from portal.catalog.deletion import (
    REQUIRES,
    Dependency,
    InTheWay,
    Obstacle,
    find_obstacles,
    lock_terms,
)
from portal.catalog.local_time import today
from portal.catalog.models import Course, Department, Section, Subject, Term
from portal.catalog.record_details import (
    RecordChange,
    RecordDetails,
    Taken,
    by_code,
    described,
    text,
    texts,
)
from portal.catalog.requisites import Tree
from portal.catalog.section_fields import (
    LONGEST_NOTE,
    SectionDetails,
    credit_lines,
    requisite,
)
from portal.catalog.sections import EDITABLE, SeenSection, StoredSection
from portal.catalog.spellings import subject_of
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _, _l

FOLLOWED = ("title", "credits", "prerequisites", "corequisites")  # by sections of chosen terms

# What names a course by its code, and so would lose it if the code changed.
USES_OF_CODE = (
    Dependency(
        _l("Sections"),
        "SELECT terms.name || ' ' || sections.number FROM sections"
        " JOIN terms ON terms.id = sections.term_id WHERE course_id = :id",
    ),
    Dependency(
        _l("Sections that require it"),
        "SELECT courses.code || '-' || sections.number FROM sections"  # noqa: S608  constants of ours
        f" JOIN courses ON courses.id = course_id WHERE {REQUIRES.format('sections')}",
    ),
    Dependency(
        _l("Courses that require it"),
        f"SELECT code FROM courses WHERE id <> :id AND {REQUIRES.format('courses')}",  # noqa: S608  constants of ours
    ),
    Dependency(
        _l("Sections that are also offered as this course"),
        "SELECT courses.code || '-' || sections.number FROM sections"
        " JOIN courses ON courses.id = course_id JOIN cross_lists ON section_id = sections.id"
        " WHERE course_code = :code",
    ),
    Dependency(
        _l("Students who have completed it"),
        "SELECT number FROM students JOIN completed_courses ON student_id = students.id"
        " WHERE course_code = :code",
    ),
)


def _for_whom(public: bool) -> list[str]:  # noqa: FBT001  a value of a field
    return [_("Every student") if public else _("Some students")]


@dataclass(frozen=True, kw_only=True)
class CourseDetails(RecordDetails):
    """Every field of a course that an admin may set; departments and majors are codes."""

    code: str = text(_l("Code"), 24)
    title: str = text(_l("Title"), 200)
    department: str = described("", _l("Department"))
    credits: tuple[Decimal, Decimal] = described(
        (Decimal(0), Decimal(0)), _l("Credits"), lines=credit_lines
    )
    description: str = text(_l("Description"), LONGEST_NOTE, lines=str.splitlines)
    offered: str = text(_l("Offered"), 200)
    categories: tuple[str, ...] = texts(_l("Categories"))
    prerequisites: Tree | None = requisite(_l("Prerequisites"))
    corequisites: Tree | None = requisite(_l("Corequisites"))
    # For everyone, else for students with one of these.
    public: bool = described(default=True, label=_l("For"), lines=_for_whom, stored_as="bool")
    majors: tuple[str, ...] = texts(_l("Majors and minors"), stored_as="")
    levels: tuple[str, ...] = texts(_l("Levels"))
    years: tuple[str, ...] = texts(_l("Class years"))


def details(session: Session, course: Course) -> CourseDetails:
    department = session.get_one(Department, course.department_id)
    return CourseDetails(
        **CourseDetails.plain_values(course),
        department=department.code,
        credits=(course.credits_min, course.credits_max),
        majors=tuple(sorted(each.code for each in course.restricted_to)),
    )


def find(session: Session, course_id: int) -> Course | None:
    """Return the course unless it is deleted."""
    found = select(Course).where(Course.id == course_id, Course.deleted_at.is_(None))
    return session.scalar(found)


def departments(session: Session) -> dict[str, str]:
    """Return the names of departments by code."""
    found = select(Department.code, Department.name).where(Department.deleted_at.is_(None))
    return {code: f"{code} {name}" for code, name in session.execute(found.order_by("code"))}


def new_subject(session: Session, code: str) -> bool:
    """Return whether no course or student has the subject of a course code yet."""
    found = select(Subject.id).where(Subject.code == subject_of(code))
    return session.scalar(found.where(Subject.deleted_at.is_(None))) is None


def create(change: RecordChange[CourseDetails]) -> int:
    """Store a new course; return its id. Raise Taken or ChangedMeanwhile.

    The same form sent twice creates it once.
    """
    try:
        with transaction() as session:
            course = Course(code=change.wanted.code)
            _write(session, course, change.wanted)
            session.add(course)
            session.flush()
            change.note(session, "course.create", f"course:{course.id}")
            return course.id
    except IntegrityError as error:
        if same := _created_before(change):
            return same
        raise Taken from error


def _created_before(change: RecordChange[CourseDetails]) -> int | None:
    """Return the course if the account has created it by the same form."""
    made = change.made_before("course.create", func.concat("course:", Course.id))
    named = Course.code == change.wanted.code, Course.deleted_at.is_(None)
    with transaction() as session:
        course = session.scalar(select(Course).where(*named, made))
        return course.id if course and details(session, course) == change.wanted else None


def edit(
    session: Session,
    course_id: int,
    change: RecordChange[CourseDetails],
    following: Sequence[SeenSection],
) -> None:
    """Give the course other details, and the sections what has changed of them.

    Do nothing if that is done already. Raise ChangedMeanwhile if the course is no longer as it was
    seen; InTheWay if something needs its code; Taken; and Stale or NotPossible of
    `catalog.sections` for a section.
    """
    lock_terms(session)
    course = session.get_one(Course, course_id, with_for_update=True)
    before, wanted = details(session, course), change.wanted
    if not change.differs(before, course.deleted_at):
        return
    if found := code_obstacles(session, course_id, before, wanted):
        raise InTheWay(found)
    for each in following:
        stored = sections.find_section(session, each.term_id, each.section_id)
        if stored is None or stored.course_id != course_id:
            raise ChangedMeanwhile
        details_then = followed(stored, before, wanted)
        sections.edit_within(session, each, details_then, change.by, change.reason)
    try:
        _write(session, course, wanted)
        session.flush()
    except IntegrityError as error:
        raise Taken from error
    offered_in = select(Section.term_id).where(Section.course_id == course_id)
    newer = update(Term).values(catalog_version=Term.catalog_version + 1)
    session.execute(newer.where(Term.id.in_(offered_in)))
    change.note(session, "course.edit", f"course:{course_id}", before)


def code_obstacles(
    session: Session, course_id: int, old: CourseDetails, new: CourseDetails
) -> list[Obstacle]:
    """Return what refers to the code of the course, if it is to change."""
    if old.code == new.code:
        return []
    return find_obstacles(session, USES_OF_CODE, course_id, old.code)


def offered(session: Session, course_id: int) -> list[tuple[Term, int]]:
    """Return the terms that have sections of the course, latest first, each with their number."""
    found = (
        select(Term, func.count(Section.id))
        .join(Section, Section.term_id == Term.id)
        .where(Section.course_id == course_id, Section.deleted_at.is_(None))
        .where(Term.deleted_at.is_(None), ~Term.practice)
        .group_by(Term.id)
        .order_by(Term.starts_on.desc())
    )
    return [(term, count) for term, count in session.execute(found)]


def lasts(term: Term) -> bool:
    """Return whether the sections of the term may follow a course: it is not over."""
    return term.state != "archived" and term.ends_on >= today()


def following(
    session: Session,
    course_id: int,
    old: CourseDetails,
    new: CourseDetails,
    terms: Collection[int],
) -> list[tuple[StoredSection, SectionDetails]]:
    """Return the sections of these terms that a change of the course changes, and their details."""
    found = (
        select(Section.term_id, Section.id)
        .join(Term, Term.id == Section.term_id)
        .where(Section.course_id == course_id, Section.term_id.in_(terms))
        .where(Section.deleted_at.is_(None), Section.status.in_(EDITABLE))
        .order_by(Term.starts_on, Section.number, Section.id)
    )
    several = (sections.find_section(session, *each) for each in session.execute(found))
    pairs = [(each, followed(each, old, new)) for each in several if each]
    return [(each, wanted) for each, wanted in pairs if each.details != wanted]


def followed(stored: StoredSection, old: CourseDetails, new: CourseDetails) -> SectionDetails:
    """Return the section's details with what changes of the course; its own title stays."""
    names = [name for name in FOLLOWED if getattr(old, name) != getattr(new, name)]
    if stored.details.title != old.title:
        names = [name for name in names if name != "title"]
    return replace(stored.details, **{name: getattr(new, name) for name in names})


def _write(session: Session, course: Course, wanted: CourseDetails) -> None:
    """Write the details. Raise ChangedMeanwhile if the department or a major is deleted."""
    if course.code != wanted.code or course.subject_id is None:
        course.subject_id = _subject(session, wanted)
    wanted.write_plain(course)
    [department] = by_code(session, Department, [wanted.department], locked=True).values()
    course.department_id = department.id
    course.credits_min, course.credits_max = wanted.credits
    course.restricted_to = list(by_code(session, Subject, wanted.majors, locked=True).values())


def _subject(session: Session, wanted: CourseDetails) -> int:
    """Return the subject of a code, a new one if there is none yet."""
    code = subject_of(wanted.code)
    subject = session.scalar(select(Subject).where(Subject.code == code))
    if subject is None:
        [department] = by_code(session, Department, [wanted.department], locked=True).values()
        subject = Subject(code=code, name=code, department_id=department.id)
        session.add(subject)
        session.flush()
    if subject.deleted_at:
        raise ChangedMeanwhile
    return subject.id
