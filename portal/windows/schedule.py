"""What admins do with selection windows: the ledger allows each change, the audit notes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from portal.backend import backend
from portal.db import transaction
from portal.gate import room
from portal.people.models import AuditEntry
from portal.record.checkpoint import recorded
from portal.record.wake import wake
from portal.seats.answers import Change, WindowView
from portal.windows.cohorts import Cohort
from portal.windows.models import window_ids


@dataclass(frozen=True)
class Plan:
    """A window as it is to be: times in ms, `closes` the first moment that is too late."""

    name: str
    opens: int
    closes: int
    cohort: Cohort


def new_id() -> int:
    """A window id that nobody else has or will get."""
    with transaction() as session:
        return session.scalars(select(window_ids.next_value())).one()


def find(term: int, window: int) -> WindowView | None:
    """The window as the ledger has it."""
    return next((each for each in backend().ledger.windows(term) if each.id == window), None)


def schedule(term: int, window: int, plan: Plan, by: int) -> Change:
    """Schedule a new window; raises WindowRefused, `exists` if it has been scheduled already."""
    return _change(
        "window.schedule",
        term,
        window,
        by,
        lambda actor: backend().ledger.put_window(
            term,
            window,
            plan.name,
            plan.opens,
            plan.closes,
            dict(plan.cohort),
            actor,
            recorded=recorded(term),
        ),
    )


def move(term: int, window: int, opens: int, closes: int, by: int) -> Change:
    """Give a window that has not begun other times; raises WindowRefused."""
    return _change(
        "window.move",
        term,
        window,
        by,
        lambda actor: backend().ledger.move_window(term, window, opens, closes, actor),
    )


def cancel(term: int, window: int, by: int) -> Change:
    """Call off a window that has not begun; raises WindowRefused."""
    return _change(
        "window.cancel",
        term,
        window,
        by,
        lambda actor: backend().ledger.cancel_window(term, window, actor),
    )


def extend(term: int, window: int, closes: int, by: int) -> Change:
    """Let a running window close later; raises WindowRefused."""
    return _change(
        "window.extend",
        term,
        window,
        by,
        lambda actor: backend().ledger.extend_window(term, window, closes, actor),
    )


def close(term: int, window: int, by: int) -> Change:
    """Close a running window now; raises WindowRefused."""
    return _change(
        "window.close",
        term,
        window,
        by,
        lambda actor: backend().ledger.close_window(term, window, actor),
    )


def _change(
    action: str, term: int, window: int, by: int, decide: Callable[[str], Change]
) -> Change:
    """Let the ledger decide, then note what it made of the window; a refusal leaves no note.

    Should the note be lost with the database, the event log still has the change and its actor.
    """
    before = find(term, window)
    change = decide(f"account:{by}")
    wake(term, change.wake)
    with transaction() as session:
        session.add(
            AuditEntry(
                account_id=by,
                action=action,
                subject=f"term:{term} window:{window}",
                before=_facts(term, before),
                after=_facts(term, find(term, window)),
            )
        )
    return change


def _facts(term: int, window: WindowView | None) -> dict[str, Any] | None:
    """Its times and cohort; and the seed's fingerprint, which is never to be another one."""
    if window is None:
        return None
    names = ("name", "opens", "closes", "state", "cohort")
    facts = {name: getattr(window, name) for name in names}
    return facts | {"fingerprint": room.commitment(term, window.id)}
