"""Admin changes of sections: each is atomic, and only for the version that the admin has seen."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlalchemy import Row, Select, delete, func, insert, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog import deletion, requisites, seat_pools, section_changes, views
from portal.catalog.models import (
    Course,
    CrossList,
    Department,
    Instructor,
    Meeting,
    Reserve,
    Restriction,
    Room,
    Section,
    Term,
    section_instructors,
)
from portal.catalog.record_details import Difference
from portal.catalog.seat_pools import SeatPool
from portal.catalog.section_fields import FIELDS, NamedInstructor, SectionDetails
from portal.catalog.views import ReserveView
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import in_language

INITIAL_SEATS, INITIAL_WAITLIST = 30, 10
RUNNING = {"OPEN", "CONFIRMED"}
EDITABLE = {"NEW", *RUNNING}
LISTS: dict[str, Any] = {
    "meetings": Meeting.__table__,
    "instructors": section_instructors,
    "restrictions": Restriction.__table__,
    "cross_lists": CrossList.__table__,
}


class Stale(Exception):
    """The section has changed since the version that the admin has seen."""

    def __init__(self, section_id: int) -> None:
        super().__init__(section_id)
        self.section_id = section_id


class NotPossible(Exception):
    """The section's state forbids it, by `code`.

    Codes: its status; deleted, not_deleted, held, unknown, crn_taken, course_deleted, pooled,
    pool_name_taken, room_unknown.
    """

    def __init__(self, code: str, section_id: int = 0) -> None:
        super().__init__(code)
        self.code = code
        self.section_id = section_id


@dataclass(frozen=True)
class StatusChange:
    """From which statuses, and to which; or whether the section is to be deleted."""

    of: frozenset[str]
    status: str = ""
    deletes: bool | None = None


STATUS_CHANGES = {
    "publish": StatusChange(frozenset({"NEW"}), "OPEN"),
    # Only while no student has a seat or waits; whoever does it checks that afterwards too.
    "unpublish": StatusChange(frozenset({"OPEN"}), "NEW"),
    "confirm": StatusChange(frozenset({"OPEN"}), "CONFIRMED"),
    "reopen": StatusChange(frozenset({"CONFIRMED"}), "OPEN"),
    "cancel": StatusChange(frozenset({"OPEN", "CONFIRMED"}), "CANCELED"),
    # These cannot be claimed, so no claim comes between the check for students and the change.
    "reoffer": StatusChange(frozenset({"CANCELED"}), "NEW"),
    "delete": StatusChange(frozenset({"NEW", "CANCELED"}), deletes=True),
    "undelete": StatusChange(frozenset({"NEW", "CANCELED"}), deletes=False),
}


@dataclass(frozen=True)
class SeenSection:
    """A section, and the version of it that the admin has seen."""

    term_id: int
    section_id: int
    version: int


@dataclass(frozen=True)
class StoredSection:
    """A stored section: the fields that an admin may set, and its status and version."""

    id: int
    term_id: int
    course_id: int
    course_code: str
    course_title: str
    department_id: int
    crn: str
    status: str
    deleted: bool
    incomplete: bool  # deleted, and so is its course or a room
    prior: int
    version: int
    details: SectionDetails
    pool: SeatPool | None  # seats that it shares with other sections

    @property
    def name(self) -> str:
        """Return its usual name, such as CSC 1100-01."""
        return requisites.section_name(self.course_code, self.details.number)

    @property
    def subject(self) -> str:
        """Return its reference in the audit trail."""
        return f"term:{self.term_id} section:{self.id}"

    @property
    def obstacle(self) -> str:
        """Return the code of the reason that forbids editing it, blank without one."""
        return _not_editable(deleted=self.deleted, status=self.status)

    @property
    def mark(self) -> str:
        """Return what tells this version from others, for a form to send back."""
        return str(self.version)

    def differences(self, new: SectionDetails) -> list[Difference]:
        """Return the fields that differ in `new`, as people read them."""
        return self.details.differences(new)


def find_section(session: Session, term_id: int, section_id: int) -> StoredSection | None:
    """Return the section of that id, deleted or not."""
    found = select(Section).where(Section.term_id == term_id, Section.id == section_id)
    section = session.scalar(found)
    return as_stored(session, section) if section else None


def name_key(name: str) -> str:
    """Return a section's name or CRN in the form in which typed names are compared."""
    return " ".join(name.upper().replace("-", " ").split())


def term_of_section(session: Session, typed: str, other_than: int) -> str:
    """Return the latest other term with a section of this name or CRN; blank if there is none."""
    number = (typed.replace("-", " ").split() or [typed])[-1]
    found = (
        select(Course.code, Section.number, Section.crn, Term.name)
        .join(Course, Course.id == Section.course_id)
        .join(Term, Term.id == Section.term_id)
        .where(Section.term_id != other_than, Section.deleted_at.is_(None))
        .where((Section.number == number) | (Section.crn == typed))
        .order_by(Term.starts_on.desc())
    )
    for code, number, crn, term in session.execute(found):
        if name_key(typed) in {name_key(f"{code}-{number}"), name_key(crn)}:
            return str(term)
    return ""


def courses(session: Session, term_id: int) -> Sequence[Row[int, str, str, int, int]]:
    """Return id, code, title and department of each course, and its number of sections there."""
    here = (Section.term_id == term_id) & Section.deleted_at.is_(None)
    query = (
        select(
            *(Course.id, Course.code, Course.title, Course.department_id),
            func.count(Section.id).label("sections"),
        )
        .outerjoin(Section, (Section.course_id == Course.id) & here)
        .where(Course.deleted_at.is_(None))
        .group_by(Course.id)
        .order_by(Course.code)
    )
    return session.execute(query).all()


def initial_details(
    session: Session, term_id: int, course: Course, elsewhere: Container[str]
) -> tuple[SectionDetails, str]:
    """Return the details with which a new section of the course begins, and the next free CRN.

    Numbers that are in use `elsewhere` are not free.
    """
    numbers = select(Section.number, Section.crn, Section.course_id)
    taken = session.execute(numbers.where(Section.term_id == term_id)).all()
    siblings = {row.number for row in taken if row.course_id == course.id}
    crns = [int(row.crn) for row in taken if row.crn.isascii() and row.crn.isdigit()]
    details = SectionDetails(
        number=next(each for n in range(1, 10_000) if (each := f"{n:02}") not in siblings),
        title=course.title,
        credits=(course.credits_min, course.credits_max),
        prerequisites=course.prerequisites,
        corequisites=course.corequisites,
        capacity=INITIAL_SEATS,
        waitlist=INITIAL_WAITLIST,
    )
    following = map(str, count(max(crns, default=9999) + 1))
    return details, next(each for each in following if each not in elsewhere)


def create_section(  # noqa: PLR0913 - what a section needs to begin
    term_id: int,
    course_id: int,
    crn: str,
    details: SectionDetails,
    by: int,
    *,
    new_rooms: bool,
) -> int:
    """Store a new draft, which students do not see; return its id. Raise `NotPossible`.

    Without `new_rooms` it meets in rooms that are in the catalog.
    """
    try:
        with transaction() as session:
            raise_catalog_version(session, term_id)
            # A deletion holds the term's lock too: none comes between this check and the draft.
            known = select(Course.id).where(Course.id == course_id, Course.deleted_at.is_(None))
            if session.scalar(known) is None:
                raise NotPossible("course_deleted")
            section = Section(term_id=term_id, course_id=course_id, crn=crn, prior_enrolled=0)
            _write_columns(section, details)
            if not new_rooms:
                _check_rooms(session, details, SectionDetails())
            session.add(section)
            session.flush()
            _restore_rooms(session, details, by, reason="")
            _write_lists(session, section.id, details, None)
            _audit(session, "create", None, section, by, reason="")
            return section.id
    except IntegrityError as error:
        raise NotPossible("crn_taken") from error


def edit_sections(
    several: Sequence[tuple[SeenSection, SectionDetails]],
    by: int,
    reason: str = "",
    *,
    new_rooms: bool = True,
) -> None:
    """Give sections of a term other details, all of them or none.

    Without `new_rooms` none may begin to meet in a room that is not in the catalog. Raise `Stale`
    or `NotPossible` with the id of the section for which it is not possible.
    """
    with transaction() as session:
        for seen, details in several:
            edit_within(session, seen, details, by, reason, new_rooms=new_rooms)


def edit_within(  # noqa: PLR0913  what an edit needs
    session: Session,
    seen: SeenSection,
    details: SectionDetails,
    by: int,
    reason: str,
    *,
    new_rooms: bool = True,
) -> None:
    """Give the section other details in a transaction. Raise `Stale` or `NotPossible`."""
    with _change(session, "edit", seen, by, reason) as (section, before):
        if before.obstacle:
            raise NotPossible(before.obstacle, section.id)
        if not new_rooms:
            _check_rooms(session, details, before.details, section.id)
        _restore_rooms(session, details, by, reason)
        _write_columns(section, details)
        _write_lists(session, section.id, details, before.details)


def change_status(
    action: str, several: Sequence[SeenSection], by: int | None, reason: str = ""
) -> None:
    """Make one of STATUS_CHANGES for sections of a term: for all of them or none.

    `by` is None for the portal itself. Raise `Stale` or `NotPossible` with the id of the section
    for which it is not possible. Before sections are deleted, the caller checks with the ledger
    that no student has a seat or waits.
    """
    with transaction() as session:
        for seen in several:
            change_status_within(session, action, seen, by, reason)


def change_status_within(
    session: Session, action: str, seen: SeenSection, by: int | None, reason: str
) -> None:
    """Make one of STATUS_CHANGES in a transaction, as `change_status` does.

    `by` is None at the command line and for the portal itself. Raise `Stale` or `NotPossible`.
    """
    wanted = STATUS_CHANGES[action]
    with _change(session, action, seen, by, reason) as (section, before):
        if why := status_obstacle(action, before):
            raise NotPossible(why, section.id)
        section.status = wanted.status or section.status
        if wanted.deletes is not None:
            section.deleted_at = datetime.now(UTC) if wanted.deletes else None


def status_obstacle(action: str, stored: StoredSection) -> str:
    """Return the code of what forbids one of STATUS_CHANGES, blank where nothing does."""
    wanted = STATUS_CHANGES[action]
    if stored.deleted != (wanted.deletes is False):
        return "deleted" if stored.deleted else "not_deleted"
    if stored.incomplete:
        return "incomplete"
    return "" if stored.status in wanted.of else stored.status


def share_seats(term_id: int, wanted: SeatPool, by: int, reason: str = "") -> set[int]:
    """Have the sections of `wanted` share its seats; return the sections that this concerns.

    With fewer than two sections the pool goes. `wanted.id` and `wanted.version` are those of the
    pool that the admin has seen, 0 for a new one. Raise `Stale`, or `NotPossible`.
    """
    try:
        with transaction() as session:
            raise_catalog_version(session, term_id)  # also serializes changes of the term's pools
            pool = seat_pools.find_or_create(session, term_id, wanted)
            if pool is None:
                raise Stale(0)
            members = session.scalars(select(Section.id).where(Section.pool_id == pool.id))
            sections = _locked(session, term_id, {*members, *wanted.ids})
            for section in sections:
                _check_pool(section, wanted, pool.id)
            before = [as_stored(session, each) for each in sections]
            seat_pools.store(session, pool, sections, wanted)
            for section, old in zip(sections, before, strict=True):
                _audit(session, "share", old, section, by, reason)
            return {each.id for each in sections}
    except IntegrityError as error:
        raise NotPossible("pool_name_taken") from error


def done_before(action: str, several: Sequence[SeenSection], by: int) -> bool:
    """Return whether the account has done it already, to each section as it was seen."""
    subjects = {f"term:{each.term_id} section:{each.section_id}": each for each in several}
    found = select(AuditEntry.subject, AuditEntry.before["version"].as_integer()).where(
        AuditEntry.subject.in_(subjects),
        AuditEntry.action == f"section.{action}",
        AuditEntry.account_id == by,
    )
    with transaction() as session:
        done = {(subject, version) for subject, version in session.execute(found)}
    return done >= {(subject, seen.version) for subject, seen in subjects.items()}


def unchanged(several: Sequence[SeenSection]) -> bool:
    """Return whether one of the sections is still as it was seen."""
    seen = [(each.section_id, each.version) for each in several]
    found = select(Section.id).where(tuple_(Section.id, Section.version).in_(seen)).limit(1)
    with transaction() as session:
        return session.scalar(found) is not None


def named_instructors(session: Session) -> list[NamedInstructor]:
    """Return everyone who may teach, sorted; namesakes with their department or their id.

    They are read once in a transaction.
    """
    if known := session.info.get("instructors"):
        return list(known)
    found = (
        select(Instructor.id, Instructor.name, Department.code)
        .outerjoin(Department, Department.id == Instructor.department_id)
        .where(Instructor.deleted_at.is_(None))
        .order_by(Instructor.name, Instructor.id)
    )
    rows = session.execute(found).all()
    spellings = []
    for row in rows:
        full = f"{row.name} ({row.code})" if row.code else row.name
        spellings.append((row.name, full, f"{full} #{row.id}"))
    counts = [Counter(alike) for alike in zip(*spellings, strict=True)]
    session.info["instructors"] = [
        NamedInstructor(row.id, next(name for n, name in enumerate(names) if counts[n][name] == 1))
        for row, names in zip(rows, spellings, strict=True)
    ]
    return list(session.info["instructors"])


def forget_instructors(session: Session) -> None:
    """Read those who may teach again, when they are next asked for in this transaction."""
    session.info.pop("instructors", None)


def raise_catalog_version(session: Session, term_id: int) -> None:
    """Make every process reload the term's catalog.

    Call it before other changes, because imports lock the term first.
    """
    moved = {"catalog_version": Term.catalog_version + 1}
    session.execute(update(Term).where(Term.id == term_id).values(moved))


def as_stored(session: Session, section: Section) -> StoredSection:
    """Return everything that is stored about a section."""
    course = session.get_one(Course, section.course_id)
    deleted = section.deleted_at is not None
    return StoredSection(
        id=section.id,
        term_id=section.term_id,
        course_id=course.id,
        course_code=course.code,
        course_title=course.title,
        department_id=course.department_id,
        crn=section.crn,
        status=section.status,
        deleted=deleted,
        incomplete=deleted and _needs_deleted(session, section, course),
        prior=section.prior_enrolled,
        version=section.version,
        details=_details(session, section, session.get_one(Term, section.term_id)),
        pool=seat_pools.of_section(session, section),
    )


def _needs_deleted(session: Session, section: Section, course: Course) -> bool:
    """Return whether the section's course or one of its rooms is deleted from the catalog."""
    rooms = select(Room.id).join(Meeting, Meeting.room_id == Room.id)
    gone = rooms.where(Meeting.section_id == section.id, Room.deleted_at.is_not(None))
    return course.deleted_at is not None or session.scalar(gone.limit(1)) is not None


def _audit(  # noqa: PLR0913, PLR0917 - what an entry has
    session: Session,
    action: str,
    before: StoredSection | None,
    section: Section,
    by: int | None,
    reason: str,
) -> StoredSection:
    """Add an entry on a section whose changes are written; return how it is stored now."""
    session.flush()
    session.expire(section)
    after = as_stored(session, section)
    with in_language(""):
        add_audit_entry(
            session,
            f"section.{action}",
            after.subject,
            by=by,
            before=_audited(before) if before else None,
            after=_audited(after),
            reason=reason,
        )
    return after


def _audited(stored: StoredSection) -> dict[str, Any]:
    apart = {name: getattr(stored, name) for name in ("crn", "status", "deleted", "version")}
    shares = {"shares": stored.pool.lines} if stored.pool else {}
    return {"course": stored.course_code, **apart, **stored.details.facts, **shares}


@contextmanager
def _change(
    session: Session, action: str, seen: SeenSection, by: int | None, reason: str
) -> Iterator[tuple[Section, StoredSection]]:
    """Lock the section to change it in the block, and audit the change. Raise `Stale`."""
    raise_catalog_version(session, seen.term_id)
    [section] = _locked(session, seen.term_id, [seen.section_id])
    if section.version != seen.version:
        raise Stale(seen.section_id)
    before = as_stored(session, section)
    yield section, before
    section.version += 1
    after = _audit(session, action, before, section, by, reason)
    section.unread = _left_unread(section, before.details, after.details)
    section_changes.store(session, section.id, section.version, before.details, after.details)


def _left_unread(
    section: Section, before: SectionDetails, after: SectionDetails
) -> dict[str, list[str]] | None:
    """Return what an import could not read and no one has entered; nothing once it is published."""
    if section.unread is None or section.status != "NEW":
        return None
    changed = {name for name in FIELDS if getattr(before, name) != getattr(after, name)}
    if "corequisites" in changed:  # the import may have meant these
        changed.add("prerequisites")
    return {name: texts for name, texts in section.unread.items() if name not in changed}


def _locked(session: Session, term_id: int, ids: Iterable[int]) -> list[Section]:
    """Return the sections by id, locked. Raise `NotPossible` if one is missing."""
    wanted = set(ids)
    found = select(Section).where(Section.term_id == term_id, Section.id.in_(wanted))
    sections = list(session.scalars(found.order_by(Section.id).with_for_update()))
    for missing in sorted(wanted - {each.id for each in sections}):
        raise NotPossible("unknown", missing)
    return sections


def _check_pool(section: Section, wanted: SeatPool, pool_id: int) -> None:
    if section.id not in wanted.ids or section.pool_id == pool_id:
        return
    why = _not_editable(deleted=section.deleted_at is not None, status=section.status)
    if why or section.pool_id:
        raise NotPossible(why or "pooled", section.id)


def _not_editable(*, deleted: bool, status: str) -> str:
    return "deleted" if deleted else "" if status in EDITABLE else status


# How the fields are read from their tables, and written to them.


def _details(session: Session, section: Section, term: Term) -> SectionDetails:
    def rows(query: Select[Any], column: Any) -> Any:
        return session.execute(query.where(column == section.id))

    chosen = select(section_instructors.c.instructor_id)
    ids = {row.instructor_id for row in rows(chosen, section_instructors.c.section_id)}
    meetings = rows(views.select_meetings(term.id), Meeting.section_id)
    reserves = rows(views.select_reserves(term.id), Reserve.section_id)
    dates = (term.starts_on, term.ends_on)
    restrictions = sorted(section.restrictions, key=lambda each: each.id)
    return SectionDetails(
        **SectionDetails.plain_values(section),
        credits=(section.credits_min, section.credits_max),
        instructors=tuple(each for each in named_instructors(session) if each.id in ids),
        meetings=tuple(views.meeting_view(row, dates) for row in meetings),
        restrictions=tuple((each.rule, each.kind, each.value) for each in restrictions),
        cross_lists=tuple(sorted(each.course_code for each in section.cross_lists)),
        reserves=tuple(ReserveView(*row[1:]) for row in reserves),
    )


def _write_columns(section: Section, details: SectionDetails) -> None:
    details.write_plain(section)
    section.credits_min, section.credits_max = details.credits


def _write_lists(
    session: Session, section_id: int, details: SectionDetails, before: SectionDetails | None
) -> None:
    """Write the lists that differ: meetings, teachers, restrictions, cross-lists, reserves."""
    for name, table in LISTS.items():
        if before is None or getattr(details, name) != getattr(before, name):
            session.execute(delete(table).where(table.c.section_id == section_id))
            if rows := _rows(session, name, details):
                session.execute(insert(table), [{"section_id": section_id} | row for row in rows])
    _write_reserves(session, section_id, details, before)


def _rows(session: Session, name: str, details: SectionDetails) -> list[dict[str, Any]]:
    match name:
        case "instructors":
            return [{"instructor_id": each.id} for each in details.instructors]
        case "cross_lists":
            return [{"course_code": code} for code in details.cross_lists]
        case "restrictions":
            names = ("rule", "kind", "value")
            return [dict(zip(names, each, strict=True)) for each in details.restrictions]
    rooms = _room_ids(session, _rooms(details))
    return [
        {
            "position": position,
            "kind": each.code,
            "days": each.mask,
            "starts_at": views.clock_time(each.start),
            "ends_at": views.clock_time(each.end),
            "date_start": each.first,
            "date_end": each.last,
            "room_id": rooms.get(each.room),
            "clashes": each.clashes,
        }
        for position, each in enumerate(details.meetings, 1)
    ]


def _write_reserves(
    session: Session, section_id: int, details: SectionDetails, before: SectionDetails | None
) -> None:
    """Write reserved seats. What stays keeps its id: the ledger counts the seats given by it."""
    known = {each.id for each in before.reserves} if before else set()
    gone = known - {each.id for each in details.reserves}
    session.execute(delete(Reserve).where(Reserve.id.in_(gone)))
    for position, each in enumerate(details.reserves, 1):
        row = {"seats": each.seats, "cohort": dict(each.cohort), "until": each.until}
        row["position"] = position
        if each.id in known:
            known.remove(each.id)
            session.execute(update(Reserve).where(Reserve.id == each.id).values(row))
        else:
            session.execute(insert(Reserve).values(section_id=section_id, **row))


def _rooms(details: SectionDetails) -> list[str]:
    """Return the names of the rooms in which a section meets."""
    return sorted({each.room for each in details.meetings if each.room})


def unknown_rooms(
    session: Session, details: SectionDetails, before: SectionDetails | None = None
) -> list[str]:
    """Return the rooms of a section that are not in the catalog, without those it has already."""
    new = set(_rooms(details)) - set(_rooms(before) if before else ())
    known = select(Room.name).where(Room.name.in_(new), Room.deleted_at.is_(None))
    return sorted(new.difference(session.scalars(known)))


def _check_rooms(
    session: Session, details: SectionDetails, before: SectionDetails, section_id: int = 0
) -> None:
    """Raise `NotPossible` if a room is new; the term's lock keeps deletions of others away."""
    if unknown_rooms(session, details, before):
        raise NotPossible("room_unknown", section_id)


def _restore_rooms(session: Session, details: SectionDetails, by: int, reason: str) -> None:
    """Restore deleted rooms in which the section meets; the term's lock keeps deletions away."""
    named = Room.name.in_(_rooms(details)), Room.deleted_at.is_not(None)
    for room in session.scalars(select(Room).where(*named).order_by(Room.name).with_for_update()):
        room.deleted_at = None
        deletion.note_change(session, f"room:{room.id}", delete=False, by=by, reason=reason)


def _room_ids(session: Session, names: Sequence[str]) -> dict[str, int]:
    """Return the ids of rooms by name, after adding unknown ones."""
    if not names:
        return {}
    wanted = [{"name": name} for name in names]
    session.execute(upsert(Room).values(wanted).on_conflict_do_nothing())
    found = select(Room.name, Room.id).where(Room.name.in_(names))
    return dict(session.execute(found).all())
