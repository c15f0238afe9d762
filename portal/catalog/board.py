"""What a term offers, held in memory by every process and replaced when the catalogue moves."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from portal.catalog import load, subjects
from portal.catalog.cards import Card, MeetingView, TermView
from portal.catalog.models import Term
from portal.catalog.query import Query
from portal.catalog.terms import live_terms
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.seats.answers import Seats

__all__ = ["Board", "Card", "MeetingView", "NoSuchTerm", "TermView", "board"]

FRESH = 2.0  # seconds for which a board counts as current


class NoSuchTerm(LookupError):  # noqa: N818  a fact, not a mistake
    """There is no term of this id."""


@dataclass(frozen=True)
class Board:
    """All sections of a term, sorted by course and number; nothing in it ever changes."""

    term: TermView
    version: int
    cards: tuple[Card, ...]
    gone: Mapping[int, str] = field(default_factory=dict)  # deleted ones by id, "CSC 1100-01"

    def card(self, section_id: int) -> Card | None:
        """The section of that id, if the term has it."""
        return self._by_id.get(section_id)

    def published(self, section_id: int) -> Card | None:
        """The section of that id unless it is a draft, which no student is to hear of."""
        card = self.card(section_id)
        return None if card and card.status == "NEW" else card

    def some(self, section_ids: Iterable[int]) -> list[Card]:
        """The sections of those ids, in the order given; unknown ones are left out."""
        return [card for section in section_ids if (card := self._by_id.get(section))]

    def course_id(self, code: str) -> int | None:
        """The course of a canonical code, if it has an open or confirmed section this term."""
        return self._offered.get(code)

    def course_code(self, course_id: int) -> str | None:
        """The code of a course that has sections this term."""
        cards = self._by_course.get(course_id)
        return cards[0].course_code if cards else None

    def sections_of(self, course_id: int) -> list[Card]:
        """The sections of a course this term, by number."""
        return self._by_course.get(course_id, [])

    def sharing(self, card: Card) -> list[Card]:
        """The other sections that share seats with it and can be picked."""
        shared = self._by_pool.get(card.pool, []) if card.pool else []
        return [each for each in shared if each.id != card.id and each.status == "OPEN"]

    def search(self, query: Query, seats: dict[int, Seats] | None = None) -> list[Card]:
        """Sections that fit `query`, sorted; without `seats` all count as open."""
        return query.pick(self.cards, seats)

    def taught_by(self, teachers: frozenset[int]) -> list[Card]:
        """Sections that one of the teachers has a part in, sorted."""
        return [card for card in self.cards if not teachers.isdisjoint(card.teacher_ids)]

    @cached_property
    def subjects(self) -> dict[str, str]:
        """Subjects with sections this term: code → name, sorted by code."""
        return dict(sorted({card.subject_code: card.subject_name for card in self.cards}.items()))

    @cached_property
    def _by_id(self) -> dict[int, Card]:
        return {card.id: card for card in self.cards}

    @cached_property
    def _by_course(self) -> dict[int, list[Card]]:
        found: dict[int, list[Card]] = {}
        for card in self.cards:
            found.setdefault(card.course_id, []).append(card)
        return found

    @cached_property
    def _by_pool(self) -> dict[int, list[Card]]:
        found: dict[int, list[Card]] = {}
        for card in self.cards:
            if card.pool:
                found.setdefault(card.pool, []).append(card)
        return found

    @cached_property
    def _offered(self) -> dict[str, int]:
        running = ("OPEN", "CONFIRMED")
        return {card.course_code: card.course_id for card in self.cards if card.status in running}


def board(term_id: int) -> Board:
    """The term's board, two seconds old, older only while PostgreSQL is away; or `NoSuchTerm`."""
    return _boards.get(term_id)


def preload() -> None:
    """Read the board of every live term, so that the first visitor need not wait for it."""
    with suppress(SQLAlchemyError):
        for term in live_terms():
            board(term.id)


def current(term_id: int) -> Board:
    """The board as it is now: the known one unless the catalogue moved."""
    known = _boards.peek(term_id)
    with transaction() as session:
        version = session.scalar(
            select(Term.catalog_version).where(Term.id == term_id, Term.deleted_at.is_(None))
        )
        if version is None:
            raise NoSuchTerm(term_id)
        if known and known.version == version:
            return known
        subjects.learn(session)
        return Board(*load.parts(session, term_id))


def expire(term_id: int) -> None:
    """Have this process see at its next look whether the catalogue has moved."""
    _boards.doubt(term_id)


def forget() -> None:
    """Let go of every board, as tests with a new database must."""
    _boards.clear()
    subjects.forget()


_boards = Cache(current, FRESH)
