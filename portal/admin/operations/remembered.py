"""What PostgreSQL has to say about how the portal runs; as last known while it is away."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from portal.admin.imports.shown import state_of
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.core.flags import Flag
from portal.exchange.exporting import making
from portal.exchange.exporting.models import Export
from portal.exchange.importing import book
from portal.notifications import outbox
from portal.notifications.outbox import DeadLetter
from portal.notifications.webhooks import outbox as webhooks
from portal.ops.models import AuditRun
from portal.people.models import Account
from portal.recorder.models import Checkpoint, ContinuousAudit
from portal.recorder.status import Lag, lag
from portal.waiting_room import admission_limits
from portal.waiting_room.admission_limits import Pause
from portal.windows import readiness

FRESH = 0.5  # seconds
SHOWN = 20  # mails

Terms = tuple[int, ...]


@dataclass(frozen=True)
class Importing:
    """An import that is being read or applied, who began it, and its state as pages show it."""

    id: int
    name: str
    by: str
    state: str


@dataclass(frozen=True)
class Remembered:
    """How far each term is recorded, and how late; what was switched; the last audits by term.

    Then the import and the exports under way, the first mails that were given up, how much could
    not be told to webhooks, and how many students there are. At last which lines are paused.
    """

    recorded: dict[int, int]
    lag: Lag | None
    flags: dict[str, tuple[Flag, str]]  # with the name of who switched it
    runs: dict[int, tuple[AuditRun, str]]
    importing: Importing | None
    exporting: list[tuple[Export, str]]  # with the name of who asked
    mails: list[DeadLetter]
    mails_in_all: int
    untold: int
    students: int
    unlike: dict[int, int]  # differences that the standing comparison has found, by term
    pauses: dict[int, Pause]  # the last pause of each waiting room's line, by window


def remembered(terms: Sequence[int]) -> Remembered:
    """What is known of these terms, half a second old at most; raises what PostgreSQL does."""
    return _known.get(tuple(terms))


def forget() -> None:
    """Read it anew when it is next asked for."""
    _known.clear()


def _read(terms: Terms) -> Remembered:
    with transaction() as session:
        return Remembered(
            recorded=_recorded(session, terms),
            lag=lag(session, terms),
            flags=_flags(session),
            runs=_runs(session, terms),
            importing=_importing(session),
            exporting=making.under_way(session),
            mails=outbox.dead(session, SHOWN),
            mails_in_all=outbox.number_dead(session),
            untold=webhooks.number_dead(session),
            students=readiness.students(session),
            unlike=_unlike(session, terms),
            pauses=admission_limits.latest_pauses(session, terms),
        )


def _recorded(session: Session, terms: Terms) -> dict[int, int]:
    found = select(Checkpoint.term_id, Checkpoint.seq).where(Checkpoint.term_id.in_(terms))
    return {row.term_id: row.seq for row in session.execute(found)}


def _flags(session: Session) -> dict[str, tuple[Flag, str]]:
    found = select(Flag, Account.name).outerjoin(Account, Account.id == Flag.account_id)
    return {flag.name: (flag, name or "") for flag, name in session.execute(found)}


def _runs(session: Session, terms: Terms) -> dict[int, tuple[AuditRun, str]]:
    found = (
        select(AuditRun, Account.name)
        .outerjoin(Account, Account.id == AuditRun.account_id)
        .where(AuditRun.term_id.in_(terms))
        .ext(distinct_on(AuditRun.term_id))
        .order_by(AuditRun.term_id, AuditRun.id.desc())
    )
    return {run.term_id: (run, name or "") for run, name in session.execute(found)}


def _unlike(session: Session, terms: Terms) -> dict[int, int]:
    differ = ContinuousAudit.term_id.in_(terms), ContinuousAudit.found > 0
    rows = session.execute(select(ContinuousAudit.term_id, ContinuousAudit.found).where(*differ))
    return {row.term_id: row.found for row in rows}


def _importing(session: Session) -> Importing | None:
    found = book.busy(session)
    if found is None:
        return None
    by = session.get(Account, found.account_id) if found.account_id else None
    return Importing(found.id, found.name, by.name if by else "", state_of(session, found))


_known: Cache[Terms, Remembered] = Cache(_read, FRESH, size=8)
