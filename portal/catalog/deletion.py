"""Departments, subjects, courses, rooms and terms: deleted from the catalog, and restored.

Rows stay, as history and the event log refer to them. A record is deleted only if no other record
depends on it, and restored only if nothing that it needs is deleted.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import func, or_, select, text, update
from sqlalchemy.orm import InstrumentedAttribute, Session

from portal.backend import backend
from portal.catalog.models import Course, Department, Room, Subject, Term
from portal.catalog.spellings import Unreadable, code_of
from portal.core.audit_trail import add_audit_entry
from portal.core.checkpoints import checkpoint
from portal.core.i18n import _l

PAGE = 50
NAMED = 5  # records that an obstacle names

UNRECORDED = _l("Decisions that are not recorded yet")
WITH_STUDENTS = _l("Sections with students")

# Sections that are taught or will be: those of past terms are history.
SECTIONS = """
    SELECT courses.code || '-' || sections.number
    FROM sections JOIN courses ON courses.id = sections.course_id
    JOIN terms ON terms.id = sections.term_id
    WHERE sections.deleted_at IS NULL AND sections.status <> 'CANCELED'
    AND terms.deleted_at IS NULL AND terms.ends_on >= now()::date
"""
# Whether students have a seat in a section, or wait for one.
HAS_STUDENTS = """
    (sections.id IN (SELECT section_id FROM enrollments WHERE state = 'enrolled') OR sections.id IN
    (SELECT section_id FROM waitlist_positions WHERE state IN ('waiting', 'passed')))
"""
# Whether the course with `code` is in the trees of a section or of a course.
REQUIRES = """
    EXISTS (
        SELECT FROM (VALUES ({0}.prerequisites), ({0}.corequisites)) AS tree (node)
        WHERE jsonb_path_exists(
            node, '$.**.course ? (@ == $code)', jsonb_build_object('code', CAST(:code AS text))
        )
    )
"""


@dataclass(frozen=True)
class Dependency:
    """Records that are linked to one: a query of their names, with the `id` and `code` of that."""

    label: Any
    query: str


@dataclass(frozen=True)
class Kind:
    """A kind of catalog record: its columns, what depends on it, and what it needs."""

    label: Any
    model: type[Any]
    code: InstrumentedAttribute[str]  # unique
    title: InstrumentedAttribute[str]
    dependencies: Sequence[Dependency]
    needs: Sequence[Dependency] = ()  # deleted records without which it can't be restored


def _needs(label: Any, table: str, needing: str) -> Dependency:
    """Return the dependency of a record on the one in `table` that it names, if that is deleted."""
    return Dependency(
        label,
        f"SELECT {table}s.code FROM {table}s JOIN {needing} ON {table}_id = {table}s.id"
        f" WHERE {needing}.id = :id AND {table}s.deleted_at IS NOT NULL",
    )


KINDS: dict[str, Kind] = {
    "department": Kind(
        _l("Departments"),
        Department,
        Department.code,
        Department.name,
        (
            Dependency(
                _l("Courses"),
                "SELECT code FROM courses WHERE department_id = :id AND deleted_at IS NULL",
            ),
            Dependency(
                _l("Subjects"),
                "SELECT code FROM subjects WHERE department_id = :id AND deleted_at IS NULL",
            ),
            Dependency(
                _l("Instructors"),
                "SELECT name FROM instructors WHERE department_id = :id AND deleted_at IS NULL",
            ),
        ),
    ),
    "subject": Kind(
        _l("Subjects"),
        Subject,
        Subject.code,
        Subject.name,
        (
            Dependency(
                _l("Courses"),
                "SELECT code FROM courses WHERE deleted_at IS NULL AND (subject_id = :id OR id IN"
                " (SELECT course_id FROM course_subjects WHERE subject_id = :id))",
            ),
            Dependency(
                _l("Students with this major or minor"),
                "SELECT number FROM students JOIN student_subjects ON student_id = students.id"
                " WHERE subject_id = :id AND deleted_at IS NULL",
            ),
        ),
        (_needs(_l("Departments"), "department", "subjects"),),
    ),
    "course": Kind(
        _l("Courses"),
        Course,
        Course.code,
        Course.title,
        (
            Dependency(_l("Sections"), SECTIONS + "AND sections.course_id = :id"),
            Dependency(
                _l("Sections that require it"), f"{SECTIONS} AND {REQUIRES.format('sections')}"
            ),
            Dependency(
                _l("Courses that require it"),
                "SELECT code FROM courses WHERE deleted_at IS NULL AND id <> :id"
                f" AND {REQUIRES.format('courses')}",
            ),
        ),
        (
            _needs(_l("Subjects"), "subject", "courses"),
            _needs(_l("Departments"), "department", "courses"),
        ),
    ),
    "room": Kind(
        _l("Rooms"),
        Room,
        Room.name,
        Room.name,
        (
            Dependency(
                _l("Sections"),
                SECTIONS + "AND sections.id IN"
                " (SELECT section_id FROM meetings WHERE room_id = :id)",
            ),
        ),
    ),
    "term": Kind(
        _l("Terms"),
        Term,
        Term.name,
        Term.name,
        (
            Dependency(
                _l("Windows"),
                "SELECT name FROM windows WHERE term_id = :id AND state = 'scheduled'"
                " AND closes_at > now()",
            ),
            Dependency(
                _l("Allocation rounds to publish or cancel"),
                "SELECT name FROM rounds WHERE term_id = :id"
                " AND state IN ('open', 'closed', 'computed', 'published')",
            ),
            Dependency(
                WITH_STUDENTS,
                f"{SECTIONS} AND sections.term_id = :id AND {HAS_STUDENTS}",
            ),
            Dependency(
                _l("Undecided applications"),
                "SELECT id::text FROM applications WHERE term_id = :id"
                " AND state IN ('draft', 'review', 'more', 'acting')",
            ),
        ),
    ),
}


@dataclass(frozen=True)
class CatalogRecord:
    """A record of the catalog, deleted or not."""

    kind: str
    id: int
    code: str
    title: str
    deleted_at: datetime | None

    @property
    def subject(self) -> str:
        """Return how the audit trail refers to it."""
        return f"{self.kind}:{self.id}"


@dataclass(frozen=True)
class Obstacle:
    """Records that prevent a change: what they are, the first by name, and how many there are."""

    label: str
    names: Sequence[str]
    count: int

    @property
    def text(self) -> str:
        """Return all of it in a line: "Courses: CSC-1100, CSC-1200 and 12 more"."""
        more = f" +{self.count - len(self.names)}" if self.count > len(self.names) else ""
        return f"{self.label}: {', '.join(self.names)}{more}"


class InTheWay(Exception):
    """The record can't be deleted, or restored, because of others."""

    def __init__(self, obstacles: Sequence[Obstacle]) -> None:
        super().__init__("; ".join(each.text for each in obstacles))
        self.obstacles = obstacles


def records(
    session: Session, kind: str, search: str, page: int, *, deleted: bool
) -> tuple[list[CatalogRecord], bool]:
    """Return a page of the records that match, and whether more follow.

    They match by code and title as pages show them, and a course by each spelling of its code.
    """
    of = KINDS[kind]
    gone = of.model.deleted_at.is_not(None) if deleted else of.model.deleted_at.is_(None)
    found = _select(kind).where(gone).order_by(of.code)
    if kind == "term":
        found = found.where(~Term.practice)
    if search:
        spoken = func.replace(func.concat(of.code, " ", of.title), "-", " ")
        wanted = " ".join(search.replace("-", " ").split())
        match = [spoken.icontains(wanted, autoescape=True)]
        if kind == "course":
            with suppress(Unreadable):
                match.append(of.code.icontains(code_of(search), autoescape=True))
        found = found.where(or_(*match))
    rows = session.execute(found.offset((page - 1) * PAGE).limit(PAGE + 1)).all()
    return [CatalogRecord(kind, *row) for row in rows[:PAGE]], len(rows) > PAGE


def find(session: Session, kind: str, number: int) -> CatalogRecord | None:
    """Return the record, deleted or not."""
    row = session.execute(_select(kind).where(KINDS[kind].model.id == number)).one_or_none()
    return CatalogRecord(kind, *row) if row else None


def find_by_code(session: Session, kind: str, code: str) -> CatalogRecord | None:
    """Return the record with that code or name."""
    row = session.execute(_select(kind).where(KINDS[kind].code == code)).one_or_none()
    return CatalogRecord(kind, *row) if row else None


def obstacles(session: Session, record: CatalogRecord) -> list[Obstacle]:
    """Return what prevents the deletion of a record, or the restoration of a deleted one."""
    kind = KINDS[record.kind]
    found = []
    # This check comes first, so that the queries below see every decision that is recorded by now.
    if record.kind == "term" and not record.deleted_at and (count := _unrecorded(session, record)):
        found.append(Obstacle(str(UNRECORDED), [str(count)], 1))
    dependencies = kind.needs if record.deleted_at else kind.dependencies
    return found + find_obstacles(session, dependencies, record.id, record.code)


def find_obstacles(
    session: Session, dependencies: Sequence[Dependency], record_id: int, code: str
) -> list[Obstacle]:
    """Return what depends on the record with that id and code."""
    found = []
    for each in dependencies:
        values = {"id": record_id} | ({"code": code} if ":code" in each.query else {})
        names = sorted(set(session.scalars(text(each.query), values)))
        if names:
            found.append(Obstacle(str(each.label), names[:NAMED], len(names)))
    return found


def change(
    session: Session, record: CatalogRecord, *, delete: bool, by: int | None, reason: str
) -> bool:
    """Delete or restore a record and record who did; return False if it is so already.

    Raises InTheWay.
    """
    model = KINDS[record.kind].model
    lock_terms(session)
    row = session.get_one(model, record.id, with_for_update=True)
    if (row.deleted_at is not None) == delete:
        return False
    if found := obstacles(session, record):
        raise InTheWay(found)
    row.deleted_at = datetime.now(UTC) if delete else None
    # Terms share courses, subjects and rooms: every process reads their catalogs again.
    session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    note_change(session, record.subject, delete=delete, by=by, reason=reason)
    return True


def lock_terms(session: Session) -> None:
    """Let no section be added or changed meanwhile: that locks its term first."""
    session.execute(select(Term.id).order_by(Term.id).with_for_update(key_share=True))


def note_change(
    session: Session, subject: str, *, delete: bool, by: int | None, reason: str
) -> None:
    """Add an entry to the audit trail: a record was deleted or restored."""
    add_audit_entry(
        session,
        "catalog.delete" if delete else "catalog.restore",
        subject,
        by=by,
        before={"deleted": not delete},
        after={"deleted": delete},
        reason=reason,
    )


def _unrecorded(session: Session, term: CatalogRecord) -> int:
    """Return how many decisions of the term are only in the ledger; it may know of students."""
    decided = backend().ledger.last_seq(term.id)  # before the checkpoint, which may move on
    return max(0, decided - checkpoint(term.id, session))


def _select(kind: str) -> Any:
    of = KINDS[kind]
    return select(of.model.id, of.code, of.title.label("title"), of.model.deleted_at)
