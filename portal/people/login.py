"""Logging in and out."""

from flask import Blueprint, Response, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_limiter.util import get_remote_address
from flask_login import current_user, login_user
from sqlalchemy import select, update

from portal.access import public
from portal.db import transaction
from portal.extensions import limiter
from portal.languages import new_session
from portal.live.tell import ended
from portal.people import accounts, passwords
from portal.people.models import Account

bp = Blueprint("login", __name__)


def name_tried() -> str:
    """The user name in the form, as one of ours could be written."""
    return request.form.get("username", "").replace("\0", "").strip()[:64]


def _name_and_address() -> str:
    return f"{name_tried()}@{get_remote_address()}"


def _failed(response: Response) -> bool:
    return response.status_code == 422


@bp.get("/login")
@public
def form() -> ResponseReturnValue:
    """The page that asks for name and password."""
    onward = safe_path(request.args.get("next", ""))
    if current_user.is_authenticated:
        return redirect(onward)
    return render_template("login.html", onward=onward)


# A whole campus may share one address, and nobody may lock another out by failing in their name:
# so what counts is the pair, and for an address alone only what failed.
@bp.post("/login")
@public
@limiter.limit("60/minute", key_func=_name_and_address)
@limiter.limit("10/minute;60/hour", key_func=_name_and_address, deduct_when=_failed)
@limiter.limit("1000/minute", deduct_when=_failed)
def log_in() -> ResponseReturnValue:
    """Begin a session, or say that name and password do not belong together."""
    onward = safe_path(request.form.get("next", ""))
    account_id = _account(name_tried(), request.form.get("password", "")[:1024])
    visitor = accounts.find(account_id) if account_id else None
    if visitor is None:
        page = render_template("login.html", onward=onward, failed=True, username=name_tried())
        return page, 422
    new_session(visitor.language)
    session.permanent = True
    login_user(visitor)
    return redirect(onward)


@bp.post("/logout")
@public
def log_out() -> ResponseReturnValue:
    """End the session, and tell its other open pages."""
    account = current_user.is_authenticated and current_user.id
    new_session()
    if account:
        ended(account)
    return redirect(url_for("login.form"))


def safe_path(wanted: str) -> str:
    """`wanted` where it is a path on this site, else the front page."""
    plain = wanted.isprintable() and "\\" not in wanted
    return wanted if plain and wanted.startswith("/") and not wanted.startswith("//") else "/"


def _account(username: str, password: str) -> int | None:
    """The account that name and password belong to; takes as long for an unknown name."""
    with transaction() as db:
        row = db.execute(
            select(Account.id, Account.password_hash).where(
                Account.username == username, Account.deleted_at.is_(None)
            )
        ).one_or_none()
    kept = row.password_hash if row else ""
    if not passwords.verify(kept, password) or row is None:
        return None
    if passwords.outdated(kept):
        _rehash(row.id, password)
    return int(row.id)


def _rehash(account_id: int, password: str) -> None:
    fresh = passwords.hash_password(password)
    with transaction() as db:
        db.execute(update(Account).where(Account.id == account_id).values(password_hash=fresh))
