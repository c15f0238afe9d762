"""The kept seats in the form of a section: a row of fields for each, numbered from 0."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.admin.times import Reading, read_time
from portal.admin.windows.form import SHOWN_UNKNOWN, read_some
from portal.backend import backend
from portal.catalog import cohort_names
from portal.catalog.local_time import LocalClock
from portal.catalog.views import ReserveView
from portal.core.i18n import _, _n
from portal.recorder.events import milliseconds, moment
from portal.windows import cohorts

MOST = 8  # rows
MOST_SEATS = 100_000
MOST_STUDENTS = 500  # of a list: every process holds it with the section
PARTS = ("seats", "until", *cohort_names.KINDS)  # a new row in which none of these stands is none

Form = MultiDict[str, str]


def write_reserves(form: Form, reserves: Sequence[ReserveView]) -> None:
    """Fill in a row for each of the reserves."""
    clock = LocalClock(backend().settings.zone)
    for number, view in enumerate(reserves):
        row = f"k{number}_"
        form[f"{row}id"], form[f"{row}seats"] = str(view.id), str(view.seats)
        form[f"{row}place"] = str(number + 1)
        for kind in ("years", "levels", "subjects"):
            form.setlist(f"{row}{kind}", view.cohort.get(kind, []))
        form[f"{row}students"] = " ".join(view.cohort.get("students", []))
        if view.until:
            _write_until(form, f"{row}until", view.until, clock)
    form["reserves"] = str(len(reserves))


def rows(form: Form) -> int:
    """How many rows of kept seats the form has."""
    return min(_whole(form.get("reserves", "")) or 0, MOST)


def read_reserves(session: Session, reading: Reading, form: Form) -> None:
    """Read the rows that are not left out, in the order that they ask for."""
    written = [Row(session, reading, form, f"k{number}_") for number in range(rows(form))]
    counting = [row for row in written if row.counts]
    ordered = sorted(counting, key=Row.order)
    reading.values["reserves"] = tuple(row.read() for row in ordered)
    _fit(reading, ordered)


def _fit(reading: Reading, ordered: Sequence["Row"]) -> None:
    """No more seats can be kept at once than the section has."""
    kept, capacity = 0, reading.values["capacity"]
    for row, reserve in zip(ordered, reading.values["reserves"], strict=True):
        if reserve.until and reserve.until <= datetime.now(UTC):
            continue
        kept += reserve.seats
        if kept > capacity >= 0 and 0 < reserve.seats <= MOST_SEATS:
            said = _n(
                "%(kept)s seats would be kept in all, but there is %(num)s.",
                "%(kept)s seats would be kept in all, but there are %(num)s.",
                capacity,
                kept=kept,
            )
            row.wrong("seats", said)
            break


@dataclass(frozen=True)
class Row:
    """One row; `name` begins the names of its fields."""

    session: Session
    reading: Reading
    form: Form
    name: str

    @property
    def counts(self) -> bool:
        """Whether it keeps seats: one that was there before, or in which something stands."""
        said = any(each.strip() for part in PARTS for each in self.form.getlist(self.name + part))
        return not self.text("gone") and bool(self.text("id") or said)

    def order(self) -> tuple[int, int]:
        """Its place among the others; who was moved there comes before or after who stood there."""
        place = _whole(self.text("place")) or MOST
        return place, (place > self.number) - (place < self.number)

    def read(self) -> ReserveView:
        """The reserve, what is wrong with it noted."""
        seats = _whole(self.text("seats"))
        if seats is None or not 1 <= seats <= MOST_SEATS:
            most = f"{MOST_SEATS:,}"
            self.wrong("seats", _("give a whole number from 1 to %(most)s.", most=most))
        return ReserveView(
            id=_whole(self.text("id")) or 0,
            seats=seats or 0,
            cohort=self.cohort(),
            until=self.until(),
        )

    def text(self, part: str) -> str:
        return self.form.get(f"{self.name}{part}", "").strip()

    def wrong(self, part: str, message: str) -> None:
        told = _("Kept seats %(number)s: %(message)s", number=self.number, message=message)
        self.reading.wrong(f"{self.name}{part}", told)

    @property
    def number(self) -> int:
        return int(self.name[1:-1]) + 1

    def cohort(self) -> cohorts.Cohort:
        own = Reading()
        found = read_some(self.session, own, self.form, self.name, MOST_STUDENTS)
        if own.listed and own.listed.unknown and not own.errors:
            shown = cohort_names.join_names(own.listed.unknown, SHOWN_UNKNOWN)
            own.wrong(
                f"{self.name}students", _("No student has the number %(numbers)s.", numbers=shown)
            )
        self.take(own)
        if own.listed and own.listed.unknown and not own.errors:
            shown = cohort_names.join_names(own.listed.unknown)
            self.wrong("students", _("No student has the number %(numbers)s.", numbers=shown))
        if not found and not own.errors:
            self.wrong("years", _("choose at least one year, level, subject or student."))
        return found

    def until(self) -> datetime | None:
        if not self.text("until"):
            return None
        own, name = Reading(), f"{self.name}until"
        clock = LocalClock(backend().settings.zone)
        read_time(own, self.form, name, clock, _("Kept until"))
        self.reading.choices |= own.choices
        self.take(own)
        return moment(own.values[name]) if name in own.values else None

    def take(self, own: Reading) -> None:
        """What is wrong with a part of the row, said of the row."""
        for name, messages in own.errors.items():
            for message in messages:
                self.wrong(name.removeprefix(self.name), message)


def _write_until(form: Form, name: str, until: datetime, clock: LocalClock) -> None:
    ms = milliseconds(until)
    form[name] = clock.field(ms)
    form[f"{name}_which"] = "second" if clock.at(ms).fold else "first"


def _whole(text: str) -> int | None:
    """A whole number as it is typed; longer ones are out of every range."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
