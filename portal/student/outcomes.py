"""What a student reads and sees once the ledger has decided."""

import logging

from flask import Response, flash, make_response, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.cache import AWAY
from portal.catalog.board import Card
from portal.errors import Words
from portal.seats import desk
from portal.seats.answers import Answer, Outcome
from portal.seats.case import credits_in_words, name_of
from portal.seats.errors import LedgerUnavailable
from portal.student import fragments, wish
from portal.student.pages import mine_of
from portal.student.scene import Scene

log = logging.getLogger(__name__)

TONES = {Outcome.ENROLLED: "go", Outcome.WAITLISTED: "wait"}
GIVEN_UP = {Outcome.DROPPED, Outcome.LEFT}


def done(decided: Answer, card: Card) -> ResponseReturnValue:
    """The change in place, or back on the page that the student came from.

    What was decided is said even where nothing more can be read.
    """
    try:
        now = mine_of(card.term_id, None if decided.replayed else decided.at)
        title, text = _words(decided, now, card)
    except (LedgerUnavailable, *AWAY) as error:
        log.warning("Decided, but not read again: %s", error)
        return _blind(decided, card)
    tone = TONES.get(decided.outcome, "")
    if not request.htmx:
        flash(f"{title} {text}".strip(), tone)
        return redirect(wish.back_to(card.term_id), 303)
    parts = [fragments.act(now, card.id), fragments.mine(now), fragments.bar(now)]
    if decided.seats:
        parts.append(fragments.seats(decided.seats))
    changed = [fragments.out_of_band(part) for part in parts]
    return _closing(Markup().join([*changed, fragments.toast(title, text, tone, brief=True)]))


def _blind(decided: Answer, card: Card) -> ResponseReturnValue:
    """What was decided, from the answer alone."""
    words = Words(_plainly(decided, name_of(card)), "Refresh the page to see all that you have.")
    if not request.htmx:
        back = wish.back_to(card.term_id)
        return render_template("student/decided.html", words=words, back=back)
    seats = fragments.out_of_band(fragments.seats(decided.seats)) if decided.seats else Markup()
    return _closing(
        seats + fragments.toast(words.title, words.advice, TONES.get(decided.outcome, ""))
    )


def _plainly(decided: Answer, name: str) -> str:
    if decided.replayed:
        return "It went through when you first sent it."
    if decided.outcome == Outcome.WAITLISTED:
        return f"You are on the waitlist of {name}, at place {decided.position}."
    if decided.outcome == Outcome.REFUSED:
        held = any(each.code == "already_enrolled" for each in decided.reasons)
        return f"You already have {name}." if held else f"You already wait for {name}."
    return {
        Outcome.ENROLLED: f"Selected: {name} is yours.",
        Outcome.DROPPED: f"{name} is canceled.",
        Outcome.LEFT: f"You have left the waitlist of {name}.",
    }[decided.outcome]


def _closing(parts: Markup) -> Response:
    response = make_response(parts)
    response.headers["HX-Trigger-After-Settle"] = "fs:close"
    return response


def _words(decided: Answer, now: Scene, card: Card) -> tuple[str, str]:
    """What came of it; true also where an old answer is given once more."""
    name = now.case(card).name
    if decided.outcome in GIVEN_UP:
        return _given_up(decided.outcome, now, card, name)
    held, place = now.held.get(card.id), now.places.get(card.id)
    if held and decided.outcome == Outcome.REFUSED:
        return f"You already have this: {name} is yours.", "Nothing was changed."
    if held:
        return f"Selected: {name} is yours.", f"{credits_in_words(held.credits)}."
    if place:
        spot = f"Place {place.position} of {place.size}."
        return f"You are on the waitlist of {name}.", f"{spot} A seat comes to you by itself."
    return f"You had {name} before, and have given it up since.", "Pick it again from the list."


def _given_up(outcome: Outcome, now: Scene, card: Card, name: str) -> tuple[str, str]:
    if now.state(card.id):
        return f"You had given {name} up before, and have it again now.", "Nothing was changed."
    if outcome == Outcome.LEFT:
        return f"You have left the waitlist of {name}.", ""
    left = desk.drops_left(now.profile.student, now.term.id, now.phase.now)
    return f"{name} is canceled.", f"You can cancel {left or 'no'} more today."
