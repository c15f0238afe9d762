"""Personal access tokens, of which only a digest is kept."""

import hashlib
import secrets
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from portal.db import transaction
from portal.people.models import AccessKey, Account

PREFIX = "fs_"  # so that scanners for leaked secrets can know one


class UnknownUserError(LookupError):
    """Nobody has that name."""


def make(username: str, name: str, days: int | None = None) -> str:
    """A new token of that account, valid for so many days; raises UnknownUserError."""
    secret = PREFIX + secrets.token_urlsafe(32)
    expires = datetime.now(UTC) + timedelta(days=days) if days else None
    with transaction() as session:
        named = Account.username == username, Account.deleted_at.is_(None)
        account = session.scalar(select(Account).where(*named))
        if account is None:
            raise UnknownUserError(f"There is no account named {username!r}.")
        key = AccessKey(
            account_id=account.id, name=name, digest=digest(secret), scopes=[], expires_at=expires
        )
        session.add(key)
    return secret


def digest(secret: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(secret.encode()).digest()
