"""Applications as a table to download, for admins and for deciders of departments."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from babel import Locale

from portal.applications import listing
from portal.applications.listing import ApplicationView, Filters
from portal.applications.models import CHARGE_STATES, STATES
from portal.applications.stages import departments_of
from portal.catalog.formatting import money
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import _l, in_locale

COLUMNS = (
    *(_l("Application"), _l("Kind"), _l("State"), _l("Term"), _l("Section")),
    *(_l("Student number"), _l("Student"), _l("Sent"), _l("Decided on"), _l("Event")),
    *(_l("Fee"), _l("Payment")),
)
NOTED = ("state", "kind", "stage", "ready")  # filters; the term is the entry's subject


def note_export(shown: Filters, by: int) -> None:
    """Add an entry to the audit trail: who exports applications, and which.

    It does not keep what was searched for: that may be a person's name, and entries stay for good.
    """
    filters = asdict(shown)
    after = {name: filters[name] for name in NOTED if filters[name]}
    if shown.text:
        after["searched"] = True
    if shown.decider is not None:
        after["departments"] = departments_of(shown.decider)
    subject = f"term:{shown.term}" if shown.term else "applications"
    with transaction() as session:
        add_audit_entry(session, "export.applications", subject, by=by, after=after)


def rows(shown: Filters, locale: Locale) -> Iterator[list[Any]]:
    """Yield the headings in that language, then the applications that match the filters."""
    with in_locale(locale):
        headings = list(map(str, COLUMNS))
    yield headings
    for batch in listing.in_batches(shown):
        with in_locale(locale):  # no block is open at a yield: other code runs then
            cells = list(map(_row, batch))
        yield from cells


def _row(view: ApplicationView) -> list[Any]:
    application = view.application
    times = (application.submitted_at, application.decided_at)
    return [
        application.id,
        str(view.kind.title),
        str(STATES[application.state]),
        application.term.name,
        view.name if application.section else "",
        application.student.number if application.student else "",
        application.account.name,
        *(each.isoformat(timespec="seconds") if each else "" for each in times),
        application.event or "",
        *_fee(view),
    ]


def _fee(view: ApplicationView) -> tuple[str, str]:
    """Return the fee with its currency, and how its payment stands; blank without a fee."""
    if not view.application.fee:
        return "", ""
    return money(*view.price), str(CHARGE_STATES[view.charge.state]) if view.charge else ""
