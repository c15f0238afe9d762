"""Meetings of a semester's meetings.csv: days, times, dates, room and teachers."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from portal.catalog.spellings import Unreadable, days_of, start_of, time_of
from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.tables import LONGEST_VALUE, Row
from portal.exchange.spreadsheets import items_of

EXAM = "TES"
KINDS = {
    "LECTURE": "LEC",
    "LABORATORY": "LAB",
    "RECITATION": "REC",
    "DISCUSSION": "REC",
    "SEMINAR": "SEM",
    "STUDIO": "STU",
    **dict.fromkeys(("TEST", "EXAM", "COMMON EXAM", "FINAL EXAM", "EXAMINATION"), EXAM),
}
LONGEST_MEETING = 8 * 60  # minutes; a longer meeting is no class but a day kept free
LAST_MINUTE = time(23, 59)
CONFLICTS = {"Y": True, "YES": True, "N": False, "NO": False}
NO_INSTRUCTOR = {"", "STAFF", "TBA", "TBD", "UNKNOWN", "TO BE ANNOUNCED", "NONE"}
# Without signs, and each word once.
NO_ROOM = {"", "TBA", "TBD", "T B A", "T B D", "ARR", "ARRANGED", "NONE", "N A"}
NO_ROOM |= {f"TO BE {word}" for word in ("ANNOUNCED", "ARRANGED", "DETERMINED")}
SIGNS = re.compile(r"[\s.,:;/-]+")
LONGEST_NAME = 160  # of an instructor
LONGEST_KIND = 12
PRIMARY = re.compile(r" ?\(P\)", re.IGNORECASE)  # Banner's mark of the primary instructor
# What may follow a name after a comma. Md is a first name.
SUFFIX = re.compile(r"[JS]R\.?|[JS]r\.?|[js]r\.?|II|III|IV|(?i:Ph\.? ?D\.?)|MD|M\. ?D\.")
LONGEST_ROOM = 80
NO_DATES = _k("No meeting has dates that can be used. Give the first and last day of the term.")
REVERSED_DATES = _k("The last day of the term (%(day)s) is before the first day.")
NO_START = _k("One of the two times is missing. %(starts)s: %(what)s, %(ends)s: %(last)s.")
NO_END = _k("One of the two times is missing. %(starts)s: %(first)s, %(ends)s: %(what)s.")
ENDS_EARLY = _k("It ends before it starts: %(first)s to %(last)s.")
NO_DAYS = _k("There is a time but no days: %(first)s to %(last)s.")
TIMES = {NO_START, NO_END, ENDS_EARLY, NO_DAYS}  # these quote both times
BLANK = _k("(blank)")
Times = tuple[time | None, time | None]
Dates = tuple[date | None, date | None]
ReadDay = Callable[[str], date | None]  # raises Unreadable


@dataclass
class Meeting:
    """A meeting; its dates are None until those of the term are known."""

    kind: str
    days: int  # as a mask; 0 where there are none
    starts_at: time | None
    ends_at: time | None
    first: date | None
    last: date | None
    room: str
    clashes: bool = True
    unread: bool = False  # whether days, times or dates can't be read

    @classmethod
    def of(cls, facts: list[Any]) -> "Meeting":
        """Return a meeting of the portal's records."""
        kind, days, starts, ends, first, last, room, clashes = facts
        starts, ends = (each and time.fromisoformat(each) for each in (starts, ends))
        first, last = (each and date.fromisoformat(each) for each in (first, last))
        return cls(kind, days, starts, ends, first, last, room, clashes)

    @property
    def usually_clashes(self) -> bool:
        """Return whether such a meeting conflicts with others, unless a file says other."""
        return not is_exam_block(self.kind, self.starts_at, self.ends_at)

    def overlaps(self, other: "Meeting") -> bool:
        """Return whether both share a day of the week, a time of day and a date."""
        if not (self.starts_at and self.ends_at and other.starts_at and other.ends_at):
            return False
        if not (self.first and self.last and other.first and other.last):
            return False
        return bool(
            self.days & other.days
            and self.starts_at < other.ends_at
            and other.starts_at < self.ends_at
            and self.first <= other.last
            and other.first <= self.last
        )

    def facts(self) -> list[Any]:
        """Return it as records have it."""
        times = [each and each.isoformat() for each in (self.starts_at, self.ends_at)]
        dates = [each and each.isoformat() for each in (self.first, self.last)]
        return [self.kind, self.days, *times, *dates, self.room, self.clashes]


def read_meeting(row: Row, read_day: ReadDay) -> Meeting:
    """Return the meeting of a row; a part that can't be read is TBA."""
    days = _read_days(row)
    times, dates = _read_times(row, days), _read_dates(row, days or 0, read_day)
    none = (None, None)
    found = Meeting(read_kind(row), days or 0, *(times or none), *(dates or none), read_room(row))
    found.unread = None in (days, times, dates)
    found.clashes = read_conflicts(row, usual=found.usually_clashes)
    if not found.usually_clashes:
        row.note("exam_block", "meeting_type")
    return found


def read_conflicts(row: Row, *, usual: bool) -> bool:
    """Return whether the meeting of a row conflicts with others, as usual if it does not say."""
    written = row["conflicts"].upper()
    if written and written not in CONFLICTS:
        row.note("conflicts_unreadable", "conflicts")
    return CONFLICTS.get(written, usual)


def read_kind(row: Row) -> str:
    """Return the kind of the meeting of a row, as a code."""
    written = row["meeting_type"].upper()
    kind = KINDS.get(written, written)
    if len(kind) > LONGEST_KIND:
        row.note("too_long", "meeting_type", _k("At most %(most)s characters."), most=LONGEST_KIND)
    return kind[:LONGEST_KIND]


def read_room(row: Row) -> str:
    """Return the room of a row, blank if it is a placeholder."""
    room = row.text("location", LONGEST_ROOM)
    return "" if _is_no_room(room) else room


def _is_no_room(text: str) -> bool:
    """Return whether a text says that the room is not known, such as `TBA TBA` or `Room: TBA`."""
    words = dict.fromkeys(SIGNS.sub(" ", text.upper()).split())
    words.pop("ROOM", None)
    return " ".join(words) in NO_ROOM


def is_exam_block(kind: str, starts: time | None, ends: time | None) -> bool:
    """Return whether a meeting is shown but conflicts with nothing, unless a file says other."""
    return kind == EXAM or _minutes(starts, ends) > LONGEST_MEETING


def _minutes(starts: time | None, ends: time | None) -> int:
    """Return how long a meeting lasts; 0 if it is TBA."""
    if starts is None or ends is None:
        return 0
    return (ends.hour - starts.hour) * 60 + ends.minute - starts.minute


def read_instructors(row: Row, *, surnames_first: bool | None, exact: bool = False) -> list[str]:
    """Return the names of the instructors, the primary one first; leave out `Staff`.

    `surnames_first` tells how the file writes names with a comma; None if it does not tell. In an
    `exact` cell, a vertical bar is the only separator if there is one, and a backslash escapes it.
    """
    if exact and "|" in row["instructors"]:
        return [PRIMARY.sub("", name) for name in items_of(row["instructors"])]
    names = [
        name
        for part in re.split(r"\\?\||[/;\n]| & | and ", row["instructors"])
        for name in _names(row, part, surnames_first=surnames_first)
    ]
    if any(len(name) > LONGEST_NAME for name in names):
        row.note("too_long", "instructors")
    listed = [(PRIMARY.sub("", name)[:LONGEST_NAME], bool(PRIMARY.search(name))) for name in names]
    listed.sort(key=lambda each: not each[1])
    return [name for name, _first in listed]


def surnames_first(cells: Iterable[str]) -> bool | None:
    """Return whether commas stand between surname and first name, or between two people.

    Cells with a mark of the primary instructor decide if there are any. None if no cell tells.
    """
    marked: Counter[bool] = Counter()
    others: Counter[bool] = Counter()
    for part in (part for cell in set(cells) for part in re.split(r"[/;|\n]", cell)):
        people = _people(part)
        if _marks_odd_place(people):
            marked[False] += 1
        elif len(people) > 1:
            single = _has_single_word(people)
            (marked if single and PRIMARY.search(part) else others)[single] += 1
    found = marked or others
    return found[True] >= found[False] if found else None


def _people(part: str) -> list[str]:
    """Return what stands between the commas of a part of a cell, without placeholders.

    A suffix such as `Jr.` stays with what it follows.
    """
    found: list[str] = []
    for word in (" ".join(word.split()) for word in part.split(",")):
        bare = PRIMARY.sub("", word).strip("* ")
        if found and SUFFIX.fullmatch(bare):
            found[-1] += f", {word}"
        elif bare.upper() not in NO_INSTRUCTOR:
            found.append(word)
    return found


def _has_single_word(people: list[str]) -> bool:
    """Return whether a word stands alone between commas: it is a surname or a first name."""
    return any(" " not in PRIMARY.sub("", word).partition(",")[0] for word in people)


def _groups(people: list[str]) -> Iterator[list[str]]:
    """Yield the words up to each mark of a primary instructor, then the rest."""
    group: list[str] = []
    for word in people:
        group.append(word)
        if PRIMARY.search(word):
            yield group
            group = []
    if group:
        yield group


def _marks_odd_place(people: list[str]) -> bool:
    """Return whether a mark follows a name that is no pair of a surname and a first name."""
    return any(len(group) % 2 and PRIMARY.search(group[-1]) for group in _groups(people))


def _marks_pairs(people: list[str]) -> bool:
    """Return whether marks are between several pairs of words: `Smith, John (P), Doe, Jane`."""
    groups = list(_groups(people))
    words = all(" " not in PRIMARY.sub("", word) for word in people)
    return words and len(groups) > 1 and all(len(group) % 2 == 0 for group in groups)


def _names(row: Row, part: str, *, surnames_first: bool | None) -> list[str]:
    """Return the names of a part of a cell, which commas may separate. Report a doubt."""
    words = _people(part)
    if len(words) < 2:
        return words
    single, odd_mark = _has_single_word(words), _marks_odd_place(words)
    if (surnames_first is False and not _marks_pairs(words)) or not (single or surnames_first):
        found, clear = words, odd_mark or not single
    else:
        groups = list(_groups(words))
        found = [name for group in groups for name in _paired(group)]
        pairs = all(len(group) % 2 == 0 for group in groups)
        clear = surnames_first is not False and not odd_mark and single == pairs
    if not clear:
        names = "; ".join(PRIMARY.sub("", name) for name in found)[:LONGEST_VALUE]
        row.note("instructors_unclear", "instructors", _k("Read as: %(names)s."), names=names)
    return found


def _paired(group: list[str]) -> list[str]:
    """Return surnames with their first names; single words of an odd number are one name."""
    if len(group) % 2:
        return [", ".join(group)] if _has_single_word(group) else group
    return [", ".join(pair) for pair in zip(group[::2], group[1::2], strict=True)]


def _read_days(row: Row) -> int | None:
    """Return the days; None if they can't be read."""
    try:
        return days_of(row["days"])
    except Unreadable as error:
        row.note("days_unreadable", "days", error)
        return None


def note_times(row: Row, kind: str, text: str, starts: str = "", ends: str = "") -> None:
    """Report one of TIMES, with both times as the file has them, or else as the portal has them."""
    column = "start_time" if text in {NO_START, NO_DAYS} else "end_time"
    first, last = row["start_time"] or starts, row["end_time"] or ends
    facts = {"first": first, "last": last, "what": row[column] or BLANK}
    if text in {NO_START, NO_END}:
        facts |= {"starts": row.heading("start_time"), "ends": row.heading("end_time")}
    row.note(kind, column, text, **facts)


def _read_times(row: Row, days: int | None) -> Times | None:
    """Return both times or neither, and only with days; None if they can't be read."""
    tba = (None, None)
    column = "start_time"
    try:
        starts_at = start_of(row[column])
        column = "end_time"
        ends_at = time_of(row[column])
    except Unreadable as error:
        row.note("times_unreadable", column, error)
        return None
    if starts_at is None and ends_at is None and days:
        row.note("days_without_time", "days")
    if starts_at and ends_at == time(0) < starts_at:
        row.note("midnight", "end_time")
        ends_at = LAST_MINUTE
    if fault := fault_of_times(starts_at, ends_at, days):
        note_times(row, "time_without_days" if fault == NO_DAYS else "times_unreadable", fault)
        return None
    return (starts_at, ends_at) if days else tba


def fault_of_times(starts: time | None, ends: time | None, days: int | None) -> str:
    """Return which of TIMES is wrong; blank if they fit. `days` is None if they can't be read."""
    if starts is None or ends is None:
        return "" if starts is ends else NO_START if starts is None else NO_END
    return ENDS_EARLY if ends <= starts else NO_DAYS if days == 0 else ""


def _read_dates(row: Row, days: int, read_day: ReadDay) -> Dates | None:
    """Return both dates; None if they can't be used, such as one day without the meeting."""
    column = "date_start"
    try:
        first = read_day(row[column])
        column = "date_end"
        last = read_day(row[column])
    except Unreadable as error:
        row.note("dates_unreadable", column, error)
        return None
    if first is None or last is None:
        row.note("dates_missing", "date_start")
    elif last < first:
        row.note("dates_reversed", "date_end")
        return last, first
    elif first == last and days and not days >> first.weekday() & 1:
        row.note("dates_unreadable", column, _k("The meeting is not on that day of the week."))
        return None
    return first, last


def set_dates(
    meetings: Sequence[Meeting], starts: date | None, ends: date | None
) -> tuple[date, date]:
    """Return the dates of the term: the outermost of all meetings, unless given.

    Give them to meetings without dates. Raise ImportFailedError.
    """
    firsts = [each.first for each in meetings if each.first]
    lasts = [each.last for each in meetings if each.last]
    if not (starts or firsts) or not (ends or lasts):
        raise ImportFailedError(NO_DATES)
    starts, ends = starts or min(firsts), ends or max(lasts)
    if ends < starts:
        raise ImportFailedError(REVERSED_DATES, day=ends)
    for meeting in meetings:
        meeting.first = meeting.first or min(starts, meeting.last or date.max)
        meeting.last = meeting.last or max(ends, meeting.first)
    return starts, ends
