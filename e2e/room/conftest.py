"""A window with a waiting room that admits no one until a story does."""

from collections.abc import Callable

import pytest

from portal.catalog.models import Term
from portal.ledger.types import WindowView
from portal.waiting_room import room
from tests import cast as builders

Admit = Callable[[int], object]


@pytest.fixture
def window(term: Term) -> WindowView:
    """Return an open window; its waiting room admits no one."""
    found = builders.an_open_window(term)
    room.set_limits(term.id, found.id, 6000, 0, off=False)
    return found


@pytest.fixture
def admit(term: Term, window: WindowView) -> Admit:
    """Lets so many be in at once from now on."""
    return lambda number: room.set_limits(term.id, window.id, 6000, number, off=False)


@pytest.fixture
def crowd(term: Term, window: WindowView) -> list[int]:
    """Others who wait already, and whose pages are closed by now."""
    found = list(range(900_000, 900_005))
    for student in found:
        room.enter(term.id, window.id, student)
    return found
