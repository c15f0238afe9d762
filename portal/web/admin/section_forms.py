"""The form of a section, with all its fields.

The plain and the parsed fields of `SectionForm` come from `FIELDS`, the table in
`portal/catalog/section_fields.py`. Meetings and reserved seats are rows of fields.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any, ClassVar

from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import (
    BooleanField,
    Field,
    FieldList,
    FormField,
    HiddenField,
    StringField,
)
from wtforms.validators import Optional, StopValidation
from wtforms.widgets import TextArea

from portal.catalog import formatting, requisites, rooms, sections
from portal.catalog.models import Section
from portal.catalog.record_details import RecordField
from portal.catalog.section_fields import (
    FIELDS,
    MOST_SEATS,
    NamedInstructor,
    SectionDetails,
    parse_codes,
)
from portal.catalog.sections import named_instructors
from portal.catalog.spellings import Unclear
from portal.catalog.term_catalog import TermView
from portal.catalog.views import MeetingView, ReserveView, clock_time, minutes
from portal.core.form_fields import whole_number
from portal.core.i18n import _, _l, _n
from portal.core.moments import milliseconds
from portal.registration.seat_counts import is_active
from portal.reports.effects.sections import OBSTACLES
from portal.web.admin.sections import may_add_rooms
from portal.web.admin.window_forms import FARTHEST, KINDS, TOO_FAR, CohortForm
from portal.web.forms import (
    ChoicesField,
    DateField,
    DecimalField,
    EmailField,
    Form,
    MomentField,
    NumberField,
    SelectOneField,
    Sent,
    TextField,
    TimeField,
)
from portal.windows import cohorts

MOST_MEETINGS, MOST_RESERVES = 20, 8
MOST_ROWS = 200  # of one kind that are read
WITHIN = 366  # days around the term; a date outside has a mistyped year
CRN = re.compile(r"[\w.-]{1,24}")


class ParsedField(StringField):  # type: ignore[misc]
    """A text with its own syntax, such as prerequisites; `data` is the parsed value.

    `parse` raises ValueError.
    """

    def __init__(
        self,
        label: str,
        parse: Callable[[str], Any],
        write: Callable[[Any], str],
        **more: Any,
    ) -> None:
        super().__init__(label, **more)
        self.parse, self.write = parse, write

    def process_formdata(self, valuelist: list[str]) -> None:
        """Parse the text. Raise ValueError if it is invalid."""
        self.data = None
        try:
            self.data = self.parse("".join(valuelist[:1]).replace("\0", ""))
        except ValueError as error:
            raise ValueError(f"{self.label.text}: {error}") from error

    @property
    def written(self) -> str:
        """Return the text as it was sent, or as it is written for the value."""
        if self.raw_data is not None:
            return "".join(self.raw_data[:1])
        return "" if self.data is None else self.write(self.data)

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


class Row(Form):
    """A row of fields in the form of a section."""

    title: ClassVar[str]  # names the row in error messages
    counting: ClassVar[tuple[str, ...]]  # a new row is ignored if all of these are blank

    known = HiddenField()  # set if the section has it already
    gone: BooleanField

    @property
    def counts(self) -> bool:
        """Return whether the row is to be stored."""
        filled = any(any(map(str.strip, self[name].raw_data or ())) for name in self.counting)
        return not self.gone.data and bool(self.known.data or filled)

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the row if it counts."""
        return not self.counts or super().validate(extra_validators)

    def named_errors(self, number: int) -> Iterator[tuple[str, list[str]]]:
        """Yield the errors of each input, with the name of the row."""
        for name, messages in self.errors.items():
            facts = [{"number": number, "message": message} for message in messages]
            yield self[name].name, [str(self.title) % each for each in facts]


NO_TIME = _l("enter a time such as 14:30.")
NO_DATE = _l("enter a date such as 2030-08-26.")


class MeetingForm(Row):
    title = _l("Meeting %(number)s: %(message)s")
    counting = ("days", "starts", "ends", "room", "kind")

    days = ChoicesField(
        _l("Days"),
        choices=lambda: dict(zip(formatting.DAYS, formatting.day_names(), strict=True)),
        chips=True,
    )
    starts = TimeField(_l("From"), [Optional()], invalid_value_message=NO_TIME)
    ends = TimeField(_l("To"), [Optional()], invalid_value_message=NO_TIME)
    room = TextField(
        _l("Room"),
        required=False,
        longest=80,
        too_long=_l("enter at most %(most)s characters."),
        render_kw={"list": "rooms"},
    )
    kind = SelectOneField(_l("Kind"))
    first = DateField(_l("First day"), [Optional()], invalid_value_message=NO_DATE)
    last = DateField(_l("Last day"), [Optional()], invalid_value_message=NO_DATE)
    free = BooleanField(_l("Common exam: never conflicts"))
    gone = BooleanField(_l("Remove this meeting"))
    term: tuple[date, date]  # its first and its last day

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        kinds = {code: formatting.kind(code) for code in formatting.KINDS if len(code) == 3}
        self.kind.data = (self.kind.data or "").replace("\0", "")[:12]
        known = {self.kind.data: kinds.get(self.kind.data, self.kind.data)}
        self.kind.offer({"": "", **kinds} | known)

    def check_together(self) -> None:
        """Check times and dates against each other, and build the meeting."""
        start, end = minutes(self.starts.data), minutes(self.ends.data)
        if (start is None) != (end is None) and not (self.starts.errors or self.ends.errors):
            self.refuse(
                _("enter both times, or leave both blank if they are not decided yet."), "ends"
            )
        if start is not None and end is not None and start >= end:
            self.refuse(_("the end time must be after the start time."), "ends")
        times = (self.starts, self.ends)
        if any(each.data or each.errors for each in times) and not self.days.data:
            self.refuse(_("choose the days."), "days")
        first, last = self.first.data or self.term[0], self.last.data or self.term[1]
        for name, day, usual in zip(("first", "last"), (first, last), self.term, strict=True):
            if abs((day - usual).days) > WITHIN:
                self.refuse(_("that date is far from the term. Check the year."), name)
        if first > last and not (self.first.errors or self.last.errors):
            self.refuse(_("the last day must not be before the first."), "last")
        self.view = MeetingView(
            code=self.kind.data,
            room=self.room.data,
            clashes=not self.free.data,
            mask=sum(1 << n for n, day in enumerate(formatting.DAYS) if day in self.days.data),
            start=start,
            end=end,
            first=first,
            last=last,
            term=self.term,
        )


class ReserveForm(Row, CohortForm):
    """Seats that are reserved for a cohort."""

    title = _l("Reserved seats %(number)s: %(message)s")
    counting = ("seats", "until", *KINDS)

    seats = NumberField(
        _l("Number of seats"),
        least=1,
        most=MOST_SEATS,
        message=_l("enter a whole number from %(least)s to %(most)s."),
    )
    until = MomentField(
        _l("Reserved until"), required=False, description=_l("Leave blank for no end date.")
    )
    place = NumberField(_l("Order"), least=0, most=MOST_SEATS, required=False)
    gone = BooleanField(_l("Remove these reserved seats"))

    def check_together(self) -> None:
        """Check the end, and that the cohort is not empty, and build the reserve."""
        until, known = self.until.data, self.known.data or ""
        if until and abs(until - milliseconds(datetime.now(UTC))) > FARTHEST:
            self.refuse(TOO_FAR % {"field": self.until.label.text}, "until")
            until = None
        self.view = ReserveView(
            id=whole_number(known) or 0,
            seats=self.seats.data or 0,
            cohort=self.check_cohort(
                _("choose at least one year, level, major or student."), "years"
            ),
            until=datetime.fromtimestamp(until / 1000, UTC) if until else None,
        )


class Rows(FieldList):  # type: ignore[misc]
    """Rows of fields named `<rows>_<number>_<field>`, numbered from 0.

    `most` can be added; an imported section may have more.
    """

    def __init__(self, form: type[Row], *, fewest: int, most: int, **more: Any) -> None:
        row = FormField(form, separator="_")
        super().__init__(row, min_entries=fewest, separator="_", **more)
        self.most = most

    @property
    def full(self) -> bool:
        """Return whether no row can be added."""
        return len(self) >= self.most

    def _extract_indices(self, prefix: str, formdata: Sent) -> Iterator[int]:
        rows = f"{prefix}_"
        names = (name.removeprefix(rows) for name in formdata if name.startswith(rows))
        numbers = {name.partition("_")[0] for name in names}
        return (number for number in range(MOST_ROWS) if str(number) in numbers)


class SectionForm(Form):
    """All fields of a section; the plain and the parsed ones come from FIELDS.

    Without a sent form it shows `details`.
    """

    instructor = NamesField(_l("Instructors"), description=_l("One instructor per field."))
    meetings = Rows(MeetingForm, fewest=1, most=MOST_MEETINGS)
    reserves = Rows(ReserveForm, fewest=0, most=MOST_RESERVES)

    def __init__(
        self,
        sent: Sent | None,
        session: Session,
        term: TermView,
        own_code: str,
        details: SectionDetails | None = None,
    ) -> None:
        # Stored values beside sent ones would fill in hidden fields that a new row leaves out.
        super().__init__(sent, data=_values(details) if details and sent is None else None)
        self.session, self.term, self.own_code, self.before = session, term, own_code, details
        self.known = named_instructors(session)
        self.rooms = [each.name for each in rooms.search(session, "")]
        more_of = {"yes": self.meetings, "kept": self.reserves}
        added = more_of.get(sent.get("more", "")) if sent else None
        if added is not None and not added.full:
            added.append_entry()
        for row in self.meetings:
            row.form.term = (term.starts_on, term.ends_on)
        cohort_choices = cohorts.choices(session)
        for row in self.reserves:
            row.form.offer(session, cohort_choices)

    def part(self, name: str) -> list[Field]:
        return [self[each.name] for each in FIELDS.values() if each.part == name != "lists"]

    @property
    def errors(self) -> dict[Any, Any]:
        """Return all errors, those of rows by the names of their inputs."""
        found = dict(super().errors)
        for rows in (self.meetings, self.reserves):
            found.pop(rows.name, None)
            for number, row in enumerate(rows, 1):
                found |= row.named_errors(number)
        return found

    def check_together(self) -> None:
        """Check instructors, reserves and rooms, and build the details that the fields describe."""
        instructors = self._instructors()
        if self._names_own_course():
            own = requisites.shown(self.own_code)
            self.refuse(_("%(code)s is the section’s own course.", code=own), "cross_lists")
        ordered = sorted(enumerate(self.reserves, 1), key=_rank)
        reserves = [row for _number, row in ordered if row.counts]
        self._check_reserves(reserves)
        if self.errors:
            return
        typed = {
            each.name: self[each.name].data for each in FIELDS.values() if each.part != "lists"
        }
        self.details = SectionDetails(
            **typed,
            instructors=instructors,
            meetings=tuple(row.view for row in self.meetings if row.counts),
            reserves=tuple(row.view for row in reserves),
        )
        self._check_rooms()

    def _check_rooms(self) -> None:
        """Add an error to meetings in rooms that are not in the catalog and can't be added."""
        unknown = sections.unknown_rooms(self.session, self.details, self.before)
        if not unknown or may_add_rooms():
            return
        for row in self.meetings:
            if row.counts and row.room.data in unknown:
                row.refuse(OBSTACLES["room_unknown"], "room")

    def _names_own_course(self) -> bool:
        """Return whether it is cross-listed with itself, even beside names that are no codes."""
        for written in self.cross_lists.written.split(","):
            with suppress(Unclear):
                if self.own_code in parse_codes(written):
                    return True
        return False

    def _instructors(self) -> tuple[NamedInstructor, ...]:
        wanted = {name.casefold(): name for name in self.instructor.data}
        known = {each.name.casefold(): each for each in self.known}
        for name in (name for key, name in wanted.items() if key not in known):
            wrong = _("No instructor is called “%(name)s”. Choose a name from the list.", name=name)
            self.refuse(wrong, "instructor")
        return tuple(each for key, each in known.items() if key in wanted)

    def _check_reserves(self, ordered: Iterable[ReserveForm]) -> None:
        """Add an error if more seats are reserved at once than the section has."""
        reserved, capacity = 0, self.capacity.data
        for row in ordered:
            if not is_active(row.view):
                continue
            reserved += row.view.seats
            if capacity is not None and reserved > capacity and not row.seats.errors:
                message = _n(
                    "You reserve %(kept)s seats in total, but the section has %(num)s.",
                    "You reserve %(kept)s seats in total, but the section has %(num)s.",
                    capacity,
                    kept=reserved,
                )
                row.refuse(message, "seats")
                return


def _rank(numbered: tuple[int, ReserveForm]) -> tuple[int, int]:
    """Return a row's place; a moved row goes before or after the row that was there."""
    number, row = numbered
    rank = row.place.data or MOST_RESERVES
    return rank, (rank > number) - (rank < number)


def _values(details: SectionDetails) -> dict[str, Any]:
    typed = {name: getattr(details, name) for name, each in FIELDS.items() if each.part != "lists"}
    meetings = [
        {
            "known": "1",
            "days": [day for bit, day in enumerate(formatting.DAYS) if each.mask >> bit & 1],
            "starts": clock_time(each.start),
            "ends": clock_time(each.end),
            "room": each.room,
            "kind": each.code,
            "first": each.first,
            "last": each.last,
            "free": not each.clashes,
        }
        for each in details.meetings
    ]
    reserves = [
        {
            "known": str(each.id),
            "seats": each.seats,
            "until": milliseconds(each.until) if each.until else None,
            "place": rank,
            **each.cohort,
        }
        for rank, each in enumerate(details.reserves, 1)
    ]
    instructors = [each.name for each in details.instructors]
    return typed | {"instructor": instructors, "meetings": meetings, "reserves": reserves}


def form_field(each: RecordField) -> Any:
    """Return the form field for a field of a record."""
    kw: dict[str, Any] = {"rows": 2} if each.several_lines else {}
    if each.typed_as == "email":
        return EmailField()
    if each.typed_as == "choice":
        return SelectOneField(each.label)
    if each.parse:
        more = {"widget": TextArea()} if each.several_lines else {}
        kw |= {"autocomplete": "off", "spellcheck": "false"}
        return ParsedField(
            each.label, each.parse, each.write, description=each.hint, render_kw=kw, **more
        )
    if each.stored_as == "bool":
        return BooleanField(each.label, description=each.hint)
    if each.stored_as in {"int", "numeric"}:
        whole = each.stored_as == "int"
        number = NumberField if whole else DecimalField
        return number(each.label, required=whole, most=each.most, description=each.hint)
    if each.typed_as == "code":
        kw["spellcheck"] = "false"
    if each.suggested:
        kw["list"] = each.suggested
    return (LinesField if each.several_lines else TextField)(
        each.label,
        required=bool(each.missing),
        missing=each.missing,
        longest=each.longest,
        description=each.hint,
        render_kw=kw,
    )


def add_fields(form: type[Form], fields: Iterable[RecordField]) -> None:
    """Give a form the fields of a record, in their order."""
    for each in fields:
        setattr(form, each.name, form_field(each))


add_fields(SectionForm, (each for each in FIELDS.values() if each.part != "lists"))


class NewSectionForm(SectionForm):
    """All fields of a new section, with its registration number."""

    crn = TextField(
        "CRN",
        longest=200,
        missing=_l("CRN: enter at most 24 letters or digits."),
    )

    def validate_crn(self, field: TextField) -> None:
        """Raise StopValidation if it is not a registration number, or another section has it."""
        if not CRN.fullmatch(field.data):
            raise StopValidation(str(field.missing))
        taken = select(Section.id).where(Section.term_id == self.term.id, Section.crn == field.data)
        if self.session.scalar(taken) is not None:
            raise StopValidation(_("Another section of this term has this CRN. Choose another."))
