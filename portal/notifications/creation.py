"""Create notifications and their mail, in the transaction of the change they report."""

from typing import Any

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    SelectBase,
    case,
    cast,
    event,
    exists,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from portal.catalog.models import Section, Term
from portal.catalog.term_catalog import offered_terms
from portal.core.audit_trail import AuditEntry
from portal.core.correlation import correlation
from portal.core.moments import milliseconds
from portal.core.queue import enqueue
from portal.live.publish import signal_account, signal_student
from portal.notifications.kinds import HOLD, KINDS, PERMITTED, Kind
from portal.notifications.models import Notification, NotificationSetting, OutboxEntry
from portal.people import student_profile
from portal.people.models import Account, Hold, Permission, Student
from portal.recorder.models import LoggedEvent

# The columns that `query` must select, in this order.
COLUMNS = ("account_id", "kind", "section_id", "window_id", "data", "made_at", "seq", "lead")
FOR_STUDENTS = {kind.name for kind in KINDS.values() if kind.role == "student"}
RANKS = {kind.name: kind.rank for kind in KINDS.values()}
USEFUL_MINUTES = 24 * 60  # minutes after which mail is pointless; a reminder expires at the opening


def create(
    session: Session,
    term: int,
    query: SelectBase,
    *,
    by_mail: bool = True,
    of_events: bool = False,
) -> int:
    """Create a notification for each new row of `query`, and a mail for each account that wants it.

    Returns their number. Without `by_mail`, no mail is sent. With `of_events`, the correlation id
    is that of the recorded events, otherwise that of this request or job. After the commit, the
    open pages of those concerned are notified. Do nothing for a term that is a draft.
    """
    rows = query.subquery("new_notifications")
    made = (
        insert(Notification)
        .from_select(
            ("term_id", *COLUMNS),
            select(literal(term, Integer), *(rows.c[name] for name in COLUMNS))
            .where(exists().where(Term.id == term, Term.state != "draft"))
            .order_by(rows.c.seq, rows.c.account_id),
        )
        .on_conflict_do_nothing()
        .returning(
            Notification.id,
            Notification.account_id,
            Notification.kind,
            Notification.seq,
            Notification.lead,
        )
        .cte("made")
    )
    code = _code_of_event(term, made) if of_events else literal(correlation())
    mails = _mails(made, code, by_mail=by_mail).cte("mails")
    created = session.execute(
        select(
            made.c.account_id,
            made.c.kind,
            Student.id.label("student"),
            select(func.count()).select_from(mails).scalar_subquery().label("mails"),
        )
        .select_from(made)
        .outerjoin(Student, Student.account_id == made.c.account_id)
    ).all()
    if created:
        students = {row.student for row in created if row.kind in FOR_STUDENTS and row.student}
        others = {
            row.account_id for row in created if row.kind not in FOR_STUDENTS or not row.student
        }
        _signal_after_commit(session, term, students, others, mails=bool(created[0].mails))
    return len(created)


def _code_of_event(term: int, made: CTE) -> ColumnElement[str]:
    code = select(LoggedEvent.context["correlation"].astext)
    found = code.where(LoggedEvent.term_id == term, LoggedEvent.seq == made.c.seq).scalar_subquery()
    return func.left(func.coalesce(found, ""), OutboxEntry.correlation.type.length)


def _mails(made: CTE, code: ColumnElement[str], *, by_mail: bool) -> ReturningInsert[tuple[int]]:
    """Insert a mail for each notification whose account has an address and wants that kind."""
    useful = func.make_interval(
        0, 0, 0, 0, 0, case((made.c.lead > 0, made.c.lead), else_=USEFUL_MINUTES)
    )
    columns = {
        "kind": literal("mail"),
        "notification_id": made.c.id,
        "rank": case(RANKS, value=made.c.kind),
        "due_at": func.now(),
        "until": func.now() + useful,
        "tries": literal(0),
        "error": literal(""),
        "correlation": code,
    }
    wanted = (
        select(*columns.values())
        .join(Account, Account.id == made.c.account_id)
        .outerjoin(
            NotificationSetting,
            (NotificationSetting.account_id == made.c.account_id)
            & (NotificationSetting.kind == made.c.kind),
        )
        .where(literal(by_mail), Account.email != "", Account.deleted_at.is_(None))
        .where(or_(NotificationSetting.by_mail.is_(None), NotificationSetting.by_mail))
        .order_by(made.c.id)
    )
    return insert(OutboxEntry).from_select([*columns], wanted).returning(OutboxEntry.id)


def _signal_after_commit(
    session: Session, term: int, students: set[int], others: set[int], *, mails: bool
) -> None:
    def signal(_: Session) -> None:
        for student in students:
            signal_student(term, student, "notice")
        for account in others:
            signal_account(account)
        if mails:
            enqueue(term, ["notify"])

    event.listen(session, "after_commit", signal, once=True)


def rows_for(
    recipients: ColumnElement[bool],
    kind: Kind,
    data: dict[str, Any],
    seq: int,
    **columns: int | None,
) -> Select[Any]:
    """Return the rows of a notification for the accounts that match; `seq` tells it from others.

    `columns` may have `section_id`, `window_id` and `lead`.
    """
    return select(
        Account.id.label("account_id"),
        literal(kind.name).label("kind"),
        cast(columns.get("section_id"), Integer).label("section_id"),
        cast(columns.get("window_id"), Integer).label("window_id"),
        literal(data, JSONB).label("data"),
        func.now().label("made_at"),
        literal(seq, BigInteger).label("seq"),
        literal(columns.get("lead", 0), Integer).label("lead"),
    ).where(recipients, Account.deleted_at.is_(None))


# Notifications without an event of the ledger: each is created in the transaction of its change.


def announce(
    session: Session,
    kind: Kind,
    section: Section,
    recipients: ColumnElement[bool],
    seq: int,
    **about: Any,
) -> None:
    """Notify the accounts that match of something about a section; `about` is for the text."""
    named = {
        "code": section.course.code,
        "number": section.number,
        "title": section.title or section.course.title,
    }
    session.flush()
    rows = rows_for(recipients, kind, named | about, seq, section_id=section.id)
    create(session, section.term_id, rows)


def announce_permission(session: Session, permission: Permission, entry: AuditEntry) -> None:
    """Notify the student of a permission granted or revoked, once per audit entry."""
    session.flush()
    announce(
        session,
        PERMITTED,
        session.get_one(Section, permission.section_id),
        _account_of(permission.student_id),
        entry.id,
        waives=permission.waives,
        until=permission.expires_at and milliseconds(permission.expires_at),
        gone=permission.revoked_at is not None,
    )


def announce_hold(session: Session, hold: Hold, entry: AuditEntry) -> None:
    """Notify the student of a hold placed or lifted, once per audit entry.

    It belongs to the latest term. Pages of the other terms show holds too, so they get a
    signal as well.
    """
    session.flush()
    terms = [term.id for term in offered_terms()]
    if not terms:
        return
    about = {
        "hold": hold.kind,
        "reason": hold.reason,
        "office": hold.office,
        "since": hold.starts_at and milliseconds(hold.starts_at),
        "until": hold.ends_at and milliseconds(hold.ends_at),
        "gone": hold.lifted_at is not None,
    }
    student = hold.student_id
    if hold.adviser_lifts:
        about["adviser"] = student_profile.read_all(session, [student])[student].adviser
    create(session, terms[0], rows_for(_account_of(student), HOLD, about, entry.id))

    def signal(_: Session) -> None:
        for term in terms[1:]:
            signal_student(term, student, "notice")

    event.listen(session, "after_commit", signal, once=True)


def _account_of(student: int) -> ColumnElement[bool]:
    return Account.id == select(Student.account_id).where(Student.id == student).scalar_subquery()
