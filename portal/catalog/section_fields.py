"""The fields of a section that an admin may set: one table from which the rest is derived.

Each attribute of `SectionDetails` describes a field completely. These parts are derived from it:
the admin's form and its checks, the differences on the confirmation page, the stored columns, and
the audit trail with its labels; notifications of changes, the columns of imports, the records that
imports compare, exports, and the facts in the section picker.

`docs/developers-guide.md` shows how to add a plain field, which is a text or number of its own. A
field of another shape, such as the meetings, is an attribute of `SectionDetails`. It is read and
written in `views.py` and `sections.py`; its form field is in `portal/web/admin/section_forms.py`.

The importer reads plain texts out of the column that `imported_from` names. `PLAIN` fills in the
SQL that compares and stores records: see `exchange/records.py`.
"""

# ruff: noqa: RUF009 - the calls in the classes below give immutable defaults
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from portal.catalog import cohort_names, formatting, requisites, restrictions
from portal.catalog.local_time import local_clock
from portal.catalog.requisites import Tree
from portal.catalog.spellings import Unclear, Unreadable, code_of, credits_of
from portal.core.i18n import _, _l

if TYPE_CHECKING:
    from portal.catalog.views import MeetingView, ReserveView

PARTS = ("about", "seats", "lists", "rules")
Lines = list[str]  # a value as people read it
MOST_SEATS = 100_000
LONGEST_NOTE = 4000  # characters
AMOUNT = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
MOST_NAMES = 10_000  # that a line of the audit trail gives: two long lists must not read alike


@dataclass(frozen=True)
class Difference:
    """A field that differs between two versions of a record."""

    label: str
    old: Lines
    new: Lines


@dataclass(frozen=True, kw_only=True)
class SectionField:
    """The description of a field; `name` is its key in forms, records and the audit trail."""

    name: str = ""
    label: str
    lines: Callable[[Any], Lines]
    part: Literal["about", "seats", "lists", "rules"]  # of the form
    hint: str = ""
    # One column of `sections` stores a plain field unchanged.
    column: str = ""
    stored_as: Literal["", "text", "int", "bool", "jsonb"] = ""
    longest: int = 0  # characters of a text
    missing: str = ""  # the error for a blank value; "" if the field is optional
    several_lines: bool = False
    # A field that is typed as a text of its own form: how it is read and written.
    parse: Callable[[str], Any] | None = None  # raises Unclear
    write: Callable[[Any], str] = str
    imported_from: str = ""  # its column in sections.csv; `headings.py` may have other headings
    notified: bool = False  # students who have a seat or wait are notified of a change
    picker: bool = False  # students read it among the facts of a section

    @property
    def plain(self) -> bool:
        """Return whether a column of `sections` stores it unchanged."""
        return bool(self.stored_as)


class NamedInstructor(NamedTuple):
    """An instructor with a unique name."""

    id: int
    name: str


def text(label: str, longest: int, **more: Any) -> Any:
    """Define a plain text."""
    known = {"part": "about", "stored_as": "text", "lines": _text_lines}
    return _define("", label=label, longest=longest, **known | more)


def count(label: str, **more: Any) -> Any:
    """Define a plain whole number."""
    return _define(0, label=label, part="seats", stored_as="int", lines=_text_lines, **more)


def flag(label: str, text: str, **more: Any) -> Any:
    """Define a plain yes or no; `text` says what a yes means."""

    def lines(on: Any) -> Lines:
        return [str(text)] if on else []

    known = {"part": "rules", "stored_as": "bool", "lines": lines}
    return _define(default=False, label=label, **known | more)


def requisite(label: str, **more: Any) -> Any:
    """Define a tree of courses."""
    return _define(
        None,
        label=label,
        part="rules",
        stored_as="jsonb",
        several_lines=True,
        lines=lambda tree: _text_lines(requisites.write(tree, requisites.shown)),
        write=requisites.write,
        **{"parse": requisites.parse} | more,
    )


def other(default: Any, label: str, lines: Callable[[Any], Lines], **more: Any) -> Any:
    """Define a field that no single column stores unchanged."""
    return _define(default, label=label, lines=lines, **{"part": "lists"} | more)


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
    moment = round(view.until.timestamp() * 1000)
    until = local_clock().full(moment)
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


def _define(default: Any, **known: Any) -> Any:
    return field(default=default, metadata={"field": SectionField(**known)})


def _text_lines(value: Any) -> Lines:
    return [str(value)] if str(value) else []


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
        lines=lambda kind: _text_lines(formatting.kind(kind)),
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
        hint=_l(
            "Courses to pass first, such as: CSC 1100 with C and (MAT 1010 or MAT 1020)."
            " “with C” means a grade of C or better."
        ),
        notified=True,
    )
    corequisites: Tree | None = requisite(
        _l("Corequisites"),
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
class SectionDetails(PlainFields):
    """Every field of a section that an admin may set; the status is separate."""

    credits: tuple[Decimal, Decimal] = other(
        (Decimal(0), Decimal(0)),
        _l("Credits"),
        lambda credits_: [formatting.credit_range(*credits_)],
        part="seats",
        parse=parse_credits,
        write=write_credits,
        notified=True,
    )
    meetings: "tuple[MeetingView, ...]" = other(
        (), _l("Meetings"), lambda meetings: [*map(meeting_line, meetings)], notified=True
    )
    instructors: tuple[NamedInstructor, ...] = other(
        (),
        _l("Instructors"),
        lambda instructors: [each.name for each in instructors],
        notified=True,
    )
    restrictions: tuple[tuple[str, str, str], ...] = other(
        (),
        _l("Restrictions"),
        lambda rules: restrictions.write(rules).splitlines(),
        part="rules",
        hint=_l("One per line, such as “must be level: Graduate” or “may not be major: Biology”"),
        several_lines=True,
        parse=restrictions.parse,
        write=restrictions.write,
        notified=True,
    )
    cross_lists: tuple[str, ...] = other(
        (),
        _l("Also offered as"),
        lambda codes: [*map(requisites.shown, codes)],
        part="rules",
        hint=_l("Codes of other courses, separated by commas."),
        parse=parse_codes,
        write=", ".join,
    )
    reserves: "tuple[ReserveView, ...]" = other(  # by their order; id 0 = not stored yet
        (), _l("Reserved seats"), lambda reserves: [*map(reserve_line, reserves)]
    )


def _fields() -> Iterable[SectionField]:
    for each in fields(SectionDetails):
        known: SectionField = each.metadata["field"]
        column = known.column or (each.name if known.plain else "")
        yield SectionField(**vars(known) | {"name": each.name, "column": column})


# In the order in which people read them.
FIELDS: Mapping[str, SectionField] = {
    each.name: each for each in sorted(_fields(), key=lambda each: PARTS.index(each.part))
}
PLAIN = tuple(each for each in FIELDS.values() if each.plain)
