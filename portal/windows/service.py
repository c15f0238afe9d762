"""What admins do with selection windows: the ledger allows each change, the audit notes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import exists, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import formatting
from portal.catalog.local_time import LocalClock
from portal.catalog.views import TermView
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.queue import enqueue
from portal.ledger.types import Change, WindowView
from portal.people.models import AuditEntry
from portal.recorder.event_log import checkpoint
from portal.waiting_room import room
from portal.windows.cohorts import Cohort, with_student_list
from portal.windows.models import window_ids


@dataclass(frozen=True)
class NewWindow:
    """A window as it is to be: times in ms, `closes` the first moment that is too late."""

    name: str
    opens: int
    closes: int
    cohort: Cohort


@dataclass(frozen=True)
class Author:
    """Who changes a window and why, and the times (ms) that it had when they decided to."""

    by: int
    reason: str = ""
    was: tuple[int, int] | None = None


def new_id() -> int:
    """A window id that nobody else has or will get."""
    with transaction() as session:
        return session.scalars(select(window_ids.next_value())).one()


def find_window(term: int, window: int) -> WindowView | None:
    """The window as the ledger has it."""
    return next((each for each in backend().ledger.windows(term) if each.id == window), None)


def schedule(term: int, window: int, plan: NewWindow, by: int) -> Change:
    """Schedule a new window; raises WindowRefused, `exists` if it has been scheduled already."""
    cohort = with_student_list(plan.cohort)
    return _change(
        "window.schedule",
        term,
        window,
        Author(by),
        lambda actor: backend().ledger.put_window(
            term,
            window,
            plan.name,
            plan.opens,
            plan.closes,
            cohort,
            actor,
            recorded=checkpoint(term),
        ),
    )


def move(term: int, window: int, opens: int, closes: int, author: Author) -> Change:
    """Give a window that has not begun other times; raises WindowRefused."""
    times = {"opens": opens, "closes": closes}
    return _deed("window.move", term, window, author, backend().ledger.move_window, **times)


def cancel(term: int, window: int, author: Author) -> Change:
    """Call off a window that has not begun; raises WindowRefused."""
    return _deed("window.cancel", term, window, author, backend().ledger.cancel_window)


def extend(term: int, window: int, closes: int, author: Author) -> Change:
    """Let a running window close later; raises WindowRefused."""
    decide = backend().ledger.extend_window
    return _deed("window.extend", term, window, author, decide, closes=closes)


def close(term: int, window: int, author: Author) -> Change:
    """Close a running window now; raises WindowRefused."""
    return _deed("window.close", term, window, author, backend().ledger.close_window)


def _deed(
    action: str,
    term: int,
    window: int,
    author: Author,
    decide: Callable[..., Change],
    **times: int,
) -> Change:
    return _change(
        action,
        term,
        window,
        author,
        lambda actor: decide(term, window, **times, actor=actor, was=author.was),
    )


def _change(
    action: str, term: int, window: int, author: Author, decide: Callable[[str], Change]
) -> Change:
    """Let the ledger decide, then note what it made of the window; a refusal leaves no note.

    Should the note be lost with the database, the event log still has the change and its actor.
    """
    before = find_window(term, window)
    change = decide(f"account:{author.by}")
    enqueue(term, change.wake)
    subject = f"term:{term} window:{window}"
    with transaction() as session:
        if not change.seq and _noted(session, action, subject):  # it was so already
            return change
        session.add(
            AuditEntry(
                account_id=author.by,
                action=action,
                subject=subject,
                before=_facts(term, before),
                after=_facts(term, find_window(term, window)),
                reason=author.reason,
            )
        )
    return change


def already_done(
    action: str, term: int, window: int, author: Author, values: Mapping[str, int]
) -> bool:
    """Whether the author has done just this already, from the times that the window had then."""
    if author.was is None:
        return False
    before = dict(zip(("opens", "closes"), author.was, strict=True))
    noted = exists().where(
        AuditEntry.action == f"window.{action}",
        AuditEntry.subject == f"term:{term} window:{window}",
        AuditEntry.account_id == author.by,
        AuditEntry.before.contains(before),
        AuditEntry.after.contains(dict(values)),
    )
    with transaction() as session:
        return bool(session.scalar(select(noted)))


def _noted(session: Session, action: str, subject: str) -> bool:
    noted = exists().where(AuditEntry.action == action, AuditEntry.subject == subject)
    return bool(session.scalar(select(noted)))


def _facts(term: int, window: WindowView | None) -> dict[str, Any] | None:
    """Its times and cohort; and the seed's fingerprint, which is never to be another one."""
    if window is None:
        return None
    names = ("name", "opens", "closes", "state", "cohort")
    facts = {name: getattr(window, name) for name in names}
    return facts | {"fingerprint": room.commitment(term, window.id)}


# What an admin should know before a window is set to these times; none of it forbids them.

EARLY = timedelta(days=366)


def time_warnings(
    term: TermView, clock: LocalClock, opens: int, closes: int, now: int
) -> list[str]:
    """Sentences about a beginning in the past and times outside the term (all in ms)."""
    found = []
    if opens <= now:
        found.append(_("It begins in the past, so it opens at once."))
    if clock.at(opens).date() < term.starts_on - EARLY:
        found.append(
            _(
                "It begins more than a year before the term does, on %(day)s. Mind the year.",
                day=formatting.day(term.starts_on, year=True),
            )
        )
    if clock.at(closes - 1).date() > term.ends_on:
        found.append(
            _(
                "It reaches beyond the last day of the term, %(day)s.",
                day=formatting.day(term.ends_on, year=True),
            )
        )
    return found
