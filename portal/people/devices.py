"""Devices on which someone has logged in before: strangers who guess can't lock them out."""

import secrets
from datetime import timedelta

from flask import Response, current_app, request
from itsdangerous import BadSignature, TimestampSigner

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
    return str(found, "ascii")


def remember(response: Response, username: str) -> None:
    """Let this device be known as that name's from now on."""
    device = known(username) or secrets.token_urlsafe(12)
    response.set_cookie(
        COOKIE,
        _signer(username).sign(device).decode(),
        max_age=KEPT,
        path="/login",
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        httponly=True,
        samesite="Lax",
    )


def _signer(username: str) -> TimestampSigner:
    # The name is in the seal alone: the cookie tells nobody who has logged in.
    return TimestampSigner(current_app.secret_key or "", salt=f"device {username}")
