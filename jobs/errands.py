"""Jobs of the queue `errands`: background work that nobody waits for."""

from portal.backend import backend
from portal.core.db import transaction
from portal.core.queue import NO_TERM, enqueue
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import import_jobs
from portal.exchange.importing import runs as imports
from portal.notifications import outbox
from portal.notifications.webhooks import outbox as deliveries
from portal.notifications.webhooks import sender as webhooks
from portal.operations.rehearsal import play as rehearsals
from portal.recorder import idempotency, journal, status
from portal.recorder.consistency import audit_runs
from portal.recorder.consistency import continuous_audit as reconciling


def audit(run: int) -> None:
    """Compare ledger, event log and read models of a term."""
    audit_runs.run(run)


def reconcile(term: int) -> None:
    """Compare the next part of a term; runs every few minutes."""
    reconciling.go_on(term)


def deliver(_term: int) -> None:
    """Send webhook events of all terms; if more are left, another job continues."""
    if webhooks.webhook_sender().send_due():
        enqueue(NO_TERM, ["deliver"])


def work_import(import_id: int) -> None:
    """Read or apply an uploaded import."""
    imports.continue_import(import_id)


def make_export(export_id: int) -> None:
    """Write a requested export file."""
    export_jobs.make(export_id)


def forget() -> None:
    """Delete old sent messages, requests and notifications; runs every hour."""
    with transaction() as session:
        import_jobs.forget_expired(session)
        export_jobs.forget(session)
        idempotency.forget(session)
        status.forget_lags(session)
        journal.trim_idle_terms(session)
        outbox.forget(session, backend().settings.notice_days)
        deliveries.forget(session, backend().settings.notice_days)
    rehearsals.delete_leftovers()
