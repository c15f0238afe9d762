"""View a student's pages as the student sees them, read only; and stop it."""

from flask import Blueprint, redirect, session
from flask.typing import ResponseReturnValue

from portal.core.i18n import _
from portal.people import viewing
from portal.people.roles import Right
from portal.web.admin.students import address_of, confirm_about, record_or_404
from portal.web.confirm import NotPossible
from portal.web.home import LAST_TERM
from portal.web.http.access import requires, signed_in, visitor
from portal.web.http.layout import go
from portal.web.http.viewing import STUDENT

bp = Blueprint("viewing", __name__)


@bp.route("/students/<int:student_id>/view", methods=["GET", "POST"])
@requires(Right.VIEW_AS_STUDENT)
def begin(student_id: int) -> ResponseReturnValue:
    """Begin to view the pages of a student, once it is confirmed."""
    record = record_or_404(student_id)
    refusal = ""
    if viewing.viewable(student_id) is None:
        refusal = _("This person has another role, or an account that is deactivated.")

    def act(reason: str) -> ResponseReturnValue:
        if refusal:
            raise NotPossible(refusal)
        viewing.note_begin(student_id, visitor().id, reason)
        session[STUDENT] = student_id
        session.pop(LAST_TERM, None)
        return go("/")

    return confirm_about(
        record,
        act,
        title=_("View as %(name)s", name=record.profile.name),
        button=_("View"),
        meaning=[
            _("You see the pages of the student until you press “Stop viewing”."),
            _("You can’t change anything, and the student is not notified."),
            _("The waiting room, applications and the account are left out."),
            _("The audit trail records when you start and stop."),
        ],
        refusal=refusal,
    )


@bp.post("/viewing/stop")
@signed_in
def stop() -> ResponseReturnValue:
    """Stop viewing, and go back to the page of the student."""
    student, who = session.pop(STUDENT, None), visitor()
    session.pop(LAST_TERM, None)
    if student is None:
        return redirect("/", 303)
    viewing.note_end(student, who.actor)
    return redirect(address_of(student), 303)
