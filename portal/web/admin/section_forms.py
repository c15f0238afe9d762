"""The forms of sections: all fields of a section, meetings and reserved seats, seat pools.

The fields of `SectionForm` come from the table in `portal/catalog/section_fields.py`. Meetings and
reserved seats are rows of fields, numbered from 0; `meetings` and `reserves` give the number of
rows.
"""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time
from typing import Any, ClassVar

from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict
from wtforms import BooleanField, Field, HiddenField, StringField
from wtforms.validators import StopValidation, ValidationError
from wtforms.widgets import DateInput, TextArea, TimeInput

from portal.backend import backend
from portal.catalog import cohort_names, formatting, requisites
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Course, Room, Section, Term
from portal.catalog.seat_pools import Member, SeatPool
from portal.catalog.section_fields import (
    FIELDS,
    MOST_SEATS,
    SectionDetails,
    SectionField,
    parse_codes,
)
from portal.catalog.sections import named_teachers
from portal.catalog.spellings import Unclear
from portal.catalog.term_catalog import SectionView, TermCatalog, TermView
from portal.catalog.views import MeetingView, ReserveView, minutes
from portal.core.i18n import _, _l, _n
from portal.registration.next_steps import section_name
from portal.web.forms import (
    ChoicesField,
    Form,
    MomentField,
    NumberField,
    SelectOneField,
    StudentNumbersField,
    TextField,
)
from portal.windows import cohorts

MOST_MEETINGS, MOST_RESERVES, MOST_SHARING = 20, 8, 20
MOST_STUDENTS = 500  # in a list: every process holds it with the section
WITHIN = 366  # days around the term; a date outside has a mistyped year
CRN = re.compile(r"[\w.-]{1,24}")

Sent = MultiDict[str, str]


class ParsedField(StringField):  # type: ignore[misc]
    """A text with its own syntax, such as prerequisites; `data` is the parsed value."""

    def __init__(self, label: str, parse: Callable[[str], Any], **more: Any) -> None:
        super().__init__(label, **more)
        self.parse = parse

    def process_formdata(self, valuelist: list[str]) -> None:
        """Parse the text. Raise ValueError if it is invalid."""
        self.data = None
        try:
            self.data = self.parse("".join(valuelist[:1]).replace("\0", ""))
        except Unclear as unclear:
            raise ValueError(f"{self.label.text}: {unclear}") from unclear

    @property
    def written(self) -> str:
        """Return the text as it was sent."""
        return "".join((self.raw_data or [])[:1])

    def _value(self) -> str:
        return self.written


class LinesField(TextField):
    """An optional text of several lines."""

    widget = TextArea()

    def tidy(self, text: str) -> str:
        """Return the text line by line, without blanks at their ends."""
        lines = (line.rstrip() for line in text.replace("\0", "").splitlines())
        return "\n".join(lines).strip()


class NamesField(Field):  # type: ignore[misc]
    """Names, one per input; `data` has those that are not blank."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the names, without surplus blanks."""
        tidied = (" ".join(each.replace("\0", "").split()) for each in valuelist)
        self.data = [each for each in tidied if each]


class OptionalMomentField(MomentField):
    """An optional day and time."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the moment; None if it is blank."""
        self.data = None
        if "".join(valuelist).strip():
            super().process_formdata(valuelist)


class _Row(Form):
    """A row of fields; their names begin with `prefix`."""

    title: ClassVar[str]  # names the row in error messages
    counting: ClassVar[tuple[str, ...]]  # a new row is ignored if all of these are blank
    known: ClassVar[str]  # a hidden field of rows that existed before

    gone = BooleanField()

    def __init__(self, sent: Sent, letter: str, number: int) -> None:
        super().__init__(sent, prefix=f"{letter}{number}_")
        self.number = number

    @property
    def counts(self) -> bool:
        """Return whether the row is to be stored."""
        said = any(any(map(str.strip, self[name].raw_data or ())) for name in self.counting)
        return not self.gone.data and bool(self[self.known].data or said)

    @property
    def row_errors(self) -> dict[str, list[str]]:
        """Return the row's errors, by the names of its inputs."""
        return {
            f"{self._prefix}{name}": [
                str(self.title) % {"number": self.number + 1, "message": message}
                for message in messages
            ]
            for name, messages in self.errors.items()
        }


class MeetingForm(_Row):
    """A meeting."""

    title = _l("Meeting %(number)s: %(message)s")
    counting = ("days", "starts", "ends", "room", "kind")
    known = "kept"

    kept = HiddenField()
    days = ChoicesField(_l("Days"))
    starts = StringField(_l("From"), widget=TimeInput())
    ends = StringField(_l("To"), widget=TimeInput())
    room = TextField(
        _l("Room"),
        required=False,
        longest=80,
        too_long=_l("at most %(most)s characters, please."),
        render_kw={"list": "rooms"},
    )
    kind = SelectOneField(_l("Kind"))
    first = StringField(_l("First day"), widget=DateInput())
    last = StringField(_l("Last day"), widget=DateInput())
    free = BooleanField(_l("A common exam: clashes with nothing"))
    gone = BooleanField(_l("Leave this meeting out"))

    def __init__(self, sent: Sent, number: int, term: tuple[date, date]) -> None:
        super().__init__(sent, "m", number)
        self.term = term
        self.days.offer(dict(zip(formatting.DAYS, formatting.day_names(), strict=True)))
        kinds = {code: str(name) for code, name in formatting.KINDS.items() if len(code) == 3}
        self.kind.data = (self.kind.data or "")[:12]
        self.kind.offer(
            {"": "", **kinds} | {self.kind.data: kinds.get(self.kind.data, self.kind.data)}
        )

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the fields, and times and dates against each other."""
        super().validate(extra_validators)
        start, end = self._time("starts"), self._time("ends")
        if (start is None) != (end is None) and not (self.starts.errors or self.ends.errors):
            self.refuse(_("give both times, or none while they are not settled."), "ends")
        if start is not None and end is not None and start >= end:
            self.refuse(_("the end must come after the beginning."), "ends")
        if (self.starts.data or self.ends.data) and not self.days.data:
            self.refuse(_("choose the days on which it meets."), "days")
        first, last = (
            self._date(name, day) for name, day in zip(("first", "last"), self.term, strict=True)
        )
        if first > last and not (self.first.errors or self.last.errors):
            self.refuse(_("the last day must not come before the first."), "last")
        self.view = MeetingView(
            code=self.kind.data,
            room=self.room.data,
            clashes=not self.free.data,
            mask=sum(
                1 << formatting.DAYS.index(name)
                for name in self.days.data
                if name in formatting.DAYS
            ),
            start=start,
            end=end,
            first=first,
            last=last,
            term=self.term,
        )
        return not self.errors

    def _time(self, name: str) -> int | None:
        text = (self[name].data or "").strip()
        try:
            return minutes(time.fromisoformat(text)) if text else None
        except ValueError:
            self.refuse(_("give a time of day such as 14:30."), name)
            return None

    def _date(self, name: str, usual: date) -> date:
        text = (self[name].data or "").strip()
        try:
            found = date.fromisoformat(text) if text else usual
        except ValueError:
            self.refuse(_("give a day such as 2030-08-26."), name)
            return usual
        if abs((found - usual).days) > WITHIN:
            self.refuse(_("that day is far from the term. Mind the year."), name)
            return usual
        return found


class ReserveForm(_Row):
    """Seats that are reserved for a cohort."""

    title = _l("Kept seats %(number)s: %(message)s")
    counting = ("seats", "until", "years", "levels", "subjects", "students")
    known = "id"

    id = HiddenField()
    seats = NumberField(
        _l("How many"),
        least=1,
        most=MOST_SEATS,
        message=_l("give a whole number from %(least)s to %(most)s."),
    )
    until = OptionalMomentField(_l("Kept until"), description=_l("Blank: for good."))
    place = NumberField(_l("Place in the order"), least=0, most=MOST_SEATS, required=False)
    years = ChoicesField(_l("Class years"))
    levels = ChoicesField(_l("Levels"))
    subjects = ChoicesField(_l("Majors and minors"))
    students = StudentNumbersField(_l("Student numbers"), most=MOST_STUDENTS)
    gone = BooleanField(_l("Keep these seats no longer"))

    def __init__(
        self, sent: Sent, number: int, session: Session, offered: dict[str, dict[str, str]]
    ) -> None:
        super().__init__(sent, "k", number)
        self.session = session
        for kind in ("years", "levels", "subjects"):
            self[kind].offer(offered[kind])

    @property
    def order(self) -> tuple[int, int]:
        """Return the row's position; a moved row goes before or after the row that was there."""
        place = self.place.data or MOST_RESERVES
        return place, (place > self.number + 1) - (place < self.number + 1)

    def validate_students(self, field: StudentNumbersField) -> None:
        """Raise ValidationError if no student has one of the numbers."""
        if field.data and (unknown := cohorts.unknown_students(self.session, field.data)):
            names = cohort_names.join_names(unknown, 5)
            raise ValidationError(_("No student has the number %(numbers)s.", numbers=names))

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the fields, and that the cohort is not empty."""
        super().validate(extra_validators)
        kinds = ("years", "levels", "subjects", "students")
        cohort = {kind: self[kind].data for kind in kinds if self[kind].data}
        if not cohort and not any(self[kind].errors for kind in kinds):
            self.refuse(_("choose at least one year, level, subject or student."), "years")
        until = self.until.data
        self.view = ReserveView(
            id=_whole(self.id.data),
            seats=self.seats.data or 0,
            cohort=cohort,
            until=datetime.fromtimestamp(until / 1000, UTC) if until else None,
        )
        return not self.errors


class SectionForm(Form):
    """All fields of a section; the plain and the parsed ones come from FIELDS."""

    teacher = NamesField(
        _l("Teachers"), description=_l("One to a field; an empty field is nobody.")
    )

    def __init__(self, sent: Sent, session: Session, term: TermView, own_code: str) -> None:
        super().__init__(sent)
        self.own_code, self.known = own_code, named_teachers(session)
        dates, whom, more = (
            (term.starts_on, term.ends_on),
            cohorts.choices(session),
            sent.get("more"),
        )
        rows = min(MOST_MEETINGS, _whole(sent.get("meetings")) + (more == "yes"))
        self.meetings = [MeetingForm(sent, number, dates) for number in range(rows)]
        kept = min(MOST_RESERVES, _whole(sent.get("reserves")) + (more == "kept"))
        self.reserves = [ReserveForm(sent, number, session, whom) for number in range(kept)]
        rooms = select(Room.name).where(Room.deleted_at.is_(None)).order_by(Room.name)
        self.rooms = list(session.scalars(rooms))
        self.full = rows >= MOST_MEETINGS, kept >= MOST_RESERVES

    def part(self, name: str) -> list[Field]:
        """Return the fields of a part of the form."""
        return [self[each.name] for each in FIELDS.values() if each.part == name != "lists"]

    @property
    def errors(self) -> dict[Any, Any]:
        """Return all errors, including those of the rows."""
        found = dict(super().errors)
        for row in (*self.meetings, *self.reserves):
            found |= row.row_errors
        return found

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the fields and the rows, and build the details that they describe."""
        super().validate(extra_validators)
        teachers = self._teachers()
        if self._names_own_course():
            own = requisites.shown(self.own_code)
            self.refuse(_("%(code)s is the course of the section itself.", code=own), "cross_lists")
        meetings = [row for row in self.meetings if row.counts]
        reserves = sorted((row for row in self.reserves if row.counts), key=lambda row: row.order)
        for row in (*meetings, *reserves):
            row.validate()
        self._check_reserves(reserves)
        if self.errors:
            return False
        typed = {
            each.name: self[each.name].data for each in FIELDS.values() if each.part != "lists"
        }
        self.details = SectionDetails(
            **typed,
            teachers=teachers,
            meetings=tuple(row.view for row in meetings),
            reserves=tuple(row.view for row in reserves),
        )
        return True

    def _names_own_course(self) -> bool:
        """Tell whether it is cross-listed with itself, even beside names that are no codes."""
        for written in self.cross_lists.written.split(","):
            with suppress(Unclear):
                if self.own_code in parse_codes(written):
                    return True
        return False

    def _teachers(self) -> tuple[Any, ...]:
        wanted = {name.casefold(): name for name in self.teacher.data}
        known = {each.name.casefold(): each for each in self.known}
        for name in (name for key, name in wanted.items() if key not in known):
            wrong = _(
                "Nobody who teaches is called “%(name)s”. Choose a name of the list.", name=name
            )
            self.refuse(wrong, "teacher")
        return tuple(each for key, each in known.items() if key in wanted)

    def _check_reserves(self, ordered: Iterable[ReserveForm]) -> None:
        """Add an error if more seats are reserved at once than the section has."""
        kept, capacity = 0, self.capacity.data
        for row in ordered:
            reserve = row.view
            if reserve.until and reserve.until <= datetime.now(UTC):
                continue
            kept += reserve.seats
            if capacity is not None and kept > capacity and not row.seats.errors:
                said = _n(
                    "%(kept)s seats would be kept in all, but there is %(num)s.",
                    "%(kept)s seats would be kept in all, but there are %(num)s.",
                    capacity,
                    kept=kept,
                )
                row.refuse(said, "seats")
                return


class NewSectionForm(SectionForm):
    """All fields of a new section, with its registration number."""

    crn = TextField(
        "CRN",
        longest=200,
        missing=_l("CRN: give a number or a word of at most 24 characters."),
    )

    def __init__(self, sent: Sent, session: Session, term: TermView, own_code: str) -> None:
        super().__init__(sent, session, term, own_code)
        taken = select(Section.id).where(Section.term_id == term.id, Section.crn == self.crn.data)
        self.taken = session.scalar(taken) is not None

    def validate_crn(self, field: TextField) -> None:
        """Raise StopValidation if it is not a registration number, or another section has it."""
        if not CRN.fullmatch(field.data):
            raise StopValidation(str(field.missing))
        if self.taken:
            raise StopValidation(
                _("This term has a section with that CRN already. Choose another.")
            )


class SharedSeatsForm(Form):
    """Seats that sections of a term share."""

    capacity = NumberField(_l("Shared seats"), most=MOST_SEATS)
    name = TextField(
        _l("Name"),
        longest=80,
        missing=_l("Name: give one of at most 80 characters."),
        too_long=_l("Name: give one of at most 80 characters."),
    )
    section = NamesField(
        _l("Sections"),
        description=_l(
            "One to a field, such as CSCI 1100-01, or its CRN. Empty a field to take the section"
            " out; with fewer than two, nothing is shared any more."
        ),
    )

    def __init__(self, sent: Sent, session: Session, offered: TermCatalog, now: SeatPool) -> None:
        super().__init__(sent)
        self.session, self.offered, self.now = session, offered, now

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the fields, and build the pool that they describe."""
        super().validate(extra_validators)
        members = self._members()
        if len(members) == 1 and not self.now.id:
            self.refuse(
                _("Name another section: one alone shares its seats with nobody."), "section"
            )
        if self.errors:
            return False
        capacity, name = self.capacity.data, self.name.data
        self.pool = SeatPool(self.now.id, self.now.version, name, capacity, members)
        return True

    def _members(self) -> tuple[Member, ...]:
        known = {
            key: each
            for each in self.offered.sections
            for key in (_key(section_name(each)), _key(each.crn))
        }
        found: dict[int, Member] = {}
        for typed in self.section.data:
            section = known.get(_key(typed))
            if section is None:
                self.refuse(self._nowhere(typed[:60]), "section")
            elif why := self._obstacle(section):
                self.refuse(why, "section")
            else:
                found[section.id] = Member(section.id, section_name(section))
        if len(found) > MOST_SHARING:
            self.refuse(_("At most %(most)s sections share seats.", most=MOST_SHARING), "section")
        return tuple(sorted(found.values(), key=lambda each: (each.name, each.id)))

    def _obstacle(self, section: SectionView) -> str:
        """Return why a section can't join the pool; blank if it can or already has."""
        if section.id in self.now.ids and section.pool == (self.now.id or None):
            return ""
        if section.status == "CANCELED":
            return _("%(name)s has been canceled.", name=section_name(section))
        if section.pool:
            return _(
                "%(name)s shares its seats with others already. Take it out there first.",
                name=section_name(section),
            )
        return ""

    def _nowhere(self, typed: str) -> str:
        """Return that this term has no such section, and which term has."""
        number = (typed.replace("-", " ").split() or [typed])[-1]
        found = (
            select(Course.code, Section.number, Section.crn, Term.name)
            .join(Course, Course.id == Section.course_id)
            .join(Term, Term.id == Section.term_id)
            .where(Section.term_id != self.offered.term.id, Section.deleted_at.is_(None))
            .where((Section.number == number) | (Section.crn == typed))
            .order_by(Term.starts_on.desc())
        )
        for code, number, crn, term in self.session.execute(found):
            if _key(typed) in {_key(f"{code}-{number}"), _key(crn)}:
                return _(
                    "“%(name)s” is a section of %(term)s, and only sections of one term share"
                    " seats.",
                    name=typed,
                    term=term,
                )
        return _(
            "There is no section “%(name)s” in this term. Give its name as in the list, or its"
            " CRN.",
            name=typed,
        )


def write_details(details: SectionDetails) -> Sent:
    """Return the fields of an unchanged `SectionForm`."""
    sent: Sent = MultiDict()
    for each in FIELDS.values():
        if each.part != "lists":
            sent[each.name] = each.write(getattr(details, each.name))
    sent.setlist("teacher", [each.name for each in details.teachers])
    sent["meetings"], sent["reserves"] = str(len(details.meetings) or 1), str(len(details.reserves))
    for number, meeting in enumerate(details.meetings):
        _write_meeting(sent, f"m{number}_", meeting)
    for number, reserve in enumerate(details.reserves):
        _write_reserve(sent, number, reserve)
    return sent


def write_pool(pool: SeatPool) -> Sent:
    """Return the fields of an unchanged `SharedSeatsForm`."""
    sent: Sent = MultiDict({"name": pool.name, "capacity": str(pool.capacity)})
    sent.setlist("section", [each.name for each in pool.members])
    return sent


def _write_meeting(sent: Sent, row: str, view: MeetingView) -> None:
    times = {"starts": view.start, "ends": view.end}
    written = {
        name: "" if at is None else f"{at // 60:02}:{at % 60:02}" for name, at in times.items()
    }
    written |= {"kept": "1", "kind": view.code, "room": view.room}
    written |= {"first": view.first.isoformat(), "last": view.last.isoformat()}
    written |= {} if view.clashes else {"free": "y"}
    for name, text in written.items():
        sent[f"{row}{name}"] = text
    days = [name for bit, name in enumerate(formatting.DAYS) if view.mask >> bit & 1]
    sent.setlist(f"{row}days", days)


def _write_reserve(sent: Sent, number: int, view: ReserveView) -> None:
    row = f"k{number}_"
    sent[f"{row}id"], sent[f"{row}seats"] = str(view.id), str(view.seats)
    sent[f"{row}place"] = str(number + 1)
    for kind in ("years", "levels", "subjects"):
        sent.setlist(f"{row}{kind}", view.cohort.get(kind, []))
    sent[f"{row}students"] = " ".join(view.cohort.get("students", []))
    if view.until:
        clock, moment = LocalClock(backend().settings.zone), round(view.until.timestamp() * 1000)
        sent[f"{row}until"] = clock.field(moment)
        sent[f"{row}until_which"] = "second" if clock.at(moment).fold else "first"


def _form_field(each: SectionField) -> Any:
    """Return the form field for a field of sections."""
    area: dict[str, Any] = {"rows": 2} if each.several_lines else {}
    if each.parse:
        more = {"widget": TextArea()} if each.several_lines else {}
        kw = area | {"autocomplete": "off", "spellcheck": "false"}
        return ParsedField(each.label, each.parse, description=each.hint, render_kw=kw, **more)
    if each.stored_as == "int":
        return NumberField(each.label, most=MOST_SEATS, description=each.hint)
    return (LinesField if each.several_lines else TextField)(
        each.label,
        required=bool(each.missing),
        missing=each.missing,
        longest=each.longest,
        description=each.hint,
        render_kw=area,
    )


def _key(name: str) -> str:
    return " ".join(name.upper().replace("-", " ").split())


def _whole(text: str | None) -> int:
    """Return the whole number of a hidden field; 0 if it is not one."""
    short = text or ""
    return int(short) if short.isascii() and short.isdigit() and len(short) < 10 else 0


for _each in FIELDS.values():
    if _each.part != "lists":
        setattr(SectionForm, _each.name, _form_field(_each))
