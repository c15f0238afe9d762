"""Pages and texts that show a student the ledger's decision."""

import logging
from collections.abc import Iterable, Sequence

from flask import Response, make_response, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.term_catalog import SectionView, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _, _n
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Decision, Outcome, SeatCounts
from portal.registration import limits
from portal.registration.credits import credits_in_words
from portal.registration.next_steps import section_name
from portal.web.http import flash_messages
from portal.web.http.errors import Words
from portal.web.student import fragments, request_form
from portal.web.student.dialogs import receipt_codes
from portal.web.student.fragments import render_fragment
from portal.web.student.student_term import StudentTerm
from portal.web.student.term_page import mine_of

log = logging.getLogger(__name__)

TONES = {Outcome.ENROLLED: "go", Outcome.WAITLISTED: "wait"}


def show_result(
    decided: Sequence[Decision], card: SectionView, along: Sequence[SectionView] = ()
) -> ResponseReturnValue:
    """Render the change in place, or redirect to the page that the student came from.

    `along` was dropped with the section. The decision is shown even if nothing else can be read.
    """
    also = [each.id for each in along]
    try:
        now = mine_of(card.term_id, decided[0])
        words = result_words(decided, now, also)
        parts = _changed(decided, now, also) if request.htmx else []
    except (LedgerUnavailable, *AWAY) as error:
        logs.warn(log, "Decided, but not read again", error)
        return _blind(decided, card, also)
    text = with_receipts(words.advice, receipt_codes(card.term_id, decided))
    if not request.htmx:
        back = request_form.return_address(card.term_id)
        flash_messages.keep(Markup("{} {}").format(words.title, text), _tone(decided), back)
        return redirect(back, 303)
    toast = fragments.toast(words.title, text, _tone(decided), brief=True)
    return close_dialog([*map(fragments.out_of_band, parts), toast])


def close_dialog(parts: Iterable[Markup]) -> Response:
    """Return a response that closes the dialog once its parts are in place."""
    response = make_response(Markup().join(parts))
    response.headers["HX-Trigger-After-Settle"] = "fs:close"
    return response


def _changed(decided: Sequence[Decision], now: StudentTerm, also: list[int]) -> list[Markup]:
    """Render the cells and counts of all affected sections, and my selections."""
    touched = [each.section for each in decided] + [each.given_up for each in decided] + also
    sections = [section for section in dict.fromkeys(touched) if section]
    return [
        *(fragments.act(now, section) for section in sections),
        *(fragments.seats(each) for each in _counts(decided[0], now, sections)),
        fragments.mine(now),
        fragments.bar(now),
        fragments.attention(now),
    ]


def _counts(first: Decision, now: StudentTerm, sections: list[int]) -> Iterable[SeatCounts]:
    """Return current counts: the answer's, unless it is a replay or others have changed too."""
    if len(sections) == 1 and first.seats and not first.replayed:
        return [first.seats]
    return backend().ledger.seats_of(now.term.id, sections).values()


def _blind(decided: Sequence[Decision], card: SectionView, also: list[int]) -> ResponseReturnValue:
    """Render the decision from the answers alone."""
    title = decision_in_words(decided, card.term_id, also)
    advice = _("Refresh the page to see all that you have.")
    text = with_receipts(advice, receipt_codes(card.term_id, decided))
    if not request.htmx:
        back = request_form.return_address(card.term_id)
        return render_template("student/decided.html", words=Words(title, text), back=back)
    seats = [fragments.seats(each.seats) for each in decided if each.seats]
    toast = fragments.toast(title, text, _tone(decided))
    return close_dialog([*map(fragments.out_of_band, seats), toast])


def _tone(decided: Sequence[Decision]) -> str:
    outcomes = {each.outcome for each in decided}
    return next((tone for outcome, tone in reversed(TONES.items()) if outcome in outcomes), "")


# The result of a decision in words, which are also true when an answer is replayed.


def result_words(decided: Sequence[Decision], now: StudentTerm, also: Sequence[int]) -> Words:
    """Return the result as it stands now; `also` are sections dropped with the first."""
    first, name = decided[0], now.case(None).named
    if first.outcome == Outcome.LEFT:
        return _left(now, first.section, name(first.section))
    if first.outcome == Outcome.DROPPED:
        seats = [first.section, *(each for each in also if each not in first.left)]
        return _dropped(now, seats, first.left)
    sections = [each.section for each in decided]
    held = [section for section in sections if section in now.held]
    waiting = [section for section in sections if section in now.places]
    if waiting:
        return _waiting(now, held, waiting)
    if not held:
        title = _(
            "You had %(name)s before, and have given it up since.", name=_names(now, sections)
        )
        return Words(title, _("Pick it again from the list."))
    if all(each.outcome == Outcome.REFUSED for each in decided):
        title = _("You already have this: %(name)s is yours.", name=_names(now, held))
        return Words(title, _("Nothing was changed."))
    return _selected(now, decided, held)


def decision_in_words(decided: Sequence[Decision], term: int, also: Sequence[int]) -> str:
    """Return the decision in a sentence, from the answers alone."""
    offered, first = catalog_of(term), decided[0]
    if first.replayed:
        return _("It went through when you first sent it.")
    named = {card.id: section_name(card) for card in offered.some(each.section for each in decided)}
    if first.outcome == Outcome.DROPPED:
        kept = [each for each in also if each not in first.left]
        gone = [section_name(card) for card in offered.some([first.section, *kept])]
        lists = [section_name(card) for card in offered.some(first.left)]
        return " ".join([_canceled(gone), *([_left_lists(lists)] if lists else [])])
    name = requisites.all_of(list(named.values()))
    if first.outcome == Outcome.LEFT:
        return _("You have left the waitlist of %(name)s.", name=name)
    if first.outcome == Outcome.REFUSED and len(decided) == 1:
        held = any(each.code == "already_enrolled" for each in first.reasons)
        if held:
            return _("You already have %(name)s.", name=name)
        return _("You already wait for %(name)s.", name=name)
    lines = {each.section for each in decided if each.outcome == Outcome.WAITLISTED}
    return _got(
        [name for section, name in named.items() if section not in lines],
        [name for section, name in named.items() if section in lines],
    )


def _selected(now: StudentTerm, decided: Sequence[Decision], held: list[int]) -> Words:
    amount = credits_in_words(sum(now.held[section].credits for section in held))
    gone = [each.given_up for each in decided if each.given_up not in {0, *now.held}]
    if not gone:
        return Words(_got(_named(now, held), []), f"{amount}.")
    old = _names(now, gone[:1])
    title = _n(
        "Swapped: %(name)s is yours.",
        "Swapped: %(name)s are yours.",
        len(held),
        name=_names(now, held),
    )
    return Words(title, _("%(credits)s. %(old)s is given up.", credits=amount, old=old))


def _waiting(now: StudentTerm, held: list[int], waiting: list[int]) -> Words:
    place = now.places[waiting[0]]
    name = _names(now, waiting)
    spot = _("Place %(place)s of %(size)s.", place=place.position, size=place.size)
    if place.instead in now.held:
        old = _names(now, [place.instead])
        then = _("You keep %(old)s until a seat in %(name)s is yours.", old=old, name=name)
    else:
        then = _("A seat comes to you by itself.")
    return Words(_got(_named(now, held), _named(now, waiting)), f"{spot} {then}")


def _got(held: list[str], waiting: list[str]) -> str:
    if held and waiting:
        return _n(
            "%(held)s is yours, and you wait for %(waiting)s.",
            "%(held)s are yours, and you wait for %(waiting)s.",
            len(held),
            held=requisites.all_of(held),
            waiting=requisites.all_of(waiting),
        )
    if waiting:
        return _("You are on the waitlist of %(name)s.", name=requisites.all_of(waiting))
    return _n(
        "Selected: %(name)s is yours.",
        "Selected: %(name)s are yours.",
        len(held),
        name=requisites.all_of(held),
    )


def _dropped(now: StudentTerm, sections: Sequence[int], left_lists: Sequence[int] = ()) -> Words:
    back = [section for section in sections if now.state(section)]
    if back:
        name = _names(now, back)
        title = _("You had given %(name)s up before, and have it again now.", name=name)
        return Words(title, _("Nothing was changed."))
    left = limits.drops_left(now.profile.student, now.term.id, now.phase.now)
    more = (
        _n("You can cancel %(num)s more today.", "You can cancel %(num)s more today.", left)
        if left
        else _("You can cancel no more today.")
    )
    if left_lists:
        more = f"{_left_lists(_named(now, left_lists))} {more}"
    return Words(_canceled(_named(now, sections)), more)


def _left_lists(names: list[str]) -> str:
    return _("You have left the waitlist of %(name)s.", name=requisites.all_of(names))


def _canceled(names: list[str]) -> str:
    return _n(
        "%(name)s is canceled.", "%(name)s are canceled.", len(names), name=requisites.all_of(names)
    )


def _left(now: StudentTerm, section: int, name: str) -> Words:
    if now.state(section):
        title = _("You had given %(name)s up before, and have it again now.", name=name)
        return Words(title, _("Nothing was changed."))
    return Words(_("You have left the waitlist of %(name)s.", name=name), "")


def _names(now: StudentTerm, sections: Sequence[int]) -> str:
    return requisites.all_of(_named(now, sections))


def _named(now: StudentTerm, sections: Sequence[int]) -> list[str]:
    return [now.case(None).named(section) for section in sections]


# Links from results to their receipts.


def with_receipts(text: str, codes: Sequence[str]) -> Markup:
    """Return the text, followed by each code as a link to its receipt."""
    links = render_fragment("student/receipts.html", codes=codes)
    return Markup("{} {}").format(text, links.strip())
