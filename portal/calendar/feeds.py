"""Secret addresses of calendar feeds: derived from stored rows and a key, never stored."""

import hmac
import re
import secrets
from base64 import urlsafe_b64encode
from datetime import UTC, datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.calendar.models import CalendarFeed
from portal.core.db import transaction
from portal.people.models import ACTIVE, Account, Student

FORM = re.compile(r"([0-9]{1,9})-([A-Za-z0-9_-]{43})")
NONCE_BYTES = 16


def current(student: int) -> CalendarFeed | None:
    """Return the student's live feed, if there is one."""
    live = CalendarFeed.student_id == student, CalendarFeed.revoked_at.is_(None)
    with transaction() as session:
        return session.scalar(select(CalendarFeed).where(*live))


def renew(student: int, previous: int = 0) -> None:
    """Replace the feed `previous` of a student by a new one, unless they have another by now."""
    with transaction() as session:
        _end(session, student, previous)
        fresh = {"student_id": student, "nonce": secrets.token_bytes(NONCE_BYTES), "digest": ""}
        session.execute(insert(CalendarFeed).values(fresh).on_conflict_do_nothing())


def end(student: int, previous: int) -> None:
    """End the student's feed `previous`; its address no longer works."""
    with transaction() as session:
        _end(session, student, previous)


def secret(feed: CalendarFeed) -> str:
    """Return the feed's secret, such as `12-Jx…`."""
    return f"{feed.id}-{_signature(feed, backend().settings.secret_key)}"


def find(session: Session, given: str) -> tuple[CalendarFeed, str] | None:
    """Return the live feed with that secret and its student's language, None if there is none."""
    form = FORM.fullmatch(given)
    if form is None:
        return None
    found = session.execute(
        select(CalendarFeed, Account.language)
        .join(Student, Student.id == CalendarFeed.student_id)
        .join(Account, Account.id == Student.account_id)
        .where(
            CalendarFeed.id == int(form[1]),
            CalendarFeed.revoked_at.is_(None),
            Student.deleted_at.is_(None),
            ACTIVE,
        )
    ).one_or_none()
    if found is None:
        return None
    feed, language = found
    keys = backend().settings.signing_keys
    genuine = any(hmac.compare_digest(_signature(feed, key), form[2]) for key in keys)
    return (feed, language) if genuine else None


def since(feed: CalendarFeed, digest: str) -> datetime:
    """Return when the feed's content became what has that digest: now, if it has changed."""
    if feed.digest != digest:
        feed.digest, feed.changed_at = digest, datetime.now(UTC).replace(microsecond=0)
    return feed.changed_at


def _end(session: Session, student: int, previous: int) -> None:
    theirs = CalendarFeed.id == previous, CalendarFeed.student_id == student
    live = update(CalendarFeed).where(*theirs, CalendarFeed.revoked_at.is_(None))
    session.execute(live.values(revoked_at=func.now()))


def _signature(feed: CalendarFeed, key: str) -> str:
    code = hmac.digest(key.encode(), b"calendar:%d:" % feed.id + feed.nonce, "sha256")
    return urlsafe_b64encode(code).rstrip(b"=").decode()
