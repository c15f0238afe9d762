"""Students as the registrar sees them: a search as the way in, and all that is known of one."""

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.access import requires
from portal.admin.results.words import OBSTACLES
from portal.admin.students.term import in_term
from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.db import transaction
from portal.layout import go
from portal.people import records, search
from portal.recorder.history import history
from portal.recorder.told import by_day

bp = Blueprint("records", __name__, url_prefix="/students")

MOST_PAGES = 1000


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """The students whom a search fits; one whose number it is comes up at once."""
    text, page = searched()
    with transaction() as session:
        exact = search.by_number(session, text) if text else None
        found, more = search.students(session, text, page)
    if exact:
        return go(url_for("admin.records.show", student_id=exact))
    return render_template("admin/students.html", text=text, students=found, page=page, more=more)


@bp.get("/<int:student_id>")
@requires("admin")
def show(student_id: int) -> ResponseReturnValue:
    """One student: selections of a term, holds, permissions, completed courses, what happened."""
    with transaction() as session:
        found = records.find(session, student_id) or abort(404)
    terms = live_terms()
    asked = request.args.get("term", type=int)
    term = next((each for each in terms if each.id == asked), terms[0] if terms else None)
    return render_template(
        "admin/student.html",
        record=found,
        who=found.profile,
        rules=OBSTACLES,
        terms=terms,
        term=catalog_of(term.id).term if term else None,
        now=in_term(found.profile, term.id) if term else None,
        days=by_day(history(student_id, term.id).receipts[:10]) if term else [],
    )


def searched() -> tuple[str, int]:
    """What a list is searched for, and the page of it."""
    text = request.args.get("q", "").replace("\0", "").strip()
    return text, min(max(1, request.args.get("page", 1, type=int)), MOST_PAGES)
