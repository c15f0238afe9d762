"""Requests of somebody who views a student's pages: only these pages, and only to read.

The session of the one who views keeps the id of the student. Requests then come from that student,
with `viewer` as the one who asks. Everything that is not listed here is refused before any view.
"""

from dataclasses import replace

from flask import request, session

from portal.core.i18n import _l
from portal.people import viewing
from portal.people.roles import Right
from portal.people.visitors import Visitor
from portal.web.http.errors import Message
from portal.web.http.request_info import READS

STUDENT = "viewing"  # in the session: the id of the student
# Applications, the account, the calendar's address and the waiting room stay closed.
PAGES = frozenset(
    {
        "home.index",
        "inbox.count",
        "inbox.index",
        "live.fragments",
        "receipts.show",
        "student.history",
        "student.mine",
        "student.pick",
        "student.plan",
        "student.plan_panel",
        "student.schedule",
        "student.section",
        "student.stage",
        "student.swaps",
        "student.term",
    }
)
ALWAYS = frozenset({"admin.viewing.stop", "login.log_out", "static"})
READ_ONLY = Message(
    _l("You are viewing a student’s pages"),
    _l(
        "You can only look at them, and some are closed. Nothing was changed. Press “Stop viewing”"
        " to continue your work."
    ),
)


def in_place_of(who: Visitor) -> Visitor:
    """Return the student whose pages the visitor views, or the visitor if there is none.

    The view ends if the visitor has lost the right, or the student can't be viewed any more.
    """
    student = session.get(STUDENT)
    if not student:
        return who
    found = viewing.viewable(student) if who.may(Right.VIEW_AS_STUDENT) else None
    if found:
        return replace(found, viewer=who, language=who.language)
    session.pop(STUDENT)
    viewing.note_end(student, who.id)
    return who


def refused(who: Visitor, *, public: bool) -> bool:
    """Return whether the request is not for one who views a student's pages."""
    if not who.is_authenticated or not who.viewer or request.endpoint in ALWAYS:
        return False
    return request.method not in READS or not (public or request.endpoint in PAGES)
