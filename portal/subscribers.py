"""The subscribers of the signals of lower packages; every process connects them at its start."""

from sqlalchemy.orm import Session

from portal.applications import documents, fees
from portal.applications import reminders as last_days
from portal.applications import service as applications
from portal.live import publish
from portal.notifications import from_events, reminders
from portal.notifications.creation import announce_hold, announce_permission
from portal.notifications.mail import alert, alert_admins, report_sent, report_wanted
from portal.notifications.webhooks import outbox as webhooks
from portal.people import signals
from portal.recorder import adjustment_trail
from portal.recorder import signals as recorder_signals
from portal.registration.signals import plan_changed
from portal.reports import closeout, subscriptions
from portal.rounds import ballots, steps


def connect() -> None:
    """Subscribe the upper packages to the signals of lower ones; calling it twice does no harm."""
    signals.password_changed.subscribe(_mail_about_password)
    signals.email_changed.subscribe(_mail_about_email)
    signals.token_created.subscribe(_mail_about_token)
    signals.hold_changed.subscribe(announce_hold)
    signals.permission_changed.subscribe(announce_permission)
    plan_changed.subscribe(ballots.follow_plan)
    signals.sessions_ended.subscribe(publish.sessions_ended)
    signals.privacy_changed.subscribe(publish.privacy_changed)
    recorder_signals.events_recorded.subscribe(from_events.notify_of_events)
    recorder_signals.events_recorded.subscribe(adjustment_trail.add_entries)
    recorder_signals.events_recorded.subscribe(webhooks.queue_events)
    recorder_signals.differences_found.subscribe(alert_admins)
    recorder_signals.jobs_requested.subscribe(reminders.due_jobs)
    recorder_signals.jobs_requested.subscribe(webhooks.due_jobs)
    recorder_signals.jobs_requested.subscribe(closeout.due_jobs)
    recorder_signals.jobs_requested.subscribe(steps.due_jobs)
    recorder_signals.jobs_requested.subscribe(applications.due_jobs)
    recorder_signals.jobs_requested.subscribe(documents.due_jobs)
    recorder_signals.jobs_requested.subscribe(fees.due_jobs)
    recorder_signals.jobs_requested.subscribe(last_days.due_jobs)
    recorder_signals.jobs_requested.subscribe(subscriptions.due_jobs)
    report_wanted.subscribe(subscriptions.make_report)
    report_sent.subscribe(subscriptions.note_sent)


def _mail_about_password(session: Session, account: int) -> None:
    alert(session, account, "password")


def _mail_about_email(session: Session, account: int, before: str) -> None:
    alert(session, account, "email", address=before)


def _mail_about_token(session: Session, account: int, name: str) -> None:
    alert(session, account, "token", name=name)
