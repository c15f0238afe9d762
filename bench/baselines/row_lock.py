"""The portal with a row lock in place of the ledger: SELECT ... FOR UPDATE on the section's row.

It is tuned like a production system. A transaction has two statements, both by key, and keeps the
lock as briefly as possible. It uses a pool of 20 connections per process, as the portal does. But a
claim may wait longer for one: some wait for more than 3 s, because others overtake them.
"""

import time
from collections.abc import Iterable
from typing import Any

from flask import Flask
from sqlalchemy import create_engine, text

from portal.app import create_app
from portal.backend import backend
from portal.core.db import transaction, use, with_driver
from portal.core.settings import Settings
from portal.ledger.client import Ledger
from portal.ledger.types import (
    ChoiceResult,
    Decision,
    HeldSeat,
    Outcome,
    Reason,
    Registrations,
    RequestContext,
    SeatCounts,
    SubmissionResult,
    WaitlistPosition,
)

TABLES = """
CREATE TABLE IF NOT EXISTS row_lock_sections (
    id integer PRIMARY KEY, capacity integer NOT NULL, taken integer NOT NULL,
    waiting integer NOT NULL, waitlist integer NOT NULL);
CREATE TABLE IF NOT EXISTS row_lock_events (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, section integer NOT NULL,
    student integer NOT NULL, outcome text NOT NULL, place integer NOT NULL,
    at timestamptz NOT NULL DEFAULT now(), UNIQUE (section, student))
"""
LOCK = text(
    "SELECT capacity, taken, waiting, waitlist FROM row_lock_sections"
    " WHERE id = :section FOR UPDATE"
)
TAKE = text(
    "WITH event AS (INSERT INTO row_lock_events (section, student, outcome, place)"
    " VALUES (:section, :student, :outcome, :place) RETURNING seq)"
    " UPDATE row_lock_sections SET taken = :taken, waiting = :waiting FROM event"
    " WHERE id = :section RETURNING event.seq"
)

# The same for pgbench, which counts the turns of each connection and has only numeric variables.
SCRIPT = f"""
\\set turn :turn + 1
\\set section {{section}}
\\set student (:client_id + 1) * 1000000 + :turn
BEGIN;
{LOCK} \\gset
\\set free :taken < :capacity
\\if :free
  \\set taken :taken + 1
  \\set outcome 1
\\else
  \\set waiting :waiting + 1
  \\set outcome 2
\\endif
\\set place :waiting
{TAKE};
COMMIT;
"""


def prepare() -> None:
    """Create the tables of the row lock."""
    with transaction() as db:
        db.execute(text(TABLES))


def offer(sections: Iterable[SeatCounts]) -> None:
    """Insert sections without any claims."""
    row = "INSERT INTO row_lock_sections VALUES (:section, :capacity, 0, 0, :waitlist)"
    rows = [
        {"section": each.section, "capacity": each.capacity, "waitlist": each.waitlist_capacity}
        for each in sections
    ]
    with transaction() as db:
        db.execute(text(row), rows)


class RowLock(Ledger):
    """A ledger whose claims PostgreSQL decides, one at a time per section."""

    def submit(self, context: RequestContext, *, choices: Any, **_options: Any) -> SubmissionResult:
        """Give a seat, or else a waitlist position."""
        [[part]] = choices[0].alternatives
        with transaction() as db:
            key = {"section": part.section, "student": context.student}
            capacity, taken, waiting, waitlist = db.execute(LOCK, key).one()
            if taken < capacity:
                outcome, position, taken = Outcome.ENROLLED, 0, taken + 1
            elif waiting < waitlist:
                outcome, position, waiting = Outcome.WAITLISTED, waiting + 1, waiting + 1
            else:
                return _refused(part.section)
            decided = {
                "outcome": outcome.value,
                "place": position,
                "taken": taken,
                "waiting": waiting,
            }
            seq = db.execute(TAKE, key | decided).scalar_one()
        counts = SeatCounts(part.section, capacity, taken, waiting, waitlist, "OPEN", seq)
        return _decision(part.section, part.credits, outcome, position, counts)


def _decision(
    section: int, worth: int, outcome: Outcome, position: int, counts: SeatCounts
) -> SubmissionResult:
    at = int(time.time() * 1000)
    held, waits = (), ()
    if outcome is Outcome.ENROLLED:
        held = (HeldSeat(section, worth, counts.seq, at),)
    else:
        waits = (WaitlistPosition(section, worth, counts.seq, at, position, counts.waiting),)
    answer = Decision(outcome, at, counts.seq, section, counts.seq, position, seats=counts)
    return SubmissionResult(
        at, (ChoiceResult(outcome, 1, (answer,)),), registrations=Registrations(held, waits)
    )


def _refused(section: int) -> SubmissionResult:
    at, why = int(time.time() * 1000), (Reason("full"),)
    answer = Decision(Outcome.REFUSED, at, section=section, reasons=why)
    return SubmissionResult(at, (ChoiceResult(Outcome.REFUSED, refused=((answer,),)),))


def app() -> Flask:
    """Return the portal with this ledger, for a server to run.

    Its engine waits longer for a connection than the portal's, and its statements have no timeout.
    """
    portal, parts = create_app(Settings.read()), backend()
    parts.engine = create_engine(
        with_driver(parts.settings.database_url), pool_size=20, max_overflow=0, pool_timeout=60
    )
    use(parts.engine)
    parts.ledger = RowLock(parts.ledger.servers, parts.settings.replicas)
    return portal
