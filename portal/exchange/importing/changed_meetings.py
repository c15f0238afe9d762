"""Meetings of a section that the portal has, as the rows of files change them.

A column that is missing and a cell that is blank leave the field of a meeting as it is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import time
from typing import Any

from portal.catalog.spellings import Unreadable, days_of, start_of, time_of
from portal.core.i18n import StoredMessageError, _k
from portal.exchange.importing.meetings import (
    LAST_MINUTE,
    Meeting,
    ReadDay,
    fault_of_times,
    note_times,
    read_conflicts,
    read_kind,
    read_meeting,
    read_room,
)
from portal.exchange.importing.tables import Row

UNREADABLE, UNCLEAR = "meeting_unreadable", "meeting_unclear"
WHEN = ("days", "start_time", "end_time")
DATES = ("date_start", "date_end")
# Columns of a meeting that the portal keeps for each, with how to read them. So are the dates.
READ: dict[str, Callable[[str], Any]] = {
    "days": days_of,
    "start_time": start_of,
    "end_time": time_of,
}
FIELDS = {
    "days": "days",
    "start_time": "starts_at",
    "end_time": "ends_at",
    "date_start": "first",
    "date_end": "last",
}


@dataclass
class _Stated:
    """What a row states of a meeting; blank cells only if they erase."""

    row: Row
    erase: bool
    exported: bool
    read_day: ReadDay
    values: dict[str, Any] = field(default_factory=dict)  # by field of a meeting
    faulty: str = ""  # the column that can't be read
    fault: str | StoredMessageError = ""
    midnight: bool = False  # whether it ends then

    def __post_init__(self) -> None:
        for column, read in {**READ, **dict.fromkeys(DATES, self.read_day)}.items():
            if self.has(column):
                try:
                    self.values[FIELDS[column]] = read(self.row[column])
                except Unreadable as error:
                    self.faulty, self.fault = self.faulty or column, self.fault or error
        if self.values.get("ends_at") == time() != self.values.get("starts_at"):
            self.midnight, self.values["ends_at"] = True, LAST_MINUTE
        if self.has("meeting_type"):
            self.values["kind"] = read_kind(self.row)
        if self.has("location"):
            self.values["room"] = read_room(self.row)

    def has(self, column: str) -> bool:
        """Return whether the row states something in a column."""
        return bool(self.row[column]) or (self.erase and column in self.row.values)

    @property
    def says_anything(self) -> bool:
        """Return whether the row states anything of a meeting."""
        return bool(self.values or self.faulty or self.row["conflicts"])

    @property
    def is_whole(self) -> bool:
        """Return whether the row has columns for days and times."""
        return all(column in self.row.values for column in WHEN)

    @property
    def says_when(self) -> bool:
        """Return whether the row states days and times, or that there are none yet."""
        starts = self.values.get("starts_at", time())
        return not self.faulty and (
            all(map(self.has, WHEN)) or (self.has("start_time") and starts is None)
        )

    def is_at_time_of(self, meeting: Meeting) -> bool:
        """Return whether days and times are those of a meeting; blank ones are if it has none."""
        names = [FIELDS[column] for column in WHEN if column in self.row.values]
        pairs = ((self.values.get(name), getattr(meeting, name)) for name in names)
        same = all((stated or None) == (known or None) for stated, known in pairs)
        return bool(names) and not self.faulty and same

    def is_like(self, meeting: Meeting) -> bool:
        """Return whether all else but the room is as the row states it."""
        others = (name for name in self.values if name != "room")
        return all(self.values[name] == getattr(meeting, name) for name in others)

    def is_numbered(self, at: int) -> bool:
        """Return whether the row has the number of the meeting at that place."""
        return self.row["meeting_no"].lstrip("0") == f"{at + 1}"

    def refuse(self) -> None:
        """Report a value that can't be read."""
        if self.faulty:
            self.row.note(UNREADABLE, self.faulty, self.fault)


def change_meetings(
    rows: Iterable[Row],
    stored: list[list[Any]],
    read_day: ReadDay,
    *,
    erase: bool,
    exported: bool,
) -> list[Meeting]:
    """Return the meetings of a section as the rows change those that the portal has.

    Rows that state days and times replace the meetings; each keeps what its row leaves out of the
    one that it is. Rows that do not tell which meeting they are about are refused. Blank cells of
    an export are reported.
    """
    known = [Meeting.of(facts) for facts in stored]
    listed = [_Stated(row, erase, exported, read_day) for row in rows]
    listed = [each for each in listed if each.is_whole or each.says_anything]
    pairs = _pairs(listed, known)
    others = [each for at, each in enumerate(listed) if at not in pairs and each.says_anything]
    gone = len(pairs) < len(known)
    lists_all = all(each.is_whole for each in listed) and not (
        gone and not all(_tells_when(each, pairs.get(at), known) for at, each in enumerate(listed))
    )
    for each in others:
        if each.faulty:
            each.refuse()
        elif not lists_all:
            each.row.note(UNCLEAR, "location" if each.row["location"] else "")
    if not (listed and lists_all and (gone or others)):
        paired = {place: listed[at] for at, place in pairs.items()}
        return [
            _changed(paired[place], meeting) if place in paired else meeting
            for place, meeting in enumerate(known)
        ]
    found = []
    for at, each in enumerate(listed):
        if at in pairs:
            found.append(_changed(each, known[pairs[at]]))
        elif each in others and not each.faulty:
            found.append(read_meeting(each.row, read_day))
    return found


def _tells_when(stated: _Stated, place: int | None, known: list[Meeting]) -> bool:
    """Return whether a row states when it meets, or is one of the meetings that have no time."""
    return stated.says_when or (place is not None and stated.is_at_time_of(known[place]))


def leaves_out(rows: Iterable[Row]) -> bool:
    """Return whether a row does not state the days, times, dates or room of its meeting."""
    return any(not row[column] for row in rows for column in (*FIELDS, "location"))


def _pairs(listed: list[_Stated], known: list[Meeting]) -> dict[int, int]:
    """Return which meeting each row is about, by the places of both.

    First come days and times, then the numbers of meetings, then the order if there are as many.
    """
    pairs: dict[int, int] = {}
    tests: tuple[Callable[[_Stated, int], bool], ...] = (
        lambda row, at: row.is_at_time_of(known[at]) and row.is_numbered(at),
        lambda row, at: row.is_at_time_of(known[at]) and row.is_like(known[at]),
        lambda row, at: row.is_at_time_of(known[at]),
        _Stated.is_numbered,
    )
    for matches in tests:
        for at, row in enumerate(listed):
            places = (
                each
                for each in range(len(known))
                if each not in pairs.values() and matches(row, each)
            )
            if at not in pairs and (place := next(places, None)) is not None:
                pairs[at] = place
    free = [each for each in range(len(known)) if each not in pairs.values()]
    left = [at for at in range(len(listed)) if at not in pairs]
    telling = [at for at in left if listed[at].says_anything]
    for rest in (left, telling):
        if len(rest) == len(free):
            return pairs | dict(zip(rest, free, strict=True))
    return pairs


def _changed(stated: _Stated, known: Meeting) -> Meeting:
    """Return a meeting with what a row states. If that is faulty, refuse it and change nothing."""
    row = stated.row
    if stated.faulty:
        stated.refuse()
        return known
    found = replace(known, **stated.values)
    if column := _fault_of_dates(stated, found):
        row.note(UNREADABLE, column, _k("It ends before it starts."))
        return known
    if fault := _fault_of_times(stated, found):
        ends = (each and f"{each:%H:%M}" for each in (found.starts_at, found.ends_at))
        note_times(row, UNREADABLE, fault, *(each or "" for each in ends))
        return known
    if stated.has("days") and found.days and not found.starts_at:
        row.note("days_without_time", "days")
    if stated.midnight:
        row.note("midnight", "end_time")
    if stated.erase and None in (found.first, found.last):
        row.note("dates_missing", "date_start")
    _set_conflicts(stated, found, known)
    if stated.exported:
        for column, name in {**FIELDS, "location": "room", "meeting_type": "kind"}.items():
            if column in row.values and not stated.has(column) and getattr(found, name):
                row.note("blank_unchanged", column)
    return found


def _fault_of_times(stated: _Stated, found: Meeting) -> str:
    """Return why the times of a row do not fit its meeting; blank if they do.

    If one time is to be announced, so is the other, and so are both if the days are.
    """
    values = stated.values
    if not values.keys() & {FIELDS[column] for column in WHEN}:
        return ""
    ends = {"starts_at", "ends_at"}
    if None in (values.get(each, time()) for each in ends) and not ends <= values.keys():
        found.starts_at = found.ends_at = None
    if not found.days and not values.keys() & ends:
        found.starts_at = found.ends_at = None
    return fault_of_times(found.starts_at, found.ends_at, found.days)


def _fault_of_dates(stated: _Stated, found: Meeting) -> str:
    """Return which date of a row does not fit the other; swap the two if the row has both."""
    if not (found.first and found.last and found.last < found.first):
        return ""
    if not all(map(stated.has, DATES)):
        return next(filter(stated.has, DATES), "")
    stated.row.note("dates_reversed", "date_end")
    found.first, found.last = found.last, found.first
    return ""


def _set_conflicts(stated: _Stated, found: Meeting, known: Meeting) -> None:
    """Set whether a changed meeting conflicts with others, as usual if it did as usual before."""
    erases = stated.erase and "conflicts" in stated.row.values
    as_usual = erases or known.clashes == known.usually_clashes
    if not found.usually_clashes and stated.says_when:
        stated.row.note("exam_block", "meeting_type")
    usual = found.usually_clashes if as_usual else known.clashes
    found.clashes = read_conflicts(stated.row, usual=usual)
