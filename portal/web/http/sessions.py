"""Sessions: how they begin and how long they last.

A session lasts twelve hours from the login, used or not: students in a lobby must not be logged out
when the window opens. It ends after half an hour without a request on a shared computer, and for
admins, who never wait in a lobby.
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
STEP = timedelta(minutes=1)  # precision of the time of the last request


def begin(visitor: "Visitor", *, shared: bool = False) -> None:
    """Begin a new, empty session; on a `shared` computer it ends sooner."""
    new_session(visitor.language)
    session.permanent = not shared  # otherwise it ends with the browser
    session["since"], session["is"] = int(time()), token_urlsafe(12)  # every session is unique
    if shared or visitor.is_staff:
        end_when_idle()
    login_user(visitor)


def end_when_idle() -> None:
    """End this request's session after half an hour without a request, as from now."""
    session.setdefault("used", int(time()))


def holds() -> bool:
    """Return whether this request's session is valid, and record that it was used.

    A page that reloads itself (static/js/refresh.js) says so, which does not count as use.
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
    """Return the unique name of this request's session; blank without a login."""
    return str(session.get("is", ""))


def ends() -> float:
    """Return when this request's session ends at the latest, in seconds since 1970."""
    return float(session.get("since", 0) + LONGEST.total_seconds())
