"""A term's ledger laid flat for comparison, as it must be by the event log."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from portal.record.fact import milliseconds
from portal.record.project import Row, State

# (where in the ledger, what) -> its value; what is not there has no entry
Key = tuple[str, str]
Entry = tuple[Key, Any]
Picture = dict[Key, Any]

COUNTS = (  # as in the ledger's row
    "capacity",
    "taken",
    "waiting",
    "waitlist_capacity",
    "status",
    "seq",
    "passed",
    "kept",
    "pool_capacity",
    "pool_taken",
)


def of_log(state: State, students: set[int]) -> Picture:
    """What the ledger must hold if the state is right; of own keys only those of `students`."""
    return dict(
        chain(
            _sections(state),
            _pools(state),
            _seats(state, students),
            _places(state, students),
            _windows(state),
            _vacancies(state),
            _emptying(state),
        )
    )


def seat(row: Row) -> str:
    """A seat as the roster has it."""
    seat = f"{row['credits']}:{row['registration']}:{milliseconds(row['since'])}"
    return f"{seat}:{row['reserve']}" if row["reserve"] else seat


def place(row: Row) -> str:
    """A place in line as its student's key has it."""
    place = f"{row['ticket']}:{row['credits']}:{milliseconds(row['since'])}"
    return f"{place}:{row['instead']}" if row["instead"] else place


def times(row: Row) -> dict[str, Any]:
    """A window, whether it has turned apart."""
    return {
        "name": row["name"],
        "opens": milliseconds(row["opens_at"]),
        "closes": milliseconds(row["closes_at"]),
        "state": row["state"],
        "cohort": row["cohort"],
    }


def emptying(state: State) -> Iterator[int]:
    """Canceled sections with somebody in them yet."""
    for section, row in state.seats.items():
        if row["status"] == "CANCELED" and row["enrolled"] + row["waiting"]:
            yield section


def of_pair(section: int, student: int) -> str:
    """How a picture names a student's entry in a section."""
    return f"section {section}, student {student}"


def _sections(state: State) -> Iterator[Entry]:
    for section, row in state.seats.items():
        catalogued = {name: row[name] for name in ("capacity", "prior", "status")}
        more = {
            "waitlist": row["waitlist_capacity"],
            "pool": row["pool_id"] or 0,
            "reserves": row["reserves"],
        }
        yield ("section", f"section {section}"), catalogued | more
        counts = state.counted(row) | {"seq": row["seq"], "kept": row["kept"]}
        yield ("counts", f"section {section}"), [counts[name] for name in COUNTS if name in counts]
        if row["reserved"]:
            yield ("reserved", f"section {section}"), row["reserved"]


def _pools(state: State) -> Iterator[Entry]:
    for row in state.seats.values():
        if pool := row["pool_id"]:
            sections = sorted(each["section_id"] for each in state.sharing(row))
            yield ("pool", f"pool {pool}"), [row["pool_capacity"], sections]


def _seats(state: State, students: set[int]) -> Iterator[Entry]:
    for (section, student), row in state.enrollments.items():
        if row["state"] != "enrolled":
            continue
        yield ("roster", of_pair(section, student)), seat(row)
        if student in students:
            yield ("student", f"student {student}, e:{section}"), str(row["credits"])
        if student in students and row["corequisites"]:
            yield ("student", f"student {student}, c:{section}"), row["corequisites"]


def _places(state: State, students: set[int]) -> Iterator[Entry]:
    for (section, student), row in state.places.items():
        if row["state"] not in {"waiting", "passed"}:
            continue
        yield ("queue", of_pair(section, student)), row["ticket"]
        if student in students:
            yield ("student", f"student {student}, w:{section}"), place(row)
        if row["state"] == "passed":
            yield ("passed", of_pair(section, student)), row["reasons"]


def _windows(state: State) -> Iterator[Entry]:
    for window, row in state.windows.items():
        yield ("windows", f"window {window}"), times(row)


def _emptying(state: State) -> Iterator[Entry]:
    for section in emptying(state):
        yield ("emptying", f"section {section}"), True


def _vacancies(state: State) -> Iterator[Entry]:
    """Sections with a free seat and somebody on the list who is not passed over.

    Seats that are kept apart: whether one of those waits for somebody no event says.
    """
    passed = Counter(section for section, _ in state.passed)
    for section, row in state.seats.items():
        counts = state.counted(row)
        free = row["capacity"] > counts["taken"] + row["kept"]
        if row["pool_id"]:
            free = free and counts["pool_capacity"] > counts["pool_taken"]
        if row["status"] == "OPEN" and free and row["waiting"] > passed[section]:
            yield ("vacant", f"section {section}"), True
