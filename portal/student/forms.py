"""The forms that ask before something is done, with all that is known to stand in its way."""

from decimal import Decimal
from typing import Any

from flask import render_template
from htmx_flask import request

from portal.backend import backend
from portal.catalog.board import Board, Card
from portal.errors import UNSURE
from portal.seats import desk, foresight
from portal.seats.answers import Reason, Seats
from portal.seats.case import name_of, points
from portal.seats.reasons import told
from portal.student import wish
from portal.student.listing import classes, unknown
from portal.student.pages import WORDS
from portal.student.scene import Scene, titled


def pick(now: Scene, card: Card, refused: list[Reason] | None = None) -> str:
    """Asks for a seat; after a refusal with its reasons, else with those that are foreseen."""
    seats = _seats(card)
    foreseen = foresight.foreseen(now.profile, card, now.board, now.standing, now.limit)
    known = [*foresight.shut(now.phase), *foreseen, *foresight.no_room(seats)]
    reasons = known if refused is None else refused
    shut = bool(known) or any(each.code.startswith("window_") for each in reasons)
    return _form("pick", now, card, reasons, seats=seats, shut=shut, amounts=amounts(card))


def drop(now: Scene, card: Card, refused: list[Reason] | None = None) -> str:
    """Asks whether a seat is given up."""
    known = foresight.shut(now.phase)
    if card.id not in now.held:
        known.append(Reason("not_enrolled"))
    left = desk.drops_left(now.profile.student, now.term.id, now.phase.now)
    reasons = known if refused is None else refused
    return _form("drop", now, card, reasons, seats=_seats(card), left=left)


def leave(now: Scene, card: Card, refused: list[Reason] | None = None) -> str:
    """Asks whether a place on a waitlist is given up."""
    place = now.places.get(card.id)
    reasons = refused or ([] if place else [Reason("not_waiting")])
    return _form("leave", now, card, reasons, place=place)


def again(act: str, offered: Board, card: Card) -> str:
    """The form that was sent, to be sent as it was: nobody knows whether it went through."""
    sent = {name: request.form[name] for name in ("credits", "wait") if name in request.form}
    return render_template(
        "student/again.html",
        act=act,
        words=UNSURE,
        sent=sent,
        card=card,
        name=name_of(card),
        title=titled(offered, card),
        meetings=classes(card),
        key=wish.key(),
        back=wish.back_to(card.term_id),
        term=offered.term,
    )


def amounts(card: Card) -> list[str]:
    """The credits to choose from where a section leaves a choice: whole ones and both ends."""
    least, most = card.credits_min, card.credits_max
    if least == most:
        return []
    whole = [Decimal(each) for each in range(int(least) + 1, int(most) + 1)]
    return [points(desk.hundredths(each)) for each in sorted({least, *whole, most})]


def credit_range(card: Card) -> Reason:
    """That the credits chosen are none that the section is offered for."""
    facts = {"min": desk.hundredths(card.credits_min), "max": desk.hundredths(card.credits_max)}
    return Reason("credit_range", facts)


def _form(name: str, now: Scene, card: Card, reasons: list[Reason], **facts: Any) -> str:
    case = now.case(card)
    return render_template(
        f"student/{name}.html",
        card=card,
        name=case.name,
        title=now.title(card),
        meetings=classes(card),
        reasons=told(reasons, case),
        key=wish.new_key(),
        back=wish.back_to(now.term.id),
        scene=now,
        term=now.term,
        **WORDS,
        **facts,
    )


def _seats(card: Card) -> Seats:
    return backend().ledger.seats_of(card.term_id, [card.id]).get(card.id) or unknown(card)
