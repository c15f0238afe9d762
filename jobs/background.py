"""Jobs of the queue `background`: long work that can wait."""

from portal.applications import reminders
from portal.applications import service as applications
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import runs as imports
from portal.notifications.webhooks import sender as webhooks
from portal.operations import retention
from portal.recorder.consistency import audit_runs, continuous_audit, rebuild_runs
from portal.reports import subscriptions
from portal.rounds import steps as rounds


def audit(run: int) -> None:
    """Compare ledger, event log and read models of a term."""
    audit_runs.run(run)


def rebuild(run: int) -> None:
    """Make the read models of a term again."""
    rebuild_runs.run(run)


def reconcile(term: int) -> None:
    """Compare the next part of a term; runs every few minutes."""
    continuous_audit.audit_next_part(term)


def deliver(_term: int) -> None:
    """Send the webhook events of all terms that are due."""
    webhooks.deliver_due()


def act(_term: int) -> None:
    """Carry out approved applications that their deciders' requests could not."""
    applications.act_all()


def continue_rounds(term: int) -> None:
    """Do the steps of a term's allocation rounds that are due."""
    rounds.work(term)


def remind(_term: int) -> None:
    """Remind people of applications whose last day comes."""
    reminders.remind_due()


def report(_term: int) -> None:
    """Queue the mails of subscribed reports that are due."""
    subscriptions.queue_due()


def work_import(import_id: int) -> None:
    """Read or apply an uploaded import."""
    imports.continue_import(import_id)


def make_export(export_id: int) -> None:
    """Write a requested export file."""
    export_jobs.make(export_id)


def delete_expired() -> None:
    """Delete old data; runs every hour."""
    retention.delete_expired()
