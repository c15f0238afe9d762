"""Fragments: parts of pages that live updates replace."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from babel import Locale
from flask import current_app
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import SectionView
from portal.catalog.time_conflicts import pair_in_words
from portal.core.i18n import _, current_locale
from portal.core.moments import milliseconds
from portal.ledger.types import HeldSeat, Reason, SeatCounts
from portal.people.student_profile import HoldView
from portal.registration import reasons
from portal.registration.credits import amount, credits_in_words
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.reasons import Explanation, explain
from portal.waiting_room import wording
from portal.web.student import student_term
from portal.web.student.student_term import Attention, StudentTerm
from portal.web.student.waiting_room import WaitingRoomStatus
from portal.web.student.waitlist_odds import waitlist_odds
from portal.windows import phases


def seats(counts: SeatCounts) -> Markup:
    """Render the live counts of a section, id seats-<section>."""
    return _seats(counts, current_locale())


def act(scene: StudentTerm, section: int) -> Markup:
    """Render the button of a section, id act-<section>; styles follow the banner's phase."""
    return _act(
        scene.term.id,
        section,
        scene.case(None).named(section),
        scene.state(section),
        scene.opening,
        _has_kept(scene, section),
        *_in_the_way(scene, section),
        current_locale(),
    )


def banner(line: WaitingRoomStatus) -> Markup:
    """Render the phase and its countdown, or the queue position, id banner."""
    words = wording.words() if line.kind == "waiting" else phases.countdown_texts()
    return render_fragment(
        "fragments/banner.html", scene=line.scene, line=line, words=words, wording=wording
    )


def gate(line: WaitingRoomStatus) -> Markup:
    """Render the waiting room's status below the banner, id gate."""
    return render_fragment("fragments/gate.html", scene=line.scene, line=line, wording=wording)


def mine(scene: StudentTerm) -> Markup:
    """Render my seats and waitlists, ids mine and place-<section>."""
    cases = {section: scene.case(scene.catalog.section(section)) for section in scene.sections}
    canceled, alone = _canceled(cases), _alone(scene)
    passed = {
        place.section: scene.workable(explain(place.reasons, scene.case_in_line(place.section)))
        for place in scene.standing.waiting
    }
    return render_fragment(
        "fragments/mine.html",
        scene=scene,
        points=amount,
        amount=credits_in_words,
        cases=cases,
        passed=passed,
        canceled=canceled,
        seats=[
            _mine(scene, held, canceled.get(held.section), alone.get(held.section, ""))
            for held in scene.held.values()
        ],
        chances=waitlist_odds(scene),
    )


def attention(scene: StudentTerm) -> Markup:
    """Render holds and time conflicts, id attention."""
    return attention_html(scene.term.id, scene.attention)


def bar(scene: StudentTerm) -> Markup:
    """Render the total of my seats for phones, id mine-bar."""
    return render_fragment("fragments/bar.html", scene=scene, points=amount)


def out_of_band(fragment: Markup) -> Markup:
    """Mark a fragment for an out-of-band swap by htmx."""
    return Markup(str(fragment).replace(" id=", ' hx-swap-oob="true" id=', 1))  # noqa: S704


def stage(line: WaitingRoomStatus) -> Markup:
    """Render banner and gate for an out-of-band swap."""
    below = Markup('<div hx-swap-oob="innerHTML:#gate">{}</div>').format(gate(line))
    return out_of_band(banner(line)) + below


def toast(  # noqa: PLR0913  each has a default that most keep
    title: str,
    text: str = "",
    tone: str = "",
    *,
    brief: bool = False,
    about: int = 0,
    steps: Iterable[NextStep] = (),
) -> Markup:
    """Render a message that is added to #toasts; a `brief` one disappears.

    A message about a section replaces the previous one about it.
    """
    facts = {"title": title, "text": text, "tone": tone, "brief": brief, "about": about}
    return render_fragment("fragments/toast.html", **facts, steps=tuple(steps))


@lru_cache(maxsize=20_000)
def _seats(counts: SeatCounts, _language: Locale) -> Markup:
    return render_fragment("fragments/seats.html", seats=counts)


def _has_kept(scene: StudentTerm, section: int) -> bool:
    card = scene.catalog.section(section)
    return card is not None and bool(student_term.reserves_for(scene, card))


@lru_cache(maxsize=20_000)
def _act(  # noqa: PLR0913, PLR0917 - what the fragment shows
    term: int,
    section: int,
    name: str,
    state: str,
    opening: str,
    mine: bool,  # noqa: FBT001 - whether seats are kept for the student
    why: str,
    other: str,
    _language: Locale,
) -> Markup:
    facts = {"section": section, "name": name, "state": state, "opening": opening, "mine": mine}
    return render_fragment("fragments/act.html", term=term, why=why, other=other, **facts)


def _in_the_way(scene: StudentTerm, section: int) -> tuple[str, str]:
    """Return the code of the conflict with a held seat, and that seat's name."""
    card = None if scene.state(section) else scene.catalog.section(section)
    found = next(iter(scene.in_the_way(card)), None) if card else None
    return (found.code, scene.case(None).named(found.facts["section"])) if found else ("", "")


def _alone(scene: StudentTerm) -> dict[int, str]:
    """Return a text for each seat that lacks its corequisite."""
    found = scene.precheck.without_corequisites()
    return {section: _needs(scene, *lacks) for section, lacks in found.items()}


def _needs(scene: StudentTerm, missing: list[int], waited: bool) -> str:  # noqa: FBT001 - whether in line
    codes = [
        requisites.shown(code) for each in missing if (code := scene.catalog.course_code(each))
    ]
    courses = requisites.any_of(codes)
    if waited:
        return _(
            "It needs %(courses)s, and you wait for that. If you leave the waitlist, you give up"
            " both.",
            courses=courses,
        )
    if not courses:
        return _("It needs a course that is not offered now. Ask the registrar.")
    return _(
        "It needs %(courses)s, which you don’t have now. Pick a section of it, or ask the"
        " registrar.",
        courses=courses,
    )


def _mine(scene: StudentTerm, held: HeldSeat, canceled: Explanation | None, alone: str) -> Markup:
    """Render one of my seats."""
    card = scene.catalog.section(held.section)
    return _mine_seat(
        scene.term.id,
        held.section,
        scene.case(card).named(held.section),
        card,
        scene.title(card) if card else "",
        held.credits,
        scene.when(held.at),
        canceled,
        alone,
        current_locale(),
    )


@lru_cache(maxsize=4_000)
def _mine_seat(  # noqa: PLR0913, PLR0917 - what the fragment shows
    term: int,
    section: int,
    name: str,
    card: SectionView | None,
    title: str,
    credits_: int,
    when: str,
    canceled: Explanation | None,
    alone: str,
    _language: Locale,
) -> Markup:
    """Render a seat once for all students who got it in the same minute."""
    facts = {"card": card, "title": title, "name": name, "when": when, "alone": alone}
    amount_ = credits_in_words(credits_)
    here = f"/terms/{term}/sections/{section}"
    page = "fragments/mine_seat.html"
    return render_fragment(page, section=here, amount=amount_, canceled=canceled, **facts)


def _canceled(cases: Mapping[int, RefusalContext]) -> dict[int, Explanation]:
    """Return canceled sections, each with its next step."""
    gone = {
        id_: case
        for id_, case in cases.items()
        if case.section and case.section.status == "CANCELED"
    }
    return {id_: explain([Reason("section_canceled")], case)[0] for id_, case in gone.items()}


# Fragments that depend only on their arguments.


def render_fragment(name: str, /, **facts: Any) -> Markup:
    """Render a template without the content around pages (portal/web/http/layout.py)."""
    pages = current_app.jinja_env
    template = pages.get_template(name)
    # Like `template.render`, without its copy of all globals through two maps.
    context = pages.context_class(pages, {**pages.globals, **facts}, name, template.blocks)
    return Markup("".join(template.root_render_func(context)))  # noqa: S704 - templates escape


# Holds and time conflicts, as a fragment.


def attention_html(term: int, found: Attention) -> Markup:
    """Render holds and time conflicts for pages, id attention."""
    return render_fragment(
        "fragments/attention.html",
        term=term,
        holds=[(hold.stands, _hold(hold), _until(hold)) for hold in found.holds],
        clashes=[pair_in_words(*pair) for pair in found.clashes],
    )


def _hold(hold: HoldView) -> str:
    if hold.stands:
        return reasons.hold_text(hold.facts)
    facts = {"when": _when(hold.since), "reason": reasons.hold_reason(hold.facts)}
    office = hold.office or _("the registrar")
    return _(
        "From %(when)s on there is a hold on your record: %(reason)s. Please see %(office)s.",
        office=office,
        **facts,
    )


def _until(hold: HoldView) -> str:
    if not hold.until:
        return ""
    last = hold.until - timedelta(seconds=1)  # midnight belongs to the next day
    return _("It ends %(when)s.", when=_when(last))


def _when(moment: datetime | None) -> str:
    return LocalClock(backend().settings.zone).full(milliseconds(moment)) if moment else ""
