"""Rows of the section list; parts equal for everyone are rendered once per catalog version."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

from babel import Locale
from cachetools import LRUCache, TTLCache, cached
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.formatting import credit_words
from portal.catalog.search import Query
from portal.catalog.section_fields import FIELDS
from portal.catalog.term_catalog import MeetingView, SectionView, TermCatalog
from portal.core.i18n import current_locale
from portal.ledger.types import SeatCounts
from portal.registration import rules
from portal.registration.next_steps import section_name
from portal.registration.reasons import explain
from portal.registration.restrictions import audience
from portal.web.student import fragments, student_term
from portal.web.student.fragments import render_fragment
from portal.web.student.student_term import ReservedNote, StudentTerm, section_title
from portal.windows.phases import sections_visible

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

KEPT = 10_000  # sections, some KB each


class SharedCells(NamedTuple):
    """The parts of a row that depend on its reader's language only."""

    when: Markup
    named: Markup
    details: Markup


def shared_cells(catalog: TermCatalog, card: SectionView) -> SharedCells:
    """Return the shared parts of a section's row."""
    return _alike(catalog, card, current_locale())


def distinct_meetings(card: SectionView) -> tuple[MeetingView, ...]:
    """Return the distinct meetings, without common exam blocks and those to be arranged."""
    known = (each for each in card.meetings if each.clashes and (each.mask or each.end is not None))
    return tuple({(each.mask, each.start, each.end): each for each in known}.values())


CELL_HELPERS = {
    "credit_words": credit_words,
    "audience": audience,
    "section_name": section_name,
    "distinct_meetings": distinct_meetings,
    "tree_in_words": lambda tree: requisites.describe(
        requisites.missing(tree, lambda _: False) or {"all": []}
    ),
}


def _key(catalog: TermCatalog, card: SectionView, language: Locale) -> tuple[Any, ...]:
    return catalog.term.id, catalog.version, card.id, str(language)


@cached(LRUCache(maxsize=KEPT), key=_key)
def _alike(catalog: TermCatalog, card: SectionView, _language: Locale) -> SharedCells:
    usual = _usual(catalog)
    facts: dict[str, Any] = {
        "card": card,
        "title": section_title(catalog, card),
        "meetings": distinct_meetings(card),
        "elsewhere": [each for each in card.picker_facts if each not in usual],
        "sharing": catalog.sharing(card),
        **CELL_HELPERS,
    }
    return SharedCells(
        *(render_fragment(f"student/alike/{part}.html", **facts) for part in SharedCells._fields)
    )


@cached(LRUCache(maxsize=16), key=lambda catalog: (catalog.term.id, catalog.version))
def _usual(catalog: TermCatalog) -> set[str]:
    """Return the usual places and teaching modes of the term, which rows leave out."""
    names = [each.name for each in FIELDS.values() if each.picker]
    ways = [Counter(getattr(card, name) for card in catalog.sections) for name in names]
    return {"", *(way.most_common(1)[0][0] for way in ways if way)}


# Sections as rows of the list; each row is rendered once for all students who see the same.

DRAWN = 5_000  # rows, some KB each


@dataclass(frozen=True)
class Row:
    """The content of a section's row."""

    url: str  # of the section
    section: int
    name: str
    alike: SharedCells
    seats: Markup
    act: Markup
    caution: str  # the first rule that prevents registering, in words
    kept: tuple[ReservedNote, ...]
    planned: bool


def section_rows(scene: StudentTerm, cards: list[SectionView]) -> list[Markup]:
    """Return the sections as rows with their current counts."""
    counts = backend().ledger.seats_of(scene.term.id, [card.id for card in cards])
    language = current_locale()
    return [
        _drawn(_row(scene, card, counts.get(card.id) or unknown_counts(card)), language)
        for card in cards
    ]


def unknown_counts(card: SectionView) -> SeatCounts:
    """Return the counts of a section that the ledger does not know yet: nothing is available."""
    return SeatCounts(card.id, card.capacity, card.capacity, 0, 0, card.status, 0)


def _row(scene: StudentTerm, card: SectionView, counts: SeatCounts) -> Row:
    return Row(
        url=f"/terms/{card.term_id}/sections/{card.id}",
        section=card.id,
        name=section_name(card),
        alike=shared_cells(scene.catalog, card),
        seats=fragments.seats(counts),
        act=fragments.act(scene, card.id),
        caution="" if scene.state(card.id) else _caution(scene, card),
        kept=tuple(student_term.reserved_notes(scene, card)),
        planned=card.id in scene.planned,
    )


@lru_cache(maxsize=DRAWN)
def _drawn(row: Row, _language: Locale) -> Markup:
    return render_fragment("student/row.html", row=row)


def _caution(scene: StudentTerm, card: SectionView) -> str:
    own = [each for each in rules.refusals(scene.profile, card) if each.code != "hold"]
    return explain(own[:1], scene.case(card))[0].text if own else ""


# The list of sections that a student may see: searched, filtered, page by page.

PAGE = 40
MOST_PAGES = 10
COUNTS_FRESH_SECONDS = 1


@dataclass(frozen=True)
class Listing:
    """Some pages of the sections that match a query."""

    query: Query
    total: int
    page: int
    lines: list[Markup]
    last: int = 0  # the section of the last row
    example: str = ""  # the code of a course to search for
    corrected: str = ""  # the words that were searched for, if the query's words found nothing

    @property
    def pages(self) -> int:
        return -(-self.total // PAGE)

    @property
    def more(self) -> str:
        """Return the address with one page more; blank if there is none, or at the maximum."""
        if self.page >= min(self.pages, MOST_PAGES):
            return ""
        return "?" + urlencode([*self.query.args(), ("page", self.page + 1)])

    def query_url(self, term_id: int) -> str:
        """Return the address of this search, without its blank fields."""
        args = urlencode(self.query.args())
        return f"/terms/{term_id}{'?' + args if args else ''}"

    @property
    def left(self) -> int:
        """Return how many sections are on later pages."""
        return max(0, self.total - self.page * PAGE)


def listing(
    scene: StudentTerm, args: "MultiDict[str, str]", *, last_page_only: bool = False
) -> Listing:
    """Return the pages up to the requested one, or that one alone; empty after selection ends."""
    query = Query.parse(args)
    if not sections_visible(scene.phase):
        return Listing(query, 0, 1, [])
    counts = _counts_for(scene) if query.open_only else None
    found, corrected = _visible(scene, query, counts), ""
    if not found and (words := scene.catalog.corrected(query.text)):
        found = _visible(scene, replace(query, text=words), counts)
        corrected = words if found else ""
    page = min(max(1, _number(args.get("page", ""))), MOST_PAGES)
    shown = found[(page - 1) * PAGE if last_page_only else 0 : page * PAGE]
    last = shown[-1].id if shown else 0
    return Listing(
        query,
        len(found),
        page,
        section_rows(scene, shown),
        last,
        _example(scene, found),
        corrected,
    )


def _visible(
    scene: StudentTerm, query: Query, counts: dict[int, SeatCounts] | None
) -> list[SectionView]:
    found = scene.catalog.search(query, counts)
    return [card for card in found if rules.visible(scene.profile, card)]


def _example(scene: StudentTerm, found: "list[SectionView]") -> str:
    """Return the code of a course that the student may see, if the search found nothing."""
    if found:
        return ""
    offered = (card for card in scene.catalog.sections if rules.visible(scene.profile, card))
    first = next(offered, None)
    return requisites.shown(first.course_code) if first else ""


@cached(TTLCache(maxsize=16, ttl=COUNTS_FRESH_SECONDS))
def _all_counts(term: int) -> dict[int, SeatCounts]:
    return backend().ledger.seats(term)


def _counts_for(scene: StudentTerm) -> dict[int, SeatCounts]:
    """Return all counts as they apply to the student."""
    counts = _all_counts(scene.term.id)
    some = [card for card in scene.catalog.sections if card.reserves and card.id in counts]
    own = {
        card.id: student_term.seats_open_to(scene, card, counts[card.id], likely=True)
        for card in some
    }
    return {**counts, **own} if own else counts


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
