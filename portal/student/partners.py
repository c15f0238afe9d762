"""The sections to choose from where one is taken together with another."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from portal.backend import backend
from portal.catalog import linked_courses, requisites
from portal.catalog.term_catalog import MeetingView, SectionView
from portal.ledger.types import Reason
from portal.registration import precheck, rules
from portal.registration.credits import hundredths
from portal.registration.next_steps import section_name
from portal.registration.reasons import explain
from portal.student.alike import classes
from portal.student.kept import open_to
from portal.student.planning.seen import counts
from portal.student.rows import unknown
from portal.student.scene import Scene


@dataclass(frozen=True)
class Choice:
    """A section to choose, with its counts of this moment."""

    card: SectionView
    name: str
    meetings: tuple[MeetingView, ...]
    counts: Markup
    free: bool
    caution: str  # the first thing that stands in its way, in words


@dataclass(frozen=True)
class Group:
    """Sections of which one is needed; `chosen` is the one to begin with."""

    courses: str
    choices: list[Choice]
    chosen: int

    @property
    def free(self) -> bool:
        """Whether one of them has a seat."""
        return any(each.free for each in self.choices)


def groups(now: Scene, card: SectionView, instead: int, sent: Sequence[int]) -> list[Group]:
    """For each linked course that is still needed, its sections; those in `sent` are chosen."""
    standing = precheck.without_seats(now.standing, [instead])
    held = {each.course_id for each in now.catalog.some(one.section for one in standing.enrolled)}
    needed = rules.corequisites(now.profile, card, now.catalog)
    lacking = {int(course) for course in requisites.codes(needed)} - held
    found = [
        [each for each in cards if now.shows(each)]
        for cards in linked_courses.sections(card, now.catalog)
        if lacking & {each.course_id for each in cards}
        and not held & {each.course_id for each in cards}
    ]
    return [_group(now, card, cards, instead, sent) for cards in found if cards]


def choices(
    now: Scene, cards: Sequence[SectionView], reasons: Sequence[list[Reason]]
) -> list[Choice]:
    """Sections to choose from, and what stands in the way of each."""
    seats = backend().ledger.seats_of(now.term.id, [card.id for card in cards])
    known = [seats.get(card.id) or unknown(card) for card in cards]
    return [
        Choice(
            card=card,
            name=section_name(card),
            meetings=classes(card),
            counts=counts(has),
            free=open_to(now, card, has).claimable,
            caution=explain(why[:1], now.case(card))[0].text if why else "",
        )
        for card, has, why in zip(cards, known, reasons, strict=True)
    ]


def _group(
    now: Scene, card: SectionView, cards: list[SectionView], instead: int, sent: Sequence[int]
) -> Group:
    found = choices(now, cards, [_against(now, card, each, instead) for each in cards])
    courses = dict.fromkeys(requisites.shown(each.course_code) for each in cards)
    best = min(
        found, key=lambda each: (each.card.id not in sent, each.caution != "", not each.free)
    )
    return Group(requisites.any_of(list(courses)), found, best.card.id)


def _against(now: Scene, card: SectionView, partner: SectionView, instead: int) -> list[Reason]:
    """What stands in the way of a partner that is had along with the section."""
    wished = [(each, hundredths(each.credits_min)) for each in (card, partner)]
    standing = precheck.without_seats(now.standing, [instead])
    plan = precheck.likely_refusals_together(now.profile, now.catalog, standing, now.limit, wished)
    return [each for each in plan[partner.id] if each.code != "hold"]
