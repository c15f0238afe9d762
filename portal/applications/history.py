"""Parts of each change of an application: its lock, its history, and who is notified."""

from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.event import listen
from sqlalchemy.orm import Session

from portal.applications.models import Application, ApplicationEntry
from portal.core.audit_trail import add_audit_entry
from portal.live.publish import signal_account, signal_student
from portal.notifications.creation import announce, create, rows_for
from portal.notifications.kinds import APPLICATION_MOVED, Kind
from portal.people.models import Account


def locked(session: Session, application: int, account: int) -> Application:
    """Return the person's application, locked; raise LookupError if it is another's."""
    found = session.get(Application, application, with_for_update=True)
    if found is None or found.account_id != account:
        raise LookupError(f"application {application}")
    return found


def move(  # noqa: PLR0913, PLR0917  the columns of an entry
    session: Session,
    application: Application,
    state: str,
    action: str,
    by: int | None,
    note: str = "",
    **data: Any,
) -> ApplicationEntry:
    """Set the state, with an entry in the history and in the audit trail."""
    before = {"state": application.state}
    application.state = state
    application.note_change()
    entry = ApplicationEntry(
        application_id=application.id, account_id=by, action=action, note=note, data=data
    )
    session.add(entry)
    add_audit_entry(
        session,
        f"application.{action}",
        subjects(application),
        by=by,
        before=before,
        after={"state": state} | {name: data[name] for name in ("waives",) if name in data},
        reason=note,
    )
    session.flush()
    return entry


def subjects(application: Application) -> str:
    """Return what the audit trail notes as the subjects of a change."""
    named: dict[str, int | None] = {
        "application": application.id,
        "account": application.account_id,
    }
    named |= {"student": application.student_id, "section": application.section_id}
    return " ".join(f"{name}:{value}" for name, value in named.items() if value)


def tell_applicant(
    session: Session, application: Application, entry: ApplicationEntry, step: str, **about: Any
) -> None:
    """Notify the applicant of a step; `step` is one of notifications.kinds.APPLICATION_STEPS."""
    recipient = Account.id == application.account_id
    about = {"note": entry.note, "step": step, **about}
    notify(session, APPLICATION_MOVED, application, recipient, entry.id, **about)


def notify(
    session: Session,
    kind: Kind,
    application: Application,
    recipients: ColumnElement[bool],
    seq: int,
    **about: Any,
) -> None:
    """Notify accounts of an application, once for each `seq`, such as the id of an entry."""
    facts = {"application": application.id, "state": application.state, **about}
    if application.section:
        announce(session, kind, application.section, recipients, seq, **facts)
    else:
        session.flush()
        create(session, application.term_id, rows_for(recipients, kind, facts, seq))


def refresh_pages(session: Session, application: Application) -> None:
    """Refresh the applicant's open pages once the transaction commits."""
    term, account, student = application.term_id, application.account_id, application.student_id

    def say(_: Session) -> None:
        signal_account(account)
        if student:
            signal_student(term, student, "notice")

    listen(session, "after_commit", say, once=True)
