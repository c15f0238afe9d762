"""What a student has in a term, and which windows are theirs."""

from dataclasses import dataclass

from portal.backend import backend
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.people.profile import Profile
from portal.recorder import known
from portal.seats import desk
from portal.seats.answers import Held, Standing, Waiting, WindowView
from portal.seats.case import Case, amount
from portal.seats.clashes import pair_in_words, pairs
from portal.windows import cohorts
from portal.windows.phases import Phase, open_to, phase


@dataclass(frozen=True)
class Line:
    """A seat or a place in line, with its section where that is still known."""

    place: Held | Waiting
    card: SectionView | None
    name: str
    credits: str
    instead: str = ""  # the section that goes once a seat comes


@dataclass(frozen=True)
class Turn:
    """A window of the student's, how it stands, and for whom it is."""

    window: WindowView
    phase: Phase
    whom: str


@dataclass(frozen=True)
class InTerm:
    """Seats, places in line, credits in sum and at most, drops left today, and windows."""

    held: list[Line]
    waiting: list[Line]
    credits: str
    limit: str
    drops_left: int
    windows: list[Turn]
    clashes: list[str]  # two seats each at the same time


def in_term(who: Profile, term: int) -> InTerm:
    """All of it as it is now."""
    offered, standing, now = catalog_of(term), known.standing(term, who.student), known.now()
    case = Case(offered, None, backend().settings.zone)

    def line(place: Held | Waiting) -> Line:
        card, instead = offered.section(place.section), getattr(place, "instead", 0)
        gone = case.named(instead) if instead else ""
        return Line(place, card, case.named(place.section), amount(place.credits), gone)

    return InTerm(
        held=[line(each) for each in standing.enrolled],
        waiting=[line(each) for each in standing.waiting],
        credits=amount(sum(each.credits for each in standing.enrolled)),
        limit=amount(desk.hundredths(desk.limit(who, offered))),
        drops_left=desk.left(known.drops(term, who.student), term, now),
        clashes=clashes(offered, standing),
        windows=[
            Turn(each, phase([each], now), cohorts.describe(each.cohort))
            for each in open_to(who, known.windows(term))
            if each.state != "canceled"
        ],
    )


def clashes(offered: TermCatalog, standing: Standing, section: int | None = None) -> list[str]:
    """Say which seats of a student are at the same time; of one section, if it is named."""
    held = offered.some(each.section for each in standing.enrolled)
    running = [card for card in held if card.status != "CANCELED"]
    return [
        pair_in_words(one, other)
        for one, other in pairs(running)
        if section is None or section in {one.id, other.id}
    ]
