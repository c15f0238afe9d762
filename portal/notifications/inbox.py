"""The inbox: an account's notifications."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, bindparam, func, select, update
from sqlalchemy.orm import joinedload

from portal.core.cache import AWAY
from portal.core.db import read_only, transaction
from portal.core.outage import postgresql
from portal.notifications.models import Notification
from portal.people import caches

PAGE = 20
TOASTS_AT_ONCE = 3
UNREAD = func.count().filter(Notification.read_at.is_(None))
# Made once: making a statement takes as long as reading a row.
COUNTS = (
    select(Notification.account_id, UNREAD, func.max(Notification.id))
    .where(Notification.account_id.in_(bindparam("accounts", expanding=True)))
    .group_by(Notification.account_id)
)


@dataclass(frozen=True)
class UnreadCount:
    """The number of unread notifications, and the id of the newest; 0 if there is none."""

    unread: int
    newest: int


def unread(account: int) -> UnreadCount | None:
    """Return the account's count as last known; None if unknown and PostgreSQL is down."""
    try:
        return _boxes.peek(account) if postgresql.lasts else _boxes.get(account)
    except AWAY:
        return None


def forget(account: int) -> None:
    """Drop the cached count of the account."""
    _boxes.forget(account)


def entries(account: int, before: int | None = None) -> Sequence[Notification]:
    """Return a page of notifications, newest first, plus one more if there are more.

    With `before`, only those older than that notification.
    """
    older = [Notification.id < before] if before else []
    return _latest(account, *older, most=PAGE + 1)


def entry(account: int, notice: int) -> Notification | None:
    """Return one of the account's notifications; None if it belongs to another account."""
    return next(iter(_latest(account, Notification.id == notice, most=1)), None)


def newer_than(account: int, after: int, kinds: set[str]) -> Sequence[Notification]:
    """Return the latest unread notifications of those kinds that are newer than `after`."""
    newer = Notification.id > after, Notification.kind.in_(kinds), Notification.read_at.is_(None)
    return _latest(account, *newer, most=TOASTS_AT_ONCE)[::-1]


def _latest(account: int, *conditions: ColumnElement[bool], most: int) -> Sequence[Notification]:
    """Return notifications with their terms, the newest first."""
    found = select(Notification).options(joinedload(Notification.term))
    mine = found.where(Notification.account_id == account, *conditions)
    with transaction() as session:
        return session.scalars(mine.order_by(Notification.id.desc()).limit(most)).all()


def mark(account: int, notice: int, *, older: bool = False) -> None:
    """Mark a notification as read; with `older`, all older ones too."""
    which = Notification.id <= notice if older else Notification.id == notice
    with transaction() as session:
        session.execute(
            update(Notification)
            .where(Notification.account_id == account, Notification.read_at.is_(None), which)
            .values(read_at=func.now())
        )
    forget(account)


def _box_of_each(accounts: Collection[int]) -> dict[int, UnreadCount]:
    """Return the counts of many accounts, in one statement."""
    with read_only() as db:
        found = db.execute(COUNTS, {"accounts": list(accounts)})
        known = {account: UnreadCount(*box) for account, *box in found}
    return {account: known.get(account, UnreadCount(0, 0)) for account in accounts}


# Every request has already checked for changes when it identified the visitor.
_boxes = caches.register("inbox", lambda account: _box_of_each([account])[account], _box_of_each)
