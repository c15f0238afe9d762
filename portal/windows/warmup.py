"""Tells the ledger what is offered, so that it can decide before anyone claims."""

from collections import defaultdict
from collections.abc import Callable
from datetime import date, time

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import Meeting, Pool, Reserve, Section
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.ledger.types import Meeting as Times
from portal.ledger.types import PoolSpec, ReserveSpec, SectionSpec
from portal.recorder.event_log import checkpoint
from portal.recorder.events import milliseconds

EPOCH = date(1970, 1, 1)
BATCH = 500  # sections a round trip, so that claims of other terms get between


def warm_up(term_id: int, tell: Callable[[int, int], None] = lambda _done, _of: None) -> int:
    """Put every section of a term into the ledger; the number of those that were news to it.

    Tells how many of how many it knows, as it goes on.

    Raises LedgerBehind where the ledger has lost what was recorded: without sections it gives no
    seat twice.

    Needs no lock: the ledger takes a section only where its version is newer, in one step, so
    however many nodes call at once, each section is set once and journaled once.
    """
    with transaction() as session:
        specs = section_specs(session, term_id)
    known, news, workers = checkpoint(term_id), 0, set()
    tell(0, len(specs))
    for start in range(0, len(specs), BATCH):
        changes = backend().ledger.put_sections(
            term_id, specs[start : start + BATCH], recorded=known
        )
        news += sum(1 for change in changes if change.seq)
        workers |= {worker for change in changes for worker in change.wake}
        tell(min(start + BATCH, len(specs)), len(specs))
    if workers:
        enqueue(term_id, sorted(workers))
    return news


def section_specs(session: Session, term_id: int, *only: int) -> list[SectionSpec]:
    """A term's sections, or `only` those, as the ledger needs them; deleted ones are canceled."""
    times, kept = meeting_times(session, term_id), reserves(session, term_id)
    found = (
        select(Section, Pool)
        .outerjoin(Pool, Pool.id == Section.pool_id)
        .where(Section.term_id == term_id)
        .order_by(Section.id)
    )
    if only:
        found = found.where(Section.id.in_(only))
    return [
        spec(section, tuple(times[section.id]), pool, tuple(kept[section.id]))
        for section, pool in session.execute(found)
    ]


def spec(
    section: Section,
    times: tuple[Times, ...],
    pool: Pool | None = None,
    kept: tuple[ReserveSpec, ...] = (),
) -> SectionSpec:
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
        pool=PoolSpec(pool.id, pool.capacity, pool.version) if pool else None,
        reserves=kept,
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


def reserves(session: Session, term_id: int) -> defaultdict[int, list[ReserveSpec]]:
    """Seats that are kept, by section."""
    found = (
        select(Reserve)
        .join(Section)
        .where(Section.term_id == term_id)
        .order_by(Reserve.position, Reserve.id)
    )
    kept: defaultdict[int, list[ReserveSpec]] = defaultdict(list)
    for each in session.scalars(found):
        until = milliseconds(each.until) if each.until else 0
        kept[each.section_id].append(ReserveSpec(each.id, each.seats, until))
    return kept


def minutes(moment: time) -> int:
    """Minutes since midnight."""
    return moment.hour * 60 + moment.minute


def days_since(day: date) -> int:
    """Days since 1970-01-01."""
    return (day - EPOCH).days


# Tells the ledger of sections that have just been changed.


def send_sections(term_id: int, *section_ids: int) -> bool:
    """Let the ledger decide by the sections as they are stored now, and call who is to act on it.

    False where it could not be told: the clock makes good for that, as the catalogue has moved.
    """
    term_catalog.expire(term_id)
    with transaction() as session:
        told = section_specs(session, term_id, *section_ids)
    known = checkpoint(term_id)
    try:
        changes = backend().ledger.put_sections(term_id, told, recorded=known)
    except (LedgerBehind, LedgerUnavailable):
        return False
    enqueue(term_id, sorted({worker for change in changes for worker in change.wake}))
    return True
