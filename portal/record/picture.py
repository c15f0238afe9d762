"""A term's ledger laid flat for comparison, as it must be by the event log."""

from collections import Counter
from collections.abc import Iterator
from itertools import chain
from typing import Any

from portal.record.fact import milliseconds
from portal.record.project import State

# (where in the ledger, what) -> its value; what is not there has no entry
Key = tuple[str, str]
Entry = tuple[Key, Any]
Picture = dict[Key, Any]


def of_log(state: State, students: set[int]) -> Picture:
    """What the ledger must hold if the state is right; of own keys only those of `students`."""
    return dict(
        chain(
            _sections(state),
            _seats(state, students),
            _places(state, students),
            _windows(state),
            _vacancies(state),
        )
    )


def of_pair(section: int, student: int) -> str:
    """How a picture names a student's entry in a section."""
    return f"section {section}, student {student}"


def _sections(state: State) -> Iterator[Entry]:
    for section, row in state.seats.items():
        catalogued = {name: row[name] for name in ("capacity", "prior", "status")}
        waitlist = row["waitlist_capacity"]
        yield ("section", f"section {section}"), catalogued | {"waitlist": waitlist}
        taken = row["prior"] + row["enrolled"]
        numbers = row["capacity"], taken, row["waiting"], waitlist
        counts = [*numbers, row["status"], row["seq"], row["passed"]]
        yield ("counts", f"section {section}"), counts


def _seats(state: State, students: set[int]) -> Iterator[Entry]:
    for (section, student), row in state.enrollments.items():
        if row["state"] != "enrolled":
            continue
        seat = f"{row['credits']}:{row['registration']}:{milliseconds(row['since'])}"
        yield ("roster", of_pair(section, student)), seat
        if student in students:
            yield ("student", f"student {student}, e:{section}"), str(row["credits"])
        if student in students and row["corequisites"]:
            yield ("student", f"student {student}, c:{section}"), row["corequisites"]


def _places(state: State, students: set[int]) -> Iterator[Entry]:
    for (section, student), row in state.places.items():
        if row["state"] not in {"waiting", "passed"}:
            continue
        place = f"{row['ticket']}:{row['credits']}:{milliseconds(row['since'])}"
        place += f":{row['instead']}" if row["instead"] else ""
        yield ("queue", of_pair(section, student)), row["ticket"]
        if student in students:
            yield ("student", f"student {student}, w:{section}"), place
        if row["state"] == "passed":
            yield ("passed", of_pair(section, student)), row["reasons"]


def _windows(state: State) -> Iterator[Entry]:
    for window, row in state.windows.items():
        yield (
            ("windows", f"window {window}"),
            {
                "name": row["name"],
                "opens": milliseconds(row["opens_at"]),
                "closes": milliseconds(row["closes_at"]),
                "state": row["state"],
                "cohort": row["cohort"],
            },
        )


def _vacancies(state: State) -> Iterator[Entry]:
    """Sections with a free seat and somebody on the list who is not passed over."""
    passed = Counter(section for section, _ in state.passed)
    for section, row in state.seats.items():
        free = row["capacity"] > row["prior"] + row["enrolled"]
        if row["status"] == "OPEN" and free and row["waiting"] > passed[section]:
            yield ("vacant", f"section {section}"), True
