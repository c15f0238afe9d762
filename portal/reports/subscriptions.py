"""Reports by mail: who gets which report of a term, and when; sent once for each due time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, or_, select, update
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import formatting
from portal.catalog.local_time import local_clock
from portal.catalog.models import Term
from portal.catalog.term_catalog import catalog_of
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.errors import Refused
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.exchange.spreadsheets import csv_pieces
from portal.notifications import mail_texts, outbox
from portal.notifications.mail import Report
from portal.notifications.models import OutboxEntry
from portal.people import visitors
from portal.people.models import Account
from portal.people.visitors import Visitor
from portal.recorder.signals import DueJob, due_since
from portal.reports.models import ReportSubscription
from portal.reports.term_reports import REPORTS, TermReport

MOST = 30  # of one account
AT_ONCE = 200  # of one job; if more are due, the scheduler starts another
USEFUL_MINUTES = 24 * 60
LEAP = timedelta(days=1)  # a clock that is further ahead was wrong
PAGE = "/admin/report-subscriptions"
# A choice of days, its label, and the weekdays from Monday = 0.
DAYS: dict[str, tuple[Any, Sequence[int]]] = {
    "daily": (_l("Every day"), range(7)),
    "weekdays": (_l("Every weekday (Monday to Friday)"), range(5)),
    "monday": (_l("Every Monday"), (0,)),
    "tuesday": (_l("Every Tuesday"), (1,)),
    "wednesday": (_l("Every Wednesday"), (2,)),
    "thursday": (_l("Every Thursday"), (3,)),
    "friday": (_l("Every Friday"), (4,)),
    "saturday": (_l("Every Saturday"), (5,)),
    "sunday": (_l("Every Sunday"), (6,)),
}
DAY_LABELS = {name: label for name, (label, _days) in DAYS.items()}
# Why there was no mail. All but the first stop the subscription.
RESULTS = {
    "none": _l("Nothing to report yet: no window of the term has ended."),
    "right": _l("You may no longer see this report."),
    "account": _l("The account is not active."),
    "address": _l("The account has no email address."),
    "term": _l("The term is archived or deleted."),
}
REFUSED = {
    "address": _l(
        "Your account has no email address, so nothing can be sent to you."
        " Ask the operators of the portal to add one."
    ),
    "another": _l(
        "You already get this report of this term. Change its days and time in the list."
    ),
    "many": _l("You get %(most)s reports. End one before you add another.", most=MOST),
    "report": _l("You may not see this report."),
    "term": _l("The term is archived or deleted."),
    "stopped": _l("It has stopped. Change it to start it again."),
    "under_way": _l("An email with this report is already on its way."),
}


class SubscriptionRefused(Refused):
    """It can't be subscribed to, changed or sent."""

    texts = REFUSED


@dataclass(frozen=True)
class Schedule:
    """Days of DAYS, and a time of day in the institution's time zone."""

    days: str
    at: time

    def next(self, after: datetime) -> datetime:
        """Return the first moment after another.

        A time that the clocks skip comes as much later; of a time that comes twice, the first.
        """
        zone = backend().settings.zone
        day = after.astimezone(zone).date()
        while True:
            moment = datetime.combine(day, self.at, zone).astimezone(UTC)
            if day.weekday() in DAYS[self.days][1] and moment > after:
                return moment
            day += timedelta(days=1)

    @property
    def label(self) -> str:
        """Return it in words."""
        return _("%(days)s at %(time)s", days=DAY_LABELS[self.days], time=formatting.clock(self.at))

    @property
    def facts(self) -> dict[str, str]:
        """Return it for the audit trail."""
        return {"days": self.days, "at": f"{self.at:%H:%M}"}


@dataclass(frozen=True)
class SubscriptionView:
    """A subscription as its page shows it."""

    row: ReportSubscription
    term: str
    mail: OutboxEntry | None  # the last one

    @property
    def label(self) -> Any:
        """Return the name of the report."""
        kind = REPORTS.get(self.row.report)
        return kind.label if kind else self.row.report

    @property
    def schedule(self) -> Schedule:
        """Return when it is sent."""
        return schedule_of(self.row)

    @property
    def state(self) -> str:
        """Return what became of the last mail: a code of STATES, or blank if there was none."""
        if self.row.result or not self.row.last_at:
            return ""
        if self.mail is None:
            return "gone"
        if self.mail.dead_at:
            return "dead"
        if not self.mail.sent_at:
            return "waiting"
        return str((self.mail.data or {}).get("as", "file"))


# A code of `state`: text and tone.
STATES = {
    "file": (_l("Sent with the file"), "go"),
    "link": (_l("Sent with a link: the file was too large for an email"), "few"),
    "waiting": (_l("Waiting to be sent"), "wait"),
    "dead": (_l("Could not be sent"), "stop"),
    "gone": (_l("No longer known"), ""),
}


def schedule_of(row: ReportSubscription) -> Schedule:
    return Schedule(row.days, row.at)


def subscriptions_of(session: Session, account: int) -> list[SubscriptionView]:
    """Return the subscriptions of an account, those that are due first on top."""
    found = _views(ReportSubscription.account_id == account)
    order = ReportSubscription.next_at.nulls_first(), ReportSubscription.id
    return [SubscriptionView(*row) for row in session.execute(found.order_by(*order))]


def find(session: Session, account: int, number: int) -> SubscriptionView | None:
    mine = ReportSubscription.account_id == account, ReportSubscription.id == number
    row = session.execute(_views(*mine)).one_or_none()
    return SubscriptionView(*row) if row else None


def _views(*which: ColumnElement[bool]) -> Select[ReportSubscription, str, OutboxEntry]:
    return (
        select(ReportSubscription, Term.name, OutboxEntry)
        .join(Term, Term.id == ReportSubscription.term_id)
        .outerjoin(OutboxEntry, OutboxEntry.id == ReportSubscription.mail_id)
        .where(*which)
    )


def subscribe(who: int, report: str, term: int, schedule: Schedule) -> None:
    """Send somebody a report from now on; the same wish twice is one. Raise SubscriptionRefused."""
    with transaction() as session:
        # One at a time, so that the number of subscriptions holds.
        session.get_one(Account, who, with_for_update={"key_share": True})
        mine = ReportSubscription.account_id == who
        rows = session.scalars(select(ReportSubscription).where(mine)).all()
        same = [each for each in rows if (each.report, each.term_id) == (report, term)]
        if same and same[0].next_at and schedule_of(same[0]) == schedule:
            return
        if same:
            raise SubscriptionRefused("another")
        if len(rows) >= MOST:
            raise SubscriptionRefused("many")
        row = ReportSubscription(account_id=who, report=report, term_id=term, result="")
        _check(session, row)
        row.days, row.at = schedule.days, schedule.at
        row.next_at = schedule.next(_now(session))
        session.add(row)
        after = {"report": report, **schedule.facts}
        add_audit_entry(session, "report.subscribe", _subject(row), by=who, after=after)


def change(who: int, number: int, schedule: Schedule) -> None:
    """Change the days and the time, and start it again if it has stopped.

    Raise SubscriptionRefused; LookupError if somebody has no such subscription.
    """
    with transaction() as session:
        row = _locked(session, who, number)
        before = schedule_of(row)
        if before == schedule and row.next_at:
            return
        _check(session, row)
        row.days, row.at = schedule.days, schedule.at
        row.next_at, row.result = schedule.next(_now(session)), ""
        facts = {"report": row.report}
        add_audit_entry(
            session,
            "report.change",
            _subject(row),
            by=who,
            before=facts | before.facts,
            after=facts | schedule.facts,
        )


def end(who: int, number: int) -> None:
    """End a subscription, at its second call too; a mail that waits is not sent."""
    with transaction() as session:
        try:
            row = _locked(session, who, number)
        except LookupError:
            return
        before = {"report": row.report, **schedule_of(row).facts}
        add_audit_entry(session, "report.end", _subject(row), by=who, before=before)
        session.delete(row)


def send_now(who: int, number: int) -> None:
    """Mail the report now, besides its usual times.

    Raise SubscriptionRefused; LookupError if somebody has no such subscription.
    """
    with transaction() as session:
        row = _locked(session, who, number)
        _check(session, row)
        if row.next_at is None:
            raise SubscriptionRefused("stopped")
        last = session.get(OutboxEntry, row.mail_id) if row.mail_id else None
        if last and not (last.sent_at or last.dead_at):
            raise SubscriptionRefused("under_way")
        _queue(session, row, _now(session))


# Due times


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that queues the mails that are due, if any are."""
    return due_since("report", look.scalar(_first_due()))


def queue_due() -> None:
    """Queue a mail for each subscription that is due, however many of its times were missed.

    The mail and the next time are stored together, with the row locked: several workers, or one
    that dies, queue one mail for one time.
    """
    with transaction() as session:
        now = _now(session)
        found = select(ReportSubscription).where(_is_due()).order_by(ReportSubscription.id)
        for row in session.scalars(found.limit(AT_ONCE).with_for_update(skip_locked=True)).all():
            if row.next_at and row.next_at <= now:
                _queue(session, row, now)
            row.last_at = now
            row.next_at = schedule_of(row).next(now)


@cache
def _first_due() -> Select[datetime | None]:
    return select(func.min(ReportSubscription.next_at)).where(_is_due())


def _is_due() -> ColumnElement[bool]:
    """Match reports that are due, and those that wait for a time that a wrong clock set."""
    running = ReportSubscription.next_at.is_not(None)
    return or_(
        ReportSubscription.next_at <= func.now(),
        running & (ReportSubscription.last_at > func.now() + LEAP),
    )


def _queue(session: Session, row: ReportSubscription, now: datetime) -> None:
    data = {"subscription": row.id}
    row.mail_id = outbox.queue_mail(session, outbox.REPORT, row.account_id, data, USEFUL_MINUTES)
    row.last_at, row.result = now, ""


# Sending


def make_report(session: Session, outgoing: OutboxEntry) -> Report | None:
    """Return the report of a mail that is to be sent now; None if no one may or need get it."""
    row = session.get(ReportSubscription, (outgoing.data or {})["subscription"])
    if row is None:
        return None
    if why := _obstacle(session, row):
        _stop(session, row, why)
        return None
    term, kind = session.get_one(Term, row.term_id), REPORTS[row.report]
    who = _visitor(row)
    made = kind.make(catalog_of(term.id), who) if who else None
    if made is None:
        _note(session, row, result="none")
        return None
    file = _file(made, f"{row.report}-{term.id}.csv")
    facts = {"as": "file" if file else "link", "report": row.report, "term": row.term_id}
    outgoing.data = {**(outgoing.data or {}), **facts}
    return Report(
        title=_("%(report)s, %(term)s", report=kind.label, term=term.name),
        text=_text(made, file),
        link=(str(kind.label), made.page),
        settings=(
            _(
                "You get this email because you asked for this report: %(when)s. Change or end it:",
                when=schedule_of(row).label,
            ),
            PAGE,
        ),
        term=term.name,
        file=file,
    )


def note_sent(session: Session, outgoing: OutboxEntry) -> None:
    """Note in the audit trail that a report was sent; its subscription may have ended meanwhile."""
    data, who = outgoing.data or {}, outgoing.account_id
    subject, after = f"account:{who} term:{data['term']}", {"report": data["report"]}
    add_audit_entry(session, "report.send", subject, by=who, after=after)


def _text(made: TermReport, file: tuple[str, bytes] | None) -> list[str]:
    """Return the figures, and where the rows are."""
    figures = "\n".join(f"{label}: {formatting.number(count)}" for label, count in made.figures)
    now = local_clock().full(milliseconds(datetime.now(UTC).replace(second=0)))
    if file:
        rows = _("The file %(name)s has the rows.", name=file[0])
    else:
        most = formatting.number(backend().settings.attachment_kb)
        rows = _("The file is larger than %(most)s KB, too large for an email.", most=most)
        rows += " " + _("Open it with the link below.")
    parts = [_("Time: %(when)s.", when=now), figures, rows, made.note]
    return [each if each == figures else mail_texts.filled(each) for each in parts if each]


def _file(made: TermReport, name: str) -> tuple[str, bytes] | None:
    """Return the rows as a file, None if a mail can't carry it."""
    content = bytearray()
    for piece in csv_pieces(made.rows):
        content += piece
        if len(content) > backend().settings.attachment_kb * 1000:
            return None
    return name, bytes(content)


def _check(session: Session, row: ReportSubscription) -> None:
    """Raise SubscriptionRefused if the report could not be sent now."""
    why = _obstacle(session, row)
    if why:
        raise SubscriptionRefused({"right": "report", "account": "report"}.get(why, why))


def _obstacle(session: Session, row: ReportSubscription) -> str:
    """Return why a report must not be sent, of RESULTS; blank if it may be."""
    who, kind = _visitor(row), REPORTS.get(row.report)
    if who is None:
        return "account"
    if kind is None or not kind.open_to(who):
        return "right"
    term = session.get(Term, row.term_id)
    if term is None or term.deleted_at or term.state == "archived":
        return "term"
    return "" if session.get_one(Account, row.account_id).email else "address"


def _visitor(row: ReportSubscription) -> Visitor | None:
    """Return who gets the report, with the rights of now; None if the account is not active."""
    return visitors.read(Account.id == row.account_id)


def _stop(session: Session, row: ReportSubscription, why: str) -> None:
    _note(session, row, result=why, next_at=None)
    after = {"report": row.report, "stopped": why}
    add_audit_entry(session, "report.end", _subject(row), after=after)


def _note(session: Session, row: ReportSubscription, **values: Any) -> None:
    """Store the values without a version of the row: its owner may end it meanwhile."""
    changed = update(ReportSubscription).where(ReportSubscription.id == row.id)
    session.execute(changed.values(values))


def _locked(session: Session, who: int, number: int) -> ReportSubscription:
    row = session.get(ReportSubscription, number, with_for_update=True)
    if row is None or row.account_id != who:
        raise LookupError(number)
    return row


def _subject(row: ReportSubscription) -> str:
    return f"account:{row.account_id} term:{row.term_id}"


def _now(session: Session) -> datetime:
    """Return the time by PostgreSQL's clock, which all schedulers share."""
    return session.scalars(select(func.now())).one()
