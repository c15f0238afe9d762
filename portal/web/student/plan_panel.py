"""My plan: a panel beside the list, or a full page of its own."""

from collections.abc import Iterable
from dataclasses import dataclass

from flask import current_app
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.term_catalog import MeetingView, SectionView
from portal.ledger.types import Reason, SeatCounts
from portal.registration import plans
from portal.registration.credits import amount, credit_choices, credits_in_words, points
from portal.registration.plans import Plan
from portal.registration.precheck import Reasons, likely_refusals_of_plan, plan_credits
from portal.registration.reasons import FOR_ALL, Explanation, explain
from portal.registration.requests import Alternative, Choice, SectionRequest
from portal.web.http.request_info import split_url
from portal.web.student import fragments, request_form, student_term
from portal.web.student.earlier_terms import LastTime, last_time
from portal.web.student.section_list import distinct_meetings, unknown_counts
from portal.web.student.student_term import StudentTerm
from portal.web.student.waiting_room import status_on_page


def panel(  # noqa: PLR0913  the ways in which a page may want it
    scene: StudentTerm,
    plan: Plan | None = None,
    *,
    full: bool | None = None,
    oob: bool = False,
    said: str = "",
    lost: bool = False,
) -> Markup:
    """Render my plan, id plan; `full` shows every control, by default as the page has it.

    `said` tells why a change failed. `lost` means that the focused element is gone.
    """
    full = on_plan_page() if full is None else full
    plan = scene.plan if plan is None else plan
    known = plan or Plan()
    status_on_page(scene, known)  # submitting it needs an access token
    planned = plan_credits(known, scene.catalog)
    html = current_app.jinja_env.get_template("fragments/plan.html").render(
        scene=scene,
        plan=known,
        away=plan is None,
        seen=plan_as_seen(scene, known, full=full),
        full=full,
        said=said,
        lost=lost,
        credits=credits_in_words(planned),
        after=amount(scene.credits + planned),
        over=scene.credits + planned > scene.limit,
        points=amount,
        packed=plans.write(known),
        key=request_form.new_key(),
    )
    drawn = Markup(html)  # noqa: S704 - the template escapes
    return fragments.out_of_band(drawn) if oob else drawn


def on_plan_page() -> bool:
    """Return whether the plan's own page sent the request."""
    address = request.htmx.current_url if request.htmx else request.path
    return split_url(address).path.endswith("/plan")


# A plan as a student sees it: names and times, and likely refusals in words.


@dataclass(frozen=True)
class SeenPart:
    """A section of an alternative; `card` is None if it is no longer offered."""

    section: int
    name: str
    card: SectionView | None
    meetings: tuple[MeetingView, ...]
    amounts: list[str]  # credits to choose from
    chosen: str
    counts: Markup
    kept: list[student_term.ReservedNote]
    last: LastTime | None


@dataclass(frozen=True)
class SeenOption:
    """Sections to enroll in together, and the likely refusals."""

    parts: list[SeenPart]
    problems: list[Explanation]

    @property
    def name(self) -> str:
        return " + ".join(part.name for part in self.parts)


@dataclass(frozen=True)
class SeenLine:
    """A choice with its ranked alternatives; `key` stays the same when it is moved."""

    options: list[SeenOption]
    wait: bool
    key: int

    @property
    def name(self) -> str:
        return self.options[0].name


@dataclass(frozen=True)
class SeenPlan:
    """All choices of a plan, and the reasons that concern the whole plan."""

    lines: list[SeenLine]
    common: list[Explanation]


def plan_as_seen(scene: StudentTerm, plan: Plan, *, full: bool) -> SeenPlan:
    """Return the plan in words; `full` adds counts and how full each course was last time."""
    reasons = likely_refusals_of_plan(
        scene.profile, scene.catalog, scene.standing, scene.limit, plan
    )
    seats = backend().ledger.seats_of(scene.term.id, plan.sections) if full else {}
    last = last_time(scene.term.id) if full else {}

    def option(parts: Alternative, found: Reasons) -> SeenOption:
        return SeenOption(
            [_part(scene, part, seats, last) for part in parts], reasons_against(scene, found)
        )

    def line(at: int, each: Choice) -> SeenLine:
        later = {section for line in plan.choices[at + 1 :] for section in line.sections}
        first, *others = reasons[at]
        found = [{key: _before(why, later) for key, why in first.items()}, *others]
        return SeenLine([*map(option, each.alternatives, found)], each.wait, each.sections[0])

    everything = [each for line in reasons for found in line for each in found.values()]
    shared = [each for found in everything for each in found if each.code in FOR_ALL]
    lines = [line(at, each) for at, each in enumerate(plan.choices)]
    return SeenPlan(lines, once(explain(shared, scene.case(None))))


def reasons_against(scene: StudentTerm, reasons: Reasons) -> list[Explanation]:
    """Return the likely refusals of one alternative, in words."""
    return once(
        each
        for section, found in reasons.items()
        for each in scene.workable(explain(found, scene.case(scene.catalog.section(section))))
        if each.code not in FOR_ALL
    )


def once(words: Iterable[Explanation]) -> list[Explanation]:
    """Return the explanations without repeated sentences."""
    return list({each.text: each for each in words}.values())


def live_counts(seats: SeatCounts) -> Markup:
    """Render live counts that may be on a page twice: scripts give one of them its id."""
    name = f"seats-{seats.section}"
    drawn = str(fragments.seats(seats)).replace(f' id="{name}"', "", 1)
    return Markup(f'<div class="counts" data-counts="{name}">{drawn}</div>')  # noqa: S704 - is drawn


def _before(reasons: list[Reason], later: set[int]) -> list[Reason]:
    """Leave out clashes with later first choices: the later one loses, so only it shows them."""
    return [
        each
        for each in reasons
        if not (each.facts.get("planned") and each.facts.get("section") in later)
    ]


def _part(
    scene: StudentTerm,
    part: SectionRequest,
    seats: dict[int, SeatCounts],
    last: dict[int, LastTime],
) -> SeenPart:
    card = scene.catalog.section(part.section)
    known = seats.get(part.section) or (unknown_counts(card) if card else None)
    return SeenPart(
        section=part.section,
        name=scene.case(None).named(part.section),
        card=card,
        meetings=distinct_meetings(card) if card else (),
        amounts=credit_choices(card) if card else [],
        chosen="" if part.credits is None else points(part.credits),
        counts=live_counts(known) if known and seats else Markup(),
        kept=student_term.reserved_notes(scene, card) if card and seats else [],
        last=last.get(card.course_id) if card else None,
    )
