"""A canceled section gives its seats up in the record too; the promoter ends what was begun."""

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
    """A section with five seats taken and three in line."""
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


def test_the_record_agrees_and_no_seat_counts_as_freed(backend: Backend, rush: Rush) -> None:
    cancel(backend, rush)
    assert states(rush) == ({"dropped"}, {"left"})
    report = audit_term(rush.term)
    assert report["clean"], report["differences"]
    tally = odds.read_freed_seats(rush.term).term
    assert (tally.seats, sum(moves.freed for moves in tally.hours.values())) == (0, 0)


def test_the_promoter_goes_on_where_the_first_process_died(
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
    sweeper.look()
    sweeper.call()
    assert backend.redis.llen("rq:queue:promote") == 1
    promote(rush.term, "tests")
    assert states(rush) == ({"dropped"}, {"left"})
    assert backend.ledger.emptying(rush.term) == set()
    assert audit_term(rush.term)["clean"]
