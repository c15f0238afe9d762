"""Overrides: what the registrar permits one student for one section, past a rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.notifications.creation import announce_permission
from portal.people.models import Account, AuditEntry, Permission, Student

SAME = ("student_id", "section_id", "waives", "reason", "expires_at")


class PermissionRefusedError(ValueError):
    """The override can't be given or taken back; the message says why."""


@dataclass(frozen=True)
class Target:
    """A student by number or user name, and a section by the term's name and its CRN."""

    student: str
    term: str
    crn: str


@dataclass(frozen=True)
class NewPermission:
    """What is permitted to whom, why, and until when (None = for good)."""

    student_id: int
    section_id: int
    waives: Sequence[str]
    reason: str
    until: datetime | None = None


def grant_by_name(whom: Target, waives: Sequence[str], reason: str, until: datetime | None) -> str:
    """Permit it and say for whom; raises OverrideRefusedError."""
    if not reason.strip():
        raise PermissionRefusedError("An override needs a reason.")
    with transaction() as session:
        student, section = _student(session, whom.student), _section(session, whom)
        grant(session, NewPermission(student.id, section.id, waives, reason, until))
        return student.account.name


def grant(session: Session, wanted: NewPermission, by: int | None = None) -> bool:
    """Permit it with the transaction, for the account `by` or, None, from the command line.

    False where the student has the very same one already.
    """
    session.execute(select(Student.id).where(Student.id == wanted.student_id).with_for_update())
    new = Permission(
        student_id=wanted.student_id,
        section_id=wanted.section_id,
        waives=sorted(set(wanted.waives)),
        reason=wanted.reason.strip(),
        granted_by=by,
        expires_at=wanted.until,
    )
    same = (getattr(Permission, name) == getattr(new, name) for name in SAME)
    if session.scalar(select(Permission.id).where(Permission.revoked_at.is_(None), *same)):
        return False
    session.add(new)
    session.flush()
    _note(session, new, None, new.reason, by)
    return True


def revoke(student: int, override_id: int, reason: str, *, by: int) -> bool:
    """Take one back for the account `by`; False where it has been taken back already."""
    with transaction() as session:
        found = _standing(session, Permission.student_id == student, Permission.id == override_id)
        for override in found:
            _end(session, override, reason, by)
        return bool(found)


def revoke_by_name(whom: Target, reason: str) -> int:
    """Take back all that is permitted to the student for the section, and give their number.

    Raises OverrideRefusedError.
    """
    with transaction() as session:
        student, section = _student(session, whom.student), _section(session, whom)
        for_this = Permission.student_id == student.id, Permission.section_id == section.id
        found = _standing(session, *for_this)
        for override in found:
            _end(session, override, reason)
        return len(found)


def _standing(session: Session, *which: ColumnElement[bool]) -> Sequence[Permission]:
    found = select(Permission).where(Permission.revoked_at.is_(None), *which)
    return session.scalars(found.with_for_update()).all()


def _end(session: Session, override: Permission, reason: str, by: int | None = None) -> None:
    before = _facts(override)
    override.revoked_at = session.scalar(select(func.now()))
    _note(session, override, before, reason or override.reason, by)


def _student(session: Session, named: str) -> Student:
    found = session.scalars(
        select(Student)
        .join(Account)
        .where(or_(Student.number == named, Account.username == named))
        .where(Student.deleted_at.is_(None))
        .order_by((Student.number == named).desc())
    ).first()
    if found is None:
        raise PermissionRefusedError(f"No student has the number or user name {named!r}.")
    return found


def _section(session: Session, whom: Target) -> Section:
    term = session.scalar(select(Term).where(Term.name == whom.term, Term.deleted_at.is_(None)))
    if term is None:
        raise PermissionRefusedError(f"There is no term named {whom.term!r}.")
    named = Section.term_id == term.id, Section.crn == whom.crn, Section.deleted_at.is_(None)
    found = session.scalar(select(Section).where(*named))
    if found is None:
        raise PermissionRefusedError(f"{whom.term} has no section with the CRN {whom.crn!r}.")
    return found


def _note(
    session: Session,
    override: Permission,
    before: dict[str, Any] | None,
    reason: str,
    by: int | None,
) -> None:
    """Note in the audit trail that it is given or taken back, and let the student know."""
    entry = AuditEntry(
        account_id=by,
        action="override.revoke" if before else "override.grant",
        subject=f"student:{override.student_id} section:{override.section_id}"
        f" override:{override.id}",
        before=before,
        after=_facts(override),
        reason=reason,
    )
    session.add(entry)
    announce_permission(session, override, entry)


def _facts(override: Permission) -> dict[str, Any]:
    return {
        "student": override.student_id,
        "section": override.section_id,
        "waives": override.waives,
        "until": override.expires_at and override.expires_at.isoformat(),
        "revoked": override.revoked_at and override.revoked_at.isoformat(),
    }
