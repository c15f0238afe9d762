"""Overrides: what the registrar permits one student for one section, past a rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from portal.catalog.models import Section, Term
from portal.db import transaction
from portal.people.models import Account, AuditEntry, Override, Student


class OverrideRefusedError(ValueError):
    """The override can't be given or taken back; the message says why."""


@dataclass(frozen=True)
class Whom:
    """A student by number or user name, and a section by the term's name and its CRN."""

    student: str
    term: str
    crn: str


def grant(whom: Whom, waives: Sequence[str], reason: str, until: datetime | None) -> str:
    """Permit it and say for whom; raises OverrideRefusedError."""
    if not reason.strip():
        raise OverrideRefusedError("An override needs a reason.")
    with transaction() as session:
        student, section = _student(session, whom.student), _section(session, whom)
        override = Override(
            student_id=student.id,
            section_id=section.id,
            waives=sorted(set(waives)),
            reason=reason.strip(),
            expires_at=until,
        )
        session.add(override)
        session.flush()
        session.add(_entry("override.grant", override, None, _facts(override)))
        return student.account.name


def revoke(whom: Whom, reason: str) -> int:
    """Take back all that is permitted to the student for the section, and give their number.

    Raises OverrideRefusedError.
    """
    with transaction() as session:
        student, section = _student(session, whom.student), _section(session, whom)
        found = session.scalars(
            select(Override)
            .where(Override.student_id == student.id, Override.section_id == section.id)
            .where(Override.revoked_at.is_(None))
            .with_for_update()
        ).all()
        now = session.scalar(select(func.now()))
        for override in found:
            before = _facts(override)
            override.revoked_at = now
            session.add(_entry("override.revoke", override, before, _facts(override), reason))
        return len(found)


def _student(session: Session, named: str) -> Student:
    found = session.scalars(
        select(Student)
        .join(Account)
        .where(or_(Student.number == named, Account.username == named))
        .where(Student.deleted_at.is_(None))
        .order_by((Student.number == named).desc())
    ).first()
    if found is None:
        raise OverrideRefusedError(f"No student has the number or user name {named!r}.")
    return found


def _section(session: Session, whom: Whom) -> Section:
    term = session.scalar(select(Term).where(Term.name == whom.term, Term.deleted_at.is_(None)))
    if term is None:
        raise OverrideRefusedError(f"There is no term named {whom.term!r}.")
    named = Section.term_id == term.id, Section.crn == whom.crn, Section.deleted_at.is_(None)
    found = session.scalar(select(Section).where(*named))
    if found is None:
        raise OverrideRefusedError(f"{whom.term} has no section with the CRN {whom.crn!r}.")
    return found


def _entry(
    action: str,
    override: Override,
    before: dict[str, Any] | None,
    after: dict[str, Any],
    reason: str = "",
) -> AuditEntry:
    return AuditEntry(
        action=action,
        subject=f"override:{override.id}",
        before=before,
        after=after,
        reason=reason or override.reason,
    )


def _facts(override: Override) -> dict[str, Any]:
    return {
        "student": override.student_id,
        "section": override.section_id,
        "waives": override.waives,
        "until": override.expires_at and override.expires_at.isoformat(),
        "revoked": override.revoked_at and override.revoked_at.isoformat(),
    }
