"""The inbox: an account's notifications."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, select, update

from portal.catalog.models import Term
from portal.core.cache import AWAY
from portal.core.db import transaction
from portal.core.outage import postgresql
from portal.notifications.models import Notification
from portal.notifications.texts import NotificationContent, NotificationText
from portal.notifications.texts import text_of as words
from portal.people import caches

PAGE = 20
TOASTS_AT_ONCE = 3  # toasts


@dataclass(frozen=True)
class UnreadCount:
    """The number of unread notifications, and the id of the newest; 0 if there is none."""

    unread: int
    newest: int


@dataclass(frozen=True)
class InboxEntry:
    """A notification as the inbox shows it."""

    id: int
    made_at: datetime
    read: bool
    term_name: str
    news: NotificationContent

    @property
    def words(self) -> NotificationText:
        return words(self.news)


def unread(account: int) -> UnreadCount | None:
    """Return the account's count as last known; None if unknown and PostgreSQL is down."""
    try:
        return _boxes.peek(account) if postgresql.lasts else _boxes.get(account)
    except AWAY:
        return None


def forget(account: int) -> None:
    """Drop the cached count of the account."""
    _boxes.forget(account)


def entries(account: int, before: int | None = None) -> list[InboxEntry]:
    """Return a page of notifications, newest first, plus one more if there are more.

    With `before`, only those older than that notification.
    """
    found = _entries(account).order_by(Notification.id.desc()).limit(PAGE + 1)
    if before:
        found = found.where(Notification.id < before)
    return _read(found)


def entry(account: int, notice: int) -> InboxEntry | None:
    """Return one of the account's notifications; None if it belongs to another account."""
    return next(iter(_read(_entries(account).where(Notification.id == notice))), None)


def newer_than(account: int, after: int, kinds: set[str]) -> list[InboxEntry]:
    """Return the latest unread notifications of those kinds that are newer than `after`."""
    newer = _entries(account).where(
        Notification.id > after, Notification.kind.in_(kinds), Notification.read_at.is_(None)
    )
    return _read(newer.order_by(Notification.id.desc()).limit(TOASTS_AT_ONCE))[::-1]


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


def _entries(account: int) -> Select[Notification, str]:
    return select(Notification, Term.name).join(Term).where(Notification.account_id == account)


def _read(found: Select[Notification, str]) -> list[InboxEntry]:
    with transaction() as session:
        rows = session.execute(found).all()
    return [
        InboxEntry(
            id=notice.id,
            made_at=notice.made_at,
            read=notice.read_at is not None,
            term_name=term,
            news=NotificationContent(notice.kind, notice.term_id, notice.section_id, notice.data),
        )
        for notice, term in rows
    ]


def _box(account: int) -> UnreadCount:
    mine = Notification.account_id == account
    unread = (
        select(func.count()).select_from(Notification).where(mine, Notification.read_at.is_(None))
    )
    newest = select(func.coalesce(func.max(Notification.id), 0)).where(mine)
    with transaction() as session:
        row = session.execute(select(unread.scalar_subquery(), newest.scalar_subquery())).one()
    return UnreadCount(*row)


def _box_of_each(accounts: Collection[int]) -> dict[int, UnreadCount]:
    """Return the counts of many accounts, in one statement."""
    unread = func.count().filter(Notification.read_at.is_(None))
    found = (
        select(Notification.account_id, unread, func.max(Notification.id))
        .where(Notification.account_id.in_(accounts))
        .group_by(Notification.account_id)
    )
    with transaction() as session:
        known = {account: UnreadCount(*box) for account, *box in session.execute(found)}
    return {account: known.get(account, UnreadCount(0, 0)) for account in accounts}


# Every request has already checked for changes when it identified the visitor.
_boxes = caches.register("inbox", _box, _box_of_each)
