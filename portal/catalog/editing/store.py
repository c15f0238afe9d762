"""Stores what admins do to sections: each deed whole, on the version that it is based on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog.editing import news, pools, write
from portal.catalog.editing.details import Details, details
from portal.catalog.editing.errors import NotPossible, Stale
from portal.catalog.editing.words import facts
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.people.models import AuditEntry

EDITABLE = {"NEW", "OPEN", "CONFIRMED"}


@dataclass(frozen=True)
class Turn:
    """From which statuses, and to which; or whether it is to be deleted."""

    of: frozenset[str]
    status: str = ""
    deletes: bool | None = None


TURNS = {
    "publish": Turn(frozenset({"NEW"}), "OPEN"),
    "confirm": Turn(frozenset({"OPEN"}), "CONFIRMED"),
    "reopen": Turn(frozenset({"CONFIRMED"}), "OPEN"),
    "cancel": Turn(frozenset({"OPEN", "CONFIRMED"}), "CANCELED"),
    # Nobody can claim these, so that nobody comes between the question who holds and the deed.
    "delete": Turn(frozenset({"NEW", "CANCELED"}), deletes=True),
    "undelete": Turn(frozenset({"NEW", "CANCELED"}), deletes=False),
}


@dataclass(frozen=True)
class Seen:
    """A section, and the version of it that was seen by whoever wants to change it."""

    term_id: int
    section_id: int
    version: int


@dataclass(frozen=True)
class Deed:
    """By whom, and why."""

    by: int
    reason: str = ""


@dataclass(frozen=True)
class Stored:
    """A section as it is stored: what may be set of it, and what stands apart."""

    id: int
    term_id: int
    course_id: int
    course_code: str
    course_title: str
    crn: str
    status: str
    deleted: bool
    prior: int
    version: int
    details: Details
    shares: pools.Shared | None  # seats that it shares with other sections

    @property
    def subject(self) -> str:
        """What the audit trail calls it."""
        return f"term:{self.term_id} section:{self.id}"


def find(session: Session, term_id: int, section_id: int) -> Stored | None:
    """The section of that id, deleted or not."""
    found = select(Section).where(Section.term_id == term_id, Section.id == section_id)
    section = session.scalar(found)
    return as_stored(session, section) if section else None


def create(term_id: int, course_id: int, crn: str, made: Details, deed: Deed) -> int:
    """The id of a new section, a draft that no student sees; raises NotPossible."""
    try:
        with transaction() as session:
            move(session, term_id)
            section = Section(term_id=term_id, course_id=course_id, crn=crn, prior_enrolled=0)
            write.columns(section, made)
            session.add(section)
            session.flush()
            write.lists(session, section.id, made)
            write.reserves(session, section.id, made)
            note(session, "create", None, again(session, section), deed)
            return section.id
    except IntegrityError as error:
        raise NotPossible("crn_taken") from error


def edit(seen: Seen, wanted: Details, deed: Deed) -> None:
    """Give the section other details; raises Stale or NotPossible."""

    def change(session: Session, section: Section, before: Stored) -> None:
        if section.deleted_at or section.status not in EDITABLE:
            raise NotPossible("deleted" if section.deleted_at else section.status)
        write.columns(section, wanted)
        write.lists(session, section.id, wanted, before.details)
        write.reserves(session, section.id, wanted, before.details)

    with transaction() as session:
        _change(session, "edit", seen, change, deed)


def turn(action: str, seen: Seen, deed: Deed) -> None:
    """Do one of TURNS; raises Stale or NotPossible.

    That nobody has a part in what is deleted is for the caller to ask of the ledger.
    """
    turn_all(action, [seen], deed)


def turn_all(action: str, several: Sequence[Seen], deed: Deed) -> None:
    """Do one of TURNS to several sections of a term, to all or none; raises Stale or NotPossible.

    The exception's `section_id` is that of the section for which it could not be done.
    """

    def change(_session: Session, section: Section, before: Stored) -> None:
        if why := obstacle(action, before):
            raise NotPossible(why, section.id)
        wanted = TURNS[action]
        section.status = wanted.status or section.status
        if wanted.deletes is not None:
            section.deleted_at = datetime.now(UTC) if wanted.deletes else None

    with transaction() as session:
        for seen in several:
            _change(session, action, seen, change, deed)


def obstacle(action: str, stored: Stored) -> str:
    """The code of what forbids one of TURNS, blank where nothing does."""
    wanted = TURNS[action]
    if stored.deleted != (wanted.deletes is False):
        return "deleted" if stored.deleted else "not_deleted"
    return "" if stored.status in wanted.of else stored.status


def _change(
    session: Session,
    action: str,
    seen: Seen,
    change: Callable[[Session, Section, Stored], None],
    deed: Deed,
) -> None:
    move(session, seen.term_id)
    section = session.scalar(
        select(Section)
        .where(Section.term_id == seen.term_id, Section.id == seen.section_id)
        .with_for_update()
    )
    if section is None:
        raise NotPossible("unknown", seen.section_id)
    if section.version != seen.version:
        raise Stale(seen.section_id)
    before = as_stored(session, section)
    change(session, section, before)
    section.version += 1
    after = again(session, section)
    news.keep(session, section.id, section.version, before.details, after.details)
    note(session, action, before, after, deed)


def move(session: Session, term_id: int) -> None:
    """Every process is to read the term's catalog anew; first, as imports lock the term first."""
    moved = {"catalog_version": Term.catalog_version + 1}
    session.execute(update(Term).where(Term.id == term_id).values(moved))


def again(session: Session, section: Section) -> Stored:
    """The section as it is stored once what was set of it has been written."""
    session.flush()
    session.expire(section)
    return as_stored(session, section)


def as_stored(session: Session, section: Section) -> Stored:
    """All that is known of it."""
    term = session.get_one(Term, section.term_id)
    course = session.get_one(Course, section.course_id)
    return Stored(
        id=section.id,
        term_id=section.term_id,
        course_id=course.id,
        course_code=course.code,
        course_title=course.title,
        crn=section.crn,
        status=section.status,
        deleted=section.deleted_at is not None,
        prior=section.prior_enrolled,
        version=section.version,
        details=details(session, section, term),
        shares=pools.of(session, section),
    )


def note(session: Session, action: str, before: Stored | None, after: Stored, deed: Deed) -> None:
    """Leave an entry in the audit trail."""
    with in_language(""):
        entry = AuditEntry(
            account_id=deed.by,
            action=f"section.{action}",
            subject=after.subject,
            before=_facts(before) if before else None,
            after=_facts(after),
            reason=deed.reason,
        )
    session.add(entry)


def _facts(stored: Stored) -> dict[str, Any]:
    apart = {name: getattr(stored, name) for name in ("crn", "status", "deleted", "version")}
    shares = {"shares": stored.shares.words} if stored.shares else {}
    return {"course": stored.course_code, **apart, **facts(stored.details), **shares}
