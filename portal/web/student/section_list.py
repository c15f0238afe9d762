"""Rows of the section list; parts equal for everyone are rendered once per catalog version."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any, NamedTuple
from urllib.parse import urlencode

from cachetools import LRUCache, TTLCache, cached
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.formatting import credit_range
from portal.catalog.search import Query
from portal.catalog.section_fields import FIELDS
from portal.catalog.term_catalog import MeetingView, SectionView, TermCatalog
from portal.catalog.time_conflicts import clash
from portal.core.i18n import _, current_locale
from portal.ledger.types import SeatCounts
from portal.people.student_profile import StudentProfile
from portal.registration import rules
from portal.registration.next_steps import section_name
from portal.registration.reasons import explain
from portal.registration.restrictions import audience
from portal.web.forms import Sent
from portal.web.student import bp, fragments
from portal.web.student.fragments import SectionAct, render_fragment
from portal.web.student.student_term import (
    ReservedNote,
    StudentTerm,
    reserved_notes,
    seats_open_to,
    section_title,
)
from portal.windows.phases import sections_visible

KEPT = 10_000  # sections, some KB each


class SharedCells(NamedTuple):
    """The parts of a row that depend on its reader's language only."""

    when: Markup
    named: Markup


def distinct_meetings(view: SectionView) -> tuple[MeetingView, ...]:
    """Return the distinct meetings, without common exam blocks and those to be arranged."""
    known = (each for each in view.meetings if each.clashes and (each.mask or each.end is not None))
    return tuple({(each.mask, each.start, each.end): each for each in known}.values())


@bp.app_template_filter()
def meets(meetings: Iterable[MeetingView]) -> str:
    """Return times for the page's script: days, and minutes since midnight (mini-week.js)."""
    known = [each for each in meetings if each.clashes and each.mask and each.end is not None]
    return " ".join(f"{each.mask},{each.start},{each.end}" for each in known)


class Week(NamedTuple):
    """The hours and the number of days, from Monday, in which the term has meetings."""

    hours: range
    days: int


@cached(LRUCache(maxsize=16), key=lambda catalog: (catalog.term.id, catalog.version))
def week_of(catalog: TermCatalog) -> Week:
    """Return the week of the term, to draw it in one size."""
    meetings = [
        each
        for view in catalog.sections
        for each in view.meetings
        if each.clashes and each.mask and each.start is not None and each.end is not None
    ]
    if not meetings:
        return Week(range(0), 0)
    first = min(each.start or 0 for each in meetings) // 60
    last = -(-max(each.end or 0 for each in meetings) // 60)
    days = max(each.mask.bit_length() for each in meetings)
    return Week(range(first, last), max(5, days))


CELL_HELPERS = {
    "credit_range": credit_range,
    "audience": audience,
    "section_name": section_name,
    "distinct_meetings": distinct_meetings,
    "tree_in_words": lambda tree: requisites.describe(
        requisites.missing(tree, lambda _leaf: False) or {"all": []}
    ),
}


def _key(catalog: TermCatalog, view: SectionView, language: str) -> tuple[Any, ...]:
    return catalog.term.id, catalog.version, view.id, language


@cached(LRUCache(maxsize=KEPT), key=_key)
def _alike(catalog: TermCatalog, view: SectionView, _language: str) -> SharedCells:
    usual = _usual(catalog)
    facts: dict[str, Any] = {
        "view": view,
        "title": section_title(catalog, view),
        "meetings": distinct_meetings(view),
        "kind": "" if view.kind in usual else view.kind_name,
        "elsewhere": [each for each in view.picker_facts if each not in usual],
        **CELL_HELPERS,
    }
    return SharedCells(
        *(render_fragment(f"student/alike/{part}.html", **facts) for part in SharedCells._fields)
    )


@cached(LRUCache(maxsize=16), key=lambda catalog: (catalog.term.id, catalog.version))
def _usual(catalog: TermCatalog) -> set[str]:
    """Return the term's usual kind, places and delivery modes, which rows leave out."""
    names = ["kind", *(each.name for each in FIELDS.values() if each.picker)]
    ways = [Counter(getattr(view, name) for view in catalog.sections) for name in names]
    return {"", *(way.most_common(1)[0][0] for way in ways if way)}


# Sections as rows of the list: each row is rendered once for all students who see the same, but for
# its counts, which change with every claim.

KEPT_ROWS = 5_000  # some KB each
COUNTS = Markup("<!-- counts -->")


class OwnState(NamedTuple):
    """What differs between students in the row of a section."""

    act: SectionAct
    caution: str  # the first rule that prevents registering, in words
    reserved: tuple[ReservedNote, ...]
    planned: bool


def section_rows(student_term: StudentTerm, views: list[SectionView]) -> Markup:
    """Render the sections as rows with their current counts."""
    counts = {**student_term.seats}
    if missing := [view.id for view in views if view.id not in counts]:
        counts |= backend().ledger.seats_of(student_term.term.id, missing)
    language, parts = current_locale().language, []
    for view, own in zip(views, _own_states(student_term, views), strict=True):
        before, after = _row(student_term.catalog, view, own, language)
        parts += [before, fragments.seats(counts.get(view.id) or unknown_counts(view)), after]
    return Markup("".join(parts))  # noqa: S704 - parts of templates


def unknown_counts(view: SectionView) -> SeatCounts:
    """Return the counts of a section that the ledger does not know yet: nothing is available."""
    return SeatCounts(view.id, view.capacity, view.capacity, 0, 0, view.status, 0)


def _own_states(student_term: StudentTerm, views: list[SectionView]) -> list[OwnState]:
    """Return what differs in each row: nothing where neither rules nor classes could matter."""
    if student_term.sections or student_term.planned or student_term.profile.holds:
        return [_own_state(student_term, view) for view in views]
    late = bool(student_term.late_to_add)
    act = SectionAct("", student_term.texts.opening, reserved=False, late=late)
    usual = OwnState(act, caution="", reserved=(), planned=False)
    return [
        _own_state(student_term, view)
        if view.ruled or view.reserves or student_term.precheck.against_seats(view)
        else usual
        for view in views
    ]


def _own_state(student_term: StudentTerm, view: SectionView) -> OwnState:
    act = fragments.section_act(student_term, view.id)
    return OwnState(
        act,
        _caution(student_term, view) if act.barred else "",
        tuple(reserved_notes(student_term, view)) if view.reserves else (),
        view.id in student_term.planned,
    )


def _key_of_row(
    catalog: TermCatalog, view: SectionView, own: OwnState, language: str
) -> tuple[Any, ...]:
    return catalog.term.id, catalog.version, view.id, own, language


@cached(LRUCache(maxsize=KEPT_ROWS), key=_key_of_row)
def _row(catalog: TermCatalog, view: SectionView, own: OwnState, language: str) -> tuple[str, str]:
    """Return the row's HTML before its counts and after them."""
    row = render_fragment(
        "student/row.html",
        plan_url=f"/terms/{view.term_id}/plan/toggle",
        section=view.id,
        name=section_name(view),
        alike=_alike(catalog, view, language),
        seats=COUNTS,
        act=fragments.draw_act(catalog, view.id, own.act),
        own=own,
    )
    before, _counts, after = row.partition(COUNTS)
    return str(before), str(after)


def _caution(student_term: StudentTerm, view: SectionView) -> str:
    """Return the first requirement that the student does not meet, in words."""
    first = rules.unmet(student_term.profile, view)[:1]
    return explain(first, student_term.case(view))[0].text


# The list of sections that a student may see: searched, filtered, page by page.

PAGE = 40
KEPT_SEARCHES = 200
MOST_PAGES = 10
COUNTS_FRESH_SECONDS = 1


@dataclass(frozen=True)
class Listing:
    """Some pages of the sections that match a query."""

    query: Query
    total: int
    page: int
    rows: Markup
    last: int = 0  # the section of the last row
    example: str = ""  # the code of a course to search for
    hint: str = ""  # what can be searched for, by examples of the term
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


def listing(student_term: StudentTerm, args: Sent, *, last_page_only: bool = False) -> Listing:
    """Return the pages up to the requested one, or that one alone; empty after selection ends."""
    query = Query.parse(args)
    if not sections_visible(student_term.phase):
        return Listing(query, 0, 1, Markup())
    counts = _counts_for(student_term) if query.open_only else None
    found, corrected = _visible(student_term, query, counts), ""
    if not found and (words := _corrected(student_term.catalog, query.text)):
        found = _visible(student_term, replace(query, text=words), counts)
        corrected = words if found else ""
    page = min(max(1, _number(args.get("page", ""))), MOST_PAGES)
    shown = found[(page - 1) * PAGE if last_page_only else 0 : page * PAGE]
    last = shown[-1].id if shown else 0
    return Listing(
        query,
        len(found),
        page,
        section_rows(student_term, shown),
        last,
        _example(student_term, found),
        _search_hint(student_term.catalog),
        corrected,
    )


def likely_sections(args: Sent, who: StudentProfile, catalog: TermCatalog) -> list[int]:
    """Return the sections of the first page, as far as they don't depend on seats or the plan."""
    query = Query.parse(args)
    if query.open_only or query.fitting_only or query.eligible_only:
        return []
    return [view.id for view in _matching_for(who, catalog, query)[:PAGE]]


def _visible(
    student_term: StudentTerm, query: Query, counts: dict[int, SeatCounts] | None
) -> list[SectionView]:
    if counts is None and not query.fitting_only and not query.eligible_only:
        return _matching_for(student_term.profile, student_term.catalog, query)
    found = student_term.catalog.search(query, counts)
    return for_student(
        query, found, student_term.profile, student_term.catalog, student_term.classes
    )


def _matching_for(who: StudentProfile, catalog: TermCatalog, query: Query) -> list[SectionView]:
    fitting = _matching(catalog, query)
    hidden = {view.id for view in fitting.some if not rules.visible(who, view)}
    return [each for each in fitting.open if each.id not in hidden] if hidden else fitting.open


class Matching(NamedTuple):
    """The open sections that fit a query, and those of them that only some students see."""

    open: list[SectionView]
    some: list[SectionView]


@cached(
    LRUCache(maxsize=KEPT_SEARCHES),
    key=lambda catalog, query: (catalog.term.id, catalog.version, query),
)
def _matching(catalog: TermCatalog, query: Query) -> Matching:
    found = [view for view in catalog.search(query) if view.status == "OPEN"]
    return Matching(found, [view for view in found if not view.public])


@cached(
    LRUCache(maxsize=KEPT_SEARCHES),
    key=lambda catalog, text: (catalog.term.id, catalog.version, text),
)
def _corrected(catalog: TermCatalog, text: str) -> str:
    """Return search words without their typing mistakes, which takes a look at all words."""
    return catalog.corrected(text)


def for_student(
    query: Query,
    views: list[SectionView],
    who: StudentProfile,
    catalog: TermCatalog,
    classes: list[SectionView],
) -> list[SectionView]:
    """Return the sections that the student may see, and that fit the filters about the student.

    `classes` have a seat or are planned.
    """
    if query.fitting_only:
        views = _fitting(views, who, catalog, classes)
    if query.eligible_only:
        views = [view for view in views if not rules.unmet(who, view)]
    return [view for view in views if rules.visible(who, view)]


def _fitting(
    views: list[SectionView], who: StudentProfile, catalog: TermCatalog, classes: list[SectionView]
) -> list[SectionView]:
    """Return the sections that meet at the same time as no class, and the classes themselves."""

    def clashes(view: SectionView) -> bool:
        """A class of the same course would be swapped for the section."""
        if view in classes or "time_conflict" in rules.permitted(who, view):
            return False
        others = (each for each in classes if each.course_id != view.course_id)
        return any(clash(view, each) for each in others)

    busy = reduce(or_, (catalog.occupied[each.id] for each in classes), 0)
    return [view for view in views if not catalog.occupied[view.id] & busy or not clashes(view)]


def _example(student_term: StudentTerm, found: "list[SectionView]") -> str:
    """Return the code of a course that the student may see, if the search found nothing."""
    if found:
        return ""
    offered = (
        view for view in student_term.catalog.sections if rules.visible(student_term.profile, view)
    )
    first = next(offered, None)
    return requisites.shown(first.course_code) if first else ""


def _search_hint(catalog: TermCatalog) -> str:
    """Return examples of what can be searched for, from a public section of the term."""
    view = exemplary(catalog)
    if not view:
        return _("Search")
    return _(
        "Search %(course)s, %(title)s, %(instructor)s",
        course=requisites.shown(view.course_code),
        title=view.course_title,
        instructor=view.instructors[0].split()[-1],
    )


@cached(LRUCache(maxsize=16), key=lambda catalog: (catalog.term.id, catalog.version))
def exemplary(catalog: TermCatalog) -> SectionView | None:
    """Return the public section that takes the fewest letters to describe."""
    known = [
        view
        for view in catalog.sections
        if view.public and view.status == "OPEN" and any(view.instructors) and view.course_title
    ]
    return min(known, key=lambda view: len(view.course_title + view.instructors[0]), default=None)


@cached(TTLCache(maxsize=16, ttl=COUNTS_FRESH_SECONDS))
def _all_counts(term: int) -> dict[int, SeatCounts]:
    return backend().ledger.seats(term)


def _counts_for(student_term: StudentTerm) -> dict[int, SeatCounts]:
    """Return all counts as they apply to the student."""
    counts = _all_counts(student_term.term.id)
    some = [view for view in student_term.catalog.sections if view.reserves and view.id in counts]
    own = {
        view.id: seats_open_to(student_term, view, counts[view.id], likely=True) for view in some
    }
    return {**counts, **own} if own else counts


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
