"""The forms that request a seat: alone, with corequisites, or in a swap."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import abort
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import linked_courses, requisites
from portal.catalog.term_catalog import MeetingView, SectionView
from portal.core.i18n import _
from portal.ledger.types import Decision, Outcome, Reason, SeatCounts
from portal.registration import commands, precheck, rules
from portal.registration.credits import credit_choices, hundredths
from portal.registration.next_steps import NextStep, section_name
from portal.registration.reasons import ALREADY_HAD, explain
from portal.registration.requests import Choice, SectionRequest
from portal.web.http.access import requires
from portal.web.http.admission import needs_access_token
from portal.web.http.resuming import resumes
from portal.web.student import bp, dialogs, request_form, waiting_room
from portal.web.student.dialogs import address, form, published_section, seats_of, visible_section
from portal.web.student.plan_panel import live_counts
from portal.web.student.request_form import adding, swapping
from portal.web.student.results import show_result
from portal.web.student.section_list import distinct_meetings, unknown_counts
from portal.web.student.student_term import StudentTerm, reserved_notes, seats_open_to
from portal.web.student.term_page import mine_of

Form = Callable[[StudentTerm, Sequence[Decision]], str]


@dataclass(frozen=True)
class SectionOption:
    """A section to choose, with its current counts."""

    card: SectionView
    name: str
    meetings: tuple[MeetingView, ...]
    counts: Markup
    free: bool
    caution: str  # the first likely refusal, in words


@dataclass(frozen=True)
class Group:
    """Sections to choose one from; `chosen` is preselected."""

    courses: str
    choices: list[SectionOption]
    chosen: int

    @property
    def free(self) -> bool:
        """Return whether one of them has a free seat."""
        return any(each.free for each in self.choices)


def groups(now: StudentTerm, card: SectionView, instead: int, sent: Sequence[int]) -> list[Group]:
    """Return the sections of each corequisite still needed; those in `sent` are chosen."""
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
    now: StudentTerm, cards: Sequence[SectionView], reasons: Sequence[list[Reason]]
) -> list[SectionOption]:
    """Return the sections to choose from, with the likely refusals of each."""
    seats = backend().ledger.seats_of(now.term.id, [card.id for card in cards])
    known = [seats.get(card.id) or unknown_counts(card) for card in cards]
    return [
        SectionOption(
            card=card,
            name=section_name(card),
            meetings=distinct_meetings(card),
            counts=live_counts(has),
            free=seats_open_to(now, card, has).claimable,
            caution=explain(why[:1], now.case(card))[0].text if why else "",
        )
        for card, has, why in zip(cards, known, reasons, strict=True)
    ]


def _group(
    now: StudentTerm, card: SectionView, cards: list[SectionView], instead: int, sent: Sequence[int]
) -> Group:
    found = choices(now, cards, [_against(now, card, each, instead) for each in cards])
    courses = dict.fromkeys(requisites.shown(each.course_code) for each in cards)
    best = min(
        found, key=lambda each: (each.card.id not in sent, each.caution != "", not each.free)
    )
    return Group(requisites.any_of(list(courses)), found, best.card.id)


def _against(
    now: StudentTerm, card: SectionView, partner: SectionView, instead: int
) -> list[Reason]:
    """Return the likely refusals of a corequisite section taken with the section."""
    wished = [(each, hundredths(each.credits_min)) for each in (card, partner)]
    standing = precheck.without_seats(now.standing, [instead])
    plan = precheck.likely_refusals_together(now.profile, now.catalog, standing, now.limit, wished)
    return [each for each in plan[partner.id] if each.code != "hold"]


@bp.get("/sections/<int:section_id>/pick")
@requires("student")
@resumes(adding)
def pick(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before a claim, with all likely refusals."""
    now, card = visible_section(term_id, section_id)
    return _in_turn(now, card) or pick_dialog(now, card)


@bp.post("/sections/<int:section_id>/pick")
@requires("student")
@resumes(adding)
@needs_access_token
def claim(term_id: int, section_id: int) -> ResponseReturnValue:
    """Claim a seat or a waitlist position, or show all reasons for the refusal."""
    card = published_section(term_id, section_id)
    return _decided(card, lambda now, refused: pick_dialog(now, card, refused))


@bp.get("/sections/<int:section_id>/swap")
@requires("student")
@resumes(swapping)
def swap(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before a swap."""
    now, card = visible_section(term_id, section_id)
    return _in_turn(now, card) or swap_dialog(now, card, _held(card))


@bp.post("/sections/<int:section_id>/swap")
@requires("student")
@resumes(swapping)
@needs_access_token
def swap_seats(term_id: int, section_id: int) -> ResponseReturnValue:
    """Swap the seat, or wait for the new one, or show why the student keeps the old one."""
    card = published_section(term_id, section_id)
    old = _held(card)
    return _decided(card, lambda now, refused: swap_dialog(now, card, old, refused), old.id)


@bp.get("/sections/<int:section_id>/swaps")
@requires("student")
@resumes(swapping)
def swaps(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the other sections of a course, to swap the held one for."""
    return swaps_dialog(*visible_section(term_id, section_id))


def _in_turn(now: StudentTerm, card: SectionView) -> ResponseReturnValue | None:
    """Return the queue position or the captcha in place of a form; None if admitted."""
    stands = (
        waiting_room.enter(now) if now.phase.kind == "open" else waiting_room.WaitingRoomStatus(now)
    )
    return None if stands.inside else dialogs.waiting(stands, card)


def _decided(card: SectionView, form: Form, instead: int | None = None) -> ResponseReturnValue:
    """Ask the ledger; `form` renders the submitted form again, to show why it refuses."""
    try:
        amount = request_form.credits_wished(card)
    except ValueError:
        return form(mine_of(card.term_id), [credit_range(card)]), 422
    partners = [SectionRequest(each) for each in request_form.partners()]
    asked = [
        Choice(((SectionRequest(card.id, amount), *partners),), request_form.wait_wished(), instead)
    ]
    decided = commands.register(request_form.requester(card.term_id), asked)
    [result] = decided.lines
    answers = [
        replace(each, replayed=decided.replayed, standing=decided.standing)
        for each in result.taken or result.refused[0]
    ]
    if result.outcome == Outcome.REFUSED:
        now = mine_of(card.term_id, decided)
        if not _had(answers, now, instead):
            return form(now, answers), 422
    return show_result(answers, card)


def _had(answers: Sequence[Decision], now: StudentTerm, instead: int | None) -> bool:
    """Return whether the student already has everything refused, on the same terms."""
    if {reason.code for each in answers for reason in each.reasons} - ALREADY_HAD:
        return False
    places = (now.places.get(each.section) for each in answers)
    return all(place is None or place.instead == (instead or 0) for place in places)


def _held(card: SectionView) -> SectionView:
    """Return the section to drop that the address names; 404 if there is none or it is the same."""
    old = published_section(card.term_id, request_form.instead())
    if old.id == card.id:
        abort(404)
    return old


def pick_dialog(now: StudentTerm, card: SectionView, answers: Sequence[Decision] = ()) -> str:
    """Render the form for a seat; for a swap if the student holds another section of the course."""
    held = now.catalog.some(now.held)
    rival = next((each for each in held if each.course_id == card.course_id), None)
    if rival and not answers and not now.state(card.id):
        return swap_dialog(now, card, rival)
    return _form("pick", now, card, answers)


def swap_dialog(
    now: StudentTerm, card: SectionView, old: SectionView, answers: Sequence[Decision] = ()
) -> str:
    """Render the form that swaps the seat in `old` for one in the section."""
    return _form("swap", now, card, answers, old)


def swaps_dialog(now: StudentTerm, card: SectionView) -> str:
    """Render the other sections of the course, each with a link to the swap."""
    siblings = [
        each
        for each in now.catalog.sections_of(card.course_id)
        if each.id != card.id and now.shows(each)
    ]
    why = [_foreseen(now, each, card.id, []) for each in siblings]
    held = card.id in now.held
    known = [] if held else [dialogs.as_refusal(card.id, [Reason("not_enrolled")])]
    return form(
        "swaps",
        now,
        card,
        dialogs.refusals_in_words(now, known),
        choices=choices(now, siblings, why) if held else [],
    )


def credit_range(card: SectionView) -> Decision:
    """Return the refusal of credits that the section is not offered for."""
    facts = {"min": hundredths(card.credits_min), "max": hundredths(card.credits_max)}
    return dialogs.as_refusal(card.id, [Reason("credit_range", facts)])


def _form(
    act: str,
    now: StudentTerm,
    card: SectionView,
    answers: Sequence[Decision],
    old: SectionView | None = None,
) -> str:
    instead, all_seats = old.id if old else 0, seats_of(card)
    seats = seats_open_to(now, card, all_seats)
    together = groups(now, card, instead, request_form.partners())
    found = _foreseen(now, card, instead, together)
    place = now.places.get(card.id)
    known = [
        *precheck.no_window(now.phase),
        *found,
        *([] if place else precheck.waitlist_full(seats)),
    ]
    codes = [reason.code for each in answers for reason in each.reasons]
    why = dialogs.refusals_to_show(answers, card.id, known)
    told = dialogs.with_replay(dialogs.refusals_in_words(now, why, instead), now, answers, known)
    return form(
        act,
        now,
        card,
        told,
        seats=seats,
        counts=live_counts(all_seats),
        own=seats != all_seats,
        together=together,
        none_free=bool(together)
        and not seats.claimable
        and not any(each.free for each in together),
        place=place,
        kept=reserved_notes(now, card),
        shut=bool(known) or (not told.retry and any(code.startswith("window_") for code in codes)),
        amounts=credit_choices(card),
        chosen=request_form.credits_chosen(),
        waits=request_form.wait_wished(usual=not answers and not (together and seats.claimable)),
        **(_exchange(now, old) if old else {"rivals": _rivals(now, card, seats, told.urls)}),
    )


def _exchange(now: StudentTerm, old: SectionView) -> dict[str, Any]:
    """Return what the form shows about the section to drop."""
    return {
        "old": old,
        "old_name": section_name(old),
        "old_title": now.title(old),
        "old_meetings": distinct_meetings(old),
        "query": f"?instead={old.id}",
    }


def _rivals(
    now: StudentTerm, card: SectionView, seats: SeatCounts, offered: set[str]
) -> list[NextStep]:
    """Return the possible swaps for the section, except one that is already offered."""
    if now.phase.kind != "open" or now.state(card.id) or precheck.waitlist_full(seats):
        return []
    steps = [
        NextStep(
            _("Swap %(old)s for %(new)s", old=section_name(each), new=section_name(card)),
            f"{address(card, 'swap')}?instead={each.id}",
        )
        for each in now.catalog.some(now.held)
        if not _foreseen(now, card, each.id, groups(now, card, each.id, []))
    ]
    return [step for step in steps if step.url not in offered]


def _foreseen(
    now: StudentTerm, card: SectionView, instead: int, together: Sequence[Group]
) -> list[Reason]:
    """Return the likely refusals, without those that a choice of corequisites settles."""
    place, standing = now.places.get(card.id), now.standing
    # The waitlist position becomes one for a swap.
    if place and instead and place.instead != instead:
        rest = tuple(each for each in standing.waiting if each is not place)
        standing = replace(standing, waiting=rest)
    found = precheck.likely_refusals(
        now.profile, card, now.catalog, standing, now.limit, instead=instead
    )
    chosen = {each.card.course_id for group in together for each in group.choices}
    return [
        each
        for each in found
        if each.code != "corequisite" or not chosen.issuperset(each.facts["missing"])
    ]
