"""What the ledger would refuse of an import's enrollments, found before anything is changed."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby, islice

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.catalog.models import Reserve
from portal.catalog.term_catalog import TermCatalog, read_catalog
from portal.exchange.importing.diff import Counts
from portal.exchange.importing.enrollments import NOT_CHECKED, Change, by_student, in_order
from portal.exchange.importing.report import SEAT, Note
from portal.exchange.importing.upserts import write_changes
from portal.ledger.types import NOT_OVERRIDABLE, HeldSeat, Registrations
from portal.people.student_profile import StudentProfile, read_all
from portal.recorder.models import Enrollment
from portal.registration import limits, rules
from portal.registration.credits import hundredths
from portal.registration.precheck import Precheck, not_open
from portal.registration.seat_counts import is_active

STUDENTS = 500  # read at once
SEATS = text("""
    SELECT sections.id, sections.capacity, prior_enrolled + coalesce(seats.taken, 0) AS taken,
        pool_id AS pool, pools.capacity AS pool_capacity, coalesce(lists.students, '{}') AS waiting
    FROM sections LEFT JOIN pools ON pools.id = pool_id
    LEFT JOIN (
        SELECT section_id, count(*) AS taken FROM enrollments
        WHERE term_id = :term AND state = 'enrolled' GROUP BY section_id
    ) AS seats ON seats.section_id = sections.id
    LEFT JOIN (
        SELECT section_id, array_agg(student_id ORDER BY band, ticket) AS students
        FROM waitlist_positions
        WHERE term_id = :term AND state = 'waiting' GROUP BY section_id
    ) AS lists ON lists.section_id = sections.id
    WHERE sections.term_id = :term
""")

Refused = list[tuple[int, Note]]  # rows of the import, and their notes


def precheck_preview(session: Session, import_id: int, counts: Counts, *, past: bool) -> Refused:
    """Return what would be refused if the import were applied now. Nothing is changed.

    Everything but the enrollments is written in a savepoint and rolled back, so that students and
    sections are as the import leaves them.
    """
    trial = session.begin_nested()
    try:
        write_changes(session, import_id, counts, lambda *_: None)
        return refused_enrollments(session, import_id, past=past)
    finally:
        trial.rollback()


def refused_enrollments(session: Session, import_id: int, *, past: bool) -> Refused:
    """Return what would be refused, once everything but the enrollments is written.

    A refused move keeps its old seat. So the others are checked again without what was refused,
    until nothing more is.
    """
    found = _Precheck(session, import_id, past)
    students = found.check(None)
    while students:
        students = found.check(students)
    return sorted(found.notes.items())


@dataclass
class _Precheck:
    session: Session
    import_id: int
    past: bool
    notes: dict[int, Note] = field(default_factory=dict)  # of rows that are refused
    reserves: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by row

    def check(self, students: set[int | None] | None) -> set[int | None]:
        """Refuse changes and return their students: by rules only these, by seats any student."""
        return self._by_rules(students) | (set() if self.past else self._by_seats())

    def _by_rules(self, students: set[int | None] | None) -> set[int | None]:
        """Check all changes of a student together, against what the student has in the term."""
        found: set[int | None] = set()
        left = (
            change
            for change in by_student(self.session, self.import_id)
            if change.id not in self.notes and (students is None or change.student in students)
        )
        for term, of_term in groupby(left, lambda change: change.term):
            catalog = read_catalog(self.session, term) if term else None
            grouped = groupby(of_term, lambda change: change.student)
            while batch := [(student, list(each)) for student, each in islice(grouped, STUDENTS)]:
                ids = [student for student, _changes in batch if student]
                people = read_all(self.session, ids)
                held = _held(self.session, term, ids) if term and not self.past else {}
                for student, changes in batch:
                    profile = people.get(student or 0)
                    if self._check_student(changes, profile, catalog, held.get(student or 0, [])):
                        found.add(student)
        return found

    def _check_student(
        self,
        changes: list[Change],
        profile: StudentProfile | None,
        catalog: TermCatalog | None,
        held: list[HeldSeat],
    ) -> bool:
        """Refuse additions of a student. With `past` only what makes no sense is refused."""
        added = [change for change in changes if not change.removes]
        against = {change.id: _not_overridable(change, profile, catalog) for change in added}
        if catalog and profile and not self.past:
            dropped = {change.section for change in changes if change.removes}
            remaining = [each for each in held if each.section not in dropped]
            sound = [change for change in added if not against[change.id]]
            against |= _rules_against(profile, catalog, remaining, sound)
        for change in added:
            section = catalog.section(change.section) if catalog and change.section else None
            if against[change.id]:
                self._refuse(change, against[change.id])
            elif profile and section and (reserves := rules.reserves(profile, section)):
                self.reserves[change.id] = reserves
        return any(against.values())

    def _by_seats(self) -> set[int | None]:
        """Drops count before additions, as in the ledger."""
        found, seats = set(), cache(lambda term: _Seats(self.session, term))
        for change in in_order(self.session, self.import_id):
            if change.id in self.notes:
                continue
            if change.removes:
                seats(change.term).leave(change.section or 0, change.student or 0)
            elif not seats(change.term).take(change, self.reserves.get(change.id, ())):
                self._refuse(change, ["full"])
                found.add(change.student)
        return found

    def _refuse(self, change: Change, codes: list[str]) -> None:
        self.notes |= dict(zip(change.rows, change.refusal(SEAT, codes), strict=True))


# Rules


def _not_overridable(
    change: Change, profile: StudentProfile | None, catalog: TermCatalog | None
) -> list[str]:
    """Return the code of a reason that can't be overridden."""
    section = catalog.section(change.section) if catalog and change.section else None
    if section is None:
        return ["section_unknown"]
    if profile is None:
        return ["student_unknown"]
    return [each.code for each in not_open(section) if each.code in NOT_OVERRIDABLE]


def _rules_against(
    profile: StudentProfile, catalog: TermCatalog, remaining: list[HeldSeat], changes: list[Change]
) -> dict[int, list[str]]:
    """Return, by row, the codes of what speaks against the student's having all of it."""
    claims = []
    for change in changes:
        if section := catalog.section(change.section or 0):
            least = hundredths(section.credits_min)
            claims.append((section, least if change.credits is None else change.credits))
    limit = hundredths(limits.credit_limit(profile, catalog))
    precheck = Precheck(profile, catalog, Registrations(tuple(remaining)), limit)
    refusals = precheck.refusals_together(claims)
    found = {}
    for change, (section, _credits) in zip(changes, claims, strict=True):
        codes = [each.code for each in refusals[section.id]]
        checked = (code for code in codes if code == "corequisite" or code not in NOT_CHECKED)
        found[change.id] = list(dict.fromkeys(checked))
    return found


def _held(session: Session, term: int, students: list[int]) -> dict[int, list[HeldSeat]]:
    found: defaultdict[int, list[HeldSeat]] = defaultdict(list)
    seats = select(Enrollment.student_id, Enrollment.section_id, Enrollment.credits).where(
        Enrollment.term_id == term,
        Enrollment.student_id.in_(students),
        Enrollment.state == "enrolled",
    )
    for student, section, credits_ in session.execute(seats):
        found[student].append(HeldSeat(section, credits_, registration=0, at=0))
    return found


# Seats


@dataclass
class _Section:
    capacity: int
    taken: int
    pool: int | None
    pool_capacity: int | None
    waiting: list[int]  # students, in order
    reserved: dict[int, int] = field(default_factory=dict)  # seats that a reserve still keeps
    under: dict[int, int] = field(default_factory=dict)  # by student, the reserve of the seat


class _Seats:
    """The seats of a term, counted on as an import would take them."""

    def __init__(self, session: Session, term: int) -> None:
        self.sections = {
            row[0]: _Section(*row[1:]) for row in session.execute(SEATS, {"term": term})
        }
        self.pools = Counter[int]()
        for section in self.sections.values():
            self.pools[section.pool or 0] += section.taken
        self._read_reserves(session, term)

    def leave(self, section_id: int, student: int) -> None:
        section = self.sections[section_id]
        self._count(section, -1)
        if reserve := section.under.pop(student, None):
            section.reserved[reserve] += 1

    def take(self, change: Change, reserves: tuple[int, ...]) -> bool:
        """Take a seat for a student of those reserves; return False if there is none."""
        section, student = self.sections[change.section or 0], change.student or 0
        reserved = {each: seats for each, seats in section.reserved.items() if seats > 0}
        reserve = next((each for each in reserved if each in reserves), 0)
        room = section.capacity - section.taken - (0 if reserve else sum(reserved.values()))
        if section.pool is not None:
            room = min(room, (section.pool_capacity or 0) - self.pools[section.pool])
        if room <= 0 or not self._is_next(section, student):
            return False
        if student in section.waiting:
            section.waiting.remove(student)
        if reserve:
            section.reserved[reserve] -= 1
        self._count(section, 1)
        return True

    def _is_next(self, section: _Section, student: int) -> bool:
        """Return whether the student is first on every waitlist of the pool that has students."""
        lists = [section.waiting]
        if section.pool is not None:
            lists = [each.waiting for each in self.sections.values() if each.pool == section.pool]
        return all(not waiting or waiting[0] == student for waiting in lists)

    def _count(self, section: _Section, by: int) -> None:
        section.taken += by
        self.pools[section.pool or 0] += by

    def _read_reserves(self, session: Session, term: int) -> None:
        found = select(Reserve).where(Reserve.section_id.in_(list(self.sections)))
        for each in session.scalars(found.order_by(Reserve.id)):
            if is_active(each):
                self.sections[each.section_id].reserved[each.id] = each.seats
        seats = select(Enrollment.section_id, Enrollment.student_id, Enrollment.reserve).where(
            Enrollment.term_id == term,
            Enrollment.state == "enrolled",
            Enrollment.reserve.is_not(None),
        )
        for section_id, student, reserve in session.execute(seats):
            section = self.sections[section_id]
            if reserve in section.reserved:
                section.reserved[reserve] -= 1
                section.under[student] = reserve
