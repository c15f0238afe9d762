"""Sections as lines of the list; each is drawn once for all to whom it says the same."""

from dataclasses import dataclass
from functools import lru_cache

from babel import Locale
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import current_locale
from portal.ledger.types import SeatCounts
from portal.registration import rules
from portal.registration.next_steps import section_name
from portal.registration.reasons import explain
from portal.student import fragments, kept
from portal.student.alike import Alike, alike
from portal.student.drawing import drawn
from portal.student.kept import Kept
from portal.student.scene import Scene

DRAWN = 5_000  # lines, each some KB


@dataclass(frozen=True)
class Row:
    """What a line says, about which section."""

    url: str  # of the section
    section: int
    name: str
    alike: Alike
    seats: Markup
    act: Markup
    caution: str  # the first rule that stands in the way, in words
    kept: tuple[Kept, ...]
    planned: bool


def rows(scene: Scene, cards: list[SectionView]) -> list[Markup]:
    """The sections as lines, with their counts of this moment."""
    counts = backend().ledger.seats_of(scene.term.id, [card.id for card in cards])
    language = current_locale()
    return [
        _drawn(_row(scene, card, counts.get(card.id) or unknown(card)), language) for card in cards
    ]


def unknown(card: SectionView) -> SeatCounts:
    """The counts of a section that the ledger has not been told of yet: nothing to be had."""
    return SeatCounts(card.id, card.capacity, card.capacity, 0, 0, card.status, 0)


def _row(scene: Scene, card: SectionView, counts: SeatCounts) -> Row:
    return Row(
        url=f"/terms/{card.term_id}/sections/{card.id}",
        section=card.id,
        name=section_name(card),
        alike=alike(scene.catalog, card),
        seats=fragments.seats(counts),
        act=fragments.act(scene, card.id),
        caution="" if scene.state(card.id) else _caution(scene, card),
        kept=tuple(kept.told(scene, card)),
        planned=card.id in scene.planned,
    )


@lru_cache(maxsize=DRAWN)
def _drawn(row: Row, _language: Locale) -> Markup:
    return drawn("student/row.html", row=row)


def _caution(scene: Scene, card: SectionView) -> str:
    own = [each for each in rules.refusals(scene.profile, card) if each.code != "hold"]
    return explain(own[:1], scene.case(card))[0].text if own else ""
