"""Fragments: parts of pages that live updates replace."""

from collections.abc import Hashable, Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from cachetools import LRUCache, cached
from flask import current_app
from markupsafe import Markup, escape

from portal.catalog import requisites
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.catalog.time_conflicts import first_overlap, pair_in_words
from portal.core.i18n import _, current_locale, isolated
from portal.core.moments import milliseconds
from portal.ledger.types import Reason, SeatCounts, WaitlistPosition
from portal.people.student_profile import HoldView
from portal.registration import reasons, rules
from portal.registration.credits import amount, credits_in_words
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.reasons import Explanation, explain
from portal.waiting_room import wording
from portal.web.http import admission
from portal.web.http.device_zone import device_zone
from portal.web.http.shared_pages import Parts, render_shared_fragment
from portal.web.student.student_term import Attention, StudentTerm, reserves_for
from portal.web.student.waiting_room import WaitingRoomStatus
from portal.web.student.waitlist_odds import waitlist_odds
from portal.windows import bands, phases


def seats(counts: SeatCounts) -> Markup:
    """Render the live counts of a section, id seats-<section>."""
    return _seats(counts, current_locale().language)


class SectionAct(NamedTuple):
    """What the buttons of a section depend on besides the catalog and the language."""

    state: str
    opening: str
    reserved: bool  # the student may use reserved seats
    late: bool  # the last day to add has passed
    why: str = ""  # the code of the first reason why the student's seats rule it out
    other: int = 0  # the held section of the conflict
    together: bool = False  # it can be added with the corequisite that is missing
    consent: bool = False  # the student needs the instructor's consent first
    barred: bool = False  # the student does not meet a requirement
    position: int = 0  # on the waitlist


def section_act(student_term: StudentTerm, section: int) -> SectionAct:
    """Return what the student can do about a section."""
    view, state = student_term.catalog.section(section), student_term.state(section)
    reserved = view is not None and bool(reserves_for(student_term, view))
    late = bool(student_term.late_to_add)
    shown = SectionAct(state, student_term.texts.opening, reserved, late)
    if state == "waiting":
        return shown._replace(position=student_term.positions[section].position)
    if state or not view:
        return shown
    shown = shown._replace(barred=bool(rules.unmet(student_term.profile, view)))
    if late:
        return shown
    if rules.needs_consent(student_term.profile, view):
        return shown._replace(consent=True)
    first = next(iter(student_term.precheck.against_seats(view)), None)
    if first and (not shown.barred or first.code == "time_conflict"):
        together = student_term.adds_both(view, first)
        other = first.facts.get("section", 0)
        return shown._replace(why=first.code, other=other, together=together)
    return shown


def act(student_term: StudentTerm, section: int) -> Markup:
    """Render the button of a section, id act-<section>; styles follow the banner's phase."""
    return draw_act(student_term.catalog, section, section_act(student_term, section))


def _key_of_act(catalog: TermCatalog, section: int, shown: SectionAct) -> tuple[Hashable, ...]:
    return catalog.term.id, catalog.version, section, shown, current_locale().language


@cached(LRUCache(maxsize=20_000), key=_key_of_act)
def draw_act(catalog: TermCatalog, section: int, shown: SectionAct) -> Markup:
    """Render the button from what it depends on, once for all students who see the same."""
    named = RefusalContext(catalog, None).named
    view, other = catalog.section(section), catalog.section(shown.other)
    return render_fragment(
        "fragments/act.html",
        act=shown,
        term=catalog.term.id,
        section=section,
        name=named(section),
        other=named(other.id) if other else "",
        when=first_overlap(view, other) if view and other else "",
        reason=reasons.REASONS.get(shown.why),
    )


def banner(status: WaitingRoomStatus, clock: Markup | None = None) -> Markup:
    """Render the phase and its countdown, or the queue position, id banner.

    `clock` stands for the ledger's time.
    """
    texts = wording.script_texts() if status.kind == "waiting" else phases.countdown_texts()
    return render_fragment(
        "fragments/banner.html",
        student_term=status.student_term,
        status=status,
        clock=clock or status.student_term.phase.now,
        texts=texts,
        wording=wording,
    )


def gate(status: WaitingRoomStatus) -> Markup:
    """Render the waiting room's status below the banner, id gate."""
    if status.kind == "unproven":
        return _captcha(status.term)
    return render_fragment(
        "fragments/gate.html", student_term=status.student_term, status=status, wording=wording
    )


def _captcha(term: int) -> Markup:
    """Render the check that everyone must pass first."""
    page, onward = "captcha/widget.html", f"/terms/{term}"
    key = page, onward, admission.captcha_needed(), admission.proven()
    return render_shared_fragment(key, lambda _own: render_fragment(page, onward=onward))


def top(status: WaitingRoomStatus, attention: Markup) -> Markup:
    """Render the banner, the waiting room's status and what the student must resolve.

    Students without a position or a visit of their own share it for a second.
    """

    def render(own: Parts) -> Markup:
        parts = {"banner": banner(status, own["clock"]), "gate": gate(status)}
        return render_fragment(
            "student/banner.html", status=status, attention=own["attention"], **parts
        )

    own = {"clock": escape(status.student_term.phase.now), "attention": attention}
    if status.visit.entry or status.visit.token:
        return render(own)
    return render_shared_fragment(_common(status), render, own)


def _common(status: WaitingRoomStatus) -> tuple[Hashable, ...]:
    """Return what the top of a page shows to students without a position or a visit."""
    now = status.student_term
    phase, window, zone = now.phase, now.phase.window, device_zone()
    return (
        now.term,
        window and (window.id, window.name, window.opens, window.closes),
        *(phase.now // 1000, status.seconds, now.stage, now.ranks),
        *(status.kind, status.auto, status.passing, zone and zone.key),
        *(admission.captcha_needed(), admission.proven()),
    )


def mine(student_term: StudentTerm) -> Markup:
    """Render my seats and waitlists, ids mine and place-<section>."""
    return _mine(student_term) if student_term.sections else _no_classes(student_term)


@cached(
    LRUCache(maxsize=200),
    key=lambda now: (now.term.id, now.mark, now.credit_limit, current_locale().language),
)
def _no_classes(student_term: StudentTerm) -> Markup:
    """Render the same once for all students who have no classes."""
    return _mine(student_term)


def _mine(student_term: StudentTerm) -> Markup:
    cases = {
        section: student_term.case(student_term.catalog.section(section))
        for section in student_term.sections
    }
    canceled = {
        section: explain([Reason("section_canceled")], case)[0]
        for section, case in cases.items()
        if case.section and case.section.status == "CANCELED"
    }
    lacking = student_term.precheck.without_corequisites()
    seats = []
    for held in student_term.held.values():
        section, case = held.section, cases[held.section]
        seat = OwnSeat(
            url=f"{case.term_url}/sections/{section}",
            name=case.named(section),
            view=case.section,
            title=student_term.title(case.section) if case.section else "",
            credits=held.credits,
            when=student_term.texts.when(held.at),
            canceled=canceled.get(section),
            alone=_needs(student_term, *lacking[section]) if section in lacking else "",
        )
        seats.append(_mine_seat(seat, current_locale().language))
    return render_fragment(
        "fragments/mine.html",
        student_term=student_term,
        points=amount,
        amount=credits_in_words,
        cases=cases,
        canceled=canceled,
        seats=seats,
        skipped={
            each.section: _in_words(student_term, each, each.reasons)
            for each in student_term.registrations.waiting
        },
        barred={
            each.section: _in_words(student_term, each, _clashes(student_term, each))
            for each in student_term.registrations.waiting
        },
        chances=waitlist_odds(student_term),
        own_band=lambda band: bands.own(band, student_term.term.bands),
    )


def _in_words(
    student_term: StudentTerm, position: WaitlistPosition, why: Iterable[Reason]
) -> list[Explanation]:
    return student_term.workable(explain(why, student_term.case_in_line(position.section)))


def _clashes(student_term: StudentTerm, position: WaitlistPosition) -> list[Reason]:
    """Return why a seat that opened now would be refused, without the seat to be swapped."""
    view = student_term.catalog.section(position.section)
    checks = student_term.precheck
    if position.swap_out:
        checks = checks.without([position.swap_out])
    return checks.against_seats(view, position.credits) if view else []


def bar(student_term: StudentTerm) -> Markup:
    """Render the total of my seats for phones, id mine-bar."""
    return render_fragment(
        "fragments/bar.html",
        term=student_term.term.id,
        enrolled=len(student_term.registrations.enrolled),
        waiting=len(student_term.registrations.waiting),
        held=amount(student_term.credits),
        limit=amount(student_term.credit_limit),
    )


def out_of_band(fragment: Markup) -> Markup:
    """Mark a fragment for an out-of-band swap by htmx."""
    return Markup(str(fragment).replace(" id=", ' hx-swap-oob="true" id=', 1))  # noqa: S704


def stage(status: WaitingRoomStatus) -> Markup:
    """Render banner and gate for an out-of-band swap."""
    below = Markup('<div hx-swap-oob="innerHTML:#gate">{}</div>').format(gate(status))
    return out_of_band(banner(status)) + below


def toast(  # noqa: PLR0913  each has a default that most keep
    title: str,
    text: str = "",
    tone: str = "",
    *,
    brief: bool = False,
    about: int | str = 0,
    steps: Iterable[NextStep] = (),
) -> Markup:
    """Render a message that is added to #toasts; a `brief` one disappears.

    A message about a section, or about the plan, replaces the previous one about it.
    """
    facts = {"title": title, "text": text, "tone": tone, "brief": brief, "about": about}
    return render_fragment("fragments/toast.html", **facts, steps=tuple(steps))


@lru_cache(maxsize=20_000)
def _seats(counts: SeatCounts, _language: str) -> Markup:
    return render_fragment("fragments/seats.html", seats=counts)


def _needs(student_term: StudentTerm, missing: list[int], waited: bool) -> str:  # noqa: FBT001 - whether in line
    codes = [
        requisites.shown(code)
        for each in missing
        if (code := student_term.catalog.course_code(each))
    ]
    courses = requisites.any_of(codes)
    if waited:
        return _(
            "Requires %(courses)s, and you are on its waitlist. If "
            "you leave the waitlist, you drop both.",
            courses=courses,
        )
    if not courses:
        return _("Requires a course that is not offered now. Ask the registrar.")
    return _(
        "Requires %(courses)s, which you don’t have now. Add a "
        "section of it, or ask the registrar.",
        courses=courses,
    )


class OwnSeat(NamedTuple):
    """What a seat among my selections shows."""

    url: str
    name: str
    view: SectionView | None
    title: str
    credits: int
    when: str  # it was given
    canceled: Explanation | None
    alone: str  # a note that it lacks a corequisite


@lru_cache(maxsize=4_000)
def _mine_seat(seat: OwnSeat, _language: str) -> Markup:
    """Render a seat once for all students who got one in the same minute."""
    page = "fragments/mine_seat.html"
    return render_fragment(page, seat=seat, amount=credits_in_words(seat.credits))


# Fragments that depend only on their arguments.


def render_fragment(name: str, /, **facts: Any) -> Markup:
    """Render a template without the content around pages (portal/web/http/layout.py)."""
    pages = current_app.jinja_env
    template = pages.get_template(name)
    # Like `template.render`, without its copy of all globals through two maps.
    context = pages.context_class(pages, {**pages.globals, **facts}, name, template.blocks)
    return Markup("".join(template.root_render_func(context)))  # noqa: S704 - templates escape


# Holds and time conflicts, as a fragment.


def attention(term: int, found: Attention) -> Markup:
    """Render holds and time conflicts for pages, id attention."""
    return render_fragment(
        "fragments/attention.html",
        term=term,
        holds=[(hold.is_active, _hold(hold), _until(hold)) for hold in found.holds],
        clashes=[pair_in_words(*pair) for pair in found.clashes],
    )


def _hold(hold: HoldView) -> str:
    if hold.is_active:
        return reasons.hold_text(hold.facts)
    facts = {"when": _when(hold.since), "reason": reasons.hold_reason(hold.facts)}
    office = isolated(hold.adviser or hold.office or _("the registrar"))
    return _(
        "A hold on your record starts %(when)s: %(reason)s. Contact %(office)s.",
        office=office,
        **facts,
    )


def _until(hold: HoldView) -> str:
    if not hold.until:
        return ""
    last = hold.until - timedelta(seconds=1)  # midnight belongs to the next day
    return _("It ends %(when)s.", when=_when(last))


def _when(moment: datetime | None) -> str:
    return local_clock().full(milliseconds(moment)) if moment else ""
