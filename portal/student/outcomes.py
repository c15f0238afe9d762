"""What a student reads and sees once the ledger has decided."""

from flask import flash, make_response, redirect
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup

from portal.catalog.board import Card
from portal.seats import desk
from portal.seats.answers import Answer, Outcome
from portal.seats.case import credits_in_words
from portal.student import fragments, wish
from portal.student.pages import mine_of
from portal.student.scene import Scene

TONES = {Outcome.ENROLLED: "go", Outcome.WAITLISTED: "wait"}
GIVEN_UP = {Outcome.DROPPED, Outcome.LEFT}


def done(decided: Answer, card: Card) -> ResponseReturnValue:
    """The change in place, or back on the page that the student came from."""
    now = mine_of(card.term_id, decided.at)
    title, text = _words(decided, now, card)
    tone = TONES.get(decided.outcome, "")
    if not request.htmx:
        flash(f"{title} {text}".strip(), tone)
        return redirect(wish.back_to(card.term_id), 303)
    parts = [fragments.act(now, card.id), fragments.mine(now), fragments.bar(now)]
    if decided.seats:
        parts.append(fragments.seats(decided.seats))
    changed = [fragments.out_of_band(part) for part in parts]
    response = make_response(
        Markup().join([*changed, fragments.toast(title, text, tone, brief=True)])
    )
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
    left = desk.drops_left(now.profile.student, now.term.id)
    return f"{name} is canceled.", f"You can cancel {left or 'no'} more today."
