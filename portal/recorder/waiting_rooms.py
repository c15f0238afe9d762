"""The waiting rooms as recorded: who came, in which order, and who was admitted."""

from collections.abc import Mapping

from portal.core.moments import milliseconds
from portal.recorder.projections import Row, TermState
from portal.waiting_room import draw_codes


def entries_in_order(state: TermState, window: int) -> list[tuple[float, Row]]:
    """Return the entries of a room with their scores, the first in the queue first.

    The score is the rank in the draw for those who came early, and the number of the others.
    """
    room = state.queue_rooms[window]
    rows = (row for (of, _), row in state.queue_entries.items() if of == window)
    found = [row for row in rows if row["state"] != "removed"]
    scored = [(score_of(room, row), row) for row in found]
    return sorted(scored, key=lambda each: (each[0], each[1]["entry"]))


def score_of(room: Row, row: Row) -> float:
    """Return the score of an entry in its room."""
    early: float = row["number"] or draw_codes.score(room, row["student_id"], row["entry"])
    return early


def arrivals(state: TermState, window: int) -> tuple[list[int], Mapping[int, int]] | None:
    """Return the early students in queue order, and the arrival time (ms) of each late student.

    None if the record of the room is incomplete, or if there is none.
    """
    if not state.queue_rooms.get(window, {}).get("complete"):
        return None
    early: list[int] = []
    late: dict[int, int] = {}
    for _, row in entries_in_order(state, window):
        if row["number"]:
            late.setdefault(row["student_id"], milliseconds(row["since"]))
        else:
            early.append(row["student_id"])
    return early, late
