"""Likely refusals, shown before a submission; seats are left to the ledger.

They are computed here rather than by the ledger: a page shows those of many sections and plans
without another round trip, also while the ledger is away.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

from portal.catalog import linked_courses, requisites
from portal.catalog.time_conflicts import clash
from portal.ledger.types import HeldSeat, Reason, Registrations, SeatCounts
from portal.registration import rules
from portal.registration.credits import hundredths
from portal.windows.phases import Phase

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog
    from portal.people.student_profile import StudentProfile
    from portal.registration.plans import Plan
    from portal.registration.requests import Alternative, Choice

Reasons = dict[int, list[Reason]]  # by section
Wanted = tuple["SectionView", int]  # a section and its credits (hundredths)

MOST_TRIED = 50  # combinations of linked sections, as pages ask for each planned section


@dataclass(frozen=True)
class Precheck:
    """The inputs for checking a student's requests; `credit_limit` is in hundredths."""

    profile: "StudentProfile"
    catalog: "TermCatalog"
    registrations: Registrations
    credit_limit: int

    @cached_property
    def held(self) -> list["SectionView"]:
        """Return the sections in which the student has a seat."""
        return self.catalog.some(each.section for each in self.registrations.enrolled)

    @cached_property
    def credits(self) -> int:
        """Return the credits of all seats, in hundredths."""
        return sum(each.credits for each in self.registrations.enrolled)

    def without(self, sections: Collection[int]) -> "Precheck":
        remaining = tuple(
            each for each in self.registrations.enrolled if each.section not in sections
        )
        return replace(self, registrations=replace(self.registrations, enrolled=remaining))

    def with_seats(self, wanted: Iterable[Wanted]) -> "Precheck":
        """Return a precheck with seats in these sections too, each for its credits."""
        more = (HeldSeat(section.id, adds, 0, 0) for section, adds in wanted)
        enrolled = (*self.registrations.enrolled, *more)
        return replace(self, registrations=replace(self.registrations, enrolled=enrolled))

    def against_seats(self, section: "SectionView", adds: int | None = None) -> list[Reason]:
        """Return every reason why the student's own seats rule out one section more.

        Leaves out those that a permission lifts. Rows, pages of sections, waitlists and live
        updates show what it returns. `adds` are its credits (hundredths), the least by default.
        """
        if adds is None:
            adds = hundredths(section.credits_min)
        found = self._against_classes([], self, section, adds)
        return rules.not_permitted(self.profile, section, found)

    def refusals(self, section: "SectionView", *, swap_out: int = 0) -> list[Reason]:
        """Return why the ledger would refuse a section now; `swap_out` is swapped for it."""
        if already := _already(section, self.registrations):
            return already
        if swap_out and all(seat.section != swap_out for seat in self.registrations.enrolled):
            return [*not_open(section), Reason("not_enrolled", {"section": swap_out})]
        rest = self.without([swap_out]) if swap_out else self
        wanted = section, hundredths(section.credits_min)
        found = not_open(section) + rest.refusals_together([wanted])[section.id]
        if swap_out:
            lost = self.needed_by([swap_out], gained=[section])
            found += rules.not_permitted(self.profile, section, lost)
        return found

    def linked_choices(
        self, section: "SectionView", shows: Callable[["SectionView"], bool]
    ) -> list[list["SectionView"]]:
        """Return the open linked sections of each corequisite that a section still needs.

        One of each list is to be taken with it. `shows` tells whether the student sees a section.
        """
        held = {each.course_id for each in self.held}
        lacking = set(self._lacking(section, held))
        found = []
        for views in linked_courses.sections(section, self.catalog):
            courses, visible = {each.course_id for each in views}, [*filter(shows, views)]
            if visible and lacking & courses and not held & courses:
                found.append(visible)
        return found

    def can_swap(
        self, section: "SectionView", swap_out: int, shows: Callable[["SectionView"], bool]
    ) -> bool:
        """Return whether no rule refuses a swap for a section, alone or with linked ones.

        A waitlist position for the section becomes one for the swap, which takes no other section.
        False, too, if the first MOST_TRIED combinations of linked sections are refused.
        """
        waiting = self.registrations.waiting
        others = tuple(each for each in waiting if each.section != section.id)
        before = replace(self, registrations=replace(self.registrations, waiting=others))
        rest = before.without([swap_out])
        choices = rest.linked_choices(section, shows) if len(others) == len(waiting) else []

        def lacks_at_most_others(*together: "SectionView") -> bool:
            wanted = [(each, hundredths(each.credits_min)) for each in together]
            last = together[-1].id
            found = rest.refusals_together(wanted, about=[last])[last]
            return {each.code for each in found} <= {"corequisite"}

        def possible(*together: "SectionView") -> bool:
            wanted = [(each, hundredths(each.credits_min)) for each in together]
            lost = before.needed_by([swap_out], gained=together)
            return not any([*lost, *rest.refusals_together(wanted).values()])

        is_open = not not_open(section) and swap_out in {each.id for each in self.held}
        if not is_open or not lacks_at_most_others(section):
            return False
        fitting = [
            [one for one in views if one.id != swap_out and lacks_at_most_others(section, one)]
            for views in choices
        ]
        return any(possible(section, *linked) for linked in islice(product(*fitting), MOST_TRIED))

    def refusals_together(
        self, wanted: Sequence[Wanted], *, about: Collection[int] | None = None
    ) -> Reasons:
        """Return the likely refusals of each section if all are requested together.

        Each section counts as held for the others, except for limits: these count only those before
        it. The facts of a reason have `planned` if it depends on a section that is not held yet.
        `about` limits the work to some sections: a whole plan takes the square of its length.
        """
        found = {section.id: _already(section, self.registrations) for section, _ in wanted}
        new = [(section, adds) for section, adds in wanted if not found[section.id]]
        if about is not None:
            found = {section: why for section, why in found.items() if section in about}
        before = self
        for section, adds in new:
            if section.id in found:
                others = [each for each, _ in new if each.id != section.id]
                found[section.id] = self._refusals_beside(others, before, section, adds)
            before = before.with_seats([(section, adds)])
        return found

    def _refusals_beside(
        self, others: list["SectionView"], before: "Precheck", section: "SectionView", adds: int
    ) -> list[Reason]:
        """Return the likely refusals of a section that is requested together with others.

        `before` has seats in those requested before it, too; it adds `adds` credits.
        """
        found = self._against_classes(others, before, section, adds)
        found += out_of_range(section, adds) + rules.before_permissions(self.profile, section)
        return rules.not_permitted(self.profile, section, found)

    def _against_classes(
        self, others: list["SectionView"], before: "Precheck", section: "SectionView", adds: int
    ) -> list[Reason]:
        """Return why seats and `others` rule out a section, also what a permission lifts.

        A rule between two sections belongs here: it then shows on every page.
        """
        found = _conflicts(section, self.held) + _planned(_conflicts(section, others))
        of_seats = self.exceeded_limits((section, adds))
        for each in before.exceeded_limits((section, adds)):
            found += [each] if each in of_seats else _planned([each])
        return found + self._missing_corequisite(section, others)

    def exceeded_limits(self, wanted: Wanted) -> list[Reason]:
        """Return a reason for each limit on all classes together that one section more exceeds.

        A rule that adds up belongs here. It looks at seats alone: a plan's earlier sections are
        seats of another precheck.
        """
        _section, adds = wanted
        found = []
        if self.credits + adds > self.credit_limit:
            facts = {"held": self.credits, "adds": adds, "limit": self.credit_limit}
            found.append(Reason("credit_limit", facts))
        return found

    def refusals_of_plan(self, plan: "Plan") -> list[list[Reasons]]:
        """Return the likely refusals of each alternative of each choice.

        An alternative is checked beside the first possible alternatives of the other choices. An
        impossible one has no other reasons than that.
        """
        firsts = first_possible(plan, self.catalog)
        of_firsts = self.refusals_together(offered(firsts, self.catalog))

        def of(at: int, alternative: "Alternative") -> Reasons:
            named, found = [each.section for each in alternative], of_firsts
            lost = {each: gone(each, self.catalog) for each in named}
            if any(lost.values()):
                return lost
            if alternative != firsts[at]:
                beside = [*firsts[:at], alternative, *firsts[at + 1 :]]
                found = self.refusals_together(offered(beside, self.catalog), about=named)
            return {each: found[each] for each in named}

        return [
            [of(at, each) for each in choice.alternatives] for at, choice in enumerate(plan.choices)
        ]

    def needed_by(
        self, dropped: Collection[int], gained: Collection["SectionView"] = ()
    ) -> list[Reason]:
        """Return the seats that would lose a corequisite with these drops."""
        remaining = [each for each in self.held if each.id not in dropped]
        before = {each.course_id for each in self.held}
        after = {each.course_id for each in (*remaining, *gained)}
        found = []
        for each in remaining:
            missing = self._lacking(each, after)
            if missing and not self._lacking(each, before):
                found.append(Reason("needed_by", {"section": each.id, "missing": missing}))
        return found

    def needed_by_while_waiting(self, section: int) -> list[Reason]:
        """Return the seats whose corequisites are met only by waiting for the section.

        A waitlist position counts for a seat of the same step; one joined later does not.
        """
        since = {each.section: each.at for each in self.registrations.enrolled}
        seats = {each.course_id for each in self.held}
        found = []
        for each in self.held:
            waitlists = {
                one.section for one in self.registrations.waiting if one.at == since[each.id]
            }
            after = seats | self._courses(waitlists - {section})
            before = seats | self._courses(waitlists)
            if self._lacking(each, after) and not self._lacking(each, before):
                missing = self._lacking(each, seats)
                facts = {"section": each.id, "missing": missing, "waiting": True}
                found.append(Reason("needed_by", facts))
        return found

    def without_corequisites(self) -> dict[int, tuple[list[int], bool]]:
        """Return the missing corequisites of seats, and whether the student waits for them."""
        seats = {each.course_id for each in self.held}
        both = seats | self._courses(each.section for each in self.registrations.waiting)
        return {
            each.id: (missing, not self._lacking(each, both))
            for each in self.held
            if (missing := self._lacking(each, seats))
        }

    def count_drops(self, dropped: Collection[int]) -> int:
        """Return how many drops of the day it takes to drop these seats together.

        A seat that depends on another of them is dropped with it.
        """

        def lost(sections: Collection[int]) -> set[int]:
            return {each.facts["section"] for each in self.needed_by(sections)}

        def with_dependents(gone: set[int]) -> set[int]:
            while more := lost(gone) & left - gone:
                gone = gone | more
            return gone

        left = {each.section for each in self.registrations.enrolled} & set(dropped)
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

    def _missing_corequisite(
        self, section: "SectionView", others: list["SectionView"]
    ) -> list[Reason]:
        """Return a refusal if a corequisite is missing beside seats and others, or not offered."""
        if not section.corequisites:
            return []
        linked = rules.corequisites(self.profile, section, self.catalog)
        if linked.not_offered:
            return list(linked.not_offered)
        missing = _lacking(linked, {each.course_id for each in (*self.held, *others)})
        return [Reason("corequisite", {"missing": missing})] if missing else []

    def _lacking(self, section: "SectionView", courses: set[int]) -> list[int]:
        """Return the corequisite courses that a section still needs; none once they are met."""
        return _lacking(rules.corequisites(self.profile, section, self.catalog), courses)

    def _courses(self, sections: Iterable[int]) -> set[int]:
        return {each.course_id for each in self.catalog.some(sections)}


def offered(alternatives: Sequence["Alternative"], catalog: "TermCatalog") -> list[Wanted]:
    """Return the sections that are still offered, with their credits (hundredths)."""
    requests = [request for alternative in alternatives for request in alternative]
    known = [(found, each) for each in requests if (found := catalog.section(each.section))]
    return [
        (section, hundredths(section.credits_min) if each.credits is None else each.credits)
        for section, each in known
    ]


def gone(section: int, catalog: "TermCatalog") -> list[Reason]:
    """Return the reason if a planned section is canceled or no longer offered."""
    view = catalog.published(section)
    if view is None:
        return [Reason("section_unknown")]
    return not_open(view) if view.status == "CANCELED" else []


def not_open(section: "SectionView") -> list[Reason]:
    """Return the reason if the section's status admits no one."""
    return [] if section.status == "OPEN" else [Reason(f"section_{section.status.lower()}")]


def out_of_range(section: "SectionView", credits_: int) -> list[Reason]:
    """Return the reason if the section does not allow that number of credits, in hundredths."""
    least, most = hundredths(section.credits_min), hundredths(section.credits_max)
    if least <= credits_ <= most:
        return []
    return [Reason("credit_range", {"min": least, "max": most})]


def possible(choice: "Choice", catalog: "TermCatalog") -> tuple["Alternative", ...]:
    """Return the alternatives of a choice that count: none of their sections is gone."""
    return tuple(
        each
        for each in choice.alternatives
        if not any(gone(part.section, catalog) for part in each)
    )


def first_possible(plan: "Plan", catalog: "TermCatalog") -> list["Alternative"]:
    """Return the first alternative of each choice that counts; an empty one if there is none."""
    return [next(iter(possible(choice, catalog)), ()) for choice in plan.choices]


def possible_plan(plan: "Plan", catalog: "TermCatalog") -> "Plan":
    """Return the plan without the alternatives that do not count."""
    left = [replace(each, alternatives=possible(each, catalog)) for each in plan.choices]
    return replace(plan, choices=tuple(each for each in left if each.alternatives))


def plan_credits(plan: "Plan", catalog: "TermCatalog", held: Collection[int]) -> int:
    """Return the credits (hundredths) that a plan's first possible alternatives add to `held`."""
    firsts = first_possible(plan, catalog)
    return sum(adds for section, adds in offered(firsts, catalog) if section.id not in held)


def no_window(phase: Phase) -> list[Reason]:
    """Return a reason if no window is open: nothing can be registered for."""
    window = phase.window
    if phase.kind == "open":
        return []
    if window is None:
        return [Reason("window_unscheduled")]
    if phase.kind == "before":
        return [Reason("window_before", {"opens": window.opens})]
    return [Reason("window_ended", {"closes": window.closes})]


def past_adding(deadlines: Mapping[str, int], now: int) -> list[Reason]:
    """Return a reason if the last day to add has passed at `now`; all in ms."""
    ends = deadlines.get("add_deadline", now + 1)
    return [Reason("add_deadline", {"closes": ends})] if now >= ends else []


def past_leaving(deadlines: Mapping[str, int], now: int) -> list[Reason]:
    """Return a reason if it is too late at `now` to give up a seat; all in ms."""
    withdraw, drop = (deadlines.get(name) for name in ("withdraw_deadline", "drop_deadline"))
    if withdraw and now >= withdraw:
        return [Reason("withdraw_deadline", {"closes": withdraw})]
    if drop and now >= drop:
        until = {"withdraw": withdraw} if withdraw else {}
        return [Reason("drop_deadline", {"closes": drop} | until)]
    return []


def waitlist_full(seats: SeatCounts) -> list[Reason]:
    """Return a reason if the waitlist is full too."""
    if seats.claimable or seats.waiting < seats.waitlist_capacity:
        return []
    facts = {"waiting": seats.waiting, "waitlist_capacity": seats.waitlist_capacity}
    return [Reason("waitlist_full", facts)]


def _already(section: "SectionView", registrations: Registrations) -> list[Reason]:
    if any(seat.section == section.id for seat in registrations.enrolled):
        return [Reason("already_enrolled")]
    positions = [position for position in registrations.waiting if position.section == section.id]
    return [Reason("already_waiting", {"position": position.position}) for position in positions]


def _planned(reasons: list[Reason]) -> list[Reason]:
    return [replace(each, facts=each.facts | {"planned": True}) for each in reasons]


def _lacking(linked: rules.Corequisites, courses: set[int]) -> list[int]:
    rest = requisites.missing(linked.needed, lambda leaf: int(leaf["course"]) in courses)
    return [int(course) for course in requisites.codes(rest)]


def _conflicts(section: "SectionView", others: list["SectionView"]) -> list[Reason]:
    if not others:
        return []
    same = [each.id for each in others if each.course_id == section.course_id]
    clashing = [each.id for each in others if clash(section, each)]
    return [
        *(Reason("same_course", {"section": each}) for each in same),
        *(Reason("time_conflict", {"section": each}) for each in clashing),
    ]
