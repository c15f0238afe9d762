"""Devices on which someone has logged in before: strangers who guess can't lock them out.

A device is forgotten when the account's password changes or all its sessions are ended.
"""

import secrets
from datetime import timedelta

from flask import Response, current_app, request
from itsdangerous import BadSignature, TimestampSigner
from sqlalchemy import select

from portal.backend import backend
from portal.core.db import look
from portal.people.models import Account

COOKIE = "device"
KEPT = timedelta(days=180)


def known(username: str) -> str:
    """The id of this device if that name has logged in on it, else blank."""
    try:
        found = _signer(username).unsign(
            request.cookies.get(COOKIE, ""), max_age=int(KEPT.total_seconds())
        )
    except BadSignature:
        return ""
    device, _, epoch = str(found, "ascii").partition(".")
    return device if epoch == _epoch(username) else ""


def remember(response: Response, username: str, epoch: int) -> None:
    """Let this device be known as that name's until the account's `epoch` ends."""
    device = known(username) or secrets.token_urlsafe(12)
    response.set_cookie(
        COOKIE,
        _signer(username).sign(f"{device}.{epoch}").decode(),
        max_age=KEPT,
        path="/login",
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        httponly=True,
        samesite="Lax",
    )


def _epoch(username: str) -> str:
    """The epoch of the account's sessions, which a new password raises."""
    with look() as db:
        named = Account.username == username, Account.deleted_at.is_(None)
        return str(db.scalar(select(Account.session_epoch).where(*named)))


def _signer(username: str) -> TimestampSigner:
    # The name is in the seal alone: the cookie tells nobody who has logged in.
    return TimestampSigner(backend().settings.signing_keys, salt=f"device {username}")
