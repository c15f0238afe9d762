"""Students for the registrar: the search, and the page of one student."""

from collections.abc import Callable, Sequence
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import cohort_names
from portal.catalog.models import Term
from portal.catalog.term_catalog import catalog_of, live_terms, published_terms
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.sorting import Sorting
from portal.people import advising, student_records
from portal.people.roles import Right
from portal.people.student_profile import StudentProfile
from portal.people.student_records import StudentRecord, advised_by
from portal.recorder import read_with_fallback
from portal.recorder.receipt_texts import by_day
from portal.recorder.receipts import history
from portal.registration import limits
from portal.registration.credits import amount, hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.plan_store import plan_of
from portal.registration.reasons import OBSTACLES
from portal.reports.effects.adjustments import conflicts
from portal.web.confirm import Confirmation, confirm
from portal.web.forms import Form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.paging import page_number, search_text
from portal.windows.cohorts import open_to
from portal.windows.phases import phase

bp = Blueprint("students", __name__, url_prefix="/students")


@bp.get("")
@requires(Right.SEE_STUDENTS, Right.ADVISE)
def index() -> ResponseReturnValue:
    """Render the students that match a search; go directly to an exact student number."""
    text, page = search_text(), page_number()
    sorting, adviser = Sorting.parse(student_records.SORTS, request.args), only_advisees_of()
    without = adviser is None and request.args.get("show") == "without-adviser"
    with transaction() as session:
        exact = student_records.find_by_number(session, text, adviser=adviser) if text else None
        which = student_records.without_adviser() if without else advised_by(adviser)
        found, more = student_records.search(session, text, page, sorting, which)
    if exact:
        return go(address_of(exact))
    return render_template(
        "admin/students.html",
        text=text,
        students=found,
        page=page,
        more=more,
        without=without,
        sorting=sorting,
    )


@bp.get("/<int:student_id>")
@requires(Right.SEE_STUDENTS, Right.ADVISE)
def show(student_id: int) -> ResponseReturnValue:
    """Render one student: a term's selections, holds, permissions, courses, latest receipts."""
    record = record_or_404(student_id)
    terms = live_terms() if visitor().may(Right.SEE_SECTIONS) else published_terms()
    wanted = request.args.get("term", type=int)
    term = next((each for each in terms if each.id == wanted), None) or _current(terms)
    return render_template(
        "admin/student.html",
        record=record,
        who=record.profile,
        rules=OBSTACLES,
        terms=terms,
        term=catalog_of(term.id).term if term else None,
        now=_selections(record.profile, term.id) if term else None,
        days=by_day(history(student_id, term.id).receipts[:10]) if term else [],
    )


def _current(terms: Sequence[Term]) -> Term | None:
    """Return the latest term with an open window, else the latest published one, else the first."""
    published, now = [each for each in terms if each.state == "published"], read_with_fallback.now()
    for each in published:
        if any(it.opens <= now < it.closes for it in read_with_fallback.windows(each.id)):
            return each
    return next(iter([*published, *terms]), None)


def only_advisees_of() -> int | None:
    """Return the visitor's account if they see their advisees alone, else None."""
    return None if visitor().may(Right.SEE_STUDENTS) else visitor().id


def record_or_404(student_id: int) -> StudentRecord:
    """Return the student's record, or 404; an adviser sees advisees alone."""
    if not visitor().may(Right.SEE_STUDENTS) and not advising.advises(visitor(), student_id):
        abort(404)
    with transaction() as session:
        return student_records.find(session, student_id) or abort(404)


def address_of(student_id: int) -> str:
    return url_for("admin.students.show", student_id=student_id)


def confirm_about(
    record: StudentRecord,
    act: Callable[[str], ResponseReturnValue | None],
    form: Form | None = None,
    *,
    facts: Sequence[tuple[str, str]] = (),
    **texts: Any,
) -> ResponseReturnValue:
    """Confirm a change of the record; a message of `act` is shown on the student's page."""
    who = record.profile
    page = Confirmation(
        back=(address_of(who.student), who.name),
        facts=[(_("Student"), f"{who.name}, {who.number}"), *facts],
        **texts,
    )
    return confirm(page, act, form)


def _selections(who: StudentProfile, term: int) -> dict[str, Any]:
    """Return what the page shows of a term: seats, waitlists, credits, drops left, windows."""
    offered, now = catalog_of(term), read_with_fallback.now()
    registrations = read_with_fallback.registrations(term, who.student)
    windows = open_to(who, read_with_fallback.windows(term))
    return {
        "registrations": registrations,
        "section_of": offered.section,
        "name_of": RefusalContext(offered, None).named,
        "amount": amount,
        "credits": amount(sum(each.credits for each in registrations.enrolled)),
        "limit": amount(hundredths(limits.credit_limit(who, offered))),
        "drops_left": limits.drops_left_after(
            read_with_fallback.drops(term, who.student), term, now
        ),
        "clashes": conflicts(offered, registrations),
        "plan": plan_of(term, who.student),
        "windows": [
            (each, phase([each], now), cohort_names.describe(each.cohort))
            for each in windows
            if each.state != "canceled"
        ],
    }
