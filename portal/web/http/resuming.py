"""Ended sessions and refused forms: the way back to a task, with the choices made.

Nothing is sent for the visitor: after a login they find the same form and choices, and submit it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlunsplit

from flask import current_app, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from portal.web.http.request_info import split_url

TOKEN = "csrf_token"  # noqa: S105  the name of the field; the page gives the form a new one
# An allow list of form fields: a form with any other field, such as a password, is not shown again.
FIELDS = frozenset(
    {
        # claims, drops, swaps, waitlists and plans of students
        *("act", "along", "back", "credits", "do", "edit", "feed", "line"),
        *("next", "place", "plan", "request", "swap_out", "unsure", "version", "wait"),
        # inboxes, languages, privacy
        *("before", "by_mail", "language", "layout", "private", "seen", "through"),
        # decisions of admins and instructors
        *("add", "capacity", "confirmed", "course", "credit_limit", "drop", "note"),
        *("over", "past", "places", "reason", "section", "status", "student", "term", "waives"),
        *("wanted", "was", "whom", "who"),
    }
)
NUMBERED = re.compile(r"(?:with|credits|version)[-_][0-9]{1,18}")  # one each for many sections

View = TypeVar("View", bound=Callable[..., Any])
SIGNAL = "fs:logged-out"  # event for the page's scripts
LEFT_OUT = {"request", "unsure"}  # fields that are valid for one submission only
UNCHECKED = "wait"  # an empty check box sends nothing, although leaving it empty is a choice
MOST = 1500  # bytes of the longest query that is restored after a login


@dataclass(frozen=True)
class Resumable:
    """How to return to a view: `say` names it, `to` gives its address if that is another one."""

    say: Callable[..., str]
    to: Callable[..., str] | None = None


def resumes(
    say: Callable[..., str], to: Callable[..., str] | None = None
) -> Callable[[View], View]:
    """Mark a view that a login may lead back to; both functions take the view's arguments."""

    def mark(view: View) -> View:
        view.resumable = Resumable(say, to)  # type: ignore[attr-defined]
        return view

    return mark


def onward() -> str:
    """Return the page after a login from this request; blank if there is none in particular."""
    found, arguments = _marked(request.endpoint), request.view_args or {}
    if found and found.to:
        return found.to(**arguments)
    if found:
        return _with_choices()
    if request.headers.get("HX-Request"):
        return _page()
    return request.full_path.rstrip("?") if request.method == "GET" else ""


def continuing(path: str) -> str:
    """Return a sentence on what continues after a login that leads to `path`; else blank."""
    try:
        endpoint, arguments = current_app.url_map.bind("").match(split_url(path).path, "GET")
    except (HTTPException, RequestRedirect):
        return ""
    found = _marked(endpoint)
    return found.say(**arguments) if found else ""


def known() -> bool:
    """Return whether this browser was logged in before, as far as we can tell."""
    return bool(session.get("_user_id") or request.headers.get("HX-Request"))


def marked() -> bool:
    """Return whether a login may lead back to this request's view."""
    return _marked(request.endpoint) is not None


def login(path: str, *, ended: bool = False) -> str:
    """Return the address of the login page, which leads on to `path`."""
    onward_ = None if path in {"", "/"} else path
    return url_for("login.form", next=onward_, ended="yes" if ended else None)


def in_place() -> ResponseReturnValue:
    """Answer an open page: a dialog with the way back, or an event for its scripts."""
    if request.headers.get("HX-Target") != "dialog":
        return "", 401, {"HX-Reswap": "none", "HX-Trigger": SIGNAL}
    path = onward()
    facts = {"login": login(path, ended=True), "continuing": continuing(path)}
    return render_template("errors/ended.html", **facts), 401


def _marked(endpoint: str | None) -> Resumable | None:
    view = current_app.view_functions.get(endpoint or "")
    return cast("Resumable | None", getattr(view, "resumable", None))


def _with_choices() -> str:
    """Return the form's address with the choices made and the page that it was opened from.

    If it is too long, leave out first the choices, then the query that the form came with.
    """
    pairs = parse_qsl(request.query_string.decode(errors="replace"))
    queries = (urlencode(each) for each in ([*pairs, *_choices()], pairs))
    query = next((each for each in queries if len(each) <= MOST), "")
    return f"{request.path}{'?' + query if query else ''}"


def _choices() -> list[tuple[str, str]]:
    """Return the form fields that a page may show again; the request may contain any others."""
    if request.method == "POST":
        chosen = {UNCHECKED: "0", **listed_fields()}
        return [(name, text) for name, text in chosen.items() if name not in LEFT_OUT]
    page = _page()
    return [("back", page)] if page else []


def _page() -> str:
    """Return the page that sent the request; blank if it is unknown."""
    page = split_url(request.headers.get("HX-Current-URL") or request.referrer)
    return urlunsplit(("", "", page.path, page.query, ""))


# Fields of a form that may be shown again after a refusal, or kept in an address


def shown_fields() -> list[tuple[str, str]]:
    """Return the fields of the submitted form; none if one of them is not on the list."""
    fields = list(_sent())
    return fields if all(_listed(name) for name, _ in fields) else []


def listed_fields() -> dict[str, str]:
    """Return the fields of the form that are on the list."""
    return {name: text for name, text in _sent() if _listed(name)}


def _sent() -> Iterator[tuple[str, str]]:
    return (each for each in request.form.items(multi=True) if each[0] != TOKEN)


def _listed(name: str) -> bool:
    return name in FIELDS or NUMBERED.fullmatch(name) is not None
