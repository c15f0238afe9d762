"""My schedule, and the page that creates and ends its secret address."""

from datetime import datetime
from functools import partial

from flask import flash, render_template, url_for
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.backend import backend
from portal.calendar import date_texts, feeds, timetable
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.catalog.views import SectionView
from portal.core.cache import AWAY
from portal.core.i18n import _
from portal.people.roles import Right
from portal.people.student_profile import profile
from portal.registration.credits import amount, credits_in_words
from portal.registration.next_steps import section_name
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.student import bp, fragments
from portal.web.student.student_term import find_attention, section_title
from portal.windows import deadlines


@bp.get("/schedule")
@requires(Right.REGISTER)
def schedule(term_id: int) -> ResponseReturnValue:
    """Render the week, the list, exams and days off; for htmx, only the part that changes."""
    offered, student = catalog_of(term_id), visitor().student_id or 0
    found = timetable.timetable(offered, student)
    if request.htmx.target == "schedule":
        if request.args.get("mark") == found.checksum:
            return "", 204
        part = render_template("student/schedule_found.html", schedule=found, **_around(offered))
        return part + render_template("recorded.html")
    held = offered.some(entry.section for entry in found.selected)
    return render_template(
        "student/schedule.html",
        schedule=found,
        attention=_attention(term_id, student, held),
        last_days=deadlines.in_words(offered.term),
        **_around(offered),
    )


@bp.get("/schedule/feed")
@requires(Right.REGISTER)
def schedule_feed(term_id: int) -> ResponseReturnValue:
    """Render the secret address of the student's calendar, and buttons to renew or end it."""
    feed = feeds.current(visitor().student_id or 0)
    address = url_for("calendar.feed", secret=feeds.secret(feed), _external=True) if feed else ""
    return render_template(
        "student/schedule_feed.html", term=catalog_of(term_id).term, feed=feed, address=address
    )


@bp.post("/schedule/feed")
@requires(Right.REGISTER)
def change_feed(term_id: int) -> ResponseReturnValue:
    """Renew or end the calendar address; a form that shows an older address changes nothing."""
    student, was = visitor().student_id or 0, request.form.get("feed", 0, type=int)
    if request.form.get("act") == "end":
        feeds.end(student, was)
        flash(_("Your calendar link is turned off."), "message")
    else:
        feeds.renew(student, was)
        flash(_("Your new calendar link is ready."), "message")
    return go(url_for("student.schedule_feed", term_id=term_id))


def _attention(term: int, student: int, held: list[SectionView]) -> str:
    """Render the student's holds and clashes; blank while PostgreSQL is unavailable."""
    try:
        return fragments.attention(term, find_attention(profile(student), held))
    except (LookupError, *AWAY):
        return ""


def _around(offered: TermCatalog) -> dict[str, object]:
    """Return what the templates need besides the schedule itself."""
    return {
        "term": offered.term,
        "title": partial(section_title, offered),
        "named": section_name,
        "points": amount,
        "amount": credits_in_words,
        "date_texts": date_texts,
        "today": datetime.now(backend().settings.zone),
    }
