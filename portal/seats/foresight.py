"""What can be told before a claim is sent: the likely refusals, so that nobody presses in vain."""

from typing import TYPE_CHECKING, Any

from portal.seats import rules, trees
from portal.seats.answers import Reason, Seats, Standing
from portal.windows.phases import Phase

if TYPE_CHECKING:
    from portal.catalog.board import Board, Card, MeetingView
    from portal.people.profile import Profile


def foreseen(
    profile: "Profile", card: "Card", board: "Board", standing: Standing, limit: int
) -> list[Reason]:
    """Why the ledger would refuse as things stand, window and seats apart.

    `limit` is in hundredths. What only the ledger can say, such as meetings whose dates may not
    overlap, is left to it.
    """
    mine = _mine(card, standing)
    if mine:
        return mine
    held = board.some(held.section for held in standing.enrolled)
    found = [Reason("same_course", {"section": each.id}) for each in held if _same(each, card)]
    found += [Reason("time_conflict", {"section": each.id}) for each in held if _clash(each, card)]
    total = sum(held.credits for held in standing.enrolled)
    adds = round(card.credits_min * 100)
    if total + adds > limit:
        found.append(Reason("credit_limit", {"held": total, "adds": adds, "limit": limit}))
    beyond = rules.unoffered(profile, card, board)
    needed = None if beyond else rules.corequisites(profile, card, board)
    missing = _lacking(needed, {each.course_id for each in held})
    if missing:
        found.append(Reason("corequisite", {"missing": missing}))
    return [*found, *rules.refusals(profile, card), *beyond]


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


def no_room(seats: Seats | None) -> list[Reason]:
    """Why not even a place on the waitlist is left, if so."""
    if seats is None or seats.claimable or seats.waiting < seats.waitlist_capacity:
        return []
    facts = {"waiting": seats.waiting, "waitlist_capacity": seats.waitlist_capacity}
    return [Reason("waitlist_full", facts)]


def _mine(card: "Card", standing: Standing) -> list[Reason]:
    if any(held.section == card.id for held in standing.enrolled):
        return [Reason("already_enrolled")]
    places = [place for place in standing.waiting if place.section == card.id]
    return [Reason("already_waiting", {"position": place.position}) for place in places]


def _same(held: "Card", card: "Card") -> bool:
    return held.course_id == card.course_id


def _clash(held: "Card", card: "Card") -> bool:
    return any(_meet(one, other) for one in held.meetings for other in card.meetings)


def _meet(one: "MeetingView", other: "MeetingView") -> bool:
    if not (one.clashes and other.clashes and one.mask & other.mask and one.dates == other.dates):
        return False
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return False
    return one.start < other.end and other.start < one.end


def _lacking(tree: dict[str, Any] | None, courses: set[int]) -> list[int]:
    """The courses that the tree still asks for; none once it is met."""
    if not tree:
        return []
    rest = trees.missing(_named(tree), lambda course: int(course) in courses)
    return [int(course) for course in trees.codes(rest)]


def _named(tree: dict[str, Any]) -> dict[str, Any]:
    if "course" in tree:
        return {"course": str(tree["course"])}
    joint = "any" if "any" in tree else "all"
    return {joint: [_named(node) for node in tree[joint]]}
