"""Permissions (overrides): leave for one student to pass named rules for one section."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, func, or_, select
from sqlalchemy.orm import Session

from portal.catalog.models import Section, Term
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.core.errors import CommandError
from portal.people.models import Account, Permission, Student
from portal.people.signals import permission_changed

# A decision may use a profile of a moment ago, and its time is of the ledger's clock.
SLACK = timedelta(seconds=5)
CONSENT = "consent"  # the code of the reason that an instructor's consent lifts
CONTENT = ("student_id", "section_id", "waives", "reason", "expires_at")


@dataclass(frozen=True)
class Target:
    """A student by number or username, and a section by the term's name and its CRN."""

    student: str
    term: str
    crn: str


@dataclass(frozen=True)
class NewPermission:
    """A permission to grant; `waives` are codes of reasons, `until` None means for good.

    `application` is the id of the approved application that causes it; the audit trail names it.
    """

    student_id: int
    section_id: int
    waives: Sequence[str]
    reason: str
    until: datetime | None = None
    application: int | None = None


def grant(session: Session, wanted: NewPermission, by: int | None = None) -> bool:
    """Grant the permission and return True; False if the student has the same one already.

    `by` is the account that grants it, None the command line.
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
    same = (getattr(Permission, name) == getattr(new, name) for name in CONTENT)
    if session.scalar(select(Permission.id).where(Permission.revoked_at.is_(None), *same)):
        return False
    session.add(new)
    session.flush()
    about = f" application:{wanted.application}" if wanted.application else ""
    _record(session, new, None, new.reason, by=by, about=about)
    return True


def revoke(student: int, permission_id: int, reason: str, *, by: int) -> bool:
    """Revoke a permission of the student; False if it has been revoked already."""
    with transaction() as session:
        which = Permission.student_id == student, Permission.id == permission_id
        return _revoke_all(session, reason, by, *which) > 0


@dataclass(frozen=True)
class Consent:
    """An instructor's consent that counts now: a permission that lifts that rule alone."""

    id: int
    student: int
    name: str
    number: str
    granted: datetime


def consents(section: int) -> list[Consent]:
    """Return the consents for a section that count now, by the students' names."""
    found = (
        select(Permission.id, Student.id, Account.name, Student.number, Permission.granted_at)
        .join(Student, Student.id == Permission.student_id)
        .join(Account, Account.id == Student.account_id)
        .where(Permission.section_id == section, Permission.waives == [CONSENT])
        .where(Permission.is_active)
        .order_by(Account.name, Student.number, Permission.id)
    )
    with transaction() as session:
        return [Consent(*row) for row in session.execute(found)]


def grant_by_name(
    target: Target, waives: Sequence[str], reason: str, until: datetime | None
) -> str:
    """Grant a permission from the command line, and return the student's name.

    Raises CommandError.
    """
    if not reason.strip():
        raise CommandError("A permission needs a reason.")
    with transaction() as session:
        student, section = _student(session, target.student), _section(session, target)
        grant(session, NewPermission(student.id, section.id, waives, reason, until))
        return student.account.name


def revoke_by_name(target: Target, reason: str) -> int:
    """Revoke all permissions of the student for the section, and return how many there were.

    Raises CommandError.
    """
    with transaction() as session:
        student, section = _student(session, target.student), _section(session, target)
        which = Permission.student_id == student.id, Permission.section_id == section.id
        return _revoke_all(session, reason, None, *which)


def applications_behind(
    session: Session, student: int, section: int, codes: Sequence[str], at: datetime
) -> list[int]:
    """Return the approved applications whose permissions lifted these rules at that time."""
    valid = (
        Permission.granted_at <= at + SLACK,
        or_(Permission.revoked_at.is_(None), Permission.revoked_at > at - SLACK),
        or_(Permission.expires_at.is_(None), Permission.expires_at > at - SLACK),
    )
    about = func.concat(
        f"student:{student} section:{section} override:", Permission.id, " application:"
    )
    # The permission and its entry have the time of one transaction, and that time has an index.
    granted = and_(
        AuditEntry.at == Permission.granted_at,
        AuditEntry.action == "override.grant",
        AuditEntry.subject.startswith(about),
    )
    found = session.scalars(
        select(AuditEntry.subject)
        .join(Permission, granted)
        .where(Permission.student_id == student, Permission.section_id == section)
        .where(Permission.waives.overlap(codes), *valid)
    )
    return sorted({int(subject.rpartition(":")[2]) for subject in found})


def _revoke_all(session: Session, reason: str, by: int | None, *which: ColumnElement[bool]) -> int:
    query = select(Permission).where(Permission.revoked_at.is_(None), *which)
    found = session.scalars(query.with_for_update()).all()
    for permission in found:
        before = _audit_facts(permission)
        permission.revoked_at = session.scalar(select(func.now()))
        _record(session, permission, before, reason or permission.reason, by=by)
    return len(found)


def _student(session: Session, name: str) -> Student:
    found = session.scalars(
        select(Student)
        .join(Student.account)
        .where(or_(Student.number == name, Account.username == name))
        .where(Student.deleted_at.is_(None))
        .order_by((Student.number == name).desc())
    ).first()
    if found is None:
        raise CommandError(f"No student has the number or username {name!r}.")
    return found


def _section(session: Session, target: Target) -> Section:
    term = session.scalar(select(Term).where(Term.name == target.term, Term.deleted_at.is_(None)))
    if term is None:
        raise CommandError(f"There is no term named {target.term!r}.")
    named = Section.term_id == term.id, Section.crn == target.crn, Section.deleted_at.is_(None)
    found = session.scalar(select(Section).where(*named))
    if found is None:
        raise CommandError(f"{target.term} has no section with the CRN {target.crn!r}.")
    return found


def _record(  # noqa: PLR0913  the columns of an entry
    session: Session,
    permission: Permission,
    before: dict[str, Any] | None,
    reason: str,
    *,
    by: int | None,
    about: str = "",
) -> None:
    student, section = permission.student_id, permission.section_id
    entry = add_audit_entry(
        session,
        "override.revoke" if before else "override.grant",
        f"student:{student} section:{section} override:{permission.id}{about}",
        by=by,
        before=before,
        after=_audit_facts(permission),
        reason=reason,
    )
    permission_changed.send(session, permission, entry)


def _audit_facts(permission: Permission) -> dict[str, Any]:
    return {
        "student": permission.student_id,
        "section": permission.section_id,
        "waives": permission.waives,
        "until": permission.expires_at and permission.expires_at.isoformat(),
        "revoked": permission.revoked_at and permission.revoked_at.isoformat(),
    }
