"""The audit trail, which never changes: a search, one entry, and a file."""

import json
from itertools import chain
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.core.i18n import _
from portal.people.roles import Right
from portal.recorder.receipts import code
from portal.reports import audit_labels, audit_trail
from portal.reports.audit_differences import changes, names_in, short
from portal.reports.audit_subjects import AuditSubject
from portal.reports.audit_trail import Query
from portal.web.http.access import requires
from portal.web.http.downloads import download

bp = Blueprint("audit_trail", __name__)

# By kind, the page of a thing, and the argument that names it there.
PAGES = {
    "account": ("admin.accounts.show", "account_id"),
    "application": ("admin.applications.show", "application_id"),
    "course": ("admin.course_editing.show", "course_id"),
    "import": ("admin.imports.show", "import_id"),
    "request": ("admin.requests.show", "instructor_request_id"),
    "student": ("admin.students.show", "student_id"),
    "teacher": ("admin.instructors.show", "instructor_id"),
    "webhook": ("admin.webhooks.show", "webhook_id"),
}


@bp.get("/audit")
@requires(Right.SEE_AUDIT_TRAIL)
def index() -> ResponseReturnValue:
    """Render the newest entries that match, or those before a given one."""
    query, zone = Query.parse(request.args), backend().settings.zone
    found = audit_trail.page(query, zone, request.args.get("before", type=int))
    shown, times = found[: audit_trail.PAGE], local_clock()
    names = names_in(shown)
    return render_template(
        "admin/audit.html",
        query=query,
        invalid=Query.invalid_days(request.args),
        lines=[
            (each, [names[key] for key in each.subjects], short(each, names, times))
            for each in shown
        ],
        more=len(found) > len(shown),
        actions=sorted((audit_labels.action(each), each) for each in audit_trail.actions()),
        labels=audit_labels,
    )


@bp.get("/audit/<int:entry_id>")
@requires(Right.SEE_AUDIT_TRAIL)
def show(entry_id: int) -> ResponseReturnValue:
    """Render one entry with its changes, field by field."""
    entry = audit_trail.find_entry(entry_id) or abort(404)
    names = names_in([entry])
    return render_template(
        "admin/audit_entry.html",
        entry=entry,
        things=[(names[key], _page_of(names[key])) for key in entry.subjects],
        changes=changes(entry, names, local_clock()),
        receipt=_receipt(entry),
        labels=audit_labels,
    )


@bp.get("/audit.csv")
@requires(Right.SEE_AUDIT_TRAIL)
def download_csv() -> ResponseReturnValue:
    """Return all entries that match, as they are stored, as a CSV file."""
    found = audit_trail.all_entries(Query.parse(request.args), backend().settings.zone)
    head = [
        *(_("Entry"), _("Time"), _("Who"), _("Username"), _("Action"), _("Record")),
        *(_("Before"), _("After"), _("Why")),
    ]
    return download("audit.csv", chain([head], map(_row, found)))


def history_of(session: Session, subject: str) -> dict[str, Any]:
    """Return what templates/admin/history.html needs to show the changes of a record."""
    log = audit_trail.latest_about(session, subject)
    return {"done": with_differences(log), "labels": audit_labels}


def with_differences(entries: list[AuditEntry]) -> list[tuple[AuditEntry, str]]:
    """Return entries with what each changed in short, for the history on a page."""
    names, times = names_in(entries), local_clock()
    return [(each, short(each, names, times)) for each in entries]


def _row(entry: AuditEntry) -> list[str]:
    return [
        str(entry.id),
        entry.at.isoformat(timespec="milliseconds"),
        entry.who,
        entry.account.username if entry.account else "",
        entry.action,
        entry.subject,
        *(json.dumps(facts, ensure_ascii=False) for facts in (entry.before, entry.after)),
        entry.reason,
    ]


def _page_of(thing: AuditSubject) -> str:
    """Return the URL of a thing's page, "" if it has none."""
    if thing.known and thing.kind == "window":
        return url_for("admin.terms.index")
    if thing.known and thing.kind == "section":
        with transaction() as session:
            term = session.get_one(Section, int(thing.id)).term_id
        return url_for("admin.sections.show", term_id=term, section_id=int(thing.id))
    if thing.known and thing.kind in PAGES:
        endpoint, name = PAGES[thing.kind]
        values: dict[str, Any] = {name: int(thing.id)}
        return url_for(endpoint, **values)
    return ""


def _receipt(entry: AuditEntry) -> str:
    """Return the receipt code of the entry's decision, or "" if there is none."""
    seq, term = (entry.after or {}).get("event"), dict(entry.subjects).get("term", "")
    return code(int(term), seq) if isinstance(seq, int) and term.isdigit() else ""
