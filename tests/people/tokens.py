"""Access tokens as the database has them, whatever it was that made them so."""

import secrets
from datetime import datetime

from sqlalchemy import select

from portal.core.db import transaction
from portal.people.models import ApiToken
from portal.people.roles import PERSONAL_SCOPES
from portal.people.tokens import digest


def a_token(account_id: int, *scopes: str, name: str = "test", **fields: datetime) -> str:
    """The secret of a token with these scopes, with all if none is named."""
    secret = f"fs_{secrets.token_urlsafe(8)}"
    key = ApiToken(
        account_id=account_id,
        name=name,
        digest=digest(secret),
        scopes=list(scopes or PERSONAL_SCOPES),
        **fields,
    )
    with transaction() as session:
        session.add(key)
    return secret


def kept() -> list[ApiToken]:
    """All tokens, the oldest first."""
    with transaction() as session:
        return list(session.scalars(select(ApiToken).order_by(ApiToken.id)))
