"""Notices and mails of long ago, let go of so many at a time."""

from datetime import timedelta

from sqlalchemy import delete, func, or_, select
from sqlalchemy.orm import Session

from portal.notifications.models import Notice, Outgoing

AT_ONCE = 10_000


def forget(session: Session, days: int) -> None:
    """Let go of mails that were sent or given up before so many days, and of notices as old."""
    before = func.now() - timedelta(days=days)
    done = or_(Outgoing.sent_at < before, Outgoing.dead_at < before)
    mails = select(Outgoing.id).where(done).limit(AT_ONCE)
    session.execute(delete(Outgoing).where(Outgoing.id.in_(mails)))
    by_mail = select(Outgoing.id).where(Outgoing.notice_id == Notice.id).exists()
    notices = select(Notice.id).where(Notice.made_at < before, ~by_mail).limit(AT_ONCE)
    session.execute(delete(Notice).where(Notice.id.in_(notices)))
