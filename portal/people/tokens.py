"""Personal access tokens, of which only a digest is kept."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from cachetools import TTLCache
from sqlalchemy import Select, func, or_, select, update
from sqlalchemy.orm import Session

from portal.core.cache import Cache
from portal.core.db import transaction
from portal.notifications.account_mails import alert
from portal.people.models import AccessToken, Account, AuditEntry

PREFIX = "fs_"  # so that scanners for leaked secrets can know one
SCOPES = ("read", "register")  # to look at what is one's own, and to change it
MAX_TOKENS = 20  # live tokens of one account


class UnknownUserError(LookupError):
    """Nobody has that name."""


class TooManyError(ValueError):
    """The account has as many live tokens as it may."""


class NameTakenError(ValueError):
    """The account has a live token of that name already."""


@dataclass(frozen=True)
class TokenRequest:
    """The token that is wanted: what it is for, what it may do, and for how many days."""

    name: str
    scopes: Sequence[str] = SCOPES
    days: int | None = None  # None = for ever


def create(account_id: int, wish: TokenRequest) -> str:
    """A new token of one's own, whose name tells it from the others.

    Raises TooManyError and NameTakenError.
    """
    with transaction() as session:
        live = _live(session, account_id)
        if wish.name in {key.name for key in live}:
            raise NameTakenError(wish.name)
        return _make(session, account_id, wish, {"account_id": account_id, "reason": ""})


def create_for(username: str, wish: TokenRequest) -> str:
    """A new token of that account, by whoever runs the portal.

    Raises UnknownUserError and TooManyError.
    """
    with transaction() as session:
        named = Account.username == username, Account.deleted_at.is_(None)
        account_id = session.scalar(select(Account.id).where(*named))
        if account_id is None:
            raise UnknownUserError(f"There is no account named {username!r}.")
        _live(session, account_id)
        return _make(session, account_id, wish, {"reason": "command line"})


def live_tokens(account_id: int) -> list[AccessToken]:
    """The account's tokens that have not been revoked, the newest first."""
    with transaction() as session:
        return list(session.scalars(_of(account_id).order_by(AccessToken.id.desc())))


def revoke(account_id: int, key_id: int | None = None) -> list[str]:
    """End the account's token of that id, or all of them, and give their names."""
    with transaction() as session:
        mine = (
            _of(account_id) if key_id is None else _of(account_id).where(AccessToken.id == key_id)
        )
        ended = session.scalars(mine.with_for_update()).all()
        for key in ended:
            before = _facts(key)
            key.revoked_at = datetime.now(UTC)
            by = {"account_id": account_id, "reason": ""}
            session.add(_entry("token.revoke", key, before, by))
        return [key.name for key in ended]


def digest(secret: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).digest()


def _of(account_id: int) -> Select[AccessToken]:
    return select(AccessToken).where(
        AccessToken.account_id == account_id, AccessToken.revoked_at.is_(None)
    )


def _live(session: Session, account_id: int) -> Sequence[AccessToken]:
    """The account's tokens that are good, one asking at a time; raises TooManyError."""
    mine = select(Account.id).where(Account.id == account_id)
    session.execute(mine.with_for_update(key_share=True))
    good = or_(AccessToken.expires_at.is_(None), AccessToken.expires_at > func.now())
    found = session.scalars(_of(account_id).where(good)).all()
    if len(found) >= MAX_TOKENS:
        raise TooManyError(f"An account has {MAX_TOKENS} live tokens at most: revoke one first.")
    return found


def _make(session: Session, account_id: int, wish: TokenRequest, by: dict[str, Any]) -> str:
    secret = PREFIX + secrets.token_urlsafe(32)
    key = AccessToken(
        account_id=account_id,
        name=wish.name,
        digest=digest(secret),
        scopes=sorted(wish.scopes),
        expires_at=datetime.now(UTC) + timedelta(days=wish.days) if wish.days else None,
    )
    session.add(key)
    session.flush()
    session.add(_entry("token.make", key, None, by))
    alert(session, account_id, "token", name=wish.name)
    return secret


def _entry(
    action: str, key: AccessToken, before: dict[str, Any] | None, by: dict[str, Any]
) -> AuditEntry:
    subject = f"token:{key.id}"
    return AuditEntry(action=action, subject=subject, before=before, after=_facts(key), **by)


def _facts(key: AccessToken) -> dict[str, Any]:
    return {
        "account": key.account_id,
        "name": key.name,
        "scopes": key.scopes,
        "until": key.expires_at and key.expires_at.isoformat(),
        "revoked": key.revoked_at and key.revoked_at.isoformat(),
    }


# What a process knows of the access tokens that are sent to it.

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


def find_bearer(secret: str) -> Bearer | None:
    """The token's bearer, at most 2 s behind; a known one too while PostgreSQL is away.

    Those that are not ours are remembered apart, where they can push out no good one.
    """
    hashed = digest(secret)
    with _lock:
        if hashed in _strangers:
            return None
    try:
        found = _bearers.get(hashed)
    except UnknownTokenError:
        with _lock:
            _strangers[hashed] = True
        return None
    ended = found.expires_at and found.expires_at <= datetime.now(UTC)
    return None if ended else found


def is_cached(secret: str) -> bool:
    """Whether this process has asked whose token it is before."""
    hashed = digest(secret)
    with _lock:
        return hashed in _strangers or _bearers.peek(hashed) is not None


def _read(digest: bytes) -> Bearer:
    with transaction() as session:
        live = AccessToken.digest == digest, AccessToken.revoked_at.is_(None)
        key = session.scalar(select(AccessToken).where(*live))
        if key is None:
            raise UnknownTokenError
        now = datetime.now(UTC)
        if key.used_at is None or now - key.used_at > NOTED:
            session.execute(update(AccessToken).where(AccessToken.id == key.id).values(used_at=now))
    return Bearer(key.account_id, frozenset(key.scopes), key.expires_at)


_bearers: Cache[bytes, Bearer] = Cache(_read, FRESH)
_strangers: TTLCache[bytes, bool] = TTLCache(STRANGERS, FRESH)
_lock = Lock()
