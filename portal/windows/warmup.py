"""Send deadlines and sections to the ledger, so that it can decide before anyone registers."""

from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from datetime import date, time
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import Meeting, Pool, Reserve, Section
from portal.catalog.sections import NotPossible, SeenSection, Stale, change_status
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.core.queue import enqueue
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.ledger.types import Change, PoolSpec, ReserveSpec, SectionSpec
from portal.ledger.types import Meeting as Times
from portal.windows import deadlines

EPOCH = date(1970, 1, 1)
BATCH = 500  # sections per round trip, so that other requests are served in between
# The fields of SectionSpec that are columns of a section, under the same names.
COLUMNS = [each.name for each in fields(SectionSpec) if each.name in Section.__table__.columns]


def warm_up(term_id: int, report: Callable[[int, int], None] = lambda _done, _of: None) -> int:
    """Send a term's deadlines and sections to the ledger; return how many of these were newer.

    `report` gets how many of how many are sent. Needs no lock: in one step the ledger takes a
    section only if its version is newer, so each is set and journaled once, even with several
    callers.

    Raises LedgerBehind if the ledger has lost recorded events: it gets no sections then, so that
    it can't give a seat twice.
    """
    with transaction() as session:
        specs = section_specs(session, term_id)
    recorded, changed = checkpoint(term_id), 0
    workers: set[str] = set()
    deadlines.send(term_id)
    report(0, len(specs))
    for start in range(0, len(specs), BATCH):
        batch = specs[start : start + BATCH]
        changes = backend().ledger.put_sections(term_id, batch, recorded=recorded)
        changed += sum(1 for change in changes if change.seq)
        workers.update(worker for change in changes for worker in change.wake)
        _publish_held_drafts(term_id, batch)
        report(start + len(batch), len(specs))
    if workers:
        enqueue(term_id, sorted(workers))
    return changed


def _publish_held_drafts(term_id: int, specs: list[SectionSpec]) -> None:
    """Publish drafts again in which a student is, once the ledger knows that they are drafts.

    Until then students can register. Whoever makes a draft checks that too, but a process may die
    before it does.
    """
    drafts = {each.section: each for each in specs if each.status == "NEW"}
    seats = backend().ledger.seats_of(term_id, list(drafts))
    held = [
        number
        for number, each in seats.items()
        if each.waiting or each.taken > drafts[number].prior
    ]
    for number in held:
        seen = SeenSection(term_id, number, drafts[number].version)
        with suppress(Stale, NotPossible):  # somebody else has changed it: the next time
            change_status("publish", [seen], None, "A student registered before it was a draft.")
    if held:
        send_sections(term_id, *held)


def send_sections(term_id: int, *section_ids: int) -> bool:
    """Send sections as they are stored now to the ledger, and wake the workers that it names.

    Returns False if the ledger is away; the scheduler sends them later, as the catalog's version
    is newer.
    """
    term_catalog.expire(term_id)
    with transaction() as session:
        specs = section_specs(session, term_id, *section_ids)
    recorded = checkpoint(term_id)
    try:
        changes: list[Change] = backend().ledger.put_sections(term_id, specs, recorded=recorded)
    except (LedgerBehind, LedgerUnavailable):
        return False
    enqueue(term_id, sorted({worker for change in changes for worker in change.wake}))
    return True


def section_specs(session: Session, term_id: int, *only: int) -> list[SectionSpec]:
    """Return a term's sections, or `only` some, as the ledger needs them; deleted ones canceled."""
    times, reserved = meeting_times(session, term_id), reserves(session, term_id)
    query = (
        select(Section, Pool)
        .outerjoin(Pool, Pool.id == Section.pool_id)
        .where(Section.term_id == term_id)
        .order_by(Section.id)
    )
    if only:
        query = query.where(Section.id.in_(only))
    return [
        spec(section, tuple(times[section.id]), pool, tuple(reserved[section.id]))
        for section, pool in session.execute(query)
    ]


def spec(
    section: Section,
    times: tuple[Times, ...],
    pool: Pool | None = None,
    reserved: tuple[ReserveSpec, ...] = (),
) -> SectionSpec:
    """Return one section as the ledger needs it: its columns, and fields that differ from them."""
    columns: dict[str, Any] = {name: getattr(section, name) for name in COLUMNS}
    differing = {
        "section": section.id,
        "waitlist": section.waitlist_capacity,
        "prior": section.prior_enrolled,
        "status": "CANCELED" if section.deleted_at else section.status,
        "course": section.course_id,
        "credits_min": int(section.credits_min * 100),
        "credits_max": int(section.credits_max * 100),
        "times": times,
        "pool": PoolSpec(pool.id, pool.capacity, pool.version) if pool else None,
        "reserves": reserved,
    }
    return SectionSpec(**columns | differing)


def meeting_times(session: Session, term_id: int) -> defaultdict[int, list[Times]]:
    """Return by section the meetings that can clash: not exam blocks, nor those without a time."""
    query = (
        select(Meeting)
        .join(Section)
        .where(Section.term_id == term_id, Meeting.clashes, Meeting.days > 0)
        .order_by(Meeting.section_id, Meeting.position)
    )
    times: defaultdict[int, list[Times]] = defaultdict(list)
    for meeting in session.scalars(query):
        if meeting.starts_at and meeting.ends_at:
            span = (minutes(meeting.starts_at), minutes(meeting.ends_at))
            days = (days_since(meeting.date_start), days_since(meeting.date_end))
            times[meeting.section_id].append((meeting.days, *span, *days))
    return times


def reserves(session: Session, term_id: int) -> defaultdict[int, list[ReserveSpec]]:
    """Return reserved seats by section."""
    query = (
        select(Reserve)
        .join(Section)
        .where(Section.term_id == term_id)
        .order_by(Reserve.position, Reserve.id)
    )
    found: defaultdict[int, list[ReserveSpec]] = defaultdict(list)
    for each in session.scalars(query):
        until = milliseconds(each.until) if each.until else 0
        found[each.section_id].append(ReserveSpec(each.id, each.seats, until))
    return found


def minutes(moment: time) -> int:
    """Return the minutes since midnight."""
    return moment.hour * 60 + moment.minute


def days_since(day: date) -> int:
    """Return the days since 1970-01-01."""
    return (day - EPOCH).days
