"""The recorded roster and waitlist of a section: searched, sorted, as addresses, as rows."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from unicodedata import combining, normalize
from urllib.parse import quote

from sqlalchemy import Select, func, select

from portal.backend import backend
from portal.catalog.models import Subject, section_instructors
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.sorting import Sorting
from portal.people.models import Account, Student, StudentSubject, year_order
from portal.people.privacy import withheld
from portal.recorder.models import WAITLIST_ORDER, Enrollment, WaitlistEntry

CURRENT = ("enrolled", "waiting", "passed")  # states of those who have a seat or wait


@dataclass(frozen=True)
class Person:
    """A student on a roster or a waitlist, as far as the visitor may see; credits in hundredths.

    `place` counts from 1 on a waitlist, and `skipped` means that the student was skipped there.
    """

    id: int
    name: str
    number: str
    year: str
    majors: tuple[str, ...]
    email: str
    private: bool
    credits: int
    since: datetime
    place: int = 0
    skipped: bool = False


@dataclass(frozen=True)
class Roster:
    """The enrolled students by name, and the waiting ones in order."""

    enrolled: list[Person]
    waiting: list[Person]

    @property
    def withheld(self) -> int:
        """Return how many have requested privacy."""
        return sum(each.private for each in (*self.enrolled, *self.waiting))


def roster(term_id: int, section_id: int, roles: frozenset[str]) -> Roster:
    """Return the people of a section, as a visitor with these roles may see them."""
    enrolled = _people(Enrollment, term_id, section_id).order_by(Account.name, Student.number)
    waiting = _people(WaitlistEntry, term_id, section_id).order_by(*WAITLIST_ORDER)
    with transaction() as session:
        return Roster(
            [_person(row, roles) for row in session.execute(enrolled)],
            [
                _person(row, roles, position)
                for position, row in enumerate(session.execute(waiting), 1)
            ],
        )


def students_of(instructors: Iterable[int], students: Iterable[int | None]) -> set[int]:
    """Return the students who are enrolled in a section of these instructors, or wait for one."""
    taught = select(section_instructors.c.section_id).where(
        section_instructors.c.instructor_id.in_(instructors)
    )
    named = {each for each in students if each}
    enrolled, waiting = (
        select(places.student_id).where(
            places.section_id.in_(taught),
            places.student_id.in_(named),
            places.state.in_(CURRENT),
        )
        for places in (Enrollment, WaitlistEntry)
    )
    with transaction() as session:
        return set(session.scalars(enrolled.union(waiting)))


def _people(
    places: type[Enrollment] | type[WaitlistEntry], term_id: int, section_id: int
) -> Select[Any]:
    majors = (
        select(func.array_agg(Subject.code))
        .join(StudentSubject, StudentSubject.subject_id == Subject.id)
        .where(StudentSubject.student_id == Student.id, StudentSubject.kind == "major")
        .correlate(Student)
        .scalar_subquery()
    )
    student = (Student.id, Account.name, Student.number, Student.year, majors.label("majors"))
    return (
        select(*student, Account.email, Student.private, places.credits, places.since, places.state)
        .join(Student, Student.id == places.student_id)
        .join(Account, Account.id == Student.account_id)
        .where(places.term_id == term_id, places.section_id == section_id)
        .where(places.state.in_(CURRENT))
    )


def _person(row: Any, roles: frozenset[str], place: int = 0) -> Person:
    hidden = withheld(roles, private=row.private)
    return Person(
        id=row.id,
        name=row.name,
        number=row.number,
        year="" if hidden else row.year,
        majors=() if hidden else tuple(sorted(row.majors or ())),
        email="" if hidden else row.email,
        private=row.private,
        credits=row.credits,
        since=row.since,
        place=place,
        skipped=row.state == "passed",
    )


LONGEST = 80
# Columns that sort a roster: their labels, and how to compare people.
COLUMNS: dict[str, tuple[str, Callable[[Person], Any]]] = {
    "name": (_l("Name"), lambda person: folded(person.name)),
    "number": (_l("Number"), lambda person: person.number),
    "year": (_l("Year"), lambda person: year_order(person.year)),
    "major": (_l("Major"), lambda person: person.majors),
    "email": (_l("Email"), lambda person: folded(person.email)),
    "credits": (_l("Credits"), lambda person: person.credits),
    "since": (_l("Since"), lambda person: person.since),
}
SORTS = {name: label for name, (label, _key) in COLUMNS.items()}
BY_NAME = Sorting.parse(SORTS, {})


@dataclass(frozen=True)
class RosterView:
    """The search words, and the order of the roster; a waitlist keeps its own order."""

    text: str = ""
    sorting: Sorting = BY_NAME

    @classmethod
    def parse(cls, args: Mapping[str, str]) -> "RosterView":
        """Return the view that an address asks for; ignore invalid values."""
        text = " ".join(args.get("q", "").replace("\0", "").split())[:LONGEST]
        return cls(text, Sorting.parse(SORTS, args))

    def args(self) -> dict[str, str]:
        """Return the arguments of its address."""
        searched = {"q": self.text} if self.text else {}
        return searched | self.sorting.args()

    def by(self, sort: str) -> "RosterView":
        """Return the view sorted by a column; in reverse if it is sorted by it already."""
        return replace(self, sorting=self.sorting.by(sort))

    def at(self, roster: Roster) -> Roster:
        """Return the matching part of a roster; waitlist positions do not change."""
        enrolled = self._found(roster.enrolled)
        enrolled.sort(key=COLUMNS["name"][1])
        enrolled.sort(key=COLUMNS[self.sorting.key][1], reverse=self.sorting.down)
        return Roster(enrolled, self._found(roster.waiting))

    def _found(self, people: list[Person]) -> list[Person]:
        words = folded(self.text).split()
        return [each for each in people if all(word in _searched(each) for word in words)]


def folded(text: str) -> str:
    """Return the text without case and accents, to sort and search by."""
    apart = normalize("NFKD", text.casefold())
    return "".join(sign for sign in apart if not combining(sign))


def _searched(person: Person) -> str:
    return folded(" ".join((person.name, person.number, person.email, *person.majors, person.year)))


# Some mail programs accept addresses of about 2,000 characters and cut longer ones.
LONGEST_LINK = 1800
BLIND = "mailto:?bcc="  # recipients do not see each other
PLAIN = re.compile(r"[^\s,;<>()\"\[\]@]+@[^\s,;<>()\"\[\]@]+")


@dataclass(frozen=True)
class MailtoLink:
    """A link that begins a mail to some of the addresses, from `first` to `last`."""

    first: int
    last: int
    url: str


@dataclass(frozen=True)
class Mailing:
    """Addresses to write to, and the number of people without a visible one."""

    addresses: tuple[str, ...]
    private: int
    unknown: int

    @property
    def letters(self) -> list[MailtoLink]:
        """Return as few mails as mail programs can handle."""
        return list(_letters(self.addresses))


def mailing(people: Iterable[Person]) -> Mailing:
    """Return the addresses of people who can be written to."""
    found, people = dict[str, None](), list(people)
    for person in people:
        if PLAIN.fullmatch(person.email):
            found.setdefault(person.email)
    without = [each for each in people if each.email not in found]
    private = sum(each.private for each in without)
    return Mailing(tuple(found), private, len(without) - private)


def _letters(addresses: tuple[str, ...]) -> Iterator[MailtoLink]:
    first, url = 1, ""
    for number, address in enumerate(addresses, 1):
        more = quote(address, safe="@")
        if url and len(url) + 1 + len(more) > LONGEST_LINK:
            yield MailtoLink(first, number - 1, url)
            first, url = number, ""
        url = f"{url},{more}" if url else BLIND + more
    if url:
        yield MailtoLink(first, len(addresses), url)


def rows(people: Roster) -> Iterator[list[str]]:
    """Yield the rows of a CSV file, with a heading."""
    yield [
        *(_("List"), _("Position"), _("Name"), _("Number"), _("Year"), _("Major"), _("Email")),
        *(_("Credits"), _("Since"), _("Privacy")),
    ]
    for where, listed in ((_("Roster"), people.enrolled), (_("Waitlist"), people.waiting)):
        for person in listed:
            since = person.since.astimezone(backend().settings.zone)
            yield [
                *(where, str(person.place or ""), person.name, person.number, person.year),
                *(", ".join(person.majors), person.email, f"{person.credits / 100:g}"),
                *(f"{since:%Y-%m-%d %H:%M:%S}", _("private") if person.private else ""),
            ]
