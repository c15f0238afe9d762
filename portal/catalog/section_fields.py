"""The fields of a section that an admin may set: one table from which the rest is derived.

It is a table of `record_details.py`. More is derived from it than for other records: notifications
of changes, the columns of imports, and the facts in the section picker.

`docs/developers-guide.md` shows how to add a plain field, which is a text or number of its own. A
field of another shape, such as the meetings, is an attribute of `SectionDetails`. It is read and
written in `views.py` and `sections.py`; its form field is in `portal/web/admin/section_forms.py`.

The importer reads plain texts out of the column that `imported_from` names. `PLAIN` fills in the
SQL that compares and stores records: see `exchange/records.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from portal.catalog import cohort_names, formatting, requisites, restrictions
from portal.catalog.local_time import local_clock
from portal.catalog.record_details import (
    Lines,
    RecordDetails,
    RecordField,
    described,
    text,
    text_lines,
)
from portal.catalog.requisites import Tree
from portal.catalog.spellings import Unclear, Unreadable, code_of, credits_of
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds

if TYPE_CHECKING:
    from portal.catalog.views import MeetingView, ReserveView

MOST_SEATS = 100_000
LONGEST_NOTE = 4000  # characters
AMOUNT = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
MOST_NAMES = 10_000  # that a line of the audit trail gives: two long lists must not read alike


@dataclass(frozen=True, kw_only=True)
class SectionField(RecordField):
    """The description of a field of sections."""

    part: Literal["about", "seats", "lists", "rules"] = "about"  # of the form
    imported_from: str = ""  # its column in sections.csv; `headings.py` may have other headings
    notified: bool = False  # students who have a seat or wait are notified of a change
    picker: bool = False  # students read it among the facts of a section


class NamedInstructor(NamedTuple):
    """An instructor with a unique name."""

    id: int
    name: str


def count(label: str, **more: Any) -> Any:
    """Define a plain whole number."""
    return described(0, label, part="seats", stored_as="int", most=MOST_SEATS, **more)


def flag(label: str, text: str, **more: Any) -> Any:
    """Define a plain yes or no; `text` says what a yes means."""

    def lines(on: Any) -> Lines:
        return [str(text)] if on else []

    return described(
        default=False, label=label, part="rules", stored_as="bool", lines=lines, **more
    )


def requisite(label: str, **more: Any) -> Any:
    """Define a tree of courses."""
    return described(
        None,
        label,
        stored_as="jsonb",
        several_lines=True,
        lines=lambda tree: text_lines(requisites.write(tree, requisites.shown)),
        write=requisites.write,
        **{"parse": requisites.parse} | more,
    )


def credit_lines(credits_: tuple[Decimal, Decimal]) -> Lines:
    """Return the least and the most credits in one line."""
    return [formatting.credit_range(*credits_)]


def meeting_line(view: "MeetingView") -> str:
    """Return a meeting in a line: `Lecture, Mon Thu 10:00–11:50 am, Hall 1`."""
    parts = [view.kind, f"{view.days} {view.times}".strip(), view.dates, view.room]
    if not view.clashes:
        parts.append(_("never conflicts"))
    return ", ".join(part for part in parts if part)


def reserve_line(view: "ReserveView") -> str:
    """Return reserved seats in a line, in full: `5 for Senior, until Mon, Nov 23, …`."""
    facts = {"seats": view.seats, "whom": cohort_names.describe(view.cohort, MOST_NAMES)}
    if view.until is None:
        return _("%(seats)s for %(whom)s", **facts)
    until = local_clock().full(milliseconds(view.until))
    return _("%(seats)s for %(whom)s, until %(until)s", until=until, **facts)


def parse_credits(written: str) -> tuple[Decimal, Decimal]:
    """Return the least and the most credits. Raise `Unclear`, also for `4-1`."""
    try:
        least, most = credits_of(written)
    except Unreadable:
        raise Unclear(_("enter a number such as 4, or a range such as 1-15.")) from None
    amounts = [Decimal(each) for each in AMOUNT.findall(written)]
    if amounts != sorted(amounts):
        raise Unclear(_("write the lowest number first, such as 1-15."))
    return least, most


def write_credits(credits_: tuple[Decimal, Decimal]) -> str:
    """Return the text that `parse_credits` reads back as these."""
    least, most = (formatting.plain_number(each) for each in credits_)
    return least if least == most else f"{least}-{most}"


def parse_codes(written: str) -> tuple[str, ...]:
    """Return the course codes of a list with commas, sorted. Raise `Unclear`."""
    codes = set()
    for each in filter(None, map(str.strip, written.split(","))):
        try:
            codes.add(code_of(each))
        except Unreadable:
            wrong = _("“%(written)s” is not a course code such as CSC 1100.", written=each[:60])
            raise Unclear(wrong) from None
    return tuple(sorted(codes))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainFields:
    """Fields that a column of `sections` stores unchanged; pages read them for each section."""

    number: str = text(
        _l("Section number"),
        16,
        missing=_l("Enter a section number, such as 01."),
        imported_from="section",
    )
    title: str = text(
        _l("Title"),
        200,
        hint=_l("Shown to students next to the course title, if sections have different titles."),
        imported_from="section_title",
        notified=True,
    )
    kind: str = text(
        _l("Kind"),
        60,
        lines=lambda kind: text_lines(formatting.kind(kind)),
        imported_from="schedule_type",
    )
    capacity: int = count(_l("Seats"))
    waitlist: int = count(_l("Waitlist capacity"), column="waitlist_capacity")
    campus: str = text(_l("Campus"), 80, imported_from="campus", notified=True, picker=True)
    method: str = text(_l("Method"), 80, imported_from="method", notified=True, picker=True)
    note: str = text(
        _l("Note"), LONGEST_NOTE, several_lines=True, imported_from="note", notified=True
    )
    prerequisites: Tree | None = requisite(
        _l("Prerequisites"),
        part="rules",
        hint=_l(
            "Courses to pass first, such as: CSC 1100 with C and (MAT 1010 or MAT 1020)."
            " “with C” means a grade of C or better."
        ),
        notified=True,
    )
    corequisites: Tree | None = requisite(
        _l("Corequisites"),
        part="rules",
        parse=requisites.parse_ungraded,
        hint=_l(
            "Courses to take in the same term, in the same format. If two courses name"
            " each other, students take both together."
        ),
        notified=True,
    )
    consent: bool = flag(
        _l("Instructor’s consent"),
        _l("Needed"),
        hint=_l("Students ask for it, and an instructor of the section decides."),
        imported_from="consent",
        notified=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionDetails(PlainFields, RecordDetails):
    """Every field of a section that an admin may set; the status is separate."""

    FIELD: ClassVar = SectionField
    PARTS: ClassVar = ("about", "seats", "lists", "rules")

    credits: tuple[Decimal, Decimal] = described(
        (Decimal(0), Decimal(0)),
        _l("Credits"),
        lines=credit_lines,
        part="seats",
        parse=parse_credits,
        write=write_credits,
        notified=True,
    )
    meetings: "tuple[MeetingView, ...]" = described(
        (),
        _l("Meetings"),
        lines=lambda meetings: [*map(meeting_line, meetings)],
        part="lists",
        notified=True,
    )
    instructors: tuple[NamedInstructor, ...] = described(
        (),
        _l("Instructors"),
        lines=lambda instructors: [each.name for each in instructors],
        part="lists",
        notified=True,
    )
    restrictions: tuple[tuple[str, str, str], ...] = described(
        (),
        _l("Restrictions"),
        lines=lambda rules: restrictions.write(rules).splitlines(),
        part="rules",
        hint=_l("One per line, such as “must be level: Graduate” or “may not be major: Biology”"),
        several_lines=True,
        parse=restrictions.parse,
        write=restrictions.write,
        notified=True,
    )
    cross_lists: tuple[str, ...] = described(
        (),
        _l("Also offered as"),
        lines=lambda codes: [*map(requisites.shown, codes)],
        part="rules",
        hint=_l("Codes of other courses, separated by commas."),
        parse=parse_codes,
        write=", ".join,
    )
    reserves: "tuple[ReserveView, ...]" = described(  # by their order; id 0 = not stored yet
        (),
        _l("Reserved seats"),
        lines=lambda reserves: [*map(reserve_line, reserves)],
        part="lists",
    )


FIELDS: Mapping[str, SectionField] = SectionDetails.fields()
PLAIN: tuple[SectionField, ...] = SectionDetails.plain_fields()
