"""Setting and lifting a hold, each on a page that says what it means."""

from flask import Blueprint, flash, render_template, request
from flask.typing import ResponseReturnValue

from portal.access import requires, visitor
from portal.admin.reasons import read_reason
from portal.admin.students import fields
from portal.admin.times import Reading
from portal.core.i18n import _
from portal.notifications.holds import tell_student
from portal.people import holds
from portal.people.holds import Wish
from portal.people.records import Record
from portal.recorder.reconsider import reconsider

bp = Blueprint("holds", __name__, url_prefix="/students/<int:student_id>/holds")

LIFT = "admin/hold_lift.html"
KIND = 40  # characters
OFFICE = 160
REASON = 300


@bp.get("/new")
@requires("admin")
def new(student_id: int) -> ResponseReturnValue:
    """The form for a hold, and what it will mean."""
    return _form(fields.student(student_id), Reading(), 200)


@bp.post("/new")
@requires("admin")
def place(student_id: int) -> ResponseReturnValue:
    """Set it, or say all that is wrong with it."""
    record, reading = fields.student(student_id), Reading()
    wish = _read(reading)
    why = read_reason(reading, request.form, needed=False)
    if wish is None or reading.errors:
        return _form(record, reading, 422)
    set_now = holds.place(student_id, wish, by=visitor().id, why=why, tell=tell_student)
    name = record.profile.name
    flash(
        _("The hold on %(name)s is set.", name=name)
        if set_now
        else _("%(name)s has this very hold already.", name=name)
    )
    return fields.back(student_id)


@bp.get("/<int:hold_id>/lift")
@requires("admin")
def ask(student_id: int, hold_id: int) -> ResponseReturnValue:
    """The page to confirm on that it is lifted."""
    return fields.ask(LIFT, _shown(student_id, hold_id), Reading())


@bp.post("/<int:hold_id>/lift")
@requires("admin")
def lift(student_id: int, hold_id: int) -> ResponseReturnValue:
    """Lift it, and ask the waitlists again that passed the student over."""

    def act(why: str) -> str:
        lifted = holds.lift(student_id, hold_id, by=visitor().id, why=why, tell=tell_student)
        reconsider(student_id)
        return _("The hold is lifted.") if lifted else _("The hold had been lifted already.")

    return fields.take_back(LIFT, _shown(student_id, hold_id), student_id, act)


def _shown(student_id: int, hold_id: int) -> dict[str, object]:
    record = fields.student(student_id)
    return {"record": record, "hold": fields.one(record.holds, hold_id)}


def _read(reading: Reading) -> Wish | None:
    form = request.form
    kind = fields.read_text(reading, form, "kind", _("Kind"), KIND)
    reason = fields.read_text(reading, form, "said", _("What the student reads"), REASON)
    office = fields.read_text(reading, form, "office", _("Who lifts it"), OFFICE, needed=False)
    since = fields.read_day(reading, form, "since", _("From"))
    until = fields.read_day(reading, form, "until", _("Until"), after=True)
    if since and until and until <= since:
        reading.wrong("until", _("The last day comes before the first."))
    return None if reading.errors else Wish(kind, reason, office, since, until)


def _form(record: Record, reading: Reading, status: int) -> ResponseReturnValue:
    page = render_template("admin/hold_new.html", record=record, form=request.form, reading=reading)
    return page, status
