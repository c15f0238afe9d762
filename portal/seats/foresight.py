"""What can be told before a claim is sent: the likely refusals, so that nobody presses in vain."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from portal.catalog import requisites
from portal.catalog.time_conflicts import clash
from portal.ledger.types import Reason, SeatCounts, Standing
from portal.seats import rules
from portal.windows.phases import Phase

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog
    from portal.people.student_profile import StudentProfile


def foreseen(  # noqa: PLR0913  what a claim depends on
    profile: "StudentProfile",
    card: "SectionView",
    catalog: "TermCatalog",
    standing: Standing,
    limit: int,
    *,
    instead: int = 0,
) -> list[Reason]:
    """Why the ledger would refuse as things stand, window and seats apart.

    `limit` is in hundredths; `instead` is a section that would be given up for this one.
    """
    mine = _mine(card, standing)
    if mine:
        return mine
    if instead and all(held.section != instead for held in standing.enrolled):
        return [Reason("not_enrolled", {"section": instead})]
    kept = without(standing, [instead])
    held = catalog.some(each.section for each in kept.enrolled)
    total = sum(each.credits for each in kept.enrolled)
    found = [*_meets(card, held), *_credits(total, round(card.credits_min * 100), limit)]
    found += _lone(profile, card, catalog, held)
    if instead:
        found += needed_by(profile, catalog, standing, [instead], gained=[card])
    return _permitted(profile, card, [*found, *rules.refusals(profile, card)])


def plan(  # noqa: PLR0913  what a plan depends on
    profile: "StudentProfile",
    catalog: "TermCatalog",
    standing: Standing,
    limit: int,
    wished: Sequence[tuple["SectionView", int]],
    *,
    about: Collection[int] | None = None,
) -> dict[int, list[Reason]]:
    """By section, what stands against having all that is wished, with its credits (hundredths).

    What is wished counts as held for the others, in the order given for the sum of credits.
    Reasons that come of what is not held yet have `planned` among their facts. With `about` it is
    worked out for these sections alone, as all of a long plan takes the square of its length.
    """
    told = {card.id: _mine(card, standing) for card, _ in wished}
    new = [(card, adds) for card, adds in wished if not told[card.id]]
    if about is not None:
        told = {section: why for section, why in told.items() if section in about}
    held = catalog.some(each.section for each in standing.enrolled)
    total = now = sum(each.credits for each in standing.enrolled)
    for card, adds in new:
        if card.id in told:
            others = [each for each, _ in new if each.id != card.id]
            load = _credits(total, adds, limit)
            found = [*_meets(card, held), *_planned(_meets(card, others))]
            found += load if total == now else _planned(load)
            found += _lone(profile, card, catalog, [*held, *others])
            told[card.id] = _permitted(profile, card, [*found, *rules.refusals(profile, card)])
        total += adds
    return told


def needed_by(
    profile: "StudentProfile",
    catalog: "TermCatalog",
    standing: Standing,
    given_up: Collection[int],
    gained: Collection["SectionView"] = (),
) -> list[Reason]:
    """The seats kept that would lose a corequisite with those given up, unless one is gained."""
    before = catalog.some(each.section for each in standing.enrolled)
    kept = [each for each in before if each.id not in given_up]
    after = {each.course_id for each in (*kept, *gained)}
    met = {each.course_id for each in before}
    trees_of = {each.id: rules.corequisites(profile, each, catalog) for each in kept}
    return [
        Reason("needed_by", {"section": section, "missing": _lacking(tree, after)})
        for section, tree in trees_of.items()
        if _lacking(tree, after) and not _lacking(tree, met)
    ]


def waited_by(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing, section: int
) -> list[Reason]:
    """The seats whose corequisites are met only while the student waits for the section.

    A place counts for a seat that came in the same step; one that was joined later does not.
    """
    held = catalog.some(each.section for each in standing.enrolled)
    since = {each.section: each.at for each in standing.enrolled}
    seats = {card.course_id for card in held}
    found = []
    for card in held:
        tree = rules.corequisites(profile, card, catalog)
        places = {each.section for each in standing.waiting if each.at == since[card.id]}
        after = seats | {each.course_id for each in catalog.some(places - {section})}
        before = seats | {each.course_id for each in catalog.some(places)}
        if _lacking(tree, after) and not _lacking(tree, before):
            facts = {"section": card.id, "missing": _lacking(tree, seats), "waiting": True}
            found.append(Reason("needed_by", facts))
    return found


def alone(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing
) -> dict[int, tuple[list[int], bool]]:
    """Seats held without a corequisite: the missing courses, and whether they are waited for."""
    held = catalog.some(each.section for each in standing.enrolled)
    waited = catalog.some(each.section for each in standing.waiting)
    seats = {card.course_id for card in held}
    both = seats | {card.course_id for card in waited}
    trees_of = {card.id: rules.corequisites(profile, card, catalog) for card in held}
    return {
        section: (missing, not _lacking(tree, both))
        for section, tree in trees_of.items()
        if (missing := _lacking(tree, seats))
    }


def drops(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing, given_up: Collection[int]
) -> int:
    """How many drops of the day it is to give these seats up together.

    A seat that can't be held without another of them goes with that one.
    """

    def lost(sections: Collection[int]) -> set[int]:
        return {each.facts["section"] for each in needed_by(profile, catalog, standing, sections)}

    def fallen(gone: set[int]) -> set[int]:
        """What is gone then, with all of `left` that can't be held without it."""
        while more := lost(gone) & left - gone:
            gone = gone | more
        return gone

    left = {each.section for each in standing.enrolled} & set(given_up)
    gone: set[int] = set()
    number = 0
    while left:
        roots = (each for each in sorted(left) if each not in lost(gone | left - {each}))
        root = next(roots, None) or max(sorted(left), key=lambda each: len(fallen(gone | {each})))
        gone = fallen(gone | {root})
        left -= gone
        number += 1
    return number


def beside(
    profile: "StudentProfile", card: "SectionView", held: list["SectionView"]
) -> list[Reason]:
    """Which of the sections held are of the same course, or meet at the same time."""
    return _permitted(profile, card, _meets(card, held))


def without(standing: Standing, sections: Collection[int]) -> Standing:
    """The standing once the seats of those sections have been given up."""
    kept = tuple(each for each in standing.enrolled if each.section not in sections)
    return replace(standing, enrolled=kept)


def shut(phase: Phase) -> list[Reason]:
    """Why nothing can be picked at all, where no window is open."""
    window = phase.window
    if phase.kind == "open":
        return []
    if window is None:
        return [Reason("window_unscheduled")]
    if phase.kind == "before":
        return [Reason("window_before", {"opens": window.opens})]
    return [Reason("window_ended", {"closes": window.closes})]


def no_room(seats: SeatCounts | None) -> list[Reason]:
    """Why not even a place on the waitlist is left, if so."""
    if seats is None or seats.claimable or seats.waiting < seats.waitlist_capacity:
        return []
    facts = {"waiting": seats.waiting, "waitlist_capacity": seats.waitlist_capacity}
    return [Reason("waitlist_full", facts)]


def _mine(card: "SectionView", standing: Standing) -> list[Reason]:
    if any(held.section == card.id for held in standing.enrolled):
        return [Reason("already_enrolled")]
    places = [place for place in standing.waiting if place.section == card.id]
    return [Reason("already_waiting", {"position": place.position}) for place in places]


def _planned(reasons: list[Reason]) -> list[Reason]:
    return [replace(each, facts=each.facts | {"planned": True}) for each in reasons]


def _credits(total: int, adds: int, limit: int) -> list[Reason]:
    if total + adds <= limit:
        return []
    return [Reason("credit_limit", {"held": total, "adds": adds, "limit": limit})]


def _meets(card: "SectionView", others: list["SectionView"]) -> list[Reason]:
    same = [each.id for each in others if each.course_id == card.course_id]
    clashing = [each.id for each in others if clash(card, each)]
    return [
        *(Reason("same_course", {"section": section}) for section in same),
        *(Reason("time_conflict", {"section": section}) for section in clashing),
    ]


def _lone(
    profile: "StudentProfile",
    card: "SectionView",
    catalog: "TermCatalog",
    beside: list["SectionView"],
) -> list[Reason]:
    """That a corequisite is missing beside these sections, or is not offered at all."""
    beyond = rules.unoffered(profile, card, catalog)
    needed = None if beyond else rules.corequisites(profile, card, catalog)
    missing = _lacking(needed, {each.course_id for each in beside})
    return beyond or ([Reason("corequisite", {"missing": missing})] if missing else [])


def _permitted(
    profile: "StudentProfile", card: "SectionView", reasons: list[Reason]
) -> list[Reason]:
    passes = rules.permitted(profile, card)
    return [each for each in reasons if each.code not in passes]


def _lacking(tree: dict[str, Any] | None, courses: set[int]) -> list[int]:
    """The courses that the tree still asks for; none once it is met."""
    if not tree:
        return []
    rest = requisites.missing(_named(tree), lambda course: int(course) in courses)
    return [int(course) for course in requisites.codes(rest)]


def _named(tree: dict[str, Any]) -> dict[str, Any]:
    if "course" in tree:
        return {"course": str(tree["course"])}
    joint = "any" if "any" in tree else "all"
    return {joint: [_named(node) for node in tree[joint]]}
