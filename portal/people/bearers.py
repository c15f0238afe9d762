"""What a process knows of the access tokens that are sent to it."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock

from cachetools import TTLCache
from sqlalchemy import select, update

from portal.core.cache import Cache
from portal.core.db import transaction
from portal.people import keys
from portal.people.models import AccessKey

FRESH = 2.0  # seconds within which every node has heard of what was revoked
NOTED = timedelta(minutes=5)  # how exactly it is kept when a token was last used
STRANGERS = 10_000


@dataclass(frozen=True)
class Bearer:
    """A token that has not been revoked: whose it is, and what it may do."""

    account_id: int
    scopes: frozenset[str]
    expires_at: datetime | None


class UnknownTokenError(LookupError):
    """No token of ours, or one that has been revoked."""


def find(secret: str) -> Bearer | None:
    """The token's bearer, at most 2 s behind; a known one too while PostgreSQL is away.

    Those that are not ours are remembered apart, where they can push out no good one.
    """
    digest = keys.digest(secret)
    with _lock:
        if digest in _strangers:
            return None
    try:
        found = _bearers.get(digest)
    except UnknownTokenError:
        with _lock:
            _strangers[digest] = True
        return None
    ended = found.expires_at and found.expires_at <= datetime.now(UTC)
    return None if ended else found


def known(secret: str) -> bool:
    """Whether this process has asked whose token it is before."""
    digest = keys.digest(secret)
    with _lock:
        return digest in _strangers or _bearers.peek(digest) is not None


def _read(digest: bytes) -> Bearer:
    with transaction() as session:
        live = AccessKey.digest == digest, AccessKey.revoked_at.is_(None)
        key = session.scalar(select(AccessKey).where(*live))
        if key is None:
            raise UnknownTokenError
        now = datetime.now(UTC)
        if key.used_at is None or now - key.used_at > NOTED:
            session.execute(update(AccessKey).where(AccessKey.id == key.id).values(used_at=now))
    return Bearer(key.account_id, frozenset(key.scopes), key.expires_at)


_bearers: Cache[bytes, Bearer] = Cache(_read, FRESH)
_strangers: TTLCache[bytes, bool] = TTLCache(STRANGERS, FRESH)
_lock = Lock()
