"""Applications as pages list them, and figures on how long they wait."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import CTE, ColumnElement, Select, and_, case, exists, func, null, or_, select
from sqlalchemy.orm import aliased, joinedload, selectinload

from portal.applications import service
from portal.applications.kind import Kind
from portal.applications.kinds import KINDS
from portal.applications.models import (
    ACTING,
    PAID,
    REFUNDED,
    REFUNDING,
    REVIEW,
    Application,
    ApplicationDocument,
    ApplicationEntry,
    Charge,
)
from portal.applications.stages import decided_by, stages_of, waits_for
from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.core.i18n import _l
from portal.core.moments import milliseconds
from portal.people.models import Account, Student

PAGE = 30
BATCH = 500  # applications that an export reads at once
RECENT = timedelta(days=30)
INTERNAL = {"approve", "refused"}
READY = {
    "yes": _l("Ready to decide"),
    "fee": _l("Fee not paid"),
    "documents": _l("Documents not checked"),
}
STAGES = {
    "department": _l("Department"),
    "instructor": _l("Instructor"),
    "registrar": _l("Registrar"),
}


@dataclass(frozen=True)
class ApplicationView:
    """An application, and the code of why an approval would change nothing ("" if it would)."""

    application: Application
    stale: str = ""

    @property
    def id(self) -> int:
        return self.application.id

    @property
    def kind(self) -> Kind:
        return KINDS[self.application.kind]

    @property
    def name(self) -> str:
        """The section's name, such as CSC 1100-01, or that of the term."""
        section = self.application.section
        if section is None:
            return self.application.term.name
        return requisites.section_name(section.course.code, section.number)

    @property
    def title(self) -> str:
        """The section's title; blank if it is about a whole term."""
        section = self.application.section
        return (section.title or section.course.title) if section else ""

    @property
    def in_review(self) -> bool:
        """Return whether it waits for a decision."""
        return self.application.state == REVIEW

    @property
    def stages(self) -> list[str]:
        """Return who decides it, in order."""
        return [str(STAGES[each]) for each in stages_of(self.application)]

    @property
    def stage(self) -> str:
        """Return who decides now; blank if it is not in review."""
        if not self.in_review:
            return ""
        return self.stages[min(self.application.stage, len(self.kind.stages) - 1)]

    @property
    def is_last_stage(self) -> bool:
        """Return whether an approval is carried out, and no other stage follows."""
        return self.application.stage + 1 >= len(self.kind.stages)

    @property
    def since(self) -> int:
        """When it was sent last, or begun (ms)."""
        return milliseconds(self.application.submitted_at or self.application.made_at)

    @property
    def pages(self) -> int:
        """Return the number of pages of its form: steps, documents, fee and review."""
        parts = len(self.kind.steps), bool(self.kind.documents), bool(self.application.fee), 1
        return sum(parts)

    @property
    def missing(self) -> str:
        """Return the name of a required document that is missing; blank if none is."""
        sent = {each.part for each in self.application.documents}
        return next(iter(sorted(self.kind.required - sent)), "")

    @property
    def charge(self) -> Charge | None:
        """Return the payment of the fee, or the last attempt."""
        charges = self.application.charges
        paid = (each for each in charges if each.state in {PAID, REFUNDING, REFUNDED})
        return next(paid, charges[-1] if charges else None)

    @property
    def price(self) -> tuple[int, str]:
        """Return the fee in minor units and its currency, as charged if there is a charge."""
        charge = self.charge
        if charge:
            return charge.amount, charge.currency
        return self.application.fee, backend().settings.currency

    @property
    def history(self) -> list[ApplicationEntry]:
        """Return the history that the student sees: an approval counts once it is carried out."""
        return [each for each in self.application.entries if each.action not in INTERNAL]

    @property
    def answers(self) -> Iterator[tuple[Any, str, str]]:
        """Yield the label, the step and the answer in words of each field, in order."""
        for step in self.kind.steps:
            for field in step.form(self.application.answers, self.application.term_id):
                labels = {each.value: each.label for each in getattr(field, "choices", ())}
                data = field.data if isinstance(field.data, list) else [field.data or ""]
                yield field.label.text, step.name, "; ".join(str(labels.get(x, x)) for x in data)


@dataclass(frozen=True)
class Filters:
    """What the queue shows: a state, kind and term, and text in the person's name or number.

    `stage` is who decides next. `ready` applications have their fee paid and documents checked;
    others wait for one of these. `decider` is an account that decides for its department or its
    sections: it sees only what it may decide now.
    """

    state: str = REVIEW
    kind: str = ""
    term: int = 0
    text: str = ""
    stage: str = ""
    ready: str = ""  # "yes", "fee", "documents" or "" = all
    decider: int | None = None


@dataclass(frozen=True)
class Waiting:
    """How long applications wait, in hours; None where there are none."""

    open: int
    oldest: float | None
    median: float | None
    slow: float | None  # 90th percentile
    decided: int


def of_account(account: int, term: int | None = None) -> list[ApplicationView]:
    """Return a person's applications, the newest first; only of a term if one is given."""
    found = _newest(account)
    if term is not None:
        found = found.where(Application.term_id == term)
    with transaction() as session:
        return [ApplicationView(each) for each in session.scalars(found).unique()]


def page_of_account(account: int, page: int, size: int) -> tuple[list[ApplicationView], int]:
    """Return a page of a person's applications with their histories, and how many there are."""
    found = _newest(account).options(*_history_and_files())
    number = select(func.count(Application.id)).where(Application.account_id == account)
    with transaction() as session:
        rows = session.scalars(found.offset((page - 1) * size).limit(size)).unique()
        return [ApplicationView(each) for each in rows], session.scalar(number) or 0


def one(application: int, decider: int | None = None) -> ApplicationView | None:
    """Return an application with its history; for a decider, only one that it may decide now."""
    found = _with_section().options(*_history_and_files()).where(Application.id == application)
    if decider is not None:
        found = found.where(decided_by(decider))
    with transaction() as session:
        row = session.scalars(found).unique().one_or_none()
        return _view(row) if row else None


def queue(shown: Filters, page: int) -> list[ApplicationView]:
    """Return a page of the queue and one more, those that wait longest first."""
    order = Application.submitted_at if shown.state == REVIEW else Application.id.desc()
    found = _filtered(shown).options(*_files()).order_by(order, Application.id)
    with transaction() as session:
        rows = session.scalars(found.offset((page - 1) * PAGE).limit(PAGE + 1)).unique()
        return [_view(row) for row in rows]


def has_decided(application: int, account: int) -> bool:
    entry = ApplicationEntry
    found = select(entry.id).where(
        entry.application_id == application,
        entry.account_id == account,
        entry.action.in_(("more", "decline", "forward", "approve")),
    )
    with transaction() as session:
        return session.scalar(found.limit(1)) is not None


def in_batches(shown: Filters) -> Iterator[list[ApplicationView]]:
    """Yield all applications that match the filters, in the order of their ids.

    Each batch asks again what a decider may see. No transaction is open while one is used: a
    client that downloads them may be slow.
    """
    wanted = _filtered(shown).options(selectinload(Application.charges))
    wanted, last = wanted.order_by(Application.id).limit(BATCH), 0
    while True:
        with transaction() as session:
            rows = session.scalars(wanted.where(Application.id > last)).all()
        if not rows:
            return
        yield [ApplicationView(row) for row in rows]
        last = rows[-1].id


def waiting(decider: int | None = None) -> Waiting:
    """Return figures on the open applications, and on those decided in the last 30 days.

    For a decider: on those that wait for the decider, and on the decider's own decisions.
    """
    figures = select(*_figures(times := _times(decider))).select_from(times)
    with transaction() as session:
        return _waiting(session.execute(figures).one())


def waiting_by_kind(decider: int | None = None) -> list[tuple[Kind, Waiting]]:
    """Return the same figures for each kind that has any, in the order of KINDS."""
    times = _times(decider)
    by_kind = select(times.c.kind, *_figures(times)).group_by(times.c.kind)
    with transaction() as session:
        found = {kind: _waiting(figures) for kind, *figures in session.execute(by_kind)}
    return [
        (kind, found[name])
        for name, kind in KINDS.items()
        if name in found and (found[name].open or found[name].decided)
    ]


def _figures(times: CTE) -> tuple[ColumnElement[Any], ...]:
    """Return the columns of Waiting."""
    age, took = times.c.age, times.c.took
    return (
        func.count(age),
        func.max(age),
        func.percentile_cont(0.5).within_group(took),
        func.percentile_cont(0.9).within_group(took),
        func.count(took),
    )


def _times(decider: int | None) -> CTE:
    """Return the kind of each application, and the hours it waits or has taken; or null."""
    sent = Application.submitted_at
    if decider is None:
        is_open, decided = Application.state.in_((REVIEW, ACTING)), Application.decided_at
        found = select(
            Application.kind,
            case((is_open, _hours_since(sent, func.now()))).label("age"),
            case((_is_recent(decided), _hours_since(sent, decided))).label("took"),
        )
        return found.cte("times")
    waits = select(
        Application.kind, _hours_since(sent, func.now()).label("age"), null().label("took")
    )
    return waits.where(decided_by(decider)).union_all(_decisions(decider)).cte("times")


def _decisions(decider: int) -> Select[Any]:
    """Return the recent decisions of a decider, each with the hours since the student sent it.

    A student who answers sends it again, so `submitted_at` may be later than a decision.
    """
    entry, sent = ApplicationEntry, aliased(ApplicationEntry)
    since = (
        select(func.max(sent.at))
        .where(sent.application_id == entry.application_id, sent.action == "submit")
        .where(sent.id < entry.id)
        .scalar_subquery()
    )
    return (
        select(Application.kind, null().label("age"), _hours_since(since, entry.at).label("took"))
        .join(entry, entry.application_id == Application.id)
        .where(entry.account_id == decider, entry.action.in_(("forward", "approve", "decline")))
        .where(_is_recent(entry.at))
    )


def _is_recent(moment: Any) -> ColumnElement[bool]:
    return cast("ColumnElement[bool]", moment > func.now() - RECENT)


def _hours_since(start: Any, end: Any) -> ColumnElement[Any]:
    return func.extract("epoch", end - start) / 3600


def _waiting(figures: Sequence[Any]) -> Waiting:
    found, oldest, median, slow, decided = figures
    return Waiting(found, _hours(oldest), _hours(median), _hours(slow), decided)


def _newest(account: int) -> Select[Application]:
    mine = Application.account_id == account
    return _with_section().where(mine).order_by(Application.id.desc())


def _history_and_files() -> tuple[Any, ...]:
    return selectinload(Application.entries).joinedload(ApplicationEntry.account), *_files()


def _files() -> tuple[Any, Any]:
    return selectinload(Application.documents), selectinload(Application.charges)


def _view(row: Application) -> ApplicationView:
    return ApplicationView(row, service.pointless(row) if row.state == REVIEW else "")


def _hours(found: Any) -> float | None:
    return None if found is None else float(found)


def _filtered(shown: Filters) -> Select[Application]:
    found = _with_section().where(Application.submitted_at.is_not(None))
    if shown.state:
        found = found.where(Application.state == shown.state)
    if shown.kind:
        found = found.where(Application.kind == shown.kind)
    if shown.term:
        found = found.where(Application.term_id == shown.term)
    if shown.stage:
        found = found.where(waits_for(shown.stage))
    if shown.decider is not None:
        found = found.where(decided_by(shown.decider))
    if shown.ready:
        found = found.where(*_readiness(shown.ready))
    if shown.text:
        name = Account.name.icontains(shown.text, autoescape=True)
        found = found.where(or_(name, Student.number == shown.text))
    return found


def _readiness(ready: str) -> list[ColumnElement[bool]]:
    """Return the conditions for what waits for its fee or its documents, or for nothing."""
    owner = Application.id
    paid = exists().where(Charge.application_id == owner, Charge.state == PAID)
    unchecked = exists().where(
        ApplicationDocument.application_id == owner, ApplicationDocument.sent_at.is_(None)
    )
    unpaid = and_(Application.fee > 0, ~paid)
    if ready == "fee":
        return [unpaid]
    return [unchecked] if ready == "documents" else [~unpaid, ~unchecked]


def _with_section() -> Select[Application]:
    section = joinedload(Application.section)
    return (
        select(Application)
        .join(Account, Account.id == Application.account_id)
        .outerjoin(Student, Student.id == Application.student_id)
        .options(
            section.joinedload(Section.course),
            section.joinedload(Section.term),
            joinedload(Application.term),
            joinedload(Application.student),
            joinedload(Application.account).joinedload(Account.student),
        )
    )
