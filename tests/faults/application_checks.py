"""What became of the applications of a rush: each approved once, nothing lost, nothing doubled."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import selectinload

from portal.applications.models import Application, ApplicationDocument
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.notifications.models import Notification, OutboxEntry
from portal.people.models import Student as Record
from portal.recorder.events import Event
from tests.faults.applicants import Applicant
from tests.faults.checker import Verdict

# What there must be once of an application that was approved, by kind.
EXPECTED = {
    "visiting": (
        *("record", "admission", "document", "kept document", "charge", "charge of the provider"),
        *("history submit", "history paid", "history forward", "history approve", "history done"),
        *("mail sent", "mail paid", "mail forward", "mail approved"),
    ),
    "late_add": (
        *("record", "enrollment", "history submit", "history approve", "history done"),
        *("mail sent", "mail approved"),
    ),
}
# Only if the documents were still being checked when the application was sent.
OPTIONAL = Counter(["history checked", "mail checked"])
ADMIT = "student.admit"


@dataclass(frozen=True)
class Found:
    """What the portal has of an application."""

    application: Application
    records: int  # student records of its account
    admitted: int  # entries in the audit trail
    mails: Counter[str]  # by step

    @property
    def history(self) -> Counter[str]:
        return Counter(entry.action for entry in self.application.entries)

    @property
    def paid(self) -> int:
        return sum(charge.state == "paid" for charge in self.application.charges)


def approved(applicants: Sequence[Applicant]) -> bool:
    """Return whether all applications that were sent are approved and carried out."""
    numbers = [each.number for each in applicants if each.sent]
    with transaction() as session:
        states = session.scalars(select(Application.state).where(Application.id.in_(numbers)))
        return all(state == "approved" for state in states)


def judge(applicants: Sequence[Applicant], log: Sequence[Event], verdict: Verdict) -> None:
    """Add what went wrong with the applications of a rush."""
    for each in applicants:
        verdict.odd += each.odd
        if not each.sent:
            verdict.odd.append(f"application {each.number} could not be sent")
        found = _found(each.number)
        if each.number and found is None:
            verdict.lost.append(f"application {each.number} is gone")
        elif each.sent and found:
            verdict.lost += _lacks(each, found, log)
            verdict.twice += _doubled(each, found, log)


def _found(number: int) -> Found | None:
    with transaction() as session:
        parts = (Application.entries, Application.charges, Application.documents)
        application = session.get(
            Application, number, options=[selectinload(part) for part in parts]
        )
        if application is None:
            return None
        account = Record.account_id == application.account_id
        admitted = AuditEntry.action == ADMIT, AuditEntry.subject.endswith(f" application:{number}")
        step = Notification.data["step"].astext
        mails = (
            select(step, func.count())
            .join(OutboxEntry, OutboxEntry.notification_id == Notification.id)
            .where(Notification.account_id == application.account_id)
            .where(Notification.data["application"].astext == str(number))
            .group_by(step)
        )
        return Found(
            application,
            session.scalar(select(func.count()).where(account)) or 0,
            session.scalar(select(func.count()).where(*admitted)) or 0,
            Counter(dict(session.execute(mails).all())),
        )


def _counts(applicant: Applicant, found: Found, log: Sequence[Event]) -> Counter[str]:
    """Return what there is of an application, under the names of EXPECTED."""
    documents: list[ApplicationDocument] = found.application.documents
    counts = Counter({"record": found.records, "admission": found.admitted, "charge": found.paid})
    counts["document"] = sum(document.state == "ok" for document in documents)
    if applicant.provider:
        counts["kept document"] = applicant.kept
        charges = {str(charge.id) for charge in found.application.charges}
        counts["charge of the provider"] = sum(
            checkout["client_reference_id"] in charges
            for checkout in applicant.provider.sessions.values()
        )
    counts["enrollment"] = sum(
        event.name == "enrolled" and event.context.get("application") == applicant.number
        for event in log
    )
    counts += Counter({f"history {name}": count for name, count in found.history.items()})
    return counts + Counter({f"mail {name}": count for name, count in found.mails.items()})


def _lacks(applicant: Applicant, found: Found, log: Sequence[Event]) -> Iterator[str]:
    expected = Counter(EXPECTED[applicant.kind])
    if found.application.state != "approved":
        yield f"application {applicant.number} was approved and is {found.application.state}"
    for what, count in (expected - _counts(applicant, found, log)).items():
        yield f"application {applicant.number} lacks {count} of {what}"


def _doubled(applicant: Applicant, found: Found, log: Sequence[Event]) -> Iterator[str]:
    allowed = Counter(EXPECTED[applicant.kind]) + OPTIONAL
    for what, count in (_counts(applicant, found, log) - allowed).items():
        yield f"application {applicant.number} has {count} of {what} too many"
