"""Tells the ledger what is offered, so that it can decide before anyone claims."""

from collections import defaultdict
from datetime import date, time

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Meeting, Section
from portal.db import transaction
from portal.record.checkpoint import recorded
from portal.record.wake import wake
from portal.seats.asks import Meeting as Times
from portal.seats.asks import SectionSpec

EPOCH = date(1970, 1, 1)
BATCH = 500  # sections a round trip, so that claims of other terms get between


def warm_up(term_id: int) -> int:
    """Put every section of a term into the ledger; the number of those that were news to it.

    Raises LedgerBehind where the ledger has lost what was recorded: without sections it gives no
    seat twice.

    Needs no lock: the ledger takes a section only where its version is newer, in one step, so
    however many nodes call at once, each section is set once and journaled once.
    """
    with transaction() as session:
        specs = section_specs(session, term_id)
    known, news, workers = recorded(term_id), 0, set()
    for start in range(0, len(specs), BATCH):
        changes = backend().ledger.put_sections(
            term_id, specs[start : start + BATCH], recorded=known
        )
        news += sum(1 for change in changes if change.seq)
        workers |= {worker for change in changes for worker in change.wake}
    if workers:
        wake(term_id, sorted(workers))
    return news


def section_specs(session: Session, term_id: int) -> list[SectionSpec]:
    """The sections of a term as the ledger needs them; a deleted one counts as canceled."""
    times = meeting_times(session, term_id)
    found = select(Section).where(Section.term_id == term_id).order_by(Section.id)
    return [spec(section, tuple(times[section.id])) for section in session.scalars(found)]


def spec(section: Section, times: tuple[Times, ...]) -> SectionSpec:
    """One section as the ledger needs it."""
    return SectionSpec(
        section=section.id,
        capacity=section.capacity,
        waitlist=section.waitlist_capacity,
        prior=section.prior_enrolled,
        status="CANCELED" if section.deleted_at else section.status,
        course=section.course_id,
        credits_min=int(section.credits_min * 100),
        credits_max=int(section.credits_max * 100),
        times=times,
        version=section.version,
    )


def meeting_times(session: Session, term_id: int) -> defaultdict[int, list[Times]]:
    """Meetings that can clash, by section: exam blocks can't, nor what has no days or times."""
    found = (
        select(Meeting)
        .join(Section)
        .where(Section.term_id == term_id, Meeting.clashes, Meeting.days > 0)
        .order_by(Meeting.section_id, Meeting.position)
    )
    times: defaultdict[int, list[Times]] = defaultdict(list)
    for meeting in session.scalars(found):
        if meeting.starts_at and meeting.ends_at:
            span = (minutes(meeting.starts_at), minutes(meeting.ends_at))
            days = (days_since(meeting.date_start), days_since(meeting.date_end))
            times[meeting.section_id].append((meeting.days, *span, *days))
    return times


def minutes(moment: time) -> int:
    """Minutes since midnight."""
    return moment.hour * 60 + moment.minute


def days_since(day: date) -> int:
    """Days since 1970-01-01."""
    return (day - EPOCH).days
