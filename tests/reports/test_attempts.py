"""What a student asked for first, and when the seat came, out of what really happens."""

import pytest

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.types import AdminAdjustment, Claim, LedgerChoice, WindowView
from portal.people.models import Student
from portal.recorder.events import IMPORT_PREFIX
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.reports.window_history import Attempts, read_history
from portal.windows.models import Window
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim, submit
from tests.web.admin.windows.windows import drops


@pytest.fixture
def term(cast: Cast) -> Term:
    assert cast
    return builders.a_term()


@pytest.fixture
def window(term: Term) -> WindowView:
    return builders.an_open_window(term)


@pytest.fixture
def full(term: Term, cast: Cast, window: WindowView) -> Section:
    """A section whose only seat is Dan's, with a place in line."""
    made = builders.a_section(builders.a_course("CSC-1"), term, capacity=1, waitlist=1)
    claim(cast.dan, made, window)
    return made


@pytest.fixture
def wide(term: Term) -> Section:
    return builders.a_section(builders.a_course("CSC-2"), term, capacity=10)


def attempts(student: Student, window: WindowView, term: Term) -> Attempts:
    drain(term.id)
    with transaction() as session:
        return read_history(session, session.get_one(Window, window.id), 10**9).attempts[student.id]


def submits(
    student: Student, options: list[Section], window: WindowView, *, wait: bool = False
) -> None:
    """One wish with fallbacks."""
    wished = tuple((Claim(each.id, 400),) for each in options)
    submit(
        backend().ledger,
        options[0].term_id,
        [LedgerChoice(wished, wait)],
        student=student.id,
        credit_limit=9900,
        windows=[window.id],
    )


def test_a_seat_at_once_took_no_time(
    cast: Cast, wide: Section, window: WindowView, term: Term
) -> None:
    claim(cast.ada, wide, window)
    found = attempts(cast.ada, window, term)
    assert (found.first, found.wait, found.seats) == (wide.id, 0, {wide.id})


def test_another_seat_is_not_the_first_choice(
    cast: Cast, full: Section, wide: Section, window: WindowView, term: Term
) -> None:
    claim(cast.ada, full, window, wait=False)
    claim(cast.ada, wide, window)
    found = attempts(cast.ada, window, term)
    assert (found.first, found.wait, found.seats) == (full.id, None, {wide.id})
    assert found.refusals == {"full": 1}


def test_a_promotion_is_the_end_of_the_wait(
    cast: Cast, full: Section, window: WindowView, term: Term
) -> None:
    claim(cast.ada, full, window)
    drops(cast.dan, full, window)
    promote(term.id, "tests")
    found = attempts(cast.ada, window, term)
    assert found.wait is not None
    assert found.wait >= 0
    assert attempts(cast.dan, window, term).seats == set()


def test_an_alternative_is_not_the_first_choice(
    cast: Cast, full: Section, wide: Section, window: WindowView, term: Term
) -> None:
    submits(cast.ada, [full, wide], window)
    assert attempts(cast.ada, window, term).first == full.id


def test_a_fallback_that_is_refused_before_a_place_in_line_is_not_it_either(
    cast: Cast, full: Section, term: Term, window: WindowView
) -> None:
    none = builders.a_section(builders.a_course("CSC-3"), term, capacity=0, waitlist=0)
    submits(cast.ada, [full, none], window, wait=True)
    found = attempts(cast.ada, window, term)
    assert found.first == full.id
    assert found.requests == 2


def test_what_came_before_the_opening_is_not_counted(
    cast: Cast, wide: Section, window: WindowView, term: Term
) -> None:
    claim(cast.ada, wide, window)
    later = builders.an_open_window(term)
    claim(cast.ben, wide, later)
    assert not attempts(cast.ada, later, term).requests
    assert attempts(cast.ben, later, term).requests


def test_a_seat_by_hand_or_from_an_import_is_no_ask_and_ends_no_wait(
    cast: Cast, full: Section, wide: Section, window: WindowView, term: Term
) -> None:
    claim(cast.ada, full, window)
    for student, section, from_where in (
        (cast.ada, full, "tests"),
        (cast.ben, wide, f"{IMPORT_PREFIX}7"),
    ):
        change = AdminAdjustment(
            student.id, Claim(section.id, 400), None, 9900, (window.id,), (), 9
        )
        answer = backend().ledger.adjust(
            term.id,
            change,
            overrides=("full", "waitlist_full"),
            reason="a late request",
            idempotency_key=None,
            actor="account:9",
            correlation=from_where,
        )
        assert answer.outcome == "enrolled"
    found = attempts(cast.ada, window, term)
    assert (found.requests, found.wait, found.seats) == (1, None, set())
    assert not attempts(cast.ben, window, term).requests
