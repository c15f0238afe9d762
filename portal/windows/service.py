"""Schedule, move, extend, close, cancel and copy windows: the ledger decides, the trail records."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import formatting
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import catalog_of
from portal.catalog.views import TermView
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.queue import enqueue
from portal.ledger.errors import WindowRefused
from portal.ledger.types import Change, WindowView
from portal.windows import rounds
from portal.windows.cohorts import Cohort, with_student_list
from portal.windows.draw_seeds import commitment
from portal.windows.models import window_ids

EARLY = timedelta(days=366)


@dataclass(frozen=True)
class NewWindow:
    """A window to schedule: times in ms, `closes` the first moment that is too late."""

    name: str
    opens: int
    closes: int
    cohort: Cohort


@dataclass(frozen=True)
class Author:
    """The account that changes a window, the reason, and the times (ms) that the page had shown."""

    by: int
    reason: str = ""
    was: tuple[int, int] | None = None


def new_id() -> int:
    """Return an unused window id."""
    with transaction() as session:
        return session.scalars(select(window_ids.next_value())).one()


def find_window(term: int, window: int) -> WindowView | None:
    """Return the window as stored in the ledger."""
    return next((each for each in backend().ledger.windows(term) if each.id == window), None)


def schedule(term: int, window: int, wanted: NewWindow, by: int, reason: str = "") -> Change:
    """Schedule a new window; raises WindowRefused, with `exists` if it is scheduled already.

    The code `archived` says that the term is history, `round` that an allocation round takes
    ballots of the same students then.
    """
    if catalog_of(term).term.state == "archived":
        raise WindowRefused("archived")
    decide = partial(
        backend().ledger.put_window,
        name=wanted.name,
        opens=wanted.opens,
        closes=wanted.closes,
        cohort=with_student_list(wanted.cohort),
        recorded=checkpoint(term),
    )
    times = wanted.opens, wanted.closes
    author = Author(by, reason)
    return _change_beside_rounds(
        "window.schedule", term, window, author, decide, times, wanted.cohort
    )


def move(term: int, window: int, opens: int, closes: int, author: Author) -> Change:
    """Move a window that has not opened to other times; raises WindowRefused."""
    move_window = backend().ledger.move_window
    decide = partial(move_window, opens=opens, closes=closes, was=author.was)
    times = opens, closes
    return _change_beside_rounds("window.move", term, window, author, decide, times)


def cancel(term: int, window: int, author: Author) -> Change:
    """Cancel a window that has not opened; raises WindowRefused."""
    decide = partial(backend().ledger.cancel_window, was=author.was)
    return _change("window.cancel", term, window, author, decide)


def extend(term: int, window: int, closes: int, author: Author) -> Change:
    """Let an open window close later; raises WindowRefused."""
    decide = partial(backend().ledger.extend_window, closes=closes, was=author.was)
    times = backend().ledger.now(), closes
    return _change_beside_rounds("window.extend", term, window, author, decide, times)


def close(term: int, window: int, author: Author) -> Change:
    """Close an open window now; raises WindowRefused."""
    decide = partial(backend().ledger.close_window, was=author.was)
    return _change("window.close", term, window, author, decide)


def already_done(
    action: str, term: int, window: int, author: Author, values: Mapping[str, int]
) -> bool:
    """Return whether the author has already made this change to the times that were shown."""
    if author.was is None:
        return False
    before = dict(zip(("opens", "closes"), author.was, strict=True))
    entry = exists().where(
        AuditEntry.action == f"window.{action}",
        AuditEntry.subject == f"term:{term} window:{window}",
        AuditEntry.account_id == author.by,
        AuditEntry.before.contains(before),
        AuditEntry.after.contains(dict(values)),
    )
    with transaction() as session:
        return bool(session.scalar(select(entry)))


def time_warnings(
    term: TermView, clock: LocalClock, opens: int, closes: int, now: int
) -> list[str]:
    """Return sentences about a start in the past and times outside the term (all in ms)."""
    found = []
    if opens <= now:
        found.append(_("The start is in the past, so the window opens at once."))
    if clock.at(opens).date() < term.starts_on - EARLY:
        found.append(
            _(
                "The window starts more than a year before the term (%(day)s). Check the year.",
                day=formatting.day(term.starts_on, year=True),
            )
        )
    if clock.at(closes - 1).date() > term.ends_on:
        found.append(
            _(
                "The window ends after the last day of the term, %(day)s.",
                day=formatting.day(term.ends_on, year=True),
            )
        )
    return found


# The windows of a term, copied to another: as many weeks later as that term begins later


def planned_ends(session: Session, term: int) -> dict[int, int]:
    """Return until when (ms) windows were to be open that an admin closed early, by their ids."""
    found = select(AuditEntry.subject, AuditEntry.before).where(
        AuditEntry.action == "window.close", AuditEntry.subject.startswith(f"term:{term} window:")
    )
    return {
        int(subject.rpartition(":")[2]): before["closes"]
        for subject, before in session.execute(found)
        if before
    }


def copies(
    windows: Iterable[WindowView],
    planned: Mapping[int, int],
    weeks: timedelta,
    clock: LocalClock,
    now: int,
) -> dict[int, NewWindow]:
    """Return copies at the same weekday and local time, by the ids of their windows, if to come.

    A window that was closed early has the end that was `planned`, if that is known. Canceled
    windows are left out.
    """

    def later(ms: int) -> int:
        return round((clock.at(ms) + weeks).timestamp() * 1000)

    found = {
        each.id: NewWindow(
            each.name,
            later(each.opens),
            later(planned.get(each.id, each.closes)),
            dict(each.cohort),
        )
        for each in sorted(windows, key=lambda each: (each.opens, each.id))
        if each.state != "canceled"
    }
    return {window: copy for window, copy in found.items() if copy.opens > now}


def _change_beside_rounds(  # noqa: PLR0913, PLR0917  the parts of a change
    action: str,
    term: int,
    window: int,
    author: Author,
    decide: Callable[..., Change],
    times: tuple[int, int],
    cohort: Cohort | None = None,
) -> Change:
    """Make a change unless an allocation round is in the way; no round is announced meanwhile."""
    with transaction() as session:
        rounds.lock_term(session, term)
        found = find_window(term, window) if cohort is None else None
        cohort = found.cohort if found else cohort
        if cohort is not None and rounds.in_the_way(session, term, *times, cohort):
            raise WindowRefused("round")
        return _change(action, term, window, author, decide)


def _change(
    action: str, term: int, window: int, author: Author, decide: Callable[..., Change]
) -> Change:
    """Let the ledger decide, then record the change in the audit trail; refusals are not recorded.

    If the database fails in between, the event log still has the change and its actor.
    """
    before = find_window(term, window)
    change = decide(term, window, actor=f"account:{author.by}")
    enqueue(term, change.wake)
    subject = f"term:{term} window:{window}"
    recorded = exists().where(AuditEntry.action == action, AuditEntry.subject == subject)
    with transaction() as session:
        if not change.seq and session.scalar(select(recorded)):  # the same change was sent again
            return change
        add_audit_entry(
            session,
            action,
            subject,
            by=author.by,
            before=_audit_facts(term, before),
            after=_audit_facts(term, find_window(term, window)),
            reason=author.reason,
        )
    return change


def _audit_facts(term: int, window: WindowView | None) -> dict[str, Any] | None:
    """Return times and cohort, and the commitment to the draw's seed, which must never change."""
    if window is None:
        return None
    names = ("name", "opens", "closes", "state", "cohort")
    facts = {name: getattr(window, name) for name in names}
    return facts | {"fingerprint": commitment(term, window.id)}
