"""The front page: straight on to what the visitor came for."""

from flask import Blueprint, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from portal.access import signed_in, visitor
from portal.catalog.terms import live_terms

bp = Blueprint("home", __name__)


@bp.get("/")
@signed_in
def index() -> ResponseReturnValue:
    """To the term of a student, the sections of an instructor, the windows of an admin."""
    roles = visitor().roles
    if "student" in roles:
        return _student()
    if "instructor" in roles:
        return redirect(url_for("instructor.teaching"))
    return redirect(url_for("admin.terms.index"))


def _student() -> ResponseReturnValue:
    terms = live_terms()
    if len(terms) == 1:
        return redirect(url_for("student.term", term_id=terms[0].id))
    return render_template("terms.html", terms=terms)
