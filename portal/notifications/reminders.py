"""Reminders: students learn that their window opens soon, once for each lead time."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise

from sqlalchemy import Connection, Integer, Interval, Select, and_, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.moments import milliseconds, moment
from portal.core.queue import NO_TERM
from portal.notifications import outbox
from portal.notifications.creation import create, rows_for
from portal.notifications.kinds import WINDOW_SOON
from portal.notifications.models import Reminder
from portal.people.models import Account, Student
from portal.recorder.models import LoggedEvent
from portal.recorder.signals import DueJob
from portal.windows.cohorts import among
from portal.windows.models import Window

AT_ONCE = 500  # students per transaction
PAUSE = 1.0  # seconds between batches: each open page of these students asks for its notifications
LONGEST = 8.0  # seconds; the scheduler starts another job if more is left


@dataclass(frozen=True)
class Due:
    """A window whose students need a reminder now; `lead` in minutes before it opens."""

    window: int
    term: int
    seq: int
    lead: int
    through: int = 0  # the last account reminded


def due(session: Session | Connection, now: datetime) -> list[Due]:
    """Return due, unfinished reminders of windows that were known before they were due.

    Those of a draft of a term wait until it is published.
    """
    found = []
    # Each lead time (minutes) with the next one: 1440 and 15, 15 and 0.
    for lead, after in pairwise([*sorted(backend().settings.reminders, reverse=True), 0]):
        ahead, then = timedelta(minutes=lead), timedelta(minutes=after)
        times = {"lead": lead, "ahead": ahead, "soon": now + ahead, "sooner": now + then}
        found += [Due(*row) for row in session.execute(_of_lead(), times)]
    return found


@cache
def _of_lead() -> Select[int, int, int, int, int]:
    """Return the query for the reminders of one lead time."""
    lead, ahead = bindparam("lead", type_=Integer), bindparam("ahead", type_=Interval)
    sent = and_(Reminder.window_id == Window.id, Reminder.seq == Window.seq)
    set_at = and_(LoggedEvent.term_id == Window.term_id, LoggedEvent.seq == Window.seq)
    through = func.coalesce(Reminder.through, 0)
    return (
        select(Window.id, Window.term_id, Window.seq, lead, through)
        .join(LoggedEvent, set_at)
        .join(Term, (Term.id == Window.term_id) & (Term.state != "draft"))
        .outerjoin(Reminder, sent & (Reminder.lead == lead))
        .where(Window.state == "scheduled", Reminder.done_at.is_(None))
        .where(Window.opens_at <= bindparam("soon"), Window.opens_at > bindparam("sooner"))
        .where(LoggedEvent.occurred_at <= Window.opens_at - ahead)
    )


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the jobs that make reminders and send mails; one job sends the mails of all terms."""
    now = moment(backend().ledger.now())
    found = {each.term: each.seq + each.through for each in due(look, now)}
    if mail := outbox.first_due(look):
        found.setdefault(NO_TERM, milliseconds(mail))
    return [DueJob(term, "notify", reason) for term, reason in found.items()]


def remind(term: int, now: datetime | None = None, seconds: float = LONGEST) -> None:
    """Make the due reminders of a term, a few hundred at a time."""
    until = time.monotonic() + seconds
    with transaction() as session:
        waiting = due(session, now or moment(backend().ledger.now()))
    for each in waiting:
        while each.term == term and time.monotonic() < until and _create_batch(each):
            time.sleep(PAUSE)


def _create_batch(of: Due) -> bool:
    """Make the next few hundred reminders; return whether there are more."""
    with transaction() as session:
        begun = {"window_id": of.window, "seq": of.seq, "lead": of.lead, "through": 0}
        session.execute(insert(Reminder).values(begun).on_conflict_do_nothing())
        found = session.execute(_held(of)).one_or_none()
        if found is None:  # done by another worker, or moved or canceled meanwhile
            return False
        reminder, window = found
        accounts = session.scalars(_next(window, reminder.through)).all()
        if accounts:
            data = {
                "name": window.name,
                "opens": milliseconds(window.opens_at),
                "closes": milliseconds(window.closes_at),
            }
            recipients, about = Account.id.in_(accounts), {"window_id": of.window, "lead": of.lead}
            create(session, of.term, rows_for(recipients, WINDOW_SOON, data, of.seq, **about))
            reminder.through = accounts[-1]
        more = len(accounts) == AT_ONCE
        reminder.done_at = None if more else func.now()
    return more


def _held(of: Due) -> Select[Reminder, Window]:
    """Return the reminder, locked, and its current window."""
    return (
        select(Reminder, Window)
        .join(Window, (Window.id == Reminder.window_id) & (Window.seq == Reminder.seq))
        .where(Reminder.window_id == of.window, Reminder.seq == of.seq, Reminder.lead == of.lead)
        .where(Reminder.done_at.is_(None), Window.state == "scheduled")
        .with_for_update(of=Reminder, skip_locked=True)
    )


def _next(window: Window, after: int) -> Select[int]:
    """Return the next accounts of the window's cohort."""
    students = select(Student.account_id).where(
        Student.deleted_at.is_(None), Student.account_id > after
    )
    return among(students, window.cohort).order_by(Student.account_id).limit(AT_ONCE)
