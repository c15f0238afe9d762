"""API tokens: create, list and revoke personal ones, and find the bearer of any token."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from cachetools import TTLCache
from sqlalchemy import ColumnElement, Select, func, or_, select, update
from sqlalchemy.orm import Session

from portal.core.audit_trail import add_audit_entry
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.core.errors import CommandError
from portal.people.models import ACTIVE, Account, ApiToken
from portal.people.roles import PERSONAL_SCOPES
from portal.people.signals import token_created

COMMAND_LINE = "command line"  # the reason of changes without a page
PREFIX = "fs_"  # lets scanners for leaked secrets recognize a token
MAX_TOKENS = 20  # live tokens of one account
FRESH_SECONDS = 2.0  # every node knows of a revoked token within this time
USE_PRECISION = timedelta(minutes=5)  # how exactly the last use is recorded
UNKNOWN_TOKENS = 10_000  # remembered at most


class TooManyError(CommandError):
    """The account has as many live tokens as it may."""


class NameTakenError(CommandError):
    """The account has a live token of that name already."""


class UnknownTokenError(LookupError):
    """No live token has that secret."""


@dataclass(frozen=True)
class TokenRequest:
    """A token to create: what it is for, what it may do, and for how many days (None = always)."""

    name: str
    scopes: Sequence[str] = tuple(PERSONAL_SCOPES)
    days: int | None = None


@dataclass(frozen=True)
class Bearer:
    """The account of a live token, and what the token may do."""

    account_id: int
    scopes: frozenset[str]
    expires_at: datetime | None
    token_id: int = 0
    service: bool = False

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= datetime.now(UTC)


def create(account_id: int, wanted: TokenRequest) -> str:
    """Return the secret of a new token of the account.

    Raises TooManyError and NameTakenError.
    """
    with transaction() as session:
        if wanted.name in {token.name for token in _usable_tokens(session, account_id)}:
            raise NameTakenError(wanted.name)
        return add(session, account_id, wanted, by=account_id)


def create_for(username: str, wanted: TokenRequest) -> str:
    """Return the secret of a new token that the operator creates for an account.

    Raises CommandError, which may be TooManyError.
    """
    with transaction() as session:
        named = Account.username == username, ACTIVE
        account_id = session.scalar(select(Account.id).where(*named))
        if account_id is None:
            raise CommandError(f"There is no account named {username!r}.")
        _usable_tokens(session, account_id)
        return add(session, account_id, wanted, reason=COMMAND_LINE)


def live_tokens(account_id: int) -> list[ApiToken]:
    """Return the account's tokens that have not been revoked, the newest first."""
    with transaction() as session:
        return list(session.scalars(_not_revoked(account_id).order_by(ApiToken.id.desc())))


def revoke(account_id: int, token_id: int | None = None) -> list[str]:
    """Revoke one token of the account, or all of them, and return their names."""
    query = _not_revoked(account_id)
    if token_id is not None:
        query = query.where(ApiToken.id == token_id)
    with transaction() as session:
        revoked = session.scalars(query.with_for_update()).all()
        for token in revoked:
            end(session, token, by=account_id)
        return [token.name for token in revoked]


def end_all(session: Session, account_id: int, *, by: int, reason: str) -> None:
    """Revoke all tokens of an account in its transaction."""
    for token in session.scalars(_not_revoked(account_id).with_for_update()):
        end(session, token, by=by, reason=reason)


def end(session: Session, token: ApiToken, *, by: int | None, reason: str = "") -> None:
    """Revoke a token that is locked."""
    before = _audit_facts(token)
    token.revoked_at = datetime.now(UTC)
    after, subject = _audit_facts(token), f"token:{token.id}"
    add_audit_entry(
        session, "token.revoke", subject, by=by, before=before, after=after, reason=reason
    )


def digest(secret: str) -> bytes:
    """Return what the database keeps of a token's secret."""
    return hashlib.sha256(secret.encode()).digest()


def find_bearer(secret: str) -> Bearer | None:
    """Return the bearer of a live token: a personal one at most 2 s out of date.

    While PostgreSQL is away a cached bearer is returned, but none of a service token. Unknown
    tokens have a cache of their own, where they can't push out a good one.
    """
    key = digest(secret)
    with _lock:
        if key in _unknown:
            return None
    try:
        bearer = _bearers.get(key)
        bearer = _read_bearer(key) if bearer.service else bearer
    except UnknownTokenError:
        with _lock:
            _unknown[key] = True
        return None
    return None if bearer.expired else bearer


def is_cached(secret: str) -> bool:
    """Return whether this process has looked up the token before."""
    key = digest(secret)
    with _lock:
        return key in _unknown or _bearers.peek(key) is not None


def _not_revoked(account_id: int) -> Select[ApiToken]:
    mine = ApiToken.account_id == account_id
    return select(ApiToken).where(mine, ApiToken.revoked_at.is_(None))


def _usable_tokens(session: Session, account_id: int) -> Sequence[ApiToken]:
    """Lock the account and return its tokens that work; raises TooManyError."""
    account = select(Account.id).where(Account.id == account_id)
    session.execute(account.with_for_update(key_share=True))
    unexpired = or_(ApiToken.expires_at.is_(None), ApiToken.expires_at > func.now())
    found = session.scalars(_not_revoked(account_id).where(unexpired)).all()
    if len(found) >= MAX_TOKENS:
        raise TooManyError(
            f"An account can have at most {MAX_TOKENS} active tokens. Revoke one first."
        )
    return found


def find_service(token_id: int) -> Bearer | None:
    """Return the bearer of a live service token by its id, from the database."""
    try:
        bearer = _read_bearer_where(ApiToken.id == token_id)
    except UnknownTokenError:
        return None
    return bearer if bearer.service and not bearer.expired else None


def add(
    session: Session,
    account_id: int,
    wanted: TokenRequest,
    *,
    by: int | None = None,
    reason: str = "",
) -> str:
    """Add a token to an account, and return its secret."""
    secret = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken(
        account_id=account_id,
        name=wanted.name,
        digest=digest(secret),
        scopes=sorted(wanted.scopes),
        expires_at=datetime.now(UTC) + timedelta(days=wanted.days) if wanted.days else None,
    )
    session.add(token)
    session.flush()
    after, subject = _audit_facts(token), f"token:{token.id}"
    add_audit_entry(session, "token.make", subject, by=by, after=after, reason=reason)
    token_created.send(session, account_id, wanted.name)
    return secret


def _audit_facts(token: ApiToken) -> dict[str, Any]:
    return {
        "account": token.account_id,
        "name": token.name,
        "scopes": token.scopes,
        "until": token.expires_at and token.expires_at.isoformat(),
        "revoked": token.revoked_at and token.revoked_at.isoformat(),
    }


def _read_bearer(key: bytes) -> Bearer:
    return _read_bearer_where(ApiToken.digest == key)


def _read_bearer_where(which: ColumnElement[bool]) -> Bearer:
    with transaction() as session:
        found = select(ApiToken, Account.is_service).join(ApiToken.account)
        row = session.execute(found.where(which, ApiToken.revoked_at.is_(None))).one_or_none()
        if row is None:
            raise UnknownTokenError
        token, service = row
        now = datetime.now(UTC)
        if token.used_at is None or now - token.used_at > USE_PRECISION:
            session.execute(update(ApiToken).where(ApiToken.id == token.id).values(used_at=now))
    scopes = frozenset((*token.scopes, "read") if service else token.scopes)
    return Bearer(token.account_id, scopes, token.expires_at, token.id, service)


_bearers: Cache[bytes, Bearer] = Cache(_read_bearer, FRESH_SECONDS)
_unknown: TTLCache[bytes, bool] = TTLCache(UNKNOWN_TOKENS, FRESH_SECONDS)
_lock = Lock()
