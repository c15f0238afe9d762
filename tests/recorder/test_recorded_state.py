"""The recorded seats, positions, windows and drops equal the ledger's."""

import pytest

from portal.backend import Backend
from portal.recorder import recorded_state
from portal.recorder.recorder import drain
from tests.recorder.random_actions import storm
from tests.recorder.rush import Rush, a_rush


@pytest.fixture(params=(31, 32))
def rush(backend: Backend, request: pytest.FixtureRequest) -> Rush:  # noqa: ARG001
    """Return a recorded term with every kind of event."""
    rush = a_rush(sections=4, students=12, capacity=3, waitlist=4)
    storm(rush, request.param, 200)
    drain(rush.term, seconds=0)
    return rush


def test_recorded_seats_equal_the_ledgers(backend: Backend, rush: Rush) -> None:
    seats = backend.ledger.seats(rush.term)
    assert any(each.waiting for each in seats.values())
    assert recorded_state.seats(rush.term) == seats
    some = rush.sections[1:3]
    assert recorded_state.seats(rush.term, some) == backend.ledger.seats_of(rush.term, some)


def test_recorded_reserved_seats_equal_the_ledgers(backend: Backend, rush: Rush) -> None:
    for section in rush.sections:
        assert recorded_state.reserved(rush.term, section) == backend.ledger.reserved(
            rush.term, section
        )


def test_recorded_students_equal_the_ledgers(backend: Backend, rush: Rush) -> None:
    for student in rush.students:
        assert recorded_state.registrations(rush.term, student) == backend.ledger.registrations(
            rush.term, student
        )
        assert recorded_state.drops(rush.term, student) == backend.ledger.drops(rush.term, student)


def test_recorded_windows_equal_the_ledgers(backend: Backend, rush: Rush) -> None:
    windows = backend.ledger.windows(rush.term)
    assert len(windows) > 1
    assert recorded_state.windows(rush.term) == windows


def test_unknown_sections_and_students_are_empty(rush: Rush) -> None:
    assert recorded_state.seats(rush.term, [0]) == {}
    assert recorded_state.reserved(rush.term, 0) == {}
