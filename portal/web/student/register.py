"""The forms that request a seat: alone, with corequisites, or in a swap."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import abort
from flask.typing import ResponseReturnValue
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import linked_courses, requisites
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.ledger.types import Decision, Outcome, Reason, SeatCounts
from portal.people.roles import Right
from portal.registration import commands, precheck
from portal.registration.credits import credit_choices, hundredths
from portal.registration.next_steps import NextStep, section_name
from portal.registration.reasons import ALREADY_HAD, OUT_OF_TIME, explain
from portal.registration.requests import Choice, SectionRequest
from portal.web.http.access import requires
from portal.web.http.admission import needs_access_token
from portal.web.student import bp, dialogs, request_form, waiting_room
from portal.web.student.dialogs import address, form, published_section, seats_of, visible_section
from portal.web.student.plan_panel import live_counts
from portal.web.student.request_form import resumes_adding, resumes_swapping
from portal.web.student.results import show_result
from portal.web.student.section_list import unknown_counts
from portal.web.student.student_term import StudentTerm, reserved_notes, seats_open_to
from portal.web.student.term_page import mine_of
from portal.windows import bands


@bp.get("/sections/<int:section_id>/pick")
@requires(Right.REGISTER)
@resumes_adding
def pick(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before a claim, with all likely refusals."""
    now, view = visible_section(term_id, section_id)
    return _in_turn(now, view) or claim_form(now, view)


@bp.post("/sections/<int:section_id>/pick")
@requires(Right.REGISTER)
@resumes_adding
@needs_access_token
def claim(term_id: int, section_id: int) -> ResponseReturnValue:
    """Claim a seat or a waitlist position, or show all reasons for the refusal."""
    view = published_section(term_id, section_id)
    return _register(view)


@bp.get("/sections/<int:section_id>/swap")
@requires(Right.REGISTER)
@resumes_swapping
def swap(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before a swap."""
    now, view = visible_section(term_id, section_id)
    return _in_turn(now, view) or claim_form(now, view, old=_section_to_drop(view))


@bp.post("/sections/<int:section_id>/swap")
@requires(Right.REGISTER)
@resumes_swapping
@needs_access_token
def swap_seats(term_id: int, section_id: int) -> ResponseReturnValue:
    """Swap the seat, or wait for the new one, or show why the student keeps the old one."""
    view = published_section(term_id, section_id)
    return _register(view, _section_to_drop(view))


@bp.get("/sections/<int:section_id>/swaps")
@requires(Right.REGISTER)
@resumes_swapping
def swaps(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the other sections of a course, each with a link to swap the held one for it."""
    now, view = visible_section(term_id, section_id)
    held = view.id in now.held
    shown = dialogs.refusals_to_show((), view.id, [] if held else [Reason("not_enrolled")])
    siblings = [
        each
        for each in now.catalog.sections_of(view.course_id)
        if held and each.id != view.id and now.shows(each)
    ]
    choices = section_options(
        now, siblings, [_likely_refusals(now, each, view.id) for each in siblings]
    )
    return form("swaps", now, view, dialogs.in_words(now, shown), choices=choices)


def _section_to_drop(view: SectionView) -> SectionView:
    """Return the section to drop that the address names; 404 if there is none or it is the same."""
    old = published_section(view.term_id, request_form.swap_out())
    return old if old.id != view.id else abort(404)


def _in_turn(now: StudentTerm, view: SectionView) -> ResponseReturnValue | None:
    """Return the queue position or the captcha in place of a form; None if admitted."""
    if now.phase.kind != "open":
        return None
    stands = waiting_room.enter(now)
    return None if stands.inside else dialogs.waiting(stands, view)


def _register(view: SectionView, old: SectionView | None = None) -> ResponseReturnValue:
    """Ask the ledger, and show the result; after a refusal, the form again with the reasons."""
    try:
        amount = request_form.chosen_credits(view)
    except ValueError:
        facts = {"min": hundredths(view.credits_min), "max": hundredths(view.credits_max)}
        shown = dialogs.refusals_to_show((), view.id, [Reason("credit_range", facts)])
        return claim_form(mine_of(view.term_id), view, shown, old), 422
    sections = [SectionRequest(view.id, amount), *map(SectionRequest, request_form.corequisites())]
    choice = Choice((tuple(sections),), request_form.accepts_waitlist(), old.id if old else None)
    answers = commands.claim(request_form.context(view.term_id), choice)
    if all(each.outcome == Outcome.REFUSED for each in answers):
        now = mine_of(view.term_id, answers[0])
        if not _has_all(answers, now, choice.swap_out or 0):
            return claim_form(now, view, answers, old), 422
    return show_result(answers, view)


def _has_all(answers: Sequence[Decision], now: StudentTerm, swap_out: int) -> bool:
    """Return whether the student already has everything refused, on the same terms."""
    if {reason.code for each in answers for reason in each.reasons} - ALREADY_HAD:
        return False
    positions = (now.positions.get(each.section) for each in answers)
    return all(position is None or position.swap_out == swap_out for position in positions)


def claim_form(
    now: StudentTerm,
    view: SectionView,
    answers: Sequence[Decision] = (),
    old: SectionView | None = None,
) -> str:
    """Render the form for a seat; for a swap with `old`, or with a held section of the course."""
    if old is None and not answers and not now.state(view.id):
        held = now.catalog.some(now.held)
        old = next((each for each in held if each.course_id == view.course_id), None)
    swap_out, all_seats, position = old.id if old else 0, seats_of(view), now.positions.get(view.id)
    seats = seats_open_to(now, view, _after_drop(old, view, all_seats) if old else all_seats)
    together = corequisite_groups(now, view, swap_out, request_form.corequisites())
    known = [*now.no_adding, *_likely_refusals(now, view, swap_out, together)]
    if old:
        known += now.late_to_leave
    if not position:
        known += precheck.waitlist_full(seats)
    shown = dialogs.refusals_to_show(answers, view.id, known)
    refused = dialogs.in_words(now, shown, answers, retry=not known, swap_out=swap_out)
    codes = {reason.code for each in answers for reason in each.reasons}
    one_free = seats.claimable or any(each.free for group in together for each in group.choices)
    return form(
        "swap" if old else "pick",
        now,
        view,
        refused,
        seats=seats,
        counts=live_counts(all_seats),
        own=seats != all_seats,
        together=together,
        none_free=bool(together) and not one_free,
        place=position,
        next_place=_next_place(now, view, seats),
        kept=reserved_notes(now, view),
        shut=bool(known) or (not refused.retry and not OUT_OF_TIME.isdisjoint(codes)),
        amounts=credit_choices(view),
        chosen=request_form.fields().get("credits", ""),
        waits=request_form.accepts_waitlist(not answers and not (together and seats.claimable)),
        old=old,
        query=f"?swap_out={old.id}" if old else "",
        rivals=[] if old else _other_swaps(now, view, seats, refused.urls),
    )


def _after_drop(old: SectionView, view: SectionView, seats: SeatCounts) -> SeatCounts:
    """Return the counts of a section once the old seat is dropped, which both may share."""
    left = seats_of(old) if view.pool and old.pool == view.pool else None
    if not left or left.waiting > left.skipped:  # those who wait for the old seat come first
        return seats
    return replace(seats, pool_taken=seats.pool_taken - 1)


def _next_place(now: StudentTerm, view: SectionView, seats: SeatCounts) -> int:
    """Return the position that the student would have on the waitlist."""
    if not now.term.bands or not seats.waiting:
        return seats.waiting + 1
    band = bands.band_of(now.profile, view, now.term.bands)
    return backend().ledger.ahead(now.term.id, view.id, band) + 1


def _other_swaps(
    now: StudentTerm, view: SectionView, seats: SeatCounts, offered: set[str]
) -> list[NextStep]:
    """Return the possible swaps for the section, except one that is already offered."""
    if now.no_adding or now.state(view.id) or precheck.waitlist_full(seats):
        return []
    steps = [
        NextStep(
            _("Swap %(old)s for %(new)s", old=section_name(each), new=section_name(view)),
            f"{address(view, 'swap')}?swap_out={each.id}",
        )
        for each in now.catalog.some(now.held)
        if not _likely_refusals(now, view, each.id, corequisite_groups(now, view, each.id, []))
    ]
    return [step for step in steps if step.url not in offered]


@dataclass(frozen=True)
class SectionOption:
    """A section to choose, with its current counts."""

    view: SectionView
    counts: Markup
    free: bool
    joinable: bool  # a seat or a waitlist position is open, or the student has one
    caution: str  # the first likely refusal, in words


@dataclass(frozen=True)
class CorequisiteGroup:
    """Sections of corequisite courses to choose one from; `chosen` is preselected."""

    courses: str
    choices: list[SectionOption]
    chosen: int


def corequisite_groups(
    now: StudentTerm, view: SectionView, swap_out: int, sent: Sequence[int]
) -> list[CorequisiteGroup]:
    """Return the sections of each corequisite still needed; those in `sent` are chosen."""
    rest = now.precheck.without([swap_out])

    def against(corequisite: SectionView) -> list[Reason]:
        both = [(each, hundredths(each.credits_min)) for each in (view, corequisite)]
        found = rest.refusals_together(both)[corequisite.id]
        return [each for each in found if each.code != "hold"]

    groups = []
    for linked in rest.linked_choices(view, now.shows):
        visible = [each for each in linked if each.id != swap_out]
        if not visible:
            continue
        choices = section_options(now, visible, list(map(against, visible)))
        best = min(
            choices, key=lambda each: (each.view.id not in sent, bool(each.caution), not each.free)
        )
        codes = dict.fromkeys(requisites.shown(each.course_code) for each in visible)
        groups.append(CorequisiteGroup(requisites.any_of(list(codes)), choices, best.view.id))
    return groups


def section_options(
    now: StudentTerm, views: Sequence[SectionView], reasons: Sequence[list[Reason]]
) -> list[SectionOption]:
    """Return the sections to choose from, with the likely refusals of each."""
    seats = backend().ledger.seats_of(now.term.id, [view.id for view in views])
    options = []
    for view, why in zip(views, reasons, strict=True):
        counts = seats.get(view.id) or unknown_counts(view)
        own = seats_open_to(now, view, counts)
        case = replace(now.case(view), can_swap=lambda _: False)  # only the text is shown
        options.append(
            SectionOption(
                view=view,
                counts=live_counts(counts),
                free=own.claimable,
                joinable=not precheck.waitlist_full(own) or view.id in now.positions,
                caution=explain(why[:1], case)[0].text if why else "",
            )
        )
    return options


def _likely_refusals(
    now: StudentTerm, view: SectionView, swap_out: int, together: Sequence[CorequisiteGroup] = ()
) -> list[Reason]:
    """Return the likely refusals, without those that a choice of corequisites settles."""
    position, checks = now.positions.get(view.id), now.precheck
    # The waitlist position becomes one for a swap.
    if position and swap_out and position.swap_out != swap_out:
        rest = tuple(each for each in now.registrations.waiting if each is not position)
        checks = replace(checks, registrations=replace(now.registrations, waiting=rest))
    found = checks.refusals(view, swap_out=swap_out)
    if (closed := precheck.not_open(view)) and closed[0] in found:
        return closed  # nothing else matters then
    choices = [{each.view.course_id for each in group.choices} for group in together]
    return [
        each
        for each in found
        if each.code != "corequisite"
        or not linked_courses.are_met(view, each.facts["missing"], choices, now.catalog)
    ]
