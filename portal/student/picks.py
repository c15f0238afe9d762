"""Pick, cancel, leave a waitlist: a form that asks first, then the ledger's answer."""

import logging
from typing import Any

from flask import abort, request
from flask.typing import ResponseReturnValue

from portal.access import requires
from portal.cache import AWAY
from portal.catalog.board import Card, NoSuchTerm, board
from portal.errors import LATER, Words, answer, away
from portal.seats import desk, rules
from portal.seats.errors import KeyReused, LedgerBehind, LedgerSilent, LedgerUnavailable
from portal.student import bp, forms, wish
from portal.student.outcomes import done
from portal.student.pages import mine_of
from portal.student.scene import Scene

log = logging.getLogger(__name__)

REUSED = Words(
    "This form was sent before with another choice",
    "Go back to the list and begin again. What was decided then stands.",
)
HAD_ALREADY = {"already_enrolled", "already_waiting"}


@bp.get("/sections/<int:section_id>/pick")
@requires("student")
def pick(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a seat is claimed, with all that is known to stand in the way."""
    return forms.pick(*_seen(term_id, section_id))


@bp.post("/sections/<int:section_id>/pick")
@requires("student")
def claim(term_id: int, section_id: int) -> ResponseReturnValue:
    """A seat or a place in line, or all the reasons why not."""
    card = _card(term_id, section_id)
    try:
        amount = wish.credits_wished()
    except ValueError:
        return forms.pick(mine_of(term_id), card, [forms.credit_range(card)]), 422
    asked = wish.asked(term_id, section_id)
    decided = desk.claim(asked, credits=amount, wait=wish.wait_wished())
    if {each.code for each in decided.reasons} - HAD_ALREADY:
        return forms.pick(mine_of(term_id, decided.at), card, list(decided.reasons)), 422
    return done(decided, card)


@bp.get("/sections/<int:section_id>/drop")
@requires("student")
def drop(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a seat is given up."""
    return forms.drop(*_seen(term_id, section_id))


@bp.post("/sections/<int:section_id>/drop")
@requires("student")
def give_up(term_id: int, section_id: int) -> ResponseReturnValue:
    """The seat given up, or why not."""
    card = _card(term_id, section_id)
    decided = desk.drop(wish.asked(term_id, section_id))
    if decided.reasons:
        return forms.drop(mine_of(term_id, decided.at), card, list(decided.reasons)), 422
    return done(decided, card)


@bp.get("/sections/<int:section_id>/leave")
@requires("student")
def leave(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a place on a waitlist is given up."""
    return forms.leave(*_seen(term_id, section_id))


@bp.post("/sections/<int:section_id>/leave")
@requires("student")
def step_out(term_id: int, section_id: int) -> ResponseReturnValue:
    """The place given up, or why not."""
    card = _card(term_id, section_id)
    decided = desk.leave(wish.asked(term_id, section_id))
    if decided.reasons:
        return forms.leave(mine_of(term_id, decided.at), card, list(decided.reasons)), 422
    return done(decided, card)


@bp.errorhandler(KeyReused)
def _reused(_: KeyReused) -> ResponseReturnValue:
    return answer(400, REUSED)


def _away(error: Exception) -> ResponseReturnValue:
    """The same form once more where nobody knows what came of it."""
    if request.method != "POST" or not (isinstance(error, LedgerSilent) or wish.unsure()):
        return away(error)
    log.warning("No answer to a decision: %s", error)
    sent: dict[str, Any] = request.view_args or {}
    offered, card = board(sent["term_id"]), _card(**sent)
    return forms.again(request.path.rpartition("/")[2], offered, card), 503, LATER


for lost in (LedgerUnavailable, LedgerBehind, *AWAY):
    bp.register_error_handler(lost, _away)


def _seen(term_id: int, section_id: int) -> tuple[Scene, Card]:
    """A section that the student may see, holds or waits for; 404 otherwise."""
    card, now = _card(term_id, section_id), mine_of(term_id)
    if not (rules.visible(now.profile, card) or now.state(card.id)):
        abort(404)
    return now, card


def _card(term_id: int, section_id: int) -> Card:
    try:
        card = board(term_id).card(section_id)
    except NoSuchTerm:
        abort(404)
    if card is None or card.status == "NEW":
        abort(404)
    return card
