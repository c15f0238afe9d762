"""Jobs of the queue `errands`: what somebody asked for and need not wait for."""

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
    """Compare the next part of a term, as is done every few minutes."""
    reconciling.go_on(term)


def deliver(_term: int) -> None:
    """Tell receivers of events, whatever their term, and be called again where there are more."""
    if webhooks.webhook_sender().send_due():
        enqueue(NO_TERM, ["deliver"])


def work_import(import_id: int) -> None:
    """Read or apply what was sent to be imported."""
    imports.continue_import(import_id)


def make_export(export_id: int) -> None:
    """Put everything into a file that somebody asked for."""
    export_jobs.make(export_id)


def forget() -> None:
    """Let go of what was sent, asked for or told long ago, as is done every hour."""
    with transaction() as session:
        import_jobs.forget_expired(session)
        export_jobs.forget(session)
        idempotency.forget(session)
        status.forget_lags(session)
        journal.trim_idle_terms(session)
        outbox.forget(session, backend().settings.notice_days)
        deliveries.forget(session, backend().settings.notice_days)
    rehearsals.delete_leftovers()
