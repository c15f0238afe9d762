"""Notices and their mails, made in the transaction of what they follow from."""

from sqlalchemy import (
    CTE,
    ColumnElement,
    Integer,
    SelectBase,
    case,
    event,
    func,
    literal,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from portal.core.correlation import correlation
from portal.live.publish import notice_arrived as tell_account
from portal.live.publish import signal_student
from portal.notifications.kinds import KINDS
from portal.notifications.models import Notice, NoticeSetting, Outgoing
from portal.people.models import Account, Student
from portal.recorder.models import LoggedEvent
from portal.recorder.wake import wake

# What `news` has to select, in this order.
COLUMNS = ("account_id", "kind", "section_id", "window_id", "data", "made_at", "seq", "lead")
FOR_STUDENTS = {kind.name for kind in KINDS.values() if kind.role == "student"}
RANKS = {kind.name: kind.rank for kind in KINDS.values()}
A_DAY = 24 * 60  # minutes after which news by mail is no news; a reminder's end at the opening


def make(
    session: Session,
    term: int,
    news: SelectBase,
    *,
    by_mail: bool = True,
    of_events: bool = False,
) -> int:
    """Make a notice of each row of `news` unless it is there, and a mail where one is wanted.

    Without `by_mail` none is. What follows `of_events` that are recorded goes under their code,
    all else under that of this request or job.

    Once the transaction has held, the pages of those concerned are told. Gives their number.
    """
    rows = news.subquery("news")
    made = (
        insert(Notice)
        .from_select(
            ("term_id", *COLUMNS),
            select(literal(term, Integer), *(rows.c[name] for name in COLUMNS)).order_by(
                rows.c.seq, rows.c.account_id
            ),
        )
        .on_conflict_do_nothing()
        .returning(Notice.id, Notice.account_id, Notice.kind, Notice.seq, Notice.lead)
        .cte("made")
    )
    code = _code_of_event(term, made) if of_events else literal(correlation())
    mails = _mails(made, code, by_mail=by_mail).cte("mails")
    told = session.execute(
        select(
            made.c.account_id,
            made.c.kind,
            Student.id.label("student"),
            select(func.count()).select_from(mails).scalar_subquery().label("mails"),
        )
        .select_from(made)
        .outerjoin(Student, Student.account_id == made.c.account_id)
    ).all()
    if told:
        students = {row.student for row in told if row.kind in FOR_STUDENTS and row.student}
        others = {row.account_id for row in told if row.kind not in FOR_STUDENTS}
        _tell_afterwards(session, term, students, others, mails=bool(told[0].mails))
    return len(told)


def _code_of_event(term: int, made: CTE) -> ColumnElement[str]:
    code = select(LoggedEvent.context["correlation"].astext)
    found = code.where(LoggedEvent.term_id == term, LoggedEvent.seq == made.c.seq).scalar_subquery()
    return func.left(func.coalesce(found, ""), Outgoing.correlation.type.length)


def _mails(made: CTE, code: ColumnElement[str], *, by_mail: bool) -> ReturningInsert[tuple[int]]:
    """A mail for each notice whose account has an address and wants mail of that kind."""
    useful = func.make_interval(0, 0, 0, 0, 0, case((made.c.lead > 0, made.c.lead), else_=A_DAY))
    wanted = (
        select(
            literal("mail"),
            made.c.id,
            case(RANKS, value=made.c.kind),
            func.now(),
            func.now() + useful,
            literal(0),
            literal(""),
            code,
        )
        .join(Account, Account.id == made.c.account_id)
        .outerjoin(
            NoticeSetting,
            (NoticeSetting.account_id == made.c.account_id) & (NoticeSetting.kind == made.c.kind),
        )
        .where(literal(by_mail), Account.email != "", Account.deleted_at.is_(None))
        .where(or_(NoticeSetting.by_mail.is_(None), NoticeSetting.by_mail))
        .order_by(made.c.id)
    )
    columns = ("kind", "notice_id", "rank", "due_at", "until", "tries", "error", "correlation")
    return insert(Outgoing).from_select(columns, wanted).returning(Outgoing.id)


def _tell_afterwards(
    session: Session, term: int, students: set[int], others: set[int], *, mails: bool
) -> None:
    def say(_: Session) -> None:
        for student in students:
            signal_student(term, student, "notice")
        for account in others:
            tell_account(account)
        if mails:
            wake(term, ["notify"])

    event.listen(session, "after_commit", say, once=True)
