"""The list of sections that a student may see: searched, filtered, page by page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from cachetools import TTLCache, cached
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.search import Query
from portal.ledger.types import SeatCounts
from portal.registration import rules
from portal.student import kept
from portal.student.rows import rows
from portal.student.scene import Scene
from portal.windows.phases import sections_visible

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

    from portal.catalog.term_catalog import SectionView

PAGE = 40
MOST_PAGES = 10
COUNTS_FRESH_SECONDS = 1


@dataclass(frozen=True)
class Listing:
    """Some pages of the sections that fit a query."""

    query: Query
    total: int
    page: int
    lines: list[Markup]
    last: int = 0  # the section of the last line
    example: str = ""  # the code of a course that could be searched for

    @property
    def pages(self) -> int:
        return -(-self.total // PAGE)

    @property
    def more(self) -> str:
        """The address with one page more; blank where this is all, or all that is wise."""
        if self.page >= min(self.pages, MOST_PAGES):
            return ""
        return "?" + urlencode([*self.query.args(), ("page", self.page + 1)])

    def query_url(self, term_id: int) -> str:
        """The address of this search, without what was left blank."""
        args = urlencode(self.query.args())
        return f"/terms/{term_id}{'?' + args if args else ''}"

    @property
    def left(self) -> int:
        """How many sections are on no page yet."""
        return max(0, self.total - self.page * PAGE)


def listing(scene: Scene, args: "MultiDict[str, str]", *, last_page_only: bool = False) -> Listing:
    """The pages up to the one asked for, or that one alone; nothing once selection has ended."""
    query = Query.parse(args)
    if not sections_visible(scene.phase):
        return Listing(query, 0, 1, [])
    counts = _counts_for(scene) if query.open_only else None
    cards = scene.catalog.search(query, counts)
    found = [card for card in cards if rules.visible(scene.profile, card)]
    page = min(max(1, _number(args.get("page", ""))), MOST_PAGES)
    shown = found[(page - 1) * PAGE if last_page_only else 0 : page * PAGE]
    last = shown[-1].id if shown else 0
    return Listing(query, len(found), page, rows(scene, shown), last, _example(scene, found))


def _example(scene: Scene, found: "list[SectionView]") -> str:
    """The code of a course of the term that the student may see, where nothing was found."""
    if found:
        return ""
    offered = (card for card in scene.catalog.sections if rules.visible(scene.profile, card))
    first = next(offered, None)
    return requisites.shown(first.course_code) if first else ""


@cached(TTLCache(maxsize=16, ttl=COUNTS_FRESH_SECONDS))
def _all_counts(term: int) -> dict[int, SeatCounts]:
    return backend().ledger.seats(term)


def _counts_for(scene: Scene) -> dict[int, SeatCounts]:
    """All counts as they are for the student."""
    counts = _all_counts(scene.term.id)
    some = [card for card in scene.catalog.sections if card.reserves and card.id in counts]
    own = {card.id: kept.open_to(scene, card, counts[card.id], likely=True) for card in some}
    return {**counts, **own} if own else counts


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
