"""The form of a section: written from what is stored, and read in full, every error at once."""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeVar

from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.admin.sections.meetings import read_meetings, write_meetings
from portal.admin.sections.reserves import read_reserves, write_reserves
from portal.admin.times import Reading
from portal.catalog import requisites, restrictions
from portal.catalog.section_fields import FIELDS, SectionDetails
from portal.catalog.sections import named_teachers
from portal.catalog.spellings import Unclear, Unreadable, code_of, credits_of
from portal.catalog.term_catalog import TermView
from portal.core.i18n import _

TEXTS = {"number": 16, "title": 200, "kind": 60, "campus": 80, "method": 80}
NOTE = 4000
COUNTS = {"capacity": "capacity", "waitlist": "waitlist"}
MOST_SEATS = 100_000
AMOUNT = re.compile(r"\d+(?:\.\d+)?", re.ASCII)
READERS: dict[str, Callable[[str], Any]] = {
    "prerequisites": requisites.parse,
    "corequisites": requisites.parse,
    "restrictions": restrictions.parse,
}

Form = MultiDict[str, str]
Value = TypeVar("Value")


def write(details: SectionDetails) -> Form:
    """The form as it stands before anything has been changed in it."""
    form: Form = MultiDict({name: getattr(details, name) for name in (*TEXTS, "note")})
    least, most = (f"{each.normalize():f}" for each in details.credits)
    form["credits"] = least if least == most else f"{least}-{most}"
    for name in COUNTS:
        form[name] = str(getattr(details, name))
    for name in ("prerequisites", "corequisites"):
        form[name] = requisites.write(getattr(details, name))
    form["restrictions"] = restrictions.write(details.restrictions)
    form["cross_lists"] = ", ".join(details.cross_lists)
    form.setlist("teacher", [each.name for each in details.teachers])
    write_meetings(form, details.meetings)
    write_reserves(form, details.reserves)
    return form


def read(
    session: Session, form: Form, term: TermView, own_code: str
) -> tuple[SectionDetails | None, Reading]:
    """The section that the form describes, None while anything is wrong with it."""
    reading = Reading()
    for name, most in TEXTS.items():
        reading.values[name] = _line(reading, form, name, most)
    reading.values["note"] = _note(reading, form)
    if not reading.values["number"]:
        reading.wrong("number", _("Give the section a number, such as 01."))
    for name in COUNTS:
        _read_count(reading, form, name)
    _read_credits(reading, form)
    _read_teachers(session, reading, form)
    read_meetings(reading, form, (term.starts_on, term.ends_on))
    for name, parse in READERS.items():
        _read_text(reading, form, name, parse)
    _read_cross_lists(reading, form, own_code)
    read_reserves(session, reading, form)
    return (None, reading) if reading.errors else (SectionDetails(**reading.values), reading)


def label(name: str) -> str:
    """What a field is called."""
    return FIELDS[name].label


def _line(reading: Reading, form: Form, name: str, most: int) -> str:
    text = " ".join(form.get(name, "").replace("\0", "").split())
    return _short(reading, name, text, most)


def _note(reading: Reading, form: Form) -> str:
    lines = form.get("note", "").replace("\0", "").splitlines()
    return _short(reading, "note", "\n".join(line.rstrip() for line in lines).strip(), NOTE)


def _short(reading: Reading, name: str, text: str, most: int) -> str:
    if len(text) > most:
        reading.wrong(
            name,
            _("%(field)s: at most %(most)s characters, please.", field=label(name), most=most),
        )
    return text


def _read_count(reading: Reading, form: Form, name: str) -> None:
    text = form.get(name, "").strip()
    # Longer ones are out of range whatever they say.
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    if not 0 <= number <= MOST_SEATS:
        reading.wrong(
            name,
            _(
                "%(field)s: give a whole number from %(least)s to %(most)s.",
                field=label(name),
                least=0,
                most=f"{MOST_SEATS:,}",
            ),
        )
    reading.values[name] = number


def _read_credits(reading: Reading, form: Form) -> None:
    text = form.get("credits", "")
    try:
        reading.values["credits"] = credits_of(text)
    except Unreadable:
        reading.wrong("credits", _("Credits: give a number such as 4, or a range such as 1-15."))
    else:
        ends = [Decimal(each) for each in AMOUNT.findall(text)]
        if ends != sorted(ends):
            reading.wrong("credits", _("Credits: the least come first, such as 1-15."))


def _read_teachers(session: Session, reading: Reading, form: Form) -> None:
    names = [" ".join(name.replace("\0", "").split()) for name in form.getlist("teacher")]
    known = {each.name.casefold(): each for each in named_teachers(session)}
    wanted = {name.casefold(): name for name in names if name}
    for name in (name for key, name in wanted.items() if key not in known):
        reading.wrong(
            "teacher",
            _("Nobody who teaches is called “%(name)s”. Choose a name of the list.", name=name),
        )
    reading.values["teachers"] = tuple(each for key, each in known.items() if key in wanted)


def _read_text(reading: Reading, form: Form, name: str, parse: Callable[[str], Value]) -> None:
    try:
        reading.values[name] = parse(form.get(name, "").replace("\0", ""))
    except Unclear as unclear:
        reading.wrong(name, f"{label(name)}: {unclear}")


def _read_cross_lists(reading: Reading, form: Form, own_code: str) -> None:
    codes = _codes(reading, form.get("cross_lists", "").replace("\0", "").split(","))
    if own_code in codes:
        reading.wrong(
            "cross_lists",
            _("%(code)s is the course of the section itself.", code=requisites.shown(own_code)),
        )
    reading.values["cross_lists"] = tuple(sorted(set(codes)))


def _codes(reading: Reading, written: Iterable[str]) -> list[str]:
    codes = []
    for each in filter(None, map(str.strip, written)):
        try:
            codes.append(code_of(each))
        except Unreadable:
            reading.wrong(
                "cross_lists",
                _("“%(written)s” is no course code such as CSCI-1100.", written=each[:60]),
            )
    return codes
