"""What an account has been told: the inbox."""

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
    """How many notices are unread, and the id of the newest, 0 where there is none."""

    unread: int
    newest: int


@dataclass(frozen=True)
class InboxEntry:
    """A notice as it stands in the inbox."""

    id: int
    made_at: datetime
    read: bool
    term_name: str
    news: NotificationContent

    @property
    def words(self) -> NotificationText:
        return words(self.news)


def unread(account: int) -> UnreadCount | None:
    """The account's, as last known; None where nothing is known and PostgreSQL is away."""
    try:
        return _boxes.peek(account) if postgresql.lasts else _boxes.get(account)
    except AWAY:
        return None


def forget(account: int) -> None:
    """Read the account's anew when it is next asked for."""
    _boxes.forget(account)


def entries(account: int, before: int | None = None) -> list[InboxEntry]:
    """A page of notices and one more, if there are more; the newest first, or those before one."""
    found = _entries(account).order_by(Notification.id.desc()).limit(PAGE + 1)
    if before:
        found = found.where(Notification.id < before)
    return _read(found)


def entry(account: int, notice: int) -> InboxEntry | None:
    """One of the account's notices; None where it is not theirs."""
    return next(iter(_read(_entries(account).where(Notification.id == notice))), None)


def newer_than(account: int, after: int, kinds: set[str]) -> list[InboxEntry]:
    """Unread notices of those kinds that are newer than one, the last few."""
    newer = _entries(account).where(
        Notification.id > after, Notification.kind.in_(kinds), Notification.read_at.is_(None)
    )
    return _read(newer.order_by(Notification.id.desc()).limit(TOASTS_AT_ONCE))[::-1]


def mark(account: int, notice: int, *, older: bool = False) -> None:
    """Note that a notice has been read, and all that are older with it if so wished."""
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
    """The same for many accounts in one statement."""
    unread = func.count().filter(Notification.read_at.is_(None))
    found = (
        select(Notification.account_id, unread, func.max(Notification.id))
        .where(Notification.account_id.in_(accounts))
        .group_by(Notification.account_id)
    )
    with transaction() as session:
        known = {account: UnreadCount(*box) for account, *box in session.execute(found)}
    return {account: known.get(account, UnreadCount(0, 0)) for account in accounts}


# Every request has looked for changes when it asked who the visitor is.
_boxes = caches.register("inbox", _box, _box_of_each)
