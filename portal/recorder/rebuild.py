"""The read models made anew from the event log, while pages and claims go on."""

from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.recorder import answered, tables
from portal.recorder.checkpoint import recorded
from portal.recorder.differences import Difference, of_log, of_read_models
from portal.recorder.fold import Tell, damage, fold, nobody, replay
from portal.recorder.models import Checkpoint
from portal.recorder.project import State

# Nobody else can record the term meanwhile: claims go on, and the journal grows.
PATIENT = (
    "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '10min';"
    " SET LOCAL idle_in_transaction_session_timeout = '10min'"
)


class LogDamaged(Exception):  # noqa: N818  a state of the world, not a mistake
    """Events are missing or unreadable: what follows from the log is not what happened."""

    def __init__(self, differences: list[Difference]) -> None:
        super().__init__(", ".join(f"{each['what']}: {each['log']}" for each in differences[:5]))
        self.differences = differences


@dataclass(frozen=True)
class Rebuilt:
    """How many events were replayed, and what the read models had told otherwise."""

    events: int
    differences: list[Difference]


def rebuild(term: int, tell: Tell = nobody) -> Rebuilt:
    """Have the read models tell what follows from the event log, all of it or nothing.

    Only rows that differ are written, in one transaction under the recorder's lock: pages see the
    old rows, then the new ones. Raises LogDamaged.
    """
    state = State()
    known = replay(term, state, recorded(term), tell)
    with transaction() as session:
        session.execute(text(PATIENT))
        through = _lock(session, term)
        fold(session, term, state, known, through)
        refuse_damaged(state)
        tell("comparing", through, through)
        found = tables.load_all(session, term)
        differences = list(of_read_models(state, found))
        tables.replace(session, term, state, found)
        answered.keep_lost(session, term)
    return Rebuilt(through, differences)


def refuse_damaged(state: State) -> None:
    """Raise LogDamaged where the log has lost events, or some that can't be read."""
    if damaged := damage(state):
        raise LogDamaged(list(of_log(State(contradictions=damaged))))


def _lock(session: Session, term: int) -> int:
    """The checkpoint of the term, held against its recorder until the transaction ends."""
    found = select(Checkpoint.seq).where(Checkpoint.term_id == term).with_for_update()
    return session.scalar(found) or 0
