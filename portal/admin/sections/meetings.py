"""The meetings in the form of a section: a row of fields for each, numbered from 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time

from werkzeug.datastructures import MultiDict

from portal.admin.times import Reading
from portal.catalog.formatting import DAYS
from portal.catalog.search import hours
from portal.catalog.views import MeetingView, minutes
from portal.core.i18n import _

MOST = 20  # rows
KIND, ROOM = 12, 80  # characters
WITHIN = 366  # days around the term; beyond them a year has been mistyped
SAID = ("kind", "starts", "ends", "room")  # a new row in which none of these stands is none

Form = MultiDict[str, str]


def write_meetings(form: Form, meetings: Sequence[MeetingView]) -> None:
    """Fill in a row for each of the meetings, and leave a first one blank where there is none."""
    for number, view in enumerate(meetings):
        row = f"m{number}_"
        form[f"{row}kept"] = "1"
        form[f"{row}kind"], form[f"{row}room"] = view.code, view.room
        form[f"{row}starts"], form[f"{row}ends"] = hours(view.start), hours(view.end)
        form[f"{row}first"], form[f"{row}last"] = view.first.isoformat(), view.last.isoformat()
        form.setlist(f"{row}days", [name for bit, name in enumerate(DAYS) if view.mask >> bit & 1])
        if not view.clashes:
            form[f"{row}free"] = "1"
    form["meetings"] = str(len(meetings) or 1)


def rows(form: Form) -> int:
    """How many rows of meetings the form has."""
    text = form.get("meetings", "")
    return min(int(text), MOST) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def read_meetings(reading: Reading, form: Form, term: tuple[date, date]) -> None:
    """Read the rows that are not left out."""
    written = (Row(reading, form, f"m{number}_", term) for number in range(rows(form)))
    reading.values["meetings"] = tuple(row.read() for row in written if row.counts)


@dataclass(frozen=True)
class Row:
    """One row; `name` begins the names of its fields."""

    reading: Reading
    form: Form
    name: str
    term: tuple[date, date]

    @property
    def counts(self) -> bool:
        """Whether it is a meeting: one that was there before, or in which something stands."""
        if self.text("gone"):
            return False
        said = any(self.text(each) for each in SAID) or self.form.getlist(f"{self.name}days")
        return bool(self.text("kept") or said)

    def read(self) -> MeetingView:
        """The meeting, what is wrong with it noted."""
        start, end = self.times()
        first, last = self.dates()
        return MeetingView(
            code=self.short("kind", KIND),
            room=self.short("room", ROOM),
            clashes=not self.text("free"),
            mask=self.days(bool(start or end)),
            start=start,
            end=end,
            first=first,
            last=last,
            term=self.term,
        )

    def text(self, field: str) -> str:
        return " ".join(self.form.get(f"{self.name}{field}", "").replace("\0", "").split())

    def wrong(self, field: str, message: str) -> None:
        number = int(self.name[1:-1]) + 1
        told = _("Meeting %(number)s: %(message)s", number=number, message=message)
        self.reading.wrong(f"{self.name}{field}", told)

    def short(self, field: str, most: int) -> str:
        text = self.text(field)
        if len(text) > most:
            self.wrong(field, _("at most %(most)s characters, please.", most=most))
        return text

    def days(self, timed: bool) -> int:  # noqa: FBT001 - whether it has times
        chosen = self.form.getlist(f"{self.name}days")
        mask = sum(1 << DAYS.index(name) for name in set(chosen) if name in DAYS)
        if timed and not mask:
            self.wrong("days", _("choose the days on which it meets."))
        return mask

    def times(self) -> tuple[int | None, int | None]:
        start, end = self.time("starts"), self.time("ends")
        if (start is None) != (end is None) and not self.is_wrong("starts", "ends"):
            self.wrong("ends", _("give both times, or none while they are not settled."))
        if start is not None and end is not None and start >= end:
            self.wrong("ends", _("the end must come after the beginning."))
        return start, end

    def time(self, field: str) -> int | None:
        text = self.text(field)
        try:
            return minutes(time.fromisoformat(text)) if text else None
        except ValueError:
            self.wrong(field, _("give a time of day such as 14:30."))
            return None

    def dates(self) -> tuple[date, date]:
        first, last = self.date("first", self.term[0]), self.date("last", self.term[1])
        if first > last and not self.is_wrong("first", "last"):
            self.wrong("last", _("the last day must not come before the first."))
        return first, last

    def date(self, field: str, usual: date) -> date:
        text = self.text(field)
        try:
            found = date.fromisoformat(text) if text else usual
        except ValueError:
            self.wrong(field, _("give a day such as 2030-08-26."))
            return usual
        if abs((found - usual).days) > WITHIN:
            self.wrong(field, _("that day is far from the term. Mind the year."))
            return usual
        return found

    def is_wrong(self, *fields: str) -> bool:
        return any(f"{self.name}{field}" in self.reading.errors for field in fields)
