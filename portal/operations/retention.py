"""Deletion of old data."""

from portal.applications import retention, uploads
from portal.backend import backend
from portal.core.db import transaction
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import import_jobs
from portal.notifications import outbox
from portal.notifications.webhooks import outbox as webhooks
from portal.operations.rehearsal import play
from portal.people import api_requests, signing_keys
from portal.recorder import idempotency, journal, status
from portal.rounds import retention as ballot_retention


def delete_expired() -> None:
    """Delete old messages, requests, notifications and ballots, and what killed rehearsals left.

    Raises RuntimeError at the end if the data of some applications or rounds could not be deleted.
    """
    days = backend().settings.notice_days
    with transaction() as session:
        import_jobs.delete_expired(session)
        export_jobs.delete_expired(session)
        idempotency.delete_expired(session)
        status.forget_lags(session)
        journal.trim_idle_terms(session)
        outbox.delete_old(session, days)
        webhooks.delete_old(session, days)
        uploads.delete_old(session)
        api_requests.delete_expired(session)
        signing_keys.delete_old(session)
    failed = retention.delete_old()
    failed_rounds = ballot_retention.delete_old()
    play.delete_leftovers()
    retention.delete_unused_files()  # after the others: it fails while the store is away
    if failed or failed_rounds:
        text = "The data of these applications could not be deleted: {}; of these rounds: {}"
        raise RuntimeError(text.format(failed, failed_rounds))
