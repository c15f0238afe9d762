"""Reminders of last days: people learn once that an application is not sent yet."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from sqlalchemy import Connection, Select, func, select, tuple_
from sqlalchemy.orm import Session

from portal.applications.history import notify
from portal.applications.kinds import KINDS
from portal.applications.models import EDITABLE, Application
from portal.catalog.local_time import today
from portal.catalog.term_catalog import live_terms
from portal.catalog.views import term_view
from portal.core.db import transaction
from portal.core.queue import NO_TERM
from portal.notifications.kinds import APPLICATION_MOVED
from portal.people.models import Account
from portal.recorder.signals import DueJob

DAYS = 3  # before the last day
AT_ONCE = 200  # applications of one job; if more are due, the scheduler starts another

UNREMINDED = Application.state.in_(EDITABLE), Application.reminded_at.is_(None)
ANY_UNREMINDED = select(Application.id).where(*UNREMINDED).limit(1)


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that reminds, if someone is to be reminded."""
    if look.scalar(ANY_UNREMINDED) and (found := _due()):
        first = look.execute(_unreminded(found).limit(1)).first()
        return [DueJob(NO_TERM, "remind", first.id)] if first else []
    return []


def remind_due() -> None:
    """Remind everyone who is due, once for each application."""
    found = _due()
    if not found:
        return
    with transaction() as session:
        rows = session.scalars(_unreminded(found).limit(AT_ONCE).with_for_update(skip_locked=True))
        for each in rows.all():
            _remind(session, each, found[each.kind, each.term_id])


def _due() -> dict[tuple[str, int], date]:
    """Return the last days that come soon, by kind and term."""
    day, found = today(), {}
    for term in map(term_view, live_terms()):  # no catalogs: the scheduler asks every second
        for kind in KINDS.values():
            last = kind.last_day(term)
            if day <= last <= day + timedelta(DAYS):
                found[kind.name, term.id] = last
    return found


def _unreminded(found: dict[tuple[str, int], date]) -> Select[Application]:
    places = tuple_(Application.kind, Application.term_id)
    return select(Application).where(*UNREMINDED, places.in_(list(found))).order_by(Application.id)


def _remind(session: Session, application: Application, last: date) -> None:
    application.reminded_at = func.now()
    recipient = Account.id == application.account_id
    # Below 0, so that it is no entry's.
    seq, about = -application.id, {"step": "due", "last_day": last.isoformat()}
    notify(session, APPLICATION_MOVED, application, recipient, seq, **about)
