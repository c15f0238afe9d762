"""Devices with an earlier login: attackers who guess passwords can't lock their users out.

A device is forgotten when the account's password changes or all its sessions are ended.
"""

import secrets
from datetime import timedelta

from flask import Response, current_app, request
from itsdangerous import BadSignature, TimestampSigner
from sqlalchemy import select

from portal.backend import backend
from portal.core.db import read_only
from portal.people.models import ACTIVE, Account

COOKIE = "device"
KEPT = timedelta(days=180)


def known(username: str) -> str:
    """Return the id of this device if this user has logged in on it, else blank."""
    try:
        found = _signer(username).unsign(
            request.cookies.get(COOKIE, ""), max_age=int(KEPT.total_seconds())
        )
    except BadSignature:
        return ""
    device, _, epoch = str(found, "ascii").partition(".")
    return device if epoch == _epoch(username) else ""


def remember(response: Response, username: str, epoch: int) -> None:
    """Remember this device for the user until the account's `epoch` ends."""
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
    """Return the epoch of the account's sessions, which increases with a new password."""
    with read_only() as db:
        named = Account.username == username, ACTIVE
        return str(db.scalar(select(Account.session_epoch).where(*named)))


def _signer(username: str) -> TimestampSigner:
    # Only the signature includes the name: the cookie does not reveal who has logged in.
    return TimestampSigner(backend().settings.signing_keys, salt=f"device {username}")
