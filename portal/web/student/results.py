"""Pages and texts that show a student what the ledger decided."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Literal

from flask import Response, make_response, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import SectionView, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _, _n
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import ChoiceResult, Decision, Outcome, SeatCounts, SubmissionResult
from portal.registration import limits, plans
from portal.registration.credits import credits_in_words
from portal.registration.next_steps import RefusalContext
from portal.registration.plans import Plan
from portal.registration.reasons import (
    ALREADY_HAD,
    FOR_ALL,
    ApplicationStart,
    Explanation,
    already_enrolled,
    already_waiting,
    distinct,
    explain,
)
from portal.registration.requests import Choice
from portal.web.http import flash_messages
from portal.web.http.errors import Message
from portal.web.student import fragments, request_form
from portal.web.student.dialogs import receipt_codes
from portal.web.student.fragments import render_fragment
from portal.web.student.plan_panel import panel
from portal.web.student.student_term import StudentTerm, section_title
from portal.web.student.term_page import mine_of
from portal.windows import bands

log = logging.getLogger(__name__)

TONES = {Outcome.ENROLLED: "go", Outcome.WAITLISTED: "wait"}
UNREAD = (LedgerUnavailable, *AWAY)  # why nothing can be read after a decision

Status = Literal["enrolled", "waitlisted", "had", "refused"]


def show_result(
    decided: Sequence[Decision], view: SectionView, along: Sequence[SectionView] = ()
) -> ResponseReturnValue:
    """Render the change in place, or redirect to the page that the student came from.

    `along` was dropped with the section. The decision is shown even if nothing else can be read.
    """
    also, seen = [each.id for each in along], True
    try:
        now = mine_of(view.term_id, decided[0])
        message = result_message(decided, now, also)
        parts = _changed(decided, now, also) if request.htmx else []
    except UNREAD as error:
        logs.warn(log, "Decided, but not read again", error)
        advice, seen = _("Reload the page to see your current classes."), False
        message = Message(decision_in_words(decided, view.term_id, also), advice)
        parts = [fragments.seats(each.seats) for each in decided if each.seats]
    links = render_fragment(
        "student/receipts.html", codes=receipt_codes(view.term_id, decided)
    ).strip()
    text, back = (
        Markup("{} {}").format(message.advice, links),
        request_form.return_address(view.term_id),
    )
    outcomes = {each.outcome for each in decided}
    tone = next((tone for outcome, tone in reversed(TONES.items()) if outcome in outcomes), "")
    if request.htmx:
        toast = fragments.toast(message.title, text, tone, brief=seen)
        return close_dialog([*map(fragments.out_of_band, parts), toast])
    if not seen:
        return render_template(
            "student/decided.html", message=Message(message.title, text), back=back
        )
    flash_messages.keep(Markup("{} {}").format(message.title, text), tone, back)
    return redirect(back, 303)


def close_dialog(parts: Iterable[Markup]) -> Response:
    """Return a response that closes the dialog once its parts are in place."""
    response = make_response(Markup().join(parts))
    response.headers["HX-Trigger-After-Settle"] = "fs:close"
    return response


def _changed(decided: Sequence[Decision], now: StudentTerm, also: list[int]) -> list[Markup]:
    """Render what a decision changed; the counts are its own if no other section changed."""
    touched = [each.section for each in decided] + [each.swap_out for each in decided] + also
    sections, first = [section for section in dict.fromkeys(touched) if section], decided[0]
    own = [first.seats] if len(sections) == 1 and first.seats and not first.replayed else None
    return changed_parts(now, sections, own)


def changed_parts(
    now: StudentTerm, sections: Sequence[int], counts: Iterable[SeatCounts] | None = None
) -> list[Markup]:
    """Render cells and counts of sections, and my selections; by default with current counts."""
    if counts is None:
        counts = backend().ledger.seats_of(now.term.id, sections).values()
    return [
        *(fragments.act(now, section) for section in sections),
        *map(fragments.seats, counts),
        fragments.mine(now),
        fragments.bar(now),
        fragments.attention(now.term.id, now.attention),
    ]


# The result of a decision in words, which are also true when an answer is replayed.


def result_message(decided: Sequence[Decision], now: StudentTerm, also: Sequence[int]) -> Message:
    """Return the current result; `also` are sections dropped with the first."""
    named, sections = now.case(None).named, [each.section for each in decided]
    if decided[0].outcome in {Outcome.DROPPED, Outcome.LEFT}:
        return _drop_message(now, decided[0], also)
    held = [section for section in sections if section in now.held]
    waiting = [section for section in sections if section in now.positions]
    if waiting:
        title = _got([named(each) for each in held], [named(each) for each in waiting])
        return Message(title, _position(now, waiting))
    if not held:
        name = _names(now, sections)
        title = _("You added %(name)s, but dropped it later.", name=name)
        return Message(title, _("You can add it again from the list."))
    name = _names(now, held)
    if all(each.outcome == Outcome.REFUSED for each in decided):
        return Message(already_enrolled(name), _("Nothing was changed."))
    amount = credits_in_words(sum(now.held[section].credits for section in held))
    gone = [each.swap_out for each in decided if each.swap_out not in {0, *now.held}]
    if not gone:
        return Message(_got([named(each) for each in held], []), f"{amount}.")
    title = _("Swapped: you now have %(name)s.", name=name)
    old = named(gone[0])
    return Message(title, _("%(credits)s. You dropped %(old)s.", credits=amount, old=old))


def decision_in_words(decided: Sequence[Decision], term: int, also: Sequence[int]) -> str:
    """Return the decision in a sentence, from the answers alone."""
    offered, first = catalog_of(term), decided[0]
    named = RefusalContext(offered, None).named
    if first.replayed:
        return _("Your first request was already successful.")
    if first.outcome == Outcome.DROPPED:
        waiting = [each for each in also if each not in first.left]
        gone = _dropped([named(each) for each in (first.section, *waiting)])
        return f"{gone} {_left([named(each) for each in first.left])}".strip()
    if first.outcome == Outcome.LEFT:
        return _left([named(first.section)])
    if first.outcome == Outcome.REFUSED and len(decided) == 1:
        if any(each.code == "already_enrolled" for each in first.reasons):
            return already_enrolled(named(first.section))
        return already_waiting(named(first.section))
    waits = [each.section for each in decided if each.outcome == Outcome.WAITLISTED]
    has = [each.section for each in decided if each.section not in waits]
    return _got([named(each) for each in has], [named(each) for each in waits])


def _drop_message(now: StudentTerm, first: Decision, also: Sequence[int]) -> Message:
    """Return the result of a drop, or of leaving a waitlist."""
    named, left_list = now.case(None).named, first.outcome == Outcome.LEFT
    sections = [first.section, *(each for each in also if each not in first.left)]
    if back := [section for section in sections if now.state(section)]:
        title = _("You dropped %(name)s before, but you have it again now.", name=_names(now, back))
        return Message(title, _("Nothing was changed."))
    if left_list:
        return Message(_left([named(first.section)]), "")
    drops = limits.drops_left(now.profile.student, now.term.id, now.phase.now)
    more = (
        _n(
            "You can drop %(num)s more class today.",
            "You can drop %(num)s more classes today.",
            drops,
        )
        if drops
        else _("You can’t drop any more classes today.")
    )
    advice = f"{_left([named(each) for each in first.left])} {more}".strip()
    return Message(_dropped([named(each) for each in sections]), advice)


def _position(now: StudentTerm, waiting: list[int]) -> str:
    """Return the first waitlist position, and what becomes of the seat to swap."""
    position = now.positions[waiting[0]]
    spot = _("Position %(place)s of %(size)s.", place=position.position, size=position.size)
    if now.term.bands:
        spot = f"{spot} {bands.own(position.band, now.term.bands)}"
    if position.swap_out not in now.held:
        soon = _("If a seat opens, you get it automatically.")
        return f"{spot} {soon}"
    old = _names(now, [position.swap_out])
    then = _(
        "You keep %(old)s until you get a seat in %(name)s.", old=old, name=_names(now, waiting)
    )
    return f"{spot} {then}"


def _got(held: list[str], waiting: list[str]) -> str:
    if held and waiting:
        return _(
            "You added %(held)s. You are on the waitlist for %(waiting)s.",
            held=requisites.all_of(held),
            waiting=requisites.all_of(waiting),
        )
    if waiting:
        return _("You are on the waitlist for %(name)s.", name=requisites.all_of(waiting))
    return _("You added %(name)s.", name=requisites.all_of(held))


def _left(names: list[str]) -> str:
    """Return which waitlists were left; blank if none was."""
    if not names:
        return ""
    return _("You left the waitlist for %(name)s.", name=requisites.all_of(names))


def _dropped(names: list[str]) -> str:
    return _("You dropped %(name)s.", name=requisites.all_of(names))


def _names(now: StudentTerm, sections: Sequence[int]) -> str:
    return requisites.all_of([now.case(None).named(section) for section in sections])


# The result of a plan, choice by choice.


@dataclass(frozen=True)
class ChoiceOutcome:
    """The result of a choice: `name` is the alternative taken, or the first if none was."""

    status: Status
    name: str
    title: str
    text: str
    missed: list[tuple[str, list[Explanation]]]  # refused alternatives, and why
    receipts: list[str]
    apply: ApplicationStart | None  # what can lift a reason why it was refused


def show_plan_result(
    plan: Plan, decided: SubmissionResult, term: int, settled: Plan | None
) -> ResponseReturnValue:
    """Render the choices with their results; for htmx, add every changed part of the page."""
    case = RefusalContext(catalog_of(term), None)
    outcomes = [_outcome(*each, case) for each in zip(plan.choices, decided.results, strict=True)]
    statuses = Counter[str](each.status for each in outcomes)
    changed = statuses["refused"] < len(outcomes)
    refused = chain.from_iterable(
        alternative for result in decided.results for alternative in result.refused
    )
    common = [each for answer in refused for each in answer.reasons if each.code in FOR_ALL]
    page = render_template(
        "student/plan_result.html",
        outcomes=outcomes,
        common=distinct(explain(common, case)),
        summary=summary(statuses),
        changed=changed,
        replayed=_when(decided) if decided.replayed else "",
        packed=plans.write(plan),
        key=request_form.new_key(),
        term=case.catalog.term,
    )
    if request.htmx:
        try:
            now = mine_of(term, decided)
            left = settled or plans.without(now.plan or plan, fulfilled(plan, decided))
            parts = [*changed_parts(now, plan.sections), panel(now, left)]
            page += str(Markup().join(map(fragments.out_of_band, parts)))
        except UNREAD as error:
            logs.warn(log, "A plan was decided, but not read again", error)
    return page, 200 if changed else 422


def fulfilled(plan: Plan, decided: SubmissionResult) -> list[int]:
    """Return one section of each choice with a seat or a waitlist position now."""
    pairs = zip(plan.choices, decided.results, strict=True)
    return [choice.sections[0] for choice, result in pairs if status_of(result) != "refused"]


def summary(statuses: "Counter[str]") -> str:
    """Return the number of choices of each kind: `2 selected, 1 on a waitlist`."""
    texts = {
        "enrolled": _n("%(num)s added", "%(num)s added", statuses["enrolled"]),
        "waitlisted": _n("%(num)s on a waitlist", "%(num)s on waitlists", statuses["waitlisted"]),
        "had": _n("%(num)s already yours", "%(num)s already yours", statuses["had"]),
        "refused": _n("%(num)s refused", "%(num)s refused", statuses["refused"]),
    }
    return ", ".join(text for status, text in texts.items() if statuses[status])


def status_of(result: ChoiceResult) -> Status:
    """Return the result of a choice; `had` if the student has one of its alternatives already."""
    if result.outcome == Outcome.ENROLLED:
        return "enrolled"
    if result.outcome == Outcome.WAITLISTED:
        return "waitlisted"
    return "had" if any(map(_had, result.refused)) else "refused"


def _had(answers: Iterable[Decision]) -> bool:
    return all(any(one.code in ALREADY_HAD for one in each.reasons) for each in answers)


def _outcome(choice: Choice, result: ChoiceResult, case: RefusalContext) -> ChoiceOutcome:
    status, sections = status_of(result), _chosen(choice, result)
    titles = (
        section_title(case.catalog, view)  # the lecture's rather than its lab's
        for section in sections
        if (view := case.catalog.published(section))
    )
    answers = result.taken or tuple(chain.from_iterable(result.refused))
    missed = [] if status == "had" else [_missed(each, case) for each in result.refused]
    if result.taken:  # the seat in a backup may forbid what would help a refused alternative
        missed = [(name, [replace(each, step=None) for each in why]) for name, why in missed]
    return ChoiceOutcome(
        status,
        name=case.names(sections),
        title=next(titles, ""),
        text=_details(status, result, case),
        missed=missed,
        receipts=receipt_codes(case.catalog.term.id, answers),
        apply=_application(sections[0], result, case) if status == "refused" else None,
    )


def _application(
    section: int, result: ChoiceResult, case: RefusalContext
) -> ApplicationStart | None:
    """Return what can lift a reason about the section, or one that refused all choices alike.

    Nothing can if the section is canceled.
    """
    why = [
        each
        for answer in chain.from_iterable(result.refused)
        for each in answer.reasons
        if each.code in FOR_ALL or answer.section == section
    ]
    if any(each.code == "section_canceled" for each in why):
        return None
    reasons = explain(why, replace(case, section=case.catalog.published(section)))
    return next((each.apply for each in reasons if each.apply), None)


def _chosen(choice: Choice, result: ChoiceResult) -> list[int]:
    """Return the sections of the alternative taken or had, else those of the first."""
    had = [{each.section for each in one} for one in result.refused if _had(one)]
    named = [[part.section for part in each] for each in choice.alternatives]
    if result.rank:
        return named[result.rank - 1]
    return next((each for each in named if set(each) in had), named[0])


def _details(status: Status, result: ChoiceResult, case: RefusalContext) -> str:
    """Return details of a successful choice: waitlist positions, and which backup it is."""
    found = [
        _(
            "You are number %(place)s on the waitlist for %(name)s.",
            place=each.position,
            name=case.named(each.section),
        )
        for each in result.taken
        if status == "waitlisted" and each.outcome == Outcome.WAITLISTED
    ]
    if result.rank > 1:
        found.append(
            _("This is backup %(number)s: your first choice was refused.", number=result.rank - 1)
        )
    return " ".join(found)


def _missed(answers: Iterable[Decision], case: RefusalContext) -> tuple[str, list[Explanation]]:
    """Return the name of a refused alternative, and why; what refuses all is said once."""
    found = [
        each
        for answer in answers
        for each in explain(
            answer.reasons, replace(case, section=case.catalog.section(answer.section))
        )
        if each.code not in FOR_ALL
    ]
    return case.names(each.section for each in answers), distinct(found)


def _when(decided: SubmissionResult) -> str:
    """Return the time of the decision, in words."""
    clock = local_clock()
    try:
        return clock.when(decided.at, backend().ledger.now())
    except LedgerUnavailable:
        return clock.full(decided.at)
