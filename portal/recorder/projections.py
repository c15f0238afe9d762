"""Projections: how each event changes the read models. Only this module knows both."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from portal.core.moments import milliseconds, moment
from portal.recorder.events import Event

Row = dict[str, Any]
Pair = tuple[int, int]  # section, student


class UnknownEvent(Exception):
    """An event that this version of the portal cannot read: it must not be skipped."""


@dataclass
class TermState:
    """Rows of the read models by their keys within a term: all, or those loaded."""

    seats: dict[int, Row] = field(default_factory=dict)
    enrollments: dict[Pair, Row] = field(default_factory=dict)
    waitlist: dict[Pair, Row] = field(default_factory=dict)
    windows: dict[int, Row] = field(default_factory=dict)
    queue_rooms: dict[int, Row] = field(default_factory=dict)
    queue_entries: dict[tuple[int, str], Row] = field(default_factory=dict)  # by window and entry
    skipped: set[Pair] = field(default_factory=set)  # keys of skipped waitlist entries
    pools: dict[int, set[int]] = field(default_factory=dict)  # sections by seat pool
    contradictions: list[tuple[int, str]] = field(default_factory=list)  # seq, problem

    def sharing(self, row: Row) -> list[Row]:
        """Return the counts of all sections in this section's pool, including its own."""
        return [self.seats[section] for section in self.pools.get(row["pool_id"] or 0, ())]

    def counted(self, row: Row) -> dict[str, Any]:
        """Return the counts that the ledger must report for a section."""
        own = counts(row)
        if not row["pool_id"]:
            return own
        used = sum(map(taken, self.sharing(row)))
        return own | {"pool_capacity": row["pool_capacity"], "pool_taken": used}

    def applied(self, event: Event) -> None:
        """Let subclasses use an applied event; do nothing here."""


def apply(state: TermState, event: Event) -> None:
    """Apply one event to the state; raise UnknownEvent."""
    change = CHANGES.get((event.name, event.version))
    if change is None:
        raise UnknownEvent(f"event {event.seq}: {event.name} version {event.version}")
    change(state, event)
    state.applied(event)


def _section_set(state: TermState, event: Event) -> None:
    payload = event.payload
    row = state.seats.setdefault(payload["section"], EMPTY_COUNTS | {"reserved": {}})
    state.pools.get(row.get("pool_id") or 0, set()).discard(payload["section"])
    row |= settings(payload)
    if row["pool_id"]:
        state.pools.setdefault(row["pool_id"], set()).add(payload["section"])
    for sharing in state.sharing(row):
        sharing["pool_capacity"] = payload["seats"].get("pool_capacity")
    _retry_skipped(state, event)
    _count(state, event)


def _enrolled(state: TermState, event: Event) -> None:
    _enroll(state, event, "enrolled")
    _count(state, event, enrolled=1)


def _dropped(state: TermState, event: Event) -> None:
    _enroll(state, event, "dropped")
    _retry_skipped(state, event)
    _count(state, event, enrolled=-1)


def _waiting_again(state: TermState, event: Event) -> None:
    _retry_skipped(state, event, event.payload.get("student"))
    _count(state, event)


def _waitlisted(state: TermState, event: Event) -> None:
    payload = event.payload
    stored = {
        "ticket": payload["ticket"],
        "credits": payload["credits"],
        "instead": payload.get("instead"),
        "band": payload.get("band", 1),
    }
    _move(state, event, "waiting", since=event.at, **stored)
    _count(state, event, waiting=1)


def _swap_planned(state: TermState, event: Event) -> None:
    if (event.payload["section"], event.payload["student"]) in state.waitlist:
        _move(state, event, "waiting", instead=event.payload["instead"])
    else:
        state.contradictions.append((event.seq, "a swap planned, but never waited"))
    _count(state, event)


def _left(state: TermState, event: Event) -> None:
    _move(state, event, "left")
    _count(state, event, waiting=-1)


def _promoted(state: TermState, event: Event) -> None:
    _move(state, event, "promoted")
    _enroll(state, event, "enrolled")
    _count(state, event, enrolled=1, waiting=-1)


def _skipped(state: TermState, event: Event) -> None:
    _move(state, event, "passed", reasons=event.payload["reasons"])
    _count(state, event)


def _nothing(state: TermState, event: Event) -> None:
    """Change no read model: a refusal is its own receipt; deadlines and rounds have tables."""


def _window_set(state: TermState, event: Event) -> None:
    payload = event.payload
    state.windows[payload["window"]] = {
        "id": payload["window"],
        "name": payload["window_name"],
        "opens_at": moment(payload["opens"]),
        "closes_at": moment(payload["closes"]),
        "state": payload["state"],
        "cohort": payload["cohort"],
        "seq": event.seq,
    }


def _window_turned(state: TermState, event: Event) -> None:
    row = state.windows.get(event.payload["window"])
    if row is None:
        state.contradictions.append((event.seq, f"no window {event.payload['window']}"))
    else:
        row["seq"] = event.seq


def _queue_begun(state: TermState, event: Event) -> None:
    """Store the room. If its queue is empty, nothing recorded before is in it: it was reset."""
    payload = event.payload
    if payload["complete"]:
        _remove_entries(state, event)
    state.queue_rooms[payload["window"]] = {
        "window_id": payload["window"],
        "seed": payload["seed"] or "",
        "public": payload.get("public"),
        "called": payload["called"],
        "complete": payload["complete"],
        "seq": event.seq,
    }


def _queue_joined(state: TermState, event: Event) -> None:
    payload = event.payload
    state.queue_entries[payload["window"], payload["entry"]] = {
        "window_id": payload["window"],
        "entry": payload["entry"],
        "student_id": payload["student"],
        "number": payload.get("number"),
        "state": "waiting",
        "since": event.at,
        "admitted_at": None,
        "seq": event.seq,
    }


def _queue_left(state: TermState, event: Event) -> None:
    to = "ended" if event.payload.get("visit") else "left"
    _move_entries(state, event, [event.payload["entry"]], to)


def _queue_returned(state: TermState, event: Event) -> None:
    _move_entries(state, event, [event.payload["entry"]], "waiting")


def _queue_admitted(state: TermState, event: Event) -> None:
    payload = event.payload
    if room := state.queue_rooms.get(payload["window"]):
        room |= {"called": payload["called"], "seq": event.seq}
    _move_entries(state, event, payload.get("entries", ()), "admitted", admitted_at=event.at)


def _queue_drawn(state: TermState, event: Event) -> None:
    if room := state.queue_rooms.get(event.payload["window"]):
        room |= {"public": event.payload["public"], "seq": event.seq}


def _queue_reset(state: TermState, event: Event) -> None:
    """Empty a queue. The seed stays, and an incomplete record stays so."""
    window = event.payload["window"]
    if room := state.queue_rooms.get(window):
        room |= {"called": 0, "seq": event.seq}
    _remove_entries(state, event)


def _remove_entries(state: TermState, event: Event) -> None:
    window = event.payload["window"]
    removed = [entry for of, entry in state.queue_entries if of == window]
    _move_entries(state, event, removed, "removed")


def _move_entries(
    state: TermState, event: Event, entries: Iterable[str], to: str, **fields: Any
) -> None:
    """Set the state of queue entries; a room whose record is incomplete lacks some."""
    window = event.payload["window"]
    for entry in entries:
        if row := state.queue_entries.get((window, entry)):
            row |= {"state": to, "seq": event.seq} | fields
        elif state.queue_rooms.get(window, {}).get("complete", True):
            state.contradictions.append((event.seq, f"no queue entry {entry}"))


def _enroll(state: TermState, event: Event, to: str) -> None:
    payload = event.payload
    state.enrollments[payload["section"], payload["student"]] = {
        "section_id": payload["section"],
        "student_id": payload["student"],
        "state": to,
        "credits": payload["credits"],
        "corequisites": payload.get("corequisites"),
        "reserve": payload.get("reserve"),
        "registration": payload["registration"],
        "since": event.at,
        "seq": event.seq,
    }


def _move(state: TermState, event: Event, to: str, **fields: Any) -> None:
    """Set the state of a waitlist entry; only joining creates one."""
    key = event.payload["section"], event.payload["student"]
    if key not in state.waitlist and to != "waiting":
        state.contradictions.append((event.seq, f"{to}, but never waited"))
        return
    row = state.waitlist.setdefault(key, {"section_id": key[0], "student_id": key[1]})
    row |= {"state": to, "reasons": [], "seq": event.seq} | fields
    _count_skipped(state, key, skipped=to == "passed")


def _retry_skipped(state: TermState, event: Event, student: int | None = None) -> None:
    """Let the skipped students of the section wait again, or only one of them."""
    section = event.payload["section"]
    for key in [key for key in state.skipped if key[0] == section and student in {None, key[1]}]:
        state.waitlist[key] |= {"state": "waiting", "reasons": [], "seq": event.seq}
        _count_skipped(state, key, skipped=False)


def _count_skipped(state: TermState, key: Pair, *, skipped: bool) -> None:
    """Count a waiting student as skipped, or no longer."""
    if key[0] in state.seats:
        state.seats[key[0]]["passed"] += skipped - (key in state.skipped)
    if skipped:
        state.skipped.add(key)
    else:
        state.skipped.discard(key)


def _count(state: TermState, event: Event, *, enrolled: int = 0, waiting: int = 0) -> None:
    """Update the counts, and note where the ledger reported others."""
    row = state.seats.get(event.payload["section"])
    if row is None:
        state.contradictions.append((event.seq, f"no section {event.payload['section']}"))
        return
    row["enrolled"] += enrolled
    row["waiting"] += waiting
    count_reserved(row, event, enrolled)
    for each in (event.payload, *event.payload.get("also", ())):
        _check(state, event.seq, each["section"], each["seats"])


def _check(state: TermState, seq: int, section: int, reported: dict[str, Any]) -> None:
    """Store that a section's counts are those after an event; note a mismatch."""
    row = state.seats.get(section)
    counted = row and state.counted(row)
    if row:
        row["seq"] = seq
    if reported != counted:
        state.contradictions.append((seq, f"{reported}, counted {counted}"))


CHANGES: dict[tuple[str, int], Callable[[TermState, Event], None]] = {
    ("section_set", 1): _section_set,
    ("reserve_opened", 1): _waiting_again,
    ("enrolled", 1): _enrolled,
    ("dropped", 1): _dropped,
    ("waitlisted", 1): _waitlisted,
    ("swap_planned", 1): _swap_planned,
    ("left", 1): _left,
    ("promoted", 1): _promoted,
    ("passed_over", 1): _skipped,
    ("reconsidered", 1): _waiting_again,
    ("refused", 1): _nothing,
    ("deadlines_set", 1): _nothing,
    ("deadline_passed", 1): _nothing,
    ("round_end_set", 1): _nothing,
    ("round_held", 1): _nothing,
    ("round_ended", 1): _nothing,
    ("window_set", 1): _window_set,
    ("window_opened", 1): _window_turned,
    ("window_closed", 1): _window_turned,
    ("queue_begun", 1): _queue_begun,
    ("queue_joined", 1): _queue_joined,
    ("queue_left", 1): _queue_left,
    ("queue_returned", 1): _queue_returned,
    ("queue_admitted", 1): _queue_admitted,
    ("queue_drawn", 1): _queue_drawn,
    ("queue_reset", 1): _queue_reset,
}

# Which older rows a batch needs, besides the counts of its sections and its windows.
MOVE_WAITLIST_ENTRY = {"swap_planned", "left", "promoted", "passed_over"}
RETRY_SKIPPED = {"dropped", "section_set", "reserve_opened", "reconsidered"}


def empties_queue(event: Event) -> bool:
    """Return whether the event removes all earlier entries of a waiting room."""
    begun_empty = event.name == "queue_begun" and event.payload["complete"]
    return event.name == "queue_reset" or begun_empty


# The seat counts in a section's row of the read models, counted as the ledger does.


EMPTY_COUNTS: Row = {"enrolled": 0, "waiting": 0, "passed": 0}


def settings(payload: Row) -> Row:
    """Return the settings of a section in an event, apart from who has a seat."""
    return {
        "section_id": payload["section"],
        "status": payload["status"],
        "capacity": payload["capacity"],
        "waitlist_capacity": payload["waitlist"],
        "prior": payload["prior"],
        "pool_id": payload.get("pool"),
        "pool_capacity": None,
        "reserves": payload.get("reserves", []),
    }


def counts(row: Row) -> Row:
    """Return the counts that the ledger must report for a section alone, without its pool."""
    found = {
        "capacity": row["capacity"],
        "taken": taken(row),
        "waiting": row["waiting"],
        "waitlist_capacity": row["waitlist_capacity"],
        "status": row["status"],
        "passed": row["passed"],
    }
    return found | {"kept": row["kept"]} if row["kept"] else found


def taken(row: Row) -> int:
    """Return the seats taken, including those from before the term was imported."""
    return int(row["prior"] + row["enrolled"])


def count_reserved(row: Row, event: Event, given: int) -> None:
    """Count the seats held under each reserve, and the seats still reserved at that moment."""
    held, reserve, now = row["reserved"], event.payload.get("reserve"), milliseconds(event.at)
    if given and reserve:
        held[str(reserve)] = held.get(str(reserve), 0) + given
        row["reserved"] = {each: number for each, number in held.items() if number}
    row["kept"] = sum(
        max(0, each["seats"] - row["reserved"].get(str(each["id"]), 0))
        for each in row["reserves"]
        if not 0 < each["until"] <= now
    )
