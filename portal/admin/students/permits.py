"""Permitting a student to pass rules of one section, and taking it back."""

from flask import Blueprint, flash, render_template, request
from flask.typing import ResponseReturnValue

from portal.access import requires, visitor
from portal.admin.reasons import read_reason
from portal.admin.results.asked import section_of
from portal.admin.results.words import OBSTACLES
from portal.admin.students import fields
from portal.admin.times import Reading
from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.db import transaction
from portal.core.i18n import _
from portal.people import overrides
from portal.people.records import Record
from portal.recorder.reconsider import reconsider
from portal.seats.rules import WAIVABLE

bp = Blueprint("permits", __name__, url_prefix="/students/<int:student_id>/overrides")

REVOKE = "admin/permit_revoke.html"
RULES = {code: OBSTACLES[code] for code in WAIVABLE}


@bp.get("/new")
@requires("admin")
def new(student_id: int) -> ResponseReturnValue:
    """The form: which section, and which of its rules the student may pass."""
    return _form(fields.student(student_id), Reading(), 200)


@bp.post("/new")
@requires("admin")
def grant(student_id: int) -> ResponseReturnValue:
    """Permit it, or say all that is wrong."""
    record, reading = fields.student(student_id), Reading()
    term = request.form.get("term", 0, type=int)
    if term not in {each.id for each in live_terms()}:
        reading.wrong("term", _("Choose a term."))
        card = None
    else:
        card = section_of(request.form.get("section", "").strip(), catalog_of(term))
    if card is None:
        reading.wrong("section", _("This term has no section with that CRN or number."))
    waives = [each for each in request.form.getlist("waives") if each in RULES]
    if not waives:
        reading.wrong("waives", _("Choose the rules that the student may pass."))
    until = fields.read_day(reading, request.form, "until", _("Until"), after=True)
    why = read_reason(reading, request.form)
    if card is None or reading.errors:
        return _form(record, reading, 422)
    wanted = overrides.Permit(student_id, card.id, waives, why, until)
    with transaction() as session:
        new_one = overrides.permit(session, wanted, visitor().id)
    reconsider(student_id)
    flash(_("It is permitted.") if new_one else _("The very same is permitted already."))
    return fields.back(student_id)


@bp.get("/<int:override_id>/revoke")
@requires("admin")
def ask(student_id: int, override_id: int) -> ResponseReturnValue:
    """The page to confirm on that it is taken back."""
    return fields.ask(REVOKE, _shown(student_id, override_id), Reading())


@bp.post("/<int:override_id>/revoke")
@requires("admin")
def revoke(student_id: int, override_id: int) -> ResponseReturnValue:
    """Take it back; a seat that is held by it stays held."""

    def act(why: str) -> str:
        done = overrides.take_back(student_id, override_id, why, by=visitor().id)
        return _("It is taken back.") if done else _("It had been taken back already.")

    return fields.take_back(REVOKE, _shown(student_id, override_id), student_id, act)


def _shown(student_id: int, override_id: int) -> dict[str, object]:
    record = fields.student(student_id)
    permit = fields.one(record.permits, override_id)
    return {"record": record, "permit": permit, "rules": OBSTACLES}


def _form(record: Record, reading: Reading, status: int) -> ResponseReturnValue:
    page = render_template(
        "admin/permit_new.html",
        record=record,
        rules=RULES,
        terms=live_terms(),
        form=request.form or request.args,
        chosen=request.form.getlist("waives"),
        reading=reading,
    )
    return page, status
