"""My account at a glance, and the button that ends all my sessions."""

from flask import Blueprint, flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.people import credentials, tokens
from portal.people.models import Account, Student
from portal.web.http.access import signed_in, visitor
from portal.web.http.languages import new_session

bp = Blueprint("overview", __name__)

ROLES = {
    "student": _l("Student"),
    "instructor": _l("Instructor"),
    "admin": _l("Registrar’s office"),
}


@bp.get("")
@signed_in
def show() -> ResponseReturnValue:
    """Who I am here, and by which ways I log in."""
    who, settings = visitor(), backend().settings
    with transaction() as session:
        account = session.get_one(Account, who.id)
        student = session.get(Student, who.student_id) if who.student_id else None
    return render_template(
        "account/overview.html",
        account=account,
        student=student,
        roles=[label for role, label in ROLES.items() if role in who.roles],
        tokens=len(tokens.of_account(who.id)),
        password=settings.passwords and bool(account.password_hash),
        provider=settings.oidc and settings.oidc.name,
    )


@bp.post("/sessions/end")
@signed_in
def end_sessions() -> ResponseReturnValue:
    """Log out everywhere, here too."""
    credentials.end_sessions(visitor().id)
    new_session()
    flash(_("You are logged out everywhere."), "message")
    return redirect(url_for("login.form"), 303)
