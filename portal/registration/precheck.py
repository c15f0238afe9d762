"""Likely refusals, shown before a submission; windows and seats are left to the ledger."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from portal.catalog import requisites
from portal.catalog.time_conflicts import clash
from portal.ledger.types import Reason, SeatCounts, Standing
from portal.registration import rules
from portal.registration.credits import hundredths
from portal.windows.phases import Phase

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog
    from portal.people.student_profile import StudentProfile
    from portal.registration.plans import Plan
    from portal.registration.requests import Alternative

Reasons = dict[int, list[Reason]]  # by section
Wanted = tuple["SectionView", int]  # a section and its credits (hundredths)


def likely_refusals(  # noqa: PLR0913  what a claim depends on
    profile: "StudentProfile",
    section: "SectionView",
    catalog: "TermCatalog",
    standing: Standing,
    limit: int,
    *,
    instead: int = 0,
) -> list[Reason]:
    """Return why the ledger would refuse a section now, windows and seats apart.

    `limit` is in hundredths; `instead` is a section that a swap would drop.
    """
    already = _already(section, standing)
    if already:
        return already
    if instead and all(held.section != instead for held in standing.enrolled):
        return [Reason("not_enrolled", {"section": instead})]
    rest = without_seats(standing, [instead])
    held = catalog.some(each.section for each in rest.enrolled)
    total = sum(each.credits for each in rest.enrolled)
    found = [*_conflicts(section, held), *_load(total, hundredths(section.credits_min), limit)]
    found += _missing_corequisite(profile, section, catalog, held)
    if instead:
        found += needed_by(profile, catalog, standing, [instead], gained=[section])
    return _not_permitted(profile, section, [*found, *rules.refusals(profile, section)])


def likely_refusals_together(  # noqa: PLR0913  what a plan depends on
    profile: "StudentProfile",
    catalog: "TermCatalog",
    standing: Standing,
    limit: int,
    wanted: Sequence[Wanted],
    *,
    about: Collection[int] | None = None,
) -> Reasons:
    """Return the likely refusals of each section if all are requested together.

    Each section counts as held for the others; credits add up in the order given. The facts of a
    reason have `planned` if it depends on a section that is not held yet. `about` limits the work
    to some sections: a whole plan takes the square of its length.
    """
    found = {section.id: _already(section, standing) for section, _ in wanted}
    new = [(section, adds) for section, adds in wanted if not found[section.id]]
    if about is not None:
        found = {section: why for section, why in found.items() if section in about}
    held = catalog.some(each.section for each in standing.enrolled)
    total = now = sum(each.credits for each in standing.enrolled)
    for section, adds in new:
        if section.id in found:
            others = [each for each, _ in new if each.id != section.id]
            load = _load(total, adds, limit)
            why = [*_conflicts(section, held), *_planned(_conflicts(section, others))]
            why += load if total == now else _planned(load)
            why += _missing_corequisite(profile, section, catalog, [*held, *others])
            why += rules.refusals(profile, section)
            found[section.id] = _not_permitted(profile, section, why)
        total += adds
    return found


def likely_refusals_of_plan(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing, limit: int, plan: "Plan"
) -> list[list[Reasons]]:
    """Return for each alternative of each choice what stands in its way.

    An alternative is checked beside the first alternatives of the other choices.
    """

    def against(meant: Sequence["Alternative"], about: "Alternative | None" = None) -> Reasons:
        named = None if about is None else {each.section for each in about}
        wanted = offered(meant, catalog)
        return likely_refusals_together(profile, catalog, standing, limit, wanted, about=named)

    def of(alternative: "Alternative", reasons: Reasons) -> Reasons:
        unknown = [Reason("section_unknown")]
        return {each.section: reasons.get(each.section, unknown) for each in alternative}

    firsts = [choice.alternatives[0] for choice in plan.choices]
    of_firsts = against(firsts)
    return [
        [
            of(each, against([*firsts[:at], each, *firsts[at + 1 :]], each) if rank else of_firsts)
            for rank, each in enumerate(choice.alternatives)
        ]
        for at, choice in enumerate(plan.choices)
    ]


def offered(alternatives: Sequence["Alternative"], catalog: "TermCatalog") -> list[Wanted]:
    """Return the sections that are still offered, with their credits (hundredths)."""
    requests = [request for alternative in alternatives for request in alternative]
    known = [(found, each) for each in requests if (found := catalog.section(each.section))]
    return [
        (section, hundredths(section.credits_min) if each.credits is None else each.credits)
        for section, each in known
    ]


def plan_credits(plan: "Plan", catalog: "TermCatalog") -> int:
    """Return the credits (hundredths) of all first alternatives."""
    firsts = [choice.alternatives[0] for choice in plan.choices]
    return sum(adds for _, adds in offered(firsts, catalog))


def needed_by(
    profile: "StudentProfile",
    catalog: "TermCatalog",
    standing: Standing,
    dropped: Collection[int],
    gained: Collection["SectionView"] = (),
) -> list[Reason]:
    """Return the seats that would lose a corequisite with these drops."""
    before = catalog.some(each.section for each in standing.enrolled)
    kept = [each for each in before if each.id not in dropped]
    after = {each.course_id for each in (*kept, *gained)}
    met = {each.course_id for each in before}
    trees = {each.id: rules.corequisites(profile, each, catalog) for each in kept}
    return [
        Reason("needed_by", {"section": section, "missing": _lacking(tree, after)})
        for section, tree in trees.items()
        if _lacking(tree, after) and not _lacking(tree, met)
    ]


def needed_by_while_waiting(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing, section: int
) -> list[Reason]:
    """Return the seats whose corequisites are met only by waiting for the section.

    A waitlist position counts for a seat of the same step; one joined later does not.
    """
    held = catalog.some(each.section for each in standing.enrolled)
    since = {each.section: each.at for each in standing.enrolled}
    seats = {each.course_id for each in held}
    found = []
    for each in held:
        tree = rules.corequisites(profile, each, catalog)
        places = {one.section for one in standing.waiting if one.at == since[each.id]}
        after = seats | {one.course_id for one in catalog.some(places - {section})}
        before = seats | {one.course_id for one in catalog.some(places)}
        if _lacking(tree, after) and not _lacking(tree, before):
            facts = {"section": each.id, "missing": _lacking(tree, seats), "waiting": True}
            found.append(Reason("needed_by", facts))
    return found


def without_corequisites(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing
) -> dict[int, tuple[list[int], bool]]:
    """Return what seats lack: missing corequisites, and whether the student waits for them."""
    held = catalog.some(each.section for each in standing.enrolled)
    waited = catalog.some(each.section for each in standing.waiting)
    seats = {each.course_id for each in held}
    both = seats | {each.course_id for each in waited}
    trees = {each.id: rules.corequisites(profile, each, catalog) for each in held}
    return {
        section: (missing, not _lacking(tree, both))
        for section, tree in trees.items()
        if (missing := _lacking(tree, seats))
    }


def count_drops(
    profile: "StudentProfile", catalog: "TermCatalog", standing: Standing, dropped: Collection[int]
) -> int:
    """Return how many drops of the day it takes to drop these seats together.

    A seat that can't be held without another of them goes with that one.
    """

    def lost(sections: Collection[int]) -> set[int]:
        found = needed_by(profile, catalog, standing, sections)
        return {each.facts["section"] for each in found}

    def with_dependents(gone: set[int]) -> set[int]:
        while more := lost(gone) & left - gone:
            gone = gone | more
        return gone

    left = {each.section for each in standing.enrolled} & set(dropped)
    gone: set[int] = set()
    number = 0
    while left:
        roots = (each for each in sorted(left) if each not in lost(gone | left - {each}))
        root = next(roots, None) or max(
            sorted(left), key=lambda each: len(with_dependents(gone | {each}))
        )
        gone = with_dependents(gone | {root})
        left -= gone
        number += 1
    return number


def conflicts(
    profile: "StudentProfile", section: "SectionView", held: list["SectionView"]
) -> list[Reason]:
    """Return which held sections are of the same course or meet at the same time."""
    return _not_permitted(profile, section, _conflicts(section, held))


def without_seats(standing: Standing, sections: Collection[int]) -> Standing:
    """Return the standing after those seats are dropped."""
    kept = tuple(each for each in standing.enrolled if each.section not in sections)
    return replace(standing, enrolled=kept)


def no_window(phase: Phase) -> list[Reason]:
    """Return why nothing can be registered for at all, if no window is open."""
    window = phase.window
    if phase.kind == "open":
        return []
    if window is None:
        return [Reason("window_unscheduled")]
    if phase.kind == "before":
        return [Reason("window_before", {"opens": window.opens})]
    return [Reason("window_ended", {"closes": window.closes})]


def waitlist_full(seats: SeatCounts | None) -> list[Reason]:
    """Return why there is not even a waitlist position left, if so."""
    if seats is None or seats.claimable or seats.waiting < seats.waitlist_capacity:
        return []
    facts = {"waiting": seats.waiting, "waitlist_capacity": seats.waitlist_capacity}
    return [Reason("waitlist_full", facts)]


def _already(section: "SectionView", standing: Standing) -> list[Reason]:
    if any(held.section == section.id for held in standing.enrolled):
        return [Reason("already_enrolled")]
    places = [place for place in standing.waiting if place.section == section.id]
    return [Reason("already_waiting", {"position": place.position}) for place in places]


def _planned(reasons: list[Reason]) -> list[Reason]:
    return [replace(each, facts=each.facts | {"planned": True}) for each in reasons]


def _load(total: int, adds: int, limit: int) -> list[Reason]:
    if total + adds <= limit:
        return []
    return [Reason("credit_limit", {"held": total, "adds": adds, "limit": limit})]


def _conflicts(section: "SectionView", others: list["SectionView"]) -> list[Reason]:
    same = [each.id for each in others if each.course_id == section.course_id]
    clashing = [each.id for each in others if clash(section, each)]
    return [
        *(Reason("same_course", {"section": each}) for each in same),
        *(Reason("time_conflict", {"section": each}) for each in clashing),
    ]


def _missing_corequisite(
    profile: "StudentProfile",
    section: "SectionView",
    catalog: "TermCatalog",
    beside: list["SectionView"],
) -> list[Reason]:
    """Return that a corequisite is missing beside these sections, or is not offered at all."""
    beyond = rules.unoffered(profile, section, catalog)
    needed = None if beyond else rules.corequisites(profile, section, catalog)
    missing = _lacking(needed, {each.course_id for each in beside})
    return beyond or ([Reason("corequisite", {"missing": missing})] if missing else [])


def _not_permitted(
    profile: "StudentProfile", section: "SectionView", reasons: list[Reason]
) -> list[Reason]:
    passes = rules.permitted(profile, section)
    return [each for each in reasons if each.code not in passes]


def _lacking(tree: dict[str, Any] | None, courses: set[int]) -> list[int]:
    """Return the courses that the tree still needs; none once it is met."""
    if not tree:
        return []
    rest = requisites.missing(_as_text(tree), lambda course: int(course) in courses)
    return [int(course) for course in requisites.codes(rest)]


def _as_text(tree: dict[str, Any]) -> dict[str, Any]:
    if "course" in tree:
        return {"course": str(tree["course"])}
    joint = "any" if "any" in tree else "all"
    return {joint: [_as_text(node) for node in tree[joint]]}
