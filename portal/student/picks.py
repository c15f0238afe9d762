"""Pick, cancel, leave a waitlist: a form that asks first, then the ledger's answer."""

from flask import abort
from flask.typing import ResponseReturnValue

from portal.access import requires
from portal.catalog.board import Card, NoSuchTerm, board
from portal.errors import Words, answer
from portal.seats import desk
from portal.seats.ledger import KeyReused
from portal.student import bp, forms, wish
from portal.student.outcomes import done
from portal.student.pages import mine_of

REUSED = Words(
    "This form was sent before with another choice",
    "Go back to the list and begin again. What was decided then stands.",
)
HAD_ALREADY = {"already_enrolled", "already_waiting"}


@bp.get("/sections/<int:section_id>/pick")
@requires("student")
def pick(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks before a seat is claimed, with all that is known to stand in the way."""
    return forms.pick(mine_of(term_id), _card(term_id, section_id))


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
    return forms.drop(mine_of(term_id), _card(term_id, section_id))


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
    return forms.leave(mine_of(term_id), _card(term_id, section_id))


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


def _card(term_id: int, section_id: int) -> Card:
    try:
        card = board(term_id).card(section_id)
    except NoSuchTerm:
        abort(404)
    if card is None or card.status == "NEW":
        abort(404)
    return card
