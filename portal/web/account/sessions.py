"""Sessions: how they begin and how long they last.

Twelve hours from the login, used or not: who waits in a lobby is not to be logged out when it
opens. On a shared computer, and for admins, who never wait in one, half an hour without a request
ends it sooner.
"""

from datetime import timedelta
from secrets import token_urlsafe
from time import time
from typing import TYPE_CHECKING

from flask import request, session
from flask_login import login_user

from portal.web.http.languages import new_session

if TYPE_CHECKING:
    from portal.people.visitors import Visitor

LONGEST = timedelta(hours=12)
IDLE = timedelta(minutes=30)
STEP = timedelta(minutes=1)  # how exactly it is kept when a session was last used


def begin(visitor: "Visitor", *, shared: bool = False) -> None:
    """A new session with nothing of the old one in it; on a `shared` computer it ends sooner."""
    new_session(visitor.language)
    session.permanent = not shared  # else it goes with the browser's window
    session["since"], session["is"] = int(time()), token_urlsafe(12)  # no two are alike
    if shared or "admin" in visitor.roles:
        session["used"] = int(time())
    login_user(visitor)


def holds() -> bool:
    """Whether the session of this request has not run out; it counts as used by asking.

    A page that asks by itself (static/js/refresh.js) says so, and uses nothing.
    """
    now, used = time(), session.get("used")
    if now >= ends():
        return False
    if used is None:
        return True
    if now - used >= IDLE.total_seconds():
        return False
    if now - used >= STEP.total_seconds() and "Fs-Alone" not in request.headers:
        session["used"] = int(now)
    return True


def name() -> str:
    """The name of the session of this request, which no other one has; blank without a login."""
    return str(session.get("is", ""))


def ends() -> float:
    """When the session of this request ends at the latest, in seconds since 1970."""
    return float(session.get("since", 0) + LONGEST.total_seconds())
