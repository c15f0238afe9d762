"""The list of sections that a student may see: searched, filtered, page by page."""

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from cachetools import TTLCache, cached
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.board import Card
from portal.catalog.query import Query
from portal.seats import rules
from portal.seats.answers import Reason, Seats
from portal.seats.reasons import told
from portal.student import fragments, kept
from portal.student.alike import Alike, alike
from portal.student.scene import Scene

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

PAGE = 40
MOST_PAGES = 10
COUNTS_FRESH_SECONDS = 1


@dataclass(frozen=True)
class Row:
    """A section as a line of the list."""

    card: Card
    alike: Alike
    seats: Markup
    act: Markup
    state: str
    caution: str  # the first rule that stands in the way, in words
    kept: list[kept.Kept]


@dataclass(frozen=True)
class Listing:
    """Some pages of the sections that fit a query."""

    query: Query
    total: int
    page: int
    rows: list[Row]

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
    if scene.phase.kind == "ended":
        return Listing(query, 0, 1, [])
    counts = _counts_for(scene) if query.open_only else None
    cards = scene.board.search(query, counts)
    found = [card for card in cards if rules.visible(scene.profile, card)]
    page = min(max(1, _number(args.get("page", ""))), MOST_PAGES)
    shown = found[(page - 1) * PAGE if last_page_only else 0 : page * PAGE]
    return Listing(query, len(found), page, rows(scene, shown))


def rows(scene: Scene, cards: list[Card]) -> list[Row]:
    """The sections as lines, with their counts of this moment."""
    counts = backend().ledger.seats_of(scene.term.id, [card.id for card in cards])
    return [
        Row(
            card=card,
            alike=alike(scene.board, card, scene.title(card)),
            seats=fragments.seats(counts.get(card.id) or unknown(card)),
            act=fragments.act(scene, card.id),
            state=scene.state(card.id),
            caution=_caution(scene, card),
            kept=kept.told(scene, card),
        )
        for card in cards
    ]


def unknown(card: Card) -> Seats:
    """The counts of a section that the ledger has not been told of yet: nothing to be had."""
    return Seats(card.id, card.capacity, card.capacity, 0, 0, card.status, 0)


@cached(TTLCache(maxsize=16, ttl=COUNTS_FRESH_SECONDS))
def _all_counts(term: int) -> dict[int, Seats]:
    return backend().ledger.seats(term)


def _counts_for(scene: Scene) -> dict[int, Seats]:
    """All counts as they are for the student."""
    counts = _all_counts(scene.term.id)
    some = [card for card in scene.board.cards if card.reserves and card.id in counts]
    own = {card.id: kept.open_to(scene, card, counts[card.id], likely=True) for card in some}
    return {**counts, **own} if own else counts


def _caution(scene: Scene, card: Card) -> str:
    reasons: list[Reason] = rules.refusals(scene.profile, card)
    own = [each for each in reasons if each.code != "hold"]
    return told(own[:1], scene.case(card))[0].text if own else ""


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
