"""The parts of a page that change by themselves, drawn the same for pages and for sockets."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from babel import Locale
from markupsafe import Markup

from portal.catalog import requisites
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _, current_locale
from portal.ledger.types import HeldSeat, Reason, SeatCounts
from portal.registration import precheck
from portal.registration.credits import amount, credits_in_words
from portal.registration.next_steps import NextStep, RefusalContext
from portal.registration.reasons import Explanation, explain
from portal.student import kept
from portal.student.attention import shown
from portal.student.chances import chances
from portal.student.drawing import drawn
from portal.student.line import Line
from portal.student.scene import Scene
from portal.waiting_room import wording
from portal.windows import phases


def seats(counts: SeatCounts) -> Markup:
    """The live counts of a section, id seats-<section>."""
    return _seats(counts, current_locale())


def act(scene: Scene, section: int) -> Markup:
    """What can be done about a section, id act-<section>; its phase comes from the banner."""
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


def banner(line: Line) -> Markup:
    """The phase of the selection and its countdown, or one's number in line, id banner."""
    words = wording.words() if line.kind == "waiting" else phases.countdown_texts()
    return drawn("fragments/banner.html", scene=line.scene, line=line, words=words, wording=wording)


def gate(line: Line) -> Markup:
    """What there is to know and to do about the line below the banner, id gate."""
    return drawn("fragments/gate.html", scene=line.scene, line=line, wording=wording)


def mine(scene: Scene) -> Markup:
    """My selections and my waitlists, ids mine and place-<section>."""
    cases = {section: scene.case(scene.catalog.section(section)) for section in scene.sections}
    canceled, alone = _canceled(cases), _alone(scene)
    passed = {
        place.section: scene.workable(explain(place.reasons, scene.case_in_line(place.section)))
        for place in scene.standing.waiting
    }
    return drawn(
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
        chances=chances(scene),
    )


def attention(scene: Scene) -> Markup:
    """What the student has to see to, id attention."""
    return shown(scene.term.id, scene.attention)


def bar(scene: Scene) -> Markup:
    """The sum of my selections, for phones, id mine-bar."""
    return drawn("fragments/bar.html", scene=scene, points=amount)


def out_of_band(fragment: Markup) -> Markup:
    """The fragment as htmx puts it in its place, beside an answer that goes elsewhere."""
    return Markup(str(fragment).replace(" id=", ' hx-swap-oob="true" id=', 1))  # noqa: S704


def stage(line: Line) -> Markup:
    """Both, to be put in their places beside an answer that goes elsewhere."""
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
    """A short piece of news, added to #toasts; a `brief` one goes by itself.

    News about a section replaces what was said about the same one before.
    """
    facts = {"title": title, "text": text, "tone": tone, "brief": brief, "about": about}
    return drawn("fragments/toast.html", **facts, steps=tuple(steps))


@lru_cache(maxsize=20_000)
def _seats(counts: SeatCounts, _language: Locale) -> Markup:
    return drawn("fragments/seats.html", seats=counts)


def _has_kept(scene: Scene, section: int) -> bool:
    card = scene.catalog.section(section)
    return card is not None and bool(kept.for_me(scene, card))


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
    return drawn("fragments/act.html", term=term, why=why, other=other, **facts)


def _in_the_way(scene: Scene, section: int) -> tuple[str, str]:
    """The code of what a seat that is held does to the section, and that seat's name."""
    card = None if scene.state(section) else scene.catalog.section(section)
    found = next(iter(scene.in_the_way(card)), None) if card else None
    return (found.code, scene.case(None).named(found.facts["section"])) if found else ("", "")


def _alone(scene: Scene) -> dict[int, str]:
    """What is said of seats that are held without a seat in a corequisite."""
    found = precheck.without_corequisites(scene.profile, scene.catalog, scene.standing)
    return {section: _needs(scene, *lacks) for section, lacks in found.items()}


def _needs(scene: Scene, missing: list[int], waited: bool) -> str:  # noqa: FBT001 - whether in line
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


def _mine(scene: Scene, held: HeldSeat, canceled: Explanation | None, alone: str) -> Markup:
    """A seat among my selections."""
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
    """The same for all who picked it at the same minute, as many do in a rush."""
    facts = {"card": card, "title": title, "name": name, "when": when, "alone": alone}
    amount_ = credits_in_words(credits_)
    here = f"/terms/{term}/sections/{section}"
    page = "fragments/mine_seat.html"
    return drawn(page, section=here, amount=amount_, canceled=canceled, **facts)


def _canceled(cases: Mapping[int, RefusalContext]) -> dict[int, Explanation]:
    """Sections that will not take place, each with what can be done instead."""
    gone = {
        id_: case
        for id_, case in cases.items()
        if case.section and case.section.status == "CANCELED"
    }
    return {id_: explain([Reason("section_canceled")], case)[0] for id_, case in gone.items()}
