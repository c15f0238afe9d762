"""/admin/rehearsals: an opening played by students who are made up, and what came of it."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.access import requires, visitor
from portal.admin.times import Reading
from portal.backend import backend
from portal.catalog.models import Term
from portal.core import bulkheads
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.layout import go
from portal.people.models import Account
from portal.rehearsal import book
from portal.rehearsal.models import Rehearsal
from portal.rehearsal.way import WindowInTheWay
from portal.seats.library import reached

EARLIER = 20
LONGEST_MINUTES = book.LONGEST // 60
STEPS = {
    "waiting": _l("Waits for a worker"),
    "making": _l("Makes the practice term"),
    "playing": _l("Is played"),
    "auditing": _l("Compares ledger and record"),
    "done": _l("Done"),
}
PHASES = {
    "lobby": _l("Lobby"),
    "rush": _l("Rush"),
    "waitlists": _l("Waitlists"),
    "drops": _l("Drops"),
    "stragglers": _l("Stragglers"),
}

bp = Blueprint("rehearsals", __name__, url_prefix="/rehearsals")


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """The form, and the rehearsals that there were."""
    return _index(Reading(), 200)


@bp.post("")
@requires("admin")
def begin() -> ResponseReturnValue:
    """Have a worker play one; on to its page."""
    reading = Reading()
    students = _number(reading, "students", book.FEWEST_STUDENTS, book.MOST_STUDENTS)
    minutes = _number(reading, "minutes", 1, LONGEST_MINUTES)
    if reading.errors:
        return _index(reading, 422)
    with reached():
        bulkheads.room_for_errand(backend().redis)
    anyway = "anyway" in request.form
    try:
        with transaction() as session:
            rehearsal_id = book.begin(session, students, 60 * minutes, visitor().id, anyway=anyway)
    except WindowInTheWay as found:
        told = _(
            "%(window)s of %(term)s is open, or opens before this would be over.",
            window=found.window,
            term=found.term,
        )
        reading.wrong("anyway", told)
        return _index(reading, 422)
    if rehearsal_id is None:
        reading.wrong("", _("Another rehearsal is under way. Wait until it has ended, or stop it."))
        return _index(reading, 409)
    book.call(rehearsal_id, 60 * minutes)
    return go(url_for(".show", rehearsal_id=rehearsal_id))


@bp.get("/<int:rehearsal_id>")
@requires("admin")
def show(rehearsal_id: int) -> ResponseReturnValue:
    """How it goes, and what came of it."""
    return render_template("admin/rehearsals/show.html", **_told(rehearsal_id))


@bp.get("/<int:rehearsal_id>/now")
@requires("admin")
def now(rehearsal_id: int) -> ResponseReturnValue:
    """The same alone, for a page that is open."""
    return render_template("admin/rehearsals/now.html", **_told(rehearsal_id))


@bp.post("/<int:rehearsal_id>/stop")
@requires("admin")
def stop(rehearsal_id: int) -> ResponseReturnValue:
    """Have it end at once; what it has measured until then is kept."""
    with transaction() as session:
        stopped = book.stop(session, rehearsal_id, visitor().id)
    flash(_("It ends within seconds.") if stopped else _("It has ended already."))
    return go(url_for(".show", rehearsal_id=rehearsal_id))


def _index(reading: Reading, status: int) -> ResponseReturnValue:
    with transaction() as session:
        book.tidy(session)
        latest = book.latest(session, EARLIER)
    limits = {
        "students": (book.FEWEST_STUDENTS, book.MOST_STUDENTS),
        "minutes": (1, LONGEST_MINUTES),
    }
    page = render_template(
        "admin/rehearsals/index.html",
        reading=reading,
        form=request.form,
        latest=latest,
        limits=limits,
        steps=STEPS,
    )
    return page, status


def _told(rehearsal_id: int) -> dict[str, object]:
    with transaction() as session:
        book.tidy(session)
        found = (session.get(Rehearsal, rehearsal_id) if rehearsal_id < 2**31 else None) or abort(
            404
        )
        owner = found.account_id and session.get_one(Account, found.account_id).name
        term = found.term_id and session.get_one(Term, found.term_id)
    return {
        "found": found,
        "owner": owner or _("command line"),
        "term": term if term and not term.deleted_at else None,
        "steps": STEPS,
        "phases": PHASES,
    }


def _number(reading: Reading, name: str, least: int, most: int) -> int:
    text = request.form.get(name, "").strip()
    if text.isascii() and text.isdigit() and len(text) < 6 and least <= int(text) <= most:
        return int(text)
    reading.wrong(
        name, _("Give a whole number from %(least)s to %(most)s.", least=least, most=most)
    )
    return least
