"""Promotion: give free seats to the heads of waitlists, after checking PostgreSQL's rules."""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, func, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from portal.backend import backend
from portal.catalog.term_catalog import NoSuchTerm, TermCatalog, catalog_of, live_terms
from portal.core.audit_trail import AuditEntry
from portal.core.cache import AWAY
from portal.core.correlation import correlation
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Candidate, Decision, Promotion, Reason, WindowView
from portal.people import student_profile
from portal.people.models import Hold, Permission
from portal.recorder import event_log, journal
from portal.recorder.models import LoggedEvent, SectionSeats, WaitlistEntry
from portal.registration import rules
from portal.registration.credits import hundredths
from portal.registration.limits import credit_limit
from portal.windows.cohorts import open_to

AT_ONCE = 20  # students per round trip
# Fields of a section that say who may take it.
RULES_OF_SECTIONS = ("prerequisites", "corequisites", "restrictions", "consent")


def promote_waiting(term: int) -> None:
    """Promote in a term as a job does, unless the term was deleted meanwhile."""
    with suppress(NoSuchTerm):
        promote(term, correlation())


def promote(term: int, code: str) -> int:
    """Fill every free seat of the term that a waiting student may have; return their number.

    `code` is the correlation code of the promotions. First empty canceled sections whose
    cancellation has not finished.
    """
    ledger = backend().ledger
    offered, windows = catalog_of(term), ledger.windows(term)
    ledger.clear_woken(term, "promote")
    for section in sorted(ledger.emptying(term)):
        while ledger.empty(term, section).more:
            continue
    errors: list[Exception] = []
    promoted, workers, moved = 0, {"record"}, True
    while moved and not errors:  # seats of a pool may go to one waitlist after another
        moved = False
        for section in sorted(ledger.vacant(term)):
            try:
                for done in _fill(offered, section, windows, code):
                    promoted += len(done.promoted)
                    moved = moved or bool(done.promoted or done.skipped or done.aside)
                    workers.update(done.wake)  # a swap frees another seat
            except Exception as error:  # noqa: BLE001  one section must not starve the others
                errors.append(error)
    enqueue(term, sorted(workers))
    if errors:
        raise errors[0]
    return promoted


def _fill(
    offered: TermCatalog, section: int, windows: list[WindowView], code: str
) -> Iterator[Promotion]:
    ledger, term = backend().ledger, offered.term.id
    while True:
        seats = ledger.seats_of(term, [section])[section]
        heads = ledger.head(term, section, min(max(seats.open, seats.kept, 1), AT_ONCE))
        candidates = [_candidate(offered, section, student, windows) for student in heads]
        done = ledger.promote(term, section, candidates, code, offered.term.skip_rule)
        yield done
        # Another process may have changed the head. If nothing moved, the scheduler tries again.
        if not done.more or not (done.promoted or done.skipped or done.aside):
            return


def _candidate(
    offered: TermCatalog, section: int, student: int, windows: list[WindowView]
) -> Candidate:
    """Return the waiting student as PostgreSQL knows them now."""
    view = offered.section(section)
    try:
        who = student_profile.read(student)  # a hold may have just been lifted
    except LookupError:
        return _impossible(student, "student_unknown")
    if view is None:
        return _impossible(student, "section_unknown")
    return Candidate(
        student=student,
        windows=tuple(window.id for window in open_to(who, windows)),
        credit_limit=hundredths(credit_limit(who, offered)),
        **vars(rules.facts(who, view, offered)),
    )


def _impossible(student: int, code: str) -> Candidate:
    return Candidate(student=student, windows=(), credit_limit=0, rules=(Reason(code),))


# The next student in a seat that another has just dropped.

PAUSES = (0.02, 0.04, 0.08, 0.16)  # seconds between polls: a promotion takes a worker some ms
EVENTS_AFTER = 50  # events after a drop in which to search for its promotion


def waitlist_processed(term: int, dropped: Decision) -> bool | None:
    """Return True once the waitlist is processed, False if it can't move, else None."""
    counts = dropped.seats
    if counts is None or counts.status != "OPEN" or not (counts.open and counts.waiting):
        return False
    with suppress(LedgerUnavailable):  # the drop is done, and the response says so in any case
        for pause in PAUSES:
            time.sleep(pause)
            counts = backend().ledger.seats_of(term, [dropped.section])[dropped.section]
            if not counts.open or counts.waiting == counts.skipped:
                return True
    return None


def promoted_student(term: int, dropped: Decision) -> int | None:
    """Return the student who got the seat, if the promotion has been written yet."""
    events = []
    with suppress(LedgerUnavailable, *AWAY):
        events += journal.latest(term, EVENTS_AFTER, dropped.seq)
        with transaction() as session:
            events += event_log.read_events(session, term, dropped.seq, dropped.seq + EVENTS_AFTER)
    promoted = [
        each
        for each in events
        if each.name == "promoted"
        and each.payload.get("section") == dropped.section
        and each.seq > dropped.seq
    ]
    return min(promoted, key=lambda each: each.seq).payload["student"] if promoted else None


# Another chance for skipped students, once their records have changed.

SKEW = timedelta(seconds=5)  # the possible difference between our machines' clocks
Moment = InstrumentedAttribute[datetime]


@dataclass(frozen=True)
class SkippedWaiter:
    """A waitlist entry that was skipped for a reason that no longer applies."""

    term: int
    section: int
    student: int


def retry_skipped(student: int) -> None:
    """Retry the sections in which the student waits and was skipped.

    If the ledger is unavailable, the scheduler retries once it is back.
    """
    ledger = backend().ledger
    with suppress(LedgerUnavailable):
        for term in live_terms():
            for position in ledger.registrations(term.id, student).waiting:
                if position.reasons:
                    retry(SkippedWaiter(term.id, position.section, student))


def retry(waiter: SkippedWaiter) -> None:
    """Make the student eligible again in that section; does nothing if they already are."""
    change = backend().ledger.reconsider(waiter.term, waiter.section, waiter.student)
    enqueue(waiter.term, change.wake)


def retriable(look: Connection, now: datetime) -> list[SkippedWaiter]:
    """Return students skipped before their hold ended, a permission, or a change of the rules.

    A student who was skipped again later, for another reason, is no longer included.
    """
    return [SkippedWaiter(*row) for row in look.execute(_retriable(), {"latest": now - SKEW})]


@cache
def _retriable() -> Select[int, int, int]:
    waitlist, seats, skipped_at = WaitlistEntry, SectionSeats, LoggedEvent.occurred_at
    return (
        select(waitlist.term_id, waitlist.section_id, waitlist.student_id)
        .join(
            seats, and_(seats.term_id == waitlist.term_id, seats.section_id == waitlist.section_id)
        )
        .join(
            LoggedEvent,
            and_(LoggedEvent.term_id == waitlist.term_id, LoggedEvent.seq == waitlist.seq),
        )
        .where(seats.passed > 0, waitlist.state == "passed")
        .where(or_(_hold_ended(skipped_at), _permitted(skipped_at), _rules_changed(skipped_at)))
    )


def _hold_ended(skipped_at: Moment) -> ColumnElement[bool]:
    over = and_(Hold.ends_at > skipped_at - SKEW, Hold.ends_at <= bindparam("latest"))
    barred = WaitlistEntry.reasons.contains([{"code": "hold"}])
    mine = Hold.student_id == WaitlistEntry.student_id
    return select(Hold.id).where(barred, mine, or_(over, Hold.lifted_at > skipped_at)).exists()


def _permitted(skipped_at: Moment) -> ColumnElement[bool]:
    mine = (
        Permission.student_id == WaitlistEntry.student_id,
        Permission.section_id == WaitlistEntry.section_id,
        Permission.is_active,
    )
    return select(Permission.id).where(*mine, Permission.granted_at > skipped_at).exists()


def _rules_changed(skipped_at: Moment) -> ColumnElement[bool]:
    """Return the condition that who may take the section was edited since."""
    waitlist, entry = WaitlistEntry, AuditEntry
    about = func.concat("term:", waitlist.term_id, " section:", waitlist.section_id)
    changed = or_(
        *(entry.before[rule].is_distinct_from(entry.after[rule]) for rule in RULES_OF_SECTIONS)
    )
    edited = entry.subject == about, entry.action == "section.edit", entry.at > skipped_at
    return select(entry.id).where(*edited, changed).exists()
