"""Submit my plan: all of it in one step, as it was seen when the button was pressed."""

import logging
from contextlib import suppress

from flask import abort, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import NoSuchTerm, TermCatalog, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.ledger.types import SubmissionResult
from portal.live.publish import signal_student
from portal.registration import commands, plans
from portal.registration.next_steps import RefusalContext
from portal.registration.plan_store import settle
from portal.registration.plans import Plan, without
from portal.student import bp, fragments, wish
from portal.student.pages import mine_of
from portal.student.planning.panel import panel
from portal.student.planning.result import fulfilled, result
from portal.student.resuming import with_plan
from portal.web.http.access import requires, visitor
from portal.web.http.admission import needs_access_token
from portal.web.http.errors import LATER, UNSURE

log = logging.getLogger(__name__)


@bp.post("/plan/submit")
@requires("student")
@with_plan
@needs_access_token
def submit_plan(term_id: int) -> ResponseReturnValue:
    """Every line with what came of it; the plan comes with the form, so no query is needed."""
    plan, offered = _sent(), _offered(term_id)
    try:
        decided = commands.register(wish.asker(term_id), plan.choices)
    except (LedgerUnavailable, LedgerBehind, *AWAY) as error:
        if not wish.unsure_of(error):
            raise
        logs.warn(log, "No answer to a plan", repr(error))
        return _again(offered, plan), 503, LATER
    return _decided(offered, plan, decided)


def _sent() -> Plan:
    """The plan that the form carries; 400 where it is none or has no lines."""
    try:
        plan = plans.read(request.form.get("plan", ""))
    except ValueError:
        abort(400)
    return plan if plan.choices else abort(400)


def _offered(term_id: int) -> TermCatalog:
    try:
        return catalog_of(term_id)
    except NoSuchTerm:
        abort(404)


def _again(offered: TermCatalog, plan: Plan) -> str:
    return render_template(
        "student/plan_again.html",
        words=UNSURE,
        packed=plans.write(plan),
        key=wish.key(),
        term=offered.term,
    )


def _decided(offered: TermCatalog, plan: Plan, decided: SubmissionResult) -> ResponseReturnValue:
    """The lines with their results; around them, where htmx asks, all that has changed."""
    term, gone = offered.term.id, fulfilled(plan, decided)
    settled = _settle(term, gone)
    said = result(plan, decided, RefusalContext(offered, None, backend().settings.zone))
    page = render_template(
        "student/plan_result.html",
        result=said,
        replayed=_when(decided) if decided.replayed else "",
        packed=plans.write(plan),
        key=wish.new_key(),
        term=offered.term,
    )
    if request.htmx:
        page += str(_changed(decided, term, plan, settled, gone))
    return page, 200 if said.changed else 422


def _when(decided: SubmissionResult) -> str:
    """When it was decided, in words."""
    ledger, zone = backend().ledger, backend().settings.zone
    with suppress(LedgerUnavailable):
        return LocalClock(zone).when(decided.at, ledger.now())
    return LocalClock(zone).full(decided.at)


def _settle(term: int, sections: list[int]) -> Plan | None:
    """What was had or is waited for leaves the plan, on the student's other pages too."""
    student = visitor().student_id or 0
    plan = settle(term, student, sections) if sections else None
    if plan:
        signal_student(term, student, "plan", {"version": plan.version})
    return plan


def _changed(
    decided: SubmissionResult, term: int, plan: Plan, settled: Plan | None, gone: list[int]
) -> Markup:
    """Cells, counts and panels of all that the plan named; nothing if they can't be read now."""
    try:
        now = mine_of(term, decided)
        left = settled or without(now.plan or plan, gone)
        counts = backend().ledger.seats_of(term, plan.sections)
        parts = [
            *(fragments.act(now, section) for section in plan.sections),
            *(fragments.seats(each) for each in counts.values()),
            fragments.mine(now),
            fragments.bar(now),
            fragments.attention(now),
            panel(now, left),
        ]
    except (LedgerUnavailable, *AWAY) as error:
        logs.warn(log, "A plan was decided, but not read again", error)
        return Markup()
    return Markup().join(map(fragments.out_of_band, parts))
