"""/admin/operations/audits/<term>: whether ledger, event log and read models tell the same."""

from flask import Blueprint, abort, flash, render_template, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from portal.admin.operations import remembered
from portal.admin.operations.words import STEPS
from portal.backend import backend
from portal.catalog.models import Term
from portal.core import bulkheads
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.function_library import translate_errors
from portal.people.models import Account, AuditEntry
from portal.recorder.consistency import audit_runs
from portal.recorder.models import ContinuousAudit
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

EARLIER = 10  # runs that are listed

bp = Blueprint("audits", __name__, url_prefix="/audits/<int:term_id>")


@bp.get("")
@requires("admin")
def show(term_id: int) -> ResponseReturnValue:
    """The last run with what it found, and those before it."""
    return render_template("admin/operations/audit.html", **_told(term_id))


@bp.get("/run")
@requires("admin")
def progress(term_id: int) -> ResponseReturnValue:
    """The last run alone, for a page that is open."""
    return render_template("admin/operations/audit_run.html", **_told(term_id))


@bp.post("")
@requires("admin")
def start(term_id: int) -> ResponseReturnValue:
    """Have a worker compare; one run at a time."""
    by = visitor().id
    with translate_errors():
        bulkheads.room_for_errand(backend().redis)
    with transaction() as session:
        _term(session.get(Term, term_id))
        run = audit_runs.enter(session, term_id, by)
        if run:
            subject = f"term:{term_id} run:{run}"
            session.add(AuditEntry(account_id=by, action="record.audited", subject=subject))
    if run:
        audit_runs.call(term_id, run)
        flash(_("The audit has begun. You may leave this page."))
    else:
        flash(_("An audit of this term is under way already."))
    remembered.forget()
    return go(url_for("admin.operations.audits.show", term_id=term_id))


def _told(term_id: int) -> dict[str, object]:
    with transaction() as session:
        term = _term(session.get(Term, term_id))
        found = audit_runs.latest(session, term_id, EARLIER)
        named = select(Account.id, Account.name).where(
            Account.id.in_({run.account_id for run in found})
        )
        standing = session.get(ContinuousAudit, term_id)
        names = {row.id: row.name for row in session.execute(named)}
    return {
        "term": term,
        "run": found[0] if found else None,
        "earlier": found[1:],
        "names": names,
        "standing": standing,
        "steps": STEPS,
    }


def _term(term: Term | None) -> Term:
    if term is None or term.deleted_at:
        abort(404)
    return term
