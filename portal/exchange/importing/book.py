"""The imports that there are: begun by someone, one at a time, kept for a day until applied."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.core.db import Base, transaction
from portal.core.i18n import _k
from portal.exchange.importing.failure import ImportFailedError
from portal.exchange.importing.models import (
    BUSY,
    Import,
    ImportChange,
    ImportNote,
    ImportPart,
    ImportRow,
)
from portal.exchange.importing.options import Options
from portal.people.models import Account

KEPT = timedelta(days=1)  # how long what was sent and what it would change is kept
SETTLED = timedelta(seconds=10)  # after which whoever does not hold the lock has been killed
SHOWN = 20  # of the latest imports
TRIES = 5  # times that a worker begins with an import before it is given up
ONE_AT_A_TIME = 7_305_001  # key of the lock that whoever reads or applies one holds
SENT = (ImportPart, ImportRow)
BEGUN = ("reading", "applying")  # it is got on with only once one of these ends
UNDONE = ("waiting", "ready")
FOUND = (ImportRow, ImportChange, ImportNote)
LOCK = text("SELECT pg_try_advisory_xact_lock(:key)")
LOCKED = text(
    "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted"
    " AND classid = 0 AND objid = :key AND database = "
    "(SELECT oid FROM pg_database WHERE datname = current_database()))"
)


class Busy(Exception):  # noqa: N818  a state of the world, not a mistake
    """Another import is being read or applied; the message says whose."""


class Gone(Exception):  # noqa: N818  a state of the world, not a mistake
    """The import has been given up, or done already."""


@dataclass(frozen=True)
class Sent:
    """What is to be imported, by whom; nobody at the command line."""

    by: int | None
    name: str
    sha256: str
    options: Options


def begin(session: Session, sent: Sent, state: str = "waiting") -> int:
    """The id of a new import; raises Busy while another is being read or applied."""
    expire(session)
    give_up_commands(session)
    made = Import(
        account_id=sent.by,
        name=sent.name[:200],
        sha256=sent.sha256,
        options=sent.options.kept(),
        state=state,
        busy=True,
        expires_at=datetime.now(UTC) + KEPT,
    )
    if busy(session):
        raise Busy(told(session))
    try:
        with session.begin_nested():
            session.add(made)
    except IntegrityError:  # somebody else began in between
        raise Busy(told(session)) from None
    return made.id


def busy(session: Session) -> Import | None:
    """The import that is being read or applied, or is about to be."""
    return session.scalar(select(Import).where(Import.busy.is_(True)))


def told(session: Session) -> str:
    """Which import is in the way, and whose."""
    found = busy(session)
    if found is None:
        return ""
    owner = session.scalar(select(Account.name).where(Account.id == found.account_id))
    return f"{found.name} ({owner or 'command line'})"


def move(
    session: Session, import_id: int, state: str, *, of: Iterable[str], **facts: object
) -> bool:
    """Whether the import was in one of the states `of`, and is now in another.

    Raises Busy while another is being read or applied.
    """
    now = {"state": state, "busy": True if state in BUSY else None, "moved_at": datetime.now(UTC)}
    tries = {} if state in BEGUN else {"tries": 0}
    moved = update(Import).where(Import.id == import_id, Import.state.in_(tuple(of)))
    moved = moved.values(**now, **tries, **facts).returning(Import.id)
    try:
        with session.begin_nested():
            return session.scalar(moved) is not None
    except IntegrityError:
        raise Busy(told(session)) from None


def lock(session: Session) -> bool:
    """Whether we alone may read or apply imports until the transaction ends."""
    return bool(session.scalar(LOCK, {"key": ONE_AT_A_TIME}))


def at_work(session: Session) -> bool:
    """Whether somebody reads or applies an import right now."""
    return bool(session.scalar(LOCKED, {"key": ONE_AT_A_TIME}))


def left(session: Session) -> Import | None:
    """The import that should be read, applied or seated, and nobody is at it or stopped by it."""
    settled = Import.moved_at < datetime.now(UTC) - SETTLED
    waiting = Import.busy.is_(True), Import.error == "", settled
    found = session.scalar(select(Import).where(*waiting))
    return None if found is None or at_work(session) else found


def stopped(session: Session) -> int:
    """How many imports are stopped with seats left, and wait for an admin; one at most."""
    waiting = Import.state == "seating", Import.error != ""
    return session.scalar(select(func.count()).select_from(Import).where(*waiting)) or 0


def try_it(session: Session, import_id: int) -> bool:
    """Count that a worker begins with it; False while another is at it."""
    if not lock(session):
        return False
    session.execute(
        update(Import)
        .where(Import.id == import_id, Import.busy.is_(True))
        .values(tries=Import.tries + 1, moved_at=func.now())  # the clock leaves it time to begin
    )
    return True


def got_on(session: Session, import_id: int) -> None:
    """Something has come of it, or an admin has looked at it: its tries are counted anew."""
    session.execute(update(Import).where(Import.id == import_id).values(tries=0))


def latest() -> list[tuple[Import, str]]:
    """The latest imports with the names of those who began them, the newest first."""
    found = (
        select(Import, Account.name)
        .outerjoin(Account, Account.id == Import.account_id)
        .order_by(Import.id.desc())
        .limit(SHOWN)
    )
    with transaction() as session:
        return [(each, name or "") for each, name in session.execute(found)]


def expire(session: Session) -> None:
    """Forget what was sent and looked at long ago; that there was an import stays."""
    old = Import.expires_at < datetime.now(UTC)
    ended = select(Import.id).where(old, Import.state.in_(UNDONE))
    for found in session.scalars(ended):
        if move(session, found, "discarded", of=UNDONE):
            clear(session, found, (*SENT, *FOUND))
    for state, tables in (("done", (ImportChange,)), ("failed", (*SENT, ImportChange))):
        ended = select(Import.id).where(old, Import.state == state)
        for table in tables:
            rows = Base.metadata.tables[table.__tablename__]
            session.execute(delete(rows).where(rows.c.import_id.in_(ended)))


def has_files(session: Session, import_id: int) -> bool:
    """Whether what was sent is still kept, so that it can be read again."""
    parts = select(ImportPart.position).where(ImportPart.import_id == import_id)
    return session.execute(parts.limit(1)).first() is not None


def give_up_commands(session: Session) -> None:
    """Wait no longer for a command that was killed: nobody could call it again."""
    found, why = busy(session), ImportFailedError(_k("It was interrupted."))
    # Where only seats are left, nothing is given up: they follow with the next command.
    if found is None or found.account_id or found.state == "seating":
        return
    if found.moved_at < datetime.now(UTC) - SETTLED and not at_work(session):
        move(session, found.id, "failed", of=BUSY, error=why.stored)


def clear(session: Session, import_id: int, tables: Iterable[type[Base]]) -> None:
    """Forget the rows of an import in those tables."""
    for table in tables:
        rows = Base.metadata.tables[table.__tablename__]  # the ORM would fetch every key
        session.execute(delete(rows).where(rows.c.import_id == import_id))


def state_of(session: Session, found: Import) -> str:
    """The state to show: `stuck` where a worker should be at it and none has been for a while.

    And `stopped` where one should not, as it would only meet the same trouble.
    """
    if found.state == "seating" and found.error:
        return "stopped"
    waited = datetime.now(UTC) - found.moved_at
    if found.state in BUSY and waited > SETTLED and not at_work(session):
        return "stuck"
    return found.state
