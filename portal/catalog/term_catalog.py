"""The sections of a term, held in memory by every process and read again when they change."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.catalog import subjects, time_conflicts, views
from portal.catalog.models import Term
from portal.catalog.search import Query, correct_words
from portal.catalog.views import MeetingView, SectionView, TermView
from portal.core.cache import Cache
from portal.core.db import transaction
from portal.core.errors import CommandError
from portal.core.i18n import _
from portal.ledger.types import SeatCounts

__all__ = ["MeetingView", "NoSuchTerm", "SectionView", "TermCatalog", "TermView", "catalog_of"]

FRESH = 2.0  # seconds for which a catalog counts as current


class NoSuchTerm(LookupError):
    """There is no term of this id."""


@dataclass(frozen=True)
class TermCatalog:
    """All sections of a term, sorted by course and number; immutable."""

    term: TermView
    version: int
    sections: tuple[SectionView, ...]
    # Those that students knew and no longer see, by id: "CSC 1100-01".
    gone: Mapping[int, str] = field(default_factory=dict)

    def section(self, section_id: int) -> SectionView | None:
        return self._by_id.get(section_id)

    def published(self, section_id: int) -> SectionView | None:
        """Return the section of that id unless it is a draft, which students must not see."""
        found = self.section(section_id)
        return None if found and found.status == "NEW" else found

    def some(self, section_ids: Iterable[int]) -> list[SectionView]:
        """Return the sections of those ids in the order given, without unknown ones."""
        return [found for each in section_ids if (found := self._by_id.get(each))]

    def course_id(self, code: str) -> int | None:
        """Return the course of a canonical code, if it has an open or confirmed section."""
        return self._offered.get(code)

    def course_code(self, course_id: int) -> str | None:
        """Return the code of a course that has sections this term."""
        found = self._by_course.get(course_id)
        return found[0].course_code if found else None

    def sections_of(self, course_id: int) -> list[SectionView]:
        """Return the sections of a course this term, by number."""
        return self._by_course.get(course_id, [])

    def sharing(self, section: SectionView) -> list[SectionView]:
        """Return the other open sections of its seat pool."""
        pool = self._by_pool.get(section.pool, []) if section.pool else []
        return [each for each in pool if each.id != section.id and each.status == "OPEN"]

    def search(self, query: Query, seats: dict[int, SeatCounts] | None = None) -> list[SectionView]:
        """Return the sections that fit `query`, sorted; without `seats` all count as open."""
        return query.pick(self.sections, seats)

    def corrected(self, text: str) -> str:
        """Return search words without their typing mistakes; blank if none can be corrected."""
        return correct_words(text, self._known_words)

    def taught_by(self, instructors: frozenset[int]) -> list[SectionView]:
        """Return the sections that one of the instructors teaches, sorted."""
        return [each for each in self.sections if not instructors.isdisjoint(each.instructor_ids)]

    @cached_property
    def subjects(self) -> dict[str, str]:
        """Subjects with sections this term: code → name, sorted by code."""
        return dict(
            sorted({each.subject_code: each.subject_name for each in self.sections}.items())
        )

    @cached_property
    def occupied(self) -> dict[int, int]:
        """The minutes of a week in which each section meets: see `time_conflicts.occupied`."""
        return {each.id: time_conflicts.occupied(each) for each in self.sections}

    @cached_property
    def _known_words(self) -> list[str]:
        return sorted({word for each in self.sections for word in each.search_index.split()})

    @cached_property
    def _by_id(self) -> dict[int, SectionView]:
        return {each.id: each for each in self.sections}

    @cached_property
    def _by_course(self) -> Mapping[int, list[SectionView]]:
        found: defaultdict[int, list[SectionView]] = defaultdict(list)
        for each in self.sections:
            found[each.course_id].append(each)
        return found

    @cached_property
    def _by_pool(self) -> Mapping[int, list[SectionView]]:
        found: defaultdict[int, list[SectionView]] = defaultdict(list)
        for each in self.sections:
            if each.pool:
                found[each.pool].append(each)
        return found

    @cached_property
    def _offered(self) -> dict[str, int]:
        running = ("OPEN", "CONFIRMED")
        return {
            each.course_code: each.course_id for each in self.sections if each.status in running
        }


def catalog_of(term_id: int) -> TermCatalog:
    """Return the term's catalog, at most two seconds old. Raise `NoSuchTerm`.

    It may be older while PostgreSQL does not answer.
    """
    return _catalogs.get(term_id)


def published_catalog(term_id: int) -> TermCatalog:
    """Return the catalog of a term that is no draft. Raise `NoSuchTerm`.

    A term that was a draft is read again, as lists of terms show it once it is published.
    """
    catalog = catalog_of(term_id)
    if catalog.term.state == "draft":
        expire(term_id)
        catalog = catalog_of(term_id)
    if catalog.term.state == "draft":
        raise NoSuchTerm(term_id)
    return catalog


def preload() -> None:
    """Read the catalog of every live term, so that the first visitor does not wait for it."""
    with suppress(SQLAlchemyError):
        for term in live_terms():
            catalog_of(term.id)


def current(term_id: int) -> TermCatalog:
    """Return the catalog as it is now; the one in memory if its version is still current."""
    known = _catalogs.peek(term_id)
    with transaction() as session:
        version = session.scalar(
            select(Term.catalog_version).where(Term.id == term_id, Term.deleted_at.is_(None))
        )
        if version is None:
            raise NoSuchTerm(term_id)
        if known and known.version == version:
            return known
        subjects.learn(session)
        return read_catalog(session, term_id)


def read_catalog(session: Session, term_id: int) -> TermCatalog:
    """Return the catalog as the session sees it, its own changes included."""
    term = session.get_one(Term, term_id)
    view = views.term_view(term)
    sections = tuple(views.section_views(session, view))
    return TermCatalog(view, term.catalog_version, sections, views.former_names(session, view))


def expire(term_id: int) -> None:
    """Have this process check at its next use whether the catalog has changed."""
    _catalogs.doubt(term_id)


def forget() -> None:
    """Drop every catalog in memory, as tests with a new database must."""
    _catalogs.clear()
    subjects.forget()


def live_terms() -> list[Term]:
    """Return the terms that are not deleted, latest first, archived ones last.

    While PostgreSQL is away, they are returned as known.
    """
    return _terms.get("live")


def current_terms() -> list[Term]:
    """Return the live terms that are not archived, as lists offer them."""
    return [term for term in live_terms() if term.state != "archived"]


def term_label(term: Term | TermView) -> str:
    """Return the name of a term, which says if it is archived."""
    if term.state != "archived":
        return term.name
    return _("%(term)s (archived)", term=term.name)


def published_terms() -> list[Term]:
    """Return the live terms without drafts, which only staff see."""
    return [term for term in live_terms() if term.state != "draft"]


def offered_terms() -> list[Term]:
    """Return the published terms without those for practice."""
    return [term for term in live_terms() if term.state == "published" and not term.practice]


def terms_named(name: str = "") -> list[tuple[int, str]]:
    """Return id and name of the term of that name, or of every term; raise CommandError."""
    found = select(Term.id, Term.name).where(Term.deleted_at.is_(None)).order_by(Term.id)
    with transaction() as session:
        terms = [(row.id, row.name) for row in session.execute(found)]
    chosen = [term for term in terms if name in {"", term[1]}]
    if name and not chosen:
        raise CommandError(f"There is no term named {name!r}.")
    return chosen


def _read_terms(_which: str) -> list[Term]:
    with transaction() as session:
        order = Term.state == "archived", Term.starts_on.desc()
        found = select(Term).where(Term.deleted_at.is_(None)).order_by(*order)
        return list(session.scalars(found))


_catalogs = Cache(current, FRESH)
_terms = Cache(_read_terms, seconds=0)
