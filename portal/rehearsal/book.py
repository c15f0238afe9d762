"""Which rehearsals there are: one at a time, each played by one process, none left half done."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import case, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.correlation import cause
from portal.core.db import transaction
from portal.ops.dead import KEPT
from portal.people.models import AuditEntry
from portal.rehearsal import term, way
from portal.rehearsal.models import Rehearsal
from portal.seats.errors import LedgerUnavailable

QUEUE, JOB = "errands", "jobs.errands.rehearse"
MOST_STUDENTS, FEWEST_STUDENTS = 500, 2
LONGEST, SHORTEST = 120 * 60, 20  # seconds of one
AROUND = 10 * 60  # seconds for what comes before and after
STILL = timedelta(minutes=2)  # after which one that has not moved has lost its process
BEAT = 20.0  # seconds between two signs of life of its process, whatever it is at
LOST = "Its process was lost."
UNMET = timedelta(hours=1)  # after which no worker will come to one that waits for one
UNDER_WAY = Rehearsal.busy.is_(True)


def begin(
    session: Session, students: int, seconds: int, by: int | None, *, anyway: bool = False
) -> int | None:
    """A new one, to be played once this is committed; None while another is under way.

    Raises ValueError for more than there may be, and way.WindowInTheWay while real students choose
    seats or will before it is over, unless it is to be played `anyway`.
    """
    if not (FEWEST_STUDENTS <= students <= MOST_STUDENTS and SHORTEST <= seconds <= LONGEST):
        raise ValueError(f"{students} students, {seconds} seconds")
    tidy(session)
    if not anyway:
        way.clear(session, seconds + AROUND)
    facts = {"students": students, "seconds": seconds}
    wanted = insert(Rehearsal).values(**facts, account_id=by, busy=True, step="waiting")
    number = session.scalar(
        wanted.on_conflict_do_nothing(index_elements=["busy"]).returning(Rehearsal.id)
    )
    if number:
        session.add(_entry("rehearsal.begin", number, by, facts))
    return number


def tidy(session: Session) -> None:
    """Let go of one whose process was killed, and of what was made for it."""
    patience = case((Rehearsal.step == "waiting", UNMET), else_=STILL)
    lost = update(Rehearsal).where(UNDER_WAY, Rehearsal.moved_at < func.now() - patience)
    ended = lost.values(busy=None, ended_at=func.now(), error=LOST)
    for number in session.scalars(ended.returning(Rehearsal.id)):
        term.retire(session, number)


def call(number: int, seconds: int) -> None:
    """Call a worker to it; raises LedgerUnavailable where none can be called."""
    queue = Queue(QUEUE, connection=backend().redis, serializer=JSONSerializer)
    try:
        queue.enqueue(
            JOB,
            number,
            job_id=f"rehearsal-{number}",
            job_timeout=seconds + AROUND,
            result_ttl=0,
            failure_ttl=KEPT,
            meta=cause(),
        )
    except RedisError as error:
        end(number, error="No worker could be called.")
        raise LedgerUnavailable(str(error)) from error


def take(number: int) -> Rehearsal | None:
    """Begin to play it; None where it was begun or given up before."""
    mine = update(Rehearsal).where(Rehearsal.id == number, UNDER_WAY, Rehearsal.step == "waiting")
    with transaction() as session:
        taken = mine.values(step="making", moved_at=func.now()).returning(Rehearsal)
        return session.scalar(taken)


def note(number: int, **facts: Any) -> bool:
    """Note how it stands; whether it may go on."""
    mine = update(Rehearsal).where(Rehearsal.id == number, UNDER_WAY)
    with transaction() as session:
        changed = mine.values(moved_at=func.now(), **facts).returning(Rehearsal.stopping)
        return session.scalar(changed) is False


@contextmanager
def beating(number: int, every: float = BEAT) -> Iterator[None]:
    """A block in which it is known not to be lost, however long a step of it takes."""
    over = Event()

    def beat() -> None:
        while not over.wait(every):
            with suppress(SQLAlchemyError):  # until the next one
                note(number)

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def stop(session: Session, number: int, by: int | None) -> bool:
    """Have it end at once; whether it was under way."""
    mine = update(Rehearsal).where(Rehearsal.id == number, UNDER_WAY)
    stopped = session.scalar(mine.values(stopping=True).returning(Rehearsal.id))
    if stopped:
        session.add(_entry("rehearsal.stop", number, by))
    return bool(stopped)


def end(number: int, **facts: Any) -> None:
    """End it, with what came of it, and let go of what was made for it."""
    mine = update(Rehearsal).where(Rehearsal.id == number, UNDER_WAY)
    over = {"busy": None, "ended_at": func.now(), "moved_at": func.now(), **facts}
    with transaction() as session:
        session.execute(mine.values(over))
        term.retire(session, number)


def latest(session: Session, count: int) -> list[Rehearsal]:
    """The last ones, the latest first."""
    return list(session.scalars(select(Rehearsal).order_by(Rehearsal.id.desc()).limit(count)))


def _entry(
    action: str, number: int, by: int | None, after: dict[str, Any] | None = None
) -> AuditEntry:
    subject, reason = f"rehearsal:{number}", "" if by else "command line"
    return AuditEntry(account_id=by, action=action, subject=subject, after=after, reason=reason)
