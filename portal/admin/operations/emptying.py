"""Sections that are canceled and have not given up all of their seats and places yet."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from portal.backend import backend
from portal.catalog.models import Term
from portal.catalog.requisites import shown
from portal.catalog.term_catalog import NoSuchTerm, catalog_of


@dataclass(frozen=True)
class Emptying:
    """A section, and what it has still to give up."""

    term: Term
    section: int
    name: str
    seats: int
    places: int


def emptying(terms: Iterable[Term]) -> list[Emptying]:
    """All of them, term by term."""
    return [each for term in terms for each in _of(term)]


def _of(term: Term) -> Iterator[Emptying]:
    ledger = backend().ledger
    held = ledger.held(term.id, sorted(ledger.emptying(term.id)))
    for section, (seats, places) in held.items():
        yield Emptying(term, section, _name(term.id, section), seats, places)


def _name(term: int, section: int) -> str:
    """By its number where PostgreSQL is away and nobody here knows its name."""
    with suppress(SQLAlchemyError, NoSuchTerm):
        if card := catalog_of(term).section(section):
            return f"{shown(card.course_code)}-{card.number}"
    return str(section)
