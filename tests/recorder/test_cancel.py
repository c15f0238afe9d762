"""A cancellation is recorded, and the promoter finishes an interrupted one."""

import pytest
from sqlalchemy import select

from portal.backend import Backend
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.recorder import odds
from portal.recorder.consistency.audit import audit_term
from portal.recorder.models import Enrollment, WaitlistEntry
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from tests.recorder.rush import Rush, a_rush, claims, spec


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Return a section with five students and three on the waitlist."""
    rush = a_rush(sections=2, students=8, capacity=5, waitlist=5)
    claims(rush, [(student, rush.sections[0]) for student in rush.students])
    return rush


def cancel(backend: Backend, rush: Rush) -> None:
    canceled = spec(rush.sections[0], status="CANCELED", version=2)
    backend.ledger.put_section(rush.term, canceled)


def states(rush: Rush) -> tuple[set[str], set[str]]:
    drain(rush.term, seconds=0)
    with transaction() as session:
        seats = session.scalars(select(Enrollment.state)).all()
        places = session.scalars(select(WaitlistEntry.state)).all()
    return set(seats), set(places)


def test_cancellation_is_recorded_and_frees_no_seat_for_the_odds(
    backend: Backend, rush: Rush
) -> None:
    cancel(backend, rush)
    assert states(rush) == ({"dropped"}, {"left"})
    report = audit_term(rush.term)
    assert report["clean"], report["differences"]
    tally = odds.read_freed_seats(rush.term).term
    assert (tally.seats, sum(moves.freed for moves in tally.hours.values())) == (0, 0)


def test_promoter_continues_a_cancellation_of_a_killed_process(
    backend: Backend, rush: Rush, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dead(*_: object) -> None:
        raise LedgerUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(backend.ledger, "empty", dead)
        patch.setattr(backend.ledger, "at_once", 2)
        cancel(backend, rush)
    assert states(rush) == ({"enrolled"}, {"left", "waiting"})
    assert audit_term(rush.term)["clean"]
    backend.redis.delete("rq:queue:promote")
    sweeper = Sweeper()
    sweeper.read_terms()
    sweeper.enqueue_due()
    assert backend.redis.llen("rq:queue:promote") == 1
    promote(rush.term, "tests")
    assert states(rush) == ({"dropped"}, {"left"})
    assert backend.ledger.emptying(rush.term) == set()
    assert audit_term(rush.term)["clean"]
