"""Logging in and out."""

import logging
import secrets
from contextlib import suppress

from flask import (
    Blueprint,
    abort,
    g,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_login import current_user
from redis.exceptions import RedisError
from sqlalchemy import select, update
from sqlalchemy.exc import SQLAlchemyError

from portal.backend import backend
from portal.core.db import read_only, transaction
from portal.ledger.function_library import translate_errors
from portal.live.publish import sessions_ended
from portal.people import accounts, passwords, viewing, visitors
from portal.people.models import ACTIVE, Account
from portal.people.passwords import LONGEST
from portal.protection import captcha
from portal.web.account import devices, login_limits
from portal.web.http import resuming, sessions
from portal.web.http.access import public
from portal.web.http.admission import captcha_needed
from portal.web.http.languages import new_session

bp = Blueprint("login", __name__)
log = logging.getLogger(__name__)

BUSY_SECONDS = 5


def name_tried() -> str:
    """Return the user name in the form, normalized."""
    return request.form.get("username", "").replace("\0", "").strip()[:64]


@bp.get("/login")
@public
def form() -> ResponseReturnValue:
    """Render the page that asks for name and password."""
    onward = safe_path(request.args.get("next", ""))
    if current_user.is_authenticated:
        return redirect(onward)
    return page(onward)


@bp.post("/login")
@public
def log_in() -> ResponseReturnValue:
    """Begin a session, or report a wrong username or password."""
    if not backend().settings.passwords:
        abort(404)
    onward = safe_path(request.form.get("next", ""))
    tries = login_limits.of(name_tried(), everywhere=captcha_needed())
    if wait := tries.charge():
        if not spend():
            return page(onward, wait=wait, asks=True), 429, {"Retry-After": str(wait)}
        tries = tries.charge_anyway()
    try:
        visitor = _visitor(name_tried(), request.form.get("password", "")[:LONGEST])
    except Exception as error:
        tries.refund()
        if not isinstance(error, passwords.TooManyError):
            raise
        return page(onward, busy=True), 503, {"Retry-After": str(BUSY_SECONDS)}
    if visitor is None:
        return page(onward, failed=True, asks=tries.wait() > 0), 422
    if not wait:
        tries.refund()
    return _enter(visitor, onward)


@bp.get("/login/challenge")
@public
def challenge() -> ResponseReturnValue:
    """Return a puzzle for a browser without a login."""
    return captcha.challenge(NO_ACCOUNT)


@bp.post("/login/challenge")
@public
def solve() -> ResponseReturnValue:
    """Check the solution: it allows one more attempt."""
    try:
        earn(request.form.get("payload", ""))
    except captcha.NotProven as refused:
        return refused.text, 422
    return "", 204, {"HX-Trigger": "fs:proven"}


@bp.post("/logout")
@public
def log_out() -> ResponseReturnValue:
    """End the session, and tell its other open pages."""
    provider = session.get("provider")
    end_this_session()
    return redirect(url_for("login.form", left="yes" if provider else None))


def end_this_session() -> None:
    """End the session of this request on all nodes, so that copies of its cookie are useless.

    While PostgreSQL is unavailable, only the cookie is deleted.
    """
    account = current_user.is_authenticated and current_user.actor
    viewed = account and current_user.viewer and current_user.student_id
    name, until = sessions.name(), sessions.ends()
    new_session()
    if not account:
        return
    try:
        if viewed:
            viewing.note_end(viewed, account)
        accounts.end_session(account, name, until)
    except SQLAlchemyError as error:
        log.warning("A session of account %s could not be ended: %s", account, error)
        sessions_ended(account)


def page(onward: str, *, asks: bool = False, **context: object) -> str:
    """Render the page for name and password, with the result of the last attempt.

    With `asks`, it requires a captcha before another attempt.
    """
    settings = backend().settings
    return render_template(
        "login.html",
        onward=onward,
        ended="ended" in request.args,
        continuing=resuming.continuing(onward),
        asks=asks and captcha_needed(),
        username=name_tried(),
        passwords=settings.passwords,
        visiting=settings.visiting and settings.passwords,
        shared="shared" in request.form,
        provider=settings.oidc and settings.oidc.name,
        **context,
    )


def safe_path(wanted: str) -> str:
    """Return `wanted` if it is a path on this site, else the front page."""
    plain = wanted.isprintable() and "\\" not in wanted
    return wanted if plain and wanted.startswith("/") and not wanted.startswith("//") else "/"


def _enter(visitor: visitors.Visitor, onward: str) -> ResponseReturnValue:
    shared = "shared" in request.form
    end_this_session()
    # Ending the old session may end all of the account's sessions.
    visitor = visitors.find(visitor.id) or visitor
    sessions.begin(visitor, shared=shared)
    answer = make_response(redirect(onward))
    if not shared:
        devices.remember(answer, name_tried(), visitor.epoch)
    return answer


def _visitor(username: str, password: str) -> visitors.Visitor | None:
    account_id = _account(username, password)
    return visitors.find(account_id) if account_id else None


def _account(username: str, password: str) -> int | None:
    """Return the account of the name and password; an unknown name takes the same time."""
    named = Account.username == username, ACTIVE
    with read_only() as db:
        row = db.execute(select(Account.id, Account.password_hash).where(*named)).one_or_none()
    g.tried = row and row.id
    stored = row.password_hash if row else ""
    if not passwords.verify(stored, password) or row is None:
        return None
    if passwords.outdated(stored):
        with suppress(passwords.TooManyError):  # a later login can do it
            _rehash(row.id, password)
    return int(row.id)


def _rehash(account_id: int, password: str) -> None:
    fresh = passwords.hash_password(password)
    with transaction() as db:
        db.execute(update(Account).where(Account.id == account_id).values(password_hash=fresh))


# One more password attempt beyond the limit, for each captcha solved.

NO_ACCOUNT = 0  # the account in a puzzle for a visitor without a login
KEPT_AS = "one_more"  # in the session
LASTS = 10 * 60  # seconds


def earn(payload: str) -> None:
    """Check a solution, for one more attempt. Raise NotProven or LedgerUnavailable."""
    captcha.check(payload, NO_ACCOUNT)
    session[KEPT_AS] = secrets.token_urlsafe(12)
    # Redis counts the attempt, so that copies of the session's cookie share it.
    with translate_errors():
        backend().redis.set(_name(session[KEPT_AS]), 1, ex=LASTS)


def spend() -> bool:
    """Return whether there was one more attempt, and use it up."""
    one_more = session.pop(KEPT_AS, "")
    with suppress(RedisError):
        return bool(one_more and backend().redis.delete(_name(one_more)))
    return False


def _name(one_more: str) -> str:
    return f"login:one-more:{one_more}"
