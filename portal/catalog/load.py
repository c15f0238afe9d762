"""Reads a term's sections into cards: a handful of queries, however many sections."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, time
from typing import Any

from sqlalchemy import Row
from sqlalchemy.orm import Session

from portal.catalog import statements
from portal.catalog.cards import Card, MeetingView, ReserveView, TermView
from portal.catalog.models import Course, Section, Term
from portal.catalog.search import index
from portal.seats import trees
from portal.seats.asks import Passes

Parts = tuple[TermView, int, tuple[Card, ...], dict[int, str]]
Grouped = dict[int, list[Any]]


def parts(session: Session, term_id: int) -> Parts:
    """What a board is made of: the term, its version, its cards, and the names of those gone."""
    term = session.get_one(Term, term_id)
    view = TermView(
        term.id,
        term.name,
        term.starts_on,
        term.ends_on,
        term.credit_limit,
        term.drops_per_day,
        Passes(term.pass_limit, tuple(term.pass_codes)) if term.pass_limit else None,
    )
    return view, term.catalog_version, tuple(cards(session, view)), gone(session, view)


def cards(session: Session, term: TermView) -> list[Card]:
    """Every section of the term that was not deleted, sorted by code, then number."""
    around = Around(session, term)
    made = [around.card(*row) for row in session.execute(statements.sections(term.id))]
    return sorted(made, key=order)


def gone(session: Session, term: TermView) -> dict[int, str]:
    """What the sections were called that students knew and that are deleted, by id."""
    found = session.execute(statements.deleted(term.id))
    return {row.id: f"{trees.shown(row.code)}-{row.number}" for row in found}


def order(card: Card) -> tuple[str, int, str, str]:
    """Sorts CSC-99 before CSC-100."""
    number = card.course_code.partition("-")[2]
    digits = "".join(sign for sign in number if sign in "0123456789")
    return card.subject_code, int(digits or 0), card.course_code, card.number


class Around:
    """What hangs on the sections of a term, each kind fetched once and grouped."""

    def __init__(self, session: Session, term: TermView) -> None:
        self.term = term
        self.dates = (term.starts_on, term.ends_on)
        self.meetings = grouped(session.execute(statements.meetings(term.id)))
        self.teachers = grouped(session.execute(statements.teachers(term.id)))
        self.restrictions = grouped(session.execute(statements.restrictions(term.id)))
        self.cross_lists = grouped(session.execute(statements.cross_lists(term.id)))
        self.reserves = grouped(session.execute(statements.reserves(term.id)))
        self.restricted = grouped(session.execute(statements.restricted()))

    def card(
        self, section: Section, course: Course, subject: str, subject_name: str, department: str
    ) -> Card:
        """One section with all that hangs on it."""
        taught = self.teachers[section.id]
        names = tuple(row.name for row in taught)
        return Card(
            id=section.id,
            term_id=section.term_id,
            crn=section.crn,
            number=section.number,
            title=section.title,
            course_id=course.id,
            course_code=course.code,
            course_title=course.title,
            description=course.description,
            subject_code=subject,
            subject_name=subject_name,
            department=department,
            credits_min=section.credits_min,
            credits_max=section.credits_max,
            form=section.kind,
            campus=section.campus,
            method=section.method,
            note=section.note,
            status=section.status,
            capacity=section.capacity,
            waitlist_capacity=section.waitlist_capacity,
            meetings=tuple(meeting(row, self.dates) for row in self.meetings[section.id]),
            teachers=names,
            teacher_ids=tuple(row.id for row in taught),
            prerequisites=section.prerequisites,
            corequisites=section.corequisites,
            restrictions=tuple(
                (row.rule, row.kind, row.value) for row in self.restrictions[section.id]
            ),
            cross_lists=tuple(row.course_code for row in self.cross_lists[section.id]),
            public=course.public,
            restricted_to=frozenset(row.code for row in self.restricted[course.id]),
            levels=frozenset(course.levels),
            years=frozenset(course.years),
            categories=tuple(course.categories),
            pool=section.pool_id,
            reserves=tuple(ReserveView(*row[1:]) for row in self.reserves[section.id]),
            words=words(section, course, names),
        )


def meeting(row: Row[Any], dates: tuple[date, date]) -> MeetingView:
    """One meeting, in a term of these dates."""
    return MeetingView(
        code=row.kind,
        room=row.room or "",
        clashes=row.clashes,
        mask=row.days,
        start=minutes(row.starts_at),
        end=minutes(row.ends_at),
        first=row.date_start,
        last=row.date_end,
        term=dates,
    )


def words(section: Section, course: Course, names: tuple[str, ...]) -> str:
    """What the section is found by."""
    numbered = f"{course.code}-{section.number}"
    return index(course.code, numbered, section.title, course.title, section.crn, *names)


def minutes(moment: time | None) -> int | None:
    """Minutes since midnight."""
    return None if moment is None else moment.hour * 60 + moment.minute


def grouped(rows: Iterable[Row[Any]]) -> Grouped:
    """Rows by their first column."""
    found: Grouped = defaultdict(list)
    for row in rows:
        found[row[0]].append(row)
    return found
