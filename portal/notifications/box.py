"""What an account has been told: the inbox."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, func, select, update

from portal.catalog.models import Term
from portal.core.cache import AWAY
from portal.core.db import transaction
from portal.core.outage import postgresql
from portal.notifications.models import Notice
from portal.notifications.words import News, Words, words
from portal.people import caches

PAGE = 20
AT_ONCE = 3  # toasts


@dataclass(frozen=True)
class Box:
    """How many notices are unread, and the id of the newest, 0 where there is none."""

    unread: int
    newest: int


@dataclass(frozen=True)
class Entry:
    """A notice as it stands in the inbox."""

    id: int
    made_at: datetime
    read: bool
    term_name: str
    news: News

    @property
    def words(self) -> Words:
        return words(self.news)


def box(account: int) -> Box | None:
    """The account's, as last known; None where nothing is known and PostgreSQL is away."""
    try:
        return _boxes.peek(account) if postgresql.lasts else _boxes.get(account)
    except AWAY:
        return None


def forget(account: int) -> None:
    """Read the account's anew when it is next asked for."""
    _boxes.forget(account)


def entries(account: int, before: int | None = None) -> list[Entry]:
    """A page of notices and one more, if there are more; the newest first, or those before one."""
    found = _entries(account).order_by(Notice.id.desc()).limit(PAGE + 1)
    if before:
        found = found.where(Notice.id < before)
    return _read(found)


def entry(account: int, notice: int) -> Entry | None:
    """One of the account's notices; None where it is not theirs."""
    return next(iter(_read(_entries(account).where(Notice.id == notice))), None)


def fresh(account: int, after: int, kinds: set[str]) -> list[Entry]:
    """Unread notices of those kinds that are newer than one, the last few."""
    newer = _entries(account).where(
        Notice.id > after, Notice.kind.in_(kinds), Notice.read_at.is_(None)
    )
    return _read(newer.order_by(Notice.id.desc()).limit(AT_ONCE))[::-1]


def mark(account: int, notice: int, *, older: bool = False) -> None:
    """Note that a notice has been read, and all that are older with it if so wished."""
    which = Notice.id <= notice if older else Notice.id == notice
    with transaction() as session:
        session.execute(
            update(Notice)
            .where(Notice.account_id == account, Notice.read_at.is_(None), which)
            .values(read_at=func.now())
        )
    forget(account)


def _entries(account: int) -> Select[Notice, str]:
    return select(Notice, Term.name).join(Term).where(Notice.account_id == account)


def _read(found: Select[Notice, str]) -> list[Entry]:
    with transaction() as session:
        rows = session.execute(found).all()
    return [
        Entry(
            id=notice.id,
            made_at=notice.made_at,
            read=notice.read_at is not None,
            term_name=term,
            news=News(notice.kind, notice.term_id, notice.section_id, notice.data),
        )
        for notice, term in rows
    ]


def _box(account: int) -> Box:
    mine = Notice.account_id == account
    unread = select(func.count()).select_from(Notice).where(mine, Notice.read_at.is_(None))
    newest = select(func.coalesce(func.max(Notice.id), 0)).where(mine)
    with transaction() as session:
        row = session.execute(select(unread.scalar_subquery(), newest.scalar_subquery())).one()
    return Box(*row)


def _box_of_each(accounts: Collection[int]) -> dict[int, Box]:
    """The same for many accounts in one statement."""
    unread = func.count().filter(Notice.read_at.is_(None))
    found = (
        select(Notice.account_id, unread, func.max(Notice.id))
        .where(Notice.account_id.in_(accounts))
        .group_by(Notice.account_id)
    )
    with transaction() as session:
        known = {account: Box(*box) for account, *box in session.execute(found)}
    return {account: known.get(account, Box(0, 0)) for account in accounts}


# Every request has looked for changes when it asked who the visitor is.
_boxes = caches.register("inbox", _box, _box_of_each)
