"""The audit trail, which never changes: a search, one entry, and a file."""

import json
from itertools import chain

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.core.i18n import _
from portal.recorder.receipts import code
from portal.reports import audit_differences, audit_labels, audit_subjects, audit_trail
from portal.reports.audit_differences import mentioned
from portal.reports.audit_trail import NOBODY, Entry, Query
from portal.web.http.access import requires
from portal.web.http.downloads import download

bp = Blueprint("audit_trail", __name__)


@bp.get("/audit")
@requires("admin")
def index() -> ResponseReturnValue:
    """Render the newest entries that match, or those before a given one."""
    query, zone = Query.parse(request.args), backend().settings.zone
    found = audit_trail.page(query, zone, request.args.get("before", type=int))
    shown = found[: audit_trail.PAGE]
    names = audit_subjects.named(
        key for each in shown for key in (*each.subjects, *mentioned(each))
    )
    times = local_clock()
    options = sorted((audit_labels.action(each), each) for each in audit_trail.actions())
    return render_template(
        "admin/audit.html",
        query=query,
        unread=Query.unread(request.args),
        lines=[
            (
                each,
                [names[key] for key in each.subjects],
                audit_differences.short(each, names, times),
            )
            for each in shown
        ],
        more=len(found) > len(shown),
        actions=options,
        words=audit_labels,
        nobody=NOBODY,
    )


@bp.get("/audit/<int:entry_id>")
@requires("admin")
def show(entry_id: int) -> ResponseReturnValue:
    """Render one entry with its changes, field by field."""
    entry = audit_trail.one(entry_id) or abort(404)
    names = audit_subjects.named([*entry.subjects, *mentioned(entry)])
    return render_template(
        "admin/audit_entry.html",
        entry=entry,
        things=[names[key] for key in entry.subjects],
        changes=audit_differences.changes(entry, names, local_clock()),
        receipt=_receipt(entry),
        words=audit_labels,
    )


@bp.get("/audit.csv")
@requires("admin")
def download_csv() -> ResponseReturnValue:
    """Return all entries that match, as they are stored, as a CSV file."""
    found = audit_trail.every(Query.parse(request.args), backend().settings.zone)
    head = [
        *(_("Entry"), _("Time"), _("Who"), _("User name"), _("Deed"), _("Object")),
        *(_("Before"), _("After"), _("Why")),
    ]
    return download("audit.csv", chain([head], map(_row, found)))


def _row(entry: Entry) -> list[str]:
    return [
        str(entry.id),
        entry.at.isoformat(timespec="milliseconds"),
        entry.who,
        entry.username,
        entry.action,
        entry.subject,
        *(json.dumps(facts, ensure_ascii=False) for facts in (entry.before, entry.after)),
        entry.reason,
    ]


def _receipt(entry: Entry) -> str:
    """Return the receipt code of the entry's decision, or "" if there is none."""
    seq, term = (entry.after or {}).get("event"), dict(entry.subjects).get("term", "")
    return code(int(term), seq) if isinstance(seq, int) and term.isdigit() else ""
