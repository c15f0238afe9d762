"""Who hears of the signals of lower packages; every process that sends some connects them."""

from sqlalchemy.orm import Session

from portal.applications import documents
from portal.applications import service as applications
from portal.live import publish
from portal.notifications import from_events, reminders
from portal.notifications.creation import announce_hold, announce_permission
from portal.notifications.mail import alert, alert_admins
from portal.notifications.webhooks import outbox as webhooks
from portal.people import signals
from portal.recorder import trail
from portal.recorder.subscribers import subscribers as of_recorder
from portal.reports import closeout


def connect() -> None:
    """Subscribe the upper packages to the signals of lower ones; calling it twice does no harm."""
    signals.password_changed.subscribe(_mail_about_password)
    signals.token_created.subscribe(_mail_about_token)
    signals.hold_changed.subscribe(announce_hold)
    signals.permission_changed.subscribe(announce_permission)
    signals.sessions_ended.subscribe(publish.sessions_ended)
    signals.privacy_changed.subscribe(publish.privacy_changed)
    of_recorder.recorded[:] = [from_events.notify_of_events, trail.note, webhooks.put_events]
    of_recorder.differences_found[:] = [alert_admins]
    of_recorder.due_jobs[:] = [
        reminders.due_jobs,
        webhooks.due_jobs,
        closeout.due_jobs,
        applications.due_jobs,
        documents.due_jobs,
    ]


def _mail_about_password(session: Session, account: int) -> None:
    alert(session, account, "password")


def _mail_about_token(session: Session, account: int, name: str) -> None:
    alert(session, account, "token", name=name)
