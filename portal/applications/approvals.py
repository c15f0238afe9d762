"""The effects of approvals: give a seat, drop one, lift rules, or create a student record."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.applications.kind import Acted, Approval, Situation
from portal.applications.models import Application
from portal.core.audit_trail import add_audit_entry
from portal.core.correlation import correlation
from portal.ledger.types import NOT_OVERRIDABLE, Outcome, Reason
from portal.people import permissions
from portal.people.models import Student
from portal.people.permissions import NewPermission
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment
from portal.registration.reasons import REASONS

# Students apply because no window is open to them, or a deadline has passed.
ALWAYS_OVERRIDDEN = tuple(each.code for each in REASONS.values() if each.out_of_time)


@dataclass(frozen=True)
class Adjust(Approval):
    """Enroll the student in the section, or drop the seat; a drop may leave a mark."""

    effect: Any
    drop: bool = False
    mark: str | None = None

    def pointless(self, now: Situation) -> str:
        if self.drop:
            return "" if now.holds else "no_seat"
        return "has_seat" if now.holds else ""

    def preview(self, application: Application) -> list[Reason]:
        found = adjustments.preview(self._change(application))
        not_offered = {*ALWAYS_OVERRIDDEN, *NOT_OVERRIDABLE}
        return [reason for reason in found if reason.code not in not_offered]

    def act(self, session: Session, application: Application) -> Acted:  # noqa: ARG002
        approval = application.approval or {}
        try:
            decision = adjustments.adjust(
                self._change(application, tuple(approval["overrides"])),
                why=approval["note"],
                by=approval["by"],
                idempotency_key=f"application-{application.id}-{approval['entry']}",
                correlation=correlation(),
            )
        except LookupError:
            return Acted(reasons=(Reason("student_unknown"),))
        if decision.outcome == Outcome.REFUSED:
            return Acted(reasons=decision.reasons)
        return Acted(event=decision.seq)

    def _change(self, application: Application, overrides: tuple[str, ...] = ()) -> Adjustment:
        section = application.section_id or 0
        return Adjustment(
            application.term_id,
            application.student_id or 0,
            add=None if self.drop else section,
            drop=section if self.drop else None,
            overrides=(*ALWAYS_OVERRIDDEN, *overrides),
            application=application.id,
            mark=self.mark,
        )


@dataclass(frozen=True)
class Permit(Approval):
    """Grant a permission for the section; `waives` finds the rules in the application."""

    waives: Callable[[Application], list[str]]
    effect: Any

    def pointless(self, now: Situation) -> str:
        if now.holds:
            return "has_seat"
        waived = frozenset(self._given(now.application))
        if waived <= now.permitted:
            return "permitted"
        return "" if now.may_refuse(waived) else "met"

    def parts(self, application: Application) -> list[str]:
        rules = self.waives(application)
        return rules if len(rules) > 1 else []

    def act(self, session: Session, application: Application) -> Acted:
        approval = application.approval or {}
        wanted = NewPermission(
            application.student_id or 0,
            application.section_id or 0,
            self._given(application),
            approval["note"],
            application=application.id,
        )
        permissions.grant(session, wanted, approval["by"])
        return Acted()

    def _given(self, application: Application) -> list[str]:
        """Return the rules that were approved; before that, those that were asked for."""
        part: list[str] | None = (application.approval or {}).get("waives")
        return part or self.waives(application)


@dataclass(frozen=True)
class Admit(Approval):
    """Give the person a student record, so that the account can register."""

    effect: Any
    level: str

    def pointless(self, now: Situation) -> str:
        return "is_student" if now.is_student else ""

    def act(self, session: Session, application: Application) -> Acted:
        """Create the record; a closed one is opened again."""
        mine = select(Student).where(Student.account_id == application.account_id)
        student = session.scalar(mine.with_for_update())
        if student is None:
            student = Student(
                account_id=application.account_id,
                number=f"V{application.id:07}",
                level=self.level,
                year=self.level,
            )
            session.add(student)
        student.deleted_at = None
        session.flush()
        application.student_id = student.id
        add_audit_entry(
            session,
            "student.admit",
            f"student:{student.id} application:{application.id}",
            by=(application.approval or {})["by"],
            after={"number": student.number, "level": student.level},
            reason=(application.approval or {})["note"],
        )
        return Acted()
