"""A student's current state in a term: the facts that every page and fragment is rendered from."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar
from zlib import crc32

from portal.backend import backend
from portal.catalog import linked_courses
from portal.catalog.local_time import LocalClock, local_clock
from portal.catalog.term_catalog import TermCatalog, TermView, published_catalog
from portal.catalog.time_conflicts import pairs
from portal.catalog.views import ReserveView, SectionView, section_order
from portal.core.i18n import _n
from portal.ledger.types import (
    HeldSeat,
    Reason,
    Registrations,
    SeatCounts,
    WaitlistPosition,
    WindowView,
)
from portal.people.student_profile import HoldView, StudentProfile, profile
from portal.registration import limits, precheck, reasons, rules
from portal.registration.credits import hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.plan_store import plan_of
from portal.registration.plans import Plan
from portal.registration.precheck import Precheck
from portal.registration.reasons import Explanation
from portal.registration.seat_counts import is_active
from portal.web.http.device_zone import device_zone
from portal.web.student.round_views import still_to_plan
from portal.web.student.term_texts import TermTexts
from portal.windows import deadlines
from portal.windows.phases import Phase, phase, sections_visible


@dataclass(frozen=True)
class Attention:
    """Current and future holds, and pairs of sections that clash."""

    holds: tuple[HoldView, ...]
    clashes: tuple[tuple[SectionView, SectionView], ...]

    @property
    def content(self) -> object:
        """Return a value that changes with the content, and when a hold begins."""
        holds = [(hold, hold.is_active) for hold in self.holds]
        meetings = [(one.id, one.meetings, other.id, other.meetings) for one, other in self.clashes]
        return holds, meetings


def find_attention(who: StudentProfile, held: Iterable[SectionView]) -> Attention:
    """Return the holds and clashes of a student with seats in these sections."""
    running = [view for view in held if view.status != "CANCELED"]
    clashing = [pair for pair in pairs(running) if not _permitted(who, *pair)]
    return Attention(tuple(hold for hold in who.holds if not hold.over), tuple(clashing))


def _permitted(who: StudentProfile, one: SectionView, other: SectionView) -> bool:
    """Return whether the student has a permission for one of two sections that clash."""
    return any("time_conflict" in rules.permitted(who, view) for view in (one, other))


Registered = TypeVar("Registered", HeldSeat, WaitlistPosition)


@dataclass(frozen=True)
class StudentTerm:
    """One student, one term, one moment of the ledger's clock."""

    profile: StudentProfile
    catalog: TermCatalog
    registrations: Registrations
    phase: Phase
    times: LocalClock = field(default_factory=local_clock)
    plan_changes: int | None = None  # see `plan_of`
    seats: Mapping[int, SeatCounts] = field(default_factory=dict)  # of some sections

    @property
    def term(self) -> TermView:
        return self.catalog.term

    @cached_property
    def deadlines(self) -> dict[str, int]:
        """Return the first moment (ms) after each deadline of the term."""
        return deadlines.moments(self.term, self.times.zone)

    @cached_property
    def late_to_add(self) -> list[Reason]:
        """Return a reason if the last day to add has passed."""
        return precheck.past_adding(self.deadlines, self.phase.now)

    @property
    def ranks(self) -> bool:
        """Return whether the student can only rank so far: a round is open, no window is set."""
        return self.phase.kind == "unscheduled" and still_to_plan(
            self.profile, self.term.id, self.phase.now
        )

    @property
    def adding_ends(self) -> int:
        """Return when the last day to add ends (ms) if the window closes later; else 0."""
        window, ends = self.phase.window, self.deadlines.get("add_deadline", 0)
        return ends if window and self.phase.now < ends < window.closes else 0

    @property
    def late_to_leave(self) -> list[Reason]:
        """Return a reason if the last day to drop or withdraw has passed."""
        return precheck.past_leaving(self.deadlines, self.phase.now)

    @property
    def no_adding(self) -> list[Reason]:
        """Return why the student can't add any section now, by window and deadline."""
        return [*precheck.no_window(self.phase), *self.late_to_add]

    @property
    def no_leaving(self) -> list[Reason]:
        """Return why the student can't give up any seat now, by window and deadline."""
        return [*precheck.no_window(self.phase), *self.late_to_leave]

    @cached_property
    def held(self) -> dict[int, HeldSeat]:
        """Return seats by section, in the order of lists."""
        return self._in_order(self.registrations.enrolled)

    @cached_property
    def positions(self) -> dict[int, WaitlistPosition]:
        """Return waitlist positions by section, in the order of lists."""
        return self._in_order(self.registrations.waiting)

    def _in_order(self, found: Iterable[Registered]) -> dict[int, Registered]:
        known = {
            view.id: section_order(view)
            for view in self.catalog.some(each.section for each in found)
        }
        ordered = sorted(
            found, key=lambda each: (each.section not in known, known.get(each.section))
        )
        return {each.section: each for each in ordered}

    @property
    def sections(self) -> list[int]:
        """Return the sections with a seat, then those with a waitlist position."""
        return [*self.held, *self.positions]

    @cached_property
    def plan(self) -> Plan | None:
        """Return the plan; None while PostgreSQL is unavailable."""
        return plan_of(self.term.id, self.profile.student, self.plan_changes)

    @cached_property
    def planned(self) -> frozenset[int]:
        return frozenset(self.plan.sections if self.plan else ())

    @cached_property
    def classes(self) -> list[SectionView]:
        """Return the sections with a seat, and the first possible alternatives of the plan."""
        firsts = precheck.first_possible(self.plan or Plan(), self.catalog)
        planned = [part.section for alternative in firsts for part in alternative]
        return self.catalog.some(dict.fromkeys([*self.held, *planned]))

    @cached_property
    def attention(self) -> Attention:
        """Return the holds and clashes that the student must resolve."""
        return find_attention(self.profile, self.catalog.some(self.held))

    @property
    def mark(self) -> str:
        """Return a value that identifies this state, so that up-to-date pages are not updated."""
        views = self.catalog.some([*self.held, *self.positions])
        shown = self.registrations, [view.status for view in views], self.attention.content
        return f"{crc32(repr(shown).encode()):08x}"

    def title(self, view: SectionView) -> str:
        return section_title(self.catalog, view)

    @cached_property
    def credits(self) -> int:
        """Return the credits held, in hundredths."""
        return sum(each.credits for each in self.registrations.enrolled)

    @cached_property
    def credit_limit(self) -> int:
        """Return the credit limit, in hundredths."""
        return hundredths(limits.credit_limit(self.profile, self.catalog))

    @cached_property
    def precheck(self) -> Precheck:
        """Return what finds the likely refusals of requests."""
        return Precheck(self.profile, self.catalog, self.registrations, self.credit_limit)

    @property
    def stage(self) -> str:
        """Return the phase and what the list shows in it, to tell whether a page is up to date."""
        return f"{self.phase.kind} {self.texts.opening}{' late' if self.late_to_add else ''}"

    @cached_property
    def texts(self) -> TermTexts:
        """Return what pages say of this state."""
        return TermTexts(
            self.term,
            self.profile,
            self.phase,
            self.times,
            add_deadline=self.deadlines.get("add_deadline"),
            late_to_add=bool(self.late_to_add),
        )

    def adds_both(self, view: SectionView, why: Reason) -> bool:
        """Return whether the refusal is gone if the section is added with a linked one."""
        return why.code == "corequisite" and linked_courses.can_be_met(
            view, why.facts["missing"], self.catalog, self.shows
        )

    def shows(self, view: SectionView) -> bool:
        """Return whether the student sees a section without a seat or waitlist position in it."""
        return sections_visible(self.phase) and rules.visible(self.profile, view)

    def workable(self, reasons: Iterable[Explanation]) -> list[Explanation]:
        """Return reasons in words, with the next steps that are possible now."""
        if self.no_adding:
            return [each.without_form for each in reasons]
        return [each.without_drop if self.late_to_leave else each for each in reasons]

    def state(self, section: int) -> str:
        """Return `selected`, `waiting`, or blank."""
        return (
            "selected" if section in self.held else "waiting" if section in self.positions else ""
        )

    def case(self, view: SectionView | None) -> RefusalContext:
        """Return the context that explains a refusal of the section."""
        held = {each.section: each.credits for each in self.registrations.enrolled}

        def can_swap(seat: int) -> bool:
            return view is not None and self.precheck.can_swap(view, seat, self.shows)

        return RefusalContext(
            self.catalog,
            view,
            held=held,
            device=device_zone(),
            shows=self.shows,
            can_swap=can_swap,
        )

    def case_in_line(self, section: int) -> RefusalContext:
        """Return the same for a section that the student waits for."""
        position = self.positions.get(section)
        case = self.case(self.catalog.section(section))
        return replace(case, waits=True, swap_out=position.swap_out if position else 0)


def section_title(offered: TermCatalog, view: SectionView) -> str:
    """Return a section's title: its course's, and its own if the course's sections have some.

    Its own stands alone if it begins with the course's, or if the course's is another section's.
    """
    own, course = view.title, view.course_title
    if not own or not course or own.casefold() == course.casefold():
        return course or own
    titles = {each.title.casefold() for each in offered.sections_of(view.course_id)}
    if len(titles) <= 1:
        return course
    begins = re.match(rf"{re.escape(course)}\b", own, re.IGNORECASE)
    return own if begins or course.casefold() in titles else f"{course}: {own}"


def student_term(
    term_id: int,
    student: int,
    at: int | None = None,
    registrations: Registrations | None = None,
    shown: Callable[[StudentProfile, TermCatalog], Sequence[int]] = lambda *_: (),
) -> StudentTerm:
    """Return the student's state.

    `at` and `registrations` come from the ledger's latest answer, if there is one. `shown` returns
    the sections whose counts are probably needed: they come with the state.

    Raise LookupError if there is no such student or term.
    """
    who, offered = profile(student), published_catalog(term_id)
    windows = limits.windows_of(who, term_id)
    if at is not None and registrations:
        found = _phase(who, term_id, windows, at)
        return StudentTerm(who, offered, registrations, found)
    state = backend().ledger.student_state(term_id, student, shown(who, offered))
    return StudentTerm(
        profile=who,
        catalog=offered,
        registrations=registrations or state.registrations,
        phase=_phase(who, term_id, windows, state.at if at is None else at),
        plan_changes=state.plan_changes,
        seats=state.seats,
    )


def _phase(who: StudentProfile, term_id: int, windows: Sequence[WindowView], at: int) -> Phase:
    """Return the phase of the student's windows; nothing has ended before the last round."""
    found = phase(windows, at)
    if found.kind == "ended" and still_to_plan(who, term_id, at):
        return Phase("unscheduled", None, at)
    return found


@dataclass(frozen=True)
class ReservedNote:
    """A note about reserved seats; `mine` means that the student may use them."""

    text: str
    mine: bool


def reserved_notes(now: StudentTerm, view: SectionView) -> list[ReservedNote]:
    """Return who a section's seats are reserved for, in the order in which they are given."""
    mine = rules.reserves(now.profile, view) if view.reserves else ()
    return [
        ReservedNote(_text(now, each, each.id in mine), each.id in mine)
        for each in active_reserves(now, view)
    ]


def reserves_for(now: StudentTerm, view: SectionView) -> list[ReserveView]:
    """Return the section's reserves that include the student."""
    if not view.reserves:
        return []
    mine = rules.reserves(now.profile, view)
    return [each for each in active_reserves(now, view) if each.id in mine]


def active_reserves(now: StudentTerm, view: SectionView) -> list[ReserveView]:
    """Return the section's reserves that have not been released."""
    return [each for each in view.reserves if is_active(each, now.phase.now)]


def seats_open_to(
    now: StudentTerm, view: SectionView, seats: SeatCounts, *, likely: bool = False
) -> SeatCounts:
    """Return the counts for the student: seats reserved for them count as open, before waitlists.

    If others have reserved seats too, ask the ledger whose seats are left. With `likely`, an
    estimate is enough.
    """
    mine = reserves_for(now, view) if seats.free_reserved else []
    if not mine:
        return seats
    left = seats.free_reserved
    if len(mine) < len(active_reserves(now, view)) and not likely:
        held = backend().ledger.reserved(view.term_id, view.id)
        left = min(left, sum(max(0, each.seats - held.get(each.id, 0)) for each in mine))
    return replace(seats, kept=seats.kept - left, skipped=seats.waiting) if left else seats


def _text(now: StudentTerm, reserve: ReserveView, mine: bool) -> str:  # noqa: FBT001 - whose it is
    cohort = reasons.reserve_in_words(reserve, now.texts.moment)
    if mine:
        return _n(
            "%(num)s seat is reserved for you and others: %(whom)s.",
            "%(num)s seats are reserved for you and others: %(whom)s.",
            reserve.seats,
            whom=cohort,
        )
    return _n(
        "%(num)s seat is reserved for %(whom)s.",
        "%(num)s seats are reserved for %(whom)s.",
        reserve.seats,
        whom=cohort,
    )
