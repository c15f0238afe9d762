"""Projections: what each event does to the read models. No other module knows both."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from portal.core.moments import milliseconds, moment
from portal.recorder.events import Event

Row = dict[str, Any]
Pair = tuple[int, int]  # section, student


class UnknownEvent(Exception):  # noqa: N818
    """An event that this version of the portal cannot read: it must not be skipped."""


@dataclass
class TermState:
    """Rows of the read models by their keys within a term: all, or those loaded."""

    seats: dict[int, Row] = field(default_factory=dict)
    enrollments: dict[Pair, Row] = field(default_factory=dict)
    places: dict[Pair, Row] = field(default_factory=dict)
    windows: dict[int, Row] = field(default_factory=dict)
    passed: set[Pair] = field(default_factory=set)  # keys of skipped waitlist entries
    pools: dict[int, set[int]] = field(default_factory=dict)  # sections by seat pool
    contradictions: list[tuple[int, str]] = field(default_factory=list)  # seq, and what is wrong

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

    def hear(self, fact: Event) -> None:
        """Let subclasses use an applied event; do nothing here."""


def apply(state: TermState, fact: Event) -> None:
    """Apply one event to the state; raise UnknownEvent."""
    change = CHANGES.get((fact.name, fact.version))
    if change is None:
        raise UnknownEvent(f"event {fact.seq}: {fact.name} version {fact.version}")
    change(state, fact)
    state.hear(fact)


def _section_set(state: TermState, fact: Event) -> None:
    told = fact.payload
    row = state.seats.setdefault(told["section"], EMPTY_COUNTS | {"reserved": {}})
    state.pools.get(row.get("pool_id") or 0, set()).discard(told["section"])
    row |= settings(told)
    if row["pool_id"]:
        state.pools.setdefault(row["pool_id"], set()).add(told["section"])
    for sharing in state.sharing(row):
        sharing["pool_capacity"] = told["seats"].get("pool_capacity")
    _reprieve(state, fact, lambda section, _: section == told["section"])
    _count(state, fact)


def _enrolled(state: TermState, fact: Event) -> None:
    _enroll(state, fact, "enrolled")
    _count(state, fact, enrolled=1)


def _dropped(state: TermState, fact: Event) -> None:
    _enroll(state, fact, "dropped")
    freed = fact.payload["section"]
    _reprieve(state, fact, lambda section, _: section == freed)
    _count(state, fact, enrolled=-1)


def _reserve_opened(state: TermState, fact: Event) -> None:
    opened = fact.payload["section"]
    _reprieve(state, fact, lambda section, _: section == opened)
    _count(state, fact)


def _waitlisted(state: TermState, fact: Event) -> None:
    told = fact.payload
    kept = {"ticket": told["ticket"], "credits": told["credits"], "instead": told.get("instead")}
    _move(state, fact, "waiting", since=fact.at, **kept)
    _count(state, fact, waiting=1)


def _swap_planned(state: TermState, fact: Event) -> None:
    if (fact.payload["section"], fact.payload["student"]) in state.places:
        _move(state, fact, "waiting", instead=fact.payload["instead"])
    else:
        state.contradictions.append((fact.seq, "a swap planned, but never waited"))
    _count(state, fact)


def _left(state: TermState, fact: Event) -> None:
    _move(state, fact, "left")
    _count(state, fact, waiting=-1)


def _promoted(state: TermState, fact: Event) -> None:
    _move(state, fact, "promoted")
    _enroll(state, fact, "enrolled")
    _count(state, fact, enrolled=1, waiting=-1)


def _passed_over(state: TermState, fact: Event) -> None:
    _move(state, fact, "passed", reasons=fact.payload["reasons"])
    _count(state, fact)


def _reconsidered(state: TermState, fact: Event) -> None:
    told = fact.payload
    only = told.get("student")
    _reprieve(state, fact, lambda section, who: section == told["section"] and only in {None, who})
    _count(state, fact)


def _refused(state: TermState, fact: Event) -> None:
    """Change nothing: the event alone is the receipt."""


def _window_set(state: TermState, fact: Event) -> None:
    told = fact.payload
    state.windows[told["window"]] = {
        "id": told["window"],
        "name": told["window_name"],
        "opens_at": moment(told["opens"]),
        "closes_at": moment(told["closes"]),
        "state": told["state"],
        "cohort": told["cohort"],
        "seq": fact.seq,
    }


def _window_turned(state: TermState, fact: Event) -> None:
    row = state.windows.get(fact.payload["window"])
    if row is None:
        state.contradictions.append((fact.seq, f"no window {fact.payload['window']}"))
    else:
        row["seq"] = fact.seq


def _enroll(state: TermState, fact: Event, to: str) -> None:
    told = fact.payload
    state.enrollments[told["section"], told["student"]] = {
        "section_id": told["section"],
        "student_id": told["student"],
        "state": to,
        "credits": told["credits"],
        "corequisites": told.get("corequisites"),
        "reserve": told.get("reserve"),
        "registration": told["registration"],
        "since": fact.at,
        "seq": fact.seq,
    }


def _move(state: TermState, fact: Event, to: str, **fields: Any) -> None:
    """Set the state of a waitlist entry; only joining creates one."""
    key = fact.payload["section"], fact.payload["student"]
    if key not in state.places and to != "waiting":
        state.contradictions.append((fact.seq, f"{to}, but never waited"))
        return
    row = state.places.setdefault(key, {"section_id": key[0], "student_id": key[1]})
    row |= {"state": to, "reasons": [], "seq": fact.seq} | fields
    _mark(state, key, passed=to == "passed")


def _reprieve(state: TermState, fact: Event, chosen: Callable[[int, int], bool]) -> None:
    """Let skipped students wait again."""
    for key in [key for key in state.passed if chosen(*key)]:
        state.places[key] |= {"state": "waiting", "reasons": [], "seq": fact.seq}
        _mark(state, key, passed=False)


def _mark(state: TermState, key: Pair, *, passed: bool) -> None:
    """Count a waiting student as skipped, or no longer."""
    if key[0] in state.seats:
        state.seats[key[0]]["passed"] += passed - (key in state.passed)
    if passed:
        state.passed.add(key)
    else:
        state.passed.discard(key)


def _count(state: TermState, fact: Event, *, enrolled: int = 0, waiting: int = 0) -> None:
    """Update the counts, and note where the ledger reported others."""
    row = state.seats.get(fact.payload["section"])
    if row is None:
        state.contradictions.append((fact.seq, f"no section {fact.payload['section']}"))
        return
    row["enrolled"] += enrolled
    row["waiting"] += waiting
    count_reserved(row, fact, enrolled)
    for told in (fact.payload, *fact.payload.get("also", ())):
        _check(state, fact.seq, told["section"], told["seats"])


def _check(state: TermState, seq: int, section: int, told: dict[str, Any]) -> None:
    """Store that a section's counts are those after an event; note a mismatch."""
    row = state.seats.get(section)
    counted = row and state.counted(row)
    if row:
        row["seq"] = seq
    if told != counted:
        state.contradictions.append((seq, f"{told}, counted {counted}"))


CHANGES: dict[tuple[str, int], Callable[[TermState, Event], None]] = {
    ("section_set", 1): _section_set,
    ("reserve_opened", 1): _reserve_opened,
    ("enrolled", 1): _enrolled,
    ("dropped", 1): _dropped,
    ("waitlisted", 1): _waitlisted,
    ("swap_planned", 1): _swap_planned,
    ("left", 1): _left,
    ("promoted", 1): _promoted,
    ("passed_over", 1): _passed_over,
    ("reconsidered", 1): _reconsidered,
    ("refused", 1): _refused,
    ("window_set", 1): _window_set,
    ("window_opened", 1): _window_turned,
    ("window_closed", 1): _window_turned,
}

# Which older rows a batch needs, besides the counts of its sections and its windows.
MOVE_WAITLIST_ENTRY = {"swap_planned", "left", "promoted", "passed_over"}
RETRY_SKIPPED = {"dropped", "section_set", "reserve_opened", "reconsidered"}


# The seat counts in a section's row of the read models, counted as the ledger does.


EMPTY_COUNTS: Row = {"enrolled": 0, "waiting": 0, "passed": 0}


def settings(told: Row) -> Row:
    """Return the settings of a section in an event, apart from who has a seat."""
    return {
        "section_id": told["section"],
        "status": told["status"],
        "capacity": told["capacity"],
        "waitlist_capacity": told["waitlist"],
        "prior": told["prior"],
        "pool_id": told.get("pool"),
        "pool_capacity": None,
        "reserves": told.get("reserves", []),
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


def count_reserved(row: Row, fact: Event, given: int) -> None:
    """Count the seats held under each reserve, and the seats still reserved at that moment."""
    held, reserve, now = row["reserved"], fact.payload.get("reserve"), milliseconds(fact.at)
    if given and reserve:
        held[str(reserve)] = held.get(str(reserve), 0) + given
        row["reserved"] = {each: number for each, number in held.items() if number}
    row["kept"] = sum(
        max(0, each["seats"] - row["reserved"].get(str(each["id"]), 0))
        for each in row["reserves"]
        if not 0 < each["until"] <= now
    )
