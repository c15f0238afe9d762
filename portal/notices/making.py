"""Notices and their mails, made in the transaction of what they follow from."""

from sqlalchemy import CTE, Integer, SelectBase, case, event, func, literal, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningInsert

from portal.live.tell import tell
from portal.notices.kinds import KINDS
from portal.notices.models import Notice, NoticeSetting, Outgoing
from portal.people.models import Account, Student
from portal.record.wake import wake

# What `news` has to select, in this order.
COLUMNS = ("account_id", "kind", "section_id", "window_id", "data", "made_at", "seq", "lead")
RANKS = {kind.name: kind.rank for kind in KINDS.values()}
A_DAY = 24 * 60  # minutes after which news by mail is no news; a reminder's end at the opening


def make(session: Session, term: int, news: SelectBase) -> int:
    """Make a notice of each row of `news` unless it is there, and a mail where one is wanted.

    Once the transaction has held, the pages of those concerned are told. Gives their number.
    """
    rows = news.subquery("news")
    made = (
        insert(Notice)
        .from_select(
            ("term_id", *COLUMNS),
            select(literal(term, Integer), *(rows.c[name] for name in COLUMNS)),
        )
        .on_conflict_do_nothing()
        .returning(Notice.id, Notice.account_id, Notice.kind, Notice.lead)
        .cte("made")
    )
    mails = _mails(made).cte("mails")
    told = session.execute(
        select(Student.id, select(func.count()).select_from(mails).scalar_subquery())
        .select_from(made)
        .join(Student, Student.account_id == made.c.account_id)
    ).all()
    if told:
        _tell_afterwards(session, term, {row[0] for row in told}, mails=bool(told[0][1]))
    return len(told)


def _mails(made: CTE) -> ReturningInsert[tuple[int]]:
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
        )
        .join(Account, Account.id == made.c.account_id)
        .outerjoin(
            NoticeSetting,
            (NoticeSetting.account_id == made.c.account_id) & (NoticeSetting.kind == made.c.kind),
        )
        .where(Account.email != "", Account.deleted_at.is_(None))
        .where(or_(NoticeSetting.by_mail.is_(None), NoticeSetting.by_mail))
    )
    columns = ("kind", "notice_id", "rank", "due_at", "until", "tries", "error")
    return insert(Outgoing).from_select(columns, wanted).returning(Outgoing.id)


def _tell_afterwards(session: Session, term: int, students: set[int], *, mails: bool) -> None:
    def say(_: Session) -> None:
        for student in students:
            tell(term, student, "notice")
        if mails:
            wake(term, ["notify"])

    event.listen(session, "after_commit", say, once=True)
