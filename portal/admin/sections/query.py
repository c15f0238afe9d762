"""Which sections an admin wants to see: the picker's query, the status, and how full they are."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.catalog.search import Query
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.ledger.types import SeatCounts
from portal.registration.seat_counts import Totals, totals

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

STATUSES = ("NEW", "OPEN", "CONFIRMED", "CANCELED")
RUNNING = {"OPEN", "CONFIRMED"}
Counts = Mapping[int, SeatCounts]


@dataclass(frozen=True)
class Sifted:
    """A query, a status ("" = any), and `fewer`: less than so many seats taken (0 = any)."""

    query: Query
    status: str = ""
    fewer: int = 0

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "Sifted":
        """What the address asks for; what makes no sense in it is ignored."""
        status, fewer = args.get("status", ""), args.get("fewer", "").strip()
        known = fewer.isascii() and fewer.isdigit() and len(fewer) < 7
        return cls(
            Query.parse(args),
            status if status in STATUSES else "",
            int(fewer) if known else 0,
        )

    def args(self) -> list[tuple[str, str]]:
        """The arguments that `parse` reads back as this."""
        more = [("status", self.status), ("fewer", str(self.fewer or ""))]
        return [*self.query.args(), *((name, value) for name, value in more if value)]

    def pick(self, offered: TermCatalog, counts: Counts) -> list[SectionView]:
        """The sections of the term that fit, sorted."""
        return [
            card
            for card in offered.search(self.query)
            if (not self.status or card.status == self.status)
            and (not self.fewer or self._few(card, counts.get(card.id)))
        ]

    def sums(self, cards: Iterable[SectionView], counts: Counts) -> Totals:
        """What those of the cards that run have together."""
        known = [each for each in cards if each.status in RUNNING and each.id in counts]
        pools = {each.id: each.pool for each in known if each.pool}
        return totals((counts[each.id] for each in known), pools)

    def _few(self, card: SectionView, seats: SeatCounts | None) -> bool:
        """Whether too few have a seat; one that does not run, or has no seats, lacks nobody."""
        runs = card.status in RUNNING and card.capacity > 0
        return runs and (seats.taken if seats else 0) < self.fewer
