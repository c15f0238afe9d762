"""News about a section that follows from no event of the ledger."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Integer, cast, func, literal, null, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from portal.catalog.models import Section
from portal.notifications.kinds import Kind
from portal.notifications.making import make
from portal.people.models import Account


@dataclass(frozen=True)
class Announcement:
    """What its words need besides the section; `seq` tells it from others of its kind."""

    kind: Kind
    section: Section
    seq: int
    about: dict[str, Any]


def announce(session: Session, told: Announcement, whom: ColumnElement[bool]) -> None:
    """Make the notice with the transaction for the accounts that fit."""
    section = told.section
    named = {
        "code": section.course.code,
        "number": section.number,
        "title": section.title or section.course.title,
    }
    news = select(
        Account.id.label("account_id"),
        literal(told.kind.name).label("kind"),
        literal(section.id).label("section_id"),
        cast(null(), Integer).label("window_id"),
        literal(named | told.about, JSONB).label("data"),
        func.now().label("made_at"),
        literal(told.seq).label("seq"),
        literal(0).label("lead"),
    ).where(whom, Account.deleted_at.is_(None))
    session.flush()
    make(session, section.term_id, news)
