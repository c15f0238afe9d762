"""The audit trail: who did what, when and why."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, Session, mapped_column, relationship, validates

from portal.core.db import Base
from portal.core.i18n import _l

AUDIT_ACTIONS = {
    "account.sign_up": _l("Account created by sign-up"),
    "account.activate": _l("Account activated"),
    "account.change": _l("Account changed"),
    "account.deactivate": _l("Account deactivated"),
    "account.edit": _l("Account edited"),
    "account.make": _l("Account created"),
    "account.recovery": _l("Link for a new password sent"),
    "account.roles": _l("Roles of an account changed"),
    "account.unlock": _l("Login of an account unlocked"),
    "application.approve": _l("Application approved"),
    "application.decline": _l("Application declined"),
    "application.document": _l("Document of an application read"),
    "application.recheck": _l("Documents of an application checked again"),
    "application.done": _l("Application carried out"),
    "application.forward": _l("Application approved by the department"),
    "application.more": _l("More information requested for an application"),
    "application.refused": _l("Application could not be carried out"),
    "application.checked": _l("Documents of an application checked"),
    "application.paid": _l("Fee of an application paid"),
    "application.unpaid": _l("Payment of an application failed"),
    "application.expired": _l("Payment of an application not finished in time"),
    "application.refunding": _l("Refund of a fee requested"),
    "application.refund": _l("Fee of an application refunded"),
    "application.erase": _l("Answers and documents of an application deleted"),
    "application.retention": _l("Retention time of documents changed"),
    "application.charge": _l("Calls to the payment provider retried"),
    "application.copy": _l("Copy of an application downloaded"),
    "application.submit": _l("Application sent"),
    "application.withdraw": _l("Application withdrawn"),
    "backup.made": _l("Backup made"),
    "backup.restored": _l("Backup restored"),
    "catalog.delete": _l("Deleted from the catalog"),
    "catalog.restore": _l("Restored to the catalog"),
    "catalog.room": _l("Seats of a room changed"),
    "columns.delete": _l("Column mapping deleted"),
    "columns.save": _l("Column mapping saved"),
    "course.create": _l("Course created"),
    "course.edit": _l("Course edited"),
    "export.applications": _l("Applications exported"),
    "export.make": _l("All data exported"),
    "export.rosters": _l("Rosters exported"),
    "export.semester": _l("Semester exported"),
    "flag.switched": _l("Switch changed"),
    "hold.lift": _l("Hold lifted"),
    "hold.place": _l("Hold placed"),
    "hold.take_back": _l("Clearance taken back"),
    "import.apply": _l("Import applied"),
    "import.seat": _l("Enrollments of an import applied"),
    "import.end": _l("Import ended without all enrollments"),
    "job.discard": _l("Failed job discarded"),
    "job.retry": _l("Failed job retried"),
    "ledger.rebuilt": _l("Ledger rebuilt"),
    "log.repaired": _l("Events restored"),
    "mail.discard": _l("Emails discarded"),
    "mail.retry": _l("Emails sent again"),
    "mail.text": _l("Email text changed"),
    "override.grant": _l("Permission granted"),
    "override.revoke": _l("Permission removed"),
    "password.change": _l("Password changed"),
    "password.recover": _l("Password changed with a link"),
    "record.add": _l("Course added to a record"),
    "record.audited": _l("Ledger and record compared"),
    "record.correct": _l("Record corrected"),
    "record.rebuild": _l("Rebuild of the read models requested"),
    "record.rebuild_failed": _l("Rebuild of the read models failed"),
    "record.rebuilt": _l("Read models rebuilt"),
    "record.remove": _l("Course removed from a record"),
    "record.repaired": _l("Ledger and record repaired"),
    "rehearsal.begin": _l("Rehearsal started"),
    "rehearsal.end": _l("Rehearsal ended"),
    "report.change": _l("Times of a report by email changed"),
    "report.end": _l("Report by email ended"),
    "report.send": _l("Report sent by email"),
    "report.subscribe": _l("Report by email requested"),
    "request.approve": _l("Request approved"),
    "request.decline": _l("Request declined"),
    "request.make": _l("Request sent"),
    "request.withdraw": _l("Request withdrawn"),
    "room.admit": _l("Students let in from a waiting room"),
    "room.expire": _l("Access of a student ended"),
    "room.limits": _l("Waiting room limits changed"),
    "room.reset": _l("Waiting room reset"),
    "round.announce": _l("Allocation round announced"),
    "round.apply": _l("Seats of an allocation round given"),
    "round.cancel": _l("Allocation round canceled"),
    "round.close": _l("Ballots of an allocation round fixed"),
    "round.compute": _l("Allocation round computed"),
    "round.create": _l("Allocation round created"),
    "round.erase": _l("Ballots of an allocation round deleted"),
    "round.edit": _l("Allocation round edited"),
    "round.move": _l("End of an allocation round moved"),
    "round.publish": _l("Allocation round published"),
    "round.trial": _l("Trial of an allocation round requested"),
    "round.value": _l("Public value of an allocation round entered"),
    "section.cancel": _l("Section canceled"),
    "section.capacity": _l("Seats of a section changed"),
    "section.confirm": _l("Section confirmed"),
    "section.create": _l("Section created"),
    "section.delete": _l("Section deleted"),
    "section.edit": _l("Section edited"),
    "section.publish": _l("Section published"),
    "section.reoffer": _l("Canceled section made a draft again"),
    "section.reopen": _l("Section reopened"),
    "section.share": _l("Shared seats of a section changed"),
    "section.undelete": _l("Section restored"),
    "section.unpublish": _l("Section made a draft again"),
    "selection.add": _l("Student added to a section"),
    "selection.drop": _l("Student dropped from a section"),
    "selection.move": _l("Student moved"),
    "student.adviser": _l("Adviser of a student changed"),
    "student.admit": _l("Visiting student admitted"),
    "student.create": _l("Student created"),
    "student.edit": _l("Student edited"),
    "student.view": _l("Began to view a student’s pages"),
    "student.view_end": _l("Stopped viewing a student’s pages"),
    "signing_key.make": _l("Key that signs tokens renewed"),
    "sessions.end": _l("Sessions ended"),
    "student.privacy": _l("Privacy changed"),
    "teacher.create": _l("Instructor created"),
    "teacher.decides": _l("Decisions for a department changed"),
    "teacher.edit": _l("Instructor edited"),
    "teacher.link": _l("Account linked to an instructor"),
    "teacher.unlink": _l("Account unlinked from an instructor"),
    "term.archive": _l("Term archived"),
    "term.create": _l("Term created"),
    "term.edit": _l("Term edited"),
    "term.publish": _l("Term published"),
    "term.reopen": _l("Term brought back from the archive"),
    "term.rules": _l("Rules of a term changed"),
    "term.bands": _l("Waitlist groups changed"),
    "term.unpublish": _l("Term made a draft again"),
    "token.make": _l("Access token created"),
    "token.revoke": _l("Access token revoked"),
    "webhook.change": _l("Webhook changed"),
    "webhook.delete": _l("Webhook deleted"),
    "webhook.discard": _l("Deliveries of a webhook discarded"),
    "webhook.make": _l("Webhook created"),
    "webhook.retry": _l("Deliveries of a webhook sent again"),
    "webhook.secret": _l("Secret of a webhook renewed"),
    "webhook.switch": _l("Webhook switched"),
    "webhook.test": _l("Test sent to a webhook"),
    "window.cancel": _l("Window canceled"),
    "window.close": _l("Window closed"),
    "window.codes": _l("Codes of a draw fixed"),
    "window.closed": _l("Window result saved"),
    "window.extend": _l("Window extended"),
    "window.move": _l("Window moved"),
    "window.public_source": _l("Public value of a draw named"),
    "window.public_value": _l("Public value of a draw entered"),
    "window.schedule": _l("Window scheduled"),
}


class AuditEntry(Base):
    """Who did what, when and why; rows are only added. `action` is one of AUDIT_ACTIONS."""

    __tablename__ = "audit_entries"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    action: Mapped[str] = mapped_column(String(60), index=True)
    subject: Mapped[str] = mapped_column(String(120), index=True)
    before: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    after: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    reason: Mapped[str] = mapped_column(default="")

    # people.models.Account, which is of a higher layer.
    account: Mapped[Any] = relationship("Account")

    @property
    def who(self) -> str:
        """Return the name of the account, blank for the command line and the portal itself."""
        return self.account.name if self.account else ""

    @property
    def subjects(self) -> list[tuple[str, str]]:
        """Its subjects, each by kind and id."""
        named = (each.partition(":") for each in self.subject.split(" "))
        return [(kind, key) for kind, colon, key in named if colon]

    @validates("action")
    def _known(self, _name: str, action: str) -> str:
        if action not in AUDIT_ACTIONS:
            raise ValueError(f"AUDIT_ACTIONS has no {action!r}.")
        return action


def add_audit_entry(  # noqa: PLR0913  the columns of an entry
    session: Session,
    action: str,
    subject: str,
    *,
    by: int | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
) -> AuditEntry:
    """Add an entry to the audit trail; `by` is an account."""
    entry = AuditEntry(
        account_id=by, action=action, subject=subject, before=before, after=after, reason=reason
    )
    session.add(entry)
    return entry
