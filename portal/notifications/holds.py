"""What a student is told of a hold: that it is placed, and that it is lifted."""

from typing import Any

from sqlalchemy import Integer, cast, event, func, literal, null, select
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Session

from portal.catalog.term_catalog import offered_terms
from portal.live.publish import signal_student
from portal.notifications.kinds import HOLD
from portal.notifications.making import make
from portal.people.models import Account, AuditEntry, Hold, Student
from portal.recorder.events import milliseconds


def tell_student(session: Session, hold: Hold, entry: AuditEntry) -> None:
    """Tell of it with the transaction, under the latest term; once for each entry of the trail.

    Pages of the other terms show holds too, so they are told as well.
    """
    session.flush()
    terms = [term.id for term in offered_terms()]
    if not terms:
        return
    owner = select(Student.account_id).where(Student.id == hold.student_id).scalar_subquery()
    make(session, terms[0], _news(hold, entry.id).where(Account.id == owner))
    student = hold.student_id

    def say(_: Session) -> None:
        for term in terms[1:]:
            signal_student(term, student, "notice")

    event.listen(session, "after_commit", say, once=True)


def _news(hold: Hold, seq: int) -> Any:
    about = {
        "hold": hold.kind,
        "reason": hold.reason,
        "office": hold.office,
        "since": hold.starts_at and milliseconds(hold.starts_at),
        "until": hold.ends_at and milliseconds(hold.ends_at),
        "gone": hold.lifted_at is not None,
    }
    return select(
        Account.id.label("account_id"),
        literal(HOLD.name).label("kind"),
        cast(null(), Integer).label("section_id"),
        cast(null(), Integer).label("window_id"),
        literal(about, JSONB).label("data"),
        func.now().label("made_at"),
        literal(seq).label("seq"),
        literal(0).label("lead"),
    ).where(Account.deleted_at.is_(None))
