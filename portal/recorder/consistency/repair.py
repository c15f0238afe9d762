"""Rebuild: the read models made again from the event log, while pages and claims go on."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.core.checkpoints import Checkpoint, checkpoint
from portal.core.db import transaction
from portal.recorder import idempotency, read_models
from portal.recorder.consistency.differences import Difference, of_log, of_read_models
from portal.recorder.event_log import ProgressCallback, damage, fold, no_progress, replay
from portal.recorder.projections import TermState

# No other worker can record the term meanwhile: claims go on, and the journal grows.
PATIENT = (
    "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = '10min';"
    " SET LOCAL idle_in_transaction_session_timeout = '10min'"
)


class LogDamaged(Exception):
    """Events are missing or unreadable, so the log does not show what happened."""

    def __init__(self, differences: list[Difference]) -> None:
        super().__init__(", ".join(f"{each['what']}: {each['log']}" for each in differences[:5]))
        self.differences = differences


@dataclass(frozen=True)
class Rebuilt:
    """The number of replayed events, and the differences found in the read models."""

    events: int
    differences: list[Difference]


def rebuild(term: int, progress: ProgressCallback = no_progress) -> Rebuilt:
    """Make the read models match the event log, in full or not at all.

    Only rows that differ are written, in one transaction under the recorder's lock. Pages see the
    old rows, then the new ones. Raises LogDamaged.
    """
    state = TermState()
    known = replay(term, state, checkpoint(term), progress)
    with transaction() as session:
        session.execute(text(PATIENT))
        # No recorder of the term can go on until the transaction ends.
        locked = select(Checkpoint.seq).where(Checkpoint.term_id == term).with_for_update()
        through = session.scalar(locked) or 0
        fold(session, term, state, known, through)
        refuse_damaged(state)
        progress("comparing", through, through)
        found = read_models.load_all(session, term)
        differences = list(of_read_models(state, found))
        read_models.replace(session, term, state, found)
        idempotency.store_lost(session, term)
    return Rebuilt(through, differences)


def refuse_damaged(state: TermState) -> None:
    """Raise LogDamaged if the log has lost or unreadable events."""
    if damaged := damage(state):
        raise LogDamaged(list(of_log(TermState(contradictions=damaged))))


# Differences sorted by their repair, and events brought back from a backup.

EVENTS_PER_STATEMENT = 1000
OF_LEDGER = ("ledger", "journal")
OF_SEATS = {"ledger roster": "enrollments", "ledger windows": "windows"}

# The backup's events that the log lacks or holds differently.
UNLIKE = """
    FROM json_populate_recordset(NULL::events, CAST(:rows AS json)) kept
    WHERE kept.term_id = :term
      AND kept.seq <= (SELECT seq FROM checkpoints WHERE term_id = :term)
      AND NOT EXISTS (
        SELECT FROM events known WHERE known.term_id = kept.term_id AND known.seq = kept.seq
        AND (known.name, known.version, known.aggregate, known.payload, known.context)
          = (kept.name, kept.version, kept.aggregate, kept.payload, kept.context)
        AND (known.occurred_at, known.student_id) IS NOT DISTINCT FROM
            (kept.occurred_at, kept.student_id))
"""


@dataclass(frozen=True)
class Repairs:
    """What repairs the differences of a term; `log` needs a backup and comes first."""

    log: list[Difference] = field(default_factory=list)
    record: list[Difference] = field(default_factory=list)
    ledger: list[Difference] = field(default_factory=list)


def repairs(differences: Iterable[Difference]) -> Repairs:
    """Return the differences sorted by what repairs them.

    If ledger and read models agree against the log, the log was altered: they must not follow it.
    """
    found, pairs = Repairs(), {(each["where"], each["what"]) for each in differences}
    for each in differences:
        where, what = each["where"], each["what"]
        both = (OF_SEATS.get(where, ""), what.replace("window ", "id ")) in pairs
        if where == "event log" or both:
            found.log.append(each)
        elif where.startswith(OF_LEDGER):
            found.ledger.append(each)
        else:
            found.record.append(each)
    return found


def seen_twice(first: Iterable[Difference], again: Iterable[Difference]) -> list[Difference]:
    """Return what differs both times; a single difference was read in the middle of a change."""

    def key(difference: Difference) -> tuple[str, str]:
        where, what = difference["where"], difference["what"]
        # The text of the journal names the progress, which changes.
        return where, "" if where.startswith("journal") else what

    known = set(map(key, first))
    return [each for each in again if key(each) in known]


def differing_events(session: Session, term: int, rows: list[str]) -> list[int]:
    """Return which of the events (lines of JSON) the log lacks or holds differently."""
    found: list[int] = []
    for lines in _batches(rows):
        parameters = {"term": term, "rows": lines}
        found += session.scalars(text(f"SELECT kept.seq {UNLIKE} ORDER BY 1"), parameters)
    return found


def bring_back(session: Session, term: int, rows: list[str]) -> None:
    """Write those events into the log unchanged; needs a superuser of PostgreSQL."""
    # otherwise it is append-only
    session.execute(text("SET LOCAL session_replication_role = replica"))
    for lines in _batches(rows):
        session.execute(
            text(
                f"INSERT INTO events SELECT kept.* {UNLIKE}"
                " ON CONFLICT (term_id, seq) DO UPDATE SET name = excluded.name,"
                " version = excluded.version, aggregate = excluded.aggregate,"
                " student_id = excluded.student_id, payload = excluded.payload,"
                " context = excluded.context, occurred_at = excluded.occurred_at"
            ),
            {"term": term, "rows": lines},
        )


def _batches(rows: list[str]) -> Iterable[str]:
    for start in range(0, len(rows), EVENTS_PER_STATEMENT):
        yield f"[{','.join(rows[start : start + EVENTS_PER_STATEMENT])}]"
