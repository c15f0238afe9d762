"""Set up a waiting room: its limits, its opening, and events in the past."""

import json
import time
from datetime import timedelta
from typing import Any

from sqlalchemy import func, update

from portal.backend import Backend
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.waiting_room import room
from portal.waiting_room.draw_codes import DrawCodes
from tests import cast as builders


def limits(term: Any, window: WindowView, per_minute: int = 6000, at_once: int = 3000) -> None:
    room.set_limits(term.id, window.id, per_minute, at_once, off=False)


def open_now(term: Any, window: WindowView, patience: float = 60) -> None:
    """Open an upcoming window after early students have come."""
    builders.open_soon(term, window, seconds=0.05)
    deadline = time.monotonic() + patience
    while room.state(term.id, window.id).phase != "open":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def known_in(window: WindowView, minutes: float) -> None:
    """Move the moment of the public value of a draw, as if time had passed."""
    at = func.clock_timestamp() + timedelta(minutes=minutes)
    with transaction() as session:
        where = DrawCodes.window_id == window.id
        session.execute(update(DrawCodes).where(where).values(public_at=at))


def key(term: Any, window: WindowView, kind: str = "") -> str:
    """Return a key of a room."""
    return f"{{t:{term.id}}}:room:{window.id}{kind and ':' + kind}"


def stored_window(window: WindowView) -> str:
    """Return the window as the ledger stores it."""
    facts = {"name": window.name, "opens": window.opens, "closes": window.closes}
    return json.dumps({**facts, "state": "scheduled", "cohort": {}})


def asleep(backend: Backend, term: Any, window: WindowView, request: str) -> None:
    """Move the last sign of life of a request into the past."""
    backend.redis.zadd(key(term, window, "seen"), {request: 1})


def visit_over(backend: Backend, term: Any, window: WindowView, student: int) -> None:
    """End a visit."""
    backend.redis.zadd(key(term, window, "in"), {str(student): 1})
