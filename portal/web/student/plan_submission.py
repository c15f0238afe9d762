"""Submit my plan in one step, as it was when the student pressed the button."""

import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from flask import abort, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import NoSuchTerm, TermCatalog, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _, _n
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.ledger.types import ChoiceResult, Decision, Outcome, SubmissionResult
from portal.live.publish import signal_student
from portal.recorder.receipts import code
from portal.registration import commands, plans
from portal.registration.next_steps import RefusalContext
from portal.registration.plan_store import settle
from portal.registration.plans import Plan, without
from portal.registration.reasons import ALREADY_HAD, FOR_ALL, Explanation, explain
from portal.registration.requests import Alternative, Choice
from portal.web.http.access import requires, visitor
from portal.web.http.admission import needs_access_token
from portal.web.http.errors import LATER, UNSURE
from portal.web.student import bp, fragments, request_form
from portal.web.student.plan_panel import panel
from portal.web.student.request_form import with_plan
from portal.web.student.student_term import section_title
from portal.web.student.term_page import mine_of

log = logging.getLogger(__name__)


@bp.post("/plan/submit")
@requires("student")
@with_plan
@needs_access_token
def submit_plan(term_id: int) -> ResponseReturnValue:
    """Show the result of every choice; the form carries the plan, so this needs no query."""
    plan, offered = _sent(), _offered(term_id)
    try:
        decided = commands.register(request_form.requester(term_id), plan.choices)
    except (LedgerUnavailable, LedgerBehind, *AWAY) as error:
        if not request_form.is_unsure(error):
            raise
        logs.warn(log, "No answer to a plan", repr(error))
        return _again(offered, plan), 503, LATER
    return _decided(offered, plan, decided)


def _sent() -> Plan:
    """Return the plan in the form; respond with 400 if it is invalid or has no choices."""
    try:
        plan = plans.read(request.form.get("plan", ""))
    except ValueError:
        abort(400)
    return plan if plan.choices else abort(400)


def _offered(term_id: int) -> TermCatalog:
    try:
        return catalog_of(term_id)
    except NoSuchTerm:
        abort(404)


def _again(offered: TermCatalog, plan: Plan) -> str:
    return render_template(
        "student/plan_again.html",
        words=UNSURE,
        packed=plans.write(plan),
        key=request_form.key(),
        term=offered.term,
    )


def _decided(offered: TermCatalog, plan: Plan, decided: SubmissionResult) -> ResponseReturnValue:
    """Render the choices with their results; for htmx, add every changed part of the page."""
    term, gone = offered.term.id, fulfilled(plan, decided)
    settled = _settle(term, gone)
    said = plan_result(plan, decided, RefusalContext(offered, None, backend().settings.zone))
    page = render_template(
        "student/plan_result.html",
        result=said,
        replayed=_when(decided) if decided.replayed else "",
        packed=plans.write(plan),
        key=request_form.new_key(),
        term=offered.term,
    )
    if request.htmx:
        page += str(_changed(decided, term, plan, settled, gone))
    return page, 200 if said.changed else 422


def _when(decided: SubmissionResult) -> str:
    """Return the time of the decision, in words."""
    ledger, zone = backend().ledger, backend().settings.zone
    with suppress(LedgerUnavailable):
        return LocalClock(zone).when(decided.at, ledger.now())
    return LocalClock(zone).full(decided.at)


def _settle(term: int, sections: list[int]) -> Plan | None:
    """Remove sections with a seat or a waitlist position from the plan, on all pages."""
    student = visitor().student_id or 0
    plan = settle(term, student, sections) if sections else None
    if plan:
        signal_student(term, student, "plan", {"version": plan.version})
    return plan


def _changed(
    decided: SubmissionResult, term: int, plan: Plan, settled: Plan | None, gone: list[int]
) -> Markup:
    """Render cells, counts and panels of all planned sections; empty if they can't be read now."""
    try:
        now = mine_of(term, decided)
        left = settled or without(now.plan or plan, gone)
        counts = backend().ledger.seats_of(term, plan.sections)
        parts = [
            *(fragments.act(now, section) for section in plan.sections),
            *(fragments.seats(each) for each in counts.values()),
            fragments.mine(now),
            fragments.bar(now),
            fragments.attention(now),
            panel(now, left),
        ]
    except (LedgerUnavailable, *AWAY) as error:
        logs.warn(log, "A plan was decided, but not read again", error)
        return Markup()
    return Markup().join(map(fragments.out_of_band, parts))


# The result of a plan, choice by choice, in words.

Word = Literal["enrolled", "waitlisted", "had", "refused"]


@dataclass(frozen=True)
class Missed:
    """A refused alternative, and why."""

    name: str
    reasons: list[Explanation]


@dataclass(frozen=True)
class ChoiceOutcome:
    """The result of a choice: `name` is the alternative taken, or the first if none was."""

    word: Word
    name: str
    title: str
    text: str
    missed: list[Missed]
    receipts: list[str]


@dataclass(frozen=True)
class Result:
    """The results of all choices, and their number by kind."""

    lines: list[ChoiceOutcome]
    common: list[Explanation]
    summary: str
    changed: bool


def plan_result(plan: Plan, decided: SubmissionResult, case: RefusalContext) -> Result:
    """Return the answers to a plan in words; `case` names no section."""
    lines = [_settled(*each, case) for each in zip(plan.choices, decided.lines, strict=True)]
    words = Counter(each.word for each in lines)
    return Result(lines, _common(decided, case), summary(words), words["refused"] < len(lines))


def fulfilled(plan: Plan, decided: SubmissionResult) -> list[int]:
    """Return one section of each choice with a seat or a waitlist position now."""
    pairs = zip(plan.choices, decided.lines, strict=True)
    return [line.sections[0] for line, answer in pairs if _word(answer) != "refused"]


def summary(words: "Counter[Word]") -> str:
    """Return the number of choices of each kind: `2 selected, 1 on a waitlist`."""
    texts: dict[Word, str] = {
        "enrolled": _n("%(num)s selected", "%(num)s selected", words["enrolled"]),
        "waitlisted": _n("%(num)s on a waitlist", "%(num)s on waitlists", words["waitlisted"]),
        "had": _n("%(num)s yours already", "%(num)s yours already", words["had"]),
        "refused": _n("%(num)s refused", "%(num)s refused", words["refused"]),
    }
    return ", ".join(text for word, text in texts.items() if words[word])


def _word(answer: ChoiceResult) -> Word:
    if answer.outcome == Outcome.ENROLLED:
        return "enrolled"
    if answer.outcome == Outcome.WAITLISTED:
        return "waitlisted"
    return "had" if any(map(_had, answer.refused)) else "refused"


def _had(answers: tuple[Decision, ...]) -> bool:
    codes = [{reason.code for reason in each.reasons} for each in answers]
    return all(found & ALREADY_HAD for found in codes)


def _settled(line: Choice, answer: ChoiceResult, case: RefusalContext) -> ChoiceOutcome:
    word, chosen = _word(answer), _chosen(line, answer)
    missed = [] if word == "had" else [_missed(each, case) for each in answer.refused]
    sections = [part.section for part in chosen]
    name, title = _named(sections, case), _titled(sections, case)
    decided = answer.taken or [each for option in answer.refused for each in option]
    receipts = _receipts(decided, case)
    return ChoiceOutcome(word, name, title, _text(word, answer, case), missed, receipts)


def _chosen(line: Choice, answer: ChoiceResult) -> Alternative:
    if answer.rank:
        return line.alternatives[answer.rank - 1]
    had = [{each.section for each in one} for one in answer.refused if _had(one)]
    found = (each for each in line.alternatives if {part.section for part in each} in had)
    return next(found, line.alternatives[0])


def _text(word: Word, answer: ChoiceResult, case: RefusalContext) -> str:
    """Return details of a successful choice: its rank, and waitlist positions."""
    choice = _("It is your choice no. %(rank)s.", rank=answer.rank) if answer.rank > 1 else ""
    if word != "waitlisted":
        return choice
    places = [
        _(
            "Place %(place)s on the waitlist of %(name)s.",
            place=each.position,
            name=case.named(each.section),
        )
        for each in answer.taken
        if each.outcome == Outcome.WAITLISTED
    ]
    return " ".join([*places, choice]).strip()


def _missed(answers: tuple[Decision, ...], case: RefusalContext) -> Missed:
    reasons = [told_ for each in answers for told_ in _told(each, case)]
    once = list({each.text: each for each in reasons}.values())
    return Missed(_named([each.section for each in answers], case), once)


def _told(answer: Decision, case: RefusalContext) -> list[Explanation]:
    all_ = explain(answer.reasons, replace(case, section=case.catalog.section(answer.section)))
    return [each for each in all_ if each.code not in FOR_ALL]


def _common(decided: SubmissionResult, case: RefusalContext) -> list[Explanation]:
    refused = [each for line in decided.lines for option in line.refused for each in option]
    reasons = [each for answer in refused for each in answer.reasons if each.code in FOR_ALL]
    return list({each.text: each for each in explain(reasons, case)}.values())


def _receipts(answers: Iterable[Decision], case: RefusalContext) -> list[str]:
    return [code(case.catalog.term.id, each.seq) for each in answers if each.seq]


def _named(sections: list[int], case: RefusalContext) -> str:
    return " + ".join(case.named(section) for section in sections)


def _titled(sections: list[int], case: RefusalContext) -> str:
    """Return the title of the first section: the lecture's rather than its lab's."""
    cards = [card for section in sections if (card := case.catalog.published(section))]
    return section_title(case.catalog, cards[0]) if cards else ""
