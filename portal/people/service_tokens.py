"""Service tokens: programs of the university act with them, each under an account of its own.

The account has the token's name, so the audit trail and the event log name the token. It has no
password and no roles of people.
"""

import secrets

from sqlalchemy import ColumnElement, Select, select, text

from portal.core.db import transaction
from portal.people import tokens
from portal.people.models import Account, ApiToken
from portal.people.tokens import NameTakenError, TokenRequest

DAYS = 365  # unless another time is chosen
LOCK = "SELECT pg_advisory_xact_lock(hashtext('fairseat service tokens'))"


def create(wanted: TokenRequest, *, by: int | None, reason: str = "") -> str:
    """Return the secret of a new service token; raise NameTakenError.

    `by` is the admin, None at the command line.
    """
    with transaction() as session:
        session.execute(text(LOCK))  # so that two tokens made at once can't share a name
        if session.scalars(_live(ApiToken.name == wanted.name)).first():
            raise NameTakenError(
                f"There is a service token {wanted.name!r}. Revoke it, or choose another name."
            )
        account = Account(
            username=f"service-{secrets.token_hex(8)}", name=wanted.name, is_service=True
        )
        session.add(account)
        session.flush()
        return tokens.add(session, account.id, wanted, by=by, reason=reason)


def live() -> list[ApiToken]:
    """Return the tokens that have not been revoked, the newest first."""
    with transaction() as session:
        return list(session.scalars(_live().order_by(ApiToken.id.desc())))


def revoke(token_id: int, *, by: int | None, reason: str) -> str:
    """Revoke a token and return its name; raise LookupError if there is none."""
    return _end(ApiToken.id == token_id, by=by, reason=reason)


def revoke_named(name: str, *, by: int | None, reason: str) -> None:
    """Revoke all tokens of that name; raise LookupError if there is none."""
    _end(ApiToken.name == name, by=by, reason=reason)


def _end(which: ColumnElement[bool], *, by: int | None, reason: str) -> str:
    with transaction() as session:
        found = session.scalars(_live(which).with_for_update(of=ApiToken)).all()
        if not found:
            raise LookupError("There is no such service token.")
        for each in found:
            tokens.end(session, each, by=by, reason=reason)
        return found[0].name


def _live(*which: ColumnElement[bool]) -> Select[ApiToken]:
    of_services = ApiToken.revoked_at.is_(None), Account.is_service
    return select(ApiToken).join(ApiToken.account).where(*of_services, *which)
